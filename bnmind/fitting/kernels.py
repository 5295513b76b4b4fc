"""The inner loops of learning, compiled: completions of missing cells, and covariances of counts.

All joint states of a component are visited in a depth-first walk over its variables, parents
before children. A family is multiplied at the depth of the last of its variables, so that the walk
shares products. Then the same walk adds up the posterior probabilities, and each family receives
those of all states below at once.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats


class ComponentArrays(NamedTuple):
    """The arrays of `bnmind.fitting.expectation.Components` and of the layout."""

    members: NDArray[np.int64]
    member_starts: NDArray[np.int64]
    families: NDArray[np.int64]
    bases: NDArray[np.int64]
    family_starts: NDArray[np.int64]
    weights: Floats
    sizes: NDArray[np.int64]
    """The number of states of each variable."""
    strides: NDArray[np.int64]
    """``(families, variables)``."""


@njit
def _order_families(
    i: int,
    arrays: ComponentArrays,
    ends: NDArray[np.int64],
    base: NDArray[np.int64],
    step: NDArray[np.int64],
) -> None:
    """Sort the families of a component by the depth at which they are complete.

    Families of depth d are then in ``base[ends[d] : ends[d + 1]]``, with the steps of the members.
    """
    first = arrays.member_starts[i]
    depth = arrays.member_starts[i + 1] - first
    place = 0
    for level in range(depth):
        for at in range(arrays.family_starts[i], arrays.family_starts[i + 1]):
            family = arrays.families[at]
            if arrays.strides[family, arrays.members[first + level]] == 0:
                continue
            last = True
            for deeper in range(level + 1, depth):
                if arrays.strides[family, arrays.members[first + deeper]] > 0:
                    last = False
                    break
            if last:
                base[place] = arrays.bases[at]
                for upper in range(level + 1):
                    step[place, upper] = arrays.strides[family, arrays.members[first + upper]]
                place += 1
        ends[level + 1] = place


@njit
def _cell(
    f: int, level: int, base: NDArray[np.int64], step: NDArray[np.int64], state: NDArray[np.int64]
) -> int:
    """Return the cell of a family in the current state."""
    cell = base[f]
    for upper in range(level + 1):
        cell += step[f, upper] * state[upper]
    return cell  # type: ignore[no-any-return]


@njit
def complete(
    logs: Floats, arrays: ComponentArrays, most_states: int, counts: Floats, likelihoods: Floats
) -> int:
    """Add expected counts to the cells, and fill in the log-likelihood of each component.

    Parameters
    ----------
    logs
        The logarithm of each cell.
    arrays
        The components.
    most_states
        The most joint states of a component.
    counts
        ``(cells,)``; the posterior probabilities, times the weights, are added to it.
    likelihoods
        ``(components,)``; filled.

    Returns
    -------
    int
        The first component that is impossible; -1 if there is none.
    """
    deepest = 1
    widest = 1
    for i in range(len(arrays.weights)):
        deepest = max(deepest, arrays.member_starts[i + 1] - arrays.member_starts[i])
        widest = max(widest, arrays.family_starts[i + 1] - arrays.family_starts[i])
    leaves = np.empty(most_states)
    state = np.zeros(deepest, dtype=np.int64)
    size = np.zeros(deepest, dtype=np.int64)
    sums = np.zeros(deepest + 1)
    ends = np.zeros(deepest + 1, dtype=np.int64)
    base = np.zeros(widest, dtype=np.int64)
    step = np.zeros((widest, deepest), dtype=np.int64)
    impossible = -1
    for i in range(len(arrays.weights)):
        first = arrays.member_starts[i]
        depth = arrays.member_starts[i + 1] - first
        for level in range(depth):
            size[level] = arrays.sizes[arrays.members[first + level]]
        _order_families(i, arrays, ends, base, step)
        # The logarithm of the joint probability of each completion: sums of logarithms from above.
        state[:depth] = 0
        highest = -math.inf
        leaf = 0
        level = 0
        sums[0] = 0.0
        while level >= 0:
            value = sums[level]
            for f in range(ends[level], ends[level + 1]):
                value += logs[_cell(f, level, base, step, state)]
            if level < depth - 1:
                level += 1
                sums[level] = value
                state[level] = 0
                continue
            leaves[leaf] = value
            leaf += 1
            highest = max(highest, value)
            while level >= 0 and state[level] == size[level] - 1:
                level -= 1
            if level >= 0:
                state[level] += 1
        likelihoods[i] = highest
        if highest == -math.inf:
            if impossible < 0:
                impossible = i
            continue
        total = 0.0
        for at in range(leaf):
            leaves[at] = math.exp(leaves[at] - highest)
            total += leaves[at]
        likelihoods[i] += math.log(total)
        # The same walk, with sums of posterior probabilities from below.
        state[:depth] = 0
        sums[: depth + 1] = 0.0
        leaf = 0
        level = 0
        while level >= 0:
            sums[depth] = leaves[leaf] * arrays.weights[i] / total
            leaf += 1
            level = depth - 1
            while level >= 0:
                share = sums[level + 1]
                for f in range(ends[level], ends[level + 1]):
                    counts[_cell(f, level, base, step, state)] += share
                sums[level] += share
                sums[level + 1] = 0.0
                if state[level] < size[level] - 1:
                    state[level] += 1
                    break
                state[level] = 0
                level -= 1
    return impossible


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
        As for `bnmind.fitting.kernels.complete`.
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
