"""Questions about a game, checked, and the objects of the game that they describe."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

from pydantic import Field

from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.web.base.form import Form

if TYPE_CHECKING:
    from bnmind.mastermind import Board, Channel, Posterior, Prior, Turn

__all__ = [
    "UNKNOWN",
    "GameQuestion",
    "GuessQuestion",
    "HistoryText",
    "Rows",
    "Setting",
    "WhatIfQuestion",
]

UNKNOWN = "unknown"
"""The noise of a code-maker whose replies are false nobody knows how often."""

MOST_PEGS, MOST_COLORS, MOST_ROWS = 12, 20, 40
_MOST_LISTED = 2**18
"""Boards with more codes are believed by samples, which takes less time."""
_MOST_CODES = 10**12

Code = Annotated[str, Field(max_length=80, examples=["1123"])]
ReplyText = Annotated[str, Field(max_length=16, examples=["1b1w"])]


class Setting(Form):
    """The board, the noise of the replies, and how the code was chosen."""

    pegs: int = Field(4, ge=1, le=MOST_PEGS, description="Positions of a code.")
    colors: int = Field(6, ge=2, le=MOST_COLORS, description="Colors that a peg can have.")
    repeats: bool = Field(True, description="Whether a color may occur more than once in a code.")
    noise: str = Field(
        "exact",
        max_length=40,
        description="exact: every reply is true. false:P: with probability P, a random reply"
        " replaces the true one. independent:P: each of the two numbers is wrong with probability"
        " P. unknown: like false:P with a P that is learned from the replies.",
    )
    prior: str = Field(
        "uniform", max_length=80, description="How the code was chosen; uniform: all codes alike."
    )

    def board(self) -> Board:
        """Return the board.

        Raises
        ------
        InvalidArgumentError
            If there are fewer colors than pegs without repeats.
        TooLargeError
            If the board has too many codes for this server.
        """
        from bnmind.mastermind import Board

        board = Board(self.pegs, self.colors, repeats=self.repeats)
        if board.n_codes > _MOST_CODES:
            raise TooLargeError(
                f"this server answers boards of at most {_MOST_CODES:,} codes; the board {board}"
                f" has {board.n_codes:,}",
                needed=board.n_codes,
                budget=_MOST_CODES,
            )
        return board

    def channel(self) -> Channel:
        """Return the channel; with noise `UNKNOWN` one of its kind.

        Raises
        ------
        InvalidArgumentError
            If the noise is none that this server knows.
        """
        from bnmind.mastermind import Channel, parse_noise

        noise = self.noise.strip()
        if noise == UNKNOWN:
            return Channel.false_reply(self.board(), 0.2)
        if noise.partition(":")[0] not in ("exact", "false", "independent"):
            raise InvalidArgumentError(
                f"expected noise as exact, false:P, independent:P or {UNKNOWN}, got {noise!r}",
                noise,
            )
        return parse_noise(self.board(), noise)

    def drawn_from(self) -> Prior | None:
        """Return the prior; None if all codes are equally probable.

        Raises
        ------
        InvalidArgumentError
            If the prior is none that this server knows; it reads no files.
        """
        from bnmind.mastermind import parse_prior

        prior = self.prior.strip()
        if prior == "uniform":
            return None
        if prior.partition(":")[0] == "file":
            raise InvalidArgumentError("expected a prior without a file", prior)
        return parse_prior(self.board(), prior)

    def start(self) -> Posterior:
        """Return the belief before the first guess."""
        from bnmind.lab.mastermind.advice import start, start_learning
        from bnmind.mastermind import SampledBelief

        channel, prior = self.channel(), self.drawn_from()
        board = channel.board
        if self.noise.strip() == UNKNOWN:
            return start_learning(channel, prior)
        if board.n_codes > _MOST_LISTED:
            return SampledBelief.start(channel.revealed(), prior)
        return start(channel, prior)


class Row(Form):
    """A guess and its reported reply."""

    guess: Code
    reply: ReplyText


class Rows(Setting):
    """A game: its setting and its history."""

    turns: tuple[Row, ...] = Field(
        (), max_length=MOST_ROWS, description="The guesses and the replies, oldest first."
    )

    def history(self) -> tuple[Turn, ...]:
        """Return the turns.

        Raises
        ------
        InvalidArgumentError
            If a guess or a reply is not possible; the message names the row.
        """
        from bnmind.errors import BnmindError, InvalidArgumentError
        from bnmind.mastermind import Reply, Turn

        board = self.board()
        turns: list[Turn] = []
        for number, row in enumerate(self.turns, start=1):
            try:
                turns.append(Turn(board.parse(row.guess), Reply.parse(row.reply, pegs=board.pegs)))
            except BnmindError as fault:
                raise InvalidArgumentError(f"row {number}: {fault}", row) from fault
        return tuple(turns)


class GameQuestion(Rows):
    """A game, and whether it goes on."""

    goes_on: bool = Field(
        False, description="The game goes on, even if the last reply reports all pegs black."
    )


class WhatIfQuestion(GameQuestion):
    """A game in which one row is left out, or had another reply."""

    row: int = Field(ge=0, le=MOST_ROWS, description="The row, from 0.")
    instead: ReplyText | None = Field(
        None, description="The reply that the row has instead; null leaves the row out."
    )


class HistoryText(Setting):
    """A history as text."""

    text: str = Field(max_length=4000, examples=["1123 1b1w, 2345 0b2w"])


class GuessQuestion(GameQuestion):
    """A game, and a guess of your own."""

    guess: Code
