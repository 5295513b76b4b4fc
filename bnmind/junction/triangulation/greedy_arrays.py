"""A core and the state of a greedy pass as arrays.

`bnmind.junction.triangulation.greedy_kernel` works on them.

The neighbors of every vertex are stored twice: as a row of bits, to test whether two vertices are
neighbors, and as a list, to iterate over them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._values import remembered
from bnmind.junction.triangulation.scored_graph import Core, logarithm_table

__all__ = [
    "CoreArrays",
    "Floats",
    "Ints",
    "KeyRule",
    "Lists",
    "PassArrays",
    "Words",
    "bit_rows",
    "core_arrays",
    "pass_arrays",
]

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
