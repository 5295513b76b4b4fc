"""Reduced models, with fewer states, fewer tables and compound variables.

A reduced model has its own variables. A `Lift` maps each variable of the original model to the
reduced one. A variable with a single state has no reduced variable. A variable with fewer states
keeps its name. Variables with few possible joint configurations become one compound variable, whose
states are these configurations (zero compression of exact zeros: Jensen & Andersen, *Approximations
in Bayesian belief universes for knowledge-based systems*, 1990).
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, made, sealed
from bnmind.junction.reduction.possible_states import Domains
from bnmind.pgm.factor import Values

__all__ = [
    "FunctionTable",
    "Lift",
    "Reduction",
    "Scope",
    "Table",
    "lift_of",
    "with_compound",
    "without_leaves",
]

Scope: TypeAlias = tuple[str, ...]
"""The variables of a table, in the order of its axes."""

_CONSTANT = 1e-14
"""The relative variation below which a sum does not depend on its variables."""


@dataclass(frozen=True, eq=False)
class Lift(Sealed):
    """The place of a variable of the original model in a reduced one."""

    home: str | None
    """The reduced variable, or None for a variable with a single state."""
    positions: NDArray[np.intp]
    """The original state position for each state of ``home``; one entry without a home."""


@dataclass(frozen=True, eq=False)
class Table(Sealed):
    """Values over reduced variables."""

    scope: Scope
    values: Values


@dataclass(frozen=True, eq=False)
class FunctionTable(Sealed):
    """A large table of zeros and ones, stored as the state of the one in each row."""

    scope: Scope
    """The determined variable, then the variables that determine it."""
    positions: NDArray[np.intp]
    """Its state for each configuration of the others; −1 where no state is possible."""
    place: int
    """The number of tables of the model before it."""

    def table(self, n_states: int) -> Table:
        """Return the expanded table, for ``n_states`` states of the first variable."""
        states = np.arange(n_states).reshape(-1, *[1] * self.positions.ndim)
        return Table(self.scope, (states == self.positions).astype(np.float64))


@dataclass(frozen=True, eq=False)
class Reduction(Sealed):
    """A reduced model: the sizes of its variables, its tables, and the map to the original."""

    sizes: Mapping[str, int]
    lifts: Mapping[str, Lift]
    tables: tuple[Table, ...]
    functions: tuple[FunctionTable, ...] = ()
    """Further tables of the model, in order."""
    halved: bool = False
    """Whether one of each pair of conjugate terms is omitted, so that only real parts count."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes of all tables, in the order in which the model has them."""
        scopes = []
        functions = deque(self.functions)
        for number, table in enumerate(self.tables):
            while functions and functions[0].place <= number:
                scopes.append(functions.popleft().scope)
            scopes.append(table.scope)
        return (*scopes, *(function.scope for function in functions))

    def scope(self, names: Iterable[str]) -> Scope:
        """Return the reduced variables of original ones."""
        lifts = self.lifts
        homes = dict.fromkeys([lifts[name].home for name in names])
        return tuple([home for home in homes if home is not None])

    def positions(self, names: Sequence[str]) -> tuple[NDArray[np.intp], ...]:
        """Return index arrays that map a table over ``names`` to one over their homes."""
        scope = self.scope(names)
        index = []
        for name in names:
            lift = self.lifts[name]
            shape = [1] * len(scope)
            if lift.home is not None:
                shape[scope.index(lift.home)] = len(lift.positions)
            index.append(lift.positions.reshape(shape))
        return tuple(index)

    def take(self, names: Sequence[str], values: Values) -> Table:
        """Return a table over original variables as one over the reduced ones.

        Further axes, such as one of cases, stay unchanged.
        """
        variables, more = values.shape[: len(names)], values.shape[len(names) :]
        if all(
            self.lifts[name].home == name and len(self.lifts[name].positions) == size
            for name, size in zip(names, variables, strict=True)
        ):
            return Table(tuple(names), values)
        scope = self.scope(names)
        shape = (*(self.sizes[home] for home in scope), *more)
        return Table(scope, np.broadcast_to(values[self.positions(names)], shape))

    def cells(self, names: Sequence[str], shape: Sequence[int]) -> NDArray[np.intp]:
        """Return, for each cell of the reduced table, its flat index in the original one."""
        sizes = tuple(self.sizes[home] for home in self.scope(names))
        flat: Any = np.ravel_multi_index(
            np.broadcast_arrays(*self.positions(names)) if names else (), tuple(shape)
        )
        return np.ascontiguousarray(np.broadcast_to(flat, sizes)).ravel()


@lru_cache(maxsize=256)
def _all_of(n: int) -> NDArray[np.intp]:
    """Return the positions of n states."""
    return sealed(np.arange(n, dtype=np.intp))


def lift_of(domains: Domains) -> tuple[dict[str, int], dict[str, Lift]]:
    """Return sizes and lifts that drop impossible states and certain variables."""
    lifts = {
        name: made(
            Lift,
            home=name if len(states) > 1 else None,
            # Positions ascend, so the last one tells whether all are possible.
            positions=_all_of(len(states))
            if states[-1] == len(states) - 1
            else sealed(np.array(states, dtype=np.intp)),
        )
        for name, states in domains.items()
    }
    return {n: len(k) for n, k in domains.items() if len(k) > 1}, lifts


def without_leaves(model: Reduction, protected: Iterable[str]) -> Reduction:
    """Return the model without variables that influence nothing.

    If a variable is in a single table, and its sum out of that table is constant, it influences
    nothing (the C_i of a color that the guess does not have). The table is replaced by a number.
    This may make further variables removable.
    """
    safe = frozenset(protected)
    tables = [_essential(table) for table in model.tables]
    functions = list(model.functions)
    summed: set[str] = set()
    # Each removal may enable the other kind.
    while _sum_tables(tables, functions, safe, summed) + _sum_functions(
        tables, functions, safe, summed
    ):
        continue
    used = {name for scope in _scopes(tables, functions) for name in scope} | safe
    known = used | summed
    # A variable in no table contributes a factor: its number of states.
    forgotten = [size for name, size in model.sizes.items() if name not in known]
    tables += [Table((), np.asarray(float(size))) for size in forgotten]
    sizes = {name: size for name, size in model.sizes.items() if name in used}
    return replace(model, sizes=sizes, tables=tuple(tables), functions=tuple(functions))


def _scopes(tables: Sequence[Table], functions: Sequence[FunctionTable]) -> list[Scope]:
    return [table.scope for table in tables] + [function.scope for function in functions]


def _sum_tables(
    tables: list[Table], functions: list[FunctionTable], safe: frozenset[str], summed: set[str]
) -> int:
    """Replace tables with a variable that sums out to a constant by numbers; return how many.

    The variables of functions and the ``safe`` variables stay.
    """
    safe |= {name for function in functions for name in function.scope}
    holders: dict[str, set[int]] = {}
    for i, table in enumerate(tables):
        for name in table.scope:
            holders.setdefault(name, set()).add(i)
    waiting = [name for name, where in holders.items() if len(where) == 1 and name not in safe]
    count = 0
    for name in waiting:
        if len(holders[name]) != 1:
            continue
        (place,) = holders[name]
        table = tables[place]
        total = table.values.sum(axis=table.scope.index(name))
        low, high = np.abs(total - total.flat[0]).max(), np.abs(total.flat[0])
        if low <= _CONSTANT * high:
            tables[place] = Table((), np.asarray(total.flat[0]))
            summed.add(name)
            count += 1
            for other in table.scope:
                holders[other].remove(place)
                if len(holders[other]) == 1 and other not in safe:
                    waiting.append(other)
    return count


def _sum_functions(
    tables: list[Table], functions: list[FunctionTable], safe: frozenset[str], summed: set[str]
) -> int:
    """Remove functions whose value no other table depends on; return how many.

    The table of a function with a state in every row sums out to one.
    """
    uses = Counter(name for scope in _scopes(tables, functions) for name in scope)
    waiting: dict[str, list[FunctionTable]] = {}
    for function in functions:
        waiting.setdefault(function.scope[0], []).append(function)
    ends = [name for name in waiting if uses[name] == 1]
    gone: set[str] = set()
    # Each removal may make others removable.
    for name in ends:
        (function,) = waiting[name]
        if name in safe or np.any(function.positions < 0):
            continue
        gone.add(name)
        for other in function.scope:
            uses[other] -= 1
            if uses[other] == 1 and other in waiting and other not in gone:
                ends.append(other)
    summed |= gone
    functions[:] = [f for f in functions if f.scope[0] not in gone]
    return len(gone)


def _essential(table: Table) -> Table:
    """Return the table without the variables that its values do not depend on."""
    for name in table.scope:
        axis = table.scope.index(name)
        first = table.values.take([0], axis=axis)
        if np.array_equal(np.broadcast_to(first, table.values.shape), table.values):
            rest = tuple(v for v in table.scope if v != name)
            table = Table(rest, first.squeeze(axis=axis))
    return table


def with_compound(model: Reduction, table: Table, name: str) -> Reduction:
    """Return the model with a table's variables merged into one of its non-zero configurations.

    Parameters
    ----------
    model
        The model. Its other tables are rewritten over the new variable.
    table
        A table with zeros; one of the model's own.
    name
        The name of the new variable.
    """
    # A growing compound variable comes first, so that its configurations keep their order.
    merged = tuple(sorted(table.scope, key=lambda v: v != name))
    # Functions of merged variables are expanded.
    inside = [f for f in model.functions if not set(merged).isdisjoint(f.scope)]
    tables = (*model.tables, *(f.table(model.sizes[f.scope[0]]) for f in inside))
    values = np.transpose(table.values, [table.scope.index(v) for v in merged])
    rows = np.argwhere(values != 0)
    sizes = {n: s for n, s in model.sizes.items() if n not in merged}
    sizes[name] = len(rows)
    column = {v: rows[:, axis] for axis, v in enumerate(merged)}
    lifts = {
        original: Lift(name, lift.positions[column[lift.home]]) if lift.home in column else lift
        for original, lift in model.lifts.items()
    }
    return replace(
        model,
        sizes=sizes,
        lifts=lifts,
        tables=tuple(_gathered(t, merged, rows, name) for t in tables),
        functions=tuple(f for f in model.functions if f not in inside),
    )


def _gathered(table: Table, merged: Scope, rows: NDArray[np.intp], name: str) -> Table:
    inside = [v for v in merged if v in table.scope]
    if not inside:
        return table
    if inside == [name]:
        n_before = table.values.shape[table.scope.index(name)]
        if np.array_equal(rows[:, 0], np.arange(n_before)):
            # Each configuration has one row, so the values stay in place.
            return table
    rest = tuple(v for v in table.scope if v not in merged)
    front = np.transpose(table.values, [table.scope.index(v) for v in (*inside, *rest)])
    index = tuple(rows[:, merged.index(v)] for v in inside)
    return Table((name, *rest), front[index])
