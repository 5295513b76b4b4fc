"""Greedy elimination orders, which always eliminate the currently cheapest variable.

References
----------
U. Kjærulff, "Triangulation of graphs - algorithms giving small total state space",
Aalborg University, Research Report R-90-09 (1990).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind.junction.graphs.elimination_order import EliminationOrder, measured_order
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.triangulation.greedy_pass import Score, greedy_pass
from bnmind.junction.triangulation.peeling import peeled
from bnmind.junction.triangulation.scored_graph import MOST_FRACTION, logarithm, whole_graph

__all__ = ["MinFill", "MinWeight", "WeightedMinFill", "quick_cells"]

_HEAVIEST = 48
"""The binary logarithm of the most cells of a clique of a tree that may be compiled."""


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


def quick_cells(graph: InteractionGraph) -> float:
    """Return the total size of an order like that of `MinWeight`, in cells.

    The time is proportional to the number of edges of the triangulated graph. Infinity stands for
    an order with a clique of more than 2^48 cells.
    """
    weights = [logarithm(size, MOST_FRACTION) for size in graph.sizes]
    around = [set(members) for members in graph.adjacent]
    heaviest = _HEAVIEST << MOST_FRACTION
    order, _ = peeled(around, weights, range(graph.n), most=0, heaviest=heaviest)
    return measured_order(graph, order, method="").total_size if len(order) == graph.n else math.inf
