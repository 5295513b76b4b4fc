"""The value of Mastermind under noise on small boards, to a stated gap.

Under noise the game is a partially observed decision problem: the state is the belief, a guess
costs one, and the game ends at the right guess. The solver finds a lower and an upper bound of the
least mean number of guesses of any strategy, and a strategy that attains the upper bound.

The method is heuristic search value iteration [1]_, with the goal at the end of the game instead of
a discount.

* Upper bound. Each policy has a vector: its expected number of guesses for each code. The value of
  a belief is at most the least product of a vector with the belief. A trial adds policies.
* Lower bound. A belief that was visited has the least bound over its guesses, from its children.
  Other beliefs are cut into layers of sets (`SetBounds`).
* A belief is kept once, whatever the order of its turns, and stands for all its images by
  permutations of positions and colors.
* A belief is solved if upper ≤ (1 + κ)·lower. Each turn costs the same in both bounds, so a belief
  whose children are all solved is solved.

**Normal form.** A permutation of positions and colors changes no reply, so beliefs that such
permutations map to each other have the same value. The pool holds one of them, and each belief only
once, whatever the order of the turns that lead to it.

**Trials.** A trial walks from the start to a belief whose bounds are close, by the guess with the
least lower bound and the report whose bounds are farthest apart. On the way back it improves both
bounds of each belief: the lower bound from the lower bounds of its children, and the upper bound by
a new policy, which guesses and then follows the best policies for the children.

References
----------
.. [1] T. Smith, R. Simmons, Heuristic search value iteration for POMDPs, UAI 2004.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from typing import NamedTuple, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._jit import njit
from bnmind._messages import counted
from bnmind._values import Sealed, Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.beliefs import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses import reply_table
from bnmind.strategies.noise_bound import MAX_SET_CODES, SetBounds, layered_bound, make_set_bounds
from bnmind.strategies.strategy import (
    FIRST_TURN,
    GuessInfo,
    ModelsNoise,
    Situation,
    distribution_of,
)

# --- The arrays of the search for the value of the belief game: a game, its beliefs, and policies -


_Number = TypeVar("_Number", np.float64, np.int64)

BELIEFS = 0
CHILDREN = 1
POLICIES = 2
TRIALS = 3
"""The places of `Pool.counts`."""


class BeliefGame(NamedTuple):
    """A board and a channel; codes and guesses are given by their indices."""

    likelihoods: Floats
    """``(guesses, reports, codes)``, the probability of each report; 0 if the guess is the code."""
    symmetries: NDArray[np.int64]
    """``(symmetries, codes)``, the permutations of the codes that preserve all replies."""


class Pool(NamedTuple):
    """Beliefs with bounds of their values, and policies. The first belief is the start.

    The weights of a belief have the largest of its symmetric images in lexicographic order, and
    their maximum is one. A value is the sum of the expected numbers of guesses times the weights.
    """

    weights: Floats
    """``(beliefs, codes)``."""
    lower: Floats
    """``(beliefs,)``, lower bounds of the values."""
    upper: Floats
    """``(beliefs,)``, upper bounds of the values."""
    guess_lower: Floats
    """``(beliefs, guesses)``, lower bounds if the guess comes first; nan if not yet computed."""
    first_child: NDArray[np.int64]
    """``(beliefs, guesses)``, the place of the first child after the guess, or -1."""
    children: NDArray[np.int64]
    """``(children, 2)``, a belief, or -1 if it has no weight, and the symmetry that leads to it.
    The children of a guess, one for each report, are consecutive."""
    masses: Floats
    """``(children,)``, the factors by which the weights of the children are to be multiplied."""
    slots: NDArray[np.int64]
    """``(2^b,)``, an open hash table of the beliefs; -1 if empty."""
    vectors: Floats
    """``(policies, codes)``, the expected number of guesses of each policy, for each code."""
    guesses: NDArray[np.int64]
    """``(policies,)``, the next guess of each policy."""
    counts: NDArray[np.int64]
    """The numbers of beliefs, children, policies and trials."""


def make_game(channel: Channel) -> BeliefGame:
    """Return the arrays of a board and a channel."""
    played = channel.revealed()
    table = reply_table(channel.board)
    n_reports = len(played.reports)
    likelihoods = np.ascontiguousarray(played.matrix[table, :n_reports].transpose(0, 2, 1))
    return BeliefGame(likelihoods, symmetries_of(channel.board))


def symmetries_of(board: Board) -> NDArray[np.int64]:
    """Return the permutations of the codes by positions and colors, each once.

    Returns
    -------
    NDArray[np.int64]
        ``(symmetries, codes)``, the image of each code.
    """
    codes = board.codes.astype(np.int64) - 1
    places = {tuple(code): place for place, code in enumerate(codes.tolist())}
    found = {
        tuple(
            places[tuple(names[color] for color in code)]
            for code in codes[:, list(positions)].tolist()
        )
        for positions in permutations(range(board.pegs))
        for names in permutations(range(board.colors))
    }
    return np.array(sorted(found), dtype=np.int64)


def make_pool(game: BeliefGame, room: int) -> Pool:
    """Return an empty pool with room for so many beliefs, children and policies."""
    n_guesses, _, n_codes = game.likelihoods.shape
    beliefs = children = policies = room
    return Pool(
        weights=np.empty((beliefs, n_codes)),
        lower=np.empty(beliefs),
        upper=np.empty(beliefs),
        guess_lower=np.empty((beliefs, n_guesses)),
        first_child=np.empty((beliefs, n_guesses), dtype=np.int64),
        children=np.empty((children, 2), dtype=np.int64),
        masses=np.empty(children),
        slots=np.full(4 * beliefs, -1, dtype=np.int64),
        vectors=np.empty((policies, n_codes)),
        guesses=np.empty(policies, dtype=np.int64),
        counts=np.zeros(4, dtype=np.int64),
    )


def grown(pool: Pool, room: int) -> Pool:
    """Return the pool with room for at least so many further beliefs, children and policies.

    The hash table, if it had to grow, is empty: fill it again.
    """
    counts = pool.counts
    beliefs = _longer(len(pool.weights), int(counts[BELIEFS]) + room)
    children = _longer(len(pool.children), int(counts[CHILDREN]) + room)
    policies = _longer(len(pool.vectors), int(counts[POLICIES]) + room)
    slots = pool.slots
    if len(pool.weights) < beliefs:
        slots = np.full(4 * beliefs, -1, dtype=np.int64)
    return Pool(
        weights=_extended(pool.weights, beliefs),
        lower=_extended(pool.lower, beliefs),
        upper=_extended(pool.upper, beliefs),
        guess_lower=_extended(pool.guess_lower, beliefs),
        first_child=_extended(pool.first_child, beliefs),
        children=_extended(pool.children, children),
        masses=_extended(pool.masses, children),
        slots=slots,
        vectors=_extended(pool.vectors, policies),
        guesses=_extended(pool.guesses, policies),
        counts=counts,
    )


def _longer(length: int, needed: int) -> int:
    while length < needed:
        length *= 2
    return length


def _extended(array: NDArray[_Number], length: int) -> NDArray[_Number]:
    if len(array) == length:
        return array
    longer = np.empty((length, *array.shape[1:]), dtype=array.dtype)
    longer[: len(array)] = array
    return longer


# --- Beliefs of a small board: their normal form, their place in a pool, and bounds from policies -


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


# --- Trials of heuristic search value iteration for the belief game, compiled ---------------------


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


# --- The value of Mastermind under noise on small boards, to a stated gap -------------------------


_TRIALS = 4  # in one call of the kernel; Ctrl-C works between two calls


_MOST_SYMMETRIES = 100_000
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False, kw_only=True)
class BeliefGameSolution(Sealed):
    """Bounds of the least mean number of guesses, and policies that attain the upper bound."""

    channel: Channel
    """The channel, in its `revealed` form."""
    lower: float
    """No strategy has a smaller mean number of guesses, up to rounding errors of about 1e-10."""
    upper: float
    """The mean number of guesses of the strategy of `SolvedPlayer` is at most this."""
    vectors: Floats
    """``(policies, codes)``, the expected number of guesses of each policy, for each code."""
    guesses: NDArray[np.int64]
    """``(policies,)``, the next guess of each policy."""
    beliefs: int
    """The number of different beliefs, up to symmetry."""
    trials: int
    """The number of trials."""

    @property
    def gap(self) -> float:
        """The difference of the two bounds, in guesses."""
        return self.upper - self.lower

    def __str__(self) -> str:
        return (
            f"{self.channel.board} {self.channel.name}: {self.lower:.4f} to {self.upper:.4f} "
            f"guesses ({counted(self.beliefs, 'belief')}, {len(self.guesses):,} policies)"
        )


@checked
def solve_belief_game(
    channel: Channel,
    *,
    gap: float = 0.01,
    max_beliefs: int = 100_000,
    progress: Callable[[float, float], None] | None = None,
) -> BeliefGameSolution:
    """Return bounds of the least mean number of guesses under a channel.

    Parameters
    ----------
    channel
        The channel. All codes are equally likely, and the code-maker truthfully ends the game at
        the right guess, whether or not the channel is in its `revealed` form.
    gap
        The search ends when the two bounds differ by at most this number of guesses,
    max_beliefs
        or when it has visited at least so many beliefs; the gap of the solution is then larger.
    progress
        Called now and then with the lower and the upper bound.

    Raises
    ------
    TooLargeError
        If the board has more than `MAX_SET_CODES` codes, or too many symmetries.
    InvalidArgumentError
        If the gap is not positive, or there are no beliefs.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> solution = solve_belief_game(Channel.false_reply(Board(2, 2), 0.2), gap=1e-6)
    >>> round(solution.upper, 4), solution.gap <= 1e-6
    (2.0867, True)
    """
    board = channel.board
    if board.n_codes > MAX_SET_CODES:
        raise TooLargeError(
            f"expected a board of at most {MAX_SET_CODES} codes for the exact solver, got "
            f"{board.n_codes:,} codes of the board {board}",
            needed=board.n_codes,
            budget=MAX_SET_CODES,
        )
    symmetries = math.factorial(board.pegs) * math.factorial(board.colors)
    if symmetries > _MOST_SYMMETRIES:
        raise TooLargeError(
            f"expected at most {_MOST_SYMMETRIES:,} permutations of pegs and colors for the exact "
            f"solver, got {symmetries:,} of the board {board}",
            needed=symmetries,
            budget=_MOST_SYMMETRIES,
        )
    if not gap > 0:
        raise InvalidArgumentError(f"expected a positive gap, got {gap}", gap)
    if max_beliefs < 1:
        raise InvalidArgumentError(f"expected at least one belief, got {max_beliefs}", max_beliefs)
    game, sets = make_game(channel), make_set_bounds(channel)
    room = game.likelihoods.shape[0] * game.likelihoods.shape[1]
    pool = make_pool(game, room)
    add_start(sets, pool)
    n = board.n_codes
    while True:
        relative = gap * n / float(pool.lower[0])
        solved = run_trials(game, sets, pool, relative, _TRIALS)
        if progress is not None:
            progress(float(pool.lower[0]) / n, float(pool.upper[0]) / n)
        # The lower bound may have risen meanwhile, and the relative gap was that of the old one.
        is_close = solved and float(pool.upper[0] - pool.lower[0]) <= gap * n * (1 + _ROUNDING)
        if is_close or pool.counts[BELIEFS] >= max_beliefs:
            return _solution(channel.revealed(), pool)
        longer = grown(pool, room)
        if longer.slots is not pool.slots:
            refill_slots(longer)
        pool = longer


def _solution(channel: Channel, pool: Pool) -> BeliefGameSolution:
    n = channel.board.n_codes
    n_policies = int(pool.counts[POLICIES])
    return BeliefGameSolution(
        channel=channel,
        lower=float(pool.lower[0]) / n,
        upper=float(pool.upper[0]) / n,
        vectors=pool.vectors[:n_policies].copy(),
        guesses=pool.guesses[:n_policies].copy(),
        beliefs=int(pool.counts[BELIEFS]),
        trials=int(pool.counts[TRIALS]),
    )


# --- The player of a solution of the belief game --------------------------------------------------


@dataclass(frozen=True, eq=False)
class SolvedPlayer(ModelsNoise, Value):
    """Guess as the best policy of a solution does for the belief.

    The score is the expected number of guesses of that policy, the next guess included. Under the
    channel of the solution, if all codes are equally likely, the mean number of guesses is at most
    ``solution.upper``. Under another channel the strategy plays too, without this bound.
    """

    solution: BeliefGameSolution
    """The solution, of `solve_belief_game`."""
    name: str = "solved"
    """The name of the strategy."""

    deterministic = True
    """The belief alone determines the guess."""

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the best policy.

        Raises
        ------
        InvalidArgumentError
            If the belief is about another board than the solution.
        """
        if belief.board != self.solution.channel.board:
            raise InvalidArgumentError(
                f"expected a belief about the board {self.solution.channel.board} of the solution, "
                f"got {belief.board}",
                belief,
            )
        probabilities = distribution_of(belief).probabilities
        largest = float(probabilities.max())
        normal = np.empty(len(probabilities))
        symmetry = to_normal_form(self._symmetries, probabilities / largest, normal)
        order = np.empty(len(normal), dtype=np.int64)
        descending(normal, order)
        vectors = self.solution.vectors
        value, policy = best_policy(vectors, len(vectors), normal, order)
        place = order[0] if policy < 0 else self.solution.guesses[policy]
        guess = int(self._symmetries[symmetry, place])
        return guess, GuessInfo(guess, score=float(value) * largest)

    @cached_property
    def _symmetries(self) -> NDArray[np.int64]:
        return symmetries_of(self.solution.channel.board)
