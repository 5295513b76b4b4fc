"""Greedy elimination orders, which always eliminate the currently cheapest variable.

References
----------
U. Kjærulff, "Triangulation of graphs - algorithms giving small total state space",
Aalborg University, Research Report R-90-09 (1990).
"""

from __future__ import annotations

from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind.junction.graphs.elimination_order import EliminationOrder, measured_order
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.triangulation.greedy_pass import Score, greedy_pass
from bnmind.junction.triangulation.scored_graph import whole_graph

__all__ = ["MinFill", "MinWeight", "WeightedMinFill"]


def _greedy_order(graph: InteractionGraph, score: Score, method: str) -> EliminationOrder:
    order = greedy_pass(whole_graph(graph), score, ()).order
    assert order is not None  # without a limit a pass always ends
    return measured_order(graph, order, method=method)


@dataclass(frozen=True)
class MinFill:
    """Eliminates the variable that adds the fewest edges; ties by clique size, then place."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        return _greedy_order(graph, Score.FILL, "min-fill")


@dataclass(frozen=True)
class MinWeight:
    """Eliminates the variable with the smallest clique; ties by added edges, then place."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        return _greedy_order(graph, Score.WEIGHT, "min-weight")


@dataclass(frozen=True)
class WeightedMinFill:
    """Eliminates the variable whose added edges have the least sum of products of sizes."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        return _greedy_order(graph, Score.WEIGHTED_FILL, "weighted min-fill")
