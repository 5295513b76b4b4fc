"""Elimination of light vertices in graphs that are too large for a search.

The vertex with the smallest elimination clique is eliminated next, until few vertices are left. The
remaining vertices form the large cliques, for which a search pays. The time is proportional to the
number of visited edges, while a pass of a search takes quadratic time in the number of vertices.

References
----------
U. Kjærulff, "Triangulation of graphs - algorithms giving small total state space",
Aalborg University, Research Report R-90-09 (1990): minimum weight.
"""

from __future__ import annotations

from collections.abc import Sequence
from heapq import heapify, heappop, heappush

__all__ = ["peeled"]


def peeled(
    around: list[set[int]],
    weights: Sequence[int],
    vertices: Sequence[int],
    *,
    most: int,
    heaviest: int,
) -> tuple[list[int], set[frozenset[int]]]:
    """Eliminate light vertices of a graph until ``most`` remain or all others are too heavy.

    The elimination then continues while cliques are no larger than earlier ones, so that it
    eliminates all of a cycle.

    Parameters
    ----------
    around
        The neighbors of each vertex. The function adds edges and removes vertices.
    weights
        The logarithm of the number of states of each vertex, in any unit.
    vertices
        The vertices of the graph.
    most
        The limit for the remaining vertices.
    heaviest
        The limit for the weight of the clique of an eliminated vertex.

    Returns
    -------
    order, covered
        The eliminated vertices, and their neighborhoods at elimination.
    """
    order: list[int] = []
    covered: set[frozenset[int]] = set()
    weight = {v: weights[v] + sum([weights[u] for u in around[v]]) for v in vertices}
    queue = [(clique_weight, v) for v, clique_weight in weight.items()]
    heapify(queue)
    limit = 0
    while queue:
        clique_weight, v = heappop(queue)
        if weight.get(v) != clique_weight:
            # Its neighbors have changed, so it is in the queue again.
            continue
        if clique_weight > heaviest or (len(weight) <= most and clique_weight > limit):
            break
        limit = max(limit, clique_weight)
        order.append(v)
        del weight[v]
        members = around[v]
        covered.add(frozenset(members))
        for u in members:
            near = around[u]
            # A sum over all neighbors would take quadratic time at the center of a star.
            added = members - near
            added.discard(u)
            near |= added
            near.remove(v)
            weight[u] += sum([weights[w] for w in added]) - weights[v]
            heappush(queue, (weight[u], u))
    return order, covered
