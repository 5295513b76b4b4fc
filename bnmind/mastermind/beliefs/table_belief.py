"""A belief as a table over all codes, updated by Bayes' rule."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind._values import made
from bnmind.information import Floats
from bnmind.mastermind.beliefs.belief import CodeBelief, impossible_history
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.masses.reply_table import bayes_rule
from bnmind.mastermind.priors.prior import Prior, distribution_before
from bnmind.mastermind.reply import Reply

__all__ = ["TableBelief"]


@dataclass(frozen=True, eq=False)
class TableBelief(CodeBelief):
    """A belief that stores the probability of each code.

    A code whose probability falls below 1e-308 counts as impossible.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> belief = TableBelief.start(Channel.exact(Board(4, 6)))
    >>> belief.update((1, 1, 2, 3), Reply(1, 2)).codes.possible_codes()
    84
    """

    @classmethod
    @checked
    def start(cls, channel: Channel, prior: Prior | Floats | None = None) -> TableBelief:
        """Return the belief before the first guess.

        Parameters
        ----------
        channel
            The channel that the belief assumes.
        prior
            The distribution of the code, or an array of the probability of each code,
            ``(n_codes,)``; uniform by default.

        Raises
        ------
        InvalidArgumentError
            If an array is not a distribution over the codes of the board.
            If the prior belongs to another board.
        TooLargeError
            If the board has too many codes for a belief.
        """
        return cls(channel, (), distribution_before(channel.board, prior))

    def update(self, guess: Sequence[int], reply: Reply) -> TableBelief:
        """Return the belief after another guess and its reported reply.

        The posterior of a code s is q(s)·N[reply(s, guess), reported], normalized.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the channel never reports the reply.
        ImpossibleEvidenceError
            If the replies together have probability zero; the error names them.
        """
        likelihood = self.channel.likelihood(reply)
        turn = Turn(self.board.checked(guess), Reply.of(reply))
        history = (*self.history, turn)
        after = bayes_rule(self.board, self.codes.probabilities, turn.guess, likelihood)
        if after is None:
            raise impossible_history(self.channel, history)
        codes = CodeDistribution(self.board, after)
        return made(TableBelief, channel=self.channel, history=history, codes=codes)
