"""Tables of responses as people keep them: long or wide, with other columns, texts and codes.

What is guessed is said in a note. A column that is named is never guessed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import counted, first_faults, in_shell, shown, some_names
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.items.text_tables import (
    ABOVE_NAMES,
    TRUTH_VALUES,
    TextTable,
    is_row_names,
    match_names,
    names_shown,
    number_of,
)
from bnmind.adaptive.responses.answer_keys import AnswerKey
from bnmind.errors import TableError, UnknownNameError

Codes = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What the caller knows of a table of responses."""

    missing: tuple[str | float, ...] = ()
    """Texts and numbers that stand for a missing response, beside the usual ones."""
    expected: tuple[str, ...] | None = None
    """The names of the items; if all are found, other columns are left out."""
    id_column: str | None = None
    """The column with the names of the examinees; None to guess."""
    group_column: str | None = None
    """The column with the groups of the examinees; None to guess."""
    ignore: tuple[str, ...] = ()
    """Columns that are not items."""
    keys: Mapping[str, AnswerKey] = field(default_factory=dict)
    """The keys of items, by their names."""
    items: tuple[str, ...] | None = None
    """Names that replace those of the items."""
    examinees: tuple[str, ...] | None = None
    """Names that replace those of the examinees."""


class ReadResponses(NamedTuple):
    """The parts of responses that were read from a table."""

    codes: NDArray[np.int64]
    items: tuple[str, ...]
    examinees: tuple[str, ...]
    groups: tuple[str, ...]
    notes: tuple[str, ...]
    problems: tuple[str, ...]
    """The faults of cells that are no responses."""


def read_responses(table: TextTable, options: TableOptions) -> ReadResponses:
    """Return the responses in a table, wide or long, without examinees who gave none.

    Raises
    ------
    TableError
        If rows have too few or too many cells, columns have no names, or there are not as many
        names as given.
    UnknownNameError
        If a column that was named does not exist.
    """
    if table.uneven or table.n_columns == 0:
        raise TableError(table.uneven or ["the first line must name the items"])
    if table.header is None:
        # A first column of texts holds names of examinees.
        first = [""] if all(number_of(cell) is None for cell in table.column(0)) else []
        numbers = range(1, table.n_columns + 1 - len(first))
        header = (*first, *(f"item_{number}" for number in numbers))
        note = "the first line has no names; the items are named by position, item_1 and so on"
        table = replace(table, header=header, notes=(*table.notes, note))
    table = wide_table(table, options)
    roles = _roles(table, options)
    items = roles.names if options.items is None else options.items
    ids = table.texts(roles.examinee) if options.examinees is None else options.examinees
    labels = ids or tuple(str(row + 1) for row in range(len(table.rows)))
    unnamed = [
        str(place + 1)
        for name, place in zip(roles.names, roles.items, strict=True)
        if not name and options.items is None
    ]
    problems = [f"column {number} has no name" for number in unnamed]
    if len(unnamed) > 1:
        problems = [f"columns {some_names(unnamed)} have no name; {ABOVE_NAMES}"]
    if len(items) != len(roles.items):
        problems.append(f"expected {counted(len(roles.items), 'item')}, got {len(items)}")
    if len(labels) != len(table.rows):
        problems.append(f"expected {counted(len(table.rows), 'examinee')}, got {len(labels)}")
    if problems:
        raise TableError(first_faults(problems))
    codes = np.full((len(table.rows), len(items)), MISSING, dtype=np.int64)
    keys = _keys(table, roles, options, items)
    scored = [f"the answers to {counted(len(keys), 'item')} were scored by the key"] * bool(keys)
    for number, place in enumerate(roles.items):
        codes[:, number] = _codes(table.column(place), options.missing, keys.get(number))
    wrong = [
        (row, number, table.rows[row][roles.items[number]])
        for row, number in np.argwhere(codes == _WRONG).tolist()
    ]
    codes[codes == _WRONG] = 0  # a wrong cell is not also reported as missing
    answered, empty = answered_rows(codes, labels)
    groups = table.texts(roles.group)
    notes = (*table.notes, *roles.notes, *scored, *empty)
    return ReadResponses(
        codes=codes[answered],
        items=items,
        examinees=tuple(labels[row] for row in answered) if ids or empty else (),
        groups=tuple(groups[row] for row in answered) if groups else (),
        notes=(*notes, *_doubts(codes, items, named=options.expected is not None)),
        problems=tuple(_wrong_cells(wrong, labels, items)),
    )


def answered_rows(codes: Codes, examinees: Sequence[str]) -> tuple[list[int], list[str]]:
    """Return the rows of examinees who gave responses, and a note about the others.

    If nobody did, all count: that is a fault, not a reason to leave them out.
    """
    answered = (codes != MISSING).any(axis=1)
    if answered.all() or not answered.any():
        return list(range(len(codes))), []
    empty = [examinees[row] for row in np.flatnonzero(~answered).tolist()]
    what = "examinee was" if len(empty) == 1 else "examinees were"
    note = f"{len(empty):,} {what} left out for lack of responses: {names_shown(empty)}"
    return np.flatnonzero(answered).tolist(), [note]


def _keys(
    table: TextTable, roles: _Roles, options: TableOptions, items: Sequence[str]
) -> dict[int, AnswerKey]:
    """Return the key of each item that is to be scored, by its number.

    Raises
    ------
    TableError
        If the keys are of other items, or of columns that are scored already.
    """
    names = list(options.keys)
    match = match_names(names, items) if names else None
    if match is not None:
        found = {number: options.keys[names[place]] for number, place in enumerate(match.places)}
    else:
        found = {n: options.keys[name] for n, name in enumerate(items) if name in options.keys}
    if not found and not all(key.is_optional for key in options.keys.values()):
        raise TableError(
            [f"the key is of {names_shown(names)}, and the items are {names_shown(items)}"]
        )
    scored = []
    for number, key in list(found.items()):
        codes = _codes(table.column(roles.items[number]), options.missing)
        if not ((codes >= MISSING) & (codes <= max(key.codes.values()))).all():
            continue
        if key.is_optional:
            del found[number]
        elif all(isinstance(answer, str) for answer in key.codes):
            scored.append(items[number])
    if scored:
        raise TableError(
            [f"the key has texts, and these columns are scored: {names_shown(scored)}"]
        )
    return found


# --- Long tables, with a row for each response, as wide ones --------------------------------------
#
# A table is long if it has one column of each kind: examinees, items, and responses, known by their
# names; that of the items also by holding nothing but names of expected items.

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


def wide_table(table: TextTable, options: TableOptions) -> TextTable:
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
    known = options.id_column
    who = _only(header, is_examinee_name if known is None else known.__eq__)
    item = _only(header, _ITEMS.fullmatch)
    item = _holding(table, options.expected) if item is None else item
    response = _only(header, _RESPONSES.fullmatch)
    if who is None or item is None or response is None:
        return table
    kept = [header.index(options.group_column)] if options.group_column in header else []
    people: dict[str, dict[str, int]] = {}
    items: dict[str, str] = {}
    problems = []
    for number, row in enumerate(table.rows):
        person, name = str(row[who]).strip(), str(row[item]).strip()
        if not person or not name:
            problems.append(f"row {number + 1} has no {'item' if person else 'examinee'}")
            continue
        answers = people.setdefault(person, {})
        items[name] = ""
        if name in answers:
            problems.append(
                f"examinee {person} has two responses to item {name}, in rows"
                f" {answers[name] + 1} and {number + 1}"
            )
        answers[name] = number
    if len(people) * len(items) > _MOST_CELLS + _MOST_FOR_EACH * len(table.rows):
        problems.insert(
            0,
            f"{len(table.rows):,} responses of {len(people):,} examinees to {len(items):,} items"
            f" are fewer than one for {_MOST_FOR_EACH:,} pairs of both: the table is too empty, or"
            f" the column {header[who]} or {header[item]} holds something else",
        )
    if problems:
        raise TableError(first_faults(problems))
    others = [n for place, n in enumerate(header) if place not in (who, item, response, *kept)]
    notes = [
        f"each row is one response: {header[response]} of {header[who]} to {header[item]}",
        *([f"other columns were left out: {names_shown(others)}"] if others else []),
    ]
    rows = []
    for person, answers in people.items():
        first = table.rows[next(iter(answers.values()))]
        cells = items | {name: table.rows[n][response] for name, n in answers.items()}
        rows.append((person, *(first[place] for place in kept), *cells.values()))
    names = ("examinee", *(header[place] for place in kept), *items)
    return TextTable(names, tuple(rows), notes=(*table.notes, *notes))


def _holding(table: TextTable, expected: Sequence[str] | None) -> int | None:
    """Return the only column that holds nothing but names of expected items."""
    names = {name.strip() for name in expected or ()}
    places = [
        place
        for place in range(table.n_columns if names else 0)
        if all(str(cell).strip() in names for cell in table.column(place))
    ]
    return places[0] if len(places) == 1 else None


def _only(header: Sequence[str], is_kind: Callable[[str], object]) -> int | None:
    """Return the only column whose name is of a kind; None if there is none, or several."""
    places = [place for place, name in enumerate(header) if is_kind(name.strip())]
    return places[0] if len(places) == 1 else None


# --- What each column is --------------------------------------------------------------------------

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


class _Roles(NamedTuple):
    """The places of the columns of a table, by their roles."""

    names: tuple[str, ...]
    """The name of each item."""
    items: tuple[int, ...]
    """The column of each item."""
    examinee: int | None
    group: int | None
    notes: tuple[str, ...]


def is_examinee_name(name: str) -> bool:
    """Return whether a column of this name names the examinees."""
    return _EXAMINEES.fullmatch(name.strip()) is not None


def left_out_note(names: Sequence[str], codes: Iterable[Codes]) -> str:
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


def _roles(table: TextTable, options: TableOptions) -> _Roles:
    """Return the roles of the columns of a table with a row for each examinee.

    Raises
    ------
    UnknownNameError
        If there is no such column.
    """
    header = table.names
    notes: list[str] = []
    for name in (options.id_column, options.group_column, *options.ignore):
        if name is not None and name not in header:
            raise UnknownNameError("column", name, [one for one in header if one])
    examinee = None if options.id_column is None else header.index(options.id_column)
    group = None if options.group_column is None else header.index(options.group_column)
    out = {examinee, group, *map(header.index, options.ignore)}
    free = [place for place in range(len(header)) if place not in out]
    expected = options.expected or ()
    match = match_names([header[place] for place in free], expected) if expected else None
    by_name = match is not None and not match.by_position
    items = [free[place] for place in match.places] if match is not None and by_name else []
    others = [place for place in free if place not in set(items)]
    if examinee is None:
        examinee = _guessed_examinee(table, others)
        if examinee is None:
            notes += _names_that_recur(table, others)
        elif header[examinee].lower() not in _PLAIN:
            notes.append(_taken(header[examinee], "names"))
    if group is None:
        groups = [p for p in others if p != examinee and _GROUPS.fullmatch(header[p])]
        if len(groups) == 1:
            group = groups[0]
            notes.append(_taken(header[group], "groups"))
    others = [p for p in others if p not in (examinee, group) and not _numbers_rows(table, p)]
    if match is not None and by_name:
        notes += [match.note] if match.note else []
        if others:
            codes = [_codes(table.column(place), options.missing) for place in others]
            notes.append(left_out_note([header[place] for place in others], codes))
        return _Roles(expected, tuple(items), examinee, group, tuple(notes))
    texts = [
        place
        for place in others
        if header[place] not in options.keys and _holds_texts(table.column(place), options.missing)
    ]
    if texts and len(texts) < len(others) and not _are_choices(table, texts, len(others)):
        if examinee is None and texts[0] == 0 and _distinct(table, 0):
            examinee = texts.pop(0)
            notes.append(_taken(header[examinee], "names"))
        if texts:
            names = names_shown([header[place] for place in texts])
            notes.append(f"columns with texts, not responses, were left out: {names}")
        others = [place for place in others if place not in (examinee, *texts)]
    return _Roles(
        tuple(header[place] for place in others), tuple(others), examinee, group, tuple(notes)
    )


def _taken(name: str, what: str, *, is_taken: bool = True) -> str:
    which = f"column {name} was" if name else "the column without a name was"
    return f"{which} {'' if is_taken else 'not '}taken for the {what} of the examinees"


def _guessed_examinee(table: TextTable, places: Sequence[int]) -> int | None:
    """Return the column that seems to name the examinees; None if there is none."""

    def is_counted(place: int) -> bool:
        # So many distinct cells are no responses.
        is_first = place == 0 and len(table.rows) > _FEW and _distinct(table, 0)
        return is_first or _numbers_rows(table, place)

    signs: tuple[Callable[[int], bool], ...] = (
        lambda place: table.names[place].lower() in _PLAIN,
        lambda place: _may_name_examinees(table, place) and _distinct(table, place),
        is_counted,
    )
    return next((place for sign in signs for place in places if sign(place)), None)


def _may_name_examinees(table: TextTable, place: int) -> bool:
    """Return whether the name of a column is one of those that columns of examinees have."""
    name, column = table.names[place], table.column(place)
    if is_examinee_name(name):
        return True
    # Distinct cells cannot be responses if there are many, or some are texts.
    are_names = len(column) > _FEW or any(number_of(cell) is None for cell in column)
    return place == 0 and _FIRST.fullmatch(name) is not None and are_names


def _names_that_recur(table: TextTable, places: Sequence[int]) -> list[str]:
    """Return a note on a column that would name the examinees, if no name recurred."""
    for place in places:
        name = table.names[place]
        is_first = place == 0 and (not name or len(table.rows) > _FEW)
        if not is_first and not _may_name_examinees(table, place):
            continue
        counts = Counter(table.texts(place))
        recurring = [text for text, count in counts.items() if count > 1 and text]
        if recurring and len(counts) >= len(table.rows) * _MOSTLY:
            return [
                f"{_taken(name, 'names', is_taken=False)}, because some occur more than"
                f" once: {names_shown(recurring)}"
            ]
    return []


def _numbers_rows(table: TextTable, place: int) -> bool:
    """Return whether a first column only has the names of rows that R and pandas add."""
    return place == 0 and is_row_names(table.names[0]) and _distinct(table, 0)


def _distinct(table: TextTable, place: int) -> bool:
    texts = set(table.texts(place))
    return len(texts) == len(table.rows) > 1 and "" not in texts


def _are_choices(table: TextTable, texts: Sequence[int], n_columns: int) -> bool:
    """Return whether most columns hold texts that they share, such as choices or labels.

    They are the items then, whose cells are reported.
    """
    most = max(2, n_columns // 2)
    cells = [set(table.texts(place)) for place in texts]
    counts = Counter(text for column in cells for text in column)
    shared = [all(counts[text] > 2 for text in column) for column in cells]
    return len(texts) > most and sum(shared) > most


def _holds_texts(column: Sequence[Any], missing: Iterable[str | float]) -> bool:
    """Return whether no cell of a column is a number or a response, and some are texts."""
    if any(number_of(cell) is not None for cell in column[:_FEW] if not isinstance(cell, str)):
        return False
    codes = _codes(column, missing)
    return bool(np.any(codes == _WRONG)) and not np.any(codes >= 0)


# --- The responses in the cells -------------------------------------------------------------------

_MISSING_TEXTS = ("", "NA", "N/A", "NaN", ".", "#N/A", "#NULL!", "NULL", "<NA>")
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

_LETTERS_FOUND = (
    "expected scored responses, 0 and 1, got the letters {texts} in {cells}; score them first: 1"
    " for the right letter, and 0 for the others, as --key FILE does (in Python key={{item:"
    " letter}})"
)
_LABELS_FOUND = (
    "expected the positions of responses, 0, 1, …, got the texts {texts} in {cells}; put a number"
    " in place of each label, 0 for the worst response; --missing declares a text that stands for a"
    " missing one"
)

_WRONG = -(2**31)
"""The code of a cell that holds no response."""


def _codes(
    column: Sequence[Any], missing: Iterable[str | float], key: AnswerKey | None = None
) -> NDArray[np.int64]:
    """Return the codes of the cells of a column; `_WRONG` for a cell that holds no response.

    Beside other texts, truth values are texts, too: f and m are no responses. With a key, the
    cells are answers.
    """
    texts = {str(one).strip().lower() for one in (*_MISSING_TEXTS, *missing)}
    numbers = {n for n in map(number_of, missing) if n is not None}
    try:
        known = {cell: _code(cell, texts, numbers, key) for cell in set(column)}
    except TypeError:  # a cell that has no hash, such as a list
        return np.array([_code(cell, texts, numbers, key) for cell in column], dtype=np.int64)
    if key is None and _WRONG in known.values():
        for cell in known:
            if isinstance(cell, str) and cell.strip().lower() in TRUTH_VALUES:
                known[cell] = _WRONG
    return np.fromiter(map(known.__getitem__, column), dtype=np.int64, count=len(column))


def _code(cell: Any, texts: set[str], numbers: set[float], key: AnswerKey | None) -> int:
    if cell is None or str(cell).strip().lower() in texts or str(cell) == "<NA>":
        return MISSING
    number = number_of(cell)
    if number is not None and (number != number or number in numbers):
        return MISSING
    if key is not None and number != MISSING:
        code = key.code(cell)
        return _WRONG if code is None else code
    if number is None:
        return _WRONG
    return int(number) if number % 1 == 0 and MISSING <= number <= MAX_CODE else _WRONG


def _wrong_cells(
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
            if column not in numbering:
                number = None if isinstance(cell, str) else number_of(cell)
                is_text = number is None and number_of(cell) is None
                text = shown(cell) if is_text else str(cell) if number is None else f"{number:g}"
                groups.setdefault(text, []).append((row, column))
        letters = sorted(filter(_LETTER.fullmatch, groups))
        labels = [t for t in groups if number_of(t) is None and len(groups[t]) > FEW_CELLS]
        if sum(len(groups[text]) for text in letters) <= FEW_CELLS:
            letters = []
        for advice, alike in ((_LETTERS_FOUND, letters), (_LABELS_FOUND, labels)):
            texts = [text for text in alike if text in groups]
            if len(texts) > 1:
                places = [place for text in texts for place in groups.pop(text)]
                some = ", ".join(texts[:_FEW_LABELS]) + ", …" * (len(texts) > _FEW_LABELS)
                where = format_place(*min(places), examinees, items)
                cells_in = f"{len(places):,} cells, the first in {where}"
                yield advice.format(texts=some, cells=cells_in)
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


# --- Notes on responses that were read, and may mean something else than responses ----------------
#
#

_ABOUT_PEOPLE = re.compile(
    r"age|alter|sex|gender|geschlecht|class|klasse|school|schule|booklet|heft|testheft|form"
    r"|country|land|language|sprache|weight|gewicht|year|jahr|date|datum|grade ?level",
    re.IGNORECASE,
)
"""Names of columns that tell of people or of the test, and hardly ever of an item."""

_FEWEST_UNUSED = 2
"""This many responses that nobody gave, just below the highest one, make that one doubtful."""


def _doubts(codes: Codes, items: Sequence[str], *, named: bool) -> list[str]:
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
    >>> _doubts(np.array([[0, 11, 1], [1, 12, 9], [1, 11, 0]]), ["q1", "age", "q2"], named=False)
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


def _missing_codes(codes: Codes, items: Sequence[str], people: frozenset[str]) -> list[str]:
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


def _constant_items(codes: Codes, items: Sequence[str]) -> list[str]:
    """Return a note about the items with the same response from all who answered them."""
    least = np.where(codes == MISSING, np.iinfo(codes.dtype).max, codes).min(axis=0, initial=2**62)
    same = np.flatnonzero(least == codes.max(axis=0, initial=MISSING)).tolist()
    if not same:
        return []
    names = names_shown([items[place] for place in same])
    return [f"all responses to these items are equal, so they tell nothing: {names}"]
