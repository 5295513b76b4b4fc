"""Posterior distributions of models with interchangeable variables.

A group of interchangeable variables becomes one variable, whose states are the counts of
`bnmind.junction.exchangeable.counts`. The smaller model is answered by a plan. Given the count c of
m variables, each of them is in state s with probability cₛ/m.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import made
from bnmind.information import Floats
from bnmind.junction.exchangeable.counts import counts_of, power_table, weights_of_counts
from bnmind.junction.exchangeable.symmetric_model import (
    Leaf,
    SymmetricModel,
    all_names,
    symmetric_model,
)
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

__all__ = ["lifted_posterior"]


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
