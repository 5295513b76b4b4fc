"""Conditional distributions as tables."""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import many
from bnmind._values import Raw, Value
from bnmind.errors import InvalidArgumentError, InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.pgm.factor import Factor, frozen_array, numbers_of
from bnmind.pgm.variable import Variable

DEFAULT_CELLS = 2**25
"""The default limit for the cells of a single table (256 MiB)."""

ROW_TOLERANCE = 1.000001e-6
"""The largest deviation of a row sum from one; files print few digits, and rows are normalized.

Three times 0.333333 is 1e-6 short of one, and in floating point a little more.
"""


@dataclass(frozen=True, eq=False)
class Conditional(Value):
    """The base of all conditional distributions: a child and its parents, all different."""

    variable: Variable
    parents: tuple[Variable, ...]

    _error = InvalidModelError
    _least_parents = 0

    def _faults(self) -> Iterator[str]:
        name = self.variable.name
        if len({v.name for v in self.scope}) != len(self.scope):
            yield f"the parents of {name} must be distinct variables and not {name} itself"
        if len(self.parents) < self._least_parents:
            yield f"{name} must have at least one parent"

    @cached_property
    def scope(self) -> tuple[Variable, ...]:
        """The child, then the parents."""
        return (self.variable, *self.parents)

    @property
    def n_cells(self) -> int:
        """The number of cells that the table has, or would have."""
        return math.prod([v.n_states for v in self.scope])


@dataclass(frozen=True, eq=False)
class TabularCPD(Conditional):
    """P(variable | parents) as a table.

    Parameters
    ----------
    variable
        The child.
    parents
        Its parents, in the order of the table's further axes.
    values
        ``(states of the child, states of parent 1, …)``, in [0, 1], summing to one
        over the first axis; sums within 1e-6 of one are normalized.

    Raises
    ------
    InvalidModelError
        If the shape, a value or a sum is wrong; all faults at once.
    """

    values: Annotated[Floats, Raw]

    def __post_init__(self) -> None:
        self._convert()
        problems, what = [*self._faults()], f"table of {self.variable.name}"
        self._set(values=distributions(what, self.values, self.scope, problems))
        if problems:
            raise InvalidModelError(problems)

    @checked
    def to_factor(self, *, max_cells: int = DEFAULT_CELLS) -> Factor:
        """Return the table as a factor over ``scope``, for any ``max_cells``."""
        return Factor(self.scope, self.values)

    @checked
    def to_tabular(self, *, max_cells: int = DEFAULT_CELLS) -> TabularCPD:
        """Return the distribution itself.

        Parameters
        ----------
        max_cells
            Without effect, as the table exists already.
        """
        return self

    @checked
    def table_on(self, states: Sequence[Sequence[int]]) -> Floats:
        """Return the table on fewer states: positions for each variable of ``scope``, in order.

        Parameters
        ----------
        states
            Positions from 0, in any order, for each variable of ``scope``: the child, then its
            parents.
        """
        index = np.ix_(*state_positions(self.scope, states))
        return np.asarray(self.values[index], dtype=np.float64)

    @checked
    def restrict(self, states: Mapping[str, Sequence[int]]) -> TabularCPD:
        """Return the distribution on fewer states; parents with a single state are dropped.

        ``states`` maps names of variables to their remaining positions. Removed states of the
        child must be impossible, so a configuration of the parents that needs them is impossible
        too; its row is normalized again. `InvalidModelError` if this holds for all configurations.
        """
        keep = [states.get(v.name, range(v.n_states)) for v in self.scope]
        values = self.values[np.ix_(*[list(positions) for positions in keep])]
        sums = values.sum(axis=0)
        cut = sums < 1 - ROW_TOLERANCE
        if cut.any() and not cut.all():
            rows = np.where(sums > 0, values / np.where(sums > 0, sums, 1.0), 1 / len(values))
            values = np.where(cut, rows, values)
        dropped = tuple(axis for axis in range(1, len(keep)) if len(keep[axis]) == 1)
        parents = tuple(
            v.keep(positions)
            for v, positions in zip(self.parents, keep[1:], strict=True)
            if len(positions) > 1
        )
        return TabularCPD(self.variable.keep(keep[0]), parents, values.squeeze(axis=dropped))


def is_rounding_of_floats(deviation: Any, n_states: Any) -> Any:
    """Return whether sums of so many numbers deviate from one only by floating-point rounding."""
    return deviation <= 4 * n_states * sys.float_info.epsilon


def distributions(
    what: str, given: ArrayLike, scope: Sequence[Variable], problems: list[str]
) -> Floats:
    """Return distributions of the first variable, normalized; append faults to ``problems``."""
    try:
        values: Floats = numbers_of(given, f"in the {what}", real=True).real
    except InvalidModelError as fault:
        problems += fault.problems
        return np.zeros(0)
    (variable, *parents), shape = scope, tuple([v.n_states for v in scope])
    if values.shape != shape:
        problems.append(f"expected an array of shape {shape} as the {what}, got {values.shape}")
        return values
    sums = values.sum(axis=0)
    worst = float(np.abs(sums - 1).max())
    # Infinities and NaN are in the sums, too.
    is_wrong = ~((values >= 0) & np.isfinite(values)) if not worst < math.inf else values < 0
    if is_wrong.any():
        *at, state = np.argwhere(np.moveaxis(is_wrong, 0, -1))[0]
        problems.append(
            f"the {what} must hold probabilities, numbers from 0 to 1, got"
            f" {float(values[(state, *at)]):.9g} for {variable.states[state]}{_given(parents, at)}"
        )
        return values
    if worst > ROW_TOLERANCE:
        each = " for every configuration of its parents" if parents else ""
        at = np.unravel_index(int(np.abs(sums - 1).argmax()), sums.shape)
        problems.append(
            f"expected the {what} to sum to one{each}, got a sum of"
            f" {float(sums[tuple(at)]):.9g}{_given(parents, at)}"
        )
        return values
    # Sums that differ from one only by rounding stay, so that copies are identical.
    return frozen_array(values if is_rounding_of_floats(worst, len(values)) else values / sums).real


def _given(parents: Sequence[Variable], at: Sequence[Any]) -> str:
    """Return the states of the parents at some positions, for a message."""
    states = [f"{v.name}={v.states[i]}" for v, i in zip(parents, at, strict=True)]
    return f" given {', '.join(states)}" if states else ""


def state_positions(
    scope: Sequence[Variable], states: Sequence[Sequence[int]]
) -> list[NDArray[np.intp]]:
    """Return positions of states of each variable as arrays.

    Raises
    ------
    InvalidArgumentError
        If there are not positions for each variable, or a position is out of range.
    """
    if len(states) != len(scope):
        raise InvalidArgumentError(
            f"expected states of each of the {len(scope)} variables, got {len(states)}"
        )
    arrays = [np.asarray(positions, dtype=np.intp) for positions in states]
    for v, positions in zip(scope, arrays, strict=True):
        if positions.size and not 0 <= positions.min() <= positions.max() < v.n_states:
            raise InvalidArgumentError(
                f"expected positions of the {v.n_states} states of {v.name}, got"
                f" {positions.min()} to {positions.max()}"
            )
    return arrays


def refuse_large_table(scope: Sequence[Variable], max_cells: int) -> None:
    """Raise `TooLargeError` if the table over a child and its parents has too many cells."""
    needed = math.prod(v.n_states for v in scope)
    if needed > max_cells:
        parents = [v.name for v in scope[1:13]]
        more = f" and {len(scope) - 13} more" if len(scope) > 13 else ""
        raise TooLargeError(
            f"expected at most {max_cells:,} cells, got {many(needed)} in the table of"
            f" {scope[0].name} given {', '.join(parents)}{more}",
            needed=needed,
            budget=max_cells,
        )
