"""A portfolio of searches for elimination orders, which share one budget.

A brief randomized greedy search finds a first order. If a run is predicted to cost more than that
search, the annealing of contraction trees improves the order, in rounds of growing length. The
search ends before a round that is predicted to cost more than a run with the best tree so far. Then
the greedy search goes on with the rest of the budget, as long as a run with the best order pays for
it. The order whose run is predicted to cost least is taken: messages are stored, cells of cliques
are not, so a smaller tree with larger messages may run longer. All work is counted in operations,
so equal graphs get equal orders on any machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from bnmind._arguments import checked
from bnmind._values import CheckedValue
from bnmind.errors import InvalidArgumentError
from bnmind.junction.graphs.elimination_order import EliminationOrder
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.graphs.junction_tree import JunctionTree
from bnmind.junction.triangulation.annealing.tree_annealing import annealed
from bnmind.junction.triangulation.randomized_greedy import MOST_WORK, RandomizedGreedy, Start
from bnmind.junction.triangulation.shared_search import SELDOM_SAVED

__all__ = ["Portfolio", "run_cost"]

_BRIEF = MOST_WORK // 20
"""The most work of the greedy search: about 25 milliseconds, compiled."""

_WORK_PER_CELL = 0.2
"""Work of the search that takes as long as a run of a plan takes for a cell."""

_CELLS_OF_A_MESSAGE = 32
"""The number of cells of cliques that cost as much time as one number of a message.

A fit to runs with 30 orders, greedy and annealed, of nine networks: 0.3 ns a cell and 10 ns a
number. The ratio differs between networks, from 10 (linkage_14) to 140 (Grids_17), but every weight
from 20 to 80 chooses the same of these orders, whose runs are 1% longer on average than the best.
"""


def run_cost(graph: InteractionGraph, order: EliminationOrder) -> int:
    """Return the predicted cost of a run with an order, in cells of cliques."""
    sizes = dict(zip(graph.names, graph.sizes, strict=True))
    messages = sum(
        math.prod([sizes[name] for name in edge.separator])
        for edge in JunctionTree.from_order(graph, order).edges
    )
    return order.total_size + _CELLS_OF_A_MESSAGE * messages


@dataclass(frozen=True)
class Portfolio(CheckedValue):
    """The default search: greedy passes, and annealing where a run costs more.

    Small graphs get the order of `RandomizedGreedy`. Equal seeds give equal orders.

    Examples
    --------
    >>> ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2, "d": 5}, ring)
    >>> Portfolio()(graph).total_size
    32
    """

    effort: float = 1.0
    """The work of the search, as a multiple of the work of a run."""
    seed: int = 0
    """The seed of all searches."""

    restarts: ClassVar[None] = None
    """The search counts work, not passes."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.effort < math.inf:
            raise InvalidArgumentError(
                f"effort must be finite and at least 0, got {self.effort}", self.effort
            )
        if self.seed < 0:
            raise InvalidArgumentError(f"seed must be at least 0, got {self.seed}", self.seed)

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the best order found, with its sizes."""
        order, _ = self.within(graph)
        assert order is not None  # without a limit
        return order

    def wanted(self, cells: int, n: int) -> float:
        """Return the work that pays for a tree with ``cells`` cells and ``n`` variables."""
        return self._greedy.wanted(cells, n)

    def within(
        self,
        graph: InteractionGraph,
        *,
        most: float = math.inf,
        limit: float = math.inf,
        compiled: bool = False,
        start: Start | None = None,
    ) -> tuple[EliminationOrder | None, int]:
        """Return the best order found within a limit of work, and the work done.

        The arguments are those of `RandomizedGreedy.within`.
        """
        brief = _BRIEF * max(1.0, self.effort)
        greedy = self._greedy
        order, work = greedy.within(
            graph, most=min(most, brief), limit=limit, compiled=compiled, start=start
        )
        if order is None or order.proven or greedy.wanted(order.total_size, graph.n) <= brief:
            return order, work

        def goes_on(done: int, spent: int, ahead: int, cells: int) -> bool:
            # Better orders than greedy ones are likely at first, and later less so.
            worth = self.effort * _WORK_PER_CELL * cells if done else greedy.wanted(cells, graph.n)
            whole = spent + ahead
            return whole <= worth and work + whole <= min(most, MOST_WORK * max(1.0, self.effort))

        found, more = annealed(graph, order, goes_on, seed=self.seed)
        work += more
        costs = {candidate: run_cost(graph, candidate) for candidate in (order, found)}
        cheapest = min(costs, key=lambda candidate: costs[candidate])
        # The greedy search goes on; its first passes are those above.
        left = min(most - work, greedy.wanted(cheapest.total_size, graph.n))
        if left > brief and costs[order] <= SELDOM_SAVED * costs[cheapest]:
            longer, more = greedy.within(
                graph, most=left, limit=limit, compiled=compiled, start=start
            )
            work += more
            if longer is not None and run_cost(graph, longer) <= costs[cheapest]:
                return longer, work
        return cheapest, work

    @property
    def _greedy(self) -> RandomizedGreedy:
        return RandomizedGreedy(effort=self.effort, seed=self.seed)
