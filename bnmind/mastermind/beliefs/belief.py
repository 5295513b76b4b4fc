"""The belief protocol: a probability distribution over the secret code, given a history."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

from bnmind._arguments import checked
from bnmind._values import CheckedValue
from bnmind.errors import ImpossibleEvidenceError
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn, format_history
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.masses.reply_table import guess_masses
from bnmind.mastermind.reply import Reply

__all__ = ["Belief", "CodeBelief", "impossible_history", "misreport_probabilities"]


class Belief(Protocol):
    """A belief about the secret code after a history of guesses and reported replies.

    Beliefs are immutable. An update returns a new belief; to undo it, keep the old one.
    """

    @property
    def board(self) -> Board:
        """The board."""

    @property
    def channel(self) -> Channel:
        """The channel that the belief assumes."""

    @property
    def history(self) -> tuple[Turn, ...]:
        """The turns so far, oldest first."""

    @property
    def codes(self) -> CodeDistribution:
        """The probability of each code, given the history."""

    def update(self, guess: Sequence[int], reply: Reply) -> Self:
        """Return the belief after another guess and its reported reply.

        Raises
        ------
        InvalidCodeError
            If the guess is not a code of the board.
        InvalidReplyError
            If the channel never reports the reply.
        ImpossibleEvidenceError
            If the replies together have probability zero; the error names them.
        """

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return, for each turn, the probability that its reply was misreported.

        The probability is conditional on the whole history. A reply is misreported if either
        of its two numbers is wrong.
        """


@dataclass(frozen=True, eq=False)
class CodeBelief(CheckedValue):
    """The common part of the beliefs that hold a distribution of codes."""

    channel: Channel
    """The channel that the belief assumes."""
    history: tuple[Turn, ...]
    """The turns so far, oldest first."""
    codes: CodeDistribution
    """The probability of each code, given the history."""

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return, for each turn, the probability that its reply was misreported."""
        return misreport_probabilities(self.codes, self.history)


@checked
def misreport_probabilities(codes: CodeDistribution, history: Sequence[Turn]) -> tuple[float, ...]:
    """Return Σ_s q(s)·[reply(s, t_k) ≠ reported reply k] for each turn k of the history.

    Parameters
    ----------
    codes
        The belief q after the whole history.
    history
        The turns. A reported reply that is not a true reply of the board is certainly wrong.
    """
    board = codes.board
    wrong: list[float] = []
    for turn in history:
        if turn.reply not in board.true_replies:
            wrong.append(1.0)
            continue
        masses = guess_masses(board, codes.probabilities, turn.guess)
        right = board.true_replies.index(turn.reply)
        # One minus the mass of the reported reply would lose digits by cancellation. The division
        # by the sum makes certain misreports exactly one.
        others = float(masses[:right].sum() + masses[right + 1 :].sum())
        wrong.append(others / (others + float(masses[right])))
    return tuple(wrong)


@checked
def impossible_history(channel: Channel, history: Sequence[Turn]) -> ImpossibleEvidenceError:
    """Return the error for replies that no code of the board explains."""
    board = channel.board
    evidence: dict[str, str] = {}
    for turn in history:
        guess = board.format(turn.guess)
        # The same guess may have two different replies.
        earlier = f"{evidence[guess]}, " if guess in evidence else ""
        evidence[guess] = f"{earlier}{turn.reply}"
    return ImpossibleEvidenceError(
        f"expected replies that some code of the board {board} explains under the channel "
        f"{channel.name}, got {format_history(board, history)}",
        evidence,
    )
