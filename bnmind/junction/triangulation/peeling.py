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
    """Eliminate light vertices of a graph until ``most`` are left, or all left are too heavy.

    Once so few are left, those whose cliques are no larger than the ones before go too: a cycle
    is eliminated to its end.

    Parameters
    ----------
    around
        The neighbors of each vertex; edges are added, and vertices taken out.
    weights
        For each vertex the logarithm of its number of states, in any unit.
    vertices
        Those of the graph.
    most
        The limit for the remaining vertices.
    heaviest
        No vertex is eliminated whose clique is heavier, however many are left.

    Returns
    -------
    order, covered
        The vertices eliminated, and the neighborhoods that they had then.
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
            # Its neighbors have changed since: it is in the queue again.
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
            near |= members
            near -= {u, v}
            weight[u] = weights[u] + sum([weights[w] for w in near])
            heappush(queue, (weight[u], u))
    return order, covered
