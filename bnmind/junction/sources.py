"""What a program starts from and what is read off its end: sources and answers."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind.junction.program import Scope
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

__all__ = ["Answer", "Source"]


@dataclass(frozen=True, eq=False)
class Source:
    """A register's content: a table of the model, still to be cut at the evidence."""

    scope: Scope
    """The variables left once the evidence is known, as the program numbers them."""
    observed: tuple[str, ...]
    """Evidence variables; their axes come first."""
    values: Values | None
    """None if the table is too large to be written out, or given with each run."""
    n_cells: int
    label: str
    signed: bool = False
    """Whether values are negative or complex, so that sums may cancel."""
    child: int | None = None
    """A variable whose state is certain given the others, if there is one."""
    positions: NDArray[np.intp] | None = None
    """Its positions, over ``observed`` and then ``scope`` without it."""
    input: str | None = None
    """The name of the input that fills the register at each run."""
    take: Callable[[Values], Values] | None = None
    """How a full input becomes a reduced one."""


@dataclass(frozen=True, eq=False)
class Answer:
    """How a joint is read off the registers."""

    variables: tuple[Variable, ...]
    """Of the target."""
    observed: tuple[str, ...]
    """Those of them that are evidence."""
    axes: tuple[int, ...] | None
    """The order of the register's axes; None as they are."""
    view: tuple[int, ...]
    """The register's shape then, with an axis of one for what it does not depend on."""
    shape: tuple[int, ...]
    """The shape over the reduced variables."""
    register: int | None
    cells: NDArray[np.intp] | None
    """The flat place of each reduced cell in the full table; None where they are the same."""

    def read(self, registers: Sequence[Values]) -> Values:
        """Return the unnormalized joint over the reduced variables."""
        if self.register is None:
            return np.ones(self.shape)
        values = registers[self.register]
        if self.axes is not None:
            values = values.transpose(self.axes)
        if self.view == self.shape:
            return values
        return np.broadcast_to(values.reshape(self.view), self.shape)

    @cached_property
    def full(self) -> tuple[int, ...]:
        """The shape of the full table."""
        return tuple(v.n_states for v in self.variables)

    def lift(self, values: Values, at: Mapping[str, int]) -> Values:
        """Return values over the reduced variables as a table over the target's own."""
        hidden = tuple(v.n_states for v in self.variables if v.name not in self.observed)
        if self.cells is not None:
            flat = np.zeros(math.prod(hidden))
            np.add.at(flat, self.cells, values.ravel())
            values = flat
        values = values.reshape(hidden)
        if self.observed:
            whole = np.zeros(self.full)
            whole[
                tuple(
                    at[v.name] if v.name in self.observed else slice(None) for v in self.variables
                )
            ] = values
            values = whole
        values.setflags(write=False)
        return values
