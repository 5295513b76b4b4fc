"""Good configurations for the start of a search: dives along the bounds, and local search.

A dive assigns the nodes from the top, each in the state with the best bound plus noise. A hill
climb then changes single states as long as that raises the value. Dives may prefer the states of
the best configuration known, so that they stay near it.

References
----------
K. Kask and R. Dechter, "Mini-bucket heuristics for improved search", UAI (1999): greedy and
stochastic use of mini-bucket bounds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.junction.branch_and_bound.search_kernel import table_start
from bnmind.junction.branch_and_bound.search_tree import Ints, TreeArrays

__all__ = ["dive", "exact_value"]

_MOST_ROUNDS = 50
"""The most rounds of a hill climb."""


@njit
def _random(seed: NDArray[np.uint64]) -> float:
    """Return a number above zero and below one (xorshift64*)."""
    x = seed[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    seed[0] = x
    product = x * np.uint64(0x2545F4914F6CDD1D)
    number: float = (float(product >> np.uint64(11)) + 0.5) / 9007199254740992.0
    return number


@njit
def exact_value(tree: TreeArrays, states: Ints) -> float:
    """Return the sum of the exact tables in a configuration."""
    total: float = tree.constant[1]
    for table in range(tree.firsts.size):
        if tree.is_exact[table]:
            total += tree.cells[table_start(tree, states, table, 0)]
    return total


@njit
def dive(
    tree: TreeArrays,
    states: Ints,
    near: Ints,
    weights: Floats,
    seed: NDArray[np.uint64],
    scores: Floats,
) -> float:
    """Fill in the states of all nodes; return the value of the configuration, −inf if impossible.

    Parameters
    ----------
    tree
        The tree.
    states
        The states of the nodes, to be filled in.
    near
        A configuration whose states are preferred; −1 for none.
    weights
        The scale of Gumbel noise that is added to the bounds, and what is added to the bounds of
        the preferred states.
    seed
        A number other than zero, which changes.
    scores
        Room for the states of the largest node.
    """
    noise = weights[0]
    for node in range(tree.sizes.size):
        size = tree.sizes[node]
        for x in range(size):
            scores[x] = weights[1] if x == near[node] else 0.0
        for at in range(tree.bucket_starts[node], tree.bucket_starts[node + 1]):
            cell = table_start(tree, states, tree.bucket[at], 1)
            for x in range(size):
                scores[x] += tree.cells[cell + x]
        chosen, largest = 0, -np.inf
        for x in range(size):
            score = scores[x]
            if noise > 0.0:
                score -= noise * np.log(-np.log(_random(seed)))
            if score > largest:
                chosen, largest = x, score
        if largest == -np.inf:
            return -np.inf
        states[node] = chosen
    _climb(tree, states, scores)
    return exact_value(tree, states)


@njit
def _climb(tree: TreeArrays, states: Ints, scores: Floats) -> None:
    """Change single states as long as that raises the value."""
    for _ in range(_MOST_ROUNDS):
        has_moved = False
        for node in range(1, tree.sizes.size):
            size = tree.sizes[node]
            before = states[node]
            for x in range(size):
                scores[x] = 0.0
            for at in range(tree.use_starts[node], tree.use_starts[node + 1]):
                table = tree.uses[at]
                stride = tree.use_strides[at]
                cell = table_start(tree, states, table, 0) - stride * before
                for x in range(size):
                    scores[x] += tree.cells[cell + stride * x]
            best = before
            for x in range(size):
                # By an explicit margin, so that rounding errors do not move states to and fro.
                if scores[x] > scores[best] + 1e-12 * (1.0 + abs(scores[best])):
                    best = x
            if best != before:
                states[node] = best
                has_moved = True
        if not has_moved:
            return
