"""Greedy passes and hill climbs, compiled: their arrays and their kernels."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind._values import remembered
from bnmind.errors import InvalidArgumentError
from bnmind.junction.triangulation.greedy import (
    MANTISSA,
    WORK_OF_A_PASS,
    Climb,
    Core,
    Pass,
    Score,
    logarithm_table,
)

# --- Sets of vertices as the bits of 64-bit words, for kernels ------------------------------------


@njit
def lowest_bit(word: int) -> int:
    """Return the number of the lowest bit of a word that is not zero."""
    return bit_count((word & (~word + np.uint64(1))) - np.uint64(1))


@njit
def bit_count(word: Any) -> int:
    """Return the number of ones of a word."""
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


# --- A core and the state of a greedy pass as arrays ----------------------------------------------
#
# `bnmind.junction.triangulation.greedy_kernel` works on them.
#
# The neighbors of every vertex are stored twice: as a row of bits, to test whether two vertices are
# neighbors, and as a list, to iterate over them.

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.uint64]
Lists: TypeAlias = NDArray[np.uint32]


class CoreArrays(NamedTuple):
    """A core as arrays, which passes do not change."""

    rows: Words
    """(n, words) the neighbors of each vertex as bits."""
    lists: Lists
    """(n, n) the neighbors of each vertex; the first `degrees` entries of a row count."""
    degrees: Ints
    sizes: Floats
    logarithms: Ints
    values: Ints
    fill: Ints
    weight: Ints
    weighted_fill: Ints
    pending: Words
    """(words,) the cliques of which no vertex has been eliminated."""
    waiting: Words
    """(n, words) the cliques of `pending` that contain each vertex."""
    clique_sizes: Ints
    """The number of vertices of each of these cliques. The clique left behind by vertex v
    is number v; those that were covered from the start follow."""
    table: Ints
    """Logarithms of small whole numbers."""


class PassArrays(NamedTuple):
    """The mutable state of a pass; the first nine arrays start as copies of those of the core.

    Consecutive passes over a core use the same arrays.
    """

    rows: Words
    lists: Lists
    degrees: Ints
    fill: Ints
    weight: Ints
    weighted_fill: Ints
    pending: Words
    waiting: Words
    clique_sizes: Ints
    around: Ints
    """The sum of the values of the neighbors of each vertex."""
    keys: Ints
    """The key of each vertex; the vertex with the least key is eliminated next."""
    stale: NDArray[np.bool_]
    """Whether the key of each vertex must be computed again."""
    touched: Lists
    """The vertices whose keys are stale, as a list."""
    members: Lists
    """The neighbors of the vertex that is eliminated."""
    tried: Ints
    """The order of the pass that a climb tries."""


class KeyRule(NamedTuple):
    """The rule that computes the key of a vertex."""

    score: int
    """A `Score`."""
    fraction: int
    fill_bits: int


def bit_rows(masks: Sequence[int], n_bits: int) -> Words:
    """Return bit masks as rows of words."""
    n_words = max(1, -(-n_bits // 64))
    raw = b"".join(mask.to_bytes(8 * n_words, "little") for mask in masks)
    return np.frombuffer(raw, dtype="<u8").astype(np.uint64).reshape(len(masks), n_words)


def core_arrays(core: Core) -> CoreArrays:
    """Return a core as arrays, which are shared by all callers."""
    return remembered(core, "_arrays", lambda: _core_arrays(core))


def _core_arrays(core: Core) -> CoreArrays:
    n = core.n
    n_cliques = n + len(core.covered)
    rows = bit_rows(core.neighbors, n)
    members = np.unpackbits(rows.view(np.uint8), axis=1, bitorder="little")[:, :n].astype(bool)
    degrees = members.sum(axis=1, dtype=np.int64)
    lists = np.zeros((n, n), dtype=np.uint32)
    lists[np.arange(n) < degrees[:, None]] = np.nonzero(members)[1]
    holding = [0] * n
    for c, mask in enumerate(core.covered, n):
        while mask:
            low = mask & -mask
            holding[low.bit_length() - 1] |= 1 << c
            mask ^= low
    return CoreArrays(
        rows=rows,
        lists=lists,
        degrees=degrees,
        sizes=np.array(core.sizes, dtype=np.float64),
        logarithms=np.array(core.logarithms, dtype=np.int64),
        values=np.array(core.values, dtype=np.int64),
        fill=np.array(core.fill, dtype=np.int64),
        weight=np.array(core.weight, dtype=np.int64),
        weighted_fill=np.array(core.weighted_fill, dtype=np.int64),
        pending=bit_rows([(1 << n_cliques) - (1 << n)], n_cliques)[0],
        waiting=bit_rows(holding, n_cliques),
        clique_sizes=np.array(
            [0] * n + [mask.bit_count() for mask in core.covered], dtype=np.int64
        ),
        table=np.array(logarithm_table(core.fraction), dtype=np.int64),
    )


def pass_arrays(core: CoreArrays) -> PassArrays:
    """Return arrays for the state of passes over a core; each pass sets them first."""
    n = core.degrees.size
    return PassArrays(
        rows=np.empty_like(core.rows),
        lists=np.empty_like(core.lists),
        degrees=np.empty_like(core.degrees),
        fill=np.empty_like(core.fill),
        weight=np.empty_like(core.weight),
        weighted_fill=np.empty_like(core.weighted_fill),
        pending=np.empty_like(core.pending),
        waiting=np.empty_like(core.waiting),
        clique_sizes=np.empty_like(core.clique_sizes),
        around=np.empty(n, dtype=np.int64),
        keys=np.empty(n, dtype=np.int64),
        stale=np.empty(n, dtype=np.bool_),
        touched=np.empty(n, dtype=np.uint32),
        members=np.empty(n, dtype=np.uint32),
        tried=np.empty(n, dtype=np.int64),
    )


# --- The greedy passes of `bnmind.junction.triangulation.greedy`, compiled -------------------
#
# All scores are whole numbers, so the results are those of the pass in Python to the last bit.


class CompiledSearch:
    """Compiled greedy passes over one core, with the results of `PlainSearch`."""

    def __init__(self, core: Core) -> None:
        self._arrays = core_arrays(core)
        self._state = pass_arrays(self._arrays)
        self._fraction = core.fraction
        self._fill_bits = core.fill_bits
        self._n = core.n

    def greedy(self, score: Score, noise: Ints, limit: float = math.inf) -> Pass:
        """Return one pass; the noise has an entry for each vertex."""
        self._require_noise(noise.shape)
        order = np.empty(self._n, dtype=np.int64)
        completed, total, work = one_pass(
            self._arrays, self._state, self._rule(score), noise, float(limit), order
        )
        return Pass(order.tolist() if completed else None, total, work)

    def climb(self, score: Score, start: Climb, steps: Ints, most_work: float) -> Climb:
        """Return the result of a hill climb over steps of the noise."""
        self._require_noise(start.noise.shape)
        self._require_noise(steps.shape[1:])
        noise = start.noise.copy()
        order = np.empty(self._n, dtype=np.int64)
        total, passes, work, moved = _climb(
            self._arrays,
            self._state,
            self._rule(score),
            noise,
            steps,
            float(start.total),
            float(most_work),
            order,
        )
        return Climb(order.tolist() if moved else start.order, total, noise, passes, work)

    def _rule(self, score: Score) -> KeyRule:
        return KeyRule(int(score), self._fraction, self._fill_bits)

    def _require_noise(self, shape: tuple[int, ...]) -> None:
        """Raise InvalidArgumentError unless there is noise for each vertex."""
        if shape != (self._n,):
            raise InvalidArgumentError(
                f"expected noise for each of {self._n} vertices, got an array of shape {shape}",
                shape,
            )


@njit
def _adjacent(rows: Words, a: int, b: int) -> int:
    """Return 1 if two vertices are neighbors, otherwise 0."""
    return int((rows[a, b >> 6] >> np.uint64(b & 63)) & np.uint64(1))


@njit
def _is_covered(v: int, degree: int, waiting: Words, pending: Words, clique_sizes: Ints) -> bool:
    """Return whether the clique of v lies in an earlier one; its cliques are no longer pending."""
    is_covered = False
    for w in range(pending.size):
        word = waiting[v, w] & pending[w]
        if word:
            pending[w] &= ~word
            while word:
                c = (w << 6) + lowest_bit(word)
                word &= word - np.uint64(1)
                if clique_sizes[c] == degree + 1:
                    is_covered = True
    return is_covered


@njit
def _begin(core: CoreArrays, state: PassArrays) -> None:
    """Reset the state to the core before the first elimination."""
    state.rows[:] = core.rows
    state.degrees[:] = core.degrees
    state.fill[:] = core.fill
    state.weight[:] = core.weight
    state.weighted_fill[:] = core.weighted_fill
    state.pending[:] = core.pending
    state.waiting[:] = core.waiting
    state.clique_sizes[:] = core.clique_sizes
    state.stale[:] = True
    degrees, neighbors, values = core.degrees, core.lists, core.values
    lists, around, touched = state.lists, state.around, state.touched
    for v in range(degrees.size):
        touched[v] = v
        around[v] = 0
        for i in range(degrees[v]):
            u = neighbors[v, i]
            lists[v, i] = u
            around[v] += values[u]


@njit
def _key(rule: KeyRule, table: Ints, fill: int, weight: int, weighted_fill: int, noise: int) -> int:
    """Return the key of a vertex, see `Score`."""
    score = rule.score
    if score == 0:
        return (fill << (61 - rule.fill_bits)) + weight
    if score == 1:
        return (weight << rule.fill_bits) + fill
    if score == 2:
        return weighted_fill
    if fill == 0:
        return -0x4000000000000000
    if score == 4:
        return weight + noise
    x = fill if score == 3 else weighted_fill
    cut = 0
    while x >> cut >= 1 << MANTISSA:
        cut += 1
    key = int(table[x >> cut]) + (cut << rule.fraction)
    if score == 6:
        key += weight >> 1
    return key + noise


@njit
def _next(keys: Ints) -> int:
    """Return the first vertex with the least key, and mark it as eliminated."""
    last = np.int64(0x7FFFFFFFFFFFFFFF)
    least = last
    # The least key by vector instructions, then its first vertex.
    for u in range(keys.size):
        least = min(least, keys[u])
    v = 0
    while keys[v] != least:
        v += 1
    keys[v] = last
    return v


@njit
def _clique(v: int, rows: Words, sizes: Floats, members: Lists) -> float:
    """List the neighbors of a vertex, and return the size of the clique of all of them."""
    size = sizes[v]
    d = 0
    for w in range(rows.shape[1]):
        word = rows[v, w]
        while word:
            u = (w << 6) + lowest_bit(word)
            word &= word - np.uint64(1)
            members[d] = u
            d += 1
            size *= sizes[u]
    return float(size)


@njit
def _detach(core: CoreArrays, state: PassArrays, v: int, degree: int, added: int) -> None:
    """Remove an eliminated vertex from its neighbors, whose keys become stale."""
    values, logarithms = core.values, core.logarithms
    rows, lists, degrees, members = state.rows, state.lists, state.degrees, state.members
    fill, weight, weighted_fill = state.fill, state.weight, state.weighted_fill
    around, stale, touched, waiting = state.around, state.stale, state.touched, state.waiting
    word, bit_of_v = v >> 6, np.uint64(1) << np.uint64(v & 63)
    state.pending[word] |= bit_of_v
    state.clique_sizes[v] = degree
    around_v = around[v]
    for i in range(degree):
        u = int(members[i])
        touched[i] = u
        stale[u] = True
        waiting[u, word] |= bit_of_v
        rows[u, word] &= ~bit_of_v
        last = degrees[u] - 1
        degrees[u] = last
        j = 0
        while lists[u, j] != v:
            j += 1
        lists[u, j] = lists[u, last]
        # An edge to v will not be added for the neighbors of u that are not neighbors of v. Without
        # pairs of neighbors of v that are not adjacent, their number would be `last + 1 - degree`.
        around[u] -= values[v]
        fill[u] -= last + 1 - degree
        weight[u] -= logarithms[v]
        weighted_fill[u] -= values[v] * (around[u] + values[u] - around_v)
    if added:
        value_of_v = values[v]
        for i in range(degree):
            a = int(members[i])
            value_of_a = value_of_v * values[a]
            count = value = 0
            for k in range(i + 1, degree):
                b = int(members[k])
                missing = 1 - _adjacent(rows, a, b)
                count += missing
                value += missing * values[b]
                fill[b] -= missing
                weighted_fill[b] -= missing * value_of_a
            fill[a] -= count
            weighted_fill[a] -= value_of_v * value


@njit
def _connect(core: CoreArrays, state: PassArrays, degree: int) -> int:
    """Connect the neighbors of an eliminated vertex; return how many keys are stale."""
    values, logarithms = core.values, core.logarithms
    rows, lists, degrees, members = state.rows, state.lists, state.degrees, state.members
    fill, weight, weighted_fill = state.fill, state.weight, state.weighted_fill
    around, stale, touched = state.around, state.stale, state.touched
    n_stale = degree
    for i in range(degree):
        a = int(members[i])
        for k in range(i + 1, degree):
            b = int(members[k])
            if _adjacent(rows, a, b):
                continue
            product = values[a] * values[b]
            count = 0
            value = 0
            near, far = (a, b) if degrees[a] < degrees[b] else (b, a)
            for j in range(degrees[near]):
                x = int(lists[near, j])
                # Without branches, which would be as likely as not.
                common = _adjacent(rows, far, x)
                count += common
                value += common * values[x]
                fill[x] -= common
                weighted_fill[x] -= common * product
                touched[n_stale] = x
                n_stale += common & ~int(stale[x])
                stale[x] |= bool(common)
            fill[a] += degrees[a] - count
            fill[b] += degrees[b] - count
            weighted_fill[a] += values[b] * (around[a] - value)
            weighted_fill[b] += values[a] * (around[b] - value)
            around[a] += values[b]
            around[b] += values[a]
            weight[a] += logarithms[b]
            weight[b] += logarithms[a]
            lists[a, degrees[a]] = b
            degrees[a] += 1
            lists[b, degrees[b]] = a
            degrees[b] += 1
            rows[a, b >> 6] |= np.uint64(1) << np.uint64(b & 63)
            rows[b, a >> 6] |= np.uint64(1) << np.uint64(a & 63)
    return n_stale


@njit
def one_pass(
    core: CoreArrays, state: PassArrays, rule: KeyRule, noise: Ints, limit: float, order: Ints
) -> tuple[bool, float, int]:
    """Run one pass; return whether its total is within the limit, the total, and the work."""
    sizes, table = core.sizes, core.table
    rows, degrees = state.rows, state.degrees
    fill, weight, weighted_fill = state.fill, state.weight, state.weighted_fill
    pending, waiting, clique_sizes = state.pending, state.waiting, state.clique_sizes
    keys, stale, touched, members = state.keys, state.stale, state.touched, state.members
    _begin(core, state)
    n = degrees.size
    n_stale = n
    total = 0.0
    work = WORK_OF_A_PASS
    for step in range(n):
        for i in range(n_stale):
            u = int(touched[i])
            stale[u] = False
            keys[u] = _key(rule, table, fill[u], weight[u], weighted_fill[u], noise[u])
        v = _next(keys)
        order[step] = v
        degree, added = degrees[v], fill[v]
        size = _clique(v, rows, sizes, members)
        work += n // 8 + degree * (degree + added)
        if not _is_covered(v, degree, waiting, pending, clique_sizes):
            total += size
            if total > limit:
                return False, total, work
        if added == 0 and step + degree + 1 == n:
            for i in range(degree):
                order[step + 1 + i] = members[i]
            break
        _detach(core, state, v, degree, added)
        n_stale = _connect(core, state, degree) if added else degree
    return True, total, work


@njit
def _climb(
    core: CoreArrays,
    state: PassArrays,
    rule: KeyRule,
    noise: Ints,
    steps: Ints,
    current: float,
    most_work: float,
    order: Ints,
) -> tuple[float, int, int, bool]:
    """Climb from a noise and its total; return the total, passes, work, and whether it changed."""
    work = 0
    passes = 0
    moved = False
    while passes < steps.shape[0] and work < most_work:
        proposal = noise + steps[passes]
        completed, total, cost = one_pass(core, state, rule, proposal, current, state.tried)
        passes += 1
        work += cost
        if completed:
            noise[:] = proposal
            order[:] = state.tried
            current = total
            moved = True
    return current, passes, work, moved
