"""Questions answered by enumerating the joint distribution, the slow twin of `bnmind.questions`."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bnmind.information import Floats
from bnmind.junction.evidence import likelihood
from bnmind.pgm import Factor, FactorModel, Network, TabularCPD, Variable
from tests.networks import enumerate_joint, networks

__all__ = ["bits", "joint_given", "situations", "table", "table_over"]


def table(variable: Variable, parents: tuple[Variable, ...], chances: Any) -> TabularCPD:
    """Return a conditional distribution from nested lists, with the child's states in front."""
    return TabularCPD(variable, parents, np.array(chances))


def joint_given(model: Network | FactorModel, evidence: Mapping[str, Any]) -> Factor:
    """Return the joint distribution of all variables given evidence; NaN if it is impossible."""
    joint = enumerate_joint(model)
    values = np.array(joint.values)
    for axis, v in enumerate(joint.scope):
        if v.name in evidence:
            wide = [v.n_states if other == axis else 1 for other in range(values.ndim)]
            values = values * likelihood(v, evidence[v.name]).reshape(wide)
    total = values.sum()
    return Factor(joint.scope, values / total if total > 0 else np.full(values.shape, math.nan))


def table_over(joint: Factor, names: Sequence[str]) -> Floats:
    """Return a distribution over some variables, with an axis for each of them."""
    return np.real(joint.sum_to(list(names)).values)


def bits(probabilities: Floats) -> float:
    """Return an entropy, number by number."""
    return -sum(p * math.log2(p) for p in np.ravel(probabilities).tolist() if p > 0)


@st.composite
def situations(
    draw: st.DrawFn, *, max_variables: int = 6, most: int = 3
) -> tuple[Network, tuple[str, ...], dict[str, Any]]:
    """Return a network, some targets, and hard or soft evidence that has a positive probability."""
    network = draw(networks(max_variables=max_variables, max_states=3))
    names = [v.name for v in network.variables]
    about = tuple(draw(st.lists(st.sampled_from(names), min_size=1, max_size=most, unique=True)))
    others = [name for name in names if name not in about]
    observed = draw(st.lists(st.sampled_from(others), max_size=2, unique=True)) if others else []
    uncertain = draw(st.lists(st.sampled_from(about), max_size=1))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    joint = enumerate_joint(network)
    chosen = np.flatnonzero(joint.values.ravel() > 0)
    cell = np.unravel_index(int(rng.choice(chosen)), joint.values.shape)
    states = {v.name: v.states[int(i)] for v, i in zip(joint.scope, cell, strict=True)}
    evidence: dict[str, Any] = {}
    for name in [*observed, *uncertain]:
        if name in observed and draw(st.booleans()):
            evidence[name] = states[name]
        else:
            evidence[name] = rng.uniform(0.1, 1.0, network.variable(name).n_states).tolist()
    return network, about, evidence
