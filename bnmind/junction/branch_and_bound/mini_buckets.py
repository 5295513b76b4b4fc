"""Upper bounds by bucket elimination in limited memory (mini-buckets with moment matching).

Bucket elimination removes the variables of a sum of logarithmic tables in an order: the tables of a
variable are added, the variable is maximized (or summed) out, and the result is a table of the
variables left. If the sum of a bucket would have too many cells, its tables are divided into
*mini-buckets*, and the variable is eliminated from each of them separately. The results are upper
bounds. Before that, costs are moved between the mini-buckets until their largest values agree for
each configuration that they share, which makes the bounds far tighter.

A sum over a divided bucket is bounded by Hölder's inequality, with equal weights 1/r for its r
mini-buckets.

References
----------
R. Dechter and I. Rish, "Mini-buckets: a general scheme for bounded inference", Journal of the ACM
50 (2003); A. Ihler, N. Flerova, R. Dechter and L. Otten, "Join-graph based cost-shifting schemes",
UAI (2012); Q. Liu and A. Ihler, "Bounding the partition function using Hölder's inequality", ICML
(2011).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from bnmind.information import Floats
from bnmind.junction.branch_and_bound.log_tables import LogTable

__all__ = ["Bounds", "Division", "Message", "bounds_of", "divide"]


class Message(NamedTuple):
    """A table of bucket elimination.

    Its axes are the variables from the last eliminated to the first, in whose bucket it stands.
    """

    scope: tuple[int, ...]
    values: Floats
    source: int
    """The variable whose elimination gave it; −1 for a table of the model."""


@dataclass(frozen=True, kw_only=True)
class Division:
    """A division of all buckets into mini-buckets."""

    order: tuple[int, ...]
    """The variables in the order of elimination."""
    parts: tuple[tuple[tuple[int, ...], ...], ...]
    """For each variable of the order, the tables of each mini-bucket. The tables of the model come
    first, and each mini-bucket appends the table that it gives."""
    scopes: tuple[tuple[int, ...], ...]
    """The variables of every table, from the last eliminated to the first."""
    cells: int
    """The number of cells of all tables that the mini-buckets give."""
    largest: int
    """The largest number of cells of the sum of a bucket."""

    @property
    def divided(self) -> frozenset[int]:
        """The variables with more than one mini-bucket."""
        return frozenset(v for v, p in zip(self.order, self.parts, strict=True) if len(p) > 1)


def divide(
    scopes: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    order: Sequence[int],
    max_cells: int,
) -> Division:
    """Return a division into mini-buckets of at most ``max_cells`` cells, if single tables fit.

    The tables of a bucket are taken from the largest to the smallest, and each joins the first
    mini-bucket that has room for it.

    Parameters
    ----------
    scopes
        The variables of each table of the model.
    sizes
        The number of states of each variable.
    order
        The variables in the order of elimination.
    max_cells
        The limit.
    """
    rank = {v: i for i, v in enumerate(order)}
    every = [tuple(sorted(scope, key=rank.__getitem__, reverse=True)) for scope in scopes]
    buckets: dict[int, list[int]] = {v: [] for v in order}
    for number, scope in enumerate(every):
        buckets[scope[-1]].append(number)
    parts, cells, largest = [], 0, 0
    for v in order:
        own = sorted(buckets[v], key=lambda f: (-math.prod([sizes[u] for u in every[f]]), f))
        minis: list[tuple[set[int], int, list[int]]] = []
        for f in own:
            for at, (members, size, tables) in enumerate(minis):
                joined = size * math.prod([sizes[u] for u in every[f] if u not in members])
                if joined <= max_cells or joined == size:
                    members.update(every[f])
                    minis[at] = (members, joined, [*tables, f])
                    break
            else:
                minis.append((set(every[f]), math.prod([sizes[u] for u in every[f]]), [f]))
        for members, size, _ in minis:
            left = tuple(sorted(members - {v}, key=rank.__getitem__, reverse=True))
            if left:
                buckets[left[-1]].append(len(every))
            every.append(left)
            cells += size // sizes[v]
            largest = max(largest, size)
        parts.append(tuple(tuple(tables) for _, _, tables in minis))
    return Division(
        order=tuple(order),
        parts=tuple(parts),
        scopes=tuple(every),
        cells=cells,
        largest=largest,
    )


@dataclass(frozen=True)
class Bounds:
    """The tables of a bucket elimination in limited memory."""

    division: Division
    messages: tuple[Message, ...]
    """The tables of the model, and those that the mini-buckets give."""
    total: float
    """The upper bound of the largest value."""


def bounds_of(
    tables: Sequence[LogTable],
    division: Division,
    sizes: Sequence[int],
    is_summed: Sequence[bool],
) -> Bounds:
    """Return the tables of all mini-buckets.

    Parameters
    ----------
    tables
        The tables of the model.
    division
        A division of their buckets.
    sizes
        The number of states of each variable.
    is_summed
        For each variable, whether it is summed out instead of maximized.
    """
    messages = []
    for table, scope in zip(tables, division.scopes, strict=False):
        axes = [table.scope.index(v) for v in scope]
        values = np.ascontiguousarray(table.values.transpose(axes))
        messages.append(Message(scope, values, -1))
    rank = {v: i for i, v in enumerate(division.order)}
    total = 0.0
    for v, parts in zip(division.order, division.parts, strict=True):
        sums = [_sum([messages[f] for f in part], rank, sizes) for part in parts]
        weight = 1.0 / len(parts) if is_summed[v] and parts else 0.0
        if len(sums) > 1:
            _match(sums, weight)
        for scope, values in sums:
            gone = _eliminated(values, (-1,), weight)
            messages.append(Message(scope[:-1], np.array(gone, order="C"), v))
            if len(scope) == 1:
                total += float(gone)
        if not parts and is_summed[v]:
            total += math.log(sizes[v])
    return Bounds(division, tuple(messages), total)


_Table = tuple[tuple[int, ...], Any]


def _sum(parts: Sequence[Message], rank: Mapping[int, int], sizes: Sequence[int]) -> _Table:
    """Return the sum of some tables."""
    members = set().union(*(part.scope for part in parts))
    scope = tuple(sorted(members, key=rank.__getitem__, reverse=True))
    total: Any = np.zeros([sizes[v] for v in scope])
    for part in parts:
        own = set(part.scope)
        total += part.values.reshape([sizes[v] if v in own else 1 for v in scope])
    return scope, total


def _match(sums: list[_Table], weight: float) -> None:
    """Move costs between mini-buckets until they agree on their common variables."""
    shared = set(sums[0][0]).intersection(*(scope for scope, _ in sums[1:]))
    moments = []
    for scope, values in sums:
        axes = tuple([axis for axis, v in enumerate(scope) if v not in shared])
        moments.append(_eliminated(values, axes, weight))
    with np.errstate(invalid="ignore"):
        mean = sum(moments) / len(moments)
        for (scope, values), moment in zip(sums, moments, strict=True):
            shift = mean - moment
            shift[np.isnan(shift)] = -np.inf  # the configuration is impossible
            values += shift.reshape(
                [n if v in shared else 1 for v, n in zip(scope, values.shape, strict=True)]
            )


def _eliminated(values: Any, axes: tuple[int, ...], weight: float) -> Any:
    """Return maxima over some axes, or with a weight w > 0, w·log Σ exp(values / w)."""
    if not axes:
        return values.copy()
    largest = values.max(axis=axes, keepdims=True)
    if weight > 0:
        base = np.where(largest > -np.inf, largest, 0.0)
        with np.errstate(divide="ignore"):
            sums = np.log(np.exp((values - base) / weight).sum(axis=axes, keepdims=True))
        largest = base + weight * sums
    return largest.squeeze(axis=axes)
