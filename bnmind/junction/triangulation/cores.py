"""The part of a graph on which searches for elimination orders work, and quick estimates."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heapify, heappop, heappush

from bnmind._values import remembered
from bnmind.junction.graphs import InteractionGraph, measured_order

# --- Elimination of light vertices in graphs that are too large for a search ----------------------
#
# The vertex with the smallest elimination clique is eliminated next, until few vertices are left.
# The remaining vertices form the large cliques, for which a search pays. The time is proportional
# to the number of visited edges, while a pass of a search takes quadratic time in the number of
# vertices.
#
# References
# ----------
# U. Kjærulff, "Triangulation of graphs - algorithms giving small total state space",
# Aalborg University, Research Report R-90-09 (1990): minimum weight.


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


_HEAVIEST = 48
"""The binary logarithm of the most cells of a clique of a tree that may be compiled."""


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


# --- The graph without its simplicial vertices, on which searches for elimination orders work -----
#
# A vertex is simplicial when its neighbors are neighbors of each other. Eliminating it adds
# no edge, and some order of smallest total size starts with it: a minimal triangulation
# adds no edge at such a vertex (fact 4 of `bnmind.junction.graphs`). Removing
# simplicial vertices until there are none leaves the *core*, whichever is removed first.
#
# Scores are whole numbers, so that sums do not depend on the order of their terms: the
# logarithm of a number of states is a sum of logarithms of primes in fixed-point numbers,
# so equal clique sizes have equal logarithms too.
#
# References
# ----------
# H. L. Bodlaender, A. M. C. A. Koster, F. van den Eijkhof, "Preprocessing rules for
# triangulation of probabilistic networks", Computational Intelligence 21 (2005), 286-305.

MOST_FRACTION = 24
"""The number of fractional binary digits of logarithms, if there is room."""

_ROOM = 61
"""The most bits of a score, which fits 64 bits with a sign and a carry."""

_MOST_FACTORED = 2**32
"""The largest number of states that is factored for its logarithm."""

_LARGEST_FLOAT = 1e300

MOST_SEARCHED = 2_000
"""The most vertices of a core that is searched. In larger cores, light vertices are eliminated
first, because the time and memory of a pass grow as the square of the number of vertices."""

_HEAVIEST_SCORE = 128
"""The binary logarithm of the most cells of the clique of a light vertex."""


@dataclass(frozen=True, kw_only=True)
class Core:
    """A graph for greedy passes; sets are bit masks."""

    neighbors: tuple[int, ...]
    """The neighbors of each vertex."""
    sizes: tuple[float, ...]
    """The number of states of each vertex."""
    logarithms: tuple[int, ...]
    """Their binary logarithms, times 2 to the power of `fraction`."""
    values: tuple[int, ...]
    """The numbers of states, bounded so that weighted fill fits 62 bits."""
    covered: tuple[int, ...]
    """Cliques that lie in a larger one already."""
    fraction: int
    """The number of fractional binary digits of logarithms."""
    fill_bits: int
    """The most binary digits of a number of added edges."""

    @property
    def n(self) -> int:
        """The number of vertices."""
        return len(self.neighbors)


def core_of(graph: InteractionGraph) -> tuple[list[int], list[int], Core]:
    """Return an order of the simplicial vertices, the other vertices, and their core.

    If more than `MOST_SEARCHED` vertices remain, light ones are eliminated too. The lists are
    shared by all callers.
    """
    return remembered(graph, "_core", lambda: _core_of(graph))


def _core_of(graph: InteractionGraph) -> tuple[list[int], list[int], Core]:
    around = [set(members) for members in graph.adjacent]
    first, covered = simplicial(around)
    gone = set(first)
    core_vertices = [v for v in range(graph.n) if v not in gone]
    if len(core_vertices) > MOST_SEARCHED:
        weights = [logarithm(size, MOST_FRACTION) for size in graph.sizes]
        heaviest = _HEAVIEST_SCORE << MOST_FRACTION
        light, more = peeled(around, weights, core_vertices, most=MOST_SEARCHED, heaviest=heaviest)
        first += light
        covered |= more
        gone.update(light)
        core_vertices = [v for v in core_vertices if v not in gone]
    place = {v: i for i, v in enumerate(core_vertices)}
    core = scored(
        [placed(around[v], place) for v in core_vertices],
        [graph.sizes[v] for v in core_vertices],
        sorted(placed(clique, place) for clique in covered if clique and gone.isdisjoint(clique)),
    )
    return first, core_vertices, core


def simplicial(around: list[set[int]]) -> tuple[list[int], set[frozenset[int]]]:
    """Remove simplicial vertices from a graph, the lowest first, until there are none.

    Returns
    -------
    order, covered
        The removed vertices, and their neighborhoods at removal.
    """
    order = []
    covered = set()
    # Vertices that may be simplicial.
    waiting = list(range(len(around)))
    is_waiting = [True] * len(around)
    while waiting:
        v = heappop(waiting)
        is_waiting[v] = False
        members = around[v]
        if any(len(members & around[u]) < len(members) - 1 for u in members):
            continue
        order.append(v)
        covered.add(frozenset(members))
        for u in members:
            around[u].remove(v)
            if not is_waiting[u]:
                is_waiting[u] = True
                heappush(waiting, u)
    return order, covered


def whole_graph(graph: InteractionGraph) -> Core:
    """Return a graph with all its vertices as a core."""
    return scored(graph.neighbors, graph.sizes, [])


def placed(vertices: Iterable[int], place: Mapping[int, int]) -> int:
    """Return the places of some vertices as a bit mask."""
    return sum([1 << place[v] for v in vertices])


def scored(neighbors: Sequence[int], sizes: Sequence[int], covered: Sequence[int]) -> Core:
    """Return a graph, given by bit masks, as a core.

    Parameters
    ----------
    neighbors
        The neighbors of each vertex.
    sizes
        The number of states of each vertex.
    covered
        Cliques without cost, because they lie in larger ones.
    """
    n = len(neighbors)
    pairs = n * (n - 1) // 2
    fill_bits = pairs.bit_length()
    whole = sum(size.bit_length() for size in sizes).bit_length()
    fraction = max(0, min(MOST_FRACTION, _ROOM - fill_bits - whole))
    largest = math.isqrt(2**_ROOM // max(pairs, 1))
    return Core(
        neighbors=tuple(neighbors),
        sizes=tuple(float(size) if size < _LARGEST_FLOAT else _LARGEST_FLOAT for size in sizes),
        logarithms=tuple(logarithm(size, fraction) for size in sizes),
        values=tuple(min(size, largest) for size in sizes),
        covered=tuple(covered),
        fraction=fraction,
        fill_bits=fill_bits,
    )


@cache
def logarithm(size: int, fraction: int) -> int:
    """Return the sum of the rounded binary logarithms of the prime factors."""
    scale = 1 << fraction
    if size > _MOST_FACTORED:
        return round(math.log2(size) * scale)
    total = 0
    factor = 2
    while factor * factor <= size:
        while size % factor == 0:
            total += round(math.log2(factor) * scale)
            size //= factor
        factor += 1
    return total + (round(math.log2(size) * scale) if size > 1 else 0)
