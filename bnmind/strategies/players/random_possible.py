"""Guess any code that is still possible."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.channel import Channel
from bnmind.strategies.base.strategy import GuessInfo, start_belief, trusting_channel

__all__ = ["RandomCode"]


@dataclass(frozen=True)
class RandomCode:
    """Choose uniformly among the codes that are still possible.

    Whatever the channel, replies are taken for the truth, as in `Knuth`. The score is
    the chance that each of these codes had to be chosen.
    """

    name: str = "random"
    """What it is called at the command line and in files."""

    @property
    def deterministic(self) -> bool:
        """All is left to chance."""
        return False

    def start(self, channel: Channel) -> Belief:
        """Return a belief that takes every reply for the truth."""
        return start_belief(trusting_channel(channel))

    def choose(self, belief: Belief, rng: np.random.Generator) -> tuple[int, GuessInfo]:
        """Return one of the codes that are still possible."""
        possible = np.flatnonzero(belief.codes.probabilities)
        guess = int(possible[rng.integers(len(possible))])
        return guess, GuessInfo(guess, 1 / len(possible), tied=len(possible))
