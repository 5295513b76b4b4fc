"""A slow twin of the E-step and of EM, which enumerates the joint distribution."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.pgm import Network
from tests.networks import enumerate_joint

__all__ = ["cases_of", "descendants", "expected_counts"]


def descendants(network: Network, name: str) -> set[str]:
    """Return a variable and all its descendants."""
    found = {name}
    for cpd in network.cpds:  # parents before children
        if found & {v.name for v in cpd.parents}:
            found.add(cpd.variable.name)
    return found


def expected_counts(
    network: Network, cases: Sequence[Mapping[str, int]]
) -> tuple[float, dict[str, Floats]]:
    """Return the log-likelihood of cases, and the expected counts of each family.

    A case is a mapping from observed variables to state positions.
    """
    joint = np.real(enumerate_joint(network).values)
    number = {v.name: i for i, v in enumerate(network.variables)}
    total = 0.0
    counts = {cpd.variable.name: np.zeros([v.n_states for v in cpd.scope]) for cpd in network.cpds}
    for case in cases:
        weight = joint.copy()
        for name, state in case.items():
            kept = np.zeros(network.variable(name).n_states)
            kept[state] = 1.0
            shape = [1] * joint.ndim
            shape[number[name]] = -1
            weight = weight * kept.reshape(shape)
        total += math.log(weight.sum())
        weight /= weight.sum()
        for cpd in network.cpds:
            if descendants(network, cpd.variable.name) & set(case):
                axes = [number[v.name] for v in cpd.scope]
                rest = tuple(axis for axis in range(joint.ndim) if axis not in axes)
                order = sorted(axes)
                summed = weight.sum(axis=rest)
                counts[cpd.variable.name] += np.transpose(
                    summed, [order.index(axis) for axis in axes]
                )
    return total, counts


@st.composite
def cases_of(draw: st.DrawFn, network: Network, *, most: int = 12) -> NDArray[np.int8]:
    """Return possible cases with missing cells, ``(cases, variables)``, -1 where missing."""
    joint = np.real(enumerate_joint(network).values)
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, most))
    flat = np.cumsum(joint.ravel())
    drawn = np.searchsorted(flat, rng.random(n) * flat[-1], side="right")
    table = np.stack(np.unravel_index(np.minimum(drawn, joint.size - 1), joint.shape), axis=1)
    missing = rng.random(table.shape) < draw(st.sampled_from([0.0, 0.2, 0.5, 0.9]))
    return np.where(missing, -1, table).astype(np.int8)
