"""Beliefs of a small board: their normal form, their place in a pool, and bounds from policies.

A permutation of positions and colors changes no reply, so beliefs that such permutations map to
each other have the same value. The pool holds one of them, and each belief only once, whatever
the order of the turns that lead to it.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.strategies.belief_game.belief_arrays import BELIEFS, POLICIES, Pool
from bnmind.strategies.belief_game.set_bounds import SetBounds, layered_bound

__all__ = ["best_policy", "descending", "place_of", "refill_slots", "to_normal_form"]

_SAME = 1e-12  # weights closer than this, relative to the largest, are equal
_GRAIN = 2.0**30  # weights are rounded to this grain for the hash


@njit
def descending(weights: Floats, order: NDArray[np.int64]) -> None:
    """Write the codes in descending order of their weights; the smaller index first if equal."""
    for code in range(weights.shape[0]):
        place = code
        while place and weights[order[place - 1]] < weights[code] - _SAME:
            order[place] = order[place - 1]
            place -= 1
        order[place] = code


@njit
def to_normal_form(symmetries: NDArray[np.int64], weights: Floats, normal: Floats) -> int:
    """Write the normal form of weights whose maximum is one, and return the symmetry.

    ``normal[code]`` is the weight of the code that the symmetry maps ``code`` to.
    """
    n_symmetries, n_codes = symmetries.shape
    best = 0
    for symmetry in range(1, n_symmetries):
        for code in range(n_codes):
            difference = weights[symmetries[symmetry, code]] - weights[symmetries[best, code]]
            if difference > _SAME:
                best = symmetry
                break
            if difference < -_SAME:
                break
    for code in range(n_codes):
        normal[code] = weights[symmetries[best, code]]
    return best


@njit
def _slot_of(weights: Floats, n_slots: int) -> int:
    """Return the slot at which the search for a belief begins."""
    word = np.uint64(1469598103934665603)
    for code in range(weights.shape[0]):
        word ^= np.uint64(np.int64(weights[code] * _GRAIN + 0.5))
        word *= np.uint64(1099511628211)
        word ^= word >> np.uint64(29)
    return int(np.int64(word % np.uint64(n_slots)))


@njit
def refill_slots(pool: Pool) -> None:
    """Fill an empty hash table."""
    n_slots = pool.slots.shape[0]
    for belief in range(pool.counts[BELIEFS]):
        slot = _slot_of(pool.weights[belief], n_slots)
        while pool.slots[slot] >= 0:
            slot = (slot + 1) % n_slots
        pool.slots[slot] = belief


@njit
def place_of(sets: SetBounds, pool: Pool, normal: Floats) -> int:
    """Return the place of a belief in normal form; add the belief if it is new."""
    n_slots = pool.slots.shape[0]
    slot = _slot_of(normal, n_slots)
    n_codes = normal.shape[0]
    while pool.slots[slot] >= 0:
        belief = pool.slots[slot]
        is_same = True
        for code in range(n_codes):
            if abs(pool.weights[belief, code] - normal[code]) > _SAME:
                is_same = False
                break
        if is_same:
            return int(belief)
        slot = (slot + 1) % n_slots
    belief = pool.counts[BELIEFS]
    pool.counts[BELIEFS] += 1
    pool.slots[slot] = belief
    pool.weights[belief] = normal
    pool.guess_lower[belief] = np.nan
    pool.first_child[belief] = -1
    order = np.empty(n_codes, dtype=np.int64)
    descending(normal, order)
    pool.lower[belief] = layered_bound(sets, normal, order)
    pool.upper[belief] = best_policy(pool.vectors, pool.counts[POLICIES], normal, order)[0]
    return int(belief)


@njit
def best_policy(
    vectors: Floats, n_policies: int, weights: Floats, order: NDArray[np.int64]
) -> tuple[float, int]:
    """Return the value of the best policy, and the policy.

    The policy -1 guesses the codes in descending order of their weights, whatever the replies.

    Parameters
    ----------
    vectors
        ``(policies, codes)``, the expected number of guesses of each policy, for each code.
    n_policies
        The number of policies; further rows are not used.
    weights
        ``(codes,)``, in normal form.
    order
        ``(codes,)``, the codes in descending order of their weights.
    """
    n_codes = weights.shape[0]
    value = 0.0
    for place in range(n_codes):
        value += (place + 1) * weights[order[place]]
    best = -1
    for policy in range(n_policies):
        total = 0.0
        for code in range(n_codes):
            total += vectors[policy, code] * weights[code]
        if total < value:
            value = total
            best = policy
    return value, best
