"""How messages show values that may be of any kind and length."""

from __future__ import annotations

import math
import reprlib

__all__ = ["many", "shown"]

_LONG = 10**15

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
