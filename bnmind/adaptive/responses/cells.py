"""Tables of responses: what each column is, and the responses in its cells.

The columns of a table of responses: who answers, in which group, and which are items.

What is guessed is said in a note. A column that is named is never guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import first_faults, in_shell, shown
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.items.text_tables import (
    TRUTH_VALUES,
    AnswerKey,
    TextTable,
    is_row_names,
    match_names,
    names_shown,
    number_of,
)
from bnmind.errors import UnknownNameError

MISSING_TEXTS = ("", "NA", "N/A", "NaN", ".", "#N/A", "#NULL!", "NULL", "<NA>")
"""Texts that always stand for a missing response, in any case of letters."""

MAX_CODE = 126
"""The highest position of a response that fits into int8 together with missing responses."""

FEW_CELLS = 3
"""A wrong text in more cells is reported once, with the number of cells."""

_FEW_LABELS = 5

MISSING_CODES = frozenset({8, 9, 88, 98, 99, 999, 9999})
"""Numbers above 0 that often stand for a missing response."""

_LETTER = re.compile(r"'[A-Za-z]'")
"""The text of a cell with a letter, such as the choice of an examinee."""

WRONG = -(2**31)
"""The code of a cell that holds no response."""


@dataclass(frozen=True)
class CellCodes:
    """Reads the cells of a table as positions of responses.

    Parameters
    ----------
    missing
        Texts and numbers that stand for a missing response, beside `MISSING_TEXTS`.
    """

    missing: Iterable[str | float]

    def of(self, column: Sequence[Any], key: AnswerKey | None = None) -> NDArray[np.int64]:
        """Return the codes of the cells of a column; `WRONG` for a cell that holds no response.

        Beside other texts, truth values are texts, too: f and m are no responses. With a key, the
        cells are answers.
        """
        texts = {str(one).strip().lower() for one in (*MISSING_TEXTS, *self.missing)}
        numbers = {n for n in map(number_of, self.missing) if n is not None}
        try:
            known = {cell: _code(cell, texts, numbers, key) for cell in set(column)}
        except TypeError:  # a cell that has no hash, such as a list
            return np.array([_code(cell, texts, numbers, key) for cell in column], dtype=np.int64)
        codes = np.fromiter(map(known.__getitem__, column), dtype=np.int64, count=len(column))
        if key is None and np.any(codes == WRONG):
            for row, cell in enumerate(column):
                if isinstance(cell, str) and cell.strip().lower() in TRUTH_VALUES:
                    codes[row] = WRONG
        return codes


def _code(cell: Any, texts: set[str], numbers: set[float], key: AnswerKey | None) -> int:
    if cell is None or str(cell).strip().lower() in texts or str(cell) == "<NA>":
        return MISSING
    number = number_of(cell)
    if number is not None and (number != number or number in numbers):
        return MISSING
    if key is not None and number != MISSING:
        code = key.code(cell)
        return WRONG if code is None else code
    if number is None:
        return WRONG
    return int(number) if number % 1 == 0 and MISSING <= number <= MAX_CODE else WRONG


def wrong_cells(
    cells: Sequence[tuple[int, int, Any]], examinees: Sequence[str], items: Sequence[str]
) -> list[str]:
    """Return the faults of cells, given as row, column and content; equal contents are counted."""

    def faults() -> Iterator[str]:
        numbering = _numbering(cells)
        for column, number_of_rows in numbering.items():
            name = items[column]
            yield (
                f"column {name} has another number in each of {number_of_rows:,} rows; if it names"
                f" the examinees, say so (--id-column {in_shell(name)}); if it is no item,"
                f" leave it out (--ignore {in_shell(name)})"
            )
        groups: dict[str, list[tuple[int, int]]] = {}
        for row, column, cell in cells:
            if column in numbering:
                continue
            number = None if isinstance(cell, str) else number_of(cell)
            is_text = number is None and number_of(cell) is None
            text = shown(cell) if is_text else str(cell) if number is None else f"{number:g}"
            groups.setdefault(text, []).append((row, column))
        letters = {text: places for text, places in groups.items() if _LETTER.fullmatch(text)}
        if len(letters) > 1 and sum(map(len, letters.values())) > FEW_CELLS:
            count, first = sum(map(len, letters.values())), min(min(letters.values()))
            yield (
                f"expected scored responses, 0 and 1, got the letters {', '.join(sorted(letters))}"
                f" in {count:,} cells, the first in {format_place(*first, examinees, items)}; score"
                " them first: 1 for the right letter, and 0 for the others, as --key FILE does (in"
                " Python key={item: letter})"
            )
            groups = {text: places for text, places in groups.items() if text not in letters}
        labels = {
            text: places
            for text, places in groups.items()
            if number_of(text) is None and len(places) > FEW_CELLS
        }
        if len(labels) > 1:
            count, first = sum(map(len, labels.values())), min(min(labels.values()))
            some = ", ".join(list(labels)[:_FEW_LABELS])
            yield (
                f"expected the positions of responses, 0, 1, …, got the texts {some}"
                f"{', …' if len(labels) > _FEW_LABELS else ''} in {count:,} cells, the first in"
                f" {format_place(*first, examinees, items)}; put a number in place of each label, 0"
                " for the worst response; --missing declares a text that stands for a missing one"
            )
            groups = {text: places for text, places in groups.items() if text not in labels}
        for text, places in groups.items():
            if len(places) > FEW_CELLS:
                yield (
                    f"expected the position of a response, or nothing, got {text} in"
                    f" {len(places):,} cells, the first in"
                    f" {format_place(*places[0], examinees, items)}; {how_to_declare(text)}"
                )
                continue
            number = number_of(text) or 0.0
            is_code = number <= MISSING - 1 or number in MISSING_CODES  # such as -9 and 999
            for row, column in places:
                yield (
                    "expected the position of a response, or nothing, in"
                    f" {format_place(row, column, examinees, items)}, got {text}"
                    + (f"; {how_to_declare(text)}" if is_code else "")
                )

    return first_faults(faults())


def _numbering(cells: Sequence[tuple[int, int, Any]]) -> dict[int, int]:
    """Return the columns that number the rows, rather than hold responses, with counts of cells."""
    columns: dict[int, list[float | None]] = {}
    for _, column, cell in cells:
        columns.setdefault(column, []).append(number_of(cell))
    return {
        column: len(numbers)
        for column, numbers in columns.items()
        if len(numbers) > FEW_CELLS
        and len(set(numbers)) == len(numbers)
        and not any(number is None for number in numbers)
    }


def how_to_declare(text: str) -> str:
    """Return how to say that a text, a number or a word in quotes, is a missing response."""
    listed = text if number_of(text) is None else repr(text)
    return (
        f"if {text} stands for a missing response, --missing {text} (in Python"
        f" Responses.of(table, missing=[{listed}])) declares it as missing"
    )


def format_place(row: int, column: int, examinees: Sequence[str], items: Sequence[str]) -> str:
    """Return the place of a cell in words; rows are counted from 1 without the header."""
    who = f" (examinee {examinees[row]})" if examinees[row] != str(row + 1) else ""
    return f"row {row + 1}{who}, column {items[column]}"


_EXAMINEES = re.compile(
    r"(examinee|person|persons|student|subject|subj|respondent|participant|case|user|candidate"
    r"|testee|test_?taker|learner|pupil|child|id|sid|pid|uid|schüler(in)?|proband(in)?|vpn|vnr)"
    r"([ ._-]?(id|nr|no|num|number|name|code))?",
    re.IGNORECASE,
)
_FIRST = re.compile(r"x|names?|index|nr|no", re.IGNORECASE)
"""Names that a first column of names may have, but also an item."""

_GROUPS = re.compile(r"groups?|gruppe|group[ ._-]?(id|name)", re.IGNORECASE)

_PLAIN = ("examinee", "id")
"""Names of columns that always name the examinees, in lower case."""

_FEW = 9

_MOSTLY = 0.5
"""The least share of distinct cells of a column that names examinees who occur twice."""


@dataclass(frozen=True)
class ColumnOptions:
    """What the caller knows of the columns of a table."""

    expected: tuple[str, ...] | None = None
    """The names of the items; if all are found, other columns are left out."""
    _: KW_ONLY
    id_column: str | None = None
    """The column with the names of the examinees; None to guess."""
    group_column: str | None = None
    """The column with the groups of the examinees; None to guess."""
    ignore: tuple[str, ...] = ()
    """Columns that are not items."""
    keys: Mapping[str, AnswerKey] = field(default_factory=dict)
    """The keys of items, by their names."""


@dataclass(frozen=True)
class ColumnRoles:
    """The places of the columns of a table, by their roles."""

    names: tuple[str, ...]
    """The name of each item."""
    items: tuple[int, ...]
    """The column of each item."""
    _: KW_ONLY
    examinee: int | None
    group: int | None
    notes: tuple[str, ...]


def is_examinee_name(name: str) -> bool:
    """Return whether a column of this name names the examinees."""
    return _EXAMINEES.fullmatch(name.strip()) is not None


def left_out_note(names: Sequence[str], codes: Iterable[NDArray[np.signedinteger[Any]]]) -> str:
    """Return the note on columns that were left out; those that hold 0 and 1 may be items.

    >>> left_out_note(["age", "i12"], [np.array([12, 13]), np.array([1, 0])])
    'columns that are not items were left out: age, i12; i12 is not in the Q-matrix or bank'
    """
    note = f"columns that are not items were left out: {names_shown(names)}"
    pairs = zip(names, codes, strict=True)
    items = [name for name, column in pairs if {*column.tolist()} - {MISSING} == {0, 1}]
    if not items:
        return note
    are = "is" if len(items) == 1 else "are"
    return f"{note}; {names_shown(items)} {are} not in the Q-matrix or bank"


def roles_of(table: TextTable, cells: CellCodes, options: ColumnOptions) -> ColumnRoles:
    """Return the roles of the columns of a table with a row for each examinee.

    Parameters
    ----------
    table
        The table; it has names of columns.
    cells
        Reads its cells.
    options
        What is known of the columns.

    Raises
    ------
    UnknownNameError
        If there is no such column.
    """
    header = table.header
    assert header is not None
    notes: list[str] = []
    examinee, group = _place(header, options.id_column), _place(header, options.group_column)
    out = {examinee, group, *(_place(header, name) for name in options.ignore)}
    expected = options.expected
    free = [place for place in range(len(header)) if place not in out]
    match = None if expected is None else match_names([header[place] for place in free], expected)
    items = None if match is None or match.by_position else [free[place] for place in match.places]
    are_items = set(items or ())
    others = [place for place in free if place not in are_items]
    if examinee is None:
        examinee = _guessed_examinee(table, others)
        if examinee is not None and header[examinee].lower() not in _PLAIN:
            notes.append(_taken(header[examinee], "names"))
        notes += _names_that_recur(table, others) if examinee is None else []
    if group is None:
        groups = [p for p in others if p != examinee and _GROUPS.fullmatch(header[p])]
        if len(groups) == 1:
            group = groups[0]
            notes.append(_taken(header[group], "groups"))
    others = [
        place
        for place in others
        if place not in (examinee, group) and not _numbers_rows(table, place)
    ]
    if items is not None and match is not None and expected is not None:
        notes += [match.note] if match.note else []
        if others:
            codes = [cells.of(table.column(place)) for place in others]
            notes.append(left_out_note(_at(header, others), codes))
        return ColumnRoles(
            names=tuple(expected),
            items=tuple(items),
            examinee=examinee,
            group=group,
            notes=tuple(notes),
        )
    unkeyed = [place for place in others if header[place] not in options.keys]
    texts = [place for place in unkeyed if _holds_texts(table.column(place), cells)]
    if texts and len(texts) < len(others) and not _are_choices(table, texts, len(others)):
        if examinee is None and texts[0] == 0 and _distinct(table.column(0)):
            examinee = texts.pop(0)
            notes.append(_taken(header[examinee], "names"))
        if texts:
            notes.append(
                f"columns with texts, not responses, were left out:"
                f" {names_shown(_at(header, texts))}"
            )
        left_out = {examinee, *texts}
        others = [place for place in others if place not in left_out]
    return ColumnRoles(
        names=tuple(_at(header, others)),
        items=tuple(others),
        examinee=examinee,
        group=group,
        notes=tuple(notes),
    )


def _at(header: Sequence[str], places: Iterable[int]) -> list[str]:
    return [header[place] for place in places]


def _taken(name: str, what: str, *, is_taken: bool = True) -> str:
    which = f"column {name} was" if name else "the column without a name was"
    return f"{which} {'' if is_taken else 'not '}taken for the {what} of the examinees"


def _place(header: Sequence[str], name: str | None) -> int | None:
    """Return the column of a name; raises `UnknownNameError`."""
    if name is None:
        return None
    if name not in header:
        raise UnknownNameError("column", name, [one for one in header if one])
    return header.index(name)


def _guessed_examinee(table: TextTable, places: Sequence[int]) -> int | None:
    """Return the column that seems to name the examinees; None if there is none."""
    header = table.header
    assert header is not None
    for place in places:
        if header[place].lower() in _PLAIN:
            return place
    for place in places:
        if _may_name_examinees(table, place) and _distinct(table.column(place)):
            return place
    for place in places:
        # So many distinct cells are no responses.
        is_first = place == 0 and len(table.rows) > _FEW and _distinct(table.column(0))
        if is_first or _numbers_rows(table, place):
            return place
    return None


def _may_name_examinees(table: TextTable, place: int) -> bool:
    """Return whether the name of a column is one of those that columns of examinees have."""
    assert table.header is not None
    name = table.header[place]
    if is_examinee_name(name):
        return True
    is_first = place == 0 and _FIRST.fullmatch(name) is not None
    return is_first and _cannot_be_responses(table.column(place))


def _names_that_recur(table: TextTable, places: Sequence[int]) -> list[str]:
    """Return a note on a column that would name the examinees, if no name recurred."""
    header = table.header
    assert header is not None
    for place in places:
        is_first = place == 0 and (not header[0] or len(table.rows) > _FEW)
        if not is_first and not _may_name_examinees(table, place):
            continue
        counts = Counter(str(cell).strip() for cell in table.column(place))
        recurring = [name for name, count in counts.items() if count > 1 and name]
        if recurring and len(counts) >= len(table.rows) * _MOSTLY:
            return [
                f"{_taken(header[place], 'names', is_taken=False)}, because some occur more than"
                f" once: {names_shown(recurring)}"
            ]
    return []


def _numbers_rows(table: TextTable, place: int) -> bool:
    """Return whether a first column only has the names of rows that R and pandas add."""
    header = table.header
    assert header is not None
    return place == 0 and is_row_names(header[0]) and _distinct(table.column(0))


def _cannot_be_responses(column: Sequence[Any]) -> bool:
    """Return whether distinct cells cannot be responses: there are many, or some are texts."""
    return len(column) > _FEW or any(number_of(cell) is None for cell in column)


def _distinct(column: Sequence[Any]) -> bool:
    texts = {str(cell).strip() for cell in column}
    return len(texts) == len(column) > 1 and "" not in texts


def _are_choices(table: TextTable, texts: Sequence[int], n_columns: int) -> bool:
    """Return whether most columns hold texts that they share, such as choices or labels.

    They are the items then, whose cells are reported.
    """
    if len(texts) <= max(2, n_columns // 2):
        return False
    cells = [{str(cell).strip() for cell in table.column(place)} for place in texts]
    counts = Counter(text for column in cells for text in column)
    shared = [all(counts[text] > 2 for text in column) for column in cells]
    return sum(shared) > max(2, n_columns // 2)


def _holds_texts(column: Sequence[Any], cells: CellCodes) -> bool:
    """Return whether no cell of a column is a number or a response, and some are texts."""
    if any(number_of(cell) is not None for cell in column[:_FEW] if not isinstance(cell, str)):
        return False
    codes = cells.of(column)
    return bool(np.any(codes == WRONG)) and not np.any(codes >= 0)
