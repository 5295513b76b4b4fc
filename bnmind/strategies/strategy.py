"""The strategy protocol: start a belief, and choose a guess from it.

``belief.update(guess, reply)`` updates the belief; the strategy never does. A strategy can
therefore advise on any belief: one that a player typed in, one from a transcript, or one of another
strategy. If it remembers more than the belief tells, it returns the memory with its choice
(`GuessInfo.memory`), and the lab passes it on with the next question (`Situation.memory`).

A strategy inherits from `UsesHistory`, `TrustsReplies`, `ModelsNoise` or `UsesSamples`, and adds
its name and its choice.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Protocol, TypeVar, cast

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind._display import outline
from bnmind._files import parse_document
from bnmind._values import Count, Value
from bnmind.errors import BnmindError, InvalidArgumentError, ModelFileError
from bnmind.information import information
from bnmind.mastermind.beliefs import Belief, ExactBelief, HistoryBelief, Posterior, TableBelief
from bnmind.mastermind.board import is_believable
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.distribution import CodeDistribution
from bnmind.mastermind.masses import MassPlan
from bnmind.mastermind.noise_beliefs import UnknownNoiseBelief, VanishingBelief
from bnmind.mastermind.prior import Prior
from bnmind.mastermind.sampled_belief import SampledBelief
from bnmind.mastermind.sampling import SamplerOptions

# --- The end of a game ----------------------------------------------------------------------------


class Goal(Enum):
    """The end of a game."""

    REVEALING = "revealing"
    """The game ends when the code has been guessed."""
    DETERMINING = "determining"
    """The game ends when only one code is left, guessed or not."""


# --- The knowledge of a strategy beside the belief ------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class Situation(Value):
    """The knowledge of a strategy beside the belief: its memory, and the end of the game."""

    memory: object = None
    """The memory of the last turn, `GuessInfo.memory`; None at the first turn, or if the strategy
    is asked in the middle of a game that it has not played."""
    guesses_left: Count | None = None
    """The number of guesses that the game still allows, the next one included; None if unknown."""


FIRST_TURN = Situation()
"""The situation of a strategy that remembers nothing, in a game of unknown length."""


# --- The demands of a strategy on the belief from which it chooses --------------------------------


class Needs(Enum):
    """The part of a belief that a strategy uses."""

    HISTORY = "history"
    """Only the guesses and the replies, so any `Belief` will do, on boards of any size."""
    SAMPLES = "samples"
    """Codes drawn from the belief and estimates: a `Posterior`."""
    DISTRIBUTION = "distribution"
    """The probability of each code: an `ExactBelief`."""


def distribution_of(belief: Belief) -> CodeDistribution:
    """Return the probability of each code.

    Parameters
    ----------
    belief
        The belief.

    Raises
    ------
    InvalidArgumentError
        If the belief does not hold it.
    """
    if hasattr(belief, "codes"):
        return cast(ExactBelief, belief).codes
    raise InvalidArgumentError(
        f"expected a belief that holds the probability of each code, such as TableBelief, got "
        f"{type(belief).__name__}",
        belief,
    )


def posterior_of(belief: Belief) -> Posterior:
    """Return the belief as one that knows or estimates probabilities.

    Parameters
    ----------
    belief
        The belief.

    Raises
    ------
    InvalidArgumentError
        If the belief does not know them.
    """
    if hasattr(belief, "masses"):
        return cast(Posterior, belief)
    raise InvalidArgumentError(
        f"expected a belief that knows or estimates the probabilities of codes, such as "
        f"TableBelief, got {type(belief).__name__}",
        belief,
    )


# --- The strategy protocol: start a belief, and choose a guess from it ----------------------------


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


# --- The beginnings of strategies: the belief before the first guess, and the part of it they use -


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

    needs = Needs.HISTORY
    """Only the history."""

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

    needs = Needs.SAMPLES
    """Samples of the belief."""

    def start(self, channel: Channel, prior: Prior | None = None) -> SampledBelief:
        """Return a sampled belief, on small boards too.

        The arguments are those of `Strategy.start`.
        """
        return SampledBelief.start(channel, prior, options=self.options)


class TrustsReplies(_Chooses):
    """A strategy that uses the possible codes, and takes each reply for true."""

    __slots__ = ()

    needs = Needs.DISTRIBUTION
    """The probability of each code."""

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Return a belief that assumes true replies.

        The arguments are those of `Strategy.start`.
        """
        return start_belief(trusting_channel(channel), prior)


class ModelsNoise(_Chooses):
    """A strategy that uses the probability of each code under the channel and the prior."""

    __slots__ = ()

    needs = Needs.DISTRIBUTION
    """The probability of each code."""

    def start(self, channel: Channel, prior: Prior | None = None) -> ExactBelief:
        """Return the belief before the first guess; see `start_belief`."""
        return start_belief(channel, prior)


# --- Small JSON files of strategies: a format, a version, and a value -----------------------------


_Kind = TypeVar("_Kind")


def parse_record(
    text: str, where: str, kind: tuple[str, int], read: Callable[[Any], _Kind]
) -> _Kind:
    """Return the value of a JSON text of a format and version; messages name the file as `where`.

    Parameters
    ----------
    text, where
        The text, and the name of its file.
    kind
        The format and its version.
    read
        Returns the value of the document. It may raise as wrong parts do.

    Raises
    ------
    ModelFileError
        If the text does not contain such a value.
    """
    try:
        return read(parse_document(text, *kind))
    except (
        BnmindError,
        ValueError,
        TypeError,
        LookupError,
        AttributeError,
        OverflowError,
    ) as error:
        reason = str(error) if isinstance(error, BnmindError) else "another form"
        line, column = (getattr(error, part, None) for part in ("line", "column"))
        raise ModelFileError(
            f"expected {kind[0]} in {where}, got: {reason}", where, line=line, column=column
        ) from error
