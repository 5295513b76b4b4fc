"""Models as sums of logarithmic tables, reduced to the states that evidence leaves possible.

A state is impossible if a table has no possible cell with it. Impossible states are removed until
none is left, and variables with a single state disappear. Tables over a part of another table's
variables are added to it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.information import Floats
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential
from bnmind.pgm.variable import Variable

__all__ = ["LogTable", "LogTables", "log_tables"]

_Scope = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class LogTable(Value):
    """A table of logarithms over some variables, by number; −inf for impossible cells."""

    scope: _Scope
    values: Floats


@dataclass(frozen=True, eq=False, kw_only=True)
class LogTables(Value):
    """A function of some variables as a sum of tables and a constant."""

    variables: tuple[Variable, ...]
    """All variables of the model, those that are certain too."""
    states: tuple[NDArray[np.intp], ...]
    """The possible states of each variable; one state if it is certain."""
    tables: tuple[LogTable, ...]
    """Over the variables that are not certain; their axes are the possible states."""
    constant: float
    """The value of the certain part; −inf if no configuration is possible."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of possible states of each variable."""
        return tuple([len(states) for states in self.states])

    def value(self, positions: Sequence[int]) -> float:
        """Return the value of a configuration, by positions among the possible states."""
        terms = [float(t.values[tuple([positions[v] for v in t.scope])]) for t in self.tables]
        return math.fsum([self.constant, *terms])


def log_tables(
    potentials: Sequence[Potential],
    variables: Sequence[Variable],
    evidence: Mapping[str, int],
    likelihoods: Mapping[str, Floats],
) -> LogTables:
    """Return the logarithmic tables of a model under evidence.

    Parameters
    ----------
    potentials
        Non-negative factors, and distributions whose tables fit.
    variables
        All their variables.
    evidence
        Positions of observed states by name.
    likelihoods
        Weights of the states of other variables, by name.
    """
    number = {v.name: i for i, v in enumerate(variables)}
    possible = [np.ones(v.n_states, dtype=np.bool_) for v in variables]
    for name, state in evidence.items():
        possible[number[name]] = np.arange(len(possible[number[name]])) == state
    by_scope: dict[_Scope, Any] = {}
    for potential in potentials:
        factor = potential if isinstance(potential, Factor) else potential.to_factor()
        scope = tuple([number[name] for name in factor.names])
        order = sorted(range(len(scope)), key=scope.__getitem__)
        _add(by_scope, tuple(sorted(scope)), _logarithms(factor.values.real.transpose(order)))
    for name, weights in likelihoods.items():
        _add(by_scope, (number[name],), _logarithms(np.asarray(weights, dtype=np.float64)))
    states = [np.arange(v.n_states) for v in variables]
    constant, is_new = 0.0, True
    while is_new:
        _prune(by_scope, possible)
        states = [own[each] for own, each in zip(states, possible, strict=True)]
        if not all(len(own) for own in states):
            return _impossible(variables)
        by_scope, certain = _cut(by_scope, possible)
        constant += certain
        # A sum of tables has more impossible cells than the tables, so that states may follow.
        by_scope = _absorbed(by_scope)
        is_new = not all(each.all() for each in possible)
        possible = [np.ones(len(own), dtype=np.bool_) for own in states]
    tables = tuple([LogTable(scope, values) for scope, values in by_scope.items()])
    return LogTables(
        variables=tuple(variables), states=tuple(states), tables=tables, constant=constant
    )


def _impossible(variables: Sequence[Variable]) -> LogTables:
    """Return the tables of a model without possible configurations."""
    first = np.zeros(1, dtype=np.intp)
    return LogTables(
        variables=tuple(variables),
        states=(first,) * len(variables),
        tables=(),
        constant=-math.inf,
    )


def _cut(
    tables: Mapping[_Scope, Any], possible: Sequence[NDArray[np.bool_]]
) -> tuple[dict[_Scope, Any], float]:
    """Return the tables at the possible states, without certain variables, and a constant."""
    states = [np.flatnonzero(each) for each in possible]
    constant = 0.0
    cut: dict[_Scope, Any] = {}
    for scope, values in tables.items():
        small = values[np.ix_(*[states[v] for v in scope])] if scope else values
        rest = tuple([v for v in scope if len(states[v]) > 1])
        small = small.reshape([len(states[v]) for v in rest])
        if rest:
            _add(cut, rest, small)
        else:
            constant += float(small)
    return cut, constant


def _logarithms(values: Any) -> Floats:
    with np.errstate(divide="ignore"):
        logs: Floats = np.log(values)
    return logs


def _add(tables: dict[_Scope, Any], scope: _Scope, values: Floats) -> None:
    tables[scope] = tables[scope] + values if scope in tables else values


def _prune(tables: Mapping[_Scope, Any], possible: list[NDArray[np.bool_]]) -> None:
    """Mark the states that a table excludes, until no more are found (arc consistency)."""
    of_variable: dict[int, list[_Scope]] = {}
    cells = {scope: values > -math.inf for scope, values in tables.items()}
    for scope in tables:
        for v in scope:
            of_variable.setdefault(v, []).append(scope)
    # A table without zeros excludes nothing but the impossible states of its variables.
    certain = {v for v, states in enumerate(possible) if not states.all()}
    waiting = dict.fromkeys(
        scope for scope in tables if not certain.isdisjoint(scope) or not cells[scope].all()
    )
    while waiting:
        scope, _ = waiting.popitem()
        if not scope:
            continue
        open_cells = cells[scope]
        for axis, v in enumerate(scope):
            shape = [-1 if a == axis else 1 for a in range(len(scope))]
            open_cells = open_cells & possible[v].reshape(shape)
        cells[scope] = open_cells
        for axis, v in enumerate(scope):
            others = tuple(a for a in range(len(scope)) if a != axis)
            left = open_cells.any(axis=others) & possible[v]
            if np.count_nonzero(left) < np.count_nonzero(possible[v]):
                possible[v] = left
                waiting.update(dict.fromkeys(of_variable[v]))


def _absorbed(tables: Mapping[_Scope, Any]) -> dict[_Scope, Any]:
    """Return the tables without those over a part of another's variables, added to the other."""
    result: dict[_Scope, Any] = {}
    of_variable: dict[int, list[_Scope]] = {}
    for scope in sorted(tables, key=lambda scope: (-len(scope), scope)):
        values, members = tables[scope], set(scope)
        rarest = min(scope, key=lambda v: len(of_variable.get(v, ())))
        # Longer scopes came first, and no other scope of this length can have all members.
        larger = None
        for other in of_variable.get(rarest, ()):
            if len(other) <= len(scope):
                break
            if members <= set(other):
                larger = other
                break
        if larger is None:
            result[scope] = values
            for v in scope:
                of_variable.setdefault(v, []).append(scope)
        else:
            shape = [result[larger].shape[a] if v in members else 1 for a, v in enumerate(larger)]
            result[larger] = result[larger] + values.reshape(shape)
    return result
