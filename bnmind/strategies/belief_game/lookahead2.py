"""Two-step look-ahead on a fitted value of the belief, with pruning."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.strategies.base.beginnings import ModelsNoise
from bnmind.strategies.base.needs import distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo
from bnmind.strategies.belief_game.candidates import candidates
from bnmind.strategies.belief_game.steps import Pruning, choose_two_steps_ahead
from bnmind.strategies.belief_game.value import BeliefValue
from bnmind.strategies.belief_game.value_files import shipped_value

__all__ = ["LookAheadTwo"]


@dataclass(frozen=True)
class LookAheadTwo(ModelsNoise, Value):
    """Choose the guess after which the best next guess has the least expected value.

    The score of a guess is one plus, for each reply, its probability times the least one-step score
    of a next guess (`LookAhead`). `Pruning` says which guesses are compared.

    References
    ----------
    Bertsekas, *Dynamic programming and optimal control*, chapter 6: multistep look-ahead with an
    approximate cost-to-go.
    """

    name: str = "lookahead2"
    """The name of the strategy at the command line and in files."""
    value: BeliefValue | None = None
    """The value of a belief; if None, the fitted value that comes with bnmind for the channel."""
    pruning: Pruning = field(default_factory=Pruning)
    """The guesses that the search compares."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice."""
        return True

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the least two-step score, without using `rng`."""
        codes, channel = distribution_of(belief), belief.channel
        return choose_two_steps_ahead(
            codes,
            channel,
            candidates(codes, channel, belief.history),
            self.value or shipped_value(channel),
            turn=len(belief.history),
            pruning=self.pruning,
        )
