"""The sources of a program, which fill its first registers, and the answers at its end."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, made, sealed
from bnmind.junction.program.contraction import Function
from bnmind.junction.program.program import Scope
from bnmind.junction.reduction import FunctionTable, Reduction
from bnmind.pgm.factor import Values
from bnmind.pgm.variable import Variable

_SMALL = 2**12
"""The most cells of tables that are searched for negative numbers together."""


@dataclass(frozen=True, eq=False)
class Rows(Sealed):
    """A function stored by its values, before it is reduced to the evidence."""

    positions: NDArray[np.intp]
    """The state for each configuration of the observed arguments, then of the others."""
    observed: tuple[str, ...]
    """The arguments among the evidence variables."""
    child: str | None
    """The variable that the function determines, if it is an evidence variable."""

    def cut(self, at: Mapping[str, int]) -> Values:
        """Return the positions given evidence; if the child is observed, the rows in its state."""
        positions: Any = self.positions[tuple(at[name] for name in self.observed)]
        cut: Values = positions
        if self.child is not None:
            cut = (positions == at[self.child]).astype(np.float64)
        return cut

    def fill(self, register: Any, positions: Any, at: Mapping[str, NDArray[np.intp]]) -> None:
        """Fill a register with the result of `cut` for each of many cases.

        Parameters
        ----------
        register
            The register; its last axis is the cases.
        positions
            The positions of the function; observed arguments are joined into the last axis.
        at
            The position of each observed variable, ``(cases,)``.
        """
        if self.observed:
            sizes = self.positions.shape[: len(self.observed)]
            flat = np.ravel_multi_index([at[name] for name in self.observed], sizes)
            values = positions.take(flat, axis=-1)
        else:
            values = positions[..., None]
        np.copyto(register, values if self.child is None else values == at[self.child])


@dataclass(frozen=True, eq=False)
class Source(Sealed):
    """The source of a register: a table of the model before it is reduced to the evidence."""

    scope: Scope
    """The hidden variables, by their numbers in the program."""
    observed: tuple[str, ...]
    """The evidence variables; their axes come first."""
    values: Values | None
    """The table; None if it is too large to expand, or an input of each run."""
    n_cells: int
    label: str
    signed: bool = False
    """Whether values are negative or complex, so that sums may cancel."""
    child: int | None = None
    """The variable that a function determines, if it is hidden."""
    input: str | None = None
    """The name of the input that fills the register at each run."""
    model: Reduction | None = None
    """The reduced model, to whose states the input is reduced."""
    whole: tuple[str, ...] = ()
    """The names of the variables of the original input."""
    rows: Rows | None = None
    """The function to reduce instead of ``values``, if it is stored by its values."""

    def reduced(self, values: Values) -> Values:
        """Return an input on the states of the reduced model."""
        return values if self.model is None else self.model.take(self.whole, values).values


class Registers(Protocol):
    """The registers of a run, by their numbers."""

    def __getitem__(self, number: int, /) -> Values: ...


@dataclass(frozen=True, eq=False, kw_only=True)
class Answer(Sealed):
    """The rule for reading a joint from the registers."""

    variables: tuple[Variable, ...]
    """The variables of the target."""
    observed: tuple[str, ...]
    """The evidence variables among them."""
    axes: tuple[int, ...] | None
    """The order of the register's axes; None for the same order."""
    view: tuple[int, ...]
    """The register's shape in this order, with axes of length one for variables it lacks."""
    shape: tuple[int, ...]
    """The shape over the reduced variables."""
    register: int | None
    cells: NDArray[np.intp] | None
    """The flat place of each reduced cell in the full table; None where they are the same."""

    def read(self, registers: Registers) -> Values:
        """Return the unnormalized joint over the reduced variables."""
        if self.register is None:
            return np.ones(self.shape)
        joint: Values = self.arranged(registers[self.register])
        return joint

    def arranged(self, values: Any) -> Any:
        """Return an array over the axes of the register over those of the joint."""
        if self.register is None:
            return np.broadcast_to(values, self.shape)
        if self.axes is not None:
            values = values.transpose(self.axes)
        if self.view == self.shape:
            return values
        return np.broadcast_to(values.reshape(self.view), self.shape)

    @cached_property
    def full(self) -> tuple[int, ...]:
        """The shape of the full table."""
        return tuple(v.n_states for v in self.variables)

    @cached_property
    def _is_whole(self) -> bool:
        """Whether the reduced variables are those of the target."""
        return self.cells is None and not self.observed and self.shape == self.full

    def lift(self, values: Values, at: Mapping[str, int]) -> Values:
        """Return values over the reduced variables as a table over the target's variables."""
        if self._is_whole:
            return sealed(values) if values.flags.writeable else values
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
        return sealed(values)


def sources_of(
    model: Reduction,
    number: Mapping[str, int],
    observed: frozenset[str],
    inputs: Mapping[str, Sequence[Variable]],
) -> tuple[Source, ...]:
    """Return the sources of a program: the model's tables, the large tables, the inputs."""

    def source(names: Sequence[str], label: str, n_cells: int, **more: Any) -> Source:
        seen = tuple([name for name in names if name in observed])
        scope = tuple([number[name] for name in names if name not in observed])
        fields = {"scope": scope, "observed": seen, "values": None, **more}
        return made(Source, label=label, n_cells=n_cells, **fields)

    sources = []
    all_signed = _are_signed([content.values for content in model.tables])
    for content, signed in zip(model.tables, all_signed, strict=True):
        names, values = content.scope, content.values
        if not observed.isdisjoint(names):
            # Stable: the observed variables come first.
            axes = sorted(range(len(names)), key=lambda axis: names[axis] not in observed)
            values = sealed(np.ascontiguousarray(np.transpose(values, axes)))
        sources.append(source(names, "a table", values.size, values=values, signed=signed))
    sources += [_function_source(function, number, observed) for function in model.functions]
    for potential in model.large:
        names = model.scope(v.name for v in potential.scope)
        cells = math.prod(model.sizes[name] for name in names)
        sources.append(source(names, potential.scope[0].name, cells))
    for label, variables in inputs.items():
        whole = tuple(v.name for v in variables)
        names = model.scope(whole)
        cells = math.prod(model.sizes[name] for name in names)
        sources.append(source(names, label, cells, input=label, model=model, whole=whole))
    return tuple(sources)


def _are_signed(tables: Sequence[Values]) -> list[bool]:
    """Return which tables hold negative or complex numbers."""
    signed = [values.dtype.kind == "c" for values in tables]
    small = [i for i, v in enumerate(tables) if not signed[i] and 0 < v.size <= _SMALL]
    for i, values in enumerate(tables):
        if not signed[i] and values.size > _SMALL:
            signed[i] = bool(values.min() < 0)
    if small:
        flat = np.concatenate([tables[i].ravel() for i in small])
        starts = [0, *accumulate([tables[i].size for i in small[:-1]])]
        for i, least in zip(small, np.minimum.reduceat(flat, starts).tolist(), strict=True):
            signed[i] = least < 0
    return signed


def functions_of(sources: Sequence[Source]) -> dict[int, Function]:
    """Return the registers that hold functions."""
    return {
        i: Function(source.child, bool(np.any(source.rows.positions < 0)))
        for i, source in enumerate(sources)
        if source.rows is not None and source.child is not None
    }


def _function_source(
    function: FunctionTable, number: Mapping[str, int], observed: frozenset[str]
) -> Source:
    head, *parents = function.scope
    seen = tuple(name for name in parents if name in observed)
    rest = tuple(name for name in parents if name not in observed)
    order = [parents.index(name) for name in (*seen, *rest)]
    positions = np.array(np.transpose(function.positions, order), order="C")
    known = head if head in observed else None
    child = None if known else number[head]
    return Source(
        scope=tuple(number[name] for name in (rest if known else (head, *rest))),
        observed=(known, *seen) if known else seen,
        values=None,
        n_cells=positions.size,
        label=head,
        child=child,
        rows=Rows(positions, seen, known),
    )


def answer_of(
    model: Reduction,
    target: tuple[Variable, ...],
    observed: frozenset[str],
    number: Mapping[str, int],
    register: int | None,
    scopes: Sequence[tuple[int, ...]],
) -> Answer:
    """Return the rule for reading a target from its register."""
    hidden = [v for v in target if v.name not in observed]
    names = model.scope(v.name for v in hidden)
    scope = [number[name] for name in names]
    register_scope = () if register is None else scopes[register]
    shape = tuple([model.sizes[name] for name in names])
    # A register may lack variables that its joint does not depend on.
    view = tuple([model.sizes[n] if number[n] in register_scope else 1 for n in names])
    axes = tuple([register_scope.index(v) for v in scope if v in register_scope])
    full = tuple([v.n_states for v in hidden])
    is_reduced = shape != full or any(model.lifts[v.name].home != v.name for v in hidden)
    return made(
        Answer,
        variables=target,
        observed=tuple([v.name for v in target if v.name in observed]),
        axes=None if axes == tuple(range(len(axes))) else axes,
        view=view,
        shape=shape,
        register=register,
        cells=model.cells([v.name for v in hidden], full) if is_reduced else None,
    )
