"""A shared search for the elimination orders of several graphs.

The graphs belong to the parts of a plan, or are alternatives. Before the search, quick orders
estimate the cost of the forms of distributions. The work of everything together is at most that of
one large search, and the estimates take at most half of it. The parts share the work in proportion
to their sizes by the quick orders, and leave unused work to the other parts. The search counts
operations instead of time, so plans are the same on any machine.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol, runtime_checkable

from bnmind.junction.graphs.elimination_order import EliminationOrder, OrderFinder
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.triangulation.randomized_greedy import (
    FEW_VERTICES,
    MOST_WORK,
    Start,
    started,
)

__all__ = ["SELDOM_SAVED", "BoundedFinder", "SharedSearch"]

_BRIEF = MOST_WORK // 100
"""The work of a first search for each of several alternatives."""

_WORK_OF_A_VERTEX = 4_000
"""The work of an estimate for each vertex besides its pass, to build the graph."""

SELDOM_SAVED = 32
"""The ratio that the improvement of a long search on a brief one rarely exceeds."""


_STAGES = (
    (MOST_WORK // 100, 2.0**40),
    (MOST_WORK // 4, 2.0**24),
    (MOST_WORK, 2.0**16),
    (4 * MOST_WORK, 2.0**8),
)
"""A search that has done so much work stops if its tree is still so many times too large to run.
On generated pedigrees and medical networks, longer searches then made the trees at most 2^11, 2^8,
2^8 and 2^2 times smaller."""


@runtime_checkable
class BoundedFinder(Protocol):
    """A finder whose work has a limit, such as `RandomizedGreedy`, which explains the members."""

    @property
    def effort(self) -> float:
        """The work of the search, as a multiple of the work of a run."""
        ...

    @property
    def restarts(self) -> int | None:
        """The number of passes; None if the work is counted."""
        ...

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order of all variables of the graph."""
        ...

    def wanted(self, cells: int, n: int) -> float:
        """Return the work that pays for a tree."""
        ...

    def within(
        self,
        graph: InteractionGraph,
        *,
        most: float = math.inf,
        limit: float = math.inf,
        compiled: bool = False,
        start: Start | None = None,
    ) -> tuple[EliminationOrder | None, int]:
        """Return the best order found within a limit of work, and the work done."""
        ...


@dataclass
class SharedSearch:
    """The searches of one compilation, which share a limit of work."""

    finder: OrderFinder
    """The search for orders. Only a `BoundedFinder` has a limit of its work."""
    limit: float = math.inf
    """The number of cells above which a tree is ignored."""
    allowed: float = math.inf
    """The number of cells above which a plan is surely too large to run."""
    left: float = field(init=False)
    """The remaining work for searches."""
    quick_work: int = field(init=False, default=0)
    """The work of all quick orders, which is not counted in `left`."""
    _first: tuple[InteractionGraph, Start] | None = field(init=False, default=None)
    """The first quick order, of the whole graph; a search of the same graph continues from it."""
    _kept: float = field(init=False)
    """The work reserved for searches, which estimates must not use."""
    _compiled: bool = field(init=False, default=False)
    """Whether an earlier search was large enough to be compiled."""

    def __post_init__(self) -> None:
        effort = self.finder.effort if isinstance(self.finder, BoundedFinder) else 1.0
        self.left = max(1.0, effort) * MOST_WORK
        self._kept = self.left / 2

    @property
    def may_estimate(self) -> bool:
        """Whether there is work left for one more estimate."""
        return self.left > self._kept

    def estimate(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order of one greedy pass, and subtract its work from the remaining work."""
        self._compiled |= graph.n > FEW_VERTICES
        start = started(graph, compiled=self._compiled)
        self.left -= start.work + _WORK_OF_A_VERTEX * graph.n
        order = start.order(graph)
        assert order is not None  # without a limit
        return order

    def small(self, graph: InteractionGraph, cells: int) -> EliminationOrder | None:
        """Return the order of a graph if its tree has fewer than ``cells`` cells; otherwise None.

        The quick order of its core tells whether to look for one.
        """
        first_pass = self._started(graph, math.inf).found
        if first_pass is not None and first_pass.total >= cells:
            return None
        order = self.order(graph)
        return order if order is not None and order.total_size < cells else None

    def quick(self, graph: InteractionGraph, limit: float = math.inf) -> EliminationOrder | None:
        """Return the order of one greedy pass; None if its tree is over a limit."""
        return self._started(graph, limit).order(graph)

    def _started(self, graph: InteractionGraph, limit: float) -> Start:
        """Return the first pass over a graph, which stops at a limit."""
        if limit == math.inf and self._first is not None and self._first[0] is graph:
            return self._first[1]
        self._compiled |= graph.n > FEW_VERTICES
        start = started(graph, limit=min(limit, self.limit), compiled=self._compiled)
        if self._first is None:
            self._first = graph, start
        self.quick_work += start.work
        return start

    def order(self, graph: InteractionGraph, share: float = math.inf) -> EliminationOrder | None:
        """Return an order found with the remaining work; None if its tree exceeds the limit.

        Parameters
        ----------
        graph
            The graph.
        share
            The most work that this search may take.
        """
        if not isinstance(self.finder, BoundedFinder):
            return self.finder(graph)
        self._compiled |= graph.n > FEW_VERTICES
        start = self._first[1] if self._first and self._first[0] is graph else None
        finder = self.finder
        most = min(share, self.left)

        def searched(work: float) -> EliminationOrder | None:
            order, done = finder.within(
                graph, most=work, limit=self.limit, compiled=self._compiled, start=start
            )
            self.left -= done
            return order

        if self.allowed < math.inf and finder.restarts is None:
            if start is None:
                start = started(graph, limit=self.limit, compiled=self._compiled)
                if start.found is not None and start.found.order is None:
                    return None
            cells = 0.0 if start.found is None else start.found.total
            for work, times in _STAGES:
                if work < most and cells > times * self.allowed:
                    order = searched(work)
                    if order is None or order.total_size > times * self.allowed:
                        return order
                    cells = order.total_size
        return searched(min(most, max(0.0, self.left)))

    def orders(
        self, graphs: Sequence[InteractionGraph], starts: Sequence[EliminationOrder]
    ) -> list[EliminationOrder]:
        """Return an order of each graph.

        Parameters
        ----------
        graphs
            The graphs, all of which need an order.
        starts
            A quick order of each.
        """
        finder = self.finder
        if not isinstance(finder, BoundedFinder) or finder.restarts is not None:
            return [finder(graph) for graph in graphs]
        required = [
            finder.wanted(start.total_size, graph.n)
            for graph, start in zip(graphs, starts, strict=True)
        ]
        orders = list(starts)
        ahead = sum(required)
        for i in sorted(range(len(graphs)), key=lambda i: (required[i], i)):
            # If the work does not suffice, divide it in proportion.
            share = self.left if ahead <= self.left else self.left * required[i] / ahead
            ahead -= required[i]
            if share <= 0:
                continue
            order = self.order(graphs[i], share)
            if order is not None and order.total_size < starts[i].total_size:
                orders[i] = order
        return orders

    def smallest(self, graphs: Sequence[InteractionGraph]) -> tuple[int, EliminationOrder] | None:
        """Return which of several graphs has the smallest order found, and that order.

        The result is None if all their trees exceed the limit.
        """
        # Brief searches first; then longer ones for the graphs that are close to the best.
        brief: list[EliminationOrder | None] = [None] * len(graphs)
        ended = [False] * len(graphs)
        sizes: list[float] = [0.0] * len(graphs)
        if len(graphs) > 1 and isinstance(self.finder, BoundedFinder):
            for i, graph in enumerate(graphs):
                before = self.left
                brief[i] = brief_order = self.order(graph, _BRIEF)
                ended[i] = brief_order is None or before - self.left < _BRIEF
                sizes[i] = math.inf if brief_order is None else brief_order.total_size
        best: tuple[int, EliminationOrder] | None = None
        for i in sorted(range(len(graphs)), key=lambda i: (sizes[i], i)):
            order = brief[i]
            if not ended[i] and (best is None or sizes[i] <= SELDOM_SAVED * best[1].total_size):
                order = self.order(graphs[i])
            if order is not None and (best is None or order.total_size < best[1].total_size):
                best = i, order
        return best
