"""Trials of heuristic search value iteration for the belief game, compiled.

A trial walks from the start to a belief whose bounds are close, by the guess with the least lower
bound and the report whose bounds are farthest apart. On the way back it improves both bounds of
each belief: the lower bound from the lower bounds of its children, and the upper bound by a new
policy, which guesses and then follows the best policies for the children.
"""

from __future__ import annotations

import numpy as np

from bnmind._jit import njit
from bnmind.strategies.belief_game.belief_arrays import (
    BELIEFS,
    CHILDREN,
    POLICIES,
    TRIALS,
    BeliefGame,
    Pool,
)
from bnmind.strategies.belief_game.belief_kernel import (
    best_policy,
    descending,
    place_of,
    to_normal_form,
)
from bnmind.strategies.belief_game.set_bounds import SetBounds, layered_bound

__all__ = ["DEEPEST", "add_start", "run_trials"]

DEEPEST = 200
"""The largest number of guesses of a trial."""

_WORTH = 1e-2  # a new policy is kept if it gains this part of the gap that is asked for


@njit
def add_start(sets: SetBounds, pool: Pool) -> int:
    """Add the uniform belief to an empty pool."""
    return place_of(sets, pool, np.ones(pool.weights.shape[1]))


@njit
def run_trials(
    game: BeliefGame, sets: SetBounds, pool: Pool, relative_gap: float, n_trials: int
) -> bool:
    """Run trials until the bounds are close enough, and return whether they are.

    Parameters
    ----------
    game, sets, pool
        The game, the bounds for sets, and the pool, which holds the start.
    relative_gap
        The bounds (upper − lower) / lower at which a belief counts as solved. If all children of
        a belief are solved, so is the belief.
    n_trials
        The largest number of trials. The kernel also returns when the pool is almost full.
    """
    path = np.empty(DEEPEST, dtype=np.int64)
    for _ in range(n_trials):
        if pool.upper[0] <= (1 + relative_gap) * pool.lower[0]:
            return True
        belief = 0
        depth = 0
        while belief >= 0 and depth < DEEPEST:
            if not _has_room(game, pool):
                return False
            path[depth] = belief
            depth += 1
            guess = _least_guess(game, sets, pool, belief)
            belief = _farthest_child(game, pool, belief, guess, relative_gap)
        for step in range(depth - 1, -1, -1):
            if not _has_room(game, pool):
                return False
            guess = _least_guess(game, sets, pool, int(path[step]))
            _improve_upper(game, pool, int(path[step]), guess, relative_gap)
        pool.counts[TRIALS] += 1
    return bool(pool.upper[0] <= (1 + relative_gap) * pool.lower[0])


@njit
def _has_room(game: BeliefGame, pool: Pool) -> bool:
    """Return whether there is room for all children of a belief and for a policy."""
    room = game.likelihoods.shape[0] * game.likelihoods.shape[1]
    return bool(
        pool.weights.shape[0] - pool.counts[BELIEFS] >= room
        and pool.children.shape[0] - pool.counts[CHILDREN] >= room
        and pool.vectors.shape[0] > pool.counts[POLICIES]
    )


@njit
def _least_guess(game: BeliefGame, sets: SetBounds, pool: Pool, belief: int) -> int:
    """Update the lower bound of a belief, and return the guess with the least lower bound.

    The guess has children.
    """
    n_guesses, n_reports = game.likelihoods.shape[:2]
    if np.isnan(pool.guess_lower[belief, 0]):
        _bound_guesses(game, sets, pool, belief)
    total = pool.weights[belief].sum()
    while True:
        guess = 0
        for other in range(1, n_guesses):
            if pool.guess_lower[belief, other] < pool.guess_lower[belief, guess] - 1e-12:
                guess = other
        if pool.first_child[belief, guess] < 0:
            _add_children(game, sets, pool, belief, guess)
        first = pool.first_child[belief, guess]
        value = total
        for child in range(first, first + n_reports):
            if pool.children[child, 0] >= 0:
                value += pool.masses[child] * pool.lower[pool.children[child, 0]]
        if value <= pool.guess_lower[belief, guess] + 1e-12 * total:
            break
        pool.guess_lower[belief, guess] = value
    pool.lower[belief] = max(pool.lower[belief], pool.guess_lower[belief, guess])
    return guess


@njit
def _bound_guesses(game: BeliefGame, sets: SetBounds, pool: Pool, belief: int) -> None:
    """Bound the value of each guess from below, by the layers of its children."""
    n_guesses, n_reports, n_codes = game.likelihoods.shape
    after = np.empty(n_codes)
    order = np.empty(n_codes, dtype=np.int64)
    weights = pool.weights[belief]
    total = weights.sum()
    for guess in range(n_guesses):
        value = total
        is_useless = weights[guess] == 0
        for report in range(n_reports):
            most = 0.0
            least, greatest = 1.0, 0.0
            for code in range(n_codes):
                likelihood = game.likelihoods[guess, report, code]
                after[code] = likelihood * weights[code]
                most = max(most, after[code])
                if weights[code] > 0:
                    least = min(least, likelihood)
                    greatest = max(greatest, likelihood)
            if greatest > least + 1e-12:
                is_useless = False
            if most > 0:
                descending(after, order)
                value += layered_bound(sets, after, order)
        pool.guess_lower[belief, guess] = np.inf if is_useless else value


@njit
def _add_children(game: BeliefGame, sets: SetBounds, pool: Pool, belief: int, guess: int) -> None:
    """Add the children of a belief after a guess."""
    n_reports, n_codes = game.likelihoods.shape[1:]
    after = np.empty(n_codes)
    normal = np.empty(n_codes)
    first = pool.counts[CHILDREN]
    pool.counts[CHILDREN] += n_reports
    pool.first_child[belief, guess] = first
    for report in range(n_reports):
        most = 0.0
        for code in range(n_codes):
            after[code] = game.likelihoods[guess, report, code] * pool.weights[belief, code]
            most = max(most, after[code])
        pool.masses[first + report] = most
        pool.children[first + report] = -1
        if most > 0:
            after /= most
            symmetry = to_normal_form(game.symmetries, after, normal)
            pool.children[first + report, 0] = place_of(sets, pool, normal)
            pool.children[first + report, 1] = symmetry


@njit
def _farthest_child(
    game: BeliefGame, pool: Pool, belief: int, guess: int, relative_gap: float
) -> int:
    """Return the child with the largest unsolved part of its gap, or -1 if all are solved."""
    first = pool.first_child[belief, guess]
    farthest = -1
    largest = 0.0
    for place in range(first, first + game.likelihoods.shape[1]):
        child = pool.children[place, 0]
        if child >= 0:
            unsolved = pool.upper[child] - (1 + relative_gap) * pool.lower[child]
            if pool.masses[place] * unsolved > largest:
                largest = pool.masses[place] * unsolved
                farthest = int(child)
    return farthest


@njit
def _improve_upper(
    game: BeliefGame, pool: Pool, belief: int, guess: int, relative_gap: float
) -> None:
    """Add the policy that guesses and follows the best policies for the children, if it is good."""
    n_reports, n_codes = game.likelihoods.shape[1:]
    vector = np.ones(n_codes)
    order = np.empty(n_codes, dtype=np.int64)
    first = pool.first_child[belief, guess]
    for report in range(n_reports):
        child, symmetry = pool.children[first + report]
        if child < 0:
            # The codes have no weight here. The policy guesses all codes in their order.
            for code in range(n_codes):
                vector[code] += game.likelihoods[guess, report, code] * (code + 1)
            continue
        descending(pool.weights[child], order)
        value, policy = best_policy(pool.vectors, pool.counts[POLICIES], pool.weights[child], order)
        pool.upper[child] = min(pool.upper[child], value)
        for place in range(n_codes):
            normal = order[place] if policy < 0 else place
            code = game.symmetries[symmetry, normal]
            cost = place + 1.0 if policy < 0 else pool.vectors[policy, normal]
            vector[code] += game.likelihoods[guess, report, code] * cost
    value = (vector * pool.weights[belief]).sum()
    if value < pool.upper[belief] - _WORTH * relative_gap * pool.lower[belief]:
        policy = pool.counts[POLICIES]
        pool.vectors[policy] = vector
        pool.guesses[policy] = guess
        pool.counts[POLICIES] += 1
        pool.upper[belief] = value
