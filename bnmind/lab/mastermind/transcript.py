"""Transcripts: the complete record of a game, including its luck."""

from __future__ import annotations

from dataclasses import dataclass

from bnmind._values import Value
from bnmind.lab.mastermind.endings import Ending
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.mastermind.priors.prior import Prior
from bnmind.mastermind.reply import Reply
from bnmind.strategies.base.strategy import GuessInfo

__all__ = ["PlayedTurn", "Transcript"]


@dataclass(frozen=True, kw_only=True)
class PlayedTurn(Value):
    """One guess and its reply."""

    guess: tuple[int, ...]
    """The guess."""
    true_reply: Reply
    """The true reply."""
    report: Reply | None
    """The reply that was reported; None if the code-maker ended the game instead."""
    noise: float
    """The luck of the turn, in [0, 1)."""
    info: GuessInfo
    """The reasons of the strategy for the guess."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Transcript(Value):
    """The record of a game."""

    strategy: str
    """The name of the strategy."""
    channel: Channel
    """The channel that reported the replies."""
    assumed: Channel
    """The channel that the strategy assumed."""
    ending: Ending
    """The rule that ended the game."""
    secret: tuple[int, ...]
    """The secret code."""
    turns: tuple[PlayedTurn, ...]
    """The turns, first to last."""
    won: bool
    """Whether the code was guessed or, if the ending does not reveal it, named correctly."""
    declared: tuple[int, ...] | None = None
    """The code that the breaker named at the end, if the ending does not reveal it."""
    seed: int | None = None
    """The seed of the game, if it had one."""
    prior: Prior | None = None
    """The distribution from which the secret was drawn; uniform if None."""
    assumed_prior: Prior | None = None
    """The prior that the strategy assumed; uniform if None."""

    @property
    def board(self) -> Board:
        """The board."""
        return self.channel.board

    @property
    def guesses(self) -> int:
        """The number of guesses."""
        return len(self.turns)

    @property
    def history(self) -> tuple[Turn, ...]:
        """The guesses and the reported replies, as the turns of a belief."""
        return tuple(
            Turn(turn.guess, turn.report) for turn in self.turns if turn.report is not None
        )
