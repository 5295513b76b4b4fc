"""Many small marginals of one large table, by sums that share their work.

A table is first summed to a few tables that together cover all requested sets, and these
are summed in the same way. A small table is multiplied by a matrix of zeros and ones that
gives all its sets at once. Nothing is subtracted, so small probabilities keep their digits.
The sums are planned once, and apply to tables with further axes in front.
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
"""Tables of at most this many cells are summed by a matrix."""

_GROUPS = 4
"""The axes of a large table are split into this many groups; each sum leaves out one."""

_Step: TypeAlias = tuple[int, tuple[int, ...], tuple[int, ...]]
"""The number of a table, the shape to view it in, and the axes to sum, counted from the end."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SubsetSums(Sealed):
    """A plan to sum a table to several marginals.

    Created by `compile`; ``sums(table)`` returns all marginals end to end, and set i begins
    at ``starts[i]``.
    """

    shape: tuple[int, ...]
    """The sizes of the table's axes."""
    starts: tuple[int, ...]
    """The place of each set's marginal in the result."""
    sizes: tuple[int, ...]
    """The number of cells of each set's marginal."""
    steps: tuple[_Step, ...] = field(repr=False)
    parts: tuple[tuple[int, Floats | None], ...] = field(repr=False)
    """The tables that the result consists of, each with a matrix to multiply by, or None."""

    @classmethod
    def compile(cls, shape: Sequence[int], sets: Sequence[Sequence[int]]) -> SubsetSums:
        """Return the sums for tables of a shape.

        Parameters
        ----------
        shape
            The number of states along each axis.
        sets
            The axes of each marginal, ascending.
        """
        work = _Work(tuple(shape))
        work.cover(0, tuple(range(len(shape))), {i: tuple(s) for i, s in enumerate(sets)})
        starts = tuple(work.starts[i] for i in range(len(sets)))
        sizes = tuple(work.cells(s) for s in sets)
        return cls(
            shape=work.shape,
            starts=starts,
            sizes=sizes,
            steps=tuple(work.steps),
            parts=tuple(work.parts),
        )

    @property
    def n_cells(self) -> int:
        """The number of cells of all marginals together."""
        return sum(self.sizes)

    def __call__(self, table: Floats) -> Floats:
        """Return all the marginals end to end, ``(…, n_cells)``, of a table ``(…, cells)``."""
        front = table.shape[:-1]
        tables: list[Any] = [table]
        for source, view, axes in self.steps:
            summed = np.add.reduce(tables[source].reshape(*front, *view), axis=axes)
            tables.append(summed.reshape(*front, math.prod(summed.shape[len(front) :])))
        marginals = [
            tables[source] if matrix is None else tables[source] @ matrix
            for source, matrix in self.parts
        ]
        return marginals[0] if len(marginals) == 1 else np.concatenate(marginals, axis=-1)


class _Work:
    """The sums planned so far."""

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

    def summed(self, source: int, axes: tuple[int, ...], remaining: Sequence[int]) -> int:
        """Plan the sum of a table to some axes; return the number of the new table."""
        if len(remaining) == len(axes):
            return source
        view: list[int] = []
        is_summed: list[bool] = []
        for axis in axes:
            drop = axis not in remaining
            if is_summed and is_summed[-1] == drop:  # merge with the axis before
                view[-1] *= self.shape[axis]
            else:
                view.append(self.shape[axis])
                is_summed.append(drop)
        over = tuple(i - len(view) for i, drop in enumerate(is_summed) if drop)
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
        for number, marginal in sets.items():
            free = [i for i, group in enumerate(groups) if not set(group) & set(marginal)]
            (without[free[0]] if free and len(groups) > 1 else alone)[number] = marginal
        for group, inside in zip(groups, without, strict=True):
            if len(inside) < 2:
                alone |= inside
                continue
            remaining = tuple(a for a in axes if a not in group)
            self.cover(self.summed(source, axes, remaining), remaining, inside)
        for number, marginal in alone.items():
            self.add(self.summed(source, axes, marginal), None, {number: marginal})

    def groups(self, axes: tuple[int, ...]) -> list[tuple[int, ...]]:
        """Return the axes in a few groups of about equal size."""
        share = math.log(max(self.cells(axes), 2)) / min(_GROUPS, len(axes))
        runs: list[list[int]] = [[]]
        so_far = 0.0
        for axis in axes:
            if runs[-1] and so_far >= share * len(runs) - 1e-9:
                runs.append([])
            runs[-1].append(axis)
            so_far += math.log(self.shape[axis])
        return [tuple(group) for group in runs]

    def indicator(self, axes: tuple[int, ...], sets: Sequence[tuple[int, ...]]) -> Floats:
        """Return the matrix ``(cells, cells of all the sets)`` that sums a small table."""
        states = np.indices(tuple(self.shape[a] for a in axes)).reshape(len(axes), -1)
        columns = []
        for marginal in sets:
            at = [states[axes.index(a)] for a in marginal]
            flat = np.ravel_multi_index(at, tuple(self.shape[a] for a in marginal))
            columns.append(flat[:, None] == np.arange(self.cells(marginal)))
        return np.concatenate(columns, axis=1).astype(np.float64)
