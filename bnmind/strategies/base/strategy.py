"""What a strategy is: how to start a belief, and how to choose a guess from it.

The state of a game is the belief alone. It is updated with ``belief.update(guess,
reply)``, never by the strategy, so that any belief can be asked for advice: one that a
player typed in, one read from a transcript, one of another strategy.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bnmind.information import information
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.beliefs.table_belief import TableBelief
from bnmind.mastermind.beliefs.vanishing_noise import VanishingBelief
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.mass_plan import MassPlan

__all__ = [
    "GuessInfo",
    "Strategy",
    "describe_guess",
    "start_belief",
    "trusting_channel",
]


@dataclass(frozen=True)
class GuessInfo:
    """Why a guess was chosen."""

    guess: int
    """The guess, an index into ``board.codes``."""
    score: float = math.nan
    """What the strategy judged it by; the strategy says what that is."""
    information: float = math.nan
    """What the guess promises to tell of the code, in bits; nan if not computed."""
    expected_entropy: float = math.nan
    """The entropy of the code to be expected afterwards, in bits; nan if not computed."""
    tied: int = 1
    """How many guesses had the best score."""
    plan: MassPlan | None = None
    """How the masses of all guesses were computed, and what that took; None if they were not."""


class Strategy(Protocol):
    """A code-breaker."""

    @property
    def name(self) -> str:
        """What it is called at the command line and in files."""

    @property
    def deterministic(self) -> bool:
        """Whether the history alone determines the choice.

        The lab then asks once for every history that occurs, and remembers.
        """

    def start(self, channel: Channel) -> Belief:
        """Return the belief before the first guess.

        Parameters
        ----------
        channel
            The channel that the strategy is to assume, in its `revealed` form if the
            game ends when it is won.
        """

    def choose(self, belief: Belief, rng: np.random.Generator) -> tuple[int, GuessInfo]:
        """Return the next guess, an index into ``board.codes``, and why.

        Parameters
        ----------
        belief
            What is believed of the code.
        rng
            Breaks ties, where the strategy leaves them to chance.
        """


def start_belief(channel: Channel) -> Belief:
    """Return the belief before the first guess: trust where trust is due, else a table.

    If the channel reports every reply as it is, the belief is the limit of vanishing
    noise, which survives replies that contradict each other. Else it is a table.
    """
    if channel.is_exact:
        return VanishingBelief.start(channel.board, reports=channel.reports, ends=channel.ends)
    return TableBelief.start(channel)


def trusting_channel(channel: Channel) -> Channel:
    """Return the channel that hears the same reports and takes each for the truth.

    Reports that no code draws have probability zero under it.
    """
    replies = channel.board.true_replies
    reports = (*replies, *(report for report in channel.reports if report not in replies))
    trusting = Channel(channel.board, reports, np.eye(len(replies), len(reports)), "exact")
    return trusting.revealed() if channel.ends else trusting


def describe_guess(belief: Belief, guess: Sequence[int]) -> GuessInfo:
    """Return what any guess promises, a player's own for instance.

    The score is the expected entropy.

    Raises
    ------
    InvalidCodeError
        If the guess is not of the board.
    """
    index = belief.board.index(guess)
    gained = float(information(belief.codes.masses(np.array([index]))[0], belief.channel.matrix))
    left = max(0.0, belief.codes.entropy() - gained)
    return GuessInfo(index, left, gained, left)
