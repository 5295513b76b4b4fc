"""A portfolio of searches for elimination orders, which share one budget.

A brief randomized greedy search finds a first order. If a run is predicted to cost more than that
search, the annealing of contraction trees improves the order, in rounds of growing length. Two
rules end the search:

* A search must save more than it costs. The first round of annealing is expected to save three
  quarters of a run in the greedy order, and may take as long.
* Planning must take no longer than a run in the best order so far. Further rounds, and then more
  greedy passes, are made only if this stays so. Planning is the search and the rest, which is known
  from the number of variables.

Runs below 25 milliseconds get a longer search. The order whose run is predicted to cost least is
taken: messages are stored, cells of cliques are not, so a smaller tree with larger messages may run
longer. All work is counted in operations, so equal graphs get equal orders on any machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

from bnmind._arguments import checked
from bnmind._values import CheckedValue
from bnmind.errors import InvalidArgumentError
from bnmind.junction.graphs.elimination_order import EliminationOrder, vertices_in_order
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.graphs.junction_tree import joined_cliques
from bnmind.junction.triangulation.annealing.tree_annealing import annealed
from bnmind.junction.triangulation.randomized_greedy import MOST_WORK, RandomizedGreedy, Start
from bnmind.junction.triangulation.shared_search import SELDOM_SAVED

__all__ = ["Portfolio", "run_cost"]

_BRIEF = MOST_WORK // 20
"""The most work of the greedy search: about 25 milliseconds, compiled."""

_WORK_PER_CELL = 0.045
"""Work of the search that takes as long as a run takes for a cell; see `run_cost`."""

_SHORT = 5_000_000
"""The work of the search that takes as long as a short run, by this prediction: some 25
milliseconds. For short runs, the search may take longer than the run."""

_OF_A_SHORT_RUN = 0.2
"""Work of the search for each cell of a short run, after the first round of annealing."""

_WORK_OF_ASSEMBLY = 25_000
"""Work of the search that takes as long as the rest of the planning takes for a variable."""

_SAVED = 0.75
"""The share of a run that the first round of annealing is expected to save. On 16 files of the UAI
competition of 2014 it saved nothing on eight, and three quarters on average on the others."""

_LONGER = 3
"""How many times longer than the first greedy search the second must be at least."""

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
        wanted = greedy.wanted
        if order is None or order.proven or wanted(order.total_size, graph.n) <= brief:
            return order, work

        first = run_cost(graph, order)
        end = min(most, MOST_WORK * max(1.0, self.effort))

        def goes_on(done: int, spent: int, ahead: int, cells: int) -> bool:
            run = self._run(first * cells / order.total_size)
            if run > self.effort * _SHORT:
                worth = run - self._assembly(graph) - work if done else _SAVED * run
            else:
                # Better orders than greedy ones are likely at first, and later less so.
                worth = self.effort * _OF_A_SHORT_RUN * cells if done else wanted(cells, graph.n)
            return spent + ahead <= min(worth, end - work)

        found, more = annealed(graph, order, goes_on, seed=self.seed)
        work += more
        costs = {order: first, found: first if found is order else run_cost(graph, found)}
        cheapest = min(costs, key=lambda candidate: costs[candidate])
        # The greedy search goes on; its first passes are those above.
        left = wanted(cheapest.total_size, graph.n)
        shortest = brief
        if (run := self._run(costs[cheapest])) > self.effort * _SHORT:
            left, shortest = run - self._assembly(graph) - work, _LONGER * brief
        left = min(left, most - work)
        if left > shortest and first <= SELDOM_SAVED * costs[cheapest]:
            longer, more = greedy.within(
                graph, most=left, limit=limit, compiled=compiled, start=start
            )
            work += more
            if longer is not None and run_cost(graph, longer) <= costs[cheapest]:
                return longer, work
        return cheapest, work

    def _run(self, cost: float) -> float:
        """Return the work of a search that takes as long as a run of some cost."""
        return self.effort * _WORK_PER_CELL * cost

    @staticmethod
    def _assembly(graph: InteractionGraph) -> int:
        """Return the work of a search that takes as long as the rest of the planning."""
        return _WORK_OF_ASSEMBLY * graph.n

    @property
    def _greedy(self) -> RandomizedGreedy:
        return RandomizedGreedy(effort=self.effort, seed=self.seed)
