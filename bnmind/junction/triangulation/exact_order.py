"""Elimination orders of the smallest possible total size, proven by a search over sets."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np

from bnmind._arguments import checked
from bnmind._jit import PlainWork, run_plainly
from bnmind._values import Count, Value
from bnmind.junction.graphs import (
    EliminationOrder,
    InteractionGraph,
    OrderFinder,
    bits,
    elimination_cliques,
    measured_order,
    vertices_in_order,
)
from bnmind.junction.triangulation.exact_sets import (
    MOST_VERTICES,
    BlockClass,
    Ints,
    canonical,
    expand,
    interchangeable_blocks,
    lower_bounds,
    n_canonical_sets,
    problem,
    successors,
)
from bnmind.junction.triangulation.greedy import MinFill
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy, SharedSearch

# --- The search for the smallest elimination order over the sets of eliminated variables ----------
#
# =================  ===========================================================
# symbol             name here
# =================  ===========================================================
# X                  ``eliminated``: the set of vertices eliminated so far
# K_v                the clique that eliminating v after X makes
# N(D)               ``cover``: the neighborhood of a component D of the graph on X
# =================  ===========================================================
#
# By facts 1 and 2 of `bnmind.junction.graphs`, the cost of the next elimination (the size of K_v if
# K_v is maximal, otherwise zero) depends only on X and v. The best order is therefore a shortest
# path from the empty set to the set of all vertices, and only the cheapest path to each set
# matters. All paths to a set have the same number of steps, so the search completes one level after
# another. The following rules shorten the search without losing the best order:
#
# * **Cutoff**: the search drops a set whose cost, or cost plus lower bound, reaches the total size
#   of a known order, because the set cannot lead to a smaller one. If no set remains, the known
#   order is proven smallest.
# * **Simplicial vertices**: if the neighbors of v are a clique after X is eliminated, the search
#   eliminates v next and tries no other vertex. In any completion, moving v to the front adds no
#   edge and may remove some, which never costs if all variables have at least two states (fact 4).
# * **Symmetry**: of all sets that are equal up to exchanges of interchangeable blocks
#   (`bnmind.junction.triangulation.exact_sets`), the search keeps one, because their
#   completions cost the same. Among blocks with the same pattern, it tries only the first.
# * **One side of a cover**: a cover S is a clique of the remaining graph, because the last
#   eliminated vertex of its component was adjacent to all of S. Let R be a component of the
#   remaining graph without S. N(R) is a clique, and no minimal triangulation joins R to a vertex
#   outside R and N(R). A triangulation has an order that eliminates R first, because R with N(R)
#   has an order that ends in any given clique. The search therefore tries only the vertices of R,
#   and takes the smallest R over all covers.
# * **Lower bound** on the remaining cost after X. Let W be a lower bound on the largest clique of
#   any triangulation of the remaining graph. Then there is a later clique K of at least this size,
#   and K lies in a maximal clique. If the maximal clique is also eliminated after X, the remaining
#   cost is at least W. Otherwise it is K_u for some u in X, and K lies in the cover of the
#   component of u, by the argument for fact 2. So W is a bound if all covers are smaller than W;
#   otherwise the bound is 0.
#   If a cover S splits the rest into R₁, R₂, …, the bounds W_i of the parts (R_i with N(R_i)) add
#   up, for those W_i that exceed S and all covers that meet R_i. The largest clique of such a part
#   has a vertex in R_i and lies in no cover. The maximal cliques that contain these cliques are
#   distinct, because no clique of a minimal triangulation has vertices in both R_i and R_j.
#   W is the largest, over the remaining graph and some of its minors, of the smallest closed
#   neighborhood. This is a bound for a graph, because the first eliminated vertex makes its closed
#   neighborhood a clique. It is a bound for a minor, because contracting two neighbors into one
#   vertex with the smaller of both sizes, in every clique of a junction tree, gives a junction tree
#   of the minor without larger cliques (the bound minor-min-width, with weights).
#
# If a level has more than ``width`` sets, the search keeps the most promising ones. It then still
# finds good orders, but proves nothing.
#
# References
# ----------
# V. Gogate, R. Dechter, "A complete anytime algorithm for treewidth", UAI 2004 (the bound and
# the treatment of simplicial vertices); P. A. Dow, R. E. Korf, "Best-first search for
# treewidth", AAAI 2007 (search over sets); T. J. Ottosen, J. Vomlel, "All roads lead to Rome -
# new search methods for the optimal triangulation problem", International Journal of
# Approximate Reasoning 53 (2012), 1350-1366 (total size as the cost).


@dataclass(frozen=True)
class Found:
    """The result of a search."""

    path: tuple[int, ...] | None
    """The canonical sets of an order below the cutoff, from the empty set on."""
    complete: bool
    """Whether the search was complete: the path is optimal, or there is none."""
    n_sets: int
    """The number of sets found."""


def search(
    graph: InteractionGraph,
    classes: Sequence[BlockClass],
    *,
    cutoff: int,
    width: int,
    max_sets: int,
) -> Found:
    """Search level by level.

    Parameters
    ----------
    graph
        At most `MOST_VERTICES` vertices, each with two states or more.
    classes
        Interchangeable blocks, each a run of vertices: the first block of the first class
        from vertex 0 on, and so forth.
    cutoff
        The search considers only orders with a smaller total size, in cells.
    width
        The most sets of a level.
    max_sets
        The search stops when it has reached more sets than this.
    """
    arrays = problem(graph, classes)
    masks = np.zeros(1, dtype=np.int64)
    costs = np.zeros(1)
    parents = np.zeros(1, dtype=np.int64)
    levels: list[tuple[Ints, Ints]] = []
    complete = True
    n_sets = 0
    for _ in range(graph.n + 1):
        n_sets += len(masks)
        if n_sets > max_sets:
            return Found(None, complete=False, n_sets=n_sets)
        promise = costs + lower_bounds(masks, arrays)
        places = np.flatnonzero(promise < float(cutoff))
        if len(places) > width:
            complete = False
            # The sets break ties, so that the search is the same on every machine.
            places = np.sort(places[np.lexsort((masks[places], promise[places]))[:width]])
        if not len(places):
            return Found(None, complete, n_sets)
        levels.append((masks[places], parents[places]))
        if len(levels) > graph.n:
            break
        masks, costs, parents = expand(masks[places], costs[places], arrays, float(cutoff))
    place = 0
    path = []
    for masks, parents in reversed(levels):
        path.append(int(masks[place]))
        place = int(parents[place])
    return Found(tuple(reversed(path)), complete, n_sets)


def remaining(graph: InteractionGraph, eliminated: int) -> tuple[dict[int, int], set[int]]:
    """Return the elimination clique of each remaining vertex, and the covers."""
    covers = {graph.neighborhood(part) for part in graph.components(eliminated)}
    cliques = {}
    for v in bits(graph.vertices & ~eliminated):
        cliques[v] = (graph.neighbors[v] & ~eliminated) | 1 << v
        for cover in covers:
            if cover >> v & 1:
                cliques[v] |= cover
    return cliques, covers


def replayed_order(
    graph: InteractionGraph, classes: Sequence[BlockClass], path: Sequence[int]
) -> tuple[int, ...]:
    """Return an order whose sets have the given images, and which costs no more than the path.

    Each set on the path is the image of the eliminated set under an automorphism. The next vertex
    on the path is therefore the image of a vertex that costs the same.
    """
    eliminated = 0
    order = []
    for image in path[1:]:
        cliques, covers = remaining(graph, eliminated)
        _, v = min(
            (0 if clique in covers else graph.clique_size(clique), v)
            for v, clique in cliques.items()
            if canonical(eliminated | 1 << v, classes) == image
        )
        order.append(v)
        eliminated |= 1 << v
    return tuple(order)


# --- The elimination order of smallest total size, proven if the search can finish ----------------
#
# Clique separators divide the graph into atoms. Each atom first gets a good order from another
# search. Then `bnmind.junction.triangulation.exact_order` searches it, with increasing width: the
# order found by one search is the cutoff of the next, and a better cutoff leaves fewer sets to
# consider.

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
# decomposition", Algorithms 3 (2010), 197-215.


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
    """Return an order whose added edges are minimal."""
    neighbors = list(graph.neighbors)
    _fill(
        neighbors, elimination_cliques(graph, vertices_in_order(graph, MinFill()(graph).variables))
    )
    added = [
        (a, b) for a in range(graph.n) for b in bits((neighbors[a] & ~graph.neighbors[a]) >> a << a)
    ]
    kept: list[tuple[int, int]] = []
    while len(kept) < len(added):
        kept, added = added, []
        for a, b in kept:
            common = neighbors[a] & neighbors[b]
            if any(common & ~neighbors[v] & ~(1 << v) for v in bits(common)):
                added.append((a, b))
            else:
                # The edge lies in only one maximal clique (fact 4 of `bnmind.junction.graphs`).
                neighbors[a] ^= 1 << b
                neighbors[b] ^= 1 << a
    return _perfect_order(graph, neighbors)


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
        inner = [around & atom if atom >> v & 1 else 0 for v, around in enumerate(graph.neighbors)]
        induced = InteractionGraph.from_masks(graph.names, graph.sizes, inner)
        _fill(neighbors, elimination_cliques(induced, order))
    # Chordal graphs glued at cliques are chordal.
    return _perfect_order(graph, neighbors)


def _fill(neighbors: list[int], cliques: Sequence[int]) -> None:
    """Connect the vertices of each clique."""
    for clique in cliques:
        for v in bits(clique):
            neighbors[v] |= clique & ~(1 << v)


def _perfect_order(graph: InteractionGraph, neighbors: Sequence[int]) -> tuple[int, ...]:
    """Return an order that adds no edge to a chordal graph: min-fill finds it."""
    filled = InteractionGraph.from_masks(graph.names, graph.sizes, neighbors)
    return vertices_in_order(filled, MinFill()(filled).variables)


# --- The elimination order of smallest total size, proven if the search can finish ----------------

_FEW_SETS = 2_000
"""The most sets of a search that may run in Python, which takes up to a second."""

_plain_searches = PlainWork(successors, 20, if_cached=20)
"""The number of small searches in Python before the kernels are compiled or loaded."""

_MANY_SETS = 12_000
"""The most canonical sets of a graph of which a good cutoff may leave few."""

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
        parts: list[tuple[int, list[int]]] = []
        proven = True
        sets_left = self.max_sets
        starts = SharedSearch(self.start)
        # Small parts go first; large parts get the remaining sets.
        for atom in sorted(set(atoms(graph)), key=lambda mask: (mask.bit_count(), mask)):
            vertices = tuple(bits(atom))
            part = graph.subgraph(atom)
            order_of_part, looked_at = self._of_atom(part, sets_left, starts)
            sets_left -= looked_at
            order = vertices_in_order(part, order_of_part.variables)
            parts.append((atom, [vertices[i] for i in order]))
            proven = proven and order_of_part.proven
        order = combined_order(graph, parts)
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
        if is_large or best.total_size > _LARGEST_FLOAT:
            return best, 0
        sets_left, is_brief = most, n_sets <= _MANY_SETS
        width = _FEW_SETS if is_brief else min(_FIRST_WIDTH, most // graph.n**2)
        while sets_left > 0:
            begun = partial(
                search,
                arranged,
                classes,
                cutoff=best.total_size,
                width=max(1, width),
                max_sets=min(_FEW_SETS, sets_left) if is_brief else sets_left,
            )
            result = run_plainly(begun) if is_brief and _plain_searches.left else begun()
            _plain_searches.spend(is_brief)
            sets_left -= result.n_sets
            best = _better(best, result, arranged, classes)
            if result.complete:
                best = replace(best, proven=best.total_size < _EXACT_FLOATS)
                break
            if is_brief:
                width, is_brief = min(_FIRST_WIDTH, sets_left // graph.n**2), False
                continue
            # A search with twice the width takes at most about twice as many sets.
            wider = min(width * _WIDENING, width * sets_left // max(result.n_sets, 1))
            if wider <= width:
                break
            width = wider
        return best, most - sets_left


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
