"""Random moves on codes, compiled, and the replies of sampled codes to many guesses.

A move is a value, ``(first, second, color_first, color_second)``: the peg at ``first`` gets the
color ``color_first``, and the peg at ``second`` gets ``color_second``. A draw does not change the
code, so a walk that rejects a move has nothing to undo::

    first, second, color_first, color_second = draw_pair_swap(code, state)
    if accepted:
        code[first], code[second] = color_first, color_second

Every kind of move is *symmetric*: from x to y it is as probable as from y to x. The acceptance
probability of Metropolis and Hastings is then min(1, π(y)/π(x)), without proposal probabilities.

Kernels take their random numbers from a state, an array of one word, which they advance. The same
state gives the same numbers, compiled or not. `seeded_state` draws the word from a generator.

References
----------
Snyder, *Mastermind by importance sampling and Metropolis-Hastings*, section 4.3.2: the moves.
Steele, Lea and Flood, *Fast splittable pseudorandom number generators*, OOPSLA 2014: SplitMix64.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.mastermind.board import Board

# --- Random moves on a code, compiled: proposals for random walks over the codes of a board -------


Move: TypeAlias = tuple[int, int, int, int]
"""Two positions, and the colors that they get. Both are the same if one peg changes."""

_Code: TypeAlias = NDArray[Any]
_State: TypeAlias = NDArray[np.uint64]

_WEYL = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX_2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S32 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(32)
_S11, _LOW = np.uint64(11), np.uint64(0xFFFFFFFF)
_UNIT = 2.0**-53


def seeded_state(rng: np.random.Generator) -> NDArray[np.uint64]:
    """Return a state for the kernels of this module, ``(1,)``; it takes one draw from `rng`."""
    return rng.integers(0, 2**64, size=1, dtype=np.uint64)


@njit
def _next_word(state: _State) -> np.uint64:
    """Return 64 random bits, and advance the state."""
    word = state[0] + _WEYL
    state[0] = word
    word = (word ^ (word >> _S30)) * _MIX_1
    word = (word ^ (word >> _S27)) * _MIX_2
    return np.uint64(word ^ (word >> _S31))


@njit
def draw_uniform(state: _State) -> float:
    """Return a random number in [0, 1), a multiple of 2⁻⁵³.

    Parameters
    ----------
    state
        ``(1,)``, the state of the generator, which is changed; see `seeded_state`.
    """
    return float(np.int64(_next_word(state) >> _S11) * _UNIT)


@njit
def draw_below(state: _State, n: int) -> int:
    """Return a random whole number from 0 to n − 1.

    For n < 2³², the probabilities differ from 1/n by less than 2⁻³².

    Parameters
    ----------
    state
        ``(1,)``, the state of the generator, which is changed; see `seeded_state`.
    n
        The number of values, at least 1.
    """
    return _scaled(_next_word(state) >> _S32, n)


@njit
def _scaled(word: np.uint64, n: int) -> int:
    """Return a random whole number from 0 to n − 1, given 32 random bits."""
    return int(np.int64((word * np.uint64(n)) >> _S32))


@njit
def random_code(code: _Code, colors: int, repeats: bool, state: _State) -> None:
    """Fill `code` with a random code, uniformly distributed over the codes of the board.

    Parameters
    ----------
    code
        ``(pegs,)``, overwritten with colors 1..k.
    colors, repeats
        As in `Board`.
    state
        The state of the random numbers.
    """
    if repeats:
        for i in range(code.size):
            code[i] = 1 + draw_below(state, colors)
        return
    unused = np.arange(1, colors + 1)
    for i in range(code.size):
        j = i + draw_below(state, colors - i)
        color = unused[j]
        unused[j] = unused[i]
        code[i] = color


@njit
def draw_pair_swap(code: _Code, state: _State) -> Move:
    """Return the move that exchanges the pegs of a random pair of positions.

    The two pegs may have the same color; the move then changes nothing. A code of one peg stays
    the same.

    Parameters
    ----------
    code
        ``(pegs,)``, the code that is changed.
    state
        ``(1,)``, the state of the generator, which is changed; see `seeded_state`.
    """
    n = code.size
    if n == 1:
        return 0, 0, int(np.int64(code[0])), int(np.int64(code[0]))
    word = _next_word(state)
    first = _scaled(word >> _S32, n)
    second = _scaled(word & _LOW, n - 1)
    if second >= first:
        second += 1
    return first, second, int(np.int64(code[second])), int(np.int64(code[first]))


@njit
def draw_color_change(code: _Code, colors: int, repeats: bool, state: _State) -> Move:
    """Return the move that gives a random peg another color.

    Parameters
    ----------
    code
        ``(pegs,)``, colors 1..k.
    colors, repeats
        As in `Board`. Without repeats, if another peg has the new color, the move exchanges the
        two pegs.
    state
        The state of the random numbers.

    Returns
    -------
    move
        Each position and each of the other k − 1 colors is equally probable.
    """
    word = _next_word(state)
    first = _scaled(word >> _S32, code.size)
    color = 1 + _scaled(word & _LOW, colors - 1)
    old = int(np.int64(code[first]))
    if color >= old:
        color += 1
    if not repeats:
        for second in range(code.size):
            if code[second] == color:
                return first, second, color, old
    return first, first, color, color


@njit
def draw_subset_permutation(code: _Code, proposal: _Code, state: _State) -> None:
    """Write into `proposal` the code after a random permutation of a random subset of its pegs.

    The subset has three or more pegs: its size is uniform, then the subset, then the order of
    its pegs. A code of fewer than three pegs stays the same.

    Parameters
    ----------
    code
        ``(pegs,)``, the code.
    proposal
        ``(pegs,)``, where the result is written.
    state
        ``(1,)``, the state of the generator, which is changed; see `seeded_state`.
    """
    n = code.size
    for i in range(n):
        proposal[i] = code[i]
    if n < 3:
        return
    size = 3 + draw_below(state, n - 2)
    positions = np.arange(n)
    for i in range(size):
        j = i + draw_below(state, n - i)
        chosen = positions[j]
        positions[j] = positions[i]
        positions[i] = chosen
    for i in range(size - 1, 0, -1):
        j = draw_below(state, i + 1)
        one, other = positions[i], positions[j]
        color = proposal[one]
        proposal[one] = proposal[other]
        proposal[other] = color


@njit
def compare_codes(guess: _Code, code: _Code, counts: NDArray[np.int64]) -> tuple[int, int]:
    """Return the reply of a code to a guess: black pegs, and black and white pegs together.

    Parameters
    ----------
    guess, code
        ``(pegs,)``, colors 1..k.
    counts
        ``(k + 1,)``, zeros before and after the call.
    """
    black = both = 0
    for i in range(guess.size):
        counts[guess[i]] += 1
    for i in range(guess.size):
        color = code[i]
        if guess[i] == color:
            black += 1
        if counts[color] > 0:
            counts[color] -= 1
            both += 1
    for i in range(guess.size):
        counts[guess[i]] = 0
    return black, both


# --- Codes changed by random moves, as candidates for guesses -------------------------------------


def changed_codes(
    board: Board, codes: NDArray[np.uint8], moves: int, rng: np.random.Generator
) -> NDArray[np.uint8]:
    """Return codes after some random moves, each a change of a color or an exchange of two pegs.

    Parameters
    ----------
    board
        The board.
    codes
        ``(codes, pegs)``, colors 1..k.
    moves
        The number of moves of each code.
    rng
        The random generator.
    """
    changed = np.array(codes, dtype=np.uint8)
    _move(changed, board.colors, board.repeats, moves, seeded_state(rng))
    return changed


@njit
def _move(
    codes: NDArray[np.uint8], colors: int, repeats: bool, moves: int, state: NDArray[np.uint64]
) -> None:
    """Change each code by random moves."""
    for row in range(codes.shape[0]):
        code = codes[row]
        for _ in range(moves):
            if draw_uniform(state) < 0.5:
                first, second, color, other = draw_pair_swap(code, state)
            else:
                first, second, color, other = draw_color_change(code, colors, repeats, state)
            code[first] = color
            code[second] = other


# --- The replies of sampled codes to many guesses, compiled ---------------------------------------


_PAIRS = 2**27  # pairs of a guess and a code in one call of compiled code, a fraction of a second


def masses_of_samples(
    board: Board, guesses: NDArray[np.uint8], codes: NDArray[np.uint8], weights: Floats
) -> Floats:
    """Return the weight of each true reply to each guess, ``(guesses, true replies)``.

    Parameters
    ----------
    board
        The board, of any size.
    guesses
        ``(guesses, pegs)``, colors 1..k.
    codes
        ``(codes, pegs)``, colors 1..k.
    weights
        ``(codes,)``; ones for counts, which are exact.
    """
    masses = np.zeros((len(guesses), (board.pegs + 1) ** 2))
    columns = np.ascontiguousarray(codes.T)
    counts = np.stack([(columns == color).sum(axis=0) for color in range(board.colors + 1)])
    at_once = max(1, _PAIRS // max(1, len(codes)))
    for start in range(0, len(guesses), at_once):
        some = slice(start, start + at_once)
        _add_masses(guesses[some], columns, counts.astype(np.uint8), weights, masses[some])
    return masses[:, places_of_replies(board)]


def places_of_replies(board: Board) -> NDArray[np.intp]:
    """Return the place (pegs + 1)·P + S of each true reply, with S = P + C."""
    black, white = np.array(board.true_replies, dtype=np.intp).T
    places: NDArray[np.intp] = black * (board.pegs + 1) + black + white
    return places


@njit
def _add_masses(
    guesses: NDArray[np.uint8],
    columns: NDArray[np.uint8],
    counts: NDArray[np.uint8],
    weights: Floats,
    masses: Floats,
) -> None:
    """Add the weights of the codes to `masses`, ``(guesses, places)``.

    `columns` has a row for each position, and `counts` one for each color.
    """
    pegs, n_codes = columns.shape
    blacks = np.zeros(n_codes, dtype=np.uint8)
    boths = np.zeros(n_codes, dtype=np.uint8)
    standing = np.zeros(counts.shape[0], dtype=np.uint8)
    for g in range(guesses.shape[0]):
        blacks[:] = 0
        boths[:] = 0
        standing[:] = 0
        for i in range(pegs):
            color = guesses[g, i]
            standing[color] += 1
            column = columns[i]
            for m in range(n_codes):
                blacks[m] += column[m] == color
        for color in range(1, counts.shape[0]):
            most = standing[color]
            if most:
                count = counts[color]
                for m in range(n_codes):
                    boths[m] += min(count[m], most)
        row = masses[g]
        for m in range(n_codes):
            row[np.int64(blacks[m]) * (pegs + 1) + boths[m]] += weights[m]
