"""The text of a file with the place of each part, for readers that report places.

Readers match one pattern after another, each from the end of the one before, so their time is
linear in the length of the text. The patterns are possessive: a failing match does not backtrack.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import NamedTuple

import numpy as np

from bnmind._messages import one_line
from bnmind.errors import ModelFileError
from bnmind.information import Floats

_BLANKS = re.compile(r"\s*+")
_FAULTY = re.compile(r"\S{1,40}+")
_TOKEN = re.compile(r"[^\s,()]++")
_SHOWN = 40


class Place(NamedTuple):
    """A place in a file, which is counted only for an error."""

    find: Callable[[], tuple[int, int]]
    """Return the line and the column, counted from 1."""

    @classmethod
    def at(cls, line: int, column: int) -> Place:
        """Return the place with this line and column."""
        return cls(lambda: (line, column))

    def __str__(self) -> str:
        line, column = self.find()
        return f"line {line}, column {column}"

    def fault(self, message: str) -> ModelFileError:
        """Return an error with a message and this place."""
        line, column = self.find()
        return ModelFileError(f"{one_line(message)} at {self}", line=line, column=column)

    def unknown(self, part: str) -> ModelFileError:
        """Return an error about a part of a known format that a reader would pass over."""
        return self.fault(f"bnmind does not know {part}, and would lose what it says")


@dataclass(frozen=True)
class Source:
    """The text of a file.

    Parameters
    ----------
    text
        The text. Blanks replace comments, so that places do not change.
    """

    text: str

    @classmethod
    def without(cls, comments: re.Pattern[str], text: str) -> Source:
        """Return the source of a text, with comments replaced by blanks.

        Parameters
        ----------
        comments
            The pattern of comments. It also matches, as a group, text that stays: quoted strings,
            which may contain the start of a comment.
        text
            The text of the file.
        """
        return cls(comments.sub(lambda m: m[0] if m.lastindex else _blank(m[0]), text))

    @cached_property
    def _line_ends(self) -> list[int]:
        return [match.start() for match in re.finditer("\n", self.text)]

    def place(self, at: int) -> Place:
        """Return the place of an offset."""
        return Place(partial(self._line_and_column, at))

    def _line_and_column(self, at: int) -> tuple[int, int]:
        line = bisect_left(self._line_ends, at)
        start = self._line_ends[line - 1] + 1 if line else 0
        return line + 1, at - start + 1

    def skip(self, at: int) -> int:
        """Return the offset of the first character that is not blank."""
        match = _BLANKS.match(self.text, at)
        assert match is not None  # it matches the empty string too
        return match.end()

    def match(self, pattern: re.Pattern[str], at: int, *, expected: str) -> re.Match[str]:
        """Return the match of a pattern at an offset; raise `fault` if there is none."""
        match = pattern.match(self.text, at)
        if match is None:
            raise self.fault(expected, at)
        return match

    def fault(self, expected: str, at: int) -> ModelFileError:
        """Return an error that names the expected and the actual text after blanks."""
        at = self.skip(at)
        match = _FAULTY.match(self.text, at)
        what = shown(match[0]) if match else "the end of the file"
        return self.place(at).fault(f"expected {expected}, got {what}")

    def place_of_number(self, number: int, start: int, end: int) -> Place:
        """Return the place of a number, given its index in a list between two offsets."""
        place = start
        for count, match in enumerate(_TOKEN.finditer(self.text, start, end)):
            place = match.start()
            if count == number:
                break
        return self.place(place)


def number_list(tokens: Sequence[str]) -> Floats | int:
    """Return tokens as numbers, or the index of the first token that is not a finite number."""
    try:
        values = list(map(float, tokens))
    except ValueError:
        return next(i for i, token in enumerate(tokens) if not _is_number(token))
    # float() also accepts "1_000" and digits of other scripts.
    text = "".join(tokens)
    if "_" in text or not text.isascii() or not math.isfinite(sum(values)):
        wrong = (i for i, token in enumerate(tokens) if not _is_number(token))
        if (first := next(wrong, None)) is not None:
            return first
    return np.array(values, dtype=np.float64)


def _is_number(token: str) -> bool:
    if "_" in token or not token.isascii():
        return False
    try:
        return bool(np.isfinite(float(token)))
    except ValueError:
        return False


def _blank(comment: str) -> str:
    return "\n".join(" " * len(line) for line in comment.split("\n"))


def shown(text: str) -> str:
    """Return a text for a message: quoted, on one line, and shortened if long."""
    return repr(text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…")


def text_of(data: bytes) -> str:
    """Return the text of a file in UTF-8, with a line feed at the end of each line.

    Raises
    ------
    ModelFileError
        If it is not UTF-8; the error names the place.
    """
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as fault:
        before = data[: fault.start].decode("utf-8", errors="replace")
        raise (
            Source(before)
            .place(len(before))
            .fault(f"expected text that is saved as UTF-8, got {fault.reason}")
        ) from fault
    return text.replace("\r\n", "\n").replace("\r", "\n")
