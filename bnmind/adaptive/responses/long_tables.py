"""Long tables of responses, with a row for each response, as wide ones.

A table is long if it has one column of each kind: examinees, items, and responses, known by their
names; that of the items also by holding nothing but names of expected items.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from bnmind._messages import first_faults
from bnmind.adaptive.items.name_match import names_shown
from bnmind.adaptive.items.tables.text_table import TextTable
from bnmind.adaptive.responses.columns import ColumnOptions, is_examinee_name
from bnmind.errors import TableError

__all__ = ["wide_table"]

_ITEMS = re.compile(
    r"(items?|questions?|tasks?|exercises?|problems?|variable|aufgaben?|fragen?)"
    r"([ ._-]?(id|nr|no|name|code))?",
    re.IGNORECASE,
)
_RESPONSES = re.compile(
    r"responses?|resp|scores?|scored|correct|is[ ._-]?correct|answers?|value|result|outcome|rating"
    r"|antwort|wert|punkte|richtig",
    re.IGNORECASE,
)

_MOST_CELLS = 2_000_000
"""Cells that a wide table may have in any case."""

_MOST_FOR_EACH = 1000
"""Cells that it may have besides, for each response."""


def wide_table(table: TextTable, options: ColumnOptions) -> TextTable:
    """Return a table with a row for each examinee; a table that is not long as it is.

    Raises
    ------
    TableError
        If an examinee has two responses to an item, a name is missing, or there are far fewer
        responses than pairs of an examinee and an item.
    """
    header = table.header
    if header is None or len(header) < 3:
        return table
    who = _only(header, is_examinee_name) if options.id_column is None else None
    if options.id_column in header:
        who = header.index(options.id_column)
    item = _only(header, _ITEMS.fullmatch)
    item = _holding(table, options.expected) if item is None else item
    response = _only(header, _RESPONSES.fullmatch)
    if who is None or item is None or response is None:
        return table
    group = header.index(options.group_column) if options.group_column in header else None
    people: dict[str, dict[str, int]] = {}
    items: dict[str, None] = {}
    groups: dict[str, str] = {}
    problems = []
    for number, row in enumerate(table.rows):
        person, name = str(row[who]).strip(), str(row[item]).strip()
        if not person or not name:
            problems.append(f"row {number + 1} has no {'item' if person else 'examinee'}")
            continue
        answers = people.setdefault(person, {})
        items.setdefault(name)
        if name in answers:
            problems.append(
                f"examinee {person} has two responses to item {name}, in rows"
                f" {answers[name] + 1} and {number + 1}"
            )
        answers[name] = number
        if group is not None:
            groups.setdefault(person, str(row[group]).strip())
    if len(people) * len(items) > _MOST_CELLS + _MOST_FOR_EACH * len(table.rows):
        problems.insert(
            0,
            f"{len(table.rows):,} responses of {len(people):,} examinees to {len(items):,} items"
            f" are fewer than one for {_MOST_FOR_EACH:,} pairs of both: the table is too empty, or"
            f" the column {header[who]} or {header[item]} holds something else",
        )
    if problems:
        raise TableError(first_faults(problems))
    kept = {who, item, response, *([] if group is None else [group])}
    left_out = [name for place, name in enumerate(header) if place not in kept]
    notes = [
        f"each row is one response: {header[response]} of {header[who]} to {header[item]}",
        *([f"other columns were left out: {names_shown(left_out)}"] if left_out else []),
    ]
    names = ["examinee", *([] if group is None else [header[group]]), *items]
    blank = [""] * len(items)
    places = {name: place for place, name in enumerate(items, len(names) - len(items))}
    rows = []
    for person, answers in people.items():
        cells = [person, *([] if group is None else [groups[person]]), *blank]
        for name, number in answers.items():
            cells[places[name]] = table.rows[number][response]
        rows.append(tuple(cells))
    return TextTable(tuple(names), tuple(rows), notes=(*table.notes, *notes))


def _holding(table: TextTable, expected: Sequence[str] | None) -> int | None:
    """Return the only column that holds nothing but names of expected items."""
    names = {name.strip() for name in expected or ()}
    places = [
        place
        for place in range(table.n_columns if names else 0)
        if {str(cell).strip() for cell in table.column(place)} <= names
    ]
    return places[0] if len(places) == 1 else None


def _only(header: Sequence[str], is_kind: Callable[[str], object]) -> int | None:
    """Return the only column whose name is of a kind; None if there is none, or several."""
    places = [place for place, name in enumerate(header) if is_kind(name.strip())]
    return places[0] if len(places) == 1 else None
