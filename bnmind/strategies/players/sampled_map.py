"""Guess the most probable of the sampled codes, on boards of any size."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.sampling.sampler import SamplerOptions
from bnmind.strategies.base.beginnings import UsesSamples
from bnmind.strategies.base.needs import posterior_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo

__all__ = ["SampledMap"]

_TIE = 1e-9  # probabilities closer than this, relative to the largest, are equal


@dataclass(frozen=True, kw_only=True)
class SampledMap(Value, UsesSamples):
    """Choose the most probable of the sampled codes; ties are broken at random.

    This is `MapCode` for boards with too many codes to list. The score is the probability of the
    code, which may be an estimate.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel, Reply
    >>> strategy = SampledMap()
    >>> belief = strategy.start(Channel.exact(Board(4, 6)).revealed())
    >>> belief = belief.update((1, 1, 2, 2), Reply(3, 0)).update((1, 1, 2, 3), Reply(2, 0))
    >>> guess, info = strategy.choose(belief, np.random.default_rng(0))
    >>> info.tied, info.score
    (8, 0.125)
    """

    name: str = "map-sampled"
    """The name of the strategy at the command line and in files."""
    options: SamplerOptions = field(default_factory=SamplerOptions)
    """The options of the sampler."""

    @property
    def deterministic(self) -> bool:
        """Ties are broken at random."""
        return False

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return one of the most probable sampled codes."""
        likely = posterior_of(belief).most_probable(self.options.islands * self.options.size)
        least = likely[0][1] * (1 - _TIE)
        tied = [guess for guess, probability in likely if probability >= least]
        guess = tied[int(rng.integers(len(tied)))]
        return guess, GuessInfo(guess, likely[0][1], tied=len(tied), evaluated=len(likely))
