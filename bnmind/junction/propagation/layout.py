"""The order of buckets, the host of each message, and the flat arrays of the kernel."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._values import sealed
from bnmind.junction.propagation.arrays import (
    CELL,
    FIELDS,
    HOST,
    INNER,
    OUTER,
    ROW,
    SEPARATOR,
    SIZE,
    START,
    VARIABLE,
    TreeArrays,
)
from bnmind.junction.propagation.buckets import Bucket

__all__ = ["tree_arrays"]


def tree_arrays(buckets: Sequence[Bucket], sizes: Sequence[int]) -> TreeArrays:
    """Return buckets, given in the order of elimination, as flat arrays.

    Parameters
    ----------
    buckets
        The bucket of each variable.
    sizes
        The number of states of each variable.
    """
    hosts, is_outer = _hosts(buckets)
    order = _children_first(hosts)
    number = {i: n for n, i in enumerate(order)}
    ordered = [buckets[i] for i in order]
    inner: list[list[int]] = [[] for _ in order]
    outer: list[list[int]] = [[] for _ in order]
    for n, i in enumerate(order):
        if hosts[i] >= 0:
            (outer if is_outer[i] else inner)[number[hosts[i]]].append(n)
    lines = np.zeros((len(order) + 1, FIELDS), dtype=np.int64)
    variables = [b.variable for b in ordered]
    lines[:-1, VARIABLE] = variables
    lines[:-1, SIZE] = np.array(sizes)[variables]
    lines[:-1, START] = _starts(sizes)[variables]
    lines[:-1, HOST] = [-1 if hosts[i] < 0 else number[hosts[i]] for i in order]
    lines[:, ROW] = _starts([b.n_rows for b in ordered])
    lines[:, CELL] = _starts([len(b.table) for b in ordered])
    lines[:, SEPARATOR] = _starts([len(b.separator) for b in ordered])
    lines[:, INNER] = _starts([len(a) + len(b) for a, b in zip(inner, outer, strict=True)])
    lines[:-1, OUTER] = lines[:-1, INNER] + [len(a) for a in inner]
    lines[-1, OUTER] = lines[-1, INNER]
    maps: list[NDArray[np.int32]] = []
    children = []
    filled = 0
    for host, bucket in enumerate(ordered):
        for k in (*inner[host], *outer[host]):
            is_inner = k in inner[host]
            find = bucket.flat_cells if is_inner else bucket.flat_rows
            children.append((k, filled - int(lines[host, CELL if is_inner else ROW])))
            maps.append(_map(find, ordered[k], int(lines[k, ROW])))
            filled += len(maps[-1])
    columns = [column for b in ordered for column in b.columns]
    column_starts = _starts([len(column) for column in columns]).tolist()[:-1]
    separators = [v for b in ordered for v in b.separator]
    small = np.uint8 if max(sizes) <= 2**8 else np.uint16 if max(sizes) <= 2**16 else np.uint32
    return TreeArrays(
        buckets=sealed(lines),
        separators=_pairs(list(zip(separators, column_starts, strict=True))),
        children=_pairs(children),
        starts=sealed(_starts(_joined([b.counts for b in ordered], np.int64)).astype(np.int32)),
        table=sealed(_joined([b.table for b in ordered], np.float64)),
        states=sealed(_joined([b.states for b in ordered], small)),
        columns=sealed(_joined(columns, small)),
        maps=sealed(_joined(maps, np.int32)),
        least=sealed(np.array([0.0 if b.is_lossy else b.table.min() for b in ordered])),
    )


def _pairs(pairs: Sequence[tuple[int, int]]) -> NDArray[np.int64]:
    return sealed(np.array(pairs, dtype=np.int64).reshape(len(pairs), 2))


def _starts(lengths: Any) -> NDArray[np.int64]:
    """Return the start of each part of a concatenation, and its end."""
    starts = np.zeros(len(lengths) + 1, dtype=np.int64)
    np.cumsum(np.asarray(lengths, dtype=np.int64), out=starts[1:])
    return starts


def _joined(parts: Sequence[NDArray[Any]], kind: Any) -> NDArray[Any]:
    return np.concatenate([np.empty(0, dtype=kind), *parts], dtype=kind, casting="unsafe")


def _hosts(buckets: Sequence[Bucket]) -> tuple[list[int], list[bool]]:
    """Return the bucket that receives each message, and whether it does so in its rows.

    A message goes to the cells of the parent, or to the rows of another child of the parent if
    these include all its variables: rows are fewer than cells.
    """
    hosts = [bucket.parent for bucket in buckets]
    is_outer = [False] * len(buckets)
    children: dict[int, list[int]] = {}
    for i, bucket in enumerate(buckets):
        if bucket.parent >= 0:
            children.setdefault(bucket.parent, []).append(i)
    for siblings in children.values():
        # Larger separators come first, so that each separator lies only in earlier ones.
        siblings.sort(key=lambda i: (-len(buckets[i].separator), buckets[i].n_rows, i))
        # For each separator, its first child, and the best of all children that include it.
        first: dict[frozenset[int], tuple[int, int]] = {}
        best: dict[frozenset[int], tuple[int, int]] = {}
        for i in siblings:
            scope, own = frozenset(buckets[i].separator), (buckets[i].n_rows, i)
            if scope not in first:
                first[scope] = own
                found = [other for larger, other in first.items() if scope < larger]
            else:
                found = [best[scope]]
            if found:
                hosts[i], is_outer[i] = min(found)[1], True
            best[scope] = min([own, *found])
    return hosts, is_outer


def _children_first(hosts: Sequence[int]) -> list[int]:
    """Return the buckets so that each comes before its host, and those of a subtree together."""
    children: dict[int, list[int]] = {}
    for i, host in enumerate(hosts):
        children.setdefault(host, []).append(i)
    order = []
    stack = list(children.get(-1, ()))
    while stack:
        i = stack.pop()
        order.append(i)
        stack += children.get(i, ())
    return order[::-1]


def _map(
    find: Callable[[Sequence[int], Sequence[int]], NDArray[np.intp]], child: Bucket, first: int
) -> NDArray[np.int32]:
    """Return the row of a child for each cell or row of its host.

    Parameters
    ----------
    find
        Returns the flat index over some variables for each cell or row of the host.
    child
        The child.
    first
        The number of its first row.
    """
    numbers = np.full(math.prod(child.sizes), -1, dtype=np.int32)
    own = child.flat_rows(child.separator, child.sizes)
    numbers[own] = np.arange(first, first + child.n_rows, dtype=np.int32)
    return numbers[find(child.separator, child.sizes)]
