r"""The value of Mastermind under noise on small boards, to a stated gap.

Under noise the game is a partially observed decision problem: the state is the belief, a guess
costs one, and the game ends at the right guess. The solver finds a lower and an upper bound of the
least mean number of guesses of any strategy, and a strategy that attains the upper bound.

The method is heuristic search value iteration [1]_, with the goal at the end of the game instead of
a discount.

* Upper bound. Each policy has a vector: its expected number of guesses for each code. The value of
  a belief is at most the least product of a vector with the belief. A trial adds policies.
* Lower bound. A belief that was visited has the least bound over its guesses, from its children.
  Other beliefs are cut into layers of sets (`set_bounds`).
* A belief is kept once, whatever the order of its turns, and stands for all its images by
  permutations of positions and colors.
* A belief is solved if upper ≤ (1 + κ)·lower. Each turn costs the same in both bounds, so a belief
  whose children are all solved is solved.

References
----------
.. [1] T. Smith, R. Simmons, Heuristic search value iteration for POMDPs, UAI 2004.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Sealed
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.channel import Channel
from bnmind.strategies.belief_game.belief_arrays import (
    BELIEFS,
    POLICIES,
    TRIALS,
    Pool,
    grown,
    make_game,
    make_pool,
)
from bnmind.strategies.belief_game.belief_kernel import refill_slots
from bnmind.strategies.belief_game.belief_search_kernel import add_start, run_trials
from bnmind.strategies.belief_game.set_bounds import MAX_SET_CODES, make_set_bounds

__all__ = ["BeliefGameSolution", "solve_belief_game"]

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
