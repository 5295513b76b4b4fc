"""Guess the most probable code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind.information import tied_best
from bnmind.mastermind.belief import Belief
from bnmind.mastermind.channel import Channel
from bnmind.strategies.strategy import GuessInfo, start_belief

__all__ = ["MapCode"]

_TIE = 1e-9  # probabilities closer than this, relative to the largest, are equal


@dataclass(frozen=True)
class MapCode:
    """Choose the most probable code (maximum a posteriori), at random among equals.

    Its score is the probability of the code. Probabilities that differ by a relative
    1e-9 are equal.
    """

    name: str = "map"
    """What it is called at the command line and in files."""

    @property
    def deterministic(self) -> bool:
        """Ties are broken at random."""
        return False

    def start(self, channel: Channel) -> Belief:
        """Return the belief before the first guess; see `start_belief`."""
        return start_belief(channel)

    def choose(self, belief: Belief, rng: np.random.Generator) -> tuple[int, GuessInfo]:
        """Return one of the most probable codes."""
        p = belief.codes.probabilities
        tied = tied_best(p, tolerance=_TIE * float(p.max()))
        guess = int(tied[rng.integers(len(tied))])
        return guess, GuessInfo(guess, float(p[guess]), tied=len(tied))
