"""Randomized greedy elimination orders, and the search that several graphs share."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Count, Natural, NonNegative, Value, latest
from bnmind.junction.graphs import EliminationOrder, InteractionGraph, OrderFinder, measured_order
from bnmind.junction.triangulation.greedy import (
    Climb,
    Core,
    Ints,
    Score,
    climbed,
    core_of,
    greedy_pass,
)

# --- Randomized greedy elimination orders, a hill climb on the scores of greedy passes ------------
#
# Each pass eliminates the variable with the least score, where each score has its own multiplier.
# The multipliers perform a random walk: the search accepts slightly different multipliers if their
# order is not worse. A chain without progress is replaced by a chain with the next score and no
# multipliers. A pass ends early if it is worse than the current order of the chain.
#
# The search ends when its cost reaches that of the propagation. It counts operations instead of
# time, so the same graph and seed get the same order on any machine.

_SCORES = (
    (Score.FILL, Score.NOISY_FILL),
    (Score.WEIGHTED_FILL, Score.NOISY_WEIGHTED_FILL),
    (Score.WEIGHT, Score.NOISY_WEIGHT),
    (Score.NOISY_MIXTURE, Score.NOISY_MIXTURE),
)
"""The scores, without multipliers and with them."""

_STEPS = (0.5, 1.0, 2.0, 4.0)
"""Spreads of one step of the logarithms of the multipliers, in bits. Each spread is used for one
chain with every score, in turn."""

_WORK_PER_CELL = 0.2
"""Work of the search that takes as long as the propagation of a cell, both ways."""

_MANY_VERTICES = 100
"""The number of vertices above which a search may cost more than the propagation."""

_CELLS_OF_A_PAIR = 20
"""The number of cells that each pair of vertices counts for. With more pairs there are better
orders to find and more messages, which have a cost besides their cells."""

_LEAST_WORK = 1_000
"""The least limit of a search besides its plain passes: about a tenth of a millisecond in Python,
about the time of a run with a small tree."""

_LEAST_WORK_OF_EFFORT = 4_000
"""The least limit for an effort above one, before it is multiplied by the effort."""

MOST_WORK = 200_000_000
"""The most work of several searches that share it, at an effort of one: half a second, compiled."""

_MOST_WORK_OF_ONE = MOST_WORK // 2
"""The most work of one randomized greedy search."""

_MOST_UNCOMPILED = 160_000
"""The most work of a search that does not wait for the compiler."""

_MOST_IN_PYTHON = 36_000
"""The limit of such a search at an effort of one, because Python takes longer for the same work."""

_FEW_VERTICES = 100
"""The most vertices of a core whose passes do not wait for the compiler."""


class Start(NamedTuple):
    """The first pass over a graph: simplicial variables, then min-fill."""

    first: list[int]
    """The simplicial vertices of the graph, in order."""
    kept: list[int]
    """The vertices of its core."""
    core: Core
    found: Climb
    """The pass over the core."""

    @property
    def is_over(self) -> bool:
        """Whether the pass exceeded its limit."""
        return len(self.found.order) < self.core.n

    def order(self, graph: InteractionGraph) -> EliminationOrder | None:
        """Return the order of the pass; None if the pass exceeded its limit."""
        if self.is_over:
            return None
        return measured_order(graph, self.whole(self.found.order), method="min-fill")

    def whole(self, order: Sequence[int]) -> list[int]:
        """Return an order of the core's vertices as one of the graph's."""
        return [*self.first, *(self.kept[v] for v in order)]


@dataclass(frozen=True)
class RandomizedGreedy(Value):
    """The best of many greedy orders with random scores; equal seeds give equal orders.

    Simplicial variables are eliminated first. The search includes the greedy orders without
    multipliers, so it is never worse than `MinFill` and `WeightedMinFill`.
    """

    effort: NonNegative = 1.0
    """The work of the search, as a multiple of the work of the propagation."""
    restarts: Natural | None = None
    """The number of passes with multipliers, whatever they cost; None uses the effort."""
    patience: Count = 25
    """The number of consecutive passes without an improvement after which a chain ends."""
    seed: int = 0
    """The seed of the multipliers."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the best order found, with its sizes."""
        order, _ = self.within(graph)
        assert order is not None  # without a limit
        return order

    def within(
        self,
        graph: InteractionGraph,
        *,
        most: float = math.inf,
        limit: float = math.inf,
    ) -> tuple[EliminationOrder | None, int]:
        """Return the best order found within a limit of work, and the work done.

        Parameters
        ----------
        graph
            The graph.
        most
            The limit of the work. The first greedy pass runs at any cost, and a pass that has
            started is finished.
        limit
            If the order of the first pass has more cells, the method returns None for the order.
        """
        start = started(graph, limit)
        if start.is_over:
            return None, start.found.work
        best = self._search(start, most) if start.core.n else start.found
        method = f"randomized greedy ({best.passes} passes)"
        return measured_order(graph, start.whole(best.order), method=method), best.work

    def wanted(self, cells: int, n: int) -> float:
        """Return the work that pays for a tree with ``cells`` cells and ``n`` variables."""
        return math.inf if self.restarts is not None else _budget(self.effort, n, cells)

    def _search(self, start: Start, most: float) -> Climb:
        """Return the best order of a core, the passes with multipliers, and the work of all."""
        core = start.core
        is_large = _is_large(core)
        plain = [(start.found, _SCORES[0][1])]
        work = start.found.work
        for score, noisy in _SCORES[1:]:
            if work >= most:
                break
            found = greedy_pass(core, score, is_large=is_large)
            work += found.work
            plain.append((found, noisy))
        plain.sort(key=lambda pair: pair[0].total)
        best = plain[0][0]

        def left() -> float:
            if self.restarts is not None:
                return most - work
            return min(most, _budget(self.effort, core.n, best.total)) - work

        is_large = is_large or (self.restarts is None and left() > _MOST_UNCOMPILED)
        rng = np.random.default_rng(self.seed)
        scale = 1 << core.fraction
        passes = chain = improved = 0
        current, noisy = plain[0]
        standing = True
        while left() > 0:
            if standing:
                # The search ends after many chains without an improvement.
                if self.restarts is None and chain - improved > 4 + core.n // 4:
                    break
                current, noisy = plain[chain % len(plain)]
                spread = scale * _STEPS[chain // len(plain) % len(_STEPS)]
                chain += 1
            count = self.patience
            if self.restarts is not None:
                count = min(count, self.restarts - passes)
            if count <= 0:
                break
            steps = _steps(core.n, count, spread, rng)
            before = current.total
            current = climbed(core, noisy, current, steps, left(), is_large=is_large)
            passes += current.passes
            work += current.work
            standing = current.total == before
            if current.total < best.total:
                best = current
                improved = chain
        return best._replace(passes=passes, work=work)


def started(graph: InteractionGraph, limit: float = math.inf) -> Start:
    """Return the start of a search: simplicial variables first, then min-fill.

    The pass stops when its cliques exceed ``limit`` cells. It runs once, whoever asks for it.
    """
    return latest(graph, "_starts", limit, lambda: _started(graph, limit))


def _started(graph: InteractionGraph, limit: float) -> Start:
    first, kept, core = core_of(graph)
    return Start(first, kept, core, greedy_pass(core, Score.FILL, limit, is_large=_is_large(core)))


def _is_large(core: Core) -> bool:
    """Return whether the passes over a core are worth waiting for the compiler."""
    return core.n > _FEW_VERTICES


def _budget(effort: float, n: int, cells: float) -> float:
    """Return the work for a search in a core of n vertices whose best order has ``cells`` cells."""
    cells += _CELLS_OF_A_PAIR * n**2
    # A larger core has more room for improvement, and each pass costs more.
    share = _WORK_PER_CELL * math.sqrt(max(1.0, n / _MANY_VERTICES))
    least = _LEAST_WORK if effort <= 1 else _LEAST_WORK_OF_EFFORT
    work = effort * min(max(share * cells, least), _MOST_WORK_OF_ONE)
    if work <= _MOST_UNCOMPILED:
        return min(work, max(effort, 1.0) * _MOST_IN_PYTHON)
    return work


def _steps(n: int, count: int, spread: float, rng: np.random.Generator) -> Ints:
    """Return random steps of n multipliers, one a row."""
    # A step changes a few variables or all, because both small and wide moves are needed.
    moved = rng.random((count, n)) < rng.random((count, 1))
    return (spread * moved * rng.standard_normal((count, n))).astype(np.int64)


# --- A shared search for the elimination orders of several graphs ---------------------------------
#
# The graphs belong to the parts of a plan, or are alternatives. Before the search, quick orders
# estimate the cost of the forms of distributions. The work of everything together is at most that
# of one large search, and the estimates take at most half of it. The parts share the work in
# proportion to their sizes by the quick orders, and leave unused work to the other parts. The
# search counts operations instead of time, so plans are the same on any machine.

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
    _kept: float = field(init=False)
    """The work reserved for searches, which estimates must not use."""

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
        start = started(graph)
        self.left -= start.found.work + _WORK_OF_A_VERTEX * graph.n
        order = start.order(graph)
        assert order is not None  # without a limit
        return order

    def small(self, graph: InteractionGraph, cells: int) -> EliminationOrder | None:
        """Return the order of a graph if its tree has fewer than ``cells`` cells; otherwise None.

        The quick order of its core tells whether to look for one.
        """
        start = self._started(graph)
        if start.is_over or start.found.total >= cells:
            return None
        order = self.order(graph)
        return order if order is not None and order.total_size < cells else None

    def quick(self, graph: InteractionGraph, limit: float = math.inf) -> EliminationOrder | None:
        """Return the order of one greedy pass; None if its tree is over a limit."""
        return self._started(graph, limit).order(graph)

    def _started(self, graph: InteractionGraph, limit: float = math.inf) -> Start:
        start = started(graph, min(limit, self.limit))
        self.quick_work += start.found.work
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
        finder = self.finder
        most = min(share, self.left)

        def searched(work: float) -> EliminationOrder | None:
            order, done = finder.within(graph, most=work, limit=self.limit)
            self.left -= done
            return order

        if self.allowed < math.inf and finder.restarts is None:
            start = started(graph, self.limit)
            cells = start.found.total
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
        waiting: list[tuple[float, int, EliminationOrder | None, bool]] = []
        for i, graph in enumerate(graphs):
            cells, order, is_done = 0.0, None, False
            if len(graphs) > 1 and isinstance(self.finder, BoundedFinder):
                before = self.left
                order = self.order(graph, _BRIEF)
                is_done = order is None or before - self.left < _BRIEF
                cells = math.inf if order is None else order.total_size
            waiting.append((cells, i, order, is_done))
        best: tuple[int, EliminationOrder] | None = None
        for cells, i, order, is_done in sorted(waiting, key=lambda item: item[:2]):
            if not is_done and (best is None or cells <= SELDOM_SAVED * best[1].total_size):
                order = self.order(graphs[i])
            if order is not None and (best is None or order.total_size < best[1].total_size):
                best = i, order
        return best
