"""The graph without its simplicial vertices, on which searches for elimination orders work.

A vertex is simplicial when its neighbors are neighbors of each other. Eliminating it adds
no edge, and some order of smallest total size starts with it: a minimal triangulation
adds no edge at such a vertex (fact 4 of `bnmind.junction.graphs.elimination_order`). Removing
simplicial vertices until there are none leaves the *core*, whichever is removed first.

Scores are whole numbers, so that sums do not depend on the order of their terms: the
logarithm of a number of states is a sum of logarithms of primes in fixed-point numbers,
so equal clique sizes have equal logarithms too.

References
----------
H. L. Bodlaender, A. M. C. A. Koster, F. van den Eijkhof, "Preprocessing rules for
triangulation of probabilistic networks", Computational Intelligence 21 (2005), 286-305.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from heapq import heappop, heappush

import numpy as np

from bnmind._values import remembered
from bnmind.junction.graphs.interaction_graph import InteractionGraph, bits
from bnmind.junction.triangulation.peeling import peeled

__all__ = [
    "MANTISSA",
    "MOST_FRACTION",
    "Core",
    "core_of",
    "logarithm",
    "logarithm_table",
    "placed",
    "scored",
    "whole_graph",
]

# --- The number and the weight of the edges that the elimination of each vertex would add ---------
#
# The elimination of v adds an edge for each pair of its neighbors that are not adjacent. Sparse
# graphs are visited pair by pair. In a dense graph, matrix products are faster: with the adjacency
# matrix A, the values x on the diagonal of X, and u and w among the neighbors of v,
#
#     Σ_u<w x_u x_w [u and w not adjacent] = ((Σ_u x_u)² − Σ_u x_u² − (A X A X A)_vv) / 2
#
# All numbers are whole and below 2⁵³, so the product is exact.

_MOST_VERTICES = 2_048
"""The most vertices of a graph whose adjacency matrix is written out."""

_OF_A_PAIR = 400
"""The multiplications of a matrix product that take as long as a visit to a pair."""


def added_edges(neighbors: Sequence[int], values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the number of edges that each elimination adds, and the sum of their weights.

    Parameters
    ----------
    neighbors
        The neighbors of each vertex, as bit masks.
    values
        The value of each vertex. An edge weighs the product of the values of its ends.
    """
    n = len(neighbors)
    if n <= _MOST_VERTICES:
        pairs = sum([mask.bit_count() ** 2 for mask in neighbors])
        is_exact = (n * max(values, default=0)) ** 2 < 2**53
        if is_exact and _OF_A_PAIR * pairs > n**3:
            return by_products(neighbors, values)
    return by_pairs(neighbors, values)


def by_pairs(neighbors: Sequence[int], values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the results of `added_edges` by a visit to each pair."""
    fill, weighted_fill = [], []
    for mask in neighbors:
        count = weighted = 0
        while mask:
            low = mask & -mask
            mask ^= low
            u = low.bit_length() - 1
            # Each pair once: the later end is among those left.
            missing = mask & ~neighbors[u]
            if missing:
                count += missing.bit_count()
                total = 0
                while missing:
                    low = missing & -missing
                    total += values[low.bit_length() - 1]
                    missing ^= low
                weighted += values[u] * total
        fill.append(count)
        weighted_fill.append(weighted)
    return fill, weighted_fill


def by_products(neighbors: Sequence[int], values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the results of `added_edges` by matrix products."""
    n = len(neighbors)
    n_bytes = -(-n // 8)
    raw = b"".join([mask.to_bytes(n_bytes, "little") for mask in neighbors])
    bits = np.frombuffer(raw, dtype=np.uint8).reshape(n, n_bytes)
    adjacency = np.unpackbits(bits, axis=1, bitorder="little")[:, :n].astype(np.float64)
    results = []
    for x in (np.ones(n), np.array(values, dtype=np.float64)):
        weighed = adjacency * x
        adjacent = ((weighed @ adjacency) * weighed).sum(axis=1)
        doubled = weighed.sum(axis=1) ** 2 - (weighed * x).sum(axis=1) - adjacent
        results.append((doubled.astype(np.int64) // 2).tolist())
    return results[0], results[1]


# --- The graph without its simplicial vertices, on which searches for elimination orders work -----
#
#

MANTISSA = 11
"""The number of leading bits of a score by which its logarithm is looked up."""

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

_HEAVIEST = 128
"""The binary logarithm of the most cells of the clique of a light vertex."""


@dataclass(frozen=True, kw_only=True)
class Core:
    """A graph with the cost of the elimination of each vertex; sets are bit masks."""

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
    fill: tuple[int, ...]
    """The number of edges that the elimination of each vertex would add."""
    weight: tuple[int, ...]
    """The logarithm of the size of its elimination clique."""
    weighted_fill: tuple[int, ...]
    """The sum over the edges added of the product of the values of their ends."""

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
    first, covered = _simplicial(around)
    gone = set(first)
    core_vertices = [v for v in range(graph.n) if v not in gone]
    if len(core_vertices) > MOST_SEARCHED:
        weights = [logarithm(size, MOST_FRACTION) for size in graph.sizes]
        heaviest = _HEAVIEST << MOST_FRACTION
        light, more = peeled(around, weights, core_vertices, most=MOST_SEARCHED, heaviest=heaviest)
        first += light
        covered |= more
        gone.update(light)
        core_vertices = [v for v in core_vertices if v not in gone]
    place = {v: i for i, v in enumerate(core_vertices)}
    inside = (
        [clique for clique in covered if clique and gone.isdisjoint(clique)]
        if core_vertices
        else []
    )
    return (
        first,
        core_vertices,
        scored(
            [placed(around[v], place) for v in core_vertices],
            [graph.sizes[v] for v in core_vertices],
            sorted(placed(clique, place) for clique in inside),
        ),
    )


def _simplicial(around: list[set[int]]) -> tuple[list[int], set[frozenset[int]]]:
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
    """Return a graph, given by bit masks, with the scores of its vertices.

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
    logarithms = [logarithm(size, fraction) for size in sizes]
    largest = math.isqrt(2**_ROOM // max(pairs, 1))
    values = [min(size, largest) for size in sizes]
    fill, weighted_fill = added_edges(neighbors, values)
    weight = [
        logarithms[v] + sum([logarithms[u] for u in bits(around)])
        for v, around in enumerate(neighbors)
    ]
    return Core(
        neighbors=tuple(neighbors),
        sizes=tuple(float(size) if size < _LARGEST_FLOAT else _LARGEST_FLOAT for size in sizes),
        logarithms=tuple(logarithms),
        values=tuple(values),
        covered=tuple(covered),
        fraction=fraction,
        fill_bits=fill_bits,
        fill=tuple(fill),
        weight=tuple(weight),
        weighted_fill=tuple(weighted_fill),
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


@cache
def logarithm_table(fraction: int) -> tuple[int, ...]:
    """Return the binary logarithms of 1 to 2^`MANTISSA` - 1 in fixed-point numbers, 0 for 0."""
    scale = 1 << fraction
    return (0, *(round(math.log2(x) * scale) for x in range(1, 1 << MANTISSA)))
