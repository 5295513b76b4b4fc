"""The text of values of any size in a few lines.

The text of a small value is that of its dataclass. Of a larger one it shows the outline: some parts
of long sequences, arrays by their shapes, and values deep inside by their types.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass
from itertools import islice
from typing import Any

import numpy as np

__all__ = ["LONGEST", "MOST_LINES", "outline"]

LONGEST = 600
"""The most characters of an outline."""
MOST_LINES = 10
"""The most lines of an outline."""


class _TooLongError(Exception):
    """The text is longer than an outline may be."""


class _Pen:
    """Writes a value in at most so many characters, to a depth, with some parts of sequences."""

    def __init__(self, *, depth: int | None, most: int | None) -> None:
        self.depth = depth
        self.most = most
        self.room = LONGEST

    def write(self, value: Any, level: int = 0) -> str:
        """Return the text of a value.

        Raises
        ------
        _TooLongError
            If it is too long.
        """
        text = self._parts(value, level)
        if text is None:
            text = repr(value)
            self._use(len(text))
        return text

    def _parts(self, value: Any, level: int) -> str | None:
        """Return the text of a value of several parts; None if it is written as it is."""
        kind = type(value)
        deep = self.depth is not None and level > self.depth
        if isinstance(value, np.ndarray) and self.most is not None and value.size > self.most:
            return self._whole(f"<array {'×'.join(map(str, value.shape))}>")
        if _has_plain_repr(kind):
            named = ((f"{f.name}=", getattr(value, f.name)) for f in fields(kind) if f.repr)
            return self._joined(f"{kind.__qualname__}(", named, ")", level, deep=deep)
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            own = not _is_the_same(kind.__repr__, tuple.__repr__)
            if own and "_fields" not in kind.__dict__:
                return None
            named = ((f"{name}=", getattr(value, name)) for name in kind._fields)
            return self._joined(f"{kind.__name__}(", named, ")", level, deep=deep)
        if kind in (tuple, list):
            ends = ("(", ",)" if len(value) == 1 else ")") if kind is tuple else ("[", "]")
            items = (("", part) for part in value)
            return self._joined(ends[0], items, ends[1], level, deep=deep, n=len(value))
        if isinstance(value, Mapping) and _is_the_same(kind.__repr__, dict.__repr__):
            pairs = ((f"{key!r}: ", part) for key, part in value.items())
            return self._joined("{", pairs, "}", level, deep=deep, n=len(value))
        return None

    def _joined(
        self,
        start: str,
        parts: Iterable[tuple[str, Any]],
        end: str,
        level: int,
        *,
        deep: bool,
        n: int | None = None,
    ) -> str:
        self._use(len(start) + len(end))
        if deep and (n is None or n):
            return self._whole(f"{start}…{end}")
        cut = self.most if n is not None and self.most is not None and n > self.most else None
        texts = []
        for name, part in islice(parts, cut):
            self._use(len(name) + 2)
            texts.append(name + self.write(part, level + 1))
        if cut is not None and n is not None:
            texts.append(self._whole(f"… {n - cut:,} more"))
        return f"{start}{', '.join(texts)}{end}"

    def _whole(self, text: str) -> str:
        self._use(len(text))
        return text

    def _use(self, characters: int) -> None:
        self.room -= characters
        if self.room < 0:
            raise _TooLongError


def _is_the_same(one: object, other: object) -> bool:
    return one is other


def _has_plain_repr(kind: type) -> bool:
    """Return whether the text of a class is that of its dataclass or an outline."""
    way: Any = kind.__repr__
    return is_dataclass(kind) and (way is outline or hasattr(way, "__wrapped__"))


def outline(value: Any) -> str:
    """Return the text of a dataclass in a few lines.

    >>> from bnmind.mastermind import Turn
    >>> outline(Turn((1, 1, 2, 3), (1, 2)))
    'Turn(guess=(1, 1, 2, 3), reply=Reply(black=1, white=2))'
    """
    for depth, most in ((None, None), (3, 6), (2, 6), (1, 6), (1, 3), (0, 3)):
        try:
            text = _Pen(depth=depth, most=most).write(value)
        except _TooLongError:
            continue
        if text.count("\n") < MOST_LINES:
            return text
    return f"{type(value).__qualname__}(…)"
