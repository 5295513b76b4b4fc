"""The problem of a search, and its bounds at levels of growing memory."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from bnmind._values import Value
from bnmind.junction.branch_and_bound.cost_shifting import shifted_tables
from bnmind.junction.branch_and_bound.elimination import constrained_order
from bnmind.junction.branch_and_bound.log_tables import LogTable, LogTables
from bnmind.junction.branch_and_bound.mini_buckets import Bounds, Division, bounds_of, divide
from bnmind.junction.branch_and_bound.search_tree import SearchTree, search_tree
from bnmind.junction.graphs.elimination_order import OrderFinder

__all__ = ["Level", "SearchProblem"]

_FIRST_CELLS = 2**14
_GROWTH = 2**5
"""The cells of all tables at the first level, and their growth from level to level."""

_THOROUGH = 2
"""The first level whose search takes so long that a longer search for an order pays."""


class Level(NamedTuple):
    """Bounds in limited memory, and the tree of a search with them."""

    bounds: Bounds
    tree: SearchTree
    is_last: bool
    """Whether no level has more memory."""
    next_cells: int
    """The limit for the cells of the next level."""
    evaluates: bool
    """Whether the sums over the summed variables must be computed at each leaf."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchProblem(Value):
    """A sum of tables, to be maximized over some variables and summed over the others."""

    tables: LogTables
    is_summed: tuple[bool, ...]
    """For each variable, whether the exponentials are summed over its states."""
    finder: OrderFinder
    max_cells: int
    """The most cells of all tables of the bounds."""
    thorough: OrderFinder | None = None
    """The search for the order of the levels with more memory; None for the same order."""
    known_order: tuple[int, ...] = ()
    known_thorough_order: tuple[int, ...] = ()
    """Orders of elimination that may serve; they may have other variables too."""

    @cached_property
    def shifted(self) -> tuple[LogTable, ...]:
        """Tables with the same sum and tighter bounds."""
        if any(self.is_summed):
            return self.tables.tables
        return shifted_tables(self.tables.tables, self.tables.sizes)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The order of elimination of the first levels."""
        return self._ordered[0]

    @cached_property
    def thorough_order(self) -> tuple[int, ...]:
        """The order of the levels with more memory, after a longer search."""
        if self.thorough is None:
            return self.order
        if known := self._known(self.known_thorough_order):
            return known
        order, size = self._constrained_order(self.thorough)
        return order if size < self._ordered[1] else self.order

    @cached_property
    def _ordered(self) -> tuple[tuple[int, ...], float]:
        if known := self._known(self.known_order):
            return known, math.inf
        return self._constrained_order(self.finder)

    def _constrained_order(self, finder: OrderFinder) -> tuple[tuple[int, ...], int]:
        scopes = [table.scope for table in self.shifted]
        return constrained_order(scopes, self.tables.sizes, self.is_summed, finder)

    def _known(self, order: tuple[int, ...]) -> tuple[int, ...]:
        """Return a known order without the variables that are certain; empty if it lacks others."""
        free = {v for v, size in enumerate(self.tables.sizes) if size > 1}
        return tuple([v for v in order if v in free]) if free <= set(order) else ()

    def level(self, number: int, *, is_whole: bool = False) -> Level:
        """Return the bounds and the tree of a level.

        A whole tree has a node for each variable that is not summed out, with a table of its own
        that can exclude states.
        """
        goals = [min(_FIRST_CELLS * _GROWTH**k, self.max_cells) for k in (number, number + 1)]
        sizes = self.tables.sizes
        order = self.thorough_order if number >= _THOROUGH else self.order
        division = _largest_division(
            [table.scope for table in self.shifted], sizes, order, goals[0]
        )
        bounds = bounds_of(self.shifted, division, sizes, self.is_summed)
        tree = search_tree(bounds, sizes, self.is_summed, self.tables.constant, is_whole=is_whole)
        is_last = goals[0] >= self.max_cells or not division.divided
        evaluates = any(self.is_summed[v] for v in division.divided)
        return Level(bounds, tree, is_last, goals[1], evaluates)


def _largest_division(
    scopes: Sequence[tuple[int, ...]], sizes: Sequence[int], order: Sequence[int], max_cells: int
) -> Division:
    """Return the division with the largest mini-buckets whose tables fit."""

    def division(exponent: int) -> Division:
        return divide(scopes, sizes, order, 2**exponent)

    fits, low, high = division(0), 0, max(1, max_cells.bit_length())
    while high - low > 1:
        middle = (low + high) // 2
        found = division(middle)
        if found.cells + 2 * found.largest > max_cells:
            high = middle
        else:
            fits, low = found, middle
            if not fits.divided:
                break
    return fits
