"""Interchangeable variables of a product of factors, found by equal tables.

Two variables are interchangeable if they are in no table together, and their tables with all other
variables are equal. Relational models have many: in a complete bipartite graph with one table for
all edges, every variable of a side is. Such a model has a large treewidth, but the number of
variables in each state determines its weight.

The tables are first brought into pairs: the evidence is inserted, tables over the same variables
are multiplied, and a variable in a single table of two or three variables (a *leaf*) is summed out.

References
----------
B. Milch, L. Zettlemoyer, K. Kersting, M. Haimes and L. Kaelbling, "Lifted probabilistic
inference with counting formulas", AAAI 2008.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from bnmind.information import Floats
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network

__all__ = ["Leaf", "SymmetricModel", "symmetric_model"]

Scope: TypeAlias = tuple[str, ...]

_SMALLEST_GROUP = 8
"""The fewest interchangeable variables that are counted."""


@dataclass(frozen=True, eq=False)
class Leaf:
    """A variable that was summed out of the only table that it is in."""

    name: str
    scope: Scope
    """The other variables of the table."""
    table: Floats
    """The table, with the leaf as its last axis."""


@dataclass(eq=False)
class SymmetricModel:
    """A product of tables over single variables and pairs, with groups of equal variables."""

    sizes: Mapping[str, int]
    """The number of states of each variable without evidence."""
    singles: dict[str, Floats] = field(default_factory=dict)
    """For each variable, the product of its own tables."""
    pairs: dict[Scope, Floats] = field(default_factory=dict)
    """The product of the tables of each pair, by the names in their order."""
    leaves: list[Leaf] = field(default_factory=list)
    number: float = 1.0
    """The product of the tables without variables."""
    groups: list[list[str]] = field(default_factory=list)
    """Interchangeable variables; no variable of a group is in a table with one of another group."""


def symmetric_model(
    model: Network | FactorModel, positions: Mapping[str, int], soft: Mapping[str, Floats]
) -> SymmetricModel | None:
    """Return the model given evidence; None if it has large tables or no interchangeable variables.

    Parameters
    ----------
    model
        The model.
    positions
        The observed states, by name.
    soft
        The likelihoods of other variables.
    """
    if any(not isinstance(table, Factor) or len(table.scope) > 3 for table in model.potentials):
        return None
    found = SymmetricModel({v.name: v.n_states for v in model.variables if v.name not in positions})
    found.singles = {name: np.ones(n) for name, n in found.sizes.items()}
    for name, weights in soft.items():
        found.singles[name] = found.singles[name] * weights
    tables: dict[Scope, Floats] = {}
    for potential in model.potentials:
        assert isinstance(potential, Factor)  # as has been checked
        if np.iscomplexobj(potential.values) or np.any(potential.values < 0):
            return None
        _insert(found, tables, _given(potential, positions))
    _sum_out_leaves(found, tables)
    if any(len(scope) > 2 for scope in tables):
        return None
    found.pairs = tables
    found.groups = _groups(found)
    return found if found.groups else None


def _given(factor: Factor, positions: Mapping[str, int]) -> tuple[Scope, Floats]:
    """Return the table of a factor given evidence, with its names in order."""
    cut = tuple(positions.get(name, slice(None)) for name in factor.names)
    scope = tuple(name for name in factor.names if name not in positions)
    values = np.asarray(factor.values[cut], dtype=np.float64)
    order = sorted(range(len(scope)), key=scope.__getitem__)
    return tuple(scope[i] for i in order), values.transpose(order)


def _insert(
    found: SymmetricModel, tables: dict[Scope, Floats], table: tuple[Scope, Floats]
) -> None:
    """Multiply a table into the one over the same variables."""
    scope, values = table
    if not scope:
        found.number *= float(values)
    elif len(scope) == 1:
        found.singles[scope[0]] = found.singles[scope[0]] * values
    else:
        tables[scope] = tables[scope] * values if scope in tables else values


def _sum_out_leaves(found: SymmetricModel, tables: dict[Scope, Floats]) -> None:
    """Sum out a variable of each table that is in no other, and that leaves at most a pair."""
    uses = Counter(name for scope in tables for name in scope)
    for scope in list(tables):
        leaf = next((name for name in reversed(scope) if uses[name] == 1), None)
        if leaf is None:
            continue
        values = tables.pop(scope) * _along(found.singles.pop(leaf), scope.index(leaf), len(scope))
        others = tuple(name for name in scope if name != leaf)
        full = np.moveaxis(values, scope.index(leaf), -1)
        found.leaves.append(Leaf(leaf, others, full))
        _insert(found, tables, (others, full.sum(axis=-1)))


def _along(values: Floats, axis: int, n_axes: int) -> Floats:
    return values.reshape([-1 if i == axis else 1 for i in range(n_axes)])


def _groups(found: SymmetricModel) -> list[list[str]]:
    """Return groups of interchangeable variables, the largest first, none next to another."""
    around: dict[str, list[tuple[str, bytes]]] = {name: [] for name in found.singles}
    for (first, second), values in found.pairs.items():
        around[first].append((second, values.tobytes()))
        around[second].append((first, values.T.tobytes()))
    equal: dict[tuple[object, ...], list[str]] = {}
    for name, tables in around.items():
        if tables:
            key = (found.sizes[name], found.singles[name].tobytes(), frozenset(tables))
            equal.setdefault(key, []).append(name)
    chosen: list[list[str]] = []
    near: set[str] = set()
    for group in sorted(equal.values(), key=len, reverse=True):
        if len(group) >= _SMALLEST_GROUP and near.isdisjoint(group):
            chosen.append(group)
            near |= {other for other, _ in around[group[0]]}
    return chosen


def all_names(groups: Sequence[Sequence[str]]) -> dict[str, int]:
    """Return the number of the group of each variable in one."""
    return {name: number for number, group in enumerate(groups) for name in group}
