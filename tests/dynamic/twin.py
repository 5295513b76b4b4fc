"""Random dynamic networks with findings, and the slow twin: the joint of all slices, enumerated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from hypothesis import strategies as st

from bnmind.dynamic import DynamicNetwork, previous
from bnmind.information import Floats
from bnmind.pgm import CPD, Addition, FunctionalCPD, Network, Variable
from tests.networks import enumerate_joint, tabular_cpds

__all__ = ["MOST_CELLS", "Slices", "dynamic_networks", "findings_of", "joint_of", "sequences_of"]

MOST_CELLS = 20_000
"""The most cells of the joint of all slices."""

Slices = Sequence[Mapping[str, Any]]
"""The findings of each slice: state positions, or likelihoods."""


@st.composite
def dynamic_networks(draw: st.DrawFn, *, functional: bool = True) -> DynamicNetwork:
    """Return a network of one to three variables in a slice, with zeros and any interface."""
    sizes = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    variables = [Variable.of_integers(f"X{i}", range(n)) for i, n in enumerate(sizes)]
    first: list[CPD] = []
    later: list[CPD] = []
    for i, v in enumerate(variables):
        parents = draw(st.lists(st.sampled_from(variables[:i]), unique=True)) if i else []
        first.append(draw(tabular_cpds(v, tuple(parents))))
    for i, v in enumerate(draw(st.permutations(variables))):
        inside = [cpd.variable for cpd in later]
        parents = draw(st.lists(st.sampled_from(inside), unique=True, max_size=1)) if i else []
        before = [previous(w) for w in variables]
        parents += draw(st.lists(st.sampled_from(before), unique=True, max_size=2))
        if functional and parents and draw(st.integers(0, 3)) == 0:
            terms = tuple(tuple(range(p.n_states)) for p in parents)
            later.append(FunctionalCPD(v, tuple(parents), Addition(terms, v.n_states)))
        else:
            later.append(draw(tabular_cpds(v, tuple(parents))))
    return DynamicNetwork(Network(tuple(first)), tuple(later))


@st.composite
def findings_of(draw: st.DrawFn, network: DynamicNetwork) -> list[dict[str, Any]]:
    """Return findings of a few slices, so that the joint of all slices is small."""
    cells = math.prod(v.n_states for v in network.variables)
    most = 4 if cells == 1 else max(1, min(4, int(math.log(MOST_CELLS) / math.log(cells))))
    found = []
    for _ in range(draw(st.integers(1, most))):
        slice_: dict[str, Any] = {}
        for v in network.variables:
            kind = draw(st.sampled_from(["missing", "state", "likelihood"]))
            if kind == "state":
                slice_[v.name] = draw(st.integers(0, v.n_states - 1))
            elif kind == "likelihood":
                weights = st.sampled_from([0.0, 0.25, 1.0, 3.0])
                slice_[v.name] = [draw(weights) for _ in v.states]
        found.append(slice_)
    return found


@st.composite
def sequences_of(draw: st.DrawFn, network: DynamicNetwork) -> list[list[dict[str, Any]]]:
    """Return the findings of one to three sequences of different lengths."""
    return draw(st.lists(findings_of(network), min_size=1, max_size=3))


def joint_of(network: DynamicNetwork, findings: Slices, *, n_slices: int | None = None) -> Floats:
    """Return the joint of all slices and the findings, an axis for each variable of each slice.

    The axes are those of slice 0, in the order of the network's variables, then of slice 1, and
    so on.
    """
    slices = n_slices or len(findings)
    joint = enumerate_joint(network.unroll(slices))
    names = [f"{v.name}[{t}]" for t in range(slices) for v in network.variables]
    values = np.real(joint.transpose(names).values)
    for t, slice_ in enumerate(findings):
        for name, finding in slice_.items():
            weights = np.asarray(finding, dtype=float)
            if weights.ndim == 0:
                weights = np.eye(network.variable(name).n_states)[finding]
            shape = [1] * values.ndim
            shape[names.index(f"{name}[{t}]")] = -1
            values = values * weights.reshape(shape)
    return values
