"""The greedy passes of `bnmind.junction.triangulation.greedy_pass`, compiled.

Every vertex has its neighbors twice: as a row of bits, to ask whether two vertices are
neighbors, and as a list, to go through them. All scores are whole numbers, so the results
are those of the pass in Python to the last bit.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.errors import InvalidArgumentError
from bnmind.junction.triangulation.greedy_pass import WORK_OF_A_PASS, Climb, Pass, Score
from bnmind.junction.triangulation.scored_graph import MANTISSA, Core, logarithm_table

__all__ = ["CompiledSearch"]

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = NDArray[np.uint64]
Lists: TypeAlias = NDArray[np.uint32]


class _Arrays(NamedTuple):
    """A core as arrays."""

    rows: Words
    """(n, words) the neighbors of each vertex as bits."""
    lists: Lists
    """(n, n) the neighbors of each vertex, `degrees` of them."""
    degrees: Ints
    sizes: Floats
    logarithms: Ints
    values: Ints
    fill: Ints
    weight: Ints
    weighted_fill: Ints
    pending: Words
    """(words,) the cliques that are waiting for their first vertex to be eliminated."""
    waiting: Words
    """(n, words) the cliques of `pending` that hold each vertex."""
    clique_sizes: Ints
    """The number of vertices of each of these cliques. The clique left behind by vertex v
    is number v; those that were covered from the start follow."""
    table: Ints
    """Logarithms of small whole numbers."""


class CompiledSearch:
    """Greedy passes over one core; results are those of `PlainSearch`."""

    def __init__(self, core: Core) -> None:
        self._arrays = _arrays(core)
        self._fraction = core.fraction
        self._fill_bits = core.fill_bits
        self._n = core.n
        self._scratch = (
            np.empty_like(self._arrays.rows),
            np.empty_like(self._arrays.lists),
            np.empty_like(self._arrays.waiting),
            np.empty(core.n, dtype=np.int64),
        )

    def greedy(self, score: Score, noise: Ints, limit: float = math.inf) -> Pass:
        """Return one pass; the noise has an entry for each vertex."""
        self._require_noise(noise.shape)
        order = np.empty(self._n, dtype=np.int64)
        done, total, work = _pass(
            *self._arrays,
            *self._scratch[:3],
            noise,
            int(score),
            self._fraction,
            self._fill_bits,
            float(limit),
            order,
        )
        return Pass(order.tolist() if done else None, total, work)

    def climb(self, score: Score, start: Climb, steps: Ints, most_work: float) -> Climb:
        """Return where a hill climb over steps of the noise leads."""
        self._require_noise(start.noise.shape)
        self._require_noise(steps.shape[1:])
        noise = start.noise.copy()
        order = np.empty(self._n, dtype=np.int64)
        total, passes, work, found = _climb(
            *self._arrays,
            *self._scratch,
            noise,
            steps,
            int(score),
            self._fraction,
            self._fill_bits,
            float(start.total),
            float(most_work),
            order,
        )
        return Climb(order.tolist() if found else start.order, total, noise, passes, work)

    def _require_noise(self, shape: tuple[int, ...]) -> None:
        """Raise InvalidArgumentError unless there is noise for each vertex."""
        if shape != (self._n,):
            raise InvalidArgumentError(
                f"expected noise for each of {self._n} vertices, got an array of shape {shape}",
                shape,
            )


def _bit_rows(masks: Sequence[int], n_bits: int) -> Words:
    """Return bit masks as rows of words."""
    n_words = max(1, -(-n_bits // 64))
    raw = b"".join(mask.to_bytes(8 * n_words, "little") for mask in masks)
    return np.frombuffer(raw, dtype="<u8").astype(np.uint64).reshape(len(masks), n_words)


def _arrays(core: Core) -> _Arrays:
    n = core.n
    n_cliques = n + len(core.covered)
    rows = _bit_rows(core.neighbors, n)
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
    return _Arrays(
        rows,
        lists,
        degrees,
        np.array(core.sizes, dtype=np.float64),
        np.array(core.logarithms, dtype=np.int64),
        np.array(core.values, dtype=np.int64),
        np.array(core.fill, dtype=np.int64),
        np.array(core.weight, dtype=np.int64),
        np.array(core.weighted_fill, dtype=np.int64),
        _bit_rows([(1 << n_cliques) - (1 << n)], n_cliques)[0],
        _bit_rows(holding, n_cliques),
        np.array([0] * n + [mask.bit_count() for mask in core.covered], dtype=np.int64),
        np.array(logarithm_table(core.fraction), dtype=np.int64),
    )


@njit
def _adjacent(rows: Words, a: int, b: int) -> bool:
    return bool((rows[a, b >> 6] >> np.uint64(b & 63)) & np.uint64(1))


@njit
def _lowest(word: int) -> int:
    """Return the number of the lowest bit of a word that is not zero."""
    below = (word & (~word + np.uint64(1))) - np.uint64(1)
    x = below - ((below >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((x * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit
def _covered(v: int, degree: int, waiting: Words, pending: Words, clique_sizes: Ints) -> bool:
    """Tell whether the clique of v lies in an earlier one; its cliques wait no longer."""
    found = False
    for w in range(pending.size):
        word = waiting[v, w] & pending[w]
        if word:
            pending[w] &= ~word
            while word:
                c = (w << 6) + _lowest(word)
                word &= word - np.uint64(1)
                if clique_sizes[c] == degree + 1:
                    found = True
    return found


@njit
def _pass(
    rows_start: Words,
    lists_start: Lists,
    degrees_start: Ints,
    sizes: Floats,
    logarithms: Ints,
    values: Ints,
    fill_start: Ints,
    weight_start: Ints,
    weighted_fill_start: Ints,
    pending_start: Words,
    waiting_start: Words,
    clique_sizes_start: Ints,
    table: Ints,
    rows: Words,
    lists: Lists,
    waiting: Words,
    noise: Ints,
    score: int,
    fraction: int,
    fill_bits: int,
    limit: float,
    order: Ints,
) -> tuple[bool, float, int]:
    n = degrees_start.size
    last = np.int64(0x7FFFFFFFFFFFFFFF)
    one = np.uint64(1)
    rows[:] = rows_start
    waiting[:] = waiting_start
    around = np.zeros(n, dtype=np.int64)
    for v in range(n):
        for i in range(degrees_start[v]):
            lists[v, i] = lists_start[v, i]
            around[v] += values[lists_start[v, i]]
    degrees = degrees_start.copy()
    fill = fill_start.copy()
    weight = weight_start.copy()
    weighted_fill = weighted_fill_start.copy()
    pending = pending_start.copy()
    clique_sizes = clique_sizes_start.copy()
    keys = np.empty(n, dtype=np.int64)
    stale = np.ones(n, dtype=np.bool_)
    touched = np.arange(n).astype(np.uint32)
    n_touched = n
    members = np.empty(n, dtype=np.uint32)
    total = 0.0
    work = WORK_OF_A_PASS
    for step in range(n):
        for i in range(n_touched):
            u = int(touched[i])
            stale[u] = False
            if score == 0:
                key = (fill[u] << (61 - fill_bits)) + weight[u]
            elif score == 1:
                key = (weight[u] << fill_bits) + fill[u]
            elif score == 2:
                key = weighted_fill[u]
            elif fill[u] == 0:
                key = -np.int64(0x4000000000000000)
            else:
                if score == 4:
                    key = weight[u]
                else:
                    x = fill[u] if score == 3 else weighted_fill[u]
                    cut = 0
                    while x >> cut >= 1 << MANTISSA:
                        cut += 1
                    key = table[x >> cut] + (cut << fraction)
                    if score == 6:
                        key += weight[u] >> 1
                key += noise[u]
            keys[u] = key
        least = last
        v = 0
        for u in range(n):
            if keys[u] < least:
                least = keys[u]
                v = u
        keys[v] = last
        order[step] = v
        degree = degrees[v]
        size = sizes[v]
        d = 0
        for w in range(rows.shape[1]):
            word = rows[v, w]
            while word:
                u = (w << 6) + _lowest(word)
                word &= word - one
                members[d] = u
                d += 1
                size *= sizes[u]
        added = fill[v]
        work += n // 8 + degree * (degree + added)
        if not _covered(v, degree, waiting, pending, clique_sizes):
            total += size
            if total > limit:
                return False, total, work
        if added == 0 and step + degree + 1 == n:
            for i in range(degree):
                order[step + 1 + i] = members[i]
            break
        word_of_v = v >> 6
        bit_of_v = one << np.uint64(v & 63)
        pending[word_of_v] |= bit_of_v
        clique_sizes[v] = degree
        n_touched = 0
        for i in range(degree):
            u = int(members[i])
            touched[n_touched] = u
            n_touched += 1
            stale[u] = True
            waiting[u, word_of_v] |= bit_of_v
            rows[u, word_of_v] &= ~bit_of_v
            weight[u] -= logarithms[v]
            count = 0
            value = 0
            kept = 0
            for j in range(degrees[u]):
                x = int(lists[u, j])
                if x != v:
                    lists[u, kept] = x
                    kept += 1
                    if not _adjacent(rows, v, x):
                        count += 1
                        value += values[x]
            degrees[u] = kept
            around[u] -= values[v]
            fill[u] -= count
            weighted_fill[u] -= values[v] * value
        if added == 0:
            continue
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
                    if _adjacent(rows, far, x):
                        count += 1
                        value += values[x]
                        fill[x] -= 1
                        weighted_fill[x] -= product
                        if not stale[x]:
                            stale[x] = True
                            touched[n_touched] = x
                            n_touched += 1
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
                rows[a, b >> 6] |= one << np.uint64(b & 63)
                rows[b, a >> 6] |= one << np.uint64(a & 63)
    return True, total, work


@njit
def _climb(
    rows_start: Words,
    lists_start: Lists,
    degrees_start: Ints,
    sizes: Floats,
    logarithms: Ints,
    values: Ints,
    fill_start: Ints,
    weight_start: Ints,
    weighted_fill_start: Ints,
    pending_start: Words,
    waiting_start: Words,
    clique_sizes_start: Ints,
    table: Ints,
    rows: Words,
    lists: Lists,
    waiting: Words,
    tried: Ints,
    noise: Ints,
    steps: Ints,
    score: int,
    fraction: int,
    fill_bits: int,
    current: float,
    most_work: float,
    order: Ints,
) -> tuple[float, int, int, bool]:
    work = 0
    passes = 0
    found = False
    while passes < steps.shape[0] and work < most_work:
        proposal = noise + steps[passes]
        done, total, cost = _pass(
            rows_start,
            lists_start,
            degrees_start,
            sizes,
            logarithms,
            values,
            fill_start,
            weight_start,
            weighted_fill_start,
            pending_start,
            waiting_start,
            clique_sizes_start,
            table,
            rows,
            lists,
            waiting,
            proposal,
            score,
            fraction,
            fill_bits,
            current,
            tried,
        )
        passes += 1
        work += cost
        if done:
            noise[:] = proposal
            order[:] = tried
            current = total
            found = True
    return current, passes, work, found
