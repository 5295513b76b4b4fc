"""Notes on responses that were read, and may mean something else than responses."""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import in_shell
from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.items.name_match import names_shown
from bnmind.adaptive.responses.cells import MISSING_CODES

__all__ = ["doubts"]

_ABOUT_PEOPLE = re.compile(
    r"age|alter|sex|gender|geschlecht|class|klasse|school|schule|booklet|heft|testheft|form"
    r"|country|land|language|sprache|weight|gewicht|year|jahr|date|datum|grade ?level",
    re.IGNORECASE,
)
"""Names of columns that tell of people or of the test, and hardly ever of an item."""

_FEWEST_UNUSED = 2
"""This many responses that nobody gave, just below the highest one, make that one doubtful."""


def doubts(codes: NDArray[np.int64], items: Sequence[str], *, named: bool) -> list[str]:
    """Return notes on items whose responses tell nothing, or may be none.

    Parameters
    ----------
    codes
        ``(examinees, items)``: positions of responses, or `MISSING`.
    items
        The names of the items.
    named
        Whether the items were known by their names, so that no other column is among them.

    Examples
    --------
    >>> doubts(np.array([[0, 11, 1], [1, 12, 9], [1, 11, 0]]), ["q1", "age", "q2"], named=False)
    ... # doctest: +NORMALIZE_WHITESPACE
    ['column age counts as an item; if it is none, leave it out (--ignore age)',
     'in q2 nobody gave the responses just below 9; if 9 stands for a missing response, declare it
      (--missing 9)']
    """
    notes = _constant_items(codes, items) if len(codes) > 1 else []
    people = [] if named else [name for name in items if _ABOUT_PEOPLE.fullmatch(name.strip())]
    if people:
        columns = "column" if len(people) == 1 else "columns"
        count, none = ("counts as an item", "it is none, leave it")
        if len(people) > 1:
            count, none = ("count as items", "they are none, leave them")
        options = " ".join(f"--ignore {in_shell(name)}" for name in people[:3])
        more = " …" if len(people) > 3 else ""
        notes.append(f"{columns} {names_shown(people)} {count}; if {none} out ({options}{more})")
    return [*notes, *_missing_codes(codes, items, frozenset(people))]


def _missing_codes(
    codes: NDArray[np.int64], items: Sequence[str], people: frozenset[str]
) -> list[str]:
    """Return a note for each number that may stand for a missing response."""
    highest = codes.max(axis=0, initial=MISSING)
    notes = []
    for code in sorted(MISSING_CODES & set(highest.tolist())):
        names = []
        for place in np.flatnonzero(highest == code).tolist():
            given = np.unique(codes[:, place])
            below = given[(given != MISSING) & (given < code)]
            if len(below) and code - below[-1] > _FEWEST_UNUSED and items[place] not in people:
                names.append(items[place])
        if names:
            notes.append(
                f"in {names_shown(names)} nobody gave the responses just below {code}; if {code}"
                f" stands for a missing response, declare it (--missing {code})"
            )
    return notes


def _constant_items(codes: NDArray[np.int64], items: Sequence[str]) -> list[str]:
    """Return a note about the items with the same response from all who answered them."""
    least = np.where(codes == MISSING, np.iinfo(codes.dtype).max, codes).min(axis=0, initial=2**62)
    same = np.flatnonzero(least == codes.max(axis=0, initial=MISSING)).tolist()
    if not same:
        return []
    names = names_shown([items[place] for place in same])
    return [f"all responses to these items are equal, so they tell nothing: {names}"]
