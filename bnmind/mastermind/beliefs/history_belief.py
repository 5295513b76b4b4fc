"""A belief that holds the turns of a game, and computes nothing from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bnmind._values import Value
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.mastermind.reply import Reply

__all__ = ["HistoryBelief"]


@dataclass(frozen=True, eq=False)
class HistoryBelief(Value):
    """The turns of a game, for strategies that need only the history, on boards of any size.

    Examples
    --------
    >>> belief = HistoryBelief(Channel.exact(Board(10, 12)))
    >>> after = belief.update((1, 1, 2, 2, 3, 3, 4, 4, 5, 5), Reply(2, 3))
    >>> len(belief.history), len(after.history)
    (0, 1)
    """

    channel: Channel
    """The channel that the belief assumes."""
    history: tuple[Turn, ...] = ()
    """The turns so far, oldest first."""

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    def update(self, guess: Sequence[int], reply: Reply) -> HistoryBelief:
        """Return the belief after another guess and its reported reply.

        Raises
        ------
        InvalidArgumentError
            If the guess is not a code of the board.
            If the channel never reports the reply.
        """
        self.channel.report_index(reply)
        turn = Turn(self.board.checked(guess), Reply.of(reply))
        return HistoryBelief(self.channel, (*self.history, turn))
