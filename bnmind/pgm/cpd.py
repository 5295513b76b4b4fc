"""Conditional probability distributions: by table, or by function."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from bnmind.errors import InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.pgm.factor import Factor, frozen_array
from bnmind.pgm.functions import Function, Restricted
from bnmind.pgm.variable import Variable

__all__ = ["CPD", "DEFAULT_CELLS", "FunctionalCPD", "TabularCPD"]

DEFAULT_CELLS = 2**25
"""Cells that a single table may have unless the caller says otherwise (256 MiB)."""

_ROW_TOLERANCE = 1e-6
"""Rows this close to one are accepted and normalized: files print few digits."""


@dataclass(frozen=True, eq=False)
class TabularCPD:
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

    variable: Variable
    parents: tuple[Variable, ...]
    values: Floats

    def __post_init__(self) -> None:
        problems = []
        shape = tuple(v.n_states for v in self.scope)
        values = np.asarray(self.values, dtype=np.float64)
        name = self.variable.name
        if len({v.name for v in self.scope}) != len(self.scope):
            problems.append(f"expected distinct variables in the table of {name}")
        if values.shape != shape:
            problems.append(f"expected a table of shape {shape} for {name}, got {values.shape}")
        elif not np.all((values >= 0) & np.isfinite(values)):
            problems.append(f"expected probabilities in the table of {name}")
        else:
            sums = values.sum(axis=0)
            worst = float(np.abs(sums - 1).max())
            if worst > _ROW_TOLERANCE:
                problems.append(
                    f"expected the table of {name} to sum to one for every configuration of its"
                    f" parents, got a sum of {float(sums.flat[np.abs(sums - 1).argmax()]):.9g}"
                )
            elif worst > 4 * len(values) * np.finfo(np.float64).eps:
                # Sums that are one but for rounding stay: a copy has the same digits.
                values = values / sums
        if problems:
            raise InvalidModelError(problems)
        object.__setattr__(self, "values", frozen_array(values))

    def __reduce__(self) -> tuple[Any, ...]:
        return (TabularCPD, (self.variable, self.parents, self.values))

    @property
    def scope(self) -> tuple[Variable, ...]:
        """The child, then the parents."""
        return (self.variable, *self.parents)

    @property
    def n_cells(self) -> int:
        """The number of cells of the table."""
        return math.prod(v.n_states for v in self.scope)

    def to_factor(self, *, max_cells: int = DEFAULT_CELLS) -> Factor:
        """Return the table as a factor over ``scope``."""
        return Factor(self.scope, self.values)

    def restrict(self, states: Mapping[str, Sequence[int]]) -> TabularCPD:
        """Return the distribution on fewer states; parents with a single one are dropped.

        ``states`` gives the positions that remain for each variable named. States
        of the child that are cut away must be impossible: a configuration of the
        parents that would need them is therefore impossible too, and its row is
        made up to one again. `InvalidModelError` if that goes for all of them.
        """
        keep = [states.get(v.name, range(v.n_states)) for v in self.scope]
        values = self.values[np.ix_(*[list(kept) for kept in keep])]
        sums = values.sum(axis=0)
        cut = sums < 1 - _ROW_TOLERANCE
        if cut.any() and not cut.all():
            rows = np.where(sums > 0, values / np.where(sums > 0, sums, 1.0), 1 / len(values))
            values = np.where(cut, rows, values)
        dropped = tuple(axis for axis in range(1, len(keep)) if len(keep[axis]) == 1)
        parents = tuple(
            v.keep(kept) for v, kept in zip(self.parents, keep[1:], strict=True) if len(kept) > 1
        )
        return TabularCPD(self.variable.keep(keep[0]), parents, values.squeeze(axis=dropped))


@dataclass(frozen=True)
class FunctionalCPD:
    """A variable that is a function of its parents; the table is made only when asked for.

    Parameters
    ----------
    variable
        The child.
    parents
        The arguments, in order.
    function
        Maps state positions of the parents to those of the child.
    """

    variable: Variable
    parents: tuple[Variable, ...]
    function: Function

    def __post_init__(self) -> None:
        problems = []
        name = self.variable.name
        if len({v.name for v in self.scope}) != len(self.scope):
            problems.append(f"expected distinct variables for {name}")
        if not self.parents:
            problems.append(f"expected at least one parent of the functional variable {name}")
        # The corners show a wrong number of arguments or a range that is too large.
        for corner in (0, -1):
            at = [np.asarray(corner % v.n_states, dtype=np.intp) for v in self.parents]
            try:
                value = int(self.function(*at))
            except (ValueError, IndexError, TypeError) as fault:
                problems.append(f"expected a function of {len(at)} parents for {name}: {fault}")
                break
            if not 0 <= value < self.variable.n_states:
                problems.append(
                    f"expected results below {self.variable.n_states} for {name}, got {value}"
                )
        if problems:
            raise InvalidModelError(problems)

    @property
    def scope(self) -> tuple[Variable, ...]:
        """The child, then the parents."""
        return (self.variable, *self.parents)

    @property
    def n_cells(self) -> int:
        """The number of cells that the table would have."""
        return math.prod(v.n_states for v in self.scope)

    def value(self, positions: Sequence[int]) -> int:
        """Return the child's state position for these of the parents."""
        return int(self.function(*[np.asarray(i, dtype=np.intp) for i in positions]))

    def to_factor(self, *, max_cells: int = DEFAULT_CELLS) -> Factor:
        """Return the table of zeros and ones over ``scope``.

        Raises
        ------
        TooLargeError
            If it would have more than ``max_cells`` cells.
        """
        if self.n_cells > max_cells:
            raise TooLargeError(
                f"expected at most {max_cells:,} cells, got {self.n_cells:,} in the table of"
                f" {self.variable.name} given {', '.join(v.name for v in self.parents)}",
                needed=self.n_cells,
                budget=max_cells,
            )
        shape = tuple(v.n_states for v in self.parents)
        result = np.broadcast_to(self.function(*np.indices(shape, sparse=True)), shape)
        child = np.arange(self.variable.n_states).reshape((-1,) + (1,) * len(shape))
        return Factor(self.scope, (result == child).astype(np.float64))

    def to_tabular(self, *, max_cells: int = DEFAULT_CELLS) -> TabularCPD:
        """Return the same distribution as a table; `TooLargeError` as in `to_factor`."""
        table = self.to_factor(max_cells=max_cells).values
        return TabularCPD(self.variable, self.parents, np.real(table))

    def restrict(self, states: Mapping[str, Sequence[int]]) -> CPD:
        """Return the distribution on fewer states, as for `TabularCPD.restrict`.

        It stays a function as long as a parent is left.
        """
        keep = [tuple(states.get(v.name, range(v.n_states))) for v in self.parents]
        results = tuple(states.get(self.variable.name, range(self.variable.n_states)))
        child = self.variable.keep(results)
        parents = tuple(
            v.keep(kept) for v, kept in zip(self.parents, keep, strict=True) if len(kept) > 1
        )
        if not parents:
            value = self.value([kept[0] for kept in keep])
            # A certain result that was cut away leaves zeros, which is refused.
            return TabularCPD(child, (), np.array([float(i == value) for i in results]))
        function = self.function.restrict(keep)
        if results != tuple(range(self.variable.n_states)):
            everything = tuple(tuple(range(v.n_states)) for v in parents)
            function = Restricted(function, everything, results)
        return FunctionalCPD(child, parents, function)


CPD: TypeAlias = TabularCPD | FunctionalCPD
