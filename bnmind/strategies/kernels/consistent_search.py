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

The search goes through the positions depth first, and tries each color in turn. After every peg,
and for every turn, it narrows the set of colors of each of the r open positions:

* The black pegs so far must not exceed P_t, and the positions that can still be black must suffice
  for the rest. If they just suffice, they are all black; if no black peg is missing, none is.
* A peg *counts* for t if its color occurs less often so far than in the guess. The number of pegs
  missing to S_t must still count. If it is 0, the colors that would count are excluded; if it is r,
  all other colors are.
* If the S_t of all turns leave at most 65,536 ways to choose the number of pegs of each color, the
  search lists them in advance. A color is allowed if some way that fits the pegs so far has more
  pegs of it. The ways express everything that S tells, so only black pegs remain to search for.

References
----------
Van Hentenryck, *A constraint approach to mastermind in logic programming*, SIGART Newsletter
103 (1988) 31-34.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.reply import reply
from bnmind.mastermind.sampling.consistent_kernel import (
    FOUND,
    PAUSED,
    Facts,
    list_ways,
    nodes_of,
    search_slice,
    start_trail,
)
from bnmind.mastermind.sampling.turn_arrays import turn_arrays

__all__ = ["MAX_NODES", "FoundCode", "find_possible_code", "play_by_search"]

MAX_NODES = 2 * 10**8
"""The largest number of pegs that a search places: some minutes."""

_PATIENCE = 2000  # pegs placed until colors are shuffled again; doubles each time
_MOST_WAYS = 2**16
_SLICE = 100_000_000  # operations, a tenth of a second or less
_MOST_COLORS = 63  # a set of colors is a word, without its sign bit
_MOST_COUNTED = 2**62  # counts of the kernels are words of 64 bits


@dataclass(frozen=True)
class FoundCode(Value):
    """A code that agrees with all replies, or the result that there is none."""

    code: tuple[int, ...] | None
    """The code; None if none agrees with all replies."""
    nodes: int
    """The number of pegs placed during the search."""


@checked_if_it_fails
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
        The guesses and their replies, which are assumed to be true.
    rng
        Shuffles the colors of each position, and shuffles them again if the search takes long.
        Possible codes are then not equally likely. By default, the code is the first possible one
        in lexicographic order, which can take much longer to find.
    max_nodes
        The largest number of pegs to place.

    Raises
    ------
    TooLargeError
        If this number does not suffice, or the board has too many colors.
    InvalidArgumentError
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
    guesses, black, both, standing = turn_arrays(board, history)
    values = np.tile(np.arange(1, board.colors + 1), (board.pegs, 1))
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


@checked_if_it_fails
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
    InvalidArgumentError
        If the secret or the first guess is not a code of the board.
        If the replies are not those of the secret.
    """
    board.index(secret)
    turns: list[Turn] = []
    while not turns or turns[-1].reply != board.winning:
        if first is not None and not turns:
            guess = tuple(first)
            board.index(guess)
        else:
            result = find_possible_code(board, turns, rng=rng, max_nodes=max_nodes)
            if result.code is None:  # the secret is possible
                raise InvalidArgumentError(
                    f"expected replies of the secret {tuple(secret)}, got others", turns
                )
            guess = result.code
        turns.append(Turn(guess, reply(guess, secret)))
    return tuple(turns)
