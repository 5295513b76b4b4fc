"""The words of a UAI file and their places.

All files of the competitions are words separated by blanks. Comments are lines that start with the
word ``c``, and text after ``#``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import islice

from bnmind.errors import ModelFileError
from bnmind.pgm.formats.source import Place, Source, shown

__all__ = ["Words"]

_COMMENTS = re.compile(r"^c(?:[ \t].*)?$|#.*", re.MULTILINE)
_TOKEN = re.compile(r"\S++")
_DIGITS = 9


@dataclass(frozen=True)
class Words:
    """The words of a text, and their places."""

    source: Source
    tokens: list[str]

    @classmethod
    def of(cls, text: str) -> Words:
        """Return the words of a text."""
        source = Source.without(_COMMENTS, text)
        return cls(source, source.text.split())

    def place(self, at: int) -> Place:
        """Return the place of a word; the end of the file if there is no such word."""
        words = _TOKEN.finditer(self.source.text)
        word = next(islice(words, at, None), None)
        return self.source.place(word.start() if word else len(self.source.text))

    def first_places(self, count: int) -> list[Place]:
        """Return the places of the first words."""
        words = islice(_TOKEN.finditer(self.source.text), count)
        return [self.source.place(word.start()) for word in words]

    def fault(self, expected: str, at: int) -> ModelFileError:
        """Return an error that names the expected content and the word at an index."""
        is_word = at < len(self.tokens)
        word = shown(self.tokens[at]) if is_word else "the end of the file"
        return self.place(at).fault(f"expected {expected}, got {word}")

    def count(self, at: int, expected: str, *, least: int = 0, below: int = 10**_DIGITS) -> int:
        """Return a word as a whole number."""
        token = self.tokens[at] if at < len(self.tokens) else ""
        if not (token.isascii() and token.isdigit() and len(token) <= _DIGITS):
            raise self.fault(expected, at)
        if not least <= int(token) < below:
            raise self.fault(f"{expected} from {least} to {below - 1}", at)
        return int(token)

    def expect_end(self, at: int) -> None:
        """Raise an error if there are words left."""
        if at < len(self.tokens):
            raise self.fault("the end of the file", at)
