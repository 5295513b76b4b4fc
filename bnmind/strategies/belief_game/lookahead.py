"""One-step look-ahead on a fitted value of the belief."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.strategies.base.beginnings import ModelsNoise
from bnmind.strategies.base.needs import distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo
from bnmind.strategies.belief_game.candidates import candidates
from bnmind.strategies.belief_game.steps import (
    Pruning,
    best_of,
    choose_two_steps_ahead,
    one_step_values,
)
from bnmind.strategies.belief_game.value import BeliefValue
from bnmind.strategies.belief_game.value_files import shipped_value

__all__ = ["LookAhead"]


@dataclass(frozen=True)
class LookAhead(ModelsNoise, Value):
    """Choose the guess after which the expected value of the belief is least.

    The value of a belief estimates the number of guesses that the game still takes
    (`BeliefValue`). The score of a guess is one plus the expected value of the belief after its
    reply; a win ends the game and adds nothing. So the strategy weighs the chance to win now
    against the information, where `Entropy` counts only the information. Guesses of equal score
    are ordered by their probability of being the code, then lexicographically.

    The first guess is the same in every game, and two steps ahead pays there: on boards of up to
    2,048 codes it is the first guess of `LookAheadTwo`.

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

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the least expected value, without using `rng`."""
        codes, channel = distribution_of(belief), belief.channel
        value = self.value or shipped_value(channel)
        considered = candidates(codes, channel, belief.history)
        if not belief.history:
            return choose_two_steps_ahead(
                codes, channel, considered, value, turn=0, pruning=Pruning()
            )
        scores = one_step_values(codes, channel, considered, value)
        return best_of(considered.guesses, scores, codes)
