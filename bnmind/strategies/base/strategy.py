"""The strategy protocol: start a belief, and choose a guess from it.

``belief.update(guess, reply)`` updates the belief; the strategy never does. A strategy can
therefore advise on any belief: one that a player typed in, one from a transcript, or one of another
strategy. If it remembers more than the belief tells, it returns the memory with its choice
(`GuessInfo.memory`), and the lab passes it on with the next question (`Situation.memory`).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind._display import outline
from bnmind.information import information
from bnmind.mastermind.beliefs.belief import Belief, ExactBelief, Posterior
from bnmind.mastermind.beliefs.sampled_belief import SampledBelief
from bnmind.mastermind.beliefs.table_belief import TableBelief
from bnmind.mastermind.beliefs.unknown_noise import UnknownNoiseBelief
from bnmind.mastermind.beliefs.vanishing_noise import VanishingBelief
from bnmind.mastermind.board import is_believable
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.mass_plan import MassPlan
from bnmind.mastermind.priors.prior import Prior
from bnmind.strategies.base.needs import Needs
from bnmind.strategies.base.situation import FIRST_TURN, Situation

__all__ = [
    "GuessInfo",
    "Strategy",
    "describe_guess",
    "start_belief",
    "start_posterior",
    "trusting_channel",
]


@dataclass(frozen=True)
class GuessInfo:
    """The reasons for a guess."""

    guess: int
    """The guess, an index into ``board.codes``."""
    score: float = math.nan
    """The score of the guess, in the unit that the strategy documents."""
    information: float = math.nan
    """The expected information about the code, in bits; nan if not computed."""
    expected_entropy: float = math.nan
    """The expected entropy of the code after the reply, in bits; nan if not computed."""
    tied: int = 1
    """The number of guesses with the best score."""
    plan: MassPlan | None = None
    """The plan that computed the masses of all guesses, or None if they were not computed."""
    evaluated: int | None = None
    """The number of codes that the strategy examined for this guess; None if it does not count."""
    memory: object = None
    """The memory of the strategy for its next turn, an immutable value; None if it has none."""
    note: str = ""
    """A remark for the player, such as a warning that the choice is poor; usually empty."""

    __repr__ = outline


class Strategy(Protocol):
    """A code-breaker."""

    @property
    def name(self) -> str:
        """The name of the strategy at the command line and in files."""

    @property
    def deterministic(self) -> bool:
        """Whether the history alone determines the choice.

        If so, the lab asks only once for each history, and remembers the answer.
        """

    @property
    def needs(self) -> Needs:
        """The part of the belief that the strategy uses."""

    def start(self, channel: Channel, prior: Prior | None = None) -> Belief:
        """Return the belief before the first guess.

        Parameters
        ----------
        channel
            The channel that the strategy assumes, in its `revealed` form if the game ends at
            the winning guess.
        prior
            The distribution from which the code is drawn; uniform if None.
        """

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the next guess, an index into ``board.codes``, and the reasons for it.

        Parameters
        ----------
        belief
            The belief about the code.
        rng
            The random generator for strategies that break ties at random.
        situation
            The memory of the strategy and the number of guesses left. A strategy must also
            choose without a memory: a player may ask for advice in the middle of a game.
        """


@checked_if_it_fails
def start_belief(channel: Channel, prior: Prior | None = None) -> ExactBelief:
    """Return the belief before the first guess: a `VanishingBelief` without noise, else a table.

    If the channel is free of noise, the belief is the limit of vanishing noise, which is defined
    even for replies that contradict each other. Otherwise the belief is a table.

    Parameters
    ----------
    channel
        The channel that the belief assumes.
    prior
        The distribution from which the code is drawn; uniform if None.

    Raises
    ------
    InvalidArgumentError
        If the prior belongs to another board.
    TooLargeError
        If the board has too many codes for a belief.
    """
    if channel.is_exact:
        return VanishingBelief.start(
            channel.board, reports=channel.reports, ends=channel.ends, prior=prior
        )
    return TableBelief.start(channel, prior)


@checked_if_it_fails
def start_posterior(channel: Channel, prior: Prior | None = None) -> Posterior:
    """Return `start_belief`, or samples if the board has too many codes to list.

    Parameters
    ----------
    channel
        The channel of the replies.
    prior
        The distribution from which the code is drawn; uniform if None.
    """
    if is_believable(channel.board):
        return start_belief(channel, prior)
    return SampledBelief.start(channel, prior)


@checked_if_it_fails
def trusting_channel(channel: Channel) -> Channel:
    """Return the channel with the same reports that assumes each report to be true.

    Reports that are not true replies have probability zero under this channel.

    Parameters
    ----------
    channel
        The channel of the replies.
    """
    replies = channel.board.true_replies
    reports = (*replies, *(report for report in channel.reports if report not in replies))
    trusting = Channel(
        board=channel.board,
        reports=reports,
        matrix=np.eye(len(replies), len(reports)),
        name="exact",
    )
    return trusting.revealed() if channel.ends else trusting


@checked_if_it_fails
def describe_guess(belief: Posterior, guess: Sequence[int]) -> GuessInfo:
    """Return the information about any guess, such as a guess of the player.

    The score is the expected entropy.

    Parameters
    ----------
    belief
        The belief.
    guess
        A code of the board, colors 1..k.

    Raises
    ------
    InvalidArgumentError
        If the guess is not a code of the board.
    """
    index = belief.board.index(guess)
    if isinstance(belief, UnknownNoiseBelief):
        gained = float(belief.information(np.array([index]))[0])
    else:
        masses = belief.masses(np.array([index]))
        gained = float(information(masses[0], belief.channel.matrix))
    expected_entropy = max(0.0, belief.entropy() - gained)
    return GuessInfo(
        guess=index, score=expected_entropy, information=gained, expected_entropy=expected_entropy
    )
