"""Tables of responses as people keep them: long or wide, with other columns, texts and codes.

What is guessed is said in a note. A column that is named is never guessed. Answers, such as the
letters of choices, are scored by keys.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import counted, first_faults, in_shell, shown, some_names
from bnmind.adaptive.beliefs import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.text_tables import (
    ABOVE_NAMES,
    TRUTH_VALUES,
    TextTable,
    clean,
    is_row_names,
    match_names,
    named_table,
    names_shown,
    number_of,
)
from bnmind.errors import InvalidModelError, TableError, UnknownNameError

Codes = NDArray[np.signedinteger[Any]]


# --- Keys of items: which response an answer counts as, such as the letter of a choice ------------

_FIELDS: Mapping[str, str] = {
    **dict.fromkeys(["text", "wording", "question", "stem", "label", "title"], "text"),
    **dict.fromkeys(["content", "area", "domain", "topic"], "content"),
    **dict.fromkeys(["cost", "costs"], "cost"),
    **dict.fromkeys(["time", "seconds", "minutes"], "time"),
    **dict.fromkeys(["testlet", "unit"], "testlet"),
    **dict.fromkeys(["enemies", "enemy"], "enemies"),
    **dict.fromkeys(["picture", "image", "figure"], "picture"),
    **dict.fromkeys(["choices", "options", "alternatives"], "choices"),
    **dict.fromkeys(["key", "correct", "solution"], "key"),
    "shuffle": "shuffle",
}
"""The field of an item for each name of a column, in lower case."""

_CODES = ("0", "1", "2", "3", "4", "5", "6", "7", "8", "9")
"""The responses that choices may count as, if the item is not known yet."""

_LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"


class AnswerKey(NamedTuple):
    """The response that each answer to an item counts as, such as the letter of a choice."""

    codes: Mapping[Hashable, int]
    """The position of the response by the answer."""
    others: int | None = None
    """That of any other answer; None if there is none."""
    is_optional: bool = False
    """Whether a column may hold scored responses instead of answers."""


def _codes_of(choices: Sequence[tuple[str, int]]) -> dict[Hashable, int]:
    """Return the position of the response by the text and by the letter of each choice.

    >>> _codes_of([("2/5", 0), ("5/6", 1)])
    {'a': 0, 'b': 1, '2/5': 0, '5/6': 1}
    """
    codes = [code for _, code in choices]
    letters = dict(zip(map(_plain, _LETTERS), codes, strict=False))
    return letters | {_plain(text): code for text, code in choices}


def _plain(answer: Any) -> Hashable:
    """Return an answer as it is compared: a number, or a text in lower case."""
    number = number_of(answer)
    return " ".join(str(answer).split()).lower() if number is None else number


def choices_in(cell: str, key: str, responses: Sequence[str]) -> tuple[tuple[str, str], ...]:
    """Return the choices in a cell, each with the response that it counts as.

    Parameters
    ----------
    cell
        The texts, separated by ``|``, or else by semicolons.
    key
        The right text, or its letter or number; for an item with two responses the right choice
        counts as the last, and the others as the first. Empty if each text ends in ``=`` and
        the response.
    responses
        The responses of the item.

    Raises
    ------
    ValueError
        If the key is no choice, or there is none and a text has no response.

    Examples
    --------
    >>> choices_in("2/5 | 5/6 | 2/6", "B", ["0", "1"])
    (('2/5', '0'), ('5/6', '1'), ('2/6', '0'))
    >>> choices_in("never = 0; often = 2", "", ["0", "1", "2"])
    (('never', '0'), ('often', '2'))
    """
    texts = [part.strip() for part in cell.split("|" if "|" in cell else ";")]
    if not key:
        pairs = [[part.strip() for part in text.rpartition("=")[::2]] for text in texts]
        if not all(response in responses for _, response in pairs):
            raise ValueError(
                f"expected a key, or a response after each choice, one of {', '.join(responses)}"
            )
        return tuple((text, response) for text, response in pairs)
    if len(responses) != 2:
        raise ValueError("a key fits an item with two responses; otherwise write CHOICE = RESPONSE")
    names = [texts, [*_LETTERS[: len(texts)]], [str(n + 1) for n in range(len(texts))]]
    places = [some.index(one) for some in names for one in (key, key.upper()) if one in some]
    if not places:
        raise ValueError(f"expected the key to be one of the choices {', '.join(texts)}, got {key}")
    return tuple((text, responses[place == places[0]]) for place, text in enumerate(texts))


def answer_keys(source: Any, *, is_optional: bool = False) -> dict[str, AnswerKey]:
    """Return the key of each item: from a mapping, a bank, or a file or a data frame.

    A table has a row for each item, with the right answer in a column ``key``, and perhaps a column
    ``choices``, as for `describe_bank`; or a single row with the right answer to each column. Items
    without right answers or choices have no key. The keys of a bank are optional.

    Raises
    ------
    InvalidModelError
        If the table has no right answers, or a key is none of its choices; not if the keys are
        optional.
    """
    if isinstance(source, ItemBank):
        keys = {}
        for item in source.items:
            pairs = [(text, source.response(item.name, right)) for text, right in item.choices]
            if pairs:
                keys[item.name] = AnswerKey(_codes_of(pairs), is_optional=True)
        return keys
    if isinstance(source, Mapping):
        return {
            str(name): right if isinstance(right, AnswerKey) else AnswerKey({_plain(right): 1}, 0)
            for name, right in source.items()
        }
    table = named_table("key", source)
    columns = item_columns(table)
    if not is_optional and "key" not in columns and "choices" not in columns:
        if len(table.rows) == 1:
            cells = dict(zip(table.names, table.rows[0], strict=True))
            return answer_keys({name: one for name, one in cells.items() if name and clean(one)})
        raise InvalidModelError(["expected a column item and a column key, with the right answers"])
    keys, problems = {}, []
    for row, name in enumerate(table.names_of("item")):
        key, cell = (clean(columns[f][row]) if f in columns else "" for f in ("key", "choices"))
        codes: dict[Hashable, int] = {_plain(key): 1} if key else {}
        try:
            if cell:
                texts = choices_in(cell, key, _CODES[:2] if key else _CODES)
                codes = _codes_of([(text, int(response)) for text, response in texts])
        except ValueError as fault:
            problems.append(f"the choices of item {name}: {fault}")
            continue
        if codes:
            keys[name] = AnswerKey(codes, 0 if key else None, is_optional)
    if problems and not is_optional:
        raise InvalidModelError(problems)
    return keys


def item_columns(table: TextTable) -> dict[str, Sequence[Any]]:
    """Return the columns by the fields of items that they hold."""
    columns: dict[str, Sequence[Any]] = {}
    for place, name in enumerate(table.names):
        if (of_item := _FIELDS.get(name.lower())) is not None:
            columns.setdefault(of_item, table.column(place))
    return columns


# --- Tables ---------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class TableOptions:
    """What the caller knows of a table of responses; the fields are those of `Responses.of`."""

    missing: tuple[str | float, ...] = ()
    expected: tuple[str, ...] = ()
    id_column: str | None = None
    group_column: str | None = None
    ignore: tuple[str, ...] = ()
    keys: Mapping[str, AnswerKey] = field(default_factory=dict)
    items: tuple[str, ...] | None = None
    examinees: tuple[str, ...] | None = None


def read_responses(table: TextTable, options: TableOptions) -> dict[str, Any]:
    """Return the parts of the responses in a table, wide or long, without examinees who gave none.

    Raises
    ------
    TableError
        If rows have too few or too many cells, columns have no names, a cell is no response, or
        there are not as many names as given.
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
    unnamed = [str(p + 1) for p in roles.items if not table.names[p] and options.items is None]
    problems = []
    if len(unnamed) > 1:
        problems.append(f"columns {some_names(unnamed)} have no name; {ABOVE_NAMES}")
    elif unnamed:
        problems.append(f"column {unnamed[0]} has no name")
    if len(items) != len(roles.items):
        problems.append(f"expected {counted(len(roles.items), 'item')}, got {len(items)}")
    if len(labels) != len(table.rows):
        problems.append(f"expected {counted(len(table.rows), 'examinee')}, got {len(labels)}")
    if problems:
        raise TableError(problems)
    codes = np.full((len(table.rows), len(items)), MISSING, dtype=np.int64)
    keys = _keys(table, roles, options, items)
    scored = [f"the answers to {counted(len(keys), 'item')} were scored by the key"] * bool(keys)
    for number, place in enumerate(roles.items):
        codes[:, number] = _codes(table.column(place), options.missing, keys.get(number))
    wrong = [
        (row, number, table.rows[row][roles.items[number]])
        for row, number in np.argwhere(codes == _WRONG).tolist()
    ]
    if wrong:
        hint = [_FIXED_WIDTH] if len(items) < 3 and 2 * len(wrong) > codes.size else []
        raise TableError([*first_faults(_wrong_cells(wrong, labels, items)), *hint])
    answered, empty = answered_rows(codes, labels)
    codes, groups = codes[answered], table.texts(roles.group)
    doubts = _doubts(codes, items, named=bool(options.expected))
    return {
        "codes": codes,
        "items": items,
        "examinees": tuple(labels[row] for row in answered) if ids or empty else (),
        "groups": tuple(groups[row] for row in answered) if groups else (),
        "notes": (*table.notes, *roles.notes, *scored, *empty, *doubts),
    }


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
    names, keys = list(options.keys), list(options.keys.values())
    match = match_names(names, items) if names else None
    if match is not None:
        found = {number: keys[place] for number, place in enumerate(match.places)}
    else:
        found = {n: options.keys[name] for n, name in enumerate(items) if name in options.keys}
    if not found and not all(key.is_optional for key in keys):
        raise TableError(
            [f"the key is of {names_shown(names)}, and the items are {names_shown(items)}"]
        )
    scored = []
    for number, key in list(found.items()):
        codes = _codes(table.column(roles.items[number]), options.missing)
        if ((codes >= MISSING) & (codes <= max(key.codes.values()))).all():
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
    header, known = [name.strip() for name in table.names], options.id_column
    if len(header) < 3 or table.uneven:
        return table
    who = _only(header, is_examinee_name if known is None else known.__eq__)
    item = _only(header, _ITEMS.fullmatch)
    if item is None and options.expected:
        known_items = {name.strip() for name in options.expected}
        columns = map(table.column, range(len(header)))
        item = _only(columns, lambda column: all(str(c).strip() in known_items for c in column))
    response = _only(header, _RESPONSES.fullmatch)
    if who is None or item is None or response is None:
        return table
    kept = [header.index(options.group_column)] if options.group_column in header else []
    people: dict[str, dict[str, int]] = {}
    items: dict[str, str] = {}
    problems = []
    for number, (person, name) in enumerate(zip(table.texts(who), table.texts(item), strict=True)):
        if not person or not name:
            problems.append(f"row {number + 1} has no {'item' if person else 'examinee'}")
            continue
        items[name] = ""
        first = people.setdefault(person, {}).setdefault(name, number)
        if first != number:
            problems.append(
                f"examinee {person} has two responses to item {name}, in rows {first + 1} and"
                f" {number + 1}"
            )
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
    notes = [f"each row is one response: {header[response]} of {header[who]} to {header[item]}"]
    if others:
        notes.append(f"other columns were left out: {names_shown(others)}")
    rows = []
    for person, answers in people.items():
        cells = items | {name: table.rows[n][response] for name, n in answers.items()}
        about = [table.rows[min(answers.values())][place] for place in kept]
        rows.append((person, *about, *cells.values()))
    names = ("examinee", *(header[place] for place in kept), *items)
    return TextTable(names, tuple(rows), notes=(*table.notes, *notes))


def _only(columns: Iterable[Any], is_kind: Callable[[Any], object]) -> int | None:
    """Return the only column that is of a kind; None if there is none, or several."""
    places = [place for place, column in enumerate(columns) if is_kind(column)]
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
    header, notes = table.names, []
    for name in (options.id_column, options.group_column, *options.ignore):
        if name is not None and name not in header:
            raise UnknownNameError("column", name, [one for one in header if one])
    given = (options.id_column, options.group_column)
    examinee, group = (None if name is None else header.index(name) for name in given)
    out = {examinee, group, *map(header.index, options.ignore)}
    free = [place for place in range(len(header)) if place not in out]
    match = match_names([header[p] for p in free], options.expected) if options.expected else None
    items = [] if match is None or match.by_position else [free[p] for p in match.places]
    others = [place for place in free if place not in set(items)]
    if examinee is None:
        examinee, note = _examinee(table, others)
        notes += note
    if group is None:
        groups = [p for p in others if p != examinee and _GROUPS.fullmatch(header[p])]
        if len(groups) == 1:
            group = groups[0]
            notes.append(_taken(header[group], "groups"))
    others = [place for place in others if place not in (examinee, group)]
    if others[:1] == [0] and is_row_names(header[0]) and _distinct(table, 0):
        del others[0]  # the names of rows that R and pandas add
    if match is not None and items:
        notes += [match.note] if match.note else []
        if others:
            codes = [_codes(table.column(place), options.missing) for place in others]
            notes.append(left_out_note([header[place] for place in others], codes))
        return _Roles(options.expected, tuple(items), examinee, group, tuple(notes))
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
    return _Roles(tuple(header[p] for p in others), tuple(others), examinee, group, tuple(notes))


def _taken(name: str, what: str, *, is_taken: bool = True) -> str:
    which = f"column {name} was" if name else "the column without a name was"
    return f"{which} {'' if is_taken else 'not '}taken for the {what} of the examinees"


def _examinee(table: TextTable, places: Sequence[int]) -> tuple[int | None, list[str]]:
    """Return the column that seems to name the examinees, None if there is none, and a note."""
    header, are_many = table.names, len(table.rows) > _FEW

    def may_name(place: int) -> bool:
        # Distinct cells cannot be responses if there are many, or some are texts.
        is_first = place == 0 and _FIRST.fullmatch(header[0]) is not None
        return is_examinee_name(header[place]) or (
            is_first and (are_many or any(number_of(cell) is None for cell in table.column(0)))
        )

    for place in places:
        if header[place].lower() in _PLAIN:
            return place, []
    candidates = [place for place in places if may_name(place)]
    if 0 in places and (are_many or is_row_names(header[0])):
        candidates.append(0)
    for place in candidates:
        if _distinct(table, place):
            return place, [_taken(header[place], "names")]
    for place in candidates:
        counts = Counter(table.texts(place))
        recurring = [text for text, count in counts.items() if count > 1 and text]
        if recurring and len(counts) >= len(table.rows) * _MOSTLY:
            why = f"because some occur more than once: {names_shown(recurring)}"
            return None, [f"{_taken(header[place], 'names', is_taken=False)}, {why}"]
    return None, []


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

_MISSING_CODES = frozenset({8, 9, 88, 98, 99, 999, 9999})
"""Numbers above 0 that often stand for a missing response."""

_LETTER = re.compile(r"'[A-Za-z]'")
"""The text of a cell with a letter, such as the choice of an examinee."""

_FIXED_WIDTH = (
    "if the lines of a file have a fixed width, --fixed-width N (in Python fixed_width=N) takes the"
    " first N characters for the name of the examinee, and each further one for a response"
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
    if cell is None or str(cell).strip().lower() in texts:
        return MISSING
    number = number_of(cell)
    if number is not None and (number != number or number in numbers):
        return MISSING
    if key is not None and number != MISSING:
        code = key.codes.get(_plain(cell), key.others)
        return _WRONG if code is None else code
    if number is None:
        return _WRONG
    return int(number) if number % 1 == 0 and MISSING <= number <= MAX_CODE else _WRONG


def _wrong_cells(
    cells: Sequence[tuple[int, int, Any]], examinees: Sequence[str], items: Sequence[str]
) -> Iterator[str]:
    """Yield the faults of cells that hold no response, given as row, column and content."""
    of_column: dict[int, list[float | None]] = {}
    for _, column, cell in cells:
        of_column.setdefault(column, []).append(number_of(cell))
    numbering = set()
    for column, numbers in of_column.items():
        if None not in numbers and len(numbers) == len({*numbers}) > FEW_CELLS:
            numbering.add(column)
            name = items[column]
            yield (
                f"column {name} has another number in each of {len(numbers):,} rows; if it names"
                f" the examinees, say so (--id-column {in_shell(name)}); if it is no item,"
                f" leave it out (--ignore {in_shell(name)})"
            )
    of_text: dict[str, list[tuple[int, int]]] = {}
    for row, column, cell in cells:
        if column not in numbering:
            number = number_of(cell)
            if number is None:
                text = shown(cell)
            else:
                text = cell if isinstance(cell, str) else f"{number:g}"
            of_text.setdefault(text, []).append((row, column))
    labels = [text for text in of_text if _LETTER.fullmatch(text)]
    labels += [t for t in of_text if number_of(t) is None and len(of_text[t]) > FEW_CELLS]
    labels = list(dict.fromkeys(labels))
    if len(labels) > 1 and sum(len(of_text[text]) for text in labels) > FEW_CELLS:
        places = [place for text in labels for place in of_text.pop(text)]
        some = ", ".join(sorted(labels)[:_FEW_LABELS]) + ", …" * (len(labels) > _FEW_LABELS)
        yield (
            f"expected the positions of responses, 0, 1, …, got the texts {some} in"
            f" {len(places):,} cells, the first in {format_place(*min(places), examinees, items)};"
            " if they are answers, score them: --key FILE (in Python key={item: letter}) has the"
            " right ones; if they are labels, put a number in place of each, 0 for the worst"
            " response; --missing declares a text that stands for a missing one"
        )
    yield from cell_faults(
        of_text, lambda _: "the position of a response or nothing", examinees, items
    )


def cell_faults(
    places_of: Mapping[str, Sequence[tuple[int, int]]],
    expected: Callable[[int], str],
    examinees: Sequence[str],
    items: Sequence[str],
) -> Iterator[str]:
    """Yield the faults of cells, one for many with the same content.

    Parameters
    ----------
    places_of
        The rows and columns of each content.
    expected
        Returns what is expected in a column.
    examinees, items
        The names of the rows and columns.
    """
    for text, places in places_of.items():
        number, n = number_of(text) or 0.0, len(places)
        is_many = n > FEW_CELLS
        is_code = number < MISSING or number in _MISSING_CODES  # such as -9 and 999
        declare = f"; {_how_to_declare(text)}" if is_many or is_code else ""
        for row, column in places[:1] if is_many else places:
            where = format_place(row, column, examinees, items)
            cells = f", got {text} in {n:,} cells, the first in {where}"
            got = cells if is_many else f" in {where}, got {text}"
            yield f"expected {expected(column)}{got}{declare}"


def _how_to_declare(text: str) -> str:
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

_ABOUT_PEOPLE = re.compile(
    r"age|alter|sex|gender|geschlecht|class|klasse|school|schule|booklet|heft|testheft|form"
    r"|country|land|language|sprache|weight|gewicht|year|jahr|date|datum|grade ?level",
    re.IGNORECASE,
)
"""Names of columns that tell of people or of the test, and hardly ever of an item."""

_FEWEST_UNUSED = 2
"""This many responses that nobody gave, just below the highest one, make that one doubtful."""


def _doubts(codes: Codes, items: Sequence[str], *, named: bool) -> Iterator[str]:
    """Yield notes on items whose responses tell nothing, or may be none.

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
    >>> codes = np.array([[0, 11, 1], [1, 12, 9], [1, 11, 0]])
    >>> [*_doubts(codes, ["q1", "age", "q2"], named=False)]  # doctest: +NORMALIZE_WHITESPACE
    ['column age counts as an item; if it is none, leave it out (--ignore age)',
     'in q2 nobody gave the responses just below 9; if 9 stands for a missing response, declare it
      (--missing 9)']
    """
    highest = codes.max(axis=0, initial=MISSING)
    lower = np.where(codes < highest, codes, MISSING).max(axis=0, initial=MISSING)
    same = np.flatnonzero((lower == MISSING) & (highest != MISSING)).tolist()
    if same and len(codes) > 1:
        names = names_shown([items[place] for place in same])
        yield f"all responses to these items are equal, so they tell nothing: {names}"
    people = [] if named else [name for name in items if _ABOUT_PEOPLE.fullmatch(name.strip())]
    for name in people:
        yield (
            f"column {name} counts as an item; if it is none, leave it out"
            f" (--ignore {in_shell(name)})"
        )
    is_doubtful = (lower != MISSING) & (highest - lower > _FEWEST_UNUSED)
    for code in sorted(_MISSING_CODES & set(highest[is_doubtful].tolist())):
        places = np.flatnonzero(is_doubtful & (highest == code)).tolist()
        if found := [items[place] for place in places if items[place] not in people]:
            yield (
                f"in {names_shown(found)} nobody gave the responses just below {code}; if {code}"
                f" stands for a missing response, declare it (--missing {code})"
            )
