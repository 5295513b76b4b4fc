"""The elimination order that bnmind uses when none is named."""

from __future__ import annotations

from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind._values import CheckedValue
from bnmind.errors import InvalidArgumentError
from bnmind.junction.graphs.elimination_order import EliminationOrder
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.triangulation.exact_order import ExactOrder
from bnmind.junction.triangulation.local_search import LocalSearch
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy

__all__ = ["BestOrder"]

_LARGE = 200
"""Above so many variables the graph is not cut into parts that are searched one by one."""

_PASSES = 100
"""Randomized passes on graphs that are searched further."""

_PATIENCE = 6
"""Their patience: there are few of them, and all sizes of steps are to be tried."""

_EFFORT = 4.0
"""Effort of the randomized search of larger ones."""


@dataclass(frozen=True)
class BestOrder(CheckedValue):
    """The best order that a reasonable, counted amount of work finds: usually a second or two.

    Randomized greedy passes and `LocalSearch`, then `ExactOrder` from there; above 200
    variables without it. Up to about 20 variables, more on symmetric graphs and on graphs that fall
    into parts, the order is proven. Work is counted, not timed: the same graph gets the same
    order on any machine.
    """

    max_sets: int = 250_000
    """As in `ExactOrder`."""
    seed: int = 0
    """Seed of the randomized passes."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.max_sets < 1:
            raise InvalidArgumentError(
                f"max_sets must be at least 1, got {self.max_sets}", self.max_sets
            )

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        if graph.n > _LARGE:
            return LocalSearch(RandomizedGreedy(effort=_EFFORT, seed=self.seed))(graph)
        greedy = RandomizedGreedy(restarts=_PASSES, patience=_PATIENCE, seed=self.seed)
        return ExactOrder(max_sets=self.max_sets, start=LocalSearch(greedy))(graph)
