"""The problem of a search, and its bounds at levels of growing memory."""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

from bnmind._values import Value
from bnmind.junction.branch_and_bound.cost_shifting import shifted_tables
from bnmind.junction.branch_and_bound.log_tables import LogTable, LogTables
from bnmind.junction.branch_and_bound.mini_buckets import Bounds, Division, bounds_of, divide
from bnmind.junction.branch_and_bound.search_tree import SearchTree, search_tree
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.graphs.interaction_graph import InteractionGraph

__all__ = ["Level", "SearchProblem"]

# --- Orders of elimination for a search: summed variables first, then maximized ones --------------
#
# The value of a marginal MAP is a maximum of sums, and sums and maxima do not commute. So the
# summed variables must be eliminated first, by a greedy order of least weight. The order of the
# maximized variables, on the graph that is left, is searched for as usual.


def constrained_order(
    scopes: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    is_summed: Sequence[bool],
    finder: OrderFinder,
) -> tuple[tuple[int, ...], int]:
    """Return the variables of more than one state in an order of elimination.

    The second number is the total size of the cliques of the maximized variables.

    Parameters
    ----------
    scopes
        The variables of each table.
    sizes
        The number of states of each variable.
    is_summed
        For each variable, whether it is summed out.
    finder
        The search for the order of the maximized variables.
    """
    free = [v for v, size in enumerate(sizes) if size > 1]
    summed = [v for v in free if is_summed[v]]
    remaining: Sequence[tuple[int, ...]] = scopes
    first: list[int] = []
    if summed:
        first, remaining = _summed_first(scopes, sizes, summed)
    gone = set(first)
    graph = InteractionGraph.from_scopes(
        {str(v): sizes[v] for v in free if v not in gone},
        [[str(v) for v in scope] for scope in remaining],
    )
    found = finder(graph)
    return (*first, *(int(name) for name in found.variables)), found.total_size


def _summed_first(
    scopes: Sequence[tuple[int, ...]], sizes: Sequence[int], summed: Sequence[int]
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return an order of the summed variables, and the edges of the graph without them."""
    neighbors: dict[int, set[int]] = {}
    for scope in scopes:
        for v in scope:
            neighbors.setdefault(v, set()).update(scope)
    for v, adjacent in neighbors.items():
        adjacent.discard(v)

    def weight(v: int) -> float:
        return math.fsum([math.log2(sizes[u]) for u in sorted(neighbors.get(v, ()))])

    waiting = set(summed)
    heap = [(weight(v), v) for v in summed]
    heapq.heapify(heap)
    order = []
    while waiting:
        known, v = heapq.heappop(heap)
        if v not in waiting or known != weight(v):
            continue
        waiting.remove(v)
        order.append(v)
        adjacent = neighbors.pop(v, set())
        for u in adjacent:
            neighbors[u] |= adjacent
            neighbors[u] -= {u, v}
        for u in adjacent & waiting:
            heapq.heappush(heap, (weight(u), u))
    edges: list[tuple[int, ...]] = [
        (v, u) for v, adjacent in neighbors.items() for u in adjacent if v < u
    ]
    return order, edges


# --- The problem of a search, and its bounds at levels of growing memory --------------------------
#
#

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
