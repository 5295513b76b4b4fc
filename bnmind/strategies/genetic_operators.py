"""The moves of the genetic algorithms, compiled: operators, populations and the cost of a code.

Each operator changes a code in place, or writes a child, and takes its random numbers from a state
(`bnmind.mastermind.sampling.seeded_state`). The result is always a code of the board, and each of
its pegs has a color that is allowed in its position (`Choices`):

* *One-point crossover* takes the pegs before a random cut from one parent, the rest from the other.
* *Two-point crossover* takes the pegs between two random cuts from the other parent.
* *Mutation* gives a random peg a random color, or in a second form the next color.
* *Permutation* exchanges the colors of two random pegs.
* *Inversion* reverses the order of the pegs between two random positions.

On a board without repeats, a crossover may leave a color twice. The child is then repaired: the
second peg of the color gets a random color that the child lacks. A mutation exchanges two pegs if
another peg has the new color. A permutation or inversion that would put a color where it is not
allowed is not done.

The searches minimize the cost of a code, how far it is from agreeing with all replies:

=========  =================================================================
symbol     name here
=========  =================================================================
i          the number of the guess to come; i − 1 guesses have been made
X_k, Y_k   ``black[k]`` and ``white[k]``, the reply to guess k
X'_k, Y'_k the reply to guess k if the code c were the secret
P          pegs
=========  =================================================================

The cost of a code c is Σ |X'_k − X_k| + Σ |Y'_k − Y_k|, that of the source with a = 1. A code of
cost 0 is *eligible*: it agrees with all replies. The fitness of Berghman, Goossens and Leus adds
b·P·(i − 1), which is the same for all codes of a population; see `Selection` for its part.

References
----------
Berghman, Goossens and Leus, *Efficient solutions for Mastermind using genetic algorithms*,
Computers & Operations Research 36 (2009) 1880-1885.
Berghman, Goossens and Leus, *Efficient solutions for Mastermind using genetic algorithms*,
Computers & Operations Research 36 (2009) 1880-1885, section 3.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.mastermind.board import Board, Turn
from bnmind.mastermind.random_moves import draw_below, draw_uniform
from bnmind.mastermind.sampling import turn_arrays

# --- The operators of the genetic algorithms, compiled: crossover, mutation, permutation, inversion


_Code = NDArray[np.uint8]
_State = NDArray[np.uint64]


class Choices(NamedTuple):
    """The colors that a search tries in each position."""

    colors: NDArray[np.uint8]
    """``(pegs, k)``, the allowed colors of each position come first."""
    numbers: NDArray[np.int64]
    """``(pegs,)``, the number of allowed colors."""
    allowed: NDArray[np.bool_]
    """``(pegs, k + 1)``, whether a position may have a color; column 0 is False."""
    repeats: bool
    """Whether a color may occur twice. If not, all positions have the same allowed colors."""


class Rates(NamedTuple):
    """The probabilities of the operators, each from 0 to 1."""

    one_point: float = 0.5
    """Of one-point crossover; otherwise two-point crossover is used."""
    mutation: float = 0.03
    """Of mutation, after the crossover."""
    permutation: float = 0.03
    """Of permutation."""
    inversion: float = 0.02
    """Of inversion."""


def choices_of(board: Board, allowed: NDArray[np.bool_]) -> Choices:
    """Return choices as arrays.

    Parameters
    ----------
    board
        The board.
    allowed
        ``(pegs, k + 1)``, at least one color for each position; without repeats, the same colors
        for all positions, at least as many as pegs.
    """
    colors = np.zeros((board.pegs, board.colors), dtype=np.uint8)
    numbers = np.count_nonzero(allowed, axis=1)
    for position, row in enumerate(allowed):
        colors[position, : numbers[position]] = np.flatnonzero(row)
    return Choices(colors, numbers.astype(np.int64), allowed, board.repeats)


def all_choices(board: Board) -> Choices:
    """Return the choices that allow every color in every position."""
    allowed = np.ones((board.pegs, board.colors + 1), dtype=np.bool_)
    allowed[:, 0] = False
    return choices_of(board, allowed)


@njit
def draw_code(code: _Code, choices: Choices, state: _State) -> None:
    """Fill a code with random allowed colors; all codes of these colors are equally probable."""
    pegs = code.size
    if choices.repeats:
        for i in range(pegs):
            code[i] = choices.colors[i, draw_below(state, choices.numbers[i])]
        return
    unused = choices.colors[0].copy()
    n = choices.numbers[0]
    for i in range(pegs):
        j = i + draw_below(state, n - i)
        color = unused[j]
        unused[j] = unused[i]
        code[i] = color


@njit
def one_point_crossover(
    mother: _Code, father: _Code, child: _Code, choices: Choices, state: _State
) -> None:
    """Write into `child` the first pegs of the mother, at least one, and then the father's."""
    pegs = child.size
    cut = 1 + draw_below(state, pegs - 1) if pegs > 1 else 1
    for i in range(pegs):
        child[i] = mother[i] if i < cut else father[i]
    _repair(child, choices, state)


@njit
def two_point_crossover(
    mother: _Code, father: _Code, child: _Code, choices: Choices, state: _State
) -> None:
    """Write into `child` the mother with the father's pegs between two random positions."""
    pegs = child.size
    first, last = draw_below(state, pegs), draw_below(state, pegs)
    if first > last:
        first, last = last, first
    for i in range(pegs):
        child[i] = father[i] if first <= i <= last else mother[i]
    _repair(child, choices, state)


@njit
def mutate(code: _Code, choices: Choices, state: _State) -> None:
    """Give a random peg a random allowed color, which may be the color that it has."""
    i = draw_below(state, code.size)
    color = choices.colors[i, draw_below(state, choices.numbers[i])]
    if not choices.repeats:
        for j in range(code.size):
            if code[j] == color:
                code[j] = code[i]
    code[i] = color


@njit
def mutate_to_next(code: _Code, choices: Choices, state: _State) -> None:
    """Give a random peg the next allowed color; the first one follows the last."""
    i = draw_below(state, code.size)
    k = choices.allowed.shape[1] - 1
    color = np.int64(code[i]) % k + 1
    while not choices.allowed[i, color]:
        color = color % k + 1
    if not choices.repeats:
        for j in range(code.size):
            if code[j] == color:
                code[j] = code[i]
    code[i] = color


@njit
def permute(code: _Code, choices: Choices, state: _State) -> None:
    """Exchange the colors of two random pegs, if both are allowed there."""
    pegs = code.size
    if pegs == 1:
        return
    i = draw_below(state, pegs)
    j = draw_below(state, pegs - 1)
    if j >= i:
        j += 1
    if choices.allowed[i, code[j]] and choices.allowed[j, code[i]]:
        color = code[i]
        code[i] = code[j]
        code[j] = color


@njit
def invert(code: _Code, choices: Choices, state: _State) -> None:
    """Reverse the order of the pegs between two random positions, if that is allowed."""
    pegs = code.size
    first, last = draw_below(state, pegs), draw_below(state, pegs)
    if first > last:
        first, last = last, first
    for i in range(first, last + 1):
        if not choices.allowed[i, code[first + last - i]]:
            return
    while first < last:
        color = code[first]
        code[first] = code[last]
        code[last] = color
        first += 1
        last -= 1


@njit
def breed(
    parents: tuple[_Code, _Code], child: _Code, rates: Rates, choices: Choices, state: _State
) -> None:
    """Write a child of two parents: a crossover, then each other operator with its probability."""
    if draw_uniform(state) < rates.one_point:
        one_point_crossover(parents[0], parents[1], child, choices, state)
    else:
        two_point_crossover(parents[0], parents[1], child, choices, state)
    if draw_uniform(state) < rates.mutation:
        mutate(child, choices, state)
    if draw_uniform(state) < rates.permutation:
        permute(child, choices, state)
    if draw_uniform(state) < rates.inversion:
        invert(child, choices, state)


@njit
def _repair(code: _Code, choices: Choices, state: _State) -> None:
    """Replace colors that occur again, on a board without repeats."""
    if choices.repeats:
        return
    pegs, n = code.size, choices.numbers[0]
    used = np.zeros(choices.allowed.shape[1], dtype=np.bool_)
    double = np.zeros(pegs, dtype=np.bool_)
    n_double = 0
    for i in range(pegs):
        double[i] = used[code[i]]
        n_double += double[i]
        used[code[i]] = True
    if n_double == 0:
        return
    missing = np.zeros(n, dtype=np.uint8)
    n_missing = 0
    for j in range(n):
        color = choices.colors[0, j]
        if not used[color]:
            missing[n_missing] = color
            n_missing += 1
    for i in range(pegs):
        if double[i]:
            j = draw_below(state, n_missing)
            n_missing -= 1
            code[i] = missing[j]
            missing[j] = missing[n_missing]


# --- Populations of codes: sets without duplicates, and the selection of parents, compiled --------


_OFFSET = np.uint64(0xCBF29CE484222325)
_PRIME = np.uint64(0x100000001B3)
_S29 = np.uint64(29)
_TRIES = 8


class Selection(Enum):
    """The chance of a code of the population to become a parent."""

    UNIFORM = 0
    """All codes have the same chance."""
    PROPORTIONAL = 1
    """The chance is proportional to b·P·(i − 1) − cost, with the b of the published fitness."""
    RANKED = 2
    """The chance falls linearly with the rank of the cost, from the best code to the worst."""
    BEST_HALF = 3
    """Only the better half of the codes are parents, all with the same chance."""
    INVERSE = 4
    """The chance is proportional to 1 / (1 + cost)."""


@njit
def _code_key(code: NDArray[np.uint8]) -> np.uint64:
    """Return a word for a code; two codes have the same word with a probability of about 2⁻⁶⁴."""
    key = _OFFSET
    for i in range(code.size):
        key = (key ^ np.uint64(code[i])) * _PRIME
        key ^= key >> _S29
    # Zero marks a free place of a set.
    return key | np.uint64(1)


def empty_keys(size: int) -> NDArray[np.uint64]:
    """Return an empty set of keys with room for `size` of them."""
    return np.zeros(1 << (2 * size + 2).bit_length(), dtype=np.uint64)


@njit
def add_code(keys: NDArray[np.uint64], code: NDArray[np.uint8]) -> bool:
    """Add the key of a code to a set; return whether it is new."""
    key = _code_key(code)
    place = np.int64((key >> np.uint64(1)) & np.uint64(keys.size - 1))
    while keys[place] != 0:
        if keys[place] == key:
            return False
        place = (place + 1) & (keys.size - 1)
    keys[place] = key
    return True


@njit
def fill_distinct(
    codes: NDArray[np.uint8],
    start: int,
    keys: NDArray[np.uint64],
    choices: Choices,
    state: NDArray[np.uint64],
) -> None:
    """Fill the rows from `start` on with random codes, distinct unless that takes many tries."""
    for i in range(start, codes.shape[0]):
        for _ in range(_TRIES):
            draw_code(codes[i], choices, state)
            if add_code(keys, codes[i]):
                break


@njit
def fill_random(codes: NDArray[np.uint8], choices: Choices, state: NDArray[np.uint64]) -> None:
    """Fill all rows with random codes, which may be equal."""
    for i in range(codes.shape[0]):
        draw_code(codes[i], choices, state)


@njit
def selection_weights(costs: NDArray[np.int64], selection: int, top: int) -> NDArray[np.float64]:
    """Return the cumulative chances of codes to become parents, not normalized.

    Parameters
    ----------
    costs
        ``(codes,)``, the cost of each code.
    selection
        The value of a `Selection`.
    top
        b·P·(i − 1).
    """
    n = costs.size
    weights = np.ones(n)
    if selection == 1:
        for i in range(n):
            weights[i] = max(top - costs[i], 0) + 1e-9
    elif selection == 4:
        for i in range(n):
            weights[i] = 1.0 / (1.0 + costs[i])
    elif selection > 1:
        order = np.argsort(costs, kind="mergesort")
        for rank in range(n):
            if selection == 2:
                weights[order[rank]] = n - rank
            else:
                weights[order[rank]] = 1.0 if 2 * rank < n else 0.0
    return np.cumsum(weights)


@njit
def draw_parent(weights: NDArray[np.float64], state: NDArray[np.uint64]) -> int:
    """Return the index of a random code, drawn with the chances of `selection_weights`."""
    chosen = np.searchsorted(weights, draw_uniform(state) * weights[-1], side="right")
    return int(min(chosen, weights.size - 1))


# --- How far a code is from agreeing with all replies: the cost that the searches minimize --------


PLAYED = 2**40
"""Added to the cost of a code that was guessed in vain; no other cost is as large."""


class Replies(NamedTuple):
    """The replies of a game as arrays."""

    guesses: NDArray[np.uint8]
    """``(turns, pegs)``, colors 1..k."""
    black: NDArray[np.int64]
    """``(turns,)`` black pegs."""
    white: NDArray[np.int64]
    """``(turns,)`` white pegs."""
    standing: NDArray[np.uint8]
    """``(turns, k + 1)``, how often each color occurs in the guess."""
    ends: bool
    """Whether the winning guess ends the game; the codes guessed so far are then wrong."""


def replies_of(board: Board, history: Sequence[Turn], *, ends: bool = True) -> Replies:
    """Return the replies of a game as arrays.

    Parameters
    ----------
    board
        The board.
    history
        The guesses and their reported replies.
    ends
        Whether the winning guess ends the game.

    Raises
    ------
    InvalidArgumentError
        If a guess is not a code of the board.
    """
    turns = turn_arrays(board, history)
    guesses, standing = turns.guesses.astype(np.uint8), turns.standing.astype(np.uint8)
    return Replies(guesses, turns.black, turns.both - turns.black, standing, bool(ends))


@njit
def code_cost(code: _Code, replies: Replies, counts: NDArray[np.uint8]) -> int:
    """Return the cost of a code, plus `PLAYED` if it was guessed in a game that went on.

    Parameters
    ----------
    code
        ``(pegs,)``, colors 1..k.
    replies
        The replies of the game.
    counts
        ``(k + 1,)``, zeros before and after the call.
    """
    turns, pegs = replies.guesses.shape
    for i in range(pegs):
        counts[code[i]] += 1
    cost, was_played = 0, False
    for t in range(turns):
        black = 0
        for i in range(pegs):
            black += replies.guesses[t, i] == code[i]
        both = 0
        for color in range(counts.size):
            both += min(replies.standing[t, color], counts[color])
        cost += abs(black - replies.black[t])
        cost += abs(both - black - replies.white[t])
        was_played |= black == pegs and replies.ends
    for i in range(pegs):
        counts[code[i]] = 0
    return cost + PLAYED if was_played else cost


@njit
def code_costs(codes: NDArray[np.uint8], replies: Replies) -> NDArray[np.int64]:
    """Return the costs of codes, ``(codes, pegs)``, as `code_cost` does."""
    counts = np.zeros(replies.standing.shape[1], dtype=np.uint8)
    costs = np.zeros(codes.shape[0], dtype=np.int64)
    for i in range(codes.shape[0]):
        costs[i] = code_cost(codes[i], replies, counts)
    return costs


# --- The genetic search for eligible codes, compiled; see `Genetic` -------------------------------


class Archive(NamedTuple):
    """The codes of the smallest cost that a search has found."""

    codes: NDArray[np.uint8]
    """``(room, pegs)``, the codes; only the first ones are filled."""
    keys: NDArray[np.uint64]
    """The keys of the codes."""
    counts: NDArray[np.int64]
    """The number of codes, their cost, and the number of codes evaluated."""


@njit
def collect_best(
    population: NDArray[np.uint8],
    archive: Archive,
    replies: Replies,
    choices: Choices,
    rates: Rates,
    plan: tuple[int, int, int, int, int],
    state: NDArray[np.uint64],
) -> None:
    """Evolve a population, and collect the codes of the smallest cost that occur.

    A child that is in the new population already is replaced by a random code.

    Parameters
    ----------
    population
        ``(codes, pegs)``, overwritten; the first generation.
    archive
        The codes found. The search ends once it is full of eligible codes.
    replies, choices, rates
        The game, the colors to try, and the rates of the operators.
    plan
        The number of generations, the number of generations without a new eligible code that ends
        the search once there is one, the value of a `Selection`, b·P·(i − 1), and the number of
        codes of the first generation that are given; the others are random.
    state
        The state of the random numbers.
    """
    max_generations, patience, selection, top, n_given = plan
    latest = 0
    n = population.shape[0]
    counts = np.zeros(choices.allowed.shape[1], dtype=np.uint8)
    costs = np.zeros(n, dtype=np.int64)
    room = 64
    while room < 4 * n:
        room *= 2
    keys = np.zeros(room, dtype=np.uint64)
    for i in range(n_given):
        add_code(keys, population[i])
    fill_distinct(population, n_given, keys, choices, state)
    children = np.empty_like(population)
    for generation in range(max_generations + 1):
        if archive.counts[1] == 0 and generation - latest > patience:
            return
        if generation > 0:
            weights = selection_weights(costs, selection, top)
            keys[:] = 0
            for i in range(n):
                mother = population[draw_parent(weights, state)]
                father = population[draw_parent(weights, state)]
                breed((mother, father), children[i], rates, choices, state)
                if not add_code(keys, children[i]):
                    draw_code(children[i], choices, state)
                    add_code(keys, children[i])
            population, children = children, population
        for i in range(n):
            costs[i] = code_cost(population[i], replies, counts)
            if costs[i] < archive.counts[1]:
                archive.counts[0], archive.counts[1] = 0, costs[i]
                archive.keys[:] = 0
            room_left = archive.counts[0] < archive.codes.shape[0]
            if (
                costs[i] == archive.counts[1]
                and room_left
                and add_code(archive.keys, population[i])
            ):
                archive.codes[archive.counts[0]] = population[i]
                archive.counts[0] += 1
                latest = generation
        archive.counts[2] += n
        if archive.counts[1] == 0 and archive.counts[0] == archive.codes.shape[0]:
            return
