"""Steps for functions that are stored by their values, not as tables of zeros and ones.

For a function ``c = f(h)``, a register holds f(h) for every configuration h of the arguments, which
is called a *row*. The sum of a partial sum of 400 votes and one more vote takes 802 numbers, while
its table has 322,404 cells. Three steps replace the operations on a table:

=========  =======================================  ================================
step       result                                   cost
=========  =======================================  ================================
`LookUp`   ``Σ_c [c = f(h)] g(c, h)`` = g(f(h), h)  its result
`Scatter`  ``Σ_h [c = f(h)] g(h)``, for every c     the rows
`Expand`   ``[c = f(h)]``                           the table; the last resort
=========  =======================================  ================================

A row of −1 is zero for every c, because its state is impossible.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from bnmind.pgm.factor import Values

__all__ = ["Expand", "LookUp", "Scatter", "grids"]


@dataclass(frozen=True)
class LookUp:
    """Take rows of the right register at the positions in the left register."""

    axes: tuple[int, ...]
    """The order of the right register's axes: the child, the shared variables, the rest."""
    cost: int
    shared: tuple[int, ...] = ()
    """Axes of the left register whose variables are also in the right register."""
    partial: bool = False
    """Whether positions may be −1, where there is no state."""

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the rows, over the axes of the positions and then the rest."""
        return self.take(left, right, 0.0)

    def take(self, left: Values, right: Values, nothing: float, trailing: int = 0) -> Values:
        """Return the rows, with the number ``nothing`` at positions of −1.

        The right register may have ``trailing`` further axes at the end.
        """
        more = tuple(range(len(self.axes), len(self.axes) + trailing))
        rows = right.transpose((*self.axes, *more))
        if self.partial:
            rows = np.concatenate([rows, np.full((1, *rows.shape[1:]), nothing)])
        positions: Any = left
        if not self.shared:
            all_rows: Values = rows.take(positions, axis=0)
            return all_rows
        selected: Values = rows[(positions, *grids(left.shape, self.shared))]
        return selected


@dataclass(frozen=True)
class Scatter:
    """Add each number of the right register to the state at its row's position on the left."""

    n: int
    """The number of states of the child."""
    kept: tuple[int, ...]
    """The left register's axes in the result, after the child's axis; ascending."""
    axes: tuple[int, ...]
    """The order of the right register's axes: those shared with the left register, the rest."""
    view: tuple[int, ...]
    """Its shape in this order: the rest is one axis, and axes it lacks have length one."""
    shape: tuple[int, ...]
    """The shape of the result: the child, the axes kept, the rest."""
    cost: int

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the sums."""
        right = self.rows(left.shape, right)
        sums: Values = self.sums(self.places(left), right).reshape(self.shape)
        return sums

    def places(self, left: Values) -> Any:
        """Return the destination of each row: 0 for none, or 1 plus a cell of the result."""
        shape = [1] * left.ndim
        for axis in self.kept:
            shape[axis] = left.shape[axis]
        # The kept axes ascend.
        n_kept = math.prod(shape)
        places = left * n_kept + np.arange(1, n_kept + 1).reshape(shape)
        # All rows with position −1 share one destination.
        return np.maximum(places, 0).ravel()

    def sums(self, places: Any, rows: Any) -> Any:
        """Return the sums of rows ``(rows, rest)`` at their destinations, ``(places, rest)``."""
        rest = rows.shape[1]
        index = places if rest == 1 else (places[:, None] * rest + np.arange(rest)).ravel()
        length = self.n_places * rest
        if rows.dtype.kind == "c":
            totals: Any = 1j * np.bincount(index, rows.imag.ravel(), length)
            totals += np.bincount(index, rows.real.ravel(), length)
        else:
            totals = np.bincount(index, rows.ravel(), length)
        return totals.reshape(self.n_places, rest)[1:]

    def reduced(self, left: Values, right: Values, add: np.ufunc, nothing: float) -> Values:
        """Return the sums with the operation ``add``; empty cells are ``nothing``."""
        rows = self.rows(left.shape, right)
        places = self.places(left)
        order = np.argsort(places, kind="stable")
        destinations, starts = np.unique(places[order], return_index=True)
        totals = np.full((self.n_places, rows.shape[1]), nothing)
        totals[destinations] = add.reduceat(rows[order], starts, axis=0)
        return totals[1:].reshape(self.shape)

    @property
    def n_places(self) -> int:
        """The number of destinations: the cells of the result, and one for rows without a state."""
        return 1 + math.prod(self.shape[: 1 + len(self.kept)])

    def rows(self, shape: tuple[int, ...], right: Values, n_cases: int | None = None) -> Values:
        """Return the numbers to add, ``(rows, rest)``, for a function of this shape.

        If the right register has a last axis of cases, it becomes part of the rest.
        """
        axes = self.axes if n_cases is None else (*self.axes, len(self.axes))
        length = self.view[-1] * (n_cases or 1)
        values = right.transpose(axes).reshape(*self.view[:-1], length)
        whole = (*shape, length)
        rows: Values = values if values.shape == whole else np.broadcast_to(values, whole)
        return rows.reshape(-1, length)


@dataclass(frozen=True)
class Expand:
    """Expand a function to its table of zeros and ones."""

    n: int
    """The number of states of the child, which is the first axis of the table."""
    cost: int

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the table."""
        states = np.arange(self.n).reshape(-1, *[1] * left.ndim)
        table: Values = (states == left).astype(np.float64)
        return table


def grids(shape: tuple[int, ...], axes: tuple[int, ...]) -> list[Any]:
    """Return the positions along some axes of an array, in shapes that broadcast with it."""
    return [
        np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
        for axis in axes
    ]
