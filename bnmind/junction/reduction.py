"""Smaller models with the same answers, and how programs read them and are read.

They have fewer variables, fewer states, fewer tables.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol, TypeAlias, TypeGuard

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed, made, sealed
from bnmind.errors import ImpossibleEvidenceError
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor, Values
from bnmind.pgm.network import Potential
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable

# --- Removal of barren variables ------------------------------------------------------------------
#
# A variable that is neither evidence nor a target, and has no such descendant, is *barren*: its
# distribution sums to one (Shachter, *Evaluating influence diagrams*, 1986). D-separated parts
# become disconnected when the tables are reduced to the evidence.


def without_barren(potentials: Sequence[Potential], needed: Iterable[str]) -> tuple[Potential, ...]:
    """Return the potentials without those of barren children, which sum to one."""
    children = {p.variable.name: p for p in potentials if not isinstance(p, Factor)}
    if not children:
        return tuple(potentials)
    uses: dict[str, int] = {}
    for potential in potentials:
        for variable in potential.scope:
            uses[variable.name] = uses.get(variable.name, 0) + 1
    safe = set(needed)
    waiting = [name for name in children if uses[name] == 1 and name not in safe]
    gone = set()
    while waiting:
        barren = waiting.pop()
        gone.add(barren)
        for variable in children[barren].scope[1:]:
            name = variable.name
            uses[name] -= 1
            if uses[name] == 1 and name in children and name not in safe:
                waiting.append(name)
    return tuple(p for p in potentials if isinstance(p, Factor) or p.variable.name not in gone)


# --- The possible states of variables given evidence, by arc consistency --------------------------
#
# Each table excludes the states of its variables for which all its entries are zero. States
# excluded by one table may exclude more states in other tables, until nothing changes (arc
# consistency). Large functions find their possible states without their tables.

_SMALL_TABLE = 2**8
"""The most cells of tables of functions that are expanded to find zeros."""

_LARGE_TABLE = 2**22
"""The most cells of tables that are searched for zeros."""

_LARGE_FUNCTION = 2**12
"""The most cells of a table of a function; larger functions are stored by their values."""

Domains = Mapping[str, tuple[int, ...]]
"""The possible state positions of each variable."""


def n_cells(potential: Potential, domains: Domains) -> int:
    """Return the number of cells of a potential's table on the possible states."""
    return math.prod(len(domains[v.name]) for v in potential.scope)


def table(potential: Potential, domains: Domains) -> Values:
    """Return the values of a potential on the possible states, with an axis for each variable."""
    states = [domains[v.name] for v in potential.scope]
    if not isinstance(potential, Factor | TabularCPD):
        return potential.table_on(states)
    values = potential.values
    if values.shape == tuple(map(len, states)):
        return values
    return values[np.ix_(*[list(k) for k in states])]


def is_kept_as_function(potential: Potential, domains: Domains) -> TypeGuard[FunctionalCPD]:
    """Return whether a potential is stored as the child's state in each row."""
    return (
        isinstance(potential, FunctionalCPD)
        and len(domains[potential.variable.name]) > 1
        and n_cells(potential, domains) > _LARGE_FUNCTION
    )


def n_numbers(potential: Potential, domains: Domains) -> int:
    """Return how many numbers a plan stores for a potential: cells, or values of a function."""
    cells = n_cells(potential, domains)
    if is_kept_as_function(potential, domains):
        return cells // len(domains[potential.variable.name])
    return cells


def positions(cpd: FunctionalCPD, domains: Domains) -> NDArray[np.intp]:
    """Return the child's position among its possible states, with an axis for each parent.

    The position is −1 where the function's value is not possible.
    """
    arguments = np.ix_(*[np.asarray(domains[v.name], dtype=np.intp) for v in cpd.parents])
    places = np.full(cpd.variable.n_states, -1, dtype=np.intp)
    child_states = domains[cpd.variable.name]
    places[list(child_states)] = np.arange(len(child_states))
    values = np.broadcast_to(cpd.function(*arguments), [len(domains[v.name]) for v in cpd.parents])
    return places[values]


def possible_states(
    potentials: Sequence[Potential],
    domains: Domains,
    *,
    keep: Iterable[str] = (),
) -> dict[str, tuple[int, ...]]:
    """Return the states that no single table excludes, apart from the largest tables.

    Parameters
    ----------
    potentials
        The tables of the model.
    domains
        The initial possible states of every variable; evidence has one state.
    keep
        Variables that keep all their states.

    Raises
    ------
    ImpossibleEvidenceError
        If a variable has no possible state. The error does not name the evidence.
    """
    current = dict(domains)
    protected = frozenset(keep)
    holders: dict[str, list[int]] = {}
    for i, potential in enumerate(potentials):
        for variable in potential.scope:
            holders.setdefault(variable.name, []).append(i)
    waiting = deque(sorted(range(len(potentials)), key=lambda i: n_cells(potentials[i], domains)))
    queued = set(waiting)
    while waiting:
        i = waiting.popleft()
        queued.remove(i)
        potential = potentials[i]
        is_table = isinstance(potential, Factor | TabularCPD)
        if is_table and n_cells(potential, current) > _LARGE_TABLE:
            # It is queued again when one of its variables loses a state.
            continue
        supported = _supported(potential, current)
        if not all(supported):
            raise ImpossibleEvidenceError("the evidence has probability zero", {})
        for variable, states in zip(potential.scope, supported, strict=True):
            name = variable.name
            if name not in protected and len(states) < len(current[name]):
                current[name] = states
                more = [j for j in holders[name] if j != i and j not in queued]
                waiting += more
                queued.update(more)
    return current


def _supported(potential: Potential, domains: Domains) -> tuple[tuple[int, ...], ...]:
    """Return, for each variable of a table, its states with a non-zero entry."""
    states = [domains[v.name] for v in potential.scope]
    small = n_cells(potential, domains) <= _SMALL_TABLE
    if not isinstance(potential, Factor | TabularCPD) and not small:
        return tuple(potential.possible(states))
    positive = table(potential, domains) != 0
    result = []
    for axis, domain in enumerate(states):
        others = tuple(a for a in range(positive.ndim) if a != axis)
        occurs = positive.any(axis=others)
        result.append(tuple(domain) if occurs.all() else tuple(np.asarray(domain)[occurs].tolist()))
    return tuple(result)


# --- Reduced models, with fewer states, fewer tables and compound variables -----------------------
#
# A reduced model has its own variables. A `Lift` maps each variable of the original model to the
# reduced one. A variable with a single state has no reduced variable. A variable with fewer states
# keeps its name. Variables with few possible joint configurations become one compound variable,
# whose states are these configurations (zero compression of exact zeros: Jensen & Andersen,
# *Approximations in Bayesian belief universes for knowledge-based systems*, 1990).

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
    large: tuple[Potential, ...] = ()
    """The potentials whose tables are not expanded."""
    halved: bool = False
    """Whether one of each pair of conjugate terms is omitted, so that only real parts count."""

    @property
    def scopes(self) -> tuple[Scope, ...]:
        """The scopes of all tables and functions, in the order in which the model has them."""
        scopes = [table.scope for table in self.tables]
        for function in reversed(self.functions):
            scopes.insert(function.place, function.scope)
        return tuple(scopes)

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


def lift_of(domains: Domains) -> tuple[dict[str, int], dict[str, Lift]]:
    """Return sizes and lifts that drop impossible states and certain variables."""
    lifts = {
        name: made(
            Lift,
            home=name if len(states) > 1 else None,
            positions=sealed(np.array(states, dtype=np.intp)),
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
    contents: list[Table | FunctionTable] = [*map(_essential, model.tables), *model.functions]
    holders: dict[str, set[int]] = {name: set() for name in model.sizes}
    for i, content in enumerate(contents):
        for name in content.scope:
            holders[name].add(i)
    safe = frozenset(protected)
    waiting = [name for name, where in holders.items() if len(where) == 1 and name not in safe]
    for name in waiting:
        if len(holders[name]) != 1:
            continue
        (i,) = holders[name]
        content = contents[i]
        if (total := _constant_sum(content, name)) is None:
            continue
        contents[i] = Table((), total)
        del holders[name]
        for other in content.scope:
            if other != name:
                holders[other].remove(i)
                # Each removal may enable others.
                if len(holders[other]) == 1 and other not in safe:
                    waiting.append(other)
    # A variable in no table contributes a factor: its number of states.
    forgotten = [name for name, where in holders.items() if not where and name not in safe]
    tables = [content for content in contents if isinstance(content, Table)]
    tables += [Table((), np.asarray(float(model.sizes[name]))) for name in forgotten]
    return replace(
        model,
        sizes={n: model.sizes[n] for n in holders if holders[n] or n in safe},
        tables=tuple(tables),
        functions=tuple(content for content in contents if isinstance(content, FunctionTable)),
    )


def _constant_sum(content: Table | FunctionTable, name: str) -> Values | None:
    """Return the sum of a table over a variable if it does not depend on the others."""
    if isinstance(content, FunctionTable):
        # With a state in every row, the table sums out to one.
        is_one = name == content.scope[0] and bool(np.all(content.positions >= 0))
        return np.ones(()) if is_one else None
    total = content.values.sum(axis=content.scope.index(name))
    first = np.asarray(total.flat[0])
    return first if np.abs(total - first).max() <= _CONSTANT * np.abs(first) else None


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
    rest = tuple(v for v in table.scope if v not in merged)
    front = np.transpose(table.values, [table.scope.index(v) for v in (*inside, *rest)])
    index = tuple(rows[:, merged.index(v)] for v in inside)
    return Table((name, *rest), front[index])


# Zero compression: several variables become one, whose states are their possible configurations.
#
# Only exact zeros are compressed (Jensen & Andersen, *Approximations in Bayesian belief universes
# for knowledge-based systems*, 1990). The candidates are the variables of a table that is known to
# have zeros, or of a target. Variables that are functions of the compound variable join it, so a
# joint distribution of causes and their consequences becomes a table over the causes.

_MOST_STATES = 2**18
"""The most configurations of a target that becomes one variable."""


def compounds(
    model: Reduction,
    given: Sequence[tuple[tuple[Variable, ...], Values]],
    targets: Sequence[tuple[Variable, ...]],
    observed: frozenset[str],
) -> list[Reduction]:
    """Return models with possible configurations of several variables as compound ones.

    Parameters
    ----------
    model
        The initial model.
    given
        Tables over variables of the original model whose zeros are known. Without such tables,
        the first target that is small enough is used.
    targets
        The variables of each target.
    observed
        Evidence variables, whose states each run takes; they are not merged.
    """
    wholes = [([v.name for v in scope], values) for scope, values in given]
    wholes = [whole for whole in wholes if not model.take(*whole).values.all()]
    if not wholes:
        for target in targets:
            scope = model.scope(v.name for v in target)
            if math.prod([model.sizes[name] for name in scope]) <= _MOST_STATES:
                shape = [v.n_states for v in target]
                wholes = [([v.name for v in target], np.broadcast_to(np.ones(()), shape))]
                break
    result = []
    for names, values in wholes:
        # An earlier table may have merged some of its variables.
        whole = model.take(names, values)
        if len(whole.scope) < 2 or not observed.isdisjoint(whole.scope):
            continue
        label = "+".join(whole.scope)
        while label in model.sizes or label in model.lifts:
            label += "+"
        model = with_compound(model, whole, label)
        result.append(model)
        while joining := _determined_by(model, label, observed):
            model = with_compound(model, joining, label)
        result.append(_multiplied(model, label))
    return result


def _multiplied(model: Reduction, label: str) -> Reduction:
    """Return the model with all tables over only a compound variable multiplied into one."""
    alone = [content.values for content in model.tables if content.scope == (label,)]
    if not alone:
        return model
    rest = tuple(content for content in model.tables if content.scope != (label,))
    product = Table((label,), math.prod(alone[1:], start=alone[0]))
    return replace(model, tables=(product, *rest))


def _determined_by(model: Reduction, label: str, observed: frozenset[str]) -> Table | None:
    """Return a table whose other variables a compound variable determines, if there is one."""
    for content in model.tables:
        together = label in content.scope and len(content.scope) > 1
        is_free = together and observed.isdisjoint(content.scope)
        if is_free and np.count_nonzero(content.values) <= model.sizes[label]:
            return content
    return None


# --- Half of the terms of a factorization over the complex numbers --------------------------------
#
# In a factorization with roots of unity, the terms of a real table are conjugate pairs, except for
# the real roots. Twice the real part of one term is the sum of its pair. Therefore ⌊m/2⌋ + 1 states
# of the auxiliary variable suffice instead of m, and the result is the real part.
#
# Only one of several auxiliary variables is halved. Suppose that the complex tables form groups,
# each over its own variable B_j, whose states are conjugate in pairs in every table that contains
# B_j. Given all other variables, the sum over B_j of the product of its tables is then a real
# number R_j. Halving B_1 therefore preserves the result:
#
# .. math:: \sum_{b_1} g_1(b_1)\, \prod_{j > 1} R_j
#           = \Re \sum_{b_1 \text{, halved}} g_1(b_1) \prod_{j > 1} R_j
#
# The real part of a product of several halves is not the product of their real parts, so a second
# variable cannot be halved.

_SAME = 1e-12
"""The tolerance for equal conjugates; roots of unity have rounding errors."""


def without_conjugates(model: Reduction, protected: Iterable[str]) -> Reduction:
    """Return the model with one state of each conjugate pair of an auxiliary variable.

    If every complex table contains exactly one such variable, the function halves the one with
    the most states. Otherwise it returns the model unchanged. The real parts of the reduced
    model's sums equal the model's sums, which are real. The ``protected`` variables, those of
    the result and of the evidence, keep all their states.
    """
    scopes = [frozenset(t.scope) for t in model.tables if t.values.dtype.kind == "c"]
    if not scopes:
        return model
    remaining = set(scopes)
    candidates = set().union(*scopes) - set(protected)
    candidates -= {name for function in model.functions for name in function.scope}
    chosen: dict[str, NDArray[np.intp]] = {}
    # An auxiliary variable is in many complex tables, the variable it represents in few.
    for name in sorted(candidates, key=lambda n: (-sum(n in scope for scope in scopes), n)):
        mine = {scope for scope in remaining if name in scope}
        if not mine or any(name in scope for scope in set(scopes) - remaining):
            continue
        partner = _partners([t for t in model.tables if name in t.scope], name)
        if partner is not None:
            chosen[name] = partner
            remaining -= mine
    if remaining or not chosen:
        return model
    name = max(chosen, key=lambda n: (model.sizes[n], n))
    return _halved(model, name, chosen[name])


def _partners(tables: list[Table], name: str) -> NDArray[np.intp] | None:
    """Return the state conjugate to each state in every table at once, if there is one."""
    fronts = [np.moveaxis(table.values, table.scope.index(name), 0) for table in tables]
    rows = np.concatenate([front.reshape(len(front), -1) for front in fronts], axis=1)
    # One number of each row finds candidates, which are then compared in full.
    key = rows @ (0.5 + math.sqrt(2) * np.arange(rows.shape[1]) % 1)
    partner = np.abs(key[:, None] - key.conj()[None, :]).argmin(axis=1)
    states = np.arange(len(rows))
    paired = np.array_equal(partner[partner], states)
    return partner if paired and np.abs(rows - rows[partner].conj()).max() <= _SAME else None


def _halved(model: Reduction, name: str, partner: NDArray[np.intp]) -> Reduction:
    states = np.arange(len(partner))
    kept_states = states[states <= partner]
    weight = np.where(partner[kept_states] == kept_states, 1.0, 2.0)
    tables = list(model.tables)
    for i, table in enumerate(tables):
        if name in table.scope:
            axis = table.scope.index(name)
            values = table.values.take(kept_states, axis=axis)
            values = values * weight.reshape(-1, *[1] * (values.ndim - 1 - axis))
            tables[i] = Table(table.scope, values)
            weight = np.ones(len(weight))  # only one of the tables is weighted
    lift = replace(model.lifts[name], positions=model.lifts[name].positions[kept_states])
    sizes = {**model.sizes, name: len(kept_states)}
    return replace(
        model,
        sizes=sizes,
        lifts={**model.lifts, name: lift},
        tables=tuple(tables),
        halved=True,
    )


# --- The sources of a program, which fill its first registers, and the answers at its end ---------


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


@dataclass(frozen=True, eq=False)
class Source(Sealed):
    """The source of a register: a table of the model before it is reduced to the evidence."""

    scope: tuple[int, ...]
    """The hidden variables, by their numbers in the program."""
    observed: tuple[str, ...]
    """The evidence variables; their axes come first."""
    values: Values | None
    """The table; None if it is too large to expand, or an input of each run."""
    n_cells: int
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

    def source(names: Sequence[str], values: Values | None, **more: Any) -> Source:
        return made(
            Source,
            scope=tuple([number[name] for name in names if name not in observed]),
            observed=tuple([name for name in names if name in observed]),
            values=values,
            n_cells=math.prod([model.sizes[name] for name in names]),
            **more,
        )

    sources = []
    for content in model.tables:
        names, values = content.scope, content.values
        signed = values.dtype.kind == "c" or bool((values < 0).any())
        if not observed.isdisjoint(names):
            # Stable: the observed variables come first.
            axes = sorted(range(len(names)), key=lambda axis: names[axis] not in observed)
            values = sealed(np.ascontiguousarray(np.transpose(values, axes)))
        sources.append(source(names, values, signed=signed))
    sources += [_function_source(function, number, observed) for function in model.functions]
    sources += [source(model.scope(v.name for v in p.scope), None) for p in model.large]
    for label, variables in inputs.items():
        whole = tuple(v.name for v in variables)
        sources.append(source(model.scope(whole), None, input=label, model=model, whole=whole))
    return tuple(sources)


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
