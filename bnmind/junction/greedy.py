"""One-pass greedy elimination orders: always the variable that looks cheapest now.

References
----------
U. Kjærulff, "Triangulation of graphs - algorithms giving small total state space",
Aalborg University, Research Report R-90-09 (1990).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from bnmind.junction.graph import InteractionGraph, bits
from bnmind.junction.orders import EliminationOrder, measured_order

__all__ = ["MinFill", "MinWeight", "WeightedMinFill"]

Score: TypeAlias = Callable[[Sequence[int], Sequence[int], int], int]
"""Score of eliminating a vertex: (neighbors, sizes, vertex) → cost, smaller is better."""


def fill(neighbors: Sequence[int], sizes: Sequence[int], v: int) -> int:
    """Return how many edges eliminating v would add, times two."""
    around = neighbors[v]
    return sum((around & ~neighbors[u]).bit_count() - 1 for u in bits(around))


def weight(neighbors: Sequence[int], sizes: Sequence[int], v: int) -> int:
    """Return the size of the elimination clique of v, in cells."""
    size = sizes[v]
    for u in bits(neighbors[v]):
        size *= sizes[u]
    return size


def weighted_fill(neighbors: Sequence[int], sizes: Sequence[int], v: int) -> int:
    """Return the sum over the added edges of the product of their ends' sizes, times two."""
    around = neighbors[v]
    cost = 0
    for u in bits(around):
        missing = around & ~neighbors[u] & ~(1 << u)
        if missing:
            cost += sizes[u] * sum(sizes[w] for w in bits(missing))
    return cost


def eliminate_greedily(
    graph: InteractionGraph, cost: Callable[[Sequence[int], int], Any], *, limit: int | None = None
) -> tuple[int, ...] | None:
    """Return the order that always eliminates the vertex of least cost, ties by place.

    Parameters
    ----------
    graph
        The graph; sets of neighbors shrink and grow as its vertices are eliminated.
    cost
        (neighbors, vertex) → anything ordered. It may look at the vertex, its neighbors and
        the edges among them, at nothing else.
    limit
        Give up, with None, as soon as the total size exceeds this.
    """
    neighbors = list(graph.neighbors)
    costs = {v: cost(neighbors, v) for v in range(graph.n)}
    order = []
    total = 0
    covered: set[int] = set()
    while costs:
        v = min(costs, key=lambda u: (costs[u], u))
        del costs[v]
        order.append(v)
        touched = around = neighbors[v]
        if limit is not None:
            clique = around | 1 << v
            if clique not in covered:
                total += graph.clique_size(clique)
                if total > limit:
                    return None
            covered.add(around)
        for u in bits(around):
            # Whoever sees both ends of a new edge has another fill.
            if around & ~neighbors[u] & ~(1 << u):
                touched |= neighbors[u]
            neighbors[u] = (neighbors[u] | around) & ~(1 << u | 1 << v)
        for u in bits(touched & ~(1 << v)):
            costs[u] = cost(neighbors, u)
    return tuple(order)


def greedy_order(graph: InteractionGraph, score: Score, tie: Score) -> tuple[int, ...]:
    """Return the order that eliminates the least score first; then the least tie; then by place."""
    sizes = graph.sizes
    order = eliminate_greedily(
        graph, lambda neighbors, v: (score(neighbors, sizes, v), tie(neighbors, sizes, v))
    )
    assert order is not None  # without a limit it always ends
    return order


@dataclass(frozen=True)
class MinFill:
    """Eliminate the variable that adds the fewest edges; ties by clique size, then place."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        return measured_order(graph, greedy_order(graph, fill, weight), method="min-fill")


@dataclass(frozen=True)
class MinWeight:
    """Eliminate the variable with the smallest clique; ties by added edges, then place."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        return measured_order(graph, greedy_order(graph, weight, fill), method="min-weight")


@dataclass(frozen=True)
class WeightedMinFill:
    """Eliminate the variable whose added edges have the least summed product of sizes."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        order = greedy_order(graph, weighted_fill, weight)
        return measured_order(graph, order, method="weighted min-fill")
