"""The belief protocols: what is known about the secret code, given a history.

===============  ==========================================================================
protocol         what a belief of this kind gives
===============  ==========================================================================
`Belief`         the board, the channel and the turns so far
`Posterior`      probabilities and entropies, exact or estimated, with their standard errors
`ExactBelief`    the probability of each code
===============  ==========================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import MOST_ROWS, table_html
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn, format_history
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.masses.reply_table import guess_masses
from bnmind.mastermind.reply import Reply

__all__ = [
    "Belief",
    "CodeBelief",
    "ExactBelief",
    "FromCodes",
    "NoErrors",
    "Posterior",
    "StandardErrors",
    "impossible_history",
    "misreport_probabilities",
]


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

    def update(self, guess: Sequence[int], reply: Reply) -> Self:
        """Return the belief after another guess and its reported reply.

        Parameters
        ----------
        guess
            The guess, colors 1..k.
        reply
            The reported reply.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the channel never reports the reply.
        ImpossibleEvidenceError
            If the replies together have probability zero; the error names them. A belief that
            does not compute probabilities does not raise it.
        """


class Posterior(Belief, Protocol):
    """A belief that knows the probability distribution of the code, or samples of it.

    If it holds samples, its numbers are estimates, and `standard_errors` tells how precise
    they are.
    """

    def masses(self, guesses: NDArray[np.intp]) -> Floats:
        """Return the probability of each true reply, ``(guesses, len(board.true_replies))``.

        Parameters
        ----------
        guesses
            ``(guesses,)``, indices of codes.
        """

    def entropy(self) -> float:
        """Return the entropy of the code, in bits."""

    def most_probable(self, n: int = 10) -> tuple[tuple[int, float], ...]:
        """Return up to `n` codes as ``(index, probability)``, the most probable code first."""

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return, for each turn, the probability that its reply was misreported.

        The probability is conditional on the whole history. A reply is misreported if either
        of its two numbers is wrong.
        """

    def draw(self, n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Return `n` codes drawn from the distribution, ``(n, pegs)``, colors from 1.

        Parameters
        ----------
        n
            The number of codes, at least 0.
        rng
            The source of random numbers.
        """

    @property
    def standard_errors(self) -> StandardErrors:
        """The standard errors of the numbers; zero if they are exact."""


class StandardErrors(Protocol):
    """The standard errors of a belief's numbers, by methods of the same names."""

    def masses(self, guesses: NDArray[np.intp]) -> Floats:
        """Return the standard errors of `Posterior.masses`, in the same shape.

        Parameters
        ----------
        guesses
            ``(guesses,)``, indices of codes.
        """

    def entropy(self) -> float:
        """Return the standard error of `Posterior.entropy`, in bits."""

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return the standard errors of `Posterior.misreport_probabilities`."""


class ExactBelief(Posterior, Protocol):
    """A belief that holds the probability of each code."""

    @property
    def codes(self) -> CodeDistribution:
        """The probability of each code, given the history."""


@dataclass(frozen=True)
class NoErrors:
    """The standard errors of exact numbers: zeros."""

    board: Board
    """The board."""
    turns: int
    """The number of turns so far."""

    def masses(self, guesses: NDArray[np.intp]) -> Floats:
        """Return zeros, ``(guesses, len(board.true_replies))``."""
        return np.zeros((len(guesses), len(self.board.true_replies)))

    def entropy(self) -> float:
        """Return 0."""
        return 0.0

    def misreport_probabilities(self) -> tuple[float, ...]:
        """Return a zero for each turn."""
        return (0.0,) * self.turns


def belief_text(belief: Belief) -> str:
    """Return a belief in one line."""
    channel, n = belief.channel, len(belief.history)
    turns = f"{n} turn{'' if n == 1 else 's'}"
    return f"{type(belief).__name__}({channel.board}, {channel.name}, {turns})"


def belief_html(belief: Posterior) -> str:
    """Return the most probable codes as an HTML table for notebooks."""
    board = belief.board
    likely = belief.most_probable(MOST_ROWS)
    rows = [(board.code_text(code), f"{probability:.4g}") for code, probability in likely]
    return table_html(("most probable code", "probability"), rows, caption=repr(belief))


class FromCodes:
    """The methods of `ExactBelief` that follow from its ``codes``."""

    __slots__ = ()

    def __repr__(self: ExactBelief) -> str:
        return belief_text(self)

    def _repr_html_(self: ExactBelief) -> str:
        """Return the most probable codes as an HTML table, which notebooks display."""
        return belief_html(self)

    def masses(self: ExactBelief, guesses: NDArray[np.intp]) -> Floats:
        """Return the probability of each true reply, ``(guesses, len(board.true_replies))``."""
        return self.codes.masses(guesses)

    def entropy(self: ExactBelief) -> float:
        """Return the entropy of the code, in bits."""
        return self.codes.entropy()

    def most_probable(self: ExactBelief, n: int = 10) -> tuple[tuple[int, float], ...]:
        """Return up to `n` codes as ``(index, probability)``, the most probable code first."""
        return self.codes.most_probable(n)

    def misreport_probabilities(self: ExactBelief) -> tuple[float, ...]:
        """Return, for each turn, the probability that its reply was misreported."""
        return misreport_probabilities(self.codes, self.history)

    def draw(self: ExactBelief, n: int, rng: np.random.Generator) -> NDArray[np.uint8]:
        """Return `n` codes drawn from the distribution, ``(n, pegs)``, colors from 1."""
        return self.codes.draw(n, rng)

    @property
    def standard_errors(self: ExactBelief) -> NoErrors:
        """The standard errors of exact numbers: zeros."""
        return NoErrors(self.board, len(self.history))


@dataclass(frozen=True, eq=False)
class CodeBelief(FromCodes, Value):
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
    """Return the error for replies that no code of the board explains.

    Parameters
    ----------
    channel
        The channel of the replies.
    history
        The guesses and their reported replies, which have probability zero.
    """
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
