"""Text from files and from the command line, as it may be shown on a terminal."""

from __future__ import annotations

import re

__all__ = ["printable"]

_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f"  # controls, the escape among them, but no tab and no newline
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # what turns the direction of writing
    "\u2028\u2029"  # ends of lines that do not look like any
    "\ud800-\udfff]"  # halves of pairs: bytes that were no text
)


def printable(text: str) -> str:
    r"""Return a text in which nothing moves the cursor, colors, or clears the screen.

    Whoever makes a file chooses its titles and names, and a terminal obeys the escape
    sequences in them. Each character of that kind becomes its escape in Python; tabs and
    newlines stay.

    Examples
    --------
    >>> printable("Brüche \x1b[2J\n")
    'Brüche \\x1b[2J\n'
    """
    return _UNSAFE.sub(_escaped, text)


def _escaped(found: re.Match[str]) -> str:
    number = ord(found[0])
    if 0xDC80 <= number <= 0xDCFF:  # how Python keeps a byte of a file name that is no text
        number -= 0xDC00
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"
