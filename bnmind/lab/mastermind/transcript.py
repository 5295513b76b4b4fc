"""What is left of a game: everything that was said, and the luck behind it."""

from __future__ import annotations

from dataclasses import dataclass

from bnmind._values import CheckedValue
from bnmind.lab.mastermind.endings import Ending
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.mastermind.reply import Reply
from bnmind.strategies.base.strategy import GuessInfo

__all__ = ["PlayedTurn", "Transcript"]


@dataclass(frozen=True)
class PlayedTurn(CheckedValue):
    """One guess and what became of it."""

    guess: tuple[int, ...]
    """The guess."""
    true_reply: Reply
    """The reply that it drew."""
    report: Reply | None
    """The reply that was reported; None if the code-maker ended the game instead."""
    noise: float
    """The luck of the turn, in [0, 1)."""
    info: GuessInfo
    """Why the strategy chose the guess."""


@dataclass(frozen=True, eq=False)
class Transcript(CheckedValue):
    """A game that was played."""

    strategy: str
    """The name of the strategy."""
    channel: Channel
    """What the replies passed through."""
    assumed: Channel
    """What the strategy assumed that they passed through."""
    ending: Ending
    """How the game was to end."""
    secret: tuple[int, ...]
    """The hidden code."""
    turns: tuple[PlayedTurn, ...]
    """The turns, first to last."""
    won: bool
    """Whether the code was found: guessed or, where nobody reveals it, declared."""
    declared: tuple[int, ...] | None = None
    """The code that the breaker named in the end, where nobody reveals it."""
    seed: int | None = None
    """The seed of the game, if it had one."""

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    @property
    def guesses(self) -> int:
        """How many guesses were made."""
        return len(self.turns)

    @property
    def history(self) -> tuple[Turn, ...]:
        """The guesses and the replies reported to them, as a belief takes them in."""
        return tuple(
            Turn(turn.guess, turn.report) for turn in self.turns if turn.report is not None
        )
