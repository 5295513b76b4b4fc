"""Orders of elimination for a search: summed variables first, then maximized ones.

The value of a marginal MAP is a maximum of sums, and sums and maxima do not commute. So the summed
variables must be eliminated first, by a greedy order of least weight. The order of the maximized
variables, on the graph that is left, is searched for as usual.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence

from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.graphs.interaction_graph import InteractionGraph

__all__ = ["constrained_order"]


def constrained_order(
    scopes: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    is_summed: Sequence[bool],
    finder: OrderFinder,
) -> tuple[tuple[int, ...], int]:
    """Return the variables of more than one state in an order of elimination.

    The second number is the total size of the cliques of the maximized variables.

    Parameters
    ----------
    scopes
        The variables of each table.
    sizes
        The number of states of each variable.
    is_summed
        For each variable, whether it is summed out.
    finder
        The search for the order of the maximized variables.
    """
    free = [v for v, size in enumerate(sizes) if size > 1]
    summed = [v for v in free if is_summed[v]]
    remaining: Sequence[tuple[int, ...]] = scopes
    first: list[int] = []
    if summed:
        first, remaining = _summed_first(scopes, sizes, summed)
    gone = set(first)
    graph = InteractionGraph.from_scopes(
        {str(v): sizes[v] for v in free if v not in gone},
        [[str(v) for v in scope] for scope in remaining],
    )
    found = finder(graph)
    return (*first, *(int(name) for name in found.variables)), found.total_size


def _summed_first(
    scopes: Sequence[tuple[int, ...]], sizes: Sequence[int], summed: Sequence[int]
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return an order of the summed variables, and the edges of the graph without them."""
    neighbors: dict[int, set[int]] = {}
    for scope in scopes:
        for v in scope:
            neighbors.setdefault(v, set()).update(scope)
    for v, adjacent in neighbors.items():
        adjacent.discard(v)

    def weight(v: int) -> float:
        return math.fsum([math.log2(sizes[u]) for u in sorted(neighbors.get(v, ()))])

    waiting = set(summed)
    heap = [(weight(v), v) for v in summed]
    heapq.heapify(heap)
    order = []
    while waiting:
        known, v = heapq.heappop(heap)
        if v not in waiting or known != weight(v):
            continue
        waiting.remove(v)
        order.append(v)
        adjacent = neighbors.pop(v, set())
        for u in adjacent:
            neighbors[u] |= adjacent
            neighbors[u] -= {u, v}
        for u in adjacent & waiting:
            heapq.heappush(heap, (weight(u), u))
    edges: list[tuple[int, ...]] = [
        (v, u) for v, adjacent in neighbors.items() for u in adjacent if v < u
    ]
    return order, edges
