"""How messages show values and texts that may be of any kind and length."""

from __future__ import annotations

import math
import reprlib
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice

__all__ = [
    "MOST_FAULTS",
    "bytes_text",
    "first_faults",
    "listed",
    "many",
    "one_line",
    "shown",
    "visible",
]

MOST_FAULTS = 1000
"""Faults of a file or a table that are collected: in a large one everything may be wrong."""

_LONG = 10**15
_LONGEST = 400
_MOST = 12
_UNITS = (("bytes", 0), ("KiB", 10), ("MiB", 20), ("GiB", 30))

_HIDDEN = frozenset(["Cc", "Cs", "Co", "Cn", "Zl", "Zp"])
_TURNING = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that would turn around what comes after them."""

_short = reprlib.Repr()
_short.maxstring = _short.maxother = 60
_short.maxlong = 40
_short.maxlist = _short.maxtuple = 12
_short.maxlevel = 3


def shown(value: object) -> str:
    """Return a value as a message shows it: quoted, in one line, not too long.

    Examples
    --------
    >>> shown("1123"), shown([0.5, 1]), shown(10**9999)
    ("'1123'", '[0.5, 1]', 'a long number')
    >>> len(shown("x" * 10_000))
    60
    """
    try:
        return " ".join(_short.repr(value).split())
    except ValueError:  # Python does not write whole numbers of thousands of digits
        return "a long number"


def many(count: int) -> str:
    """Return a whole number as text, in short if it has very many digits.

    >>> many(12345), many(2**100)
    ('12,345', 'about 10^30')
    """
    return f"{count:,}" if count < _LONG else f"about 10^{int(math.log10(count))}"


def bytes_text(number: int) -> str:
    """Return a number of bytes in the unit that suits it.

    >>> bytes_text(736), bytes_text(2**31)
    ('736 bytes', '2 GiB')
    """
    unit, shift = next((u, s) for u, s in _UNITS if number >> s < 1000 or u == "GiB")
    if not shift:
        return f"{number:,} bytes"
    if number >> shift >= 10**6:
        return f"{many(number >> shift)} {unit}"
    return f"{number / 2**shift:.3g} {unit}"


def one_line(text: str, *, longest: int = _LONGEST) -> str:
    """Return a text in one line, cut at the end if it is long.

    >>> one_line("words and more", longest=10)
    'words and…'
    """
    # What is cut anyway need not be split.
    text = " ".join(text[: 2 * longest].split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def first_faults(faults: Iterable[str]) -> list[str]:
    """Return the first `MOST_FAULTS` of faults, the others are not looked for."""
    return list(islice(faults, MOST_FAULTS))


def listed(problems: Sequence[str], *, most: int = _MOST) -> str:
    """Return the first of several faults, none of them very long, and how many more there are.

    >>> listed(["a", "b", "c"], most=2)
    'a; b; and 1 more'
    """
    first = "; ".join(one_line(problem) for problem in problems[:most])
    more = len(problems) - most
    least = "at least " if len(problems) >= MOST_FAULTS else ""
    return f"{first}; and {least}{more:,} more" if more > 0 else first


def visible(text: str) -> str:
    r"""Return a text of one line with a replacement for all that is not to be shown.

    Whoever makes a file chooses the titles, names and states in it. Control characters would
    be obeyed by a terminal and are no XML, and marks that change the direction of writing
    would reach beyond the text.

    >>> visible("yes\x1b[2J")
    'yes\ufffd[2J'
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        "\N{REPLACEMENT CHARACTER}"
        if unicodedata.category(letter) in _HIDDEN or letter in _TURNING or letter in "\ufffe\uffff"
        else letter
        for letter in text
    )
