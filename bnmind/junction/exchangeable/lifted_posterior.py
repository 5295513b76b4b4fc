"""Posterior distributions of models with interchangeable variables.

A group of interchangeable variables becomes one variable, whose states are the counts of
`bnmind.junction.exchangeable.counts`. The smaller model is answered by a plan. Given the count c of
m variables, each of them is in state s with probability cₛ/m.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._values import made
from bnmind.information import Floats
from bnmind.junction.causes.products import products_by_group
from bnmind.junction.exchangeable.counts import counts_of, power_table, weights_of_counts
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

__all__ = ["lifted_posterior"]

# --- Interchangeable variables of a product of factors, found by equal tables ---------------------
#
# Two variables are interchangeable if they are in no table together, and their tables with all
# other variables are equal. Relational models have many: in a complete bipartite graph with one
# table for all edges, every variable of a side is. Such a model has a large treewidth, but the
# number of variables in each state determines its weight.
#
# The tables are first brought into pairs: the evidence is inserted, tables over the same variables
# are multiplied, and a variable in a single table of two or three variables (a *leaf*) is summed
# out. Thousands of observed variables may leave as many tables over the same variable, so each
# product is divided by a power of two that is close to its largest number.
#
# References
# ----------
# B. Milch, L. Zettlemoyer, K. Kersting, M. Haimes and L. Kaelbling, "Lifted probabilistic
# inference with counting formulas", AAAI 2008.

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


# --- Posterior distributions of models with interchangeable variables -----------------------------
#
#


@dataclass(frozen=True, eq=False, kw_only=True)
class _Lifted:
    """The smaller model."""

    symmetric: SymmetricModel
    model: FactorModel
    log_scale: float
    """The logarithm by which the smaller model must be multiplied."""
    groups: Mapping[str, int]
    """The group of each variable that is in one."""
    names: tuple[str, ...]
    """The variable of each group."""
    counts: tuple[NDArray[np.int64], ...]
    """The counts of each group."""

    def holder(self, name: str) -> str:
        """Return the variable of the smaller model that determines a variable's distribution."""
        return self.names[self.groups[name]] if name in self.groups else name

    def expanded(self, joint: Floats, scope: tuple[str, ...]) -> Floats:
        """Return the joint of variables from that of their holders."""
        for axis, name in enumerate(scope):
            if name in self.groups:
                counts = self.counts[self.groups[name]]
                shares = counts / counts.sum(axis=1, keepdims=True)
                joint = np.moveaxis(np.tensordot(joint, shares, axes=(axis, 0)), -1, axis)
        return joint


def lifted_posterior(
    model: Network | FactorModel,
    names: tuple[str, ...],
    evidence: tuple[Mapping[str, int], Mapping[str, Floats]],
    limits: Limits,
) -> Posterior | None:
    """Return the distributions of variables; None if the model has no interchangeable variables.

    Parameters
    ----------
    model
        The model.
    names
        The variables, none of them observed.
    evidence
        The observed states by position, and the likelihoods of other variables.
    limits
        The limits of the plan of the smaller model.

    Raises
    ------
    TooLargeError
        If the smaller model exceeds the limits.
    ImpossibleEvidenceError
        If the evidence has probability zero.
    """
    symmetric = symmetric_model(model, *evidence)
    lifted = None if symmetric is None else _lifted(symmetric)
    if lifted is None or lifted.log_scale == -math.inf:
        return None
    leaves = {leaf.name: leaf for leaf in lifted.symmetric.leaves}
    scopes = {name: leaves[name].scope if name in leaves else (name,) for name in names}
    held = {scope: tuple(map(lifted.holder, scope)) for scope in scopes.values()}
    targets = list(dict.fromkeys(held.values())) or [()]
    plan = compile_plan(lifted.model, targets=targets, limits=limits)
    found = plan.run({})
    joints = dict(zip(targets, found.joints, strict=True))
    answers = []
    for name in names:
        scope = scopes[name]
        joint = lifted.expanded(np.asarray(joints[held[scope]].real), scope)
        answers.append(_of_leaf(leaves[name], joint) if name in leaves else joint)
    return made(
        Posterior,
        scopes=tuple((model.variable(name),) for name in names),
        joints=tuple(answers),
        log_evidence=found.log_evidence + lifted.log_scale,
    )


def _of_leaf(leaf: Leaf, joint: Floats) -> Floats:
    """Return the distribution of a leaf from the joint of the other variables of its table."""
    totals = leaf.table.sum(axis=-1)
    with np.errstate(divide="ignore", invalid="ignore"):
        given = np.where(totals[..., None] > 0, leaf.table / totals[..., None], 0.0)
    values = np.tensordot(joint, given, axes=joint.ndim)
    distribution: Floats = values / values.sum()
    return distribution


def _new_name(group: list[str], symmetric: SymmetricModel) -> str:
    """Return a name for the variable of a group that no other variable has."""
    name = f"counts of {group[0]}"
    while name in symmetric.sizes:
        name += "'"
    return name


def _lifted(symmetric: SymmetricModel) -> _Lifted | None:
    """Return the smaller model; None if its tables would be too large, or lose numbers."""
    groups, counts, scale = all_names(symmetric.groups), [], symmetric.log_scale
    names = tuple(_new_name(group, symmetric) for group in symmetric.groups)
    variables = {
        name: Variable.of_integers(name, range(n))
        for name, n in symmetric.sizes.items()
        if name in symmetric.singles and name not in groups
    }
    factors = [Factor((v,), symmetric.singles[name]) for name, v in variables.items()]
    for number, group in enumerate(symmetric.groups):
        found = counts_of(len(group), symmetric.sizes[group[0]])
        weights = None if found is None else weights_of_counts(found, symmetric.singles[group[0]])
        if found is None or weights is None:
            return None
        variable = Variable.of_integers(names[number], range(len(found)))
        variables[variable.name] = variable
        counts.append(found)
        factors.append(Factor((variable,), weights[0]))
        scale += weights[1]
    first = {group[0]: number for number, group in enumerate(symmetric.groups)}
    for scope, table in symmetric.pairs.items():
        members = [name for name in scope if name in groups]
        if not members:
            factors.append(Factor(tuple(variables[name] for name in scope), table))
        elif members[0] in first:
            number = first[members[0]]
            values = table if scope[0] == members[0] else table.T
            power = power_table(counts[number], values)
            if power is None:
                return None
            other = scope[1] if scope[0] == members[0] else scope[0]
            factors.append(Factor((variables[names[number]], variables[other]), power[0]))
            scale += power[1]
    return _Lifted(
        symmetric=symmetric,
        model=FactorModel(tuple(factors)),
        log_scale=scale,
        groups=groups,
        names=names,
        counts=tuple(counts),
    )
