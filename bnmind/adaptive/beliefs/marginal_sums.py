"""Many small marginals of one large table, by sums that share their work.

A table is first summed to a few tables that together cover all the sets wanted, those
again, and what is small is multiplied by a matrix of zeros and ones that gives all its
sets at once. Nothing is subtracted, so small probabilities keep their digits. All the
planning is done once; tables with further axes in front are summed in the same way.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from bnmind._values import Sealed
from bnmind.information import Floats

__all__ = ["SubsetSums"]

_SMALL = 256
"""Tables of so many cells are summed by a matrix."""

_GROUPS = 4
"""A large table is summed to those over all but one of so many groups of its axes."""

_Step: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...]]
"""The table to sum, the shape to see it in, and the axes to sum over, from the end."""


@dataclass(frozen=True, eq=False)
class SubsetSums(Sealed):
    """How the marginals of a table are summed.

    Made by `compile`; ``sums(table)`` lays all the marginals end to end, the set number
    i from ``starts[i]`` on.
    """

    shape: tuple[int, ...]
    """The table's axes."""
    starts: tuple[int, ...]
    """Where each set's marginal starts in the result."""
    sizes: tuple[int, ...]
    """The cells of each set's marginal."""
    steps: tuple[_Step, ...] = field(repr=False)
    parts: tuple[tuple[int, Floats | None], ...] = field(repr=False)
    """The tables that the result is made of, multiplied by a matrix or as they are."""

    @classmethod
    def compile(cls, shape: Sequence[int], sets: Sequence[Sequence[int]]) -> SubsetSums:
        """Return the sums for tables of a shape.

        Parameters
        ----------
        shape
            The number of states along each axis.
        sets
            For each marginal its axes, ascending.
        """
        work = _Work(tuple(shape))
        work.cover(0, tuple(range(len(shape))), {i: tuple(s) for i, s in enumerate(sets)})
        starts = tuple(work.starts[i] for i in range(len(sets)))
        sizes = tuple(work.cells(s) for s in sets)
        return cls(work.shape, starts, sizes, tuple(work.steps), tuple(work.parts))

    @property
    def n_cells(self) -> int:
        """The cells of all the marginals together."""
        return sum(self.sizes)

    def __call__(self, table: Floats) -> Floats:
        """Return all the marginals end to end, ``(…, n_cells)``, of a table ``(…, cells)``."""
        front = table.shape[:-1]
        tables: list[Any] = [table]
        for source, view, axes in self.steps:
            summed = np.add.reduce(tables[source].reshape(*front, *view), axis=axes)
            tables.append(summed.reshape(*front, math.prod(summed.shape[len(front) :])))
        found = [
            tables[source] if matrix is None else tables[source] @ matrix
            for source, matrix in self.parts
        ]
        return found[0] if len(found) == 1 else np.concatenate(found, axis=-1)


class _Work:
    """What has been planned so far."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.steps: list[_Step] = []
        self.parts: list[tuple[int, Floats | None]] = []
        self.starts: dict[int, int] = {}
        self.end = 0

    def cells(self, axes: Sequence[int]) -> int:
        return math.prod(self.shape[a] for a in axes)

    def add(self, source: int, matrix: Floats | None, sets: dict[int, tuple[int, ...]]) -> None:
        self.parts.append((source, matrix))
        for number, axes in sets.items():
            self.starts[number] = self.end
            self.end += self.cells(axes)

    def summed(self, source: int, axes: tuple[int, ...], kept: Sequence[int]) -> int:
        """Plan the sum of a table over the axes that are not kept; return the new table."""
        if len(kept) == len(axes):
            return source
        view: list[int] = []
        gone: list[bool] = []
        for axis in axes:
            drop = axis not in kept
            if gone and gone[-1] == drop:  # neighbors with the same fate are one axis
                view[-1] *= self.shape[axis]
            else:
                view.append(self.shape[axis])
                gone.append(drop)
        over = tuple(i - len(view) for i, drop in enumerate(gone) if drop)
        self.steps.append((source, tuple(view), over))
        return len(self.steps)

    def cover(self, source: int, axes: tuple[int, ...], sets: dict[int, tuple[int, ...]]) -> None:
        """Plan the marginals on these sets of axes of a table."""
        if not sets:
            return
        if self.cells(axes) <= _SMALL and len(sets) > 1:
            self.add(source, self.indicator(axes, tuple(sets.values())), sets)
            return
        groups = self.groups(axes)
        alone: dict[int, tuple[int, ...]] = {}
        without: list[dict[int, tuple[int, ...]]] = [{} for _ in groups]
        for number, wanted in sets.items():
            free = [i for i, group in enumerate(groups) if not set(group) & set(wanted)]
            (without[free[0]] if free and len(groups) > 1 else alone)[number] = wanted
        for group, inside in zip(groups, without, strict=True):
            if len(inside) < 2:
                alone |= inside
                continue
            kept = tuple(a for a in axes if a not in group)
            self.cover(self.summed(source, axes, kept), kept, inside)
        for number, wanted in alone.items():
            self.add(self.summed(source, axes, wanted), None, {number: wanted})

    def groups(self, axes: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the axes in a few runs of about as many cells each."""
        share = math.log(max(self.cells(axes), 2)) / min(_GROUPS, len(axes))
        found: list[list[int]] = [[]]
        so_far = 0.0
        for axis in axes:
            if found[-1] and so_far >= share * len(found) - 1e-9:
                found.append([])
            found[-1].append(axis)
            so_far += math.log(self.shape[axis])
        return [tuple(group) for group in found]

    def indicator(self, axes: tuple[int, ...], sets: Sequence[tuple[int, ...]]) -> Floats:
        """Return the matrix ``(cells, cells of all the sets)`` that sums a small table."""
        states = np.indices(tuple(self.shape[a] for a in axes)).reshape(len(axes), -1)
        columns = []
        for wanted in sets:
            at = [states[axes.index(a)] for a in wanted]
            flat = np.ravel_multi_index(at, tuple(self.shape[a] for a in wanted))
            columns.append(flat[:, None] == np.arange(self.cells(wanted)))
        return np.concatenate(columns, axis=1).astype(np.float64)
