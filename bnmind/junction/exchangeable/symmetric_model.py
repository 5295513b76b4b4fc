"""Interchangeable variables of a product of factors, found by equal tables.

Two variables are interchangeable if they are in no table together, and their tables with all other
variables are equal. Relational models have many: in a complete bipartite graph with one table for
all edges, every variable of a side is. Such a model has a large treewidth, but the number of
variables in each state determines its weight.

The tables are first brought into pairs: the evidence is inserted, tables over the same variables
are multiplied, and a variable in a single table of two or three variables (a *leaf*) is summed out.
Thousands of observed variables may leave as many tables over the same variable, so each product is
divided by a power of two that is close to its largest number.

References
----------
B. Milch, L. Zettlemoyer, K. Kersting, M. Haimes and L. Kaelbling, "Lifted probabilistic
inference with counting formulas", AAAI 2008.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np

from bnmind.information import Floats
from bnmind.junction.causes.products import products_by_group
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network

__all__ = ["Leaf", "SymmetricModel", "symmetric_model"]

Scope: TypeAlias = tuple[str, ...]

_Tables: TypeAlias = defaultdict[Scope, list[Floats]]
"""The tables over the same variables, which are to be multiplied."""

_SMALLEST_GROUP = 8
"""The fewest interchangeable variables that are counted."""

_WIDEST = 900
"""The widest range of the powers of two in a product; wider ones would lose numbers."""


class _TooWideError(Exception):
    """The numbers of a product are too far apart for one table."""


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
    """For each variable, the product of its own tables, divided by a power of two."""
    pairs: dict[Scope, Floats] = field(default_factory=dict)
    """The product of the tables of each pair, by the names in their order, likewise."""
    leaves: list[Leaf] = field(default_factory=list)
    log_scale: float = 0.0
    """The natural logarithm by which the product must be multiplied; −inf if it is zero."""
    groups: list[list[str]] = field(default_factory=list)
    """Interchangeable variables; no variable of a group is in a table with one of another group."""


def symmetric_model(
    model: Network | FactorModel, positions: Mapping[str, int], soft: Mapping[str, Floats]
) -> SymmetricModel | None:
    """Return the model given evidence; None if it has large tables or no interchangeable variables.

    The result is also None if the numbers of a product are too far apart for one table.

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
    sizes = {v.name: v.n_states for v in model.variables if v.name not in positions}
    tables: _Tables = defaultdict(list, {(name,): [np.ones(n)] for name, n in sizes.items()})
    for name, weights in soft.items():
        tables[(name,)].append(weights)
    for potential in model.potentials:
        assert isinstance(potential, Factor)  # as has been checked
        if np.iscomplexobj(potential.values) or np.any(potential.values < 0):
            return None
        scope, values = _given(potential, positions)
        tables[scope].append(values)
    found = SymmetricModel(sizes)
    try:
        _sum_out_leaves(found, tables)
        if any(len(scope) > 2 for scope in tables):
            return None
        _multiply(found, tables)
    except _TooWideError:
        return None
    found.groups = _groups(found)
    return found if found.groups else None


def _given(factor: Factor, positions: Mapping[str, int]) -> tuple[Scope, Floats]:
    """Return the table of a factor given evidence, with its names in order."""
    cut = tuple(positions.get(name, slice(None)) for name in factor.names)
    scope = tuple(name for name in factor.names if name not in positions)
    values = np.asarray(factor.values[cut], dtype=np.float64)
    order = sorted(range(len(scope)), key=scope.__getitem__)
    return tuple(scope[i] for i in order), values.transpose(order)


def _sum_out_leaves(found: SymmetricModel, tables: _Tables) -> None:
    """Sum out a variable of each scope that is in no other, and that leaves at most a pair."""
    scopes = [scope for scope in tables if len(scope) > 1]
    uses = Counter(name for scope in scopes for name in scope)
    for scope in scopes:
        leaf = next((name for name in reversed(scope) if uses[name] == 1), None)
        if leaf is None:
            continue
        axis = scope.index(leaf)
        own = [_along(values, axis, len(scope)) for values in tables.pop((leaf,))]
        full, power = _product([*tables.pop(scope), *own])
        others = tuple(name for name in scope if name != leaf)
        full = np.moveaxis(full, axis, -1)
        found.leaves.append(Leaf(leaf, others, full))
        found.log_scale += power * math.log(2)
        tables[others].append(full.sum(axis=-1))


def _multiply(found: SymmetricModel, tables: _Tables) -> None:
    """Multiply the tables of each scope, which has at most two variables."""
    for scope, several in tables.items():
        product, power = _product(several)
        found.log_scale += power * math.log(2)
        if len(scope) == 2:
            found.pairs[scope] = product
        elif scope:
            found.singles[scope[0]] = product
        else:
            found.log_scale += math.log(product) if product > 0 else -math.inf


def _product(tables: Sequence[Floats]) -> tuple[Floats, int]:
    """Return the product of tables, divided by a power of two, and the power."""
    if len(tables) == 1:
        mantissas, powers = np.frexp(tables[0])
    else:
        shape = np.broadcast_shapes(*[values.shape for values in tables])
        stack = np.stack([np.broadcast_to(values, shape).ravel() for values in tables])
        cells = np.tile(np.arange(stack.shape[1]), len(tables))
        found = products_by_group(stack.ravel(), cells, stack.shape[1])
        mantissas, powers = (part.reshape(shape) for part in found)
    positive = powers[mantissas > 0]
    if not positive.size:
        return np.zeros(mantissas.shape), 0
    largest = int(positive.max())
    if largest - positive.min() > _WIDEST:
        raise _TooWideError
    # A zero may have any power; its difference must not exceed the range of ldexp's integers.
    shifts = np.where(mantissas > 0, powers - largest, 0)
    return np.ldexp(mantissas, shifts), largest


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
