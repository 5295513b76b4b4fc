"""Histories: the guesses of a game and the reported replies."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError
from bnmind.mastermind.board import Board
from bnmind.mastermind.reply import Reply, spells_reply

__all__ = ["Turn", "format_history", "parse_history"]

_MOST_WORDS = 4  # of a reply: 1b2w, 1 2, 1b 2w, 1 b 2 w


@dataclass(frozen=True)
class Turn:
    """A guess and its reported reply, which may be wrong.

    Raises
    ------
    InvalidArgumentError
        If the guess is not a sequence of colors, numbered from 1.
        If the reply is not a `Reply` or a pair of numbers.
    """

    guess: tuple[int, ...]
    """Colors 1..k, one for each peg."""
    reply: Reply
    """The reported reply."""

    def __post_init__(self) -> None:
        guess = self.guess
        if type(guess) is not tuple or not all(type(color) is int for color in guess):
            guess = _colors(guess)
            object.__setattr__(self, "guess", guess)
        if not guess or min(guess) < 1:
            raise InvalidArgumentError(
                f"expected colors from 1 in a guess, got {shown(guess)}", guess
            )
        object.__setattr__(self, "reply", Reply.of(self.reply))


def _colors(guess: object) -> tuple[int, ...]:
    """Return the colors of a guess as plain integers."""
    if isinstance(guess, Iterable) and not isinstance(guess, str):
        colors = tuple(guess)
        if all(isinstance(c, int | np.integer) and not isinstance(c, bool) for c in colors):
            return tuple([int(color) for color in colors])
    raise InvalidArgumentError(
        f"expected a guess as colors, such as (1, 1, 2, 3), got {shown(guess)}", guess
    )


@checked
def parse_history(board: Board, text: str) -> tuple[Turn, ...]:
    """Parse a history and return its turns.

    Parameters
    ----------
    board
        The board of the guesses.
    text
        Entries separated by commas, semicolons or line ends. An entry is a guess in any form that
        `Board.parse` accepts, followed by a reply in any form that `Reply.parse` accepts. If
        guesses or replies contain commas, as in ``1,1,2,3 1,2``, a comma ends an entry only
        if the entry is complete.

    Raises
    ------
    InvalidArgumentError
        If an entry has another form, or its guess or reply is not possible on the board; the
        message names the entry.

    Examples
    --------
    >>> format_history(Board(4, 12), parse_history(Board(4, 12), "1 1 12 3 1b1w; ABCD 02;"))
    '1 1 12 3 1b1w, 1 2 3 4 0b2w'
    """
    entries = re.split("[,;]", text)
    if not entries[-1].strip():
        entries.pop()
    try:
        return tuple(_parse_turn(board, n, entry) for n, entry in enumerate(entries, start=1))
    except InvalidArgumentError:
        ended = re.sub(r"[,;]\s*$", "", text)
        segments = [_with_commas(board, segment) for segment in ended.split(";")]
        if not all(segments):
            if (plain := _plain(text)) != text:
                return parse_history(board, plain)
            raise
        return tuple(turn for segment in segments for turn in segment)


def _plain(text: str) -> str:
    """Return a history with semicolons between the rows, in place of lines; blanks, in place of =.

    >>> _plain("1123: 1b1w, 2345: 0b2w")
    '1123  1b1w, 2345  0b2w'
    """
    if "\n" in text.strip():
        text = ";".join(row.strip().rstrip(",;") for row in text.splitlines() if row.strip())
    return re.sub("->|[:=→]", " ", text)


_LETTERED_REPLY = re.compile(r"\d+(?:b\d+w|a\d+b)", re.IGNORECASE)


def _with_commas(board: Board, segment: str) -> list[Turn]:
    """Return the turns of a text whose entries may contain commas; an empty list on failure.

    The shortest prefix that is a turn is an entry.
    """
    turns: list[Turn] = []
    words: list[str] = []
    for piece in segment.split(","):
        more = piece.split()
        words += more
        if not more or len(words) > board.pegs + _MOST_WORDS:
            return []
        lengths = {len(words) - n for n in range(1, _MOST_WORDS + 1)}
        if lengths.isdisjoint({1, board.pegs}):
            continue  # no guess has this number of words
        try:
            turns.append(_parse_turn(board, len(turns) + 1, " ".join(words)))
        except InvalidArgumentError:
            continue
        words = []
    return [] if words else turns


def _parse_turn(board: Board, number: int, entry: str) -> Turn:
    """Return the turn of an entry; the reply takes as few words as possible."""
    words = entry.split()
    fault: InvalidArgumentError | None = None
    for start in range(len(words) - 1, max(0, len(words) - 1 - _MOST_WORDS), -1):
        guess, reported = " ".join(words[:start]), " ".join(words[start:])
        if spells_reply(reported, pegs=board.pegs):
            try:
                return Turn(board.parse(guess), Reply.parse(reported, pegs=board.pegs))
            except InvalidArgumentError as error:
                fault = fault or error
    if fault is not None:
        if any(_LETTERED_REPLY.fullmatch(word) for word in words[:-1]):
            one, other = f"{board.code_text(0)} 1b0w", f"{board.code_text(board.n_codes - 1)} 0b0w"
            fault = InvalidArgumentError(
                f"expected a comma between rows, like {one}, {other}, got {shown(entry.strip())}",
                entry,
            )
        raise InvalidArgumentError(f"entry {number} of the history: {fault}", entry) from fault
    example = board.code_text(0)
    raise InvalidArgumentError(
        f"expected a guess and its reply, like {example} 1b0w, in entry {number} of the "
        f"history, got {shown(entry.strip())}",
        entry,
    )


@checked
def format_history(board: Board, turns: Iterable[Turn]) -> str:
    """Format the turns so that `parse_history` can read them.

    Parameters
    ----------
    board
        The board.
    turns
        The guesses and their replies.

    Raises
    ------
    InvalidArgumentError
        If a guess is not a code of the board.
    """
    return ", ".join(f"{board.format(turn.guess)} {turn.reply}" for turn in turns)
