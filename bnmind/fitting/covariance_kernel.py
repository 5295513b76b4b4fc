"""The covariances of the counts of cells, given the observed cells of the cases."""

from __future__ import annotations

import math

import numpy as np

from bnmind._jit import njit
from bnmind.fitting.components_kernel import ComponentArrays
from bnmind.information import Floats

__all__ = ["add_covariances"]


@njit
def add_covariances(
    logs: Floats, arrays: ComponentArrays, most_states: int, covariances: Floats
) -> None:
    """Add the covariance of the counts of each pair of cells, over all components.

    Parameters
    ----------
    logs
        The logarithm of each cell.
    arrays, most_states
        As for `bnmind.fitting.components_kernel.complete`.
    covariances
        ``(free cells, free cells)``, of the first cells.
    """
    n_free = len(covariances)
    widest = 1
    deepest = 1
    for i in range(len(arrays.weights)):
        deepest = max(deepest, arrays.member_starts[i + 1] - arrays.member_starts[i])
        widest = max(widest, arrays.family_starts[i + 1] - arrays.family_starts[i])
    leaves = np.empty(most_states)
    cells = np.zeros(widest, dtype=np.int64)
    state = np.zeros(deepest, dtype=np.int64)
    means = np.zeros(n_free)
    touched = np.zeros(n_free, dtype=np.int64)
    for i in range(len(arrays.weights)):
        first, first_family = arrays.member_starts[i], arrays.family_starts[i]
        depth = arrays.member_starts[i + 1] - first
        n_families = arrays.family_starts[i + 1] - first_family
        n_leaves = 1
        for level in range(depth):
            n_leaves *= arrays.sizes[arrays.members[first + level]]
        highest = -math.inf
        total = 0.0
        n_touched = 0
        # First the probabilities of all completions, then the moments of their cells.
        for walk in range(2):
            state[:depth] = 0
            for leaf in range(n_leaves):
                value = 0.0
                for f in range(n_families):
                    family = arrays.families[first_family + f]
                    cell = arrays.bases[first_family + f]
                    for level in range(depth):
                        member = arrays.members[first + level]
                        cell += arrays.strides[family, member] * state[level]
                    cells[f] = cell
                    value += logs[cell]
                if walk == 0:
                    leaves[leaf] = value
                elif leaves[leaf] > 0.0:
                    weight = leaves[leaf] / total
                    for f in range(n_families):
                        a = cells[f]
                        if a >= n_free:
                            continue
                        if means[a] == 0.0:
                            touched[n_touched] = a
                            n_touched += 1
                        means[a] += weight
                        for g in range(n_families):
                            if cells[g] < n_free:
                                covariances[a, cells[g]] += weight * arrays.weights[i]
                level = depth - 1
                while level >= 0:
                    state[level] += 1
                    if state[level] < arrays.sizes[arrays.members[first + level]]:
                        break
                    state[level] = 0
                    level -= 1
            if walk == 0:
                for leaf in range(n_leaves):
                    highest = max(highest, leaves[leaf])
                for leaf in range(n_leaves):
                    leaves[leaf] = math.exp(leaves[leaf] - highest)
                    total += leaves[leaf]
        for at in range(n_touched):
            a = touched[at]
            for other in range(n_touched):
                b = touched[other]
                covariances[a, b] -= means[a] * means[b] * arrays.weights[i]
        for at in range(n_touched):
            means[touched[at]] = 0.0
