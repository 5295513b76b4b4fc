"""Optimal strategies under truthful replies, by exhaustive search.

===========================  ===============================================
Vomlel, section 2            name here
===========================  ===============================================
optimal strategy             `optimal_in_worst_case`, ``Goal.DETERMINING``:
                             the smallest depth, in nodes ``value + 1``
optimal in average           `optimal_on_average`; the 5625/1296 that the
                             paper quotes is for ``Goal.REVEALING``
===========================  ===============================================

What is still possible is a set of codes, and all that matters for the rest of the game;
it is kept as the bits of one integer, and each set is solved once. Guesses that split a
set in the same way are tried once, those that promise most first, and given up as soon
as a bound shows that they cannot be better than the best one found.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bnmind.errors import TooLargeError
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.reply_table import reply_table
from bnmind.strategies.goal import Goal
from bnmind.strategies.tree import Path, StrategyTree, grow_tree

__all__ = ["Goal", "Optimum", "first_guesses", "optimal_in_worst_case", "optimal_on_average"]

MAX_SEARCHED_CODES = 400
"""The most codes of a board that is searched; 4x6 without repeats takes seconds, 3x7 a minute."""


@dataclass(frozen=True, eq=False)
class Optimum:
    """A strategy than which none is better."""

    value: float
    """What it achieves; the function that searched says what that is."""
    tree: StrategyTree
    """The strategy."""
    solved: int
    """How many different beliefs were solved."""


def optimal_on_average(board: Board, goal: Goal = Goal.REVEALING) -> Optimum:
    """Return a strategy of the smallest mean number of guesses.

    The value is that mean, all codes being equally likely.

    Raises
    ------
    TooLargeError
        If the board has more codes than `MAX_SEARCHED_CODES`.

    Examples
    --------
    >>> optimum = optimal_on_average(Board(2, 3))
    >>> round(9 * optimum.value), optimum.tree.distribution
    (21, (1.0, 4.0, 4.0))
    """
    total, tree, solved = _Search(board, goal, is_worst_case=False).run()
    return Optimum(total / board.n_codes, tree, solved)


def optimal_in_worst_case(board: Board, goal: Goal = Goal.REVEALING) -> Optimum:
    """Return a strategy of the fewest guesses in the worst case.

    The value is that number of guesses. For ``Goal.DETERMINING`` the depth of the tree,
    which counts nodes, is one more.

    Raises
    ------
    TooLargeError
        If the board has more codes than `MAX_SEARCHED_CODES`.
    """
    worst, tree, solved = _Search(board, goal, is_worst_case=True).run()
    return Optimum(float(worst), tree, solved)


def first_guesses(board: Board) -> tuple[int, ...]:
    """Return one first guess of each kind, as indices of codes, ascending.

    Before anything is known two guesses are alike if their colors occur equally often:
    positions and colors can be renamed. Each kind is stood for by its first guess, so a
    search that prefers smaller indices misses nothing.

    Examples
    --------
    >>> board = Board(4, 6)
    >>> [board.format(board.code(guess)) for guess in first_guesses(board)]
    ['1111', '1112', '1122', '1123', '1234']
    """
    kinds: dict[tuple[int, ...], int] = {}
    for index, code in enumerate(board.codes.tolist()):
        kinds.setdefault(tuple(sorted(code.count(color) for color in set(code))), index)
    return tuple(sorted(kinds.values()))


class _Search:
    """One search: what has been solved lives as long as this object."""

    def __init__(self, board: Board, goal: Goal, *, is_worst_case: bool) -> None:
        if board.n_codes > MAX_SEARCHED_CODES:
            raise TooLargeError(
                f"expected a board of at most {MAX_SEARCHED_CODES} codes to search exhaustively, "
                f"got {board} with {board.n_codes:,}",
                needed=board.n_codes,
                budget=MAX_SEARCHED_CODES,
            )
        self._board = board
        self._is_worst_case = is_worst_case
        self._last = 1 if goal is Goal.REVEALING else 0  # guesses needed when one code is left
        self._cells = _cells(board, goal)
        self._bounds = _lower_bounds(
            board.n_codes, len(board.true_replies), goal, is_worst_case=is_worst_case
        )
        self._solved: dict[int, tuple[int, int]] = {}

    def run(self) -> tuple[int, StrategyTree, int]:
        """Return the best value, a strategy that has it, and how many sets were solved."""
        everything = (1 << self._board.n_codes) - 1
        value, _ = self._solve(everything, first_guesses(self._board))
        table = reply_table(self._board)

        def choose(path: Path) -> int:
            left = everything
            for guess, outcome in path:
                same = np.flatnonzero(table[guess] == outcome)
                left &= sum(1 << int(code) for code in same)
            return self._solve(left, self._order)[1]

        return value, grow_tree(Channel.exact(self._board), choose), len(self._solved)

    @property
    def _order(self) -> range:
        return range(self._board.n_codes)

    def _solve(self, left: int, guesses: Sequence[int]) -> tuple[int, int]:
        """Return the best value for a set of two or more codes, and a guess that has it.

        On average the value is a total over the codes; in the worst case a maximum.
        """
        known = self._solved.get(left)
        if known is not None:
            return known
        size = left.bit_count()
        best_value, best_guess = 1 << 62, -1
        for bound, guess, cells in self._splits(left, size, guesses):
            if bound >= best_value:
                break
            value = self._value(cells, bound, size, best_value)
            if value < best_value:
                best_value, best_guess = value, guess
                if value == self._bounds[size]:
                    break
        self._solved[left] = best_value, best_guess
        return best_value, best_guess

    def _splits(
        self, left: int, size: int, guesses: Sequence[int]
    ) -> list[tuple[int, int, tuple[int, ...]]]:
        """Return (lower bound, guess, cells that go on) for each way to split, best first."""
        bounds = self._bounds
        ways: dict[tuple[int, ...], tuple[bool, int]] = {}
        for guess in guesses:
            cells = tuple(sorted(cell for mask in self._cells[guess] if (cell := left & mask)))
            if cells == (left,):
                continue  # it tells nothing
            impossible = not left >> guess & 1
            ways[cells] = min(ways.get(cells, (True, guess)), (impossible, guess))
        ranked = sorted(
            (self._total(size, [bounds[cell.bit_count()] for cell in cells]), *rank, cells)
            for cells, rank in ways.items()
        )
        return [(bound, guess, cells) for bound, _, guess, cells in ranked]

    def _total(self, size: int, values: Sequence[int]) -> int:
        """Return the value of a set from the values of the cells that a guess leaves."""
        return 1 + max(values, default=0) if self._is_worst_case else size + sum(values)

    def _value(self, cells: tuple[int, ...], bound: int, size: int, best: int) -> int:
        """Return the value of a way to split, or some number not below `best`."""
        values = [self._bounds[cell.bit_count()] for cell in cells]
        for place, cell in enumerate(cells):
            if cell.bit_count() == 1:
                values[place] = self._last
            else:
                values[place] = self._solve(cell, self._order)[0]
            bound = self._total(size, values)
            if bound >= best:
                break
        return bound


def _cells(board: Board, goal: Goal) -> list[list[int]]:
    """Return for each guess the sets of codes with the same reply, as bits.

    The game is over in the cell of the winning reply: where the code is to be revealed,
    it is left out.
    """
    cells: list[list[int]] = []
    winning = len(board.true_replies) - 1
    for replies in reply_table(board).tolist():
        masks = [0] * len(board.true_replies)
        for code, place in enumerate(replies):
            masks[place] |= 1 << code
        if goal is Goal.REVEALING:
            masks[winning] = 0
        cells.append([mask for mask in masks if mask])
    return cells


@lru_cache(maxsize=16)
def _lower_bounds(
    largest: int, n_replies: int, goal: Goal, *, is_worst_case: bool
) -> tuple[int, ...]:
    """Return by the size of a set what no strategy can be better than.

    A game of d guesses can go n_replies ways after each of them. Where the code is to
    be revealed, one of them is its end, so at most (n_replies − 1)^(d−1) codes are found
    at guess d. Where it is to be determined, at most n_replies^d codes in d guesses;
    each code that has to wait for one guess more makes room for n_replies others.
    """
    bounds = [0]
    depth, room, total = 0, 0, 0
    if goal is Goal.REVEALING:
        for _ in range(largest):
            if room == 0:
                depth, room = depth + 1, (n_replies - 1) ** depth
            room -= 1
            total += depth
            bounds.append(depth if is_worst_case else total)
        return tuple(bounds)
    for size in range(1, largest + 1):
        while n_replies ** (depth + 1) <= size and size > 1:
            depth += 1
        full = n_replies**depth
        waiting = -(-(size - full) // (n_replies - 1))
        total = size * depth + (size - full) + waiting
        bounds.append(depth + (size > full) if is_worst_case else total)
    return tuple(bounds)
