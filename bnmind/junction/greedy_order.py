"""Greedy elimination orders, which always eliminate the currently cheapest variable.

References
----------
U. Kjærulff, "Triangulation of graphs - algorithms giving small total state space",
Aalborg University, Research Report R-90-09 (1990).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._jit import PlainWork, compiles, njit, run_plainly
from bnmind._values import remembered
from bnmind.junction.graphs import EliminationOrder, InteractionGraph, bits, measured_order

Ints: TypeAlias = NDArray[np.int64]

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
    heaviest: float,
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
        The vertices that may be eliminated.
    most
        The limit for those that remain.
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
            if u in weight:
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


# --- Greedy passes, which repeatedly eliminate the vertex of least score, and climbs on their noise
#
# A pass connects the neighbors of a vertex with each other, and removes the vertex. It updates only
# the scores that this changes: an added edge no longer counts for the common neighbors of its ends,
# and the missing edges from one end to the neighbors of the other count for the latter. The first
# scores are those of a graph to which all edges of the core have been added. A pass ends early if
# its cliques exceed a limit, and it counts its work.
#
# The kernels run as Python functions too, with the same order, total and work, until compiled ones
# are worth waiting for. Rows of words hold sets of vertices. In machine code, a word has 62 bits.
# In Python, where numbers have any length, one word is usually a whole set, and lists of numbers
# take the place of arrays.

Numbers: TypeAlias = Any
"""An array in machine code; a list of Python's numbers in Python."""

_MANTISSA = 11
"""The number of leading bits of a score by which its logarithm is looked up."""

WORK_OF_A_PASS = 500
"""The work of a pass besides its eliminations."""

_WORD = 62
"""The bits of a word in machine code, with room for a sign and a carry."""

_FIRST, _LAST = -(1 << 62), (1 << 63) - 1
"""Keys of vertices that are eliminated first, and that are gone."""


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


class _Fixed(NamedTuple):
    """What passes do not change."""

    n_words: int
    """The words of a row."""
    width: int
    """The bits of a word."""
    word: Numbers
    """The word of each vertex in a row."""
    bit: Numbers
    """Its bit in this word."""
    sizes: Numbers
    values: Numbers
    logarithms: Numbers
    """As in `Core`."""
    table: Numbers
    """Logarithms of small whole numbers."""
    fraction: int
    fill_bits: int
    """As in `Core`."""
    pending: Numbers
    """A row: the cliques of which no vertex has been eliminated. The clique that vertex v leaves
    behind is number v; those that were covered from the start follow."""
    waiting: Numbers
    """A row for each vertex: the cliques of `pending` that contain it."""
    clique_sizes: Numbers
    """The number of vertices of each of these cliques."""


class _Graph(NamedTuple):
    """A graph during a pass; the entries are by vertex."""

    rows: Numbers
    """The neighbors."""
    degrees: Numbers
    fill: Numbers
    """The number of edges that the elimination of the vertex would add."""
    weight: Numbers
    """The logarithm of the size of its elimination clique."""
    around: Numbers
    """The sum of the values of its neighbors."""
    weighted_fill: Numbers
    """The sum over the added edges of the product of the values of their ends."""
    touched: Numbers
    """A row: the vertices whose keys must be computed again."""


@njit
def _connect(
    fixed: _Fixed,
    graph: _Graph,
    members: Numbers,
    n_members: int,
    others: Numbers,
    start: int,
    is_weighted: bool,
) -> None:
    """Connect vertices with the later ones of a row of ``others``, which begins at ``start``."""
    n_words, width = fixed.n_words, fixed.width
    values, logarithms = fixed.values, fixed.logarithms
    rows, degrees, fill, weight, around, weighted_fill, touched = graph
    for i in range(n_members):
        a = members[i]
        word_of_a, bit_of_a, row_of_a = fixed.word[a], fixed.bit[a], a * n_words
        later = -2 * bit_of_a
        for w in range(word_of_a, n_words):
            missing = others[start + w] & later & ~rows[row_of_a + w]
            later = -1
            while missing:
                single = missing & -missing
                missing ^= single
                b = w * width + single.bit_length() - 1
                product = values[a] * values[b]
                count = value = 0
                for k in range(n_words):
                    common = rows[row_of_a + k] & rows[b * n_words + k]
                    touched[k] |= common
                    while common:
                        both = common & -common
                        common ^= both
                        x = k * width + both.bit_length() - 1
                        count += 1
                        fill[x] -= 1
                        if is_weighted:
                            value += values[x]
                            weighted_fill[x] -= product
                fill[a] += degrees[a] - count
                fill[b] += degrees[b] - count
                degrees[a] += 1
                degrees[b] += 1
                weight[a] += logarithms[b]
                weight[b] += logarithms[a]
                if is_weighted:
                    weighted_fill[a] += values[b] * (around[a] - value)
                    weighted_fill[b] += values[a] * (around[b] - value)
                    around[a] += values[b]
                    around[b] += values[a]
                rows[row_of_a + w] |= single
                rows[b * n_words + word_of_a] |= bit_of_a


@njit
def _copy(graph: _Graph) -> _Graph:
    """Return a copy of a graph."""
    return _Graph(
        graph.rows.copy(),
        graph.degrees.copy(),
        graph.fill.copy(),
        graph.weight.copy(),
        graph.around.copy(),
        graph.weighted_fill.copy(),
        graph.touched.copy(),
    )


@njit
def _clique(
    v: int, width: int, sizes: Numbers, rows: Numbers, touched: Numbers, members: Numbers
) -> tuple[int, float]:
    """List the neighbors of v, which become the touched vertices.

    Returns
    -------
    degree, size
        Their number, and the size of the clique of v and of them all.
    """
    n_words = len(touched)
    degree, size = 0, sizes[v]
    for w in range(n_words):
        word = touched[w] = rows[v * n_words + w]
        while word:
            single = word & -word
            word ^= single
            u = w * width + single.bit_length() - 1
            members[degree] = u
            degree += 1
            size *= sizes[u]
    return degree, size


@njit
def _is_covered(
    v: int, size: int, width: int, waiting: Numbers, pending: Numbers, clique_sizes: Numbers
) -> bool:
    """Return whether the clique of v lies in an earlier one; its cliques are no longer pending."""
    n_words = len(pending)
    is_covered = False
    for w in range(n_words):
        word = waiting[v * n_words + w] & pending[w]
        pending[w] ^= word
        while word:
            single = word & -word
            word ^= single
            if clique_sizes[w * width + single.bit_length() - 1] == size:
                is_covered = True
    return is_covered


@njit
def _one_pass(
    fixed: _Fixed,
    first: _Graph,
    score: int,
    noise: Numbers,
    limit: float,
    most_work: float,
    order: Numbers,
) -> tuple[bool, float, int]:
    """Run one pass; return whether it stayed within its limits, its total, and its work."""
    n_words, width = fixed.n_words, fixed.width
    values, logarithms, sizes, table = fixed.values, fixed.logarithms, fixed.sizes, fixed.table
    fill_bits, fraction = fixed.fill_bits, fixed.fraction
    graph = _copy(first)
    rows, degrees, fill, weight, around, weighted_fill, touched = graph
    pending, waiting = fixed.pending.copy(), fixed.waiting.copy()
    clique_sizes, members = fixed.clique_sizes.copy(), order.copy()
    n, n_clique_words = len(order), len(pending)
    keys = np.empty(n, dtype=np.int64)
    is_weighted = score == 2 or score >= 5
    total = 0.0
    work = WORK_OF_A_PASS
    for step in range(n):
        for w in range(n_words):
            word = touched[w]
            while word:
                single = word & -word
                word ^= single
                u = w * width + single.bit_length() - 1
                if score == 0:
                    key = (fill[u] << (61 - fill_bits)) + weight[u]
                elif score == 1:
                    key = (weight[u] << fill_bits) + fill[u]
                elif score == 2:
                    key = weighted_fill[u]
                elif fill[u] == 0:
                    key = _FIRST
                elif score == 4:
                    key = weight[u] + noise[u]
                else:
                    x = fill[u] if score == 3 else weighted_fill[u]
                    n_bits = x.bit_length()
                    cut = n_bits - _MANTISSA if n_bits > _MANTISSA else 0
                    key = table[x >> cut] + (cut << fraction) + noise[u]
                    if score == 6:
                        key += weight[u] >> 1
                keys[u] = key
        v = int(keys.argmin())
        keys[v] = _LAST
        order[step] = v
        degree, size = _clique(v, width, sizes, rows, touched, members)
        work += n // 8 + degree * (degree + fill[v])
        # The clique counts unless it lies in an earlier one.
        if not _is_covered(v, degree + 1, width, waiting, pending, clique_sizes):
            total += size
        if total > limit or work > most_work:
            return False, total, work
        if fill[v] == 0 and step + degree + 1 == n:
            for i in range(degree):
                order[step + 1 + i] = members[i]
            break
        if fill[v]:
            _connect(fixed, graph, members, degree, rows, v * n_words, is_weighted)
        word_of_v, bit_of_v = fixed.word[v], fixed.bit[v]
        touched[word_of_v] &= ~bit_of_v
        pending[word_of_v] |= bit_of_v
        clique_sizes[v] = degree
        for i in range(degree):
            u = members[i]
            waiting[u * n_clique_words + word_of_v] |= bit_of_v
            rows[u * n_words + word_of_v] ^= bit_of_v
            # The neighbors of v are neighbors of each other now.
            degrees[u] -= 1
            fill[u] -= degrees[u] + 1 - degree
            weight[u] -= logarithms[v]
            if is_weighted:
                around[u] -= values[v]
                weighted_fill[u] -= values[v] * (around[u] + values[u] - around[v])
    return True, total, work


@njit
def climb(
    core: tuple[_Fixed, _Graph],
    score: int,
    noise: Numbers,
    steps: Numbers,
    current: float,
    most_work: float,
    most_of_all: float,
    order: Numbers,
) -> tuple[float, int, int]:
    """Climb from a noise and its total; return the total, the passes, and their work.

    Parameters
    ----------
    core
        The core, and the graph before the first elimination.
    score
        A `Score`.
    noise, order
        The noise, and the order of its pass; the function changes them.
    steps
        The changes of the noise, one row after another.
    current
        The total of the order.
    most_work
        The work after which no further pass starts.
    most_of_all
        The work at which a pass is given up, and does not count.
    """
    n = len(order)
    fixed, first = core
    tried, proposal = order.copy(), noise.copy()
    work = passes = 0
    while passes * n < len(steps) and work < most_work:
        for v in range(n):
            proposal[v] = noise[v] + steps[passes * n + v]
        left = most_of_all - work
        is_better, total, cost = _one_pass(fixed, first, score, proposal, current, left, tried)
        if cost > left:
            break
        passes += 1
        work += cost
        if is_better:
            current = total
            noise[:] = proposal
            order[:] = tried
    return current, passes, work


@njit
def _join(fixed: _Fixed, graph: _Graph, edges: Numbers) -> None:
    """Add edges, given by a row for each vertex."""
    one = graph.degrees.copy()
    for v in range(len(one)):
        one[0] = v
        _connect(fixed, graph, one, 1, edges, v * fixed.n_words, True)


def _prepared(core: Core, *, is_plain: bool) -> tuple[_Fixed, _Graph]:
    """Return a core for passes in Python or in machine code."""
    n, n_cliques = core.n, core.n + len(core.covered)
    width = n_cliques if is_plain else _WORD
    waiting = [0] * n
    for c, clique in enumerate(core.covered, n):
        for v in bits(clique):
            waiting[v] |= 1 << c
    edges = _rows(core.neighbors, n, width)
    first = _Graph(
        rows=[0] * len(edges),
        degrees=[0] * n,
        fill=[0] * n,
        weight=list(core.logarithms),
        around=[0] * n,
        weighted_fill=[0] * n,
        touched=_rows([(1 << n) - 1], n, width),
    )
    fixed = _Fixed(
        n_words=-(-n // width),
        width=width,
        word=[v // width for v in range(n)],
        bit=[1 << v % width for v in range(n)],
        sizes=list(core.sizes),
        values=list(core.values),
        logarithms=list(core.logarithms),
        table=_logarithms(core.fraction).tolist(),
        fraction=core.fraction,
        fill_bits=core.fill_bits,
        pending=_rows([(1 << n_cliques) - (1 << n)], n_cliques, width),
        waiting=_rows(waiting, n_cliques, width),
        clique_sizes=[0] * n + [clique.bit_count() for clique in core.covered],
    )
    if is_plain:
        run_plainly(_join, fixed, first, edges)
    else:
        fixed = _Fixed._make([np.array(x) if isinstance(x, list) else x for x in fixed])
        first = _Graph(*map(np.array, first))
        _join(fixed, first, np.array(edges))
    return fixed, first


@cache
def _logarithms(fraction: int) -> Ints:
    """Return the binary logarithms of 1 to 2^`_MANTISSA` - 1 in fixed-point numbers, 0 for 0."""
    scale = 1 << fraction
    return np.array([0, *(round(math.log2(x) * scale) for x in range(1, 1 << _MANTISSA))])


def _rows(masks: Sequence[int], n_bits: int, width: int) -> list[int]:
    """Return bit masks as rows of words, one after another."""
    word = (1 << width) - 1
    return [mask >> i & word for mask in masks for i in range(0, n_bits, width)]


class Climb(NamedTuple):
    """The state of a hill climb on the noise, or the result of a pass."""

    order: Sequence[int]
    """All vertices in the order of the current pass; none if no pass was within the limit."""
    total: float
    """The total size of this order, in cells, or else the limit."""
    noise: NDArray[np.int64]
    """The noise of this pass."""
    passes: int = 0
    """The number of passes so far."""
    work: int = 0
    """The counted work of all passes; units take about the same time."""


_large_work = PlainWork(climb, if_cached=200_000)
"""The work of large searches in Python, before the kernels are compiled."""

_small_work = PlainWork(climb, sys.maxsize, if_cached=sys.maxsize)
"""The work of searches that never wait for the compiler."""


def climbed(
    core: Core,
    score: Score,
    start: Climb,
    steps: Ints,
    most_work: float = math.inf,
    *,
    is_large: bool = False,
) -> Climb:
    """Return the result of a hill climb over steps of the noise.

    The climb takes a step if its order is not worse than the current one.

    Parameters
    ----------
    core
        A graph of at least one vertex.
    score
        The score.
    start
        The initial state; its counts of passes and work are ignored.
    steps
        ``(passes, n)`` changes of the noise, on the scale of ``core.logarithms``; each is proposed
        once. Only the noisy scores use the noise.
    most_work
        The work after which no further pass starts.
    is_large
        Whether the climb is worth waiting for the compiler; this does not change the result.
    """
    allowed = _large_work if is_large else _small_work
    start = start._replace(passes=0, work=0)
    left = allowed.left
    if left:
        start = _run(core, score, start, steps, most_work, left)
        is_done = start.passes == len(steps) or start.work >= most_work
        allowed.spend(start.work if is_done else left)
        if is_done:
            return start
    return _run(core, score, start, steps, most_work, 0 if compiles() else math.inf)


def _run(
    core: Core, score: Score, start: Climb, steps: Ints, most_work: float, plain: float = 0
) -> Climb:
    """Continue a climb in machine code, or with some work in Python."""
    noise, order = start.noise.copy(), np.full(core.n, -1, dtype=np.int64)
    rest = steps[start.passes :].ravel()
    limits = float(start.total), float(most_work - start.work), float(plain or math.inf)
    mode = "_plain" if plain else "_compiled"
    known = remembered(core, mode, lambda: _prepared(core, is_plain=plain > 0))
    if plain:
        lists = noise.tolist(), rest.tolist(), order.tolist()
        found = run_plainly(climb, known, int(score), *lists[:2], *limits, lists[2])
        noise, order = np.array(lists[0], dtype=np.int64), np.array(lists[2], dtype=np.int64)
    else:
        found = climb(known, int(score), noise, rest, *limits, order)
    total, passes, work = found
    best = start.order if order[0] < 0 else order.tolist()
    return Climb(best, total, noise, start.passes + passes, start.work + work)


def greedy_pass(
    core: Core, score: Score, limit: float = math.inf, *, is_large: bool = False
) -> Climb:
    """Return one pass without noise, which has no order if its total exceeds a limit."""
    zero = np.zeros(core.n, dtype=np.int64)
    if not core.n:
        return Climb((), 0.0, zero)
    return climbed(core, score, Climb((), limit, zero), zero[None, :], is_large=is_large)


# --- Greedy elimination orders, which always eliminate the currently cheapest variable ------------
#
# References
# ----------
# U. Kjærulff, "Triangulation of graphs - algorithms giving small total state space",
# Aalborg University, Research Report R-90-09 (1990).


def _greedy_order(graph: InteractionGraph, score: Score, method: str) -> EliminationOrder:
    order = greedy_pass(whole_graph(graph), score).order
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
