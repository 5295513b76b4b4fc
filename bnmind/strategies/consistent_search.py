"""A still-possible code by constraint search: no list of codes, so boards of any size.

=========  =================================================================
symbol     name here
=========  =================================================================
t          a turn of the history
g_t        ``guesses[t]``
P_t        ``black[t]``
S_t        ``both[t]``, black and white together: Σ_i min(G_i, C_i)
G_ti       ``standing[t, i]``, how often color i stands in the guess
C_i        ``placed[i]``, how often it stands on the pegs placed so far
=========  =================================================================

Depth first over the positions, each color in its turn. After every peg, for every turn, with
r positions left and a set of colors for each of them:

* blacks so far ≤ P_t, and the positions that can still be black suffice for the rest; if they
  just suffice they all are, and if none is wanted, none is;
* a peg *counts* for t if its color stands less often so far than in the guess. As many as are
  missing to S_t must count: if none may, their colors are out; if all must, all others are;
* where S_t of all turns leave at most 65,536 ways to say how often each color stands,
  these are listed beforehand, and a color is in if some way that fits the pegs so far has more
  of it. Nothing else is known from S, so that blacks alone are left to search for.

References
----------
Van Hentenryck, *A constraint approach to mastermind in logic programming*, SIGART Newsletter
103 (1988) 31-34.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._values import Value
from bnmind.errors import BnmindError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.reply import reply

__all__ = ["MAX_NODES", "FoundCode", "find_possible_code", "play_by_search"]

MAX_NODES = 2 * 10**8
"""The most pegs that a search places: some minutes."""

_PATIENCE = 2000  # pegs placed until colors are shuffled again; then twice as many, and so on
_MOST_WAYS = 2**16
_MOST_COLORS = 63  # sets of colors are words: color i is bit i − 1, and the sign is not used
_MOST_COUNTED = 2**62  # what kernels count are words too


@dataclass(frozen=True)
class FoundCode(Value):
    """A code that agrees with all replies, or the proof that there is none."""

    code: tuple[int, ...] | None
    """The code; None if none agrees with all replies."""
    nodes: int
    """How many pegs were placed to find it."""


def find_possible_code(
    board: Board,
    history: Sequence[Turn],
    *,
    rng: np.random.Generator | None = None,
    max_nodes: int = MAX_NODES,
) -> FoundCode:
    """Return a code that agrees with all replies.

    Parameters
    ----------
    board
        The board, of at most 63 colors; its codes are not listed.
    history
        The guesses and their replies, taken for the truth.
    rng
        Shuffles the colors of each position, and again where a search takes long; without it
        the code is the first possible one in lexicographic order, which can take much longer.
        Shuffled, not all possible codes are equally likely.
    max_nodes
        The most pegs placed.

    Raises
    ------
    TooLargeError
        If that many do not suffice, or there are too many colors.
    InvalidCodeError
        If a guess is no code of the board.

    Examples
    --------
    >>> board = Board(10, 12)
    >>> guess = (1, 1, 2, 2, 3, 3, 4, 4, 5, 5)
    >>> turn = Turn(guess, reply(guess, (7, 1, 8, 2, 12, 9, 3, 3, 6, 12)))
    >>> find_possible_code(board, [turn]).code
    (1, 1, 1, 1, 1, 1, 1, 1, 2, 2)
    """
    if board.colors > _MOST_COLORS:
        raise TooLargeError(
            f"expected a board of at most {_MOST_COLORS} colors to search, got {board}",
            needed=board.colors,
            budget=_MOST_COLORS,
        )
    for turn in history:
        board.index(turn.guess)
    guesses = np.array([turn.guess for turn in history], dtype=np.int64).reshape(-1, board.pegs)
    black = np.array([turn.reply.black for turn in history], dtype=np.int64)
    both = np.array([sum(turn.reply) for turn in history], dtype=np.int64)
    values = np.tile(np.arange(1, board.colors + 1), (board.pegs, 1))
    standing = np.zeros((len(guesses), board.colors + 1), dtype=np.int64)
    for row, guess in zip(standing, guesses, strict=True):
        row += np.bincount(guess, minlength=board.colors + 1)
    most = board.pegs if board.repeats else 1
    ways, are_all = _ways(standing, both, board.pegs, most, _MOST_WAYS)
    if are_all and not len(ways):
        return FoundCode(None, 0)
    max_nodes = min(max_nodes, _MOST_COUNTED)
    nodes, patience = 0, max_nodes if rng is None else _PATIENCE
    while True:
        if rng is not None:
            values = rng.permuted(values, axis=1)
        budget = min(patience, max_nodes - nodes)
        code, more = _search(guesses, black, both, standing, values, ways, board.repeats, budget)
        nodes += more
        if more <= budget or nodes > max_nodes:
            break
        patience *= 2
    if nodes > max_nodes:
        raise TooLargeError(
            f"expected a possible code of the board {board} within {max_nodes:,} pegs placed, got "
            "none so far",
            needed=nodes,
            budget=max_nodes,
        )
    found = tuple(code.tolist()) if code[0] else None
    return FoundCode(found, int(nodes))


def play_by_search(
    board: Board,
    secret: Sequence[int],
    *,
    rng: np.random.Generator | None = None,
    first: Sequence[int] | None = None,
    max_nodes: int = MAX_NODES,
) -> tuple[Turn, ...]:
    """Return a game in which every guess is a possible code, found by search.

    Parameters
    ----------
    board
        The board.
    secret
        The code to guess; replies are truthful.
    rng, max_nodes
        As for `find_possible_code`.
    first
        The first guess; searched for like the others unless given.

    Raises
    ------
    TooLargeError
        If a search takes too long.
    InvalidCodeError
        If the secret or the first guess is no code of the board.
    """
    board.index(secret)
    turns: list[Turn] = []
    while not turns or turns[-1].reply != board.winning:
        if first is not None and not turns:
            guess = tuple(first)
            board.index(guess)
        else:
            found = find_possible_code(board, turns, rng=rng, max_nodes=max_nodes)
            if found.code is None:  # the secret is possible
                raise BnmindError(f"expected replies of the secret {tuple(secret)}, got others")
            guess = found.code
        turns.append(Turn(guess, reply(guess, secret)))
    return tuple(turns)


@njit
def _search(
    guesses: NDArray[np.int64],
    black: NDArray[np.int64],
    both: NDArray[np.int64],
    standing: NDArray[np.int64],
    values: NDArray[np.int64],
    ways: NDArray[np.uint8],
    repeats: bool,
    max_nodes: int,
) -> tuple[NDArray[np.int64], int]:
    """Return the first code by the order of values, zeros if there is none, and the nodes."""
    pegs, colors = values.shape
    turns = guesses.shape[0]
    code = np.zeros(pegs, dtype=np.int64)
    place = np.zeros(pegs + 1, dtype=np.int64)  # which value is tried next
    domains = np.zeros((pegs + 1, pegs), dtype=np.int64)
    placed = np.zeros(colors + 1, dtype=np.int64)
    blacks = np.zeros(turns, dtype=np.int64)
    counted = np.zeros(turns, dtype=np.int64)
    every = 0
    for color in range(1, colors + 1):
        every |= 1 << (color - 1)
    domains[0, :] = every
    # At each depth the ways that fit the pegs so far come first; as many as `fitting` says.
    n_ways = ways.shape[0]
    order = np.arange(n_ways)
    fitting = np.full(pegs + 1, n_ways)
    nodes, depth, allowed, is_new = 0, 0, every, True
    while depth >= 0:
        if is_new:
            is_new = False
            place[depth] = 0
            if not _narrow(
                guesses,
                black,
                both,
                standing,
                placed,
                blacks,
                counted,
                depth,
                domains[depth],
                repeats,
                allowed,
            ):
                depth -= 1
                continue
            if depth == pegs:
                return code, nodes
        color = code[depth]
        if color:
            # Take back the peg.
            placed[color] -= 1
            for t in range(turns):
                blacks[t] -= guesses[t, depth] == color
                counted[t] -= placed[color] < standing[t, color]
            code[depth] = 0
        while place[depth] < colors:
            if domains[depth, depth] >> (values[depth, place[depth]] - 1) & 1:
                break
            place[depth] += 1
        if place[depth] == colors:
            depth -= 1
            continue
        color = values[depth, place[depth]]
        place[depth] += 1
        nodes += 1
        if nodes > max_nodes:
            code[:] = 0
            return code, nodes
        code[depth] = color
        for t in range(turns):
            blacks[t] += guesses[t, depth] == color
            counted[t] += placed[color] < standing[t, color]
        placed[color] += 1
        allowed = every
        if n_ways:
            fitting[depth + 1], allowed = _fitting(ways, order, fitting[depth], placed, color)
        if allowed or depth + 1 == pegs:
            domains[depth + 1] = domains[depth]
            depth += 1
            is_new = True
    return code, nodes


@njit
def _ways(
    standing: NDArray[np.int64], both: NDArray[np.int64], pegs: int, most: int, room: int
) -> tuple[NDArray[np.uint8], bool]:
    """Return how often each color may stand in the code, as far as S_t tell, a row a way.

    No row at all, and False, where there are more than `room`, or no turns.
    """
    turns, width = standing.shape
    ways = np.zeros((256, width), dtype=np.uint8)
    if turns == 0:
        return ways[:0], False
    # What the colors from i on can still give.
    rest = np.zeros((turns, width + 1), dtype=np.int64)
    for t in range(turns):
        for i in range(width - 1, 0, -1):
            rest[t, i] = rest[t, i + 1] + standing[t, i]
    counts = np.full(width, -1)
    left = np.full(width + 1, pegs)
    shared = np.zeros((width + 1, turns), dtype=np.int64)
    n, i = 0, 1
    while i > 0:
        counts[i] += 1
        if counts[i] > min(most, left[i]):
            counts[i] = -1
            i -= 1
            continue
        left[i + 1] = left[i] - counts[i]
        fits = left[i + 1] <= most * (width - 1 - i)
        for t in range(turns):
            shared[i + 1, t] = shared[i, t] + min(standing[t, i], counts[i])
            could = shared[i + 1, t] + min(left[i + 1], rest[t, i + 1])
            fits = fits and shared[i + 1, t] <= both[t] <= could
        if not fits:
            continue
        if i < width - 1:
            i += 1
            continue
        if n == room:
            return ways[:0], False
        if n == ways.shape[0]:
            longer = np.zeros((2 * n, width), dtype=np.uint8)
            longer[:n] = ways
            ways = longer
        for color in range(1, width):
            ways[n, color] = counts[color]
        n += 1
    return ways[:n], True


@njit
def _fitting(
    ways: NDArray[np.uint8],
    order: NDArray[np.int64],
    n: int,
    placed: NDArray[np.int64],
    color: int,
) -> tuple[int, int]:
    """Move the ways that have one more of a color before those that have not.

    Returns how many they are, and the colors that some of them has more of.
    """
    kept, allowed = 0, 0
    for i in range(n):
        way = order[i]
        if ways[way, color] >= placed[color]:
            order[i], order[kept] = order[kept], way
            kept += 1
            for other in range(1, placed.size):
                if ways[way, other] > placed[other]:
                    allowed |= 1 << (other - 1)
    return kept, allowed


@njit
def _narrow(
    guesses: NDArray[np.int64],
    black: NDArray[np.int64],
    both: NDArray[np.int64],
    standing: NDArray[np.int64],
    placed: NDArray[np.int64],
    blacks: NDArray[np.int64],
    counted: NDArray[np.int64],
    start: int,
    domain: NDArray[np.int64],
    repeats: bool,
    every: int,
) -> bool:
    """Narrow the colors of the positions from `start` on; return whether a code may be left."""
    turns, pegs = guesses.shape
    left = pegs - start
    allowed = every
    if not repeats:
        for color in range(1, placed.size):
            if placed[color]:
                allowed &= ~(1 << (color - 1))
    for t in range(turns):
        missing = both[t] - counted[t]
        if missing < 0 or missing > left or blacks[t] > black[t]:
            return False
        if missing == 0 or missing == left:
            counting = 0
            for i in range(pegs):
                color = guesses[t, i]
                if placed[color] < standing[t, color]:
                    counting |= 1 << (color - 1)
            allowed &= ~counting if missing == 0 else counting
    for i in range(start, pegs):
        domain[i] &= allowed
        if domain[i] == 0:
            return False
    again = True
    while again:
        again = False
        for t in range(turns):
            wanted, can = black[t] - blacks[t], 0
            for i in range(start, pegs):
                can += domain[i] >> (guesses[t, i] - 1) & 1
            if can < wanted:
                return False
            if can == 0 or 0 < wanted < can:
                continue
            for i in range(start, pegs):
                bit = 1 << (guesses[t, i] - 1)
                if domain[i] & bit:
                    narrowed = domain[i] & ~bit if wanted == 0 else bit
                    if narrowed != domain[i]:
                        if narrowed == 0:
                            return False
                        domain[i] = narrowed
                        again = True
    return True
