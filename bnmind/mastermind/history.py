"""Histories: the guesses made so far and the replies reported to them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from bnmind.errors import InvalidCodeError, InvalidHistoryError, InvalidReplyError
from bnmind.mastermind.board import Board
from bnmind.mastermind.reply import Reply

__all__ = ["Turn", "format_history", "parse_history"]

_REPLY = re.compile(r"[0-9]+b[0-9]+w", re.IGNORECASE)


@dataclass(frozen=True)
class Turn:
    """A guess and the reply that was reported to it, right or wrong."""

    guess: tuple[int, ...]
    """Colors 1..k, one a peg."""
    reply: Reply
    """The reported reply."""


def parse_history(board: Board, text: str) -> tuple[Turn, ...]:
    """Return the turns that the text spells, in its order.

    Parameters
    ----------
    board
        The board that the guesses are of.
    text
        Entries that end with a comma or a semicolon, the last one optionally. The
        last word of an entry is the reply as ``1b2w``, everything before it the
        guess, spelled as `Board.parse` reads it.

    Raises
    ------
    InvalidHistoryError
        If an entry has no such form, or its guess or its reply cannot be on the
        board; the message names the entry.

    Examples
    --------
    >>> format_history(Board(4, 12), parse_history(Board(4, 12), "1 1 12 3 1b1w; ABCD 0b2w;"))
    '1 1 12 3 1b1w, 1 2 3 4 0b2w'
    """
    entries = re.split("[,;]", text)
    if not entries[-1].strip():
        entries.pop()
    return tuple(_parse_turn(board, number, entry) for number, entry in enumerate(entries, start=1))


def _parse_turn(board: Board, number: int, entry: str) -> Turn:
    words = entry.split()
    if len(words) < 2 or not _REPLY.fullmatch(words[-1]):
        example = board.format(board.code(0))
        raise InvalidHistoryError(
            f"expected a guess and its reply, like {example} 1b0w, in entry {number} of the "
            f"history, got {entry.strip()!r}",
            entry,
        )
    try:
        guess = board.parse(" ".join(words[:-1]))
        reported = Reply.parse(words[-1], pegs=board.pegs)
    except (InvalidCodeError, InvalidReplyError) as error:
        raise InvalidHistoryError(f"entry {number} of the history: {error}", entry) from error
    return Turn(guess, reported)


def format_history(board: Board, turns: Iterable[Turn]) -> str:
    """Return the text of the turns, as `parse_history` reads it.

    Raises
    ------
    InvalidCodeError
        If a guess is not of the board.
    """
    return ", ".join(f"{board.format(turn.guess)} {turn.reply}" for turn in turns)
