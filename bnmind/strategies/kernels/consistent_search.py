"""Constraint search for a possible code, without a list of codes, on boards of any size.

=========  =================================================================
symbol     name here
=========  =================================================================
t          a turn of the history
g_t        ``guesses[t]``
P_t        ``black[t]``
S_t        ``both[t]``, black and white together: Σ_i min(G_i, C_i)
G_ti       ``standing[t, i]``, how often color i occurs in the guess
C_i        ``placed[i]``, how often color i occurs on the pegs placed so far
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

from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.reply import reply
from bnmind.strategies.kernels.consistent_kernel import (
    FOUND,
    PAUSED,
    Facts,
    list_ways,
    nodes_of,
    search_slice,
    start_trail,
)

__all__ = ["MAX_NODES", "FoundCode", "find_possible_code", "play_by_search"]

MAX_NODES = 2 * 10**8
"""The most pegs that a search places: some minutes."""

_PATIENCE = 2000  # pegs placed until colors are shuffled again; then twice as many, and so on
_MOST_WAYS = 2**16
_SLICE = 100_000_000  # operations, a tenth of a second or less
_MOST_COLORS = 63  # sets of colors are words, whose sign is not used
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
        The largest number of pegs to place.

    Raises
    ------
    TooLargeError
        If this number does not suffice, or the board has too many colors.
    InvalidCodeError
        If a guess is not a code of the board.

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
    ways, are_all = list_ways(standing, both, board.pegs, most, _MOST_WAYS)
    if are_all and not len(ways):
        return FoundCode(None, 0)
    max_nodes = min(max_nodes, _MOST_COUNTED)
    nodes, patience = 0, max_nodes if rng is None else _PATIENCE
    while True:
        if rng is not None:
            values = rng.permuted(values, axis=1)
        facts = Facts(guesses, black, both, standing, values, ways, board.repeats)
        code, placed = _search(facts, min(patience, max_nodes - nodes))
        nodes += placed
        if placed <= patience or nodes > max_nodes:
            break
        patience *= 2
    if nodes > max_nodes:
        raise TooLargeError(
            f"found no possible code of the board {board} within {max_nodes:,} pegs placed",
            needed=nodes,
            budget=max_nodes,
        )
    return FoundCode(code, nodes)


def _search(facts: Facts, max_nodes: int) -> tuple[tuple[int, ...] | None, int]:
    """Return the code found, or None, and the number of pegs placed."""
    trail = start_trail(facts)
    # Ctrl-C works between two slices.
    while (end := search_slice(facts, trail, max_nodes, _SLICE)) == PAUSED:
        pass
    return tuple(trail.code.tolist()) if end == FOUND else None, nodes_of(trail)


def play_by_search(
    board: Board,
    secret: Sequence[int],
    *,
    rng: np.random.Generator | None = None,
    first: Sequence[int] | None = None,
    max_nodes: int = MAX_NODES,
) -> tuple[Turn, ...]:
    """Play a game in which each guess is a possible code, found by search.

    Parameters
    ----------
    board
        The board.
    secret
        The code to guess. Replies are true.
    rng, max_nodes
        See `find_possible_code`.
    first
        The first guess; by default found by search.

    Raises
    ------
    TooLargeError
        If a search takes too long.
    InvalidCodeError
        If the secret or the first guess is not a code of the board.
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
                raise InvalidArgumentError(
                    f"expected replies of the secret {tuple(secret)}, got others", turns
                )
            guess = found.code
        turns.append(Turn(guess, reply(guess, secret)))
    return tuple(turns)
