"""Which columns of a table are which items: by name, by similar name, or by position."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["NameMatch", "are_numbered", "is_row_names", "match_names", "names_shown"]

_NUMBERED = re.compile(r"(.*?)[ ._-]*0*(\d+)")
_NUMBERED_WORDS = frozenset(
    ["", "item", "items", "i", "v", "x", "q", "var", "col", "column", "row", "question", "task"]
)

_OF_ROWS = re.compile(r"|\.\.\.1|unnamed: 0|row[ ._]?names?", re.IGNORECASE)
"""Names that R and pandas give a first column with the names of the rows."""

_SHOWN = 8


@dataclass(frozen=True)
class NameMatch:
    """The place of each expected item in a list of names."""

    places: tuple[int, ...]
    by_position: bool
    note: str
    """How the names were matched, if they are not equal."""


def are_numbered(names: Sequence[str]) -> bool:
    """Return whether names only count, like item_1, item_2 or V1, V2, from 0 or 1.

    >>> are_numbered(["V1", "V2"]), are_numbered(["1", "2"]), are_numbered(["1", "8a"])
    (True, True, False)
    """
    found = [_NUMBERED.fullmatch(name) for name in names]
    matches = [one for one in found if one is not None]
    if not matches or len(matches) < len(names):
        return False
    first = matches[0]
    return (
        first[1].lower() in _NUMBERED_WORDS
        and int(first[2]) in (0, 1)
        and all(
            one[1] == first[1] and int(one[2]) == int(first[2]) + place
            for place, one in enumerate(matches)
        )
    )


def is_row_names(name: str) -> bool:
    """Return whether a first column of this name has the names of the rows, as R writes them."""
    return _OF_ROWS.fullmatch(name.strip()) is not None


def names_shown(names: Sequence[str]) -> str:
    """Return the first names as text, and the number of the others.

    >>> names_shown(["a", "b"]), names_shown([str(k) for k in range(10)])
    ('a, b', '0, 1, 2, 3, 4, 5, 6, 7 and 2 more')
    """
    more = len(names) - _SHOWN
    first = ", ".join(name or "(no name)" for name in names[:_SHOWN])
    return f"{first} and {more:,} more" if more > 0 else first


def match_names(names: Sequence[str], expected: Sequence[str]) -> NameMatch | None:
    """Return the places of expected items; None if they cannot be told.

    Equal names match. So do names that are equal apart from the case of letters, blanks, dots and
    other signs, as R changes them. As many names match by position if one of the two lists only
    counts, see `are_numbered`.

    Examples
    --------
    >>> match_names(["Item.2", "Item.1", "age"], ["Item 1", "Item 2"]).places
    (1, 0)
    >>> match_names(["add", "carry"], ["item_1", "item_2"]).note
    'the columns were matched with the items by position: add is item_1, carry is item_2'
    """
    place_of = {name: place for place, name in enumerate(names)}
    if all(name in place_of for name in expected):
        return NameMatch(tuple(place_of[name] for name in expected), False, "")
    plain = [_letters_of(name) for name in names]
    wanted = [_letters_of(name) for name in expected]
    once = {text for text, count in Counter(plain).items() if text and count == 1}
    place_of = {text: place for place, text in enumerate(plain)}
    if len(set(wanted)) == len(wanted) and once.issuperset(wanted):
        found = [place_of[text] for text in wanted]
        pairs = [
            f"{names[place]} is {name}"
            for place, name in zip(found, expected, strict=True)
            if names[place] != name
        ]
        return NameMatch(tuple(found), False, f"similar names were matched: {_ends(pairs)}")
    if len(names) == len(expected) and (are_numbered(names) or are_numbered(expected)):
        pairs = [f"{name} is {item}" for name, item in zip(names, expected, strict=True)]
        return NameMatch(
            tuple(range(len(names))),
            True,
            f"the columns were matched with the items by position: {_ends(pairs)}",
        )
    return None


def _letters_of(name: str) -> str:
    """Return a name without its signs, in lower case, and without the X that R puts before it."""
    letters = "".join(letter for letter in name.lower() if letter.isalnum())
    return letters[1:] if re.match(r"x\d", letters) else letters


def _ends(pairs: Sequence[str]) -> str:
    return ", ".join(pairs) if len(pairs) < 3 else f"{pairs[0]}, …, {pairs[-1]}"
