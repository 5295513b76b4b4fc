"""Elimination orders of the smallest possible total size, proven by a search over sets."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._jit import PlainWork, njit, run_plainly
from bnmind._values import Count, Value
from bnmind.information import Floats
from bnmind.junction.graphs import (
    EliminationOrder,
    InteractionGraph,
    OrderFinder,
    bits,
    measured_order,
    vertices_in_order,
)
from bnmind.junction.greedy_order import Ints, simplicial
from bnmind.junction.randomized_order import RandomizedGreedy

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
# * **Cutoff**: the search drops a set whose cost reaches the total size of a known order, because
#   the set cannot lead to a smaller one. If no set remains, the known order is proven smallest.
# * **Simplicial vertices**: if the neighbors of v are a clique after X is eliminated, the search
#   eliminates v next and tries no other vertex. In any completion, moving v to the front adds no
#   edge and may remove some, which never costs if all variables have at least two states (fact 4).
# * **Symmetry**: of all sets that are equal up to exchanges of interchangeable blocks, the search
#   keeps one, because their completions cost the same.
# * **One side of a cover**: a cover S is a clique of the remaining graph, because the last
#   eliminated vertex of its component was adjacent to all of S. Let R be a component of the
#   remaining graph without S. N(R) is a clique, and no minimal triangulation joins R to a vertex
#   outside R and N(R). A triangulation has an order that eliminates R first, because R with N(R)
#   has an order that ends in any given clique. The search therefore tries only the vertices of R,
#   and takes the smallest R over all covers.
#
# If a level has more than ``width`` sets, the search keeps the cheapest ones. It then still finds
# good orders, but proves nothing.
#
# Lower bounds of the remaining cost are not worth their time: on Mastermind's networks, Bayesian
# networks and random graphs, minors and separators proved the same orders smallest, in twice the
# time.
#
# References
# ----------
# V. Gogate, R. Dechter, "A complete anytime algorithm for treewidth", UAI 2004 (the treatment of
# simplicial vertices); P. A. Dow, R. E. Korf, "Best-first search for treewidth", AAAI 2007 (search
# over sets); T. J. Ottosen, J. Vomlel, "All roads lead to Rome - new search methods for the optimal
# triangulation problem", International Journal of Approximate Reasoning 53 (2012), 1350-1366 (total
# size as the cost).

# Interchangeable blocks of vertices, of which the search needs only one arrangement.
#
# A class is a set of disjoint blocks, each a tuple of vertices, such that exchanging any
# two blocks, vertex by vertex, changes neither the graph nor the sizes. In Mastermind the
# colors are such blocks, and so are the pegs.
#
# Soundness. The search keeps a class only if it has verified that the exchange of its first block
# with each other block is an automorphism. These exchanges generate all permutations of the blocks
# (exchanging blocks i and j means exchanging 1 and i, 1 and j, and 1 and i again), so every
# permutation of the blocks of a class is an automorphism. Classes are disjoint, so their
# permutations combine freely. Properties that depend only on the graph, such as the cost of
# completing an elimination, are therefore the same for a set of vertices and for its images.
# `canonical` returns the same image for all of them.

Blocks: TypeAlias = tuple[tuple[int, ...], ...]
"""Disjoint blocks of one length, of which any two can be exchanged, the k-th vertices together."""


def canonical(masks: Ints, classes: Sequence[Blocks]) -> Ints:
    """Return the images of sets, given as bit masks, in which the blocks are sorted."""
    for blocks in classes:
        places = np.array(blocks)
        digits = np.arange(places.shape[1])
        patterns = ((masks[:, None, None] >> places & 1) << digits).sum(2)
        patterns.sort(axis=1)
        sorted_bits = (patterns[:, :, None] >> digits & 1) << places
        masks = (masks & ~(1 << places).sum()) | sorted_bits.sum((1, 2))
    return masks


def interchangeable_blocks(graph: InteractionGraph) -> tuple[Blocks, ...]:
    """Return disjoint classes of interchangeable blocks, those with the most blocks first.

    The search is greedy, so it may miss some classes. Graphs also have symmetries of other kinds.
    """
    colors = _refined_colors(graph)
    free = graph.vertices
    classes: list[Blocks] = []
    while True:
        # One vertex of each color suffices: the others give the same class or a part of it.
        firsts = {colors[u]: u for u in reversed(list(bits(free)))}
        found = [_class_of(graph, colors, u, free) for u in sorted(firsts.values())]
        best = max(found, key=lambda blocks: (len(blocks), len(blocks[0])), default=())
        if len(best) < 2:
            return tuple(classes)
        classes.append(best)
        free &= ~sum(1 << v for block in best for v in block)


def _refined_colors(graph: InteractionGraph) -> list[int]:
    """Return a color for each vertex; vertices of different colors cannot be exchanged."""
    colors = list(graph.sizes)
    while True:
        signatures = [
            (color, tuple(sorted(colors[u] for u in around)))
            for color, around in zip(colors, graph.adjacent, strict=True)
        ]
        names = {signature: i for i, signature in enumerate(sorted(set(signatures)))}
        refined = [names[signature] for signature in signatures]
        if len(names) == len(set(colors)):
            return refined
        colors = refined


def _class_of(graph: InteractionGraph, colors: Sequence[int], u: int, free: int) -> Blocks:
    """Return the block of u and those that can be exchanged with it, of free vertices."""
    blocks: list[tuple[int, ...]] = [(u,)]
    covered = 1 << u
    for v in bits(free):
        if colors[v] != colors[u] or covered >> v & 1:
            continue
        partners = _exchange(graph, colors, (u, v), free)
        if len(blocks) == 1 and partners:
            blocks = [tuple(partners)]
            covered |= sum(1 << w for w in partners)
        block = tuple(partners.get(w, w) for w in blocks[0])
        mask = sum(1 << w for w in block)
        if len(partners) == len(block) and not mask & covered:
            blocks.append(block)
            covered |= mask
    return tuple(blocks)


def _exchange(
    graph: InteractionGraph, colors: Sequence[int], first: tuple[int, int], free: int
) -> dict[int, int]:
    """Return the partners in an exchange of two vertices that moves few others.

    They are listed by the vertex on the side of the first one. None are returned if no exchange
    is found.
    """
    neighbors = graph.neighbors
    pairs = [first]
    for p, q in pairs:  # which grow
        # A vertex adjacent to only one half of a pair must move.
        while uneven := (neighbors[p] ^ neighbors[q]) & ~sum(1 << a | 1 << b for a, b in pairs):
            x = next(bits(uneven & neighbors[p] or uneven))
            free &= ~sum(1 << a | 1 << b for a, b in pairs)
            alike = [
                y
                for y in bits(free & ~(1 << x))
                if colors[y] == colors[x]
                and all(
                    neighbors[x] >> a & 1 == neighbors[y] >> b & 1
                    and neighbors[x] >> b & 1 == neighbors[y] >> a & 1
                    for a, b in pairs
                )
            ]
            if not alike or not free >> x & 1:
                return {}
            pairs.append((x, alike[0]) if neighbors[x] >> p & 1 else (alike[0], x))
    partners = dict(pairs)
    image = partners | {b: a for a, b in pairs}
    for v, w in image.items():
        if sum(1 << image.get(u, u) for u in graph.adjacent[v]) != neighbors[w]:
            return {}
    return partners


# The expansion of one level, compiled. Sets of vertices are bit masks in int64; sizes of tables are
# float64, exact below 2^53.

MOST_VERTICES = 62
"""The most vertices of a graph whose sets fit 64 bits, with room for a sign and a carry."""

_SETS_AT_ONCE = 2048  # a tenth of a second


@njit
def _index(single: int) -> int:
    """Return the number of the only bit of a mask."""
    return int((single - 1).bit_count())


@njit
def _reached(mask: int, adjacent: Ints) -> int:
    """Return all neighbors of the vertices of a mask."""
    around = 0
    while mask:
        single = mask & -mask
        mask ^= single
        around |= adjacent[_index(single)]
    return around


@njit
def _split(rest: int, adjacent: Ints, parts: Ints) -> int:
    """Fill in the components of the graph on some vertices; return their number."""
    n_parts = 0
    while rest:
        part = frontier = rest & -rest
        while frontier:
            frontier = _reached(frontier, adjacent) & rest & ~part
            part |= frontier
        rest &= ~part
        parts[n_parts] = part
        n_parts += 1
    return n_parts


@njit
def _remaining(eliminated: int, neighbors: Ints, adjacent: Ints, covers: Ints) -> int:
    """Fill in the graph after an elimination; return the number of components eliminated.

    ``adjacent[v]`` becomes the neighbors of each remaining vertex v, ``covers[i]`` the
    neighborhood of the i-th component.
    """
    n = neighbors.size
    rest = ((1 << n) - 1) & ~eliminated
    for v in range(n):
        adjacent[v] = neighbors[v] & rest
    n_covers = _split(eliminated, neighbors, covers)
    for i in range(n_covers):
        cover = members = _reached(covers[i], neighbors) & rest
        covers[i] = cover
        while members:
            single = members & -members
            members ^= single
            adjacent[_index(single)] |= cover & ~single
    return n_covers


@njit
def _is_simplicial(v: int, adjacent: Ints) -> bool:
    """Return whether the neighbors of a vertex are a clique."""
    around = members = adjacent[v]
    while members:
        single = members & -members
        members ^= single
        if around & ~single & ~adjacent[_index(single)]:
            return False
    return True


@njit
def _candidates(rest: int, adjacent: Ints, covers: Ints, parts: Ints) -> int:
    """Return the vertices to try next: a simplicial vertex, or one side of a cover."""
    unseen = rest
    while unseen:
        single = unseen & -unseen
        unseen ^= single
        if _is_simplicial(_index(single), adjacent):
            return single
    smallest = rest
    least = rest.bit_count()
    for cover in covers:
        for j in range(_split(rest & ~cover, adjacent, parts)):
            members = parts[j].bit_count()
            if members < least:
                least = members
                smallest = parts[j]
    return smallest


@njit
def successors(
    masks: Ints, costs: Floats, neighbors: Ints, sizes: Floats, cutoff: float
) -> tuple[Ints, Floats, Ints]:
    """Return the sets with one more vertex, their costs, and positions of their predecessors."""
    n = neighbors.size
    full = (1 << n) - 1
    adjacent = np.zeros(n, dtype=np.int64)
    covers = np.zeros(n, dtype=np.int64)
    parts = np.zeros(n, dtype=np.int64)
    following = np.zeros(masks.size * n, dtype=np.int64)
    paid = np.zeros(masks.size * n)
    parents = np.zeros(masks.size * n, dtype=np.int64)
    n_found = 0
    for s in range(masks.size):
        eliminated = masks[s]
        n_covers = _remaining(eliminated, neighbors, adjacent, covers)
        tried = _candidates(full & ~eliminated, adjacent, covers[:n_covers], parts)
        while tried:
            single = tried & -tried
            tried ^= single
            clique = members = adjacent[_index(single)] | single
            size = 0.0 if np.any(covers[:n_covers] == clique) else 1.0
            while members:
                member = members & -members
                members ^= member
                size *= sizes[_index(member)]
            if costs[s] + size < cutoff:
                following[n_found] = eliminated | single
                paid[n_found] = costs[s] + size
                parents[n_found] = s
                n_found += 1
    return following[:n_found], paid[:n_found], parents[:n_found]


@dataclass(frozen=True)
class Found:
    """The result of a search."""

    order: tuple[int, ...] | None
    """An order below the cutoff."""
    complete: bool
    """Whether the search was complete: the order is the best, or there is none."""
    n_sets: int
    """The number of sets found."""


def search(
    graph: InteractionGraph,
    classes: Sequence[Blocks],
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
        Disjoint classes of interchangeable blocks.
    cutoff
        The search considers only orders with a smaller total size, in cells.
    width
        The most sets of a level.
    max_sets
        The search stops when it has reached more sets than this.
    """
    neighbors = np.array(graph.neighbors, dtype=np.int64)
    sizes = np.array(graph.sizes, dtype=np.float64)
    most = float(cutoff)
    masks, costs, parents = np.zeros(1, dtype=np.int64), np.zeros(1), np.zeros(1, dtype=np.int64)
    levels = [(masks, parents)]
    complete, n_sets = True, 1
    for _ in range(graph.n):
        parts = []
        # Python handles Ctrl-C between two calls of compiled code.
        for start in range(0, len(masks), _SETS_AT_ONCE):
            some = slice(start, start + _SETS_AT_ONCE)
            more, paid, places = successors(masks[some], costs[some], neighbors, sizes, most)
            parts.append((canonical(more, classes), more, paid, places + start))
        images, masks, costs, parents = map(np.concatenate, zip(*parts, strict=True))
        # Each image stays once, with the first of its cheapest predecessors.
        best = np.lexsort((costs, images))
        best = best[np.diff(images[best], prepend=-1) != 0]
        n_sets += len(best)
        if n_sets > max_sets:
            return Found(None, complete=False, n_sets=n_sets)
        if len(best) > width:
            complete = False
            # The images break ties.
            best = best[np.argsort(costs[best], kind="stable")[:width]]
        if not len(best):
            return Found(None, complete, n_sets)
        masks, costs, parents = masks[best], costs[best], parents[best]
        levels.append((masks, parents))
    place, order = 0, []
    for (after, parents), (before, _) in zip(levels[:0:-1], levels[-2::-1], strict=True):
        last, place = int(after[place]), int(parents[place])
        order.append((last ^ int(before[place])).bit_length() - 1)
    return Found(tuple(reversed(order)), complete, n_sets)


# --- The elimination order of smallest total size, proven if the search can finish ----------------
#
# Some smallest order starts with the simplicial vertices (fact 4 of `bnmind.junction.graphs`), and
# the components of the graph that is left are searched apart. A clique of a component costs nothing
# if it lies in the neighborhood of a simplicial vertex, so such vertices stay in the graph that is
# searched, one for each neighborhood. A neighborhood of two vertices contains no maximal clique of
# a component, because each vertex there has two neighbors that are not adjacent.
#
# Each component first gets a good order from another search. Then it is searched with increasing
# width: the order found by one search is the cutoff of the next, and a better cutoff leaves fewer
# sets to consider.

_FEW_SETS = 1_000
"""The most sets of a search that may run in Python, which takes up to a tenth of a second."""

_plain_searches = PlainWork(successors, 20, if_cached=20)
"""The number of small searches in Python before the kernels are compiled or loaded."""

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
        order, _ = simplicial([set(members) for members in graph.adjacent])
        core = graph.vertices & ~sum(1 << v for v in order)
        kept = {graph.neighbors[v] & core: 1 << v for v in reversed(order)}
        proven, sets_left = True, self.max_sets
        # Small parts go first; large parts get the remaining sets.
        for part in sorted(graph.components(core), key=lambda mask: (mask.bit_count(), mask)):
            more = [v for near, v in kept.items() if near & part and near.bit_count() > 2]
            found, n_sets = self._of_part(graph.subgraph(part | sum(more)), sets_left)
            sets_left -= n_sets
            proven = proven and found.proven
            names = set(graph.members(part))
            order += [graph.names.index(name) for name in found.variables if name in names]
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
        order = vertices_in_order(graph, [*core.variables, *(graph.names[v] for v in singles)])
        last = measured_order(graph, order, method="exact search")
        best = min(last, self.start(graph), key=lambda found: found.total_size)
        proven = core.proven and best.total_size == core.total_size
        return replace(best, method=core.method, proven=best.proven or proven)

    def _of_part(self, graph: InteractionGraph, most: int) -> tuple[EliminationOrder, int]:
        """Return the best order found for a connected graph, and the sets used, of ``most``."""
        best = self.start(graph)
        if graph.n > MOST_VERTICES or best.total_size > _LARGEST_FLOAT:
            return best, 0
        classes = interchangeable_blocks(graph)
        sets_left, is_brief = most, most > _FEW_SETS
        width = _FEW_SETS if is_brief else most // graph.n**2
        while sets_left > 0:
            begun = partial(
                search,
                graph,
                classes,
                cutoff=best.total_size,
                width=max(1, width),
                max_sets=_FEW_SETS if is_brief else sets_left,
            )
            is_plain = is_brief or sets_left <= _FEW_SETS
            found = run_plainly(begun) if is_plain and _plain_searches.left else begun()
            _plain_searches.spend(is_plain)
            sets_left -= found.n_sets
            if found.order is not None:
                other = measured_order(graph, found.order, method="exact search")
                # Above 2^53, rounding may make a worse order look better.
                best = min(best, other, key=lambda order: order.total_size)
            if found.complete:
                return replace(best, proven=best.total_size < _EXACT_FLOATS), most - sets_left
            if is_brief:
                width, is_brief = min(_FIRST_WIDTH, sets_left // graph.n**2), False
                continue
            # A search with twice the width takes at most about twice as many sets.
            wider = min(width * _WIDENING, width * sets_left // max(found.n_sets, 1))
            if wider <= width:
                break
            width = wider
        return best, most - sets_left
