"""A strategy that does not know the noise level, and learns it during the game."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import MinLen

from bnmind._arguments import checked_if_it_fails
from bnmind._values import Probability, Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.beliefs.unknown_noise import UnknownNoiseBelief
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.priors.prior import Prior
from bnmind.strategies.base.beginnings import ModelsNoise
from bnmind.strategies.base.needs import Needs
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, Strategy
from bnmind.strategies.players.min_entropy import Entropy

__all__ = ["DEFAULT_LEVELS", "UnknownNoise", "noise_grid"]

DEFAULT_LEVELS = (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.4, 0.5)
"""The error probabilities of the usual grid."""


@checked_if_it_fails
def noise_grid(channel: Channel, levels: Sequence[float] = DEFAULT_LEVELS) -> tuple[Channel, ...]:
    """Return channels of the kind of a channel, with several error probabilities.

    They are of the kind `Channel.false_reply` if they have the same reports, otherwise of the kind
    `Channel.independent_error`.

    Parameters
    ----------
    channel
        The channel of the replies.
    levels
        The error probabilities, from 0 to 1.

    Raises
    ------
    InvalidArgumentError
        If neither kind has the reports of the channel.
    """
    for kind in (Channel.false_reply, Channel.independent_error):
        first = kind(channel.board, 0.0)
        if set(first.reports) == set(channel.reports):
            grid = (kind(channel.board, p) for p in levels)
            return tuple(one.revealed() if channel.ends else one for one in grid)
    raise InvalidArgumentError(
        f"expected a channel with the reports of false:P or independent:P, got {channel.name}",
        channel.name,
    )


_TOLERANCE = 1e-9  # how far the weights may be from summing to one


@dataclass(frozen=True)
class UnknownNoise(Value):
    """Play a strategy without telling it the noise level.

    The channel that the game assumes only tells the kind of noise: false replies, or independent
    errors of the two numbers. The level is one of a grid, and learned from the replies.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Reply
    >>> strategy = UnknownNoise(Entropy())
    >>> belief = strategy.start(Channel.false_reply(Board(4, 6), 0.2).revealed())
    >>> len(belief.levels), strategy.name
    (9, 'entropy-unknown-noise')
    """

    strategy: Strategy = field(default_factory=Entropy)
    """The strategy that chooses the guesses; it must model noise."""
    levels: Annotated[tuple[Probability, ...], MinLen(1)] = DEFAULT_LEVELS
    """The error probabilities of the grid."""
    weights: tuple[float, ...] | None = None
    """The probability of each level before the game; all equal if None."""

    def _faults(self) -> Iterator[str]:
        if not isinstance(self.strategy, ModelsNoise):
            yield f"expected a strategy that models noise, got {self.strategy.name}"
        weights = self.weights
        if weights is not None and (
            len(weights) != len(self.levels)
            or min(weights, default=0) < 0
            or abs(math.fsum(weights) - 1) > _TOLERANCE
        ):
            yield f"expected a probability of each level, got {weights}"

    @property
    def name(self) -> str:
        """The name of the strategy at the command line and in files."""
        return f"{self.strategy.name}-unknown-noise"

    @property
    def deterministic(self) -> bool:
        """Whether the strategy is."""
        return self.strategy.deterministic

    @property
    def needs(self) -> Needs:
        """The probability of each code."""
        return Needs.DISTRIBUTION

    def start(self, channel: Channel, prior: Prior | None = None) -> UnknownNoiseBelief:
        """Return the belief about the code and the level before the first guess."""
        weights: Floats | None = None if self.weights is None else np.array(self.weights)
        return UnknownNoiseBelief.start(
            noise_grid(channel, self.levels), weights=weights, prior=prior
        )

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the strategy."""
        return self.strategy.choose(belief, rng, situation)
