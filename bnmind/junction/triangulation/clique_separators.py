"""Decomposition of a graph by clique separators into atoms, which are triangulated separately.

Let S be a clique whose removal leaves at least two *full* components, those in which every vertex
of S has a neighbor. S is empty if the graph is disconnected. Minimal triangulations never join
vertices across S, so smallest triangulations of the two sides, each with S, form a smallest
triangulation of the graph. Each side has a full component, so S is not a maximal clique of either
side. No clique is therefore counted twice, and the total sizes add up.

References
----------
A. Berry, R. Pogorelcnik, G. Simonet, "An introduction to clique minimal separator
decomposition", Algorithms 3 (2010), 197-215. The minimal triangulation that yields the
separators is MCS-M: A. Berry, J. Blair, P. Heggernes, B. Peyton, "Maximum cardinality
search for computing minimal triangulations of graphs", Algorithmica 39 (2004), 287-298.
"""

from __future__ import annotations

from collections.abc import Sequence

from bnmind.junction.graphs.elimination_order import elimination_cliques, vertices_in_order
from bnmind.junction.graphs.interaction_graph import InteractionGraph, bits
from bnmind.junction.triangulation.greedy import MinFill

__all__ = ["atoms", "combined_order"]


def atoms(graph: InteractionGraph) -> tuple[int, ...]:
    """Return the vertex sets of the atoms as bit masks.

    An atom is a maximal subgraph that no clique separates. Every edge lies in at least one atom.
    """
    order = _minimal_order(graph)
    rest = graph.vertices
    sets = []
    for v, clique in zip(order, elimination_cliques(graph, order), strict=True):
        separator = clique & ~(1 << v) & rest
        if not rest >> v & 1 or not graph.is_clique(separator):
            continue
        full = [
            part
            for part in graph.components(rest & ~separator)
            if graph.neighborhood(part) & rest == separator
        ]
        own = next((part for part in full if part >> v & 1), 0)
        if own and len(full) > 1:
            sets.append(own | separator)
            rest &= ~own
    if rest:
        sets.append(rest)
    return tuple(sets)


def _minimal_order(graph: InteractionGraph) -> tuple[int, ...]:
    """Return an order whose added edges are minimal, by MCS-M."""
    weights = [0] * graph.n
    unnumbered = graph.vertices
    order = []
    while unnumbered:
        v = max(bits(unnumbered), key=lambda u: (weights[u], -u))
        unnumbered ^= 1 << v
        order.append(v)
        # u gains when a path from v reaches it through vertices of less weight than u.
        inside = 1 << v
        gaining = graph.neighbors[v] & unnumbered
        by_weight: dict[int, int] = {}
        for u in bits(unnumbered):
            by_weight[weights[u]] = by_weight.get(weights[u], 0) | 1 << u
        allowed = 0
        heavier = unnumbered
        for level in sorted(by_weight):
            allowed |= by_weight[level]
            heavier &= ~by_weight[level]
            frontier = graph.neighborhood(inside) & allowed
            while frontier:
                inside |= frontier
                frontier = graph.neighborhood(inside) & allowed
            gaining |= graph.neighborhood(inside) & heavier
        for u in bits(gaining):
            weights[u] += 1
    return tuple(reversed(order))


def combined_order(
    graph: InteractionGraph, parts: Sequence[tuple[int, Sequence[int]]]
) -> tuple[int, ...]:
    """Return an order with the cliques of the orders of all atoms.

    Parameters
    ----------
    graph
        The graph.
    parts
        For each atom, its vertices and an order of them, as vertices of the whole graph.
    """
    neighbors = list(graph.neighbors)
    for atom, order in parts:
        inner = [neighbors[v] & atom if atom >> v & 1 else 0 for v in range(graph.n)]
        induced = InteractionGraph.from_masks(graph.names, graph.sizes, inner)
        for v, clique in zip(order, elimination_cliques(induced, order), strict=True):
            for u in bits(clique & ~(1 << v)):
                neighbors[u] |= 1 << v
                neighbors[v] |= 1 << u
    # Chordal graphs glued at cliques are chordal: min-fill finds an order that adds no edge.
    filled = InteractionGraph.from_masks(graph.names, graph.sizes, neighbors)
    return vertices_in_order(filled, MinFill()(filled).variables)
