"""The choice among searches for elimination orders, and their names."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Protocol, runtime_checkable

from bnmind._arguments import checked
from bnmind._registry import Registered
from bnmind._values import Count, Natural, NonNegative, Value, remembered
from bnmind.junction.exact_order import ExactOrder
from bnmind.junction.graphs import (
    EliminationOrder,
    InteractionGraph,
    JunctionTree,
    OrderFinder,
    graph_of_scopes,
    joined_cliques,
    vertices_in_order,
)
from bnmind.junction.greedy_order import MinFill, MinWeight, WeightedMinFill
from bnmind.junction.randomized_order import (
    MOST_WORK,
    ROUNDS,
    RandomizedGreedy,
    TreeAnnealing,
    annealed,
    started,
)
from bnmind.pgm.network import FactorModel, Network

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

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order of all variables of the graph."""
        ...

    def wanted(self, cells: float, n: int) -> float:
        """Return the work that pays for a tree; infinity if the finder counts no work."""
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
        is_worth_it = started(graph, self.limit).found.total < cells
        order = self.order(graph) if is_worth_it else None
        return order if order is not None and order.total_size < cells else None

    def quick(self, graph: InteractionGraph, limit: float = math.inf) -> EliminationOrder | None:
        """Return the order of one greedy pass; None if its tree is over a limit."""
        start = started(graph, min(limit, self.limit))
        self.quick_work += start.found.work
        return start.order(graph)

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

        if self.allowed < math.inf:
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
        finder, required = self.finder, [math.inf]
        if isinstance(finder, BoundedFinder):
            required = [
                finder.wanted(start.total_size, graph.n)
                for graph, start in zip(graphs, starts, strict=True)
            ]
        if math.inf in required:
            return [finder(graph) for graph in graphs]
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


# --- A portfolio of searches for elimination orders, which share one budget -----------------------
#
# A brief randomized greedy search finds a first order. If a run is predicted to cost more than that
# search, the annealing of contraction trees improves the order, in rounds of growing length. If the
# annealing gained little, longer greedy searches follow, and the annealing of their orders. Two
# rules end the search:
#
# * A search must save more than it costs. The first round of annealing is expected to save three
#   quarters of a run in the greedy order, and may take as long; what follows is expected to save a
#   small part of a run. After five rounds without an improvement, the annealing ends.
# * Planning must take no longer than a run in the best order so far. Further searches are made only
#   if this stays so. Planning is the search and the rest, which is known from the number of
#   variables.
#
# Runs below 25 milliseconds get a longer search. The order whose run is predicted to cost least is
# taken: messages are stored, cells of cliques are not, so a smaller tree with larger messages may
# run longer. All work is counted in operations, so equal graphs get equal orders on any machine.

_FIRST = MOST_WORK * 6 // 1000
"""The most work of the first greedy search: about 3 milliseconds, compiled."""

_WORTH_ANNEALING = MOST_WORK // 40
"""The work of a greedy search up to which there is no annealing: about 12 milliseconds."""

_WORK_PER_CELL = 0.09
"""Work of the search that takes as long as a run takes for a cell; see `run_cost`."""

_SHORT = 10_000_000
"""The work of the search that takes as long as a short run, by this prediction: some 25
milliseconds. For short runs, the search may take longer than the run."""

_OF_A_SHORT_RUN = 0.2
"""Work of the search for each cell of a short run, after the first round of annealing."""

_WORK_OF_ASSEMBLY = 18_000
"""Work of the search that takes as long as the rest of the planning takes for a variable."""

_ROUNDS = (ROUNDS[0], ROUNDS[1], *ROUNDS[1:])
"""The rounds of annealing. The short first one is skipped where a run pays for the second."""

_SAVED = 0.75
"""The share of a run that the first round of annealing is expected to save. On 16 files of the UAI
competition of 2014 it saved nothing on eight, and three quarters on average on the others."""

_SAVED_LATER = 0.06
"""The share of a run that any later search is expected to save. On those files, a second round of
equal length saved a twentieth on average, and more where the first one had been unlucky."""

_IDLE_ROUNDS = 5
"""The number of rounds without an improvement after which the annealing ends."""

_MUCH_SAVED = 2
"""How many times cheaper annealing makes a run whose order more greedy passes seldom improve."""

_LONGER = 4
"""How many times longer than the greedy search before it each further one is."""

_CELLS_OF_A_MESSAGE = 32
"""The number of cells of cliques that cost as much time as one number of a message.

A fit to runs with 30 orders, greedy and annealed, of nine networks: 0.3 ns a cell and 10 ns a
number. The ratio differs between networks, from 10 (linkage_14) to 140 (Grids_17), but every weight
from 20 to 80 chooses the same of these orders, whose runs are 1% longer on average than the best.
"""


def run_cost(graph: InteractionGraph, order: EliminationOrder) -> int:
    """Return the predicted cost of a run with an order, in cells of cliques."""
    _, _, edges = joined_cliques(graph, vertices_in_order(graph, order.variables))
    messages = sum([math.prod([graph.sizes[v] for v in shared]) for _, _, shared in edges])
    return order.total_size + _CELLS_OF_A_MESSAGE * messages


@dataclass(frozen=True)
class Portfolio(Value):
    """The default search: greedy passes, and annealing where a run costs more.

    Small graphs get the order of `RandomizedGreedy`. Equal seeds give equal orders.

    Examples
    --------
    >>> ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2, "d": 5}, ring)
    >>> Portfolio()(graph).total_size
    32
    """

    effort: NonNegative = 1.0
    """The work of the search, as a multiple of the work of a run."""
    seed: Natural = 0
    """The seed of all searches."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the best order found, with its sizes."""
        order, _ = self.within(graph)
        assert order is not None  # without a limit
        return order

    def wanted(self, cells: float, n: int) -> float:
        """Return the work that pays for a tree with ``cells`` cells and ``n`` variables."""
        return self._greedy.wanted(cells, n)

    def within(
        self,
        graph: InteractionGraph,
        *,
        most: float = math.inf,
        limit: float = math.inf,
    ) -> tuple[EliminationOrder | None, int]:
        """Return the best order found within a limit of work, and the work done.

        The arguments are those of `RandomizedGreedy.within`.
        """
        start = started(graph, limit)
        if start.is_over:
            return None, start.found.work
        scale, greedy = max(1.0, self.effort), self._greedy

        def searched(work: float) -> tuple[EliminationOrder, int]:
            order, done = greedy.within(graph, most=min(most, work), limit=limit)
            assert order is not None  # without a limit
            return order, done

        def pays(cells: float) -> bool:
            return greedy.wanted(cells, graph.n) > scale * _WORTH_ANNEALING

        if not pays(start.found.total):
            return searched(math.inf)
        length = scale * _FIRST
        order, work = searched(length)
        if order.proven:
            return order, work
        if not pays(order.total_size):
            return searched(math.inf)
        most_of_all = min(most, scale * MOST_WORK)
        search = _Search(finder=self, graph=graph, most=most_of_all, cheapest=order, work=work)
        first = [graph.names[v] for v in start.whole(start.found.order)]
        search.anneal(order, skipped=int(order.variables != tuple(first)), is_first=True)
        while search.is_hard(order):
            before, length = length, min(_LONGER * length, search.worth(), search.left)
            if length < 2 * before:
                break
            # Its first passes are those of the search before it.
            order, work = searched(length)
            search.add(order, search.work + work)
            if search.cheapest is order:
                search.anneal(order, skipped=0, is_first=False)
        return search.cheapest, search.work

    @property
    def _greedy(self) -> RandomizedGreedy:
        return RandomizedGreedy(effort=self.effort, seed=self.seed)


@dataclass
class _Search:
    """The searches after the first one: the cheapest order by `run_cost`, and all work."""

    finder: Portfolio
    graph: InteractionGraph
    most: float
    """The most work."""
    cheapest: EliminationOrder
    work: int

    @property
    def left(self) -> float:
        """The work that is left."""
        return self.most - self.work

    def is_hard(self, greedy: EliminationOrder) -> bool:
        """Return whether no order is much better than the last greedy one."""
        return self._cost(greedy) <= _MUCH_SAVED * self._cost(self.cheapest)

    def add(self, order: EliminationOrder, work: int) -> None:
        """Keep an order if it is cheaper, and all work so far."""
        self.work = work
        if self._cost(order) < self._cost(self.cheapest):
            self.cheapest = order

    def anneal(self, order: EliminationOrder, *, skipped: int, is_first: bool) -> None:
        """Anneal an order, without the brief rounds if a run is no short one."""
        before, improved, last, graph = self.work, 0, order, self.graph

        def goes_on(done: int, spent: int, ahead: int, best: EliminationOrder) -> bool:
            nonlocal improved, last
            if best is not last:
                improved, last = done, best
            self.add(best, before + spent)
            if done - improved >= _IDLE_ROUNDS or ahead > self.left:
                return False
            if done or not is_first:
                return ahead <= self.worth() - (spent if self._is_short(best) else 0)
            if self._is_short(best):
                # Better orders than greedy ones are likely.
                return ahead <= self.finder.wanted(best.total_size, graph.n)
            return ahead < self._cost(best) * _SAVED * self.finder.effort * _WORK_PER_CELL

        if self._is_short(order):
            skipped = 0
        seed = self.finder.seed
        found, spent = annealed(graph, order, goes_on, seed=seed, rounds=_ROUNDS, skipped=skipped)
        self.add(found, before + spent)

    def worth(self) -> float:
        """Return the work that a further search may take."""
        order = self.cheapest
        if self._is_short(order):
            return self.finder.effort * _OF_A_SHORT_RUN * order.total_size
        run = self.finder.effort * _WORK_PER_CELL * self._cost(order)
        rest = _WORK_OF_ASSEMBLY * self.graph.n
        return min(_SAVED_LATER * run, run - rest - self.work)

    def _is_short(self, order: EliminationOrder) -> bool:
        return self._cost(order) <= _SHORT / _WORK_PER_CELL

    def _cost(self, order: EliminationOrder) -> int:
        return remembered(order, "_run_cost", lambda: run_cost(self.graph, order))


# --- A search for an elimination order that combines randomized and exact search and annealing ----

_LARGE = 200
"""Graphs with more variables are not divided into parts for the exact search."""

_PASSES = 100
"""The number of randomized passes before the other searches."""

_PATIENCE = 6
"""The patience of these passes; it is small, so that all step sizes are tried."""

_EFFORT = 4.0
"""The effort of the randomized search in larger graphs, and of the portfolio."""


@dataclass(frozen=True)
class BestOrder(Value):
    """A thorough search, which usually takes a second or two.

    The search makes randomized greedy passes and then, for up to 200 variables, runs `ExactOrder`.
    Unless the order is proven smallest, that of `Portfolio` is taken if
    its cost is smaller. The order is proven smallest for up to about 20 variables, and for more
    on graphs that are symmetric or separable. The search counts operations instead of time, so the
    same graph gets the same order on any machine.
    """

    max_sets: Count = 250_000
    """As in `ExactOrder`."""
    seed: int = 0
    """Seed of the randomized passes."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        if graph.n > _LARGE:
            found = RandomizedGreedy(effort=_EFFORT, seed=self.seed)(graph)
        else:
            greedy = RandomizedGreedy(restarts=_PASSES, patience=_PATIENCE, seed=self.seed)
            found = ExactOrder(max_sets=self.max_sets, start=greedy)(graph)
        if found.proven:
            return found
        other = Portfolio(effort=_EFFORT, seed=self.seed)(graph)
        return min(found, other, key=lambda order: order.total_size)


# --- Junction trees of models ---------------------------------------------------------------------


@checked
def junction_tree(
    model: Network | FactorModel,
    *,
    without: Iterable[str] = (),
    order: OrderFinder | None = None,
) -> JunctionTree:
    """Return the junction tree of a model without evidence.

    Parameters
    ----------
    model
        The model. The scopes of its tables define the moral graph.
    without
        Variables to omit, with their conditional distributions.
    order
        The search for an elimination order; by default `BestOrder`.
    """
    gone = frozenset(without)
    graph = interaction_graph(model, gone)
    return JunctionTree.from_order(graph, (order or BestOrder())(graph))


def interaction_graph(
    model: Network | FactorModel, gone: frozenset[str] = frozenset()
) -> InteractionGraph:
    """Return the moral graph of a model without some variables and their distributions."""
    sizes = {v.name: v.n_states for v in model.variables if v.name not in gone}
    scopes = [
        [v.name for v in p.scope if v.name not in gone]
        for p in model.potentials
        if p.scope and p.scope[0].name not in gone
    ]
    return graph_of_scopes(sizes, scopes)


# --- The registry of finders of elimination orders ------------------------------------------------
#
# A new finder is a class and a line here. The contract tests run over every member.

ORDER_FINDERS: Mapping[str, Registered[OrderFinder]] = MappingProxyType(
    {
        "portfolio": Registered("brief passes, then annealing while it pays", Portfolio),
        "randomized": Registered("the best of many randomized greedy orders", RandomizedGreedy),
        "best": Registered("randomized and exact search, and the portfolio", BestOrder),
        "exact": Registered("branch and bound, proven smallest if it ends", ExactOrder),
        "annealing": Registered("exchanges of subtrees of a contraction tree", TreeAnnealing),
        "min-fill": Registered("greedy, the fewest edges added", MinFill),
        "min-weight": Registered("greedy, the smallest clique", MinWeight),
        "weighted-min-fill": Registered("greedy, the lightest edges added", WeightedMinFill),
    }
)
"""The finder of each name."""
