"""The symmetry group of a history: permutations that map each previous guess to itself.

A permutation of the positions and a permutation of the colors, (π, σ), map a guess x to y with
y_i = σ(x_π(i)).

======  ====================================================================
symbol  name here
======  ====================================================================
G       the (π, σ) that fix every guess of the history; `HistoryGroup`
—       kind: positions at which all guesses so far agree, color for color
U       unused: the colors of no guess so far
N       the part of G that moves positions within kinds, and colors within U
Q       moves: G / N, permutations of the kinds, each with its σ off U
======  ====================================================================

A kind is a column of the history. A move maps columns to columns and thereby determines σ on all
used colors. N has Π |kind|! · |U|! members and is never listed; Q is.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.errors import TooLargeError
from bnmind.mastermind.board import Board

__all__ = ["Colors", "HistoryGroup", "Indices", "history_group", "require_at_most"]

_MAX_MOVES = 2**20  # the largest list of Q; the search for it takes a hundred megabytes

Indices = NDArray[np.intp]
Colors = NDArray[np.uint8]


@dataclass(frozen=True, eq=False)
class HistoryGroup(Sealed):
    """The permutations of positions and colors that map each guess of a history to itself.

    Made by `history_group`.

    Examples
    --------
    >>> history_group(Board(4, 6), [(1, 1, 2, 3)]).order  # 1–1, 2–3 and 4–5–6 swap
    24
    """

    board: Board
    """The board."""
    guesses: tuple[tuple[int, ...], ...]
    """The previous guesses, without repetition, oldest first."""
    kinds: Indices
    """``(pegs,)``, the kind of each position, numbered in order of appearance."""
    moves: Indices
    """``(moves, kinds)``, the kind that each kind comes from."""
    images: Colors
    """``(moves, colors + 1)``, the color that each used color becomes; 0 for other colors."""

    @cached_property
    def unused(self) -> tuple[int, ...]:
        """The colors that occur in no previous guess, ascending."""
        used = {color for guess in self.guesses for color in guess}
        return tuple(color for color in range(1, self.board.colors + 1) if color not in used)

    @cached_property
    def order(self) -> int:
        """The number of permutations, including the identity."""
        sizes = Counter(self.kinds.tolist()).values()
        within = math.prod(math.factorial(size) for size in sizes)
        return len(self.moves) * within * math.factorial(len(self.unused))

    @property
    def least_classes(self) -> int:
        """A lower bound of the number of classes, as if all classes had full size."""
        return -(-self.board.n_codes // self.order)


def history_group(board: Board, guesses: Sequence[Sequence[int]]) -> HistoryGroup:
    """Return the permutations that map each of the guesses to itself.

    The function takes a fraction of a millisecond if little symmetry is left. The ``order`` of the
    group tells whether a search for classes is worthwhile.

    Parameters
    ----------
    board
        The board.
    guesses
        Codes, colors 1..k.

    Raises
    ------
    InvalidArgumentError
        If a guess is not a code of the board.
    TooLargeError
        If there are too many permutations of the kinds to list.
    """
    checked = dict.fromkeys(board.code(board.index(guess)) for guess in guesses)
    history = tuple(checked)
    columns = [tuple(guess[i] for guess in history) for i in range(board.pegs)]
    numbers = {column: kind for kind, column in enumerate(dict.fromkeys(columns))}
    kinds = np.array([numbers[column] for column in columns], dtype=np.intp)
    table = np.array(list(numbers), dtype=np.uint8).reshape(len(numbers), len(history))
    moves, images = _moves(board, table, np.bincount(kinds))
    return HistoryGroup(board=board, guesses=history, kinds=kinds, moves=moves, images=images)


def _moves(board: Board, columns: Colors, sizes: Indices) -> tuple[Indices, Colors]:
    """Return Q: the permutations of the columns of the history that agree with some σ.

    Kind a comes from kind b of the same size, and σ maps the column of b to the column of a. The
    function extends partial permutations, with their partial σ, one kind at a time.
    """
    moves = np.zeros((1, 0), dtype=np.intp)
    images: Colors = np.zeros((1, board.colors + 1), dtype=np.uint8)
    for kind, column in enumerate(columns):
        sources = np.flatnonzero(sizes == sizes[kind])
        require_at_most(_MAX_MOVES, "permutations of columns", len(moves) * len(sources), board)
        row, source = (axis.ravel() for axis in np.indices((len(moves), len(sources))))
        source = sources[source]
        free = np.all(moves[row] != source[:, None], axis=1)
        row, source = row[free], source[free]
        longer = images[row]
        for guess, color in enumerate(column):
            before = columns[source, guess]
            image = longer[np.arange(len(row)), before]
            # σ is a function and injective.
            fits = (image == color) | ((image == 0) & np.all(longer != color, axis=1))
            row, source, longer, before = row[fits], source[fits], longer[fits], before[fits]
            longer[np.arange(len(row)), before] = color
        moves = np.column_stack([moves[row], source])
        images = longer
    return moves, images


def require_at_most(budget: int, what: str, needed: int, board: Board) -> None:
    """Raise `TooLargeError` if the needed number exceeds the budget."""
    if needed > budget:
        raise TooLargeError(
            f"expected at most {budget:,} {what}, got at least {needed:,} on the board {board}",
            needed=needed,
            budget=budget,
        )
