"""Greedy elimination orders, which always eliminate the currently cheapest variable.

References
----------
U. Kjærulff, "Triangulation of graphs - algorithms giving small total state space",
Aalborg University, Research Report R-90-09 (1990).
"""

from __future__ import annotations

import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cache
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._jit import PlainWork, compiles, njit, run_plainly
from bnmind._values import Count, Natural, NonNegative, Value, latest, remembered
from bnmind.junction.graphs import EliminationOrder, InteractionGraph, bits, measured_order
from bnmind.junction.triangulation.cores import Core, core_of, whole_graph

Ints: TypeAlias = NDArray[np.int64]

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


def _lists(core: Core, width: int) -> tuple[_Fixed, _Graph, list[int]]:
    """Return a core as lists, for words of some bits: the graph without edges, and the edges."""
    n, n_cliques = core.n, core.n + len(core.covered)
    waiting = [0] * n
    for c, clique in enumerate(core.covered, n):
        for v in bits(clique):
            waiting[v] |= 1 << c
    edges, touched = _rows(core.neighbors, n, width), _rows([(1 << n) - 1], n, width)
    first = _Graph(
        rows=[0] * len(edges),
        degrees=[0] * n,
        fill=[0] * n,
        weight=list(core.logarithms),
        around=[0] * n,
        weighted_fill=[0] * n,
        touched=touched,
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
    return fixed, first, edges


@cache
def _logarithms(fraction: int) -> Ints:
    """Return the binary logarithms of 1 to 2^`_MANTISSA` - 1 in fixed-point numbers, 0 for 0."""
    scale = 1 << fraction
    return np.array([0, *(round(math.log2(x) * scale) for x in range(1, 1 << _MANTISSA))])


def _rows(masks: Sequence[int], n_bits: int, width: int) -> list[int]:
    """Return bit masks as rows of words, one after another."""
    word = (1 << width) - 1
    return [mask >> i & word for mask in masks for i in range(0, n_bits, width)]


def _plain(core: Core) -> tuple[_Fixed, _Graph]:
    """Return a core for passes in Python."""
    fixed, first, edges = _lists(core, core.n + len(core.covered))
    run_plainly(_join, fixed, first, edges)
    return fixed, first


def _compiled(core: Core) -> tuple[_Fixed, _Graph]:
    """Return a core for passes in machine code."""
    fixed, first, edges = _lists(core, _WORD)
    fixed = _Fixed._make([np.array(x) if isinstance(x, list) else x for x in fixed])
    first = _Graph(*map(np.array, first))
    _join(fixed, first, np.array(edges))
    return fixed, first


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
    if plain:
        known = remembered(core, "_plain", lambda: _plain(core))
        lists = noise.tolist(), rest.tolist(), order.tolist()
        found = run_plainly(climb, known, int(score), *lists[:2], *limits, lists[2])
        noise, order = np.array(lists[0], dtype=np.int64), np.array(lists[2], dtype=np.int64)
    else:
        known = remembered(core, "_compiled", lambda: _compiled(core))
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


# --- Randomized greedy elimination orders, a hill climb on the scores of greedy passes ------------
#
# Each pass eliminates the variable with the least score, where each score has its own multiplier.
# The multipliers perform a random walk: the search accepts slightly different multipliers if their
# order is not worse. A chain without progress is replaced by a chain with the next score and no
# multipliers. A pass ends early if it is worse than the current order of the chain.
#
# The search ends when its cost reaches that of the propagation. It counts operations instead of
# time, so the same graph and seed get the same order on any machine.

_SCORES = (
    (Score.FILL, Score.NOISY_FILL),
    (Score.WEIGHTED_FILL, Score.NOISY_WEIGHTED_FILL),
    (Score.WEIGHT, Score.NOISY_WEIGHT),
    (Score.NOISY_MIXTURE, Score.NOISY_MIXTURE),
)
"""The scores, without multipliers and with them."""

_STEPS = (0.5, 1.0, 2.0, 4.0)
"""Spreads of one step of the logarithms of the multipliers, in bits. Each spread is used for one
chain with every score, in turn."""

_WORK_PER_CELL = 0.2
"""Work of the search that takes as long as the propagation of a cell, both ways."""

_MANY_VERTICES = 100
"""The number of vertices above which a search may cost more than the propagation."""

_CELLS_OF_A_PAIR = 20
"""The number of cells that each pair of vertices counts for. With more pairs there are better
orders to find and more messages, which have a cost besides their cells."""

_LEAST_WORK = 1_000
"""The least limit of a search besides its plain passes: about a tenth of a millisecond in Python,
about the time of a run with a small tree."""

_LEAST_WORK_OF_EFFORT = 4_000
"""The least limit for an effort above one, before it is multiplied by the effort."""

MOST_WORK = 200_000_000
"""The most work of several searches that share it, at an effort of one: half a second, compiled."""

_MOST_WORK_OF_ONE = MOST_WORK // 2
"""The most work of one randomized greedy search."""

_MOST_UNCOMPILED = 160_000
"""The most work of a search that does not wait for the compiler."""

_MOST_IN_PYTHON = 36_000
"""The limit of such a search at an effort of one, because Python takes longer for the same work."""

_FEW_VERTICES = 100
"""The most vertices of a core whose passes do not wait for the compiler."""


class Start(NamedTuple):
    """The first pass over a graph: simplicial variables, then min-fill."""

    first: list[int]
    """The simplicial vertices of the graph, in order."""
    kept: list[int]
    """The vertices of its core."""
    core: Core
    found: Climb
    """The pass over the core."""

    @property
    def is_over(self) -> bool:
        """Whether the pass exceeded its limit."""
        return len(self.found.order) < self.core.n

    def order(self, graph: InteractionGraph) -> EliminationOrder | None:
        """Return the order of the pass; None if the pass exceeded its limit."""
        if self.is_over:
            return None
        return measured_order(graph, self.whole(self.found.order), method="min-fill")

    def whole(self, order: Sequence[int]) -> list[int]:
        """Return an order of the core's vertices as one of the graph's."""
        return [*self.first, *(self.kept[v] for v in order)]


@dataclass(frozen=True)
class RandomizedGreedy(Value):
    """The best of many greedy orders with random scores; equal seeds give equal orders.

    Simplicial variables are eliminated first. The search includes the greedy orders without
    multipliers, so it is never worse than `MinFill` and `WeightedMinFill`.
    """

    effort: NonNegative = 1.0
    """The work of the search, as a multiple of the work of the propagation."""
    restarts: Natural | None = None
    """The number of passes with multipliers, whatever they cost; None uses the effort."""
    patience: Count = 25
    """The number of consecutive passes without an improvement after which a chain ends."""
    seed: int = 0
    """The seed of the multipliers."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the best order found, with its sizes."""
        order, _ = self.within(graph)
        assert order is not None  # without a limit
        return order

    def within(
        self,
        graph: InteractionGraph,
        *,
        most: float = math.inf,
        limit: float = math.inf,
    ) -> tuple[EliminationOrder | None, int]:
        """Return the best order found within a limit of work, and the work done.

        Parameters
        ----------
        graph
            The graph.
        most
            The limit of the work. The first greedy pass runs at any cost, and a pass that has
            started is finished.
        limit
            If the order of the first pass has more cells, the method returns None for the order.
        """
        start = started(graph, limit)
        if start.is_over:
            return None, start.found.work
        best = self._search(start, most) if start.core.n else start.found
        method = f"randomized greedy ({best.passes} passes)"
        return measured_order(graph, start.whole(best.order), method=method), best.work

    def wanted(self, cells: int, n: int) -> float:
        """Return the work that pays for a tree with ``cells`` cells and ``n`` variables."""
        return math.inf if self.restarts is not None else _budget(self.effort, n, cells)

    def _search(self, start: Start, most: float) -> Climb:
        """Return the best order of a core, the passes with multipliers, and the work of all."""
        core = start.core
        is_large = _is_large(core)
        plain = [(start.found, _SCORES[0][1])]
        work = start.found.work
        for score, noisy in _SCORES[1:]:
            if work >= most:
                break
            found = greedy_pass(core, score, is_large=is_large)
            work += found.work
            plain.append((found, noisy))
        plain.sort(key=lambda pair: pair[0].total)
        best = plain[0][0]

        def left() -> float:
            if self.restarts is not None:
                return most - work
            return min(most, _budget(self.effort, core.n, best.total)) - work

        is_large = is_large or (self.restarts is None and left() > _MOST_UNCOMPILED)
        rng = np.random.default_rng(self.seed)
        scale = 1 << core.fraction
        passes = chain = improved = 0
        current, noisy = plain[0]
        standing = True
        while left() > 0:
            if standing:
                # The search ends after many chains without an improvement.
                if self.restarts is None and chain - improved > 4 + core.n // 4:
                    break
                current, noisy = plain[chain % len(plain)]
                spread = scale * _STEPS[chain // len(plain) % len(_STEPS)]
                chain += 1
            count = self.patience
            if self.restarts is not None:
                count = min(count, self.restarts - passes)
            if count <= 0:
                break
            steps = _steps(core.n, count, spread, rng)
            before = current.total
            current = climbed(core, noisy, current, steps, left(), is_large=is_large)
            passes += current.passes
            work += current.work
            standing = current.total == before
            if current.total < best.total:
                best = current
                improved = chain
        return best._replace(passes=passes, work=work)


def started(graph: InteractionGraph, limit: float = math.inf) -> Start:
    """Return the start of a search: simplicial variables first, then min-fill.

    The pass stops when its cliques exceed ``limit`` cells. It runs once, whoever asks for it.
    """
    return latest(graph, "_starts", limit, lambda: _started(graph, limit))


def _started(graph: InteractionGraph, limit: float) -> Start:
    first, kept, core = core_of(graph)
    return Start(first, kept, core, greedy_pass(core, Score.FILL, limit, is_large=_is_large(core)))


def _is_large(core: Core) -> bool:
    """Return whether the passes over a core are worth waiting for the compiler."""
    return core.n > _FEW_VERTICES


def _budget(effort: float, n: int, cells: float) -> float:
    """Return the work for a search in a core of n vertices whose best order has ``cells`` cells."""
    cells += _CELLS_OF_A_PAIR * n**2
    # A larger core has more room for improvement, and each pass costs more.
    share = _WORK_PER_CELL * math.sqrt(max(1.0, n / _MANY_VERTICES))
    least = _LEAST_WORK if effort <= 1 else _LEAST_WORK_OF_EFFORT
    work = effort * min(max(share * cells, least), _MOST_WORK_OF_ONE)
    if work <= _MOST_UNCOMPILED:
        return min(work, max(effort, 1.0) * _MOST_IN_PYTHON)
    return work


def _steps(n: int, count: int, spread: float, rng: np.random.Generator) -> Ints:
    """Return random steps of n multipliers, one a row."""
    # A step changes a few variables or all, because both small and wide moves are needed.
    moved = rng.random((count, n)) < rng.random((count, 1))
    return (spread * moved * rng.standard_normal((count, n))).astype(np.int64)
