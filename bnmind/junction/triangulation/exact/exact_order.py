"""The elimination order of smallest total size, proven if the search can finish.

Clique separators divide the graph into atoms. Each atom first gets a good order from another
search. Then `bnmind.junction.triangulation.exact.search` searches it, with increasing width: the
order found by one search is the cutoff of the next, and a better cutoff leaves fewer sets to
consider.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from bnmind._arguments import checked
from bnmind._values import Count, Value
from bnmind.junction.graphs.elimination_order import (
    EliminationOrder,
    OrderFinder,
    elimination_cliques,
    measured_order,
    vertices_in_order,
)
from bnmind.junction.graphs.interaction_graph import InteractionGraph, bits
from bnmind.junction.triangulation.exact.kernel import MOST_VERTICES
from bnmind.junction.triangulation.exact.search import Found, replayed_order, search, search_small
from bnmind.junction.triangulation.greedy import MinFill
from bnmind.junction.triangulation.interchangeable_blocks import (
    BlockClass,
    interchangeable_blocks,
    n_canonical_sets,
)
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.junction.triangulation.shared_search import SharedSearch

__all__ = ["ExactOrder"]

# --- ----------------------------------------------------------------------------------------------
# Decomposition of a graph by clique separators into atoms, which are triangulated separately.
#
# Let S be a clique whose removal leaves at least two *full* components, those in which every vertex
# of S has a neighbor. S is empty if the graph is disconnected. Minimal triangulations never join
# vertices across S, so smallest triangulations of the two sides, each with S, form a smallest
# triangulation of the graph. Each side has a full component, so S is not a maximal clique of either
# side. No clique is therefore counted twice, and the total sizes add up.
#
# References
# ----------
# A. Berry, R. Pogorelcnik, G. Simonet, "An introduction to clique minimal separator
# decomposition", Algorithms 3 (2010), 197-215. The minimal triangulation that yields the
# separators is MCS-M: A. Berry, J. Blair, P. Heggernes, B. Peyton, "Maximum cardinality
# search for computing minimal triangulations of graphs", Algorithmica 39 (2004), 287-298.


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


# --- The elimination order of smallest total size, proven if the search can finish ----------------
#
#

_FEW_SETS = 2_000
"""The most sets of a search in Python, for which compiling would take longer."""

_MANY_SETS = 12_000
"""The most vertices for which a good cutoff may leave few sets."""

_FIRST_WIDTH = 250
"""The number of sets of a level in the first search."""

_WIDENING = 4
"""The ratio of the widths of consecutive searches."""

_EXACT_FLOATS = 2**53
"""The largest size that is exact in the compiled search."""

_LARGEST_FLOAT = 10**300
"""The largest size that is a finite number; beyond it there is no search."""


@dataclass(frozen=True)
class ExactOrder(Value):
    """A search for the smallest order, which is proven if the search finishes within ``max_sets``.

    Examples
    --------
    >>> ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2, "d": 5}, ring)
    >>> print(ExactOrder()(graph))
    total size 32 (proven smallest), largest clique 20, by exact search: b, a, c, d
    """

    max_sets: Count = 2_000_000
    """The limit for the sets of eliminated variables in all parts of the graph, small parts first.
    A set takes some microseconds and 100 bytes."""
    start: OrderFinder = field(default_factory=RandomizedGreedy)
    """The search for the initial order; a better one makes the exact search shorter."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the best order found, with its sizes and whether it is proven."""
        if min(graph.sizes, default=2) == 1:
            return self._with_single_states(graph)
        found_atoms = list(atoms(graph))
        orders: dict[int, list[int]] = {}
        proven = True
        sets_left = self.max_sets
        starts = SharedSearch(self.start)
        # Small parts go first; large parts get the remaining sets.
        for atom in sorted(set(found_atoms), key=lambda mask: (mask.bit_count(), mask)):
            vertices = tuple(bits(atom))
            part = graph.subgraph(atom)
            order_of_part, looked_at = self._of_atom(part, sets_left, starts)
            sets_left -= looked_at
            orders[atom] = [vertices[i] for i in vertices_in_order(part, order_of_part.variables)]
            proven = proven and order_of_part.proven
        order = combined_order(graph, [(atom, orders[atom]) for atom in found_atoms])
        method = "exact search" if proven else "bounded search"
        return measured_order(graph, order, method=method, proven=proven)

    def _with_single_states(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order of a graph with variables of one state.

        Removing these from all cliques of a triangulation gives a triangulation of the others
        that is no larger, so the smallest order of the others is a lower bound.
        """
        singles = [v for v in range(graph.n) if graph.sizes[v] == 1]
        others = graph.vertices & ~sum(1 << v for v in singles)
        core = self(graph.subgraph(others))
        index = {name: v for v, name in enumerate(graph.names)}
        order = [*(index[name] for name in core.variables), *singles]
        last = measured_order(graph, order, method="exact search")
        best = min(last, self.start(graph), key=lambda found: found.total_size)
        proven = core.proven and best.total_size == core.total_size
        return replace(best, method=core.method, proven=best.proven or proven)

    def _of_atom(
        self, graph: InteractionGraph, most: int, starts: SharedSearch
    ) -> tuple[EliminationOrder, int]:
        """Return the best order found for a graph without clique separators, and the sets used.

        Parameters
        ----------
        graph
            The graph.
        most
            The limit for the number of sets.
        starts
            Finds the order to improve on.
        """
        if graph.is_clique(graph.vertices):
            return measured_order(graph, range(graph.n), method="clique", proven=True), 0
        is_large = graph.n > MOST_VERTICES
        arranged, classes = (graph, ()) if is_large else _arranged(graph)
        n_sets = math.inf if is_large else n_canonical_sets(graph.n, classes)
        best = MinFill()(graph) if n_sets <= _FEW_SETS else starts.order(graph)
        assert best is not None  # without a limit
        if is_large or most < 1:
            return best, 0
        sets_left = most
        if n_sets <= _MANY_SETS:
            result = search_small(
                arranged, classes, cutoff=best.total_size, max_sets=min(_FEW_SETS, sets_left)
            )
            sets_left -= result.n_sets
            if result.complete:
                best = _better(best, result, arranged, classes)
                return replace(best, proven=True), most - sets_left
        if best.total_size > _LARGEST_FLOAT or sets_left < 1:
            return best, most - sets_left
        width = max(1, min(_FIRST_WIDTH, sets_left // graph.n**2))
        while True:
            result = search(
                arranged, classes, cutoff=best.total_size, width=width, max_sets=sets_left
            )
            best = _better(best, result, arranged, classes)
            if result.complete:
                proven = best.total_size < _EXACT_FLOATS
                return replace(best, proven=proven), most - sets_left + result.n_sets
            sets_left -= result.n_sets
            # A search with twice the width takes at most about twice as many sets.
            wider = min(width * _WIDENING, width * sets_left // max(result.n_sets, 1))
            if wider <= width or sets_left < 1:
                return best, most - sets_left
            width = wider


def _better(
    best: EliminationOrder,
    found: Found,
    graph: InteractionGraph,
    classes: tuple[BlockClass, ...],
) -> EliminationOrder:
    """Return the order of a search, or the best one so far if the search found none."""
    if found.path is None:
        return best
    order = replayed_order(graph, classes, found.path)
    # Above 2^53, rounding may make a worse order look better.
    return min(
        best, measured_order(graph, order, method="exact search"), key=lambda o: o.total_size
    )


def _arranged(graph: InteractionGraph) -> tuple[InteractionGraph, tuple[BlockClass, ...]]:
    """Return the graph with interchangeable blocks as runs of consecutive vertices."""
    classes = interchangeable_blocks(graph)
    order = [v for cls in classes for block in cls.blocks for v in block]
    order += [v for v in range(graph.n) if v not in order]
    place = {v: i for i, v in enumerate(order)}
    arranged = InteractionGraph(
        tuple(graph.names[v] for v in order),
        tuple(graph.sizes[v] for v in order),
        tuple(tuple(sorted(place[u] for u in graph.adjacent[v])) for v in order),
    )
    return arranged, tuple(
        BlockClass(tuple(tuple(place[v] for v in block) for block in cls.blocks)) for cls in classes
    )
