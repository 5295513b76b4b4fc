"""The beginnings of strategies: the belief before the first guess, and the part of it they use.

A strategy inherits from one of these classes, and adds its name and its choice.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from bnmind.mastermind.beliefs.belief import Belief, ExactBelief
from bnmind.mastermind.beliefs.history_belief import HistoryBelief
from bnmind.mastermind.beliefs.sampled_belief import SampledBelief
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.priors.prior import Prior
from bnmind.mastermind.sampling.sampler import SamplerOptions
from bnmind.strategies.base.needs import Needs
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, start_belief, trusting_channel

__all__ = ["ModelsNoise", "TrustsReplies", "UsesHistory", "UsesSamples"]


class _Chooses(ABC):
    """A strategy without its choice."""

    __slots__ = ()

    @abstractmethod
    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the next guess and the reasons for it; see `Strategy.choose`."""


class UsesHistory(_Chooses):
    """A strategy that uses only the guesses and the replies, on boards of any size."""

    __slots__ = ()

    @property
    def needs(self) -> Needs:
        """Only the history."""
        return Needs.HISTORY

    def start(self, channel: Channel, prior: Prior | None = None) -> HistoryBelief:
        """Return a belief that holds only the turns; the prior is not used.

        The arguments are those of `Strategy.start`.
        """
        return HistoryBelief(channel)


class UsesSamples(_Chooses):
    """A strategy that uses samples of the posterior, on boards of any size."""

    __slots__ = ()

    options: SamplerOptions
    """The options of the sampler."""

    @property
    def needs(self) -> Needs:
        """Samples of the belief."""
        return Needs.SAMPLES

    def start(self, channel: Channel, prior: Prior | None = None) -> SampledBelief:
        """Return a sampled belief, on small boards too.

        The arguments are those of `Strategy.start`.
        """
        return SampledBelief.start(channel, prior, options=self.options)


class TrustsReplies(_Chooses):
    """A strategy that uses the possible codes, and takes each reply for true."""

    __slots__ = ()

    @property
    def needs(self) -> Needs:
        """The probability of each code."""
        return Needs.DISTRIBUTION

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Return a belief that assumes true replies.

        The arguments are those of `Strategy.start`.
        """
        return start_belief(trusting_channel(channel), prior)


class ModelsNoise(_Chooses):
    """A strategy that uses the probability of each code under the channel and the prior."""

    __slots__ = ()

    @property
    def needs(self) -> Needs:
        """The probability of each code."""
        return Needs.DISTRIBUTION

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Return the belief before the first guess; see `start_belief`."""
        return start_belief(channel, prior)
