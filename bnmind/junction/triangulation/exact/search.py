"""The search for the smallest elimination order over the sets of eliminated variables.

=================  ===========================================================
symbol             name here
=================  ===========================================================
X                  ``eliminated``: the set of vertices eliminated so far
K_v                the clique that eliminating v after X makes
N(D)               ``cover``: the neighborhood of a component D of the graph on X
=================  ===========================================================

By facts 1 and 2 of `bnmind.junction.graphs.elimination_order`, the cost of the next elimination
(the size of K_v if K_v is maximal, otherwise zero) depends only on X and v. The best order is
therefore a shortest path from the empty set to the set of all vertices, and only the cheapest path
to each set matters. All paths to a set have the same number of steps, so the search completes one
level after another. The following rules shorten the search without losing the best order:

* **Cutoff**: the search drops a set whose cost, or cost plus lower bound, reaches the total size
  of a known order, because the set cannot lead to a smaller one. If no set remains, the known
  order is proven smallest.
* **Simplicial vertices**: if the neighbors of v are a clique after X is eliminated, the search
  eliminates v next and tries no other vertex. In any completion, moving v to the front adds no
  edge and may remove some, which never costs if all variables have at least two states (fact 4).
* **Symmetry**: of all sets that are equal up to exchanges of interchangeable blocks
  (`bnmind.junction.triangulation.interchangeable_blocks`), the search keeps one, because their
  completions cost the same. Among blocks with the same pattern, it tries only the first.
* **One side of a cover**: a cover S is a clique of the remaining graph, because the last
  eliminated vertex of its component was adjacent to all of S. Let R be a component of the
  remaining graph without S. N(R) is a clique, and no minimal triangulation joins R to a vertex
  outside R and N(R). A triangulation has an order that eliminates R first, because R with N(R)
  has an order that ends in any given clique. The search therefore tries only the vertices of R,
  and takes the smallest R over all covers.
* **Lower bound** on the remaining cost after X. Let W be a lower bound on the largest clique of
  any triangulation of the remaining graph. Then there is a later clique K of at least this size,
  and K lies in a maximal clique. If the maximal clique is also eliminated after X, the remaining
  cost is at least W. Otherwise it is K_u for some u in X, and K lies in the cover of the
  component of u, by the argument for fact 2. So W is a bound if all covers are smaller than W;
  otherwise the bound is 0.
  If a cover S splits the rest into R₁, R₂, …, the bounds W_i of the parts (R_i with N(R_i)) add
  up, for those W_i that exceed S and all covers that meet R_i. The largest clique of such a part
  has a vertex in R_i and lies in no cover. The maximal cliques that contain these cliques are
  distinct, because no clique of a minimal triangulation has vertices in both R_i and R_j.
  W is the largest, over the remaining graph and some of its minors, of the smallest closed
  neighborhood. This is a bound for a graph, because the first eliminated vertex makes its closed
  neighborhood a clique. It is a bound for a minor, because contracting two neighbors into one
  vertex with the smaller of both sizes, in every clique of a junction tree, gives a junction tree
  of the minor without larger cliques (the bound minor-min-width, with weights).

If a level has more than ``width`` sets, the search keeps the most promising ones. It then still
finds good orders, but proves nothing.

References
----------
V. Gogate, R. Dechter, "A complete anytime algorithm for treewidth", UAI 2004 (the bound and
the treatment of simplicial vertices); P. A. Dow, R. E. Korf, "Best-first search for
treewidth", AAAI 2007 (search over sets); T. J. Ottosen, J. Vomlel, "All roads lead to Rome -
new search methods for the optimal triangulation problem", International Journal of
Approximate Reasoning 53 (2012), 1350-1366 (total size as the cost).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bnmind.junction.graphs.interaction_graph import InteractionGraph, bits
from bnmind.junction.triangulation.exact.bounds import lower_bounds
from bnmind.junction.triangulation.exact.kernel import expand, problem
from bnmind.junction.triangulation.exact.sets import Ints
from bnmind.junction.triangulation.interchangeable_blocks import BlockClass, canonical

__all__ = ["Found", "replayed_order", "search", "search_small"]


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
    """Search in compiled code.

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
        promise = costs + lower_bounds(masks, arrays.neighbors, arrays.sizes, arrays.products)
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
        masks, costs, parents = expand(
            masks[places],
            costs[places],
            arrays.neighbors,
            arrays.products,
            arrays.starts,
            arrays.widths,
            arrays.counts,
            float(cutoff),
        )
    place = 0
    path = []
    for masks, parents in reversed(levels):
        path.append(int(masks[place]))
        place = int(parents[place])
    return Found(tuple(reversed(path)), complete, n_sets)


def search_small(
    graph: InteractionGraph, classes: Sequence[BlockClass], *, cutoff: int, max_sets: int
) -> Found:
    """Search in plain Python, with fewer reductions and without a limit of the width."""
    level: dict[int, tuple[int, tuple[int, ...]]] = {0: (0, (0,))}
    n_sets = 1
    for _ in range(graph.n):
        following: dict[int, tuple[int, tuple[int, ...]]] = {}
        for eliminated, (paid, path) in level.items():
            cliques, covers = remaining(graph, eliminated)
            simplicial = next((v for v in cliques if _is_simplicial(cliques, v)), None)
            for v in cliques if simplicial is None else [simplicial]:
                clique = cliques[v]
                cost = paid + (0 if clique in covers else graph.clique_size(clique))
                if cost < cutoff:
                    image = canonical(eliminated | 1 << v, classes)
                    if image not in following or cost < following[image][0]:
                        following[image] = (cost, (*path, image))
        level = following
        n_sets += len(level)
        if n_sets > max_sets:
            return Found(None, complete=False, n_sets=n_sets)
    return Found(min(level.values())[1] if level else None, complete=True, n_sets=n_sets)


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


def _is_simplicial(cliques: dict[int, int], v: int) -> bool:
    return all(not cliques[v] & ~cliques[u] for u in bits(cliques[v]))


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
