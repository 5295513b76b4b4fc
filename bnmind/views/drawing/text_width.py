"""The width of texts in pictures and in terminals, and ways to shorten them.

The font of a picture is not known when it is made. The widths are those of Helvetica and similar
fonts, in classes of letters, and tend to be slightly too large.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from itertools import accumulate

__all__ = ["columns_of", "pad", "shorten", "shorten_to_columns", "text_width"]

# In hundredths of the size of the font: sums of whole numbers are the same in every order.
_CLASSES = (
    ("ijl|.,:;'!I ", 29),
    ('frt()[]{}/\\-"`*', 37),
    ("mwMW@%—", 89),
    ("ABCDEFGHKLNOPQRSTUVXYZ&=+<>~#…", 70),
)
_WIDTHS = {letter: width for letters, width in _CLASSES for letter in letters}
_OTHER = 57
_WIDE = 100
_BOLD = 1.07


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return the approximate width of a text, in the unit of the font size."""
    return sum(map(_letter_width, text)) * _scale(size, bold=bold)


def _letter_width(letter: str) -> int:
    if unicodedata.combining(letter):
        return 0
    return _WIDE if _is_wide(letter) else _WIDTHS.get(letter, _OTHER)


def _scale(size: float, *, bold: bool) -> float:
    return size * (_BOLD if bold else 1.0) / 100


def shorten(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Shorten a text to a width, replacing its middle by ….

    Names often differ only in their last letters, so some of these are kept.
    """
    scale = _scale(size, bold=bold)
    return _shortened(text, _letter_width, lambda width: width * scale <= room)


def _shortened(text: str, width_of: Callable[[str], int], fits: Callable[[int], bool]) -> str:
    # Prefix sums make the time linear in the length of the text.
    before = [0, *accumulate(map(width_of, text))]
    if fits(before[-1]):
        return text
    dots = width_of("…")
    for n_kept in range(len(text) - 1, 0, -1):
        last = min(n_kept // 4, 4)
        if fits(before[n_kept - last] + dots + before[-1] - before[len(text) - last]):
            return f"{text[: n_kept - last]}…{text[len(text) - last :]}"
    return "…"


def columns_of(text: str) -> int:
    """Return the width of a text in terminal columns."""
    return sum(map(_letter_columns, text))


def _letter_columns(letter: str) -> int:
    return 0 if unicodedata.combining(letter) else 1 + _is_wide(letter)


def shorten_to_columns(text: str, room: int) -> str:
    """Shorten a text to a number of terminal columns, replacing its middle by ….

    >>> shorten_to_columns("TEMPERATURE_2", 9)
    'TEMPER…_2'
    """
    return _shortened(text, _letter_columns, lambda columns: columns <= room)


def pad(text: str, columns: int) -> str:
    """Pad a text with spaces to a number of terminal columns."""
    return text + " " * (columns - columns_of(text))
