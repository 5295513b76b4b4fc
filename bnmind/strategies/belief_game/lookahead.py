"""One-step look-ahead on a fitted value of the belief."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._values import Value
from bnmind.information import Floats
from bnmind.mastermind.beliefs.belief import Belief, ExactBelief
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.priors.prior import Prior
from bnmind.strategies.base.needs import Needs, distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, start_belief
from bnmind.strategies.belief_game.candidates import Candidates, candidates, plausible_codes
from bnmind.strategies.belief_game.value import BeliefValue
from bnmind.strategies.belief_game.value_files import shipped_value
from bnmind.strategies.belief_game.value_kernel import after_one_guess, channel_powers

__all__ = ["LookAhead", "best_of", "one_step_values"]

_TOLERANCE = 1e-9  # values closer than this are equal


@dataclass(frozen=True)
class LookAhead(Value):
    """Choose the guess after which the expected value of the belief is least.

    The value of a belief estimates the number of guesses that the game still takes
    (`BeliefValue`). The score of a guess is one plus the expected value of the belief after its
    reply; a win ends the game and adds nothing. So the strategy weighs the chance to win now
    against the information, where `Entropy` counts only the information. Guesses of equal score
    are ordered by their probability of being the code, then lexicographically.

    References
    ----------
    Bertsekas, *Dynamic programming and optimal control*, chapter 6: one-step look-ahead with an
    approximate cost-to-go.
    """

    name: str = "lookahead"
    """The name of the strategy at the command line and in files."""
    value: BeliefValue | None = None
    """The value of a belief; if None, the fitted value that comes with bnmind for the channel."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice."""
        return True

    @property
    def needs(self) -> Needs:
        """The probability of each code."""
        return Needs.DISTRIBUTION

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Return the belief before the first guess; see `start_belief`."""
        return start_belief(channel, prior)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the least expected value, without using `rng`."""
        codes = distribution_of(belief)
        value = self.value or shipped_value(belief.channel)
        considered = candidates(codes, belief.channel, belief.history)
        scores = one_step_values(codes, belief.channel, considered, value)
        return best_of(considered.guesses, scores, codes)


def one_step_values(
    codes: CodeDistribution, channel: Channel, considered: Candidates, value: BeliefValue
) -> Floats:
    """Return one plus the expected value of the belief after each guess, ``(guesses,)``."""
    q = codes.probabilities
    return after_one_guess(
        considered.rows,
        q,
        plausible_codes(q),
        channel_powers(channel),
        np.array(value.coefficients),
    )


def best_of(
    guesses: np.ndarray[tuple[int], np.dtype[np.intp]], scores: Floats, codes: CodeDistribution
) -> tuple[int, GuessInfo]:
    """Return the guess of the least score; among equals the most probable, then the first."""
    tied = guesses[scores <= scores.min() + _TOLERANCE]
    likely = codes.probabilities[tied]
    guess = int(tied[likely >= likely.max() * (1 - _TOLERANCE)][0])
    return guess, GuessInfo(
        guess, score=float(scores.min()), tied=len(tied), evaluated=len(guesses)
    )
