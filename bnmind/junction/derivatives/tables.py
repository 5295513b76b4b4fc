"""The tables of a model as inputs of a program, and their derivatives as tables of the model."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bnmind._values import Sealed, sealed
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.junction.inference.limits import Limits
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential
from bnmind.pgm.tabular import TabularCPD

__all__ = ["InputTable", "are_finite", "input_tables"]


@dataclass(frozen=True, eq=False, kw_only=True)
class InputTable(Sealed):
    """A table of a model, with the axes of evidence variables first."""

    observed: tuple[str, ...]
    """The evidence variables among its variables."""
    hidden: tuple[str, ...]
    """The other variables, in the order in which the program takes them."""
    values: Floats
    """The entries, over ``observed`` and then ``hidden``."""
    axes: tuple[int, ...]
    """The axes of the original table over ``observed`` and then ``hidden``."""
    shape: tuple[int, ...]
    """The shape of the original table."""
    potential: int | None
    """The position of the potential of the model whose parameters these are; None if they are
    part of another form of a potential, or a function."""

    def reduced(self, at: Mapping[str, int]) -> Floats:
        """Return the entries that agree with the evidence, over ``hidden``."""
        entries: Floats = self.values[tuple([at[name] for name in self.observed])]
        return entries

    def lifted(self, derivatives: Floats | None, at: Mapping[str, int]) -> Floats:
        """Return read-only derivatives over ``hidden`` as an array over the original table.

        Those given must be read-only; None stands for zero everywhere. Entries that contradict the
        evidence have the derivative zero.
        """
        if derivatives is not None and not self.observed:
            return derivatives if self._back is None else derivatives.transpose(self._back)
        whole = np.zeros(self.shape)
        if derivatives is not None:
            view = whole.transpose(self.axes)
            view[tuple([at[name] for name in self.observed])] = derivatives
        return sealed(whole)

    @cached_property
    def _back(self) -> tuple[int, ...] | None:
        """The order of the axes that undoes ``axes``; None if they are in order."""
        back = tuple(sorted(range(len(self.axes)), key=self.axes.__getitem__))
        return None if back == self.axes == tuple(range(len(back))) else back


def input_tables(
    potentials: Sequence[Potential],
    formed: Sequence[Potential],
    orders: Sequence[Sequence[str]],
    limits: Limits,
) -> tuple[InputTable, ...]:
    """Return the tables of a model.

    Parameters
    ----------
    potentials
        The potentials of the model.
    formed
        The same potentials, with some in other forms.
    orders
        For each of them, the variables without evidence, in the order of the inputs.
    limits
        The limits of the size of a table.

    Raises
    ------
    InvalidModelError
        If an entry is negative or complex.
    """
    places = {id(potential): i for i, potential in enumerate(potentials)}
    tables = []
    for potential, hidden in zip(formed, orders, strict=True):
        names = [v.name for v in potential.scope]
        observed = [name for name in names if name not in hidden]
        axes = tuple([names.index(name) for name in (*observed, *hidden)])
        values = _entries(potential, limits)
        tables.append(
            InputTable(
                observed=tuple(observed),
                hidden=tuple(hidden),
                values=np.ascontiguousarray(values.transpose(axes)) if axes else values,
                axes=axes,
                shape=values.shape,
                potential=None
                if isinstance(potential, FunctionalCPD)
                else places.get(id(potential)),
            )
        )
    return tuple(tables)


def _entries(potential: Potential, limits: Limits) -> Floats:
    """Return the entries of a potential."""
    if isinstance(potential, TabularCPD):
        return potential.values
    values = (
        potential.values
        if isinstance(potential, Factor)
        else potential.to_factor(max_cells=limits.table_cells).values
    )
    if np.iscomplexobj(values) or np.any(values < 0):
        over = ", ".join(v.name for v in potential.scope) or "no variable"
        raise InvalidModelError(
            [f"the factors must not be negative or complex, but the one over {over} is"]
        )
    return np.real(values)


def are_finite(arrays: Iterable[Floats]) -> bool:
    """Return whether all numbers of some arrays are finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        for values in arrays:
            # A sum may be too large where all its terms are finite.
            total = np.add.reduce(values, axis=None)
            if not math.isfinite(total) and not np.isfinite(values).all():
                return False
    return True
