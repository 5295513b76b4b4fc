"""Greedy elimination orders, which always eliminate the currently cheapest variable.

References
----------
U. Kjærulff, "Triangulation of graphs - algorithms giving small total state space",
Aalborg University, Research Report R-90-09 (1990).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from heapq import heapify, heappop, heappush
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import remembered
from bnmind.junction.graphs import EliminationOrder, InteractionGraph, bits, measured_order

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

_HEAVIEST_SCORE = 128
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
        heaviest = _HEAVIEST_SCORE << MOST_FRACTION
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


# A greedy pass, which repeatedly eliminates the vertex of least score and updates the scores.
#
# A pass updates only the scores that an elimination changes. When v is eliminated, the missing
# edges between v and the other neighbors of a neighbor u no longer count for u. When an edge {a, b}
# is added, it no longer counts for the common neighbors of a and b, and the missing edges from b to
# the neighbors of a count for a. A pass ends early if its cliques exceed a limit, and it counts its
# work. `bnmind.junction.triangulation.greedy_kernel` is the compiled twin, with the same order,
# total and work.

WORK_OF_A_PASS = 500
"""The work of a pass besides its eliminations."""


class Score(IntEnum):
    """The score of a vertex; the smallest is best, and ties go to the first vertex.

    With `NOISY_…` scores the logarithm is shifted by the vertex's noise, and vertices whose
    elimination adds no edge always go first.
    """

    FILL = 0
    """Edges added, then clique size."""
    WEIGHT = 1
    """Clique size, then edges added."""
    WEIGHTED_FILL = 2
    """Sum over the edges added of the product of the sizes of their ends."""
    NOISY_FILL = 3
    NOISY_WEIGHT = 4
    NOISY_WEIGHTED_FILL = 5
    NOISY_MIXTURE = 6
    """Weighted fill times the square root of the clique size."""


class Pass(NamedTuple):
    """The result of a pass."""

    order: Sequence[int] | None
    """All vertices in the order of elimination; None if the pass ended early."""
    total: float
    """Sum of the sizes of the maximal cliques, in cells."""
    work: int
    """The counted work; units take about the same time."""


class Climb(NamedTuple):
    """The state of a hill climb on the noise."""

    order: Sequence[int]
    """The order of the current pass."""
    total: float
    """The total size of this order, in cells."""
    noise: NDArray[np.int64]
    """The noise of this pass."""
    passes: int = 0
    """The number of passes so far."""
    work: int = 0
    """The counted work of all passes."""


@dataclass(frozen=True)
class PlainSearch:
    """Greedy passes over one core, in Python."""

    core: Core

    def greedy(
        self,
        score: Score,
        noise: NDArray[np.int64],
        limit: float = math.inf,
        most_work: float = math.inf,
    ) -> Pass:
        """Return one pass, which ends early if it exceeds a limit of cells or of work."""
        return greedy_pass(self.core, score, noise.tolist(), limit, most_work)

    def climb(
        self, score: Score, start: Climb, steps: NDArray[np.int64], most_work: float
    ) -> Climb:
        """Return the result of a hill climb over steps of the noise.

        The climb takes a step if its order is not worse than the current one.

        Parameters
        ----------
        score
            One of the noisy scores.
        start
            The initial state; its counts of passes and work are ignored.
        steps
            ``(passes, n)`` changes of the noise, each proposed once.
        most_work
            The work after which no further pass starts.
        """
        order, total, noise = start[:3]
        passes = work = 0
        for step in steps:
            if work >= most_work:
                break
            proposal = noise + step
            result = greedy_pass(self.core, score, proposal.tolist(), total)
            passes += 1
            work += result.work
            if result.order is not None:
                order, total, noise = result.order, result.total, proposal
        return Climb(order, total, noise, passes, work)


def greedy_pass(
    core: Core,
    score: Score,
    noise: Sequence[int],
    limit: float = math.inf,
    most_work: float = math.inf,
) -> Pass:
    """Return the greedy order of a score, or end early if its total or its work exceeds a limit.

    Parameters
    ----------
    core
        The graph with its first scores.
    score
        The score.
    noise
        A shift of each vertex's score, on the scale of ``core.logarithms``; used by the
        noisy scores only.
    limit
        The most cells.
    most_work
        The most work.
    """
    neighbors = list(core.neighbors)
    fill, weight = list(core.fill), list(core.weight)
    weighted_fill = list(core.weighted_fill)
    weighted = score in (Score.WEIGHTED_FILL, Score.NOISY_WEIGHTED_FILL, Score.NOISY_MIXTURE)
    values, sizes, logarithms = core.values, core.sizes, core.logarithms
    graph = _Graph(neighbors, fill, weight, weighted_fill, values, logarithms)
    key = _key(core, score, noise, fill, weight, weighted_fill)
    n = core.n
    last = 1 << 63
    keys = [key(v) for v in range(n)]
    covered = set(core.covered)
    order = []
    total = 0.0
    work = WORK_OF_A_PASS
    for _ in range(n):
        v = keys.index(min(keys))
        keys[v] = last
        order.append(v)
        gone = 1 << v
        around = mask = neighbors[v]
        clique = around | gone
        members = []
        while mask:
            low = mask & -mask
            members.append(low.bit_length() - 1)
            mask ^= low
        added = fill[v]
        work += n // 8 + len(members) * (len(members) + added)
        if work > most_work:
            return Pass(None, total, work)
        if clique not in covered:
            size = sizes[v]
            for u in members:
                size *= sizes[u]
            total += size
            if total > limit:
                return Pass(None, total, work)
        if not added and len(order) + len(members) == n:
            # The rest is a clique that lies in this one.
            order += members
            break
        covered.add(around)
        value, logarithm = values[v], logarithms[v]
        for u in members:
            neighbors[u] ^= gone
            weight[u] -= logarithm
            away = neighbors[u] & ~around
            if away:
                fill[u] -= away.bit_count()
                if weighted:
                    weighted_fill[u] -= value * _sum(values, away)
        touched = around
        if added:
            touched |= _connect(graph, members, around, weighted=weighted)
        while touched:
            low = touched & -touched
            touched ^= low
            u = low.bit_length() - 1
            keys[u] = key(u)
    return Pass(order, total, work)


class _Graph(NamedTuple):
    """A graph during a pass, see `Core`; the pass changes its lists, which are by vertex."""

    neighbors: list[int]
    """The neighbors as bit masks."""
    fill: list[int]
    """The number of edges that the elimination of the vertex would add."""
    weight: list[int]
    """The logarithm of the size of its elimination clique."""
    weighted_fill: list[int]
    """The sum over these edges of the product of the values of their ends."""
    values: Sequence[int]
    """The numbers of states, bounded so that weighted fill fits 62 bits."""
    logarithms: Sequence[int]
    """The logarithms of the numbers of states."""


def _connect(graph: _Graph, members: Sequence[int], around: int, *, weighted: bool) -> int:
    """Connect the neighbors of an eliminated vertex; return the vertices with changed scores.

    Parameters
    ----------
    graph
        The graph; the function changes its edges and scores.
    members, around
        The neighbors, as numbers and as a bit mask.
    weighted
        Whether to update the weighted fill.

    Returns
    -------
    int
        Other vertices whose scores have changed, as a bit mask.
    """
    neighbors, fill, weight, weighted_fill, values, logarithms = graph
    touched = 0
    for a in members:
        missing = around & ~neighbors[a] & -(2 << a)
        while missing:
            low = missing & -missing
            missing ^= low
            b = low.bit_length() - 1
            of_a, of_b = neighbors[a], neighbors[b]
            common = of_a & of_b
            touched |= common
            product = values[a] * values[b]
            while common:
                both = common & -common
                common ^= both
                x = both.bit_length() - 1
                fill[x] -= 1
                weighted_fill[x] -= product
            fill[a] += (of_a & ~of_b).bit_count()
            fill[b] += (of_b & ~of_a).bit_count()
            if weighted:
                weighted_fill[a] += values[b] * _sum(values, of_a & ~of_b)
                weighted_fill[b] += values[a] * _sum(values, of_b & ~of_a)
            weight[a] += logarithms[b]
            weight[b] += logarithms[a]
            neighbors[a] = of_a | low
            neighbors[b] = of_b | 1 << a
    return touched


def _sum(values: Sequence[int], mask: int) -> int:
    total = 0
    while mask:
        low = mask & -mask
        total += values[low.bit_length() - 1]
        mask ^= low
    return total


def _key(
    core: Core,
    score: Score,
    noise: Sequence[int],
    fill: Sequence[int],
    weight: Sequence[int],
    weighted_fill: Sequence[int],
) -> Callable[[int], int]:
    """Return the key of a vertex, which must fit 62 bits."""
    shift = core.fraction
    table = logarithm_table(shift)
    if score == Score.FILL:
        width = 61 - core.fill_bits
        return lambda v: (fill[v] << width) + weight[v]
    if score == Score.WEIGHT:
        width = core.fill_bits
        return lambda v: (weight[v] << width) + fill[v]
    if score == Score.WEIGHTED_FILL:
        return lambda v: weighted_fill[v]

    least = -(1 << 62)
    by_weight, mixed = score == Score.NOISY_WEIGHT, score == Score.NOISY_MIXTURE
    scores = fill if score == Score.NOISY_FILL else weighted_fill

    def noisy(v: int) -> int:
        if not fill[v]:
            return least
        if by_weight:
            return weight[v] + noise[v]
        x = scores[v]
        cut = max(x.bit_length() - MANTISSA, 0)
        logarithm = table[x >> cut] + (cut << shift)
        if mixed:
            logarithm += weight[v] >> 1
        return logarithm + noise[v]

    return noisy


# --- Greedy elimination orders, which always eliminate the currently cheapest variable ------------
#
# References
# ----------
# U. Kjærulff, "Triangulation of graphs - algorithms giving small total state space",
# Aalborg University, Research Report R-90-09 (1990).

_HEAVIEST = 48
"""The binary logarithm of the most cells of a clique of a tree that may be compiled."""


def _greedy_order(graph: InteractionGraph, score: Score, method: str) -> EliminationOrder:
    order = greedy_pass(whole_graph(graph), score, ()).order
    assert order is not None  # without a limit a pass always ends
    return measured_order(graph, order, method=method)


@dataclass(frozen=True)
class MinFill:
    """Eliminates the variable that adds the fewest edges; ties by clique size, then place."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        return _greedy_order(graph, Score.FILL, "min-fill")


@dataclass(frozen=True)
class MinWeight:
    """Eliminates the variable with the smallest clique; ties by added edges, then place."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        return _greedy_order(graph, Score.WEIGHT, "min-weight")


@dataclass(frozen=True)
class WeightedMinFill:
    """Eliminates the variable whose added edges have the least sum of products of sizes."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes."""
        return _greedy_order(graph, Score.WEIGHTED_FILL, "weighted min-fill")


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
