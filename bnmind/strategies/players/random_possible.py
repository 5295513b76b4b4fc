"""Guess a random possible code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.strategies.base.beginnings import TrustsReplies
from bnmind.strategies.base.needs import distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo

__all__ = ["RandomCode"]


@dataclass(frozen=True)
class RandomCode(TrustsReplies, Value):
    """Choose uniformly at random among the possible codes.

    The strategy assumes true replies, as `Knuth` does. The score is the probability of choosing
    each of these codes.
    """

    name: str = "random"
    """The name of the strategy at the command line and in files."""

    @property
    def deterministic(self) -> bool:
        """The choice is random."""
        return False

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return a random possible code."""
        possible = np.flatnonzero(distribution_of(belief).probabilities)
        guess = int(possible[rng.integers(len(possible))])
        return guess, GuessInfo(guess, 1 / len(possible), tied=len(possible))
