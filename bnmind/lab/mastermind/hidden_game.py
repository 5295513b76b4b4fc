"""A game against a code-maker as a value: each guess, undo and surrender gives a new game."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.lab.mastermind.code_maker import CodeMaker
from bnmind.mastermind.history import Turn
from bnmind.mastermind.reply import Reply

__all__ = ["Answered", "HiddenGame"]


class Answered(NamedTuple):
    """A guess, its true reply, and the reply reported."""

    guess: tuple[int, ...]
    true: Reply
    report: Reply | None
    """None if the guess won."""

    @property
    def is_false(self) -> bool:
        """Whether the reported reply is false."""
        return self.report is not None and self.report != self.true


@dataclass(frozen=True, eq=False)
class HiddenGame(Value):
    """The state of a game of a player against a code-maker.

    The luck of each turn is drawn before the game. A guess that is undone and made again therefore
    gets the same reply.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> maker = CodeMaker.from_seed(Channel.exact(Board(4, 6)).revealed(), 8)
    >>> game = HiddenGame(maker).guess((6, 4, 1, 1)).guess(maker.secret)
    >>> [str(turn.report) for turn in game.answered], game.is_won, game.undo().is_over
    (['2b0w', 'None'], True, False)
    """

    maker: CodeMaker
    """The code-maker; its channel is the `Channel.revealed` one."""
    guesses: tuple[tuple[int, ...], ...] = ()
    """The guesses so far, oldest first."""
    given_up: bool = False
    """Whether the player has given up."""
    undone: int = 0
    """How many guesses the player has taken back."""
    hints: int = 0
    """How many hints the player has had."""

    @cached_property
    def answered(self) -> tuple[Answered, ...]:
        """The guesses with their replies, oldest first."""
        answers = (self.maker.answer(turn, guess) for turn, guess in enumerate(self.guesses))
        return tuple(
            Answered(guess, true, report)
            for guess, (true, report) in zip(self.guesses, answers, strict=True)
        )

    @property
    def turns(self) -> tuple[Turn, ...]:
        """The guesses with the replies that the player has seen, without a win."""
        return tuple(Turn(a.guess, a.report) for a in self.answered if a.report is not None)

    @property
    def guesses_left(self) -> int:
        """The number of guesses for which there is luck."""
        return len(self.maker.noise) - len(self.guesses)

    @property
    def is_won(self) -> bool:
        """Whether the last guess was the code."""
        return bool(self.guesses) and self.answered[-1].report is None

    @property
    def is_over(self) -> bool:
        """Whether the code is found, the player has given up, or no guess is left."""
        return self.is_won or self.given_up or not self.guesses_left

    def guess(self, code: Sequence[int]) -> HiddenGame:
        """Return the game after a guess.

        Raises
        ------
        InvalidArgumentError
            If it is not a code of the board.
            If the game is over.
        """
        if self.is_over:
            raise InvalidArgumentError("the game is over; start a new one, or undo", code)
        checked = self.maker.board.checked(code)
        return replace(self, guesses=(*self.guesses, checked))

    def undo(self) -> HiddenGame:
        """Return the game without the last guess, or without the surrender.

        Raises
        ------
        InvalidArgumentError
            If there is nothing to undo.
        """
        if self.given_up:
            return replace(self, given_up=False)
        if not self.guesses:
            raise InvalidArgumentError("there is no guess to undo", self.guesses)
        return replace(self, guesses=self.guesses[:-1], undone=self.undone + 1)

    def give_up(self) -> HiddenGame:
        """Return the game after the player has given up."""
        return replace(self, given_up=not self.is_won)

    def with_hint(self) -> HiddenGame:
        """Return the game after a hint."""
        return replace(self, hints=self.hints + 1)
