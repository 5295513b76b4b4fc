"""How wide texts are, in a picture and in a terminal, and how to shorten them.

A picture does not know which font it is shown in; the widths are those of Helvetica and its
like, in classes of letters, a little too wide rather than too narrow.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from itertools import accumulate

__all__ = ["cells", "pad", "shorten", "shorten_to_cells", "text_width"]

_CLASSES = (
    ("ijl|.,:;'!I ", 0.29),
    ('frt()[]{}/\\-"`*', 0.37),
    ("mwMW@%—", 0.89),
    ("ABCDEFGHKLNOPQRSTUVXYZ&=+<>~#…", 0.70),
)
_WIDTHS = {letter: width for letters, width in _CLASSES for letter in letters}
_OTHER = 0.57
_BOLD = 1.07


def _is_wide(letter: str) -> bool:
    return unicodedata.east_asian_width(letter) in "WF"


def text_width(text: str, size: float, *, bold: bool = False) -> float:
    """Return about how wide a text is, in the unit of the font's size."""
    return sum(map(_letter_width, text)) * _scale(size, bold=bold)


def _letter_width(letter: str) -> float:
    if unicodedata.combining(letter):
        return 0.0
    return 1.0 if _is_wide(letter) else _WIDTHS.get(letter, _OTHER)


def _scale(size: float, *, bold: bool) -> float:
    return size * (_BOLD if bold else 1.0)


def shorten(text: str, room: float, size: float, *, bold: bool = False) -> str:
    """Return the text, its middle replaced by … if it would be wider than the room.

    Names often differ in their last letters only, so some of these stay.
    """
    scale = _scale(size, bold=bold)
    return _shortened(text, _letter_width, lambda width: width * scale <= room)


def _shortened(text: str, width_of: Callable[[str], float], fits: Callable[[float], bool]) -> str:
    # Sums over the first letters, so that the time is linear in the length of the text.
    before = [0.0, *accumulate(map(width_of, text))]
    if fits(before[-1]):
        return text
    dots = width_of("…")
    for kept in range(len(text) - 1, 0, -1):
        last = min(kept // 4, 4)
        if fits(before[kept - last] + dots + before[-1] - before[len(text) - last]):
            short = f"{text[: kept - last]}…{text[len(text) - last :]}"
            if fits(sum(map(width_of, short))):  # differences of sums are rounded
                return short
    return "…"


def cells(text: str) -> int:
    """Return how many columns of a terminal a text takes."""
    return sum(map(_letter_cells, text))


def _letter_cells(letter: str) -> int:
    return 0 if unicodedata.combining(letter) else 1 + _is_wide(letter)


def shorten_to_cells(text: str, room: int) -> str:
    """Return the text, its middle replaced by … if it takes more columns than there are.

    >>> shorten_to_cells("TEMPERATURE_2", 9)
    'TEMPER…_2'
    """
    return _shortened(text, _letter_cells, lambda columns: columns <= room)


def pad(text: str, columns: int) -> str:
    """Return the text with spaces up to so many columns of a terminal."""
    return text + " " * (columns - cells(text))
