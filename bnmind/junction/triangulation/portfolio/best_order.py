"""A search for an elimination order that combines randomized and exact search and annealing."""

from __future__ import annotations

from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind._values import Count, Value
from bnmind.junction.graphs.elimination_order import EliminationOrder
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.triangulation.exact.exact_order import ExactOrder
from bnmind.junction.triangulation.portfolio.portfolio import Portfolio
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy

__all__ = ["BestOrder"]

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
