"""What a belief about the hidden code is, whatever it is computed with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol, Self

from bnmind._arguments import checked
from bnmind.errors import ImpossibleEvidenceError
from bnmind.mastermind.beliefs.distribution import CodeDistribution
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn, format_history
from bnmind.mastermind.masses.reply_table import guess_masses
from bnmind.mastermind.reply import Reply

__all__ = ["Belief", "impossible_history", "misreport_probabilities"]


class Belief(Protocol):
    """A belief about the hidden code after a history of guesses and reported replies.

    Beliefs are immutable: an update returns a new one and leaves the old one as it was,
    so that undoing a reply is keeping the belief before it.
    """

    @property
    def board(self) -> Board:
        """The board."""

    @property
    def channel(self) -> Channel:
        """The channel that the replies are believed to come through."""

    @property
    def history(self) -> tuple[Turn, ...]:
        """The turns taken in, oldest first."""

    @property
    def codes(self) -> CodeDistribution:
        """The probability of every code given the history."""

    def update(self, guess: Sequence[int], reply: Reply) -> Self:
        """Return the belief after one more guess and the reply reported to it.

        Raises
        ------
        InvalidCodeError
            If the guess is not of the board.
        InvalidReplyError
            If the channel never gives the reply.
        ImpossibleEvidenceError
            If the replies together have probability zero; it names them.
        """

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return for each turn the probability that its reply was misreported.

        That is, given the whole history, that the true reply is another one: the two
        numbers count as one reply, wrong if either is.
        """


@checked
def misreport_probabilities(codes: CodeDistribution, history: Sequence[Turn]) -> tuple[float, ...]:
    """Return Σ_s q(s)·[reply(s, t_k) ≠ reported reply k] for each turn k of the history.

    Parameters
    ----------
    codes
        The belief q after the whole history.
    history
        The turns; a reported reply that is no true reply of the board is wrong for
        certain.
    """
    board = codes.board
    wrong: list[float] = []
    for turn in history:
        if turn.reply not in board.true_replies:
            wrong.append(1.0)
            continue
        masses = guess_masses(board, codes.probabilities, turn.guess)
        right = board.true_replies.index(turn.reply)
        # Not one less the mass of the reported reply, which would cancel; and divided by
        # the sum, so that what is certain is one.
        others = float(masses[:right].sum() + masses[right + 1 :].sum())
        wrong.append(others / (others + float(masses[right])))
    return tuple(wrong)


@checked
def impossible_history(channel: Channel, history: Sequence[Turn]) -> ImpossibleEvidenceError:
    """Return the error that names the replies which no code of the board explains."""
    board = channel.board
    evidence: dict[str, str] = {}
    for turn in history:
        guess = board.format(turn.guess)
        # The same guess may have been answered in two ways.
        earlier = f"{evidence[guess]}, " if guess in evidence else ""
        evidence[guess] = f"{earlier}{turn.reply}"
    return ImpossibleEvidenceError(
        f"expected replies that some code of the board {board} explains under the channel "
        f"{channel.name}, got {format_history(board, history)}",
        evidence,
    )
