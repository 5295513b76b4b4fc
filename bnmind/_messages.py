"""Text of values of any kind and length for messages."""

from __future__ import annotations

import math
import re
import reprlib
import unicodedata
from collections.abc import Iterable, Sequence
from itertools import islice
from typing import Any

MOST_FAULTS = 1000
"""The most faults of a file or a table that are collected."""

_SHORTEST_BEGINNING = 4
_LONG = 10**15
_LONGEST = 400
_MOST = 12
_UNITS = (("bytes", 0), ("KiB", 10), ("MiB", 20), ("GiB", 30))

_APART = re.compile(r"[\s;&|<>()'*?#~]")
"""Characters that a shell does not take as they are."""

_HIDDEN = frozenset(["Cc", "Cs", "Co", "Cn", "Zl", "Zp"])
_TURNING = frozenset("\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
"""Marks that change the direction of writing."""


class _Short(reprlib.Repr):
    """Short texts of values, in which the scalars of NumPy look like those of Python."""

    def repr1(self, x: Any, level: int) -> str:
        if type(x).__module__ == "numpy" and getattr(x, "ndim", 1) == 0:
            x = x.item()
        return super().repr1(x, level)


_short = _Short()
_short.maxstring = _short.maxother = 60
_short.maxlong = 40
_short.maxlist = _short.maxtuple = 12
_short.maxlevel = 3


def shown(value: object) -> str:
    """Return the text of a value for a message: quoted, in one line, and short.

    Examples
    --------
    >>> shown("1123"), shown([0.5, 1]), shown(10**9999)
    ("'1123'", '[0.5, 1]', 'a long number')
    >>> len(shown("x" * 10_000))
    60
    """
    try:
        return " ".join(_short.repr(value).split())
    except ValueError:  # Python does not convert integers of thousands of digits
        return "a long number"


def made_by_newer(version: object, known: int) -> str:
    """Return what to add to a message about the version of a file; nothing if it is no newer one.

    Examples
    --------
    >>> made_by_newer(3, 2), made_by_newer("x", 2)
    (', made by a newer bnmind', '')
    """
    is_newer = type(version) is int and version > known
    return ", made by a newer bnmind" if is_newer else ""


def many(count: int) -> str:
    """Return a whole number as text, abbreviated if it has many digits.

    >>> many(12345), many(2**100)
    ('12,345', 'about 10^30')
    """
    return f"{count:,}" if count < _LONG else f"about 10^{int(math.log10(count))}"


def counted(count: int, noun: str, plural: str = "") -> str:
    """Return a number with a noun, in the plural unless the number is 1.

    >>> counted(1, "slice"), counted(1200, "slice"), counted(2, "reply", "replies")
    ('1 slice', '1,200 slices', '2 replies')
    """
    return f"{many(count)} {noun if count == 1 else plural or noun + 's'}"


def in_words(names: Sequence[str], word: str = "and") -> str:
    """Return names as in a sentence.

    >>> in_words(["a", "b", "c"]), in_words(["a", "b"], "or"), in_words(["a"])
    ('a, b and c', 'a or b', 'a')
    """
    *others, last = names
    return f"{', '.join(others)} {word} {last}" if others else last


def percent(probability: float) -> str:
    """Return a probability in percent; only certain events get 0 % or 100 %.

    >>> percent(1e-9), percent(0.0123), percent(0.5)
    ('<0.001 %', '1.2 %', '50.0 %')
    """
    if 0 < probability < 1e-5:
        return "<0.001 %"
    if 0.999 < probability < 1:
        return ">99.9 %"
    if probability < 0.01:
        return f"{100 * probability:.2g} %"
    return f"{100 * probability:.1f} %"


def each_of(count: int, noun: str) -> str:
    """Return each of so many things as text.

    >>> each_of(1, "skill"), each_of(3, "skill")
    ('the skill', 'each of 3 skills')
    """
    return f"the {noun}" if count == 1 else f"each of {counted(count, noun)}"


def format_bytes(number: int) -> str:
    """Return a number of bytes as text in a suitable unit.

    >>> format_bytes(736), format_bytes(2**31)
    ('736 bytes', '2 GiB')
    """
    unit, shift = next((u, s) for u, s in _UNITS if number >> s < 1000 or u == "GiB")
    if not shift:
        return f"{number:,} bytes"
    if number >> shift >= 10**6:
        return f"{many(number >> shift)} {unit}"
    return f"{number / 2**shift:.3g} {unit}"


def one_line(text: str, *, longest: int = _LONGEST) -> str:
    """Return a text in one line, truncated if it is long.

    >>> one_line("words and more", longest=10)
    'words and…'
    """
    # Do not split text that is removed anyway.
    text = " ".join(text[: 2 * longest].split())
    return text if len(text) <= longest else f"{text[: longest - 1]}…"


def first_faults(faults: Iterable[str]) -> list[str]:
    """Return the first `MOST_FAULTS` faults, without searching for more."""
    return list(islice(faults, MOST_FAULTS))


def listed(problems: Sequence[str], *, most: int = _MOST) -> str:
    """Return the first faults as one text, truncated, with the number of the other faults.

    >>> listed(["a", "b", "c"], most=2)
    'a; b; and 1 more'
    """
    first = "; ".join(one_line(problem) for problem in problems[:most])
    more = len(problems) - most
    least = "at least " if len(problems) >= MOST_FAULTS else ""
    return f"{first}; and {least}{more:,} more" if more > 0 else first


def some_names(names: Sequence[str], *, longest: int = 0) -> str:
    """Return the first twelve of some names, separated by commas.

    More than twelve are shown whole if they have at most `longest` characters.
    """
    if _MOST < len(names) <= longest // 3:
        text = ", ".join(one_line(name, longest=100) for name in names)
        if len(text) <= longest:
            return text
    some = [one_line(name, longest=100) for name in names[:_MOST]]
    return ", ".join(some) + (", …" if len(names) > _MOST else "")


def in_shell(text: object) -> str:
    """Return a name or a path as one writes it in a command: in quotes if it needs them.

    >>> in_shell("Schüler"), in_shell("my test.json")
    ('Schüler', '"my test.json"')
    """
    name = str(text)
    return f'"{name}"' if _APART.search(name) or not name else name


def visible(text: str) -> str:
    r"""Return a text of one line with a replacement for all characters that must not be shown.

    Titles, names and states come from files of others. Terminals obey control characters, XML does
    not allow them, and marks that change the direction of writing affect the text after them.

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


def close_names(name: object, known: Iterable[str]) -> tuple[str, ...]:
    """Return the known names with a spelling similar to an unknown one, ignoring case.

    If a name differs in case alone, it is the only one. If none is similar, those that begin so.

    >>> close_names("Smoker", ["smoke", "smoker"]), close_names("smokr", ["smoke", "smoker"])
    (('smoker',), ('smoker', 'smoke'))
    """
    names = tuple(known)
    if not isinstance(name, str) or not 0 < len(name) <= 60 or name in names:
        return ()
    from difflib import get_close_matches

    # Comparing takes about ten microseconds a name.
    spelled: dict[str, str] = {}
    for text in names[:2000]:
        if isinstance(text, str) and len(text) <= 60:
            spelled.setdefault(text.casefold(), text)
    folded = name.casefold()
    if folded in spelled:
        return (spelled[folded],)
    close = get_close_matches(folded, spelled)
    if not close and len(folded) >= _SHORTEST_BEGINNING:
        close = [text for text in spelled if text.startswith(folded)][:3]
    return tuple([spelled[match] for match in close])


def did_you_mean(close: tuple[str, ...]) -> str:
    """Return the question whether a close name is meant; empty if there is none."""
    if not close:
        return ""
    *others, last = (one_line(name, longest=60) for name in close)
    return f"did you mean {', '.join(others)}{' or ' if others else ''}{last}?"
