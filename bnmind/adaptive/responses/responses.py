"""Tables of the responses of examinees to items."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, positions
from bnmind._messages import (
    MOST_FAULTS,
    counted,
    each_of,
    first_faults,
    in_shell,
    shown,
    some_names,
)
from bnmind._values import Value, sealed
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.bank_tables import answer_keys
from bnmind.adaptive.items.text_tables import (
    ABOVE_NAMES,
    AnswerKey,
    NameMatch,
    TextTable,
    are_numbered,
    frame_table,
    match_names,
    names_shown,
    number_of,
    read_table,
)
from bnmind.adaptive.responses.cells import (
    FEW_CELLS,
    MAX_CODE,
    MISSING_CODES,
    WRONG,
    CellCodes,
    ColumnOptions,
    ColumnRoles,
    format_place,
    how_to_declare,
    is_examinee_name,
    left_out_note,
    roles_of,
    wrong_cells,
)
from bnmind.errors import BnmindError, InvalidArgumentError, TableError
from bnmind.pgm.variable import format_label, name_fault

if TYPE_CHECKING:
    import pandas

# --- Long tables of responses, with a row for each response, as wide ones -------------------------
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


# --- Responses from tables: their codes, names and groups, with notes on all that was guessed -----
#
#


@dataclass(frozen=True, eq=False)
class ReadResponses:
    """The parts of responses that were read from a table."""

    codes: NDArray[np.int64]
    items: tuple[str, ...]
    _: KW_ONLY
    examinees: tuple[str, ...]
    groups: tuple[str, ...]
    notes: tuple[str, ...]
    problems: tuple[str, ...]
    """The faults of cells that are no responses."""

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each examinee, or the number of the row."""
        return self.examinees or tuple(str(row + 1) for row in range(len(self.codes)))


@dataclass(frozen=True)
class GivenNames:
    """Names that replace those of a table; None for those of the table."""

    items: tuple[str, ...] | None = None
    examinees: tuple[str, ...] | None = None


NO_NAMES = GivenNames()
"""No names are replaced."""


def read_responses(
    table: TextTable,
    missing: Iterable[str | float],
    options: ColumnOptions,
    names: GivenNames = NO_NAMES,
) -> ReadResponses:
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
    cells = CellCodes(tuple(missing))
    roles = roles_of(table, cells, options)
    items = roles.names if names.items is None else names.items
    ids = _read_column(table, roles.examinee) if names.examinees is None else names.examinees
    labels = ids or tuple(str(row + 1) for row in range(len(table.rows)))
    unnamed = [
        str(place + 1)
        for name, place in zip(roles.names, roles.items, strict=True)
        if not name and names.items is None
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
    keys = _keys(table, roles, cells, options, items)
    scored = [f"the answers to {counted(len(keys), 'item')} were scored by the key"] * bool(keys)
    wrong = []
    for number, place in enumerate(roles.items):
        column = table.column(place)
        codes[:, number] = cells.of(column, keys.get(number))
        rows = np.flatnonzero(codes[:, number] == WRONG)
        wrong += [(row, number, column[row]) for row in rows.tolist()]
    wrong.sort(key=lambda cell: cell[:2])
    codes[codes == WRONG] = 0  # a wrong cell is not also reported as missing
    answered, empty = answered_rows(codes, labels)
    kept = np.flatnonzero(answered).tolist()
    groups = _read_column(table, roles.group)
    notes = (*table.notes, *roles.notes, *scored, *empty)
    return ReadResponses(
        codes=codes[answered],
        items=items,
        examinees=tuple(labels[row] for row in kept) if ids or empty else (),
        groups=tuple(groups[row] for row in kept) if groups else (),
        notes=(*notes, *doubts(codes, items, named=options.expected is not None)),
        problems=tuple(wrong_cells(wrong, labels, items)),
    )


def _keys(
    table: TextTable,
    roles: ColumnRoles,
    cells: CellCodes,
    options: ColumnOptions,
    items: Sequence[str],
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
        codes = cells.of(table.column(roles.items[number]))
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


def _read_column(table: TextTable, place: int | None) -> tuple[str, ...]:
    if place is None:
        return ()
    return tuple(str(cell).strip() for cell in table.column(place))


def array_of(table: ArrayLike) -> NDArray[Any]:
    """Return the array of a table, masked if it was; raise `TableError` if it is none."""
    if isinstance(table, str | os.PathLike):
        path = f"got the path {shown(table)}; Responses.from_csv reads it"
        raise TableError([f"expected responses as a table, {path}"])
    array = rectangular(table)
    if array.ndim != 2:
        one = "; one examinee is [[1, 0, …]]" if array.ndim == 1 else ""
        raise TableError(
            [f"expected an array (examinees, items), got one of shape {array.shape}{one}"]
        )
    return array


def rectangular(table: ArrayLike) -> NDArray[Any]:
    """Return an array, masked if it was; raises `TableError` for a ragged table."""
    if isinstance(table, np.ma.MaskedArray):
        return table  # its tolist() has None for masked cells
    try:
        return np.asarray(table)
    except ValueError:
        rows = [np.size(row) for row in table]  # type: ignore[union-attr]
        raise TableError(
            [
                f"expected {counted(rows[0], 'response')} in row {number}, got {size}"
                for number, size in enumerate(rows, 1)
                if size != rows[0]
            ]
            or [f"expected an array (examinees, items), got {counted(len(rows), 'row')}"]
        ) from None


def distinct_rows(
    codes: NDArray[np.int8],
) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]]:
    """Return the first place of each distinct row, each row's number, and the count of each.

    As strings of bytes from 0 on, rows sort in the same order and twenty times faster.
    """
    texts = np.ascontiguousarray((codes.astype(np.int16) - MISSING).astype(np.uint8))
    keys = texts.view(np.dtype((np.void, texts.shape[1])))[:, 0]
    _, first, numbers, counts = np.unique(
        keys, return_index=True, return_inverse=True, return_counts=True
    )
    return first, numbers, counts


def answered_rows(
    codes: NDArray[np.signedinteger[Any]], examinees: Sequence[str]
) -> tuple[NDArray[np.bool_], list[str]]:
    """Return which examinees gave responses, and a note about the others.

    If nobody did, all count: that is a fault, not a reason to leave them out.
    """
    answered = (codes != MISSING).any(axis=1)
    if answered.all() or not answered.any():
        return np.ones(len(codes), dtype=np.bool_), []
    empty = [examinees[row] for row in np.flatnonzero(~answered).tolist()]
    what = "examinee was" if len(empty) == 1 else "examinees were"
    return answered, [f"{len(empty):,} {what} left out for lack of responses: {names_shown(empty)}"]


# --- Tables of the responses of examinees to items ------------------------------------------------
#
#


@dataclass(frozen=True, eq=False)
class Responses(Value):
    """The response of each examinee to each item; responses may be missing.

    Parameters
    ----------
    codes
        ``(examinees, items)`` positions of the responses, 0 the worst; −1 for a missing
        response.
    items
        The names of the items, one for each column.
    examinees
        The names of the examinees, one for each row; default "1", "2", …
    groups
        The group of each examinee; empty if there are none.
    notes
        What was guessed or left out when the responses were read, a sentence each.

    Raises
    ------
    TableError
        If a code is out of range, a name is repeated, or an examinee has no response at all. All
        faults are reported at once, with rows and columns.

    Examples
    --------
    >>> Responses([[1, 0], [-1, 1]], ("easy", "hard"))
    Responses(2 examinees, 2 items, 1 missing)
    """

    codes: NDArray[np.signedinteger[Any]]
    items: tuple[str, ...]
    examinees: tuple[str, ...] = ()
    _: KW_ONLY
    groups: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    _error = TableError

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(codes=self.codes.astype(np.int8), examinees=self._names())

    def _names(self) -> tuple[str, ...]:
        return self.examinees or tuple(str(row + 1) for row in range(len(self.codes)))

    def _faults(self) -> Iterator[str]:
        codes, n = self.codes, len(self.items)
        if codes.ndim != 2 or codes.shape[1] != n:
            yield f"expected whole numbers of shape (examinees, {n}), got shape {codes.shape}"
            return
        yield from first_faults(_faults(codes, self.items, self._names()))
        if self.groups and len(self.groups) != len(codes):
            yield f"expected {len(codes)} groups of examinees, got {len(self.groups)}"

    @classmethod
    @checked
    def of(
        cls,
        table: Responses | pandas.DataFrame | ArrayLike,
        *,
        items: Sequence[str | int] | None = None,
        examinees: Sequence[object] | None = None,
        missing: Iterable[str | float] = (),
        expected: Sequence[str] | None = None,
        id_column: str | None = None,
        group_column: str | None = None,
        ignore: Iterable[str] = (),
        key: Mapping[str, Any] | pandas.DataFrame | ItemBank | str | os.PathLike[str] | None = None,
    ) -> Responses:
        """Return the responses of a table; a `TableError` lists all its faults.

        Parameters
        ----------
        table
            A row for each examinee: positions of responses, or truth values; −1, nan, an empty
            cell, or a text such as NA for a missing response. The columns of a data frame name the
            items; its index, or a column, the examinees. It may also be long: a row for each
            response, with columns for examinee, item and response.
        items, examinees
            Names that replace those of the table; default ``item_1``, … and "1", …
        missing
            Other texts, in upper or lower case, and numbers that stand for a missing response,
            such as -9.
        expected
            The names of the items of a Q-matrix or a bank. If the table has a column for each of
            them, its other columns are left out.
        id_column, group_column
            The columns of a data frame with the names and the groups of the examinees; default
            a column with a usual name, such as ``student_id`` or ``group``.
        ignore
            Columns of a data frame that are not items.
        key
            The right answer to each item, such as ``{"q1": "B"}``, if the table holds answers: the
            right one counts as 1, and the others as 0. Or a file or a data frame with columns
            ``item`` and ``key``, or a bank whose items have choices.

        Notes
        -----
        Examinees without any response are left out. `notes` lists all that was guessed or left
        out.
        """
        if isinstance(table, Responses):
            return table
        options = ColumnOptions(
            None if expected is None else tuple(expected),
            id_column=id_column,
            group_column=group_column,
            ignore=tuple(ignore),
            keys={} if key is None else answer_keys(key),
        )
        given = None if items is None else tuple(map(format_label, items))
        names = GivenNames(given, None if examinees is None else tuple(map(str, examinees)))
        if hasattr(table, "columns"):
            return cls._read(frame_table(table), missing, options, names)
        array = array_of(table)
        if given is not None and len(given) != array.shape[1]:
            raise TableError(
                [
                    f"expected a column for {each_of(len(given), 'item')}, got"
                    f" {counted(array.shape[1], 'column')}"
                ]
            )
        # An array has no column with names of examinees, even if an item is called so.
        columns = tuple(f"item_{number + 1}" for number in range(array.shape[1]))
        rows = tuple(map(tuple, array.tolist()))
        return cls._read(
            TextTable(columns, rows), missing, ColumnOptions(columns, keys=options.keys), names
        )

    @classmethod
    @checked
    def from_csv(
        cls,
        path: str | os.PathLike[str],
        *,
        missing: Iterable[str | float] = (),
        expected: Sequence[str] | None = None,
        id_column: str | None = None,
        group_column: str | None = None,
        ignore: Iterable[str] = (),
        fixed_width: int | None = None,
        key: Mapping[str, Any] | pandas.DataFrame | ItemBank | str | os.PathLike[str] | None = None,
    ) -> Responses:
        """Return the responses in a file, as R, Excel, SPSS and others write it.

        The first line names the items, and each further line holds the responses of an
        examinee. The file may also be long, see `of`. Cells are separated by commas, semicolons,
        tabs, vertical bars or blanks; or each digit of a line is a response, such as ``0110``.
        Workbooks of Excel and files of SPSS, Stata and Parquet are read with the extra ``files``.

        Parameters
        ----------
        path
            The file.
        fixed_width
            The number of characters that name the examinee at the start of each line, 0 if none;
            each further character is a response. By default this is found out if the lines hold
            the digits 0, 1 and 9 alone, after a blank.
        missing, expected, id_column, group_column, ignore, key
            As for `of`.

        Raises
        ------
        ModelFileError
            If the file cannot be read.
        TableError
            If its content is not a table of responses.
        UnknownNameError
            If there is no column of a given name.
        InvalidArgumentError
            If ``fixed_width`` is negative.
        """
        options = ColumnOptions(
            None if expected is None else tuple(expected),
            id_column=id_column,
            group_column=group_column,
            ignore=tuple(ignore),
            keys={} if key is None else answer_keys(key),
        )
        if fixed_width is not None and fixed_width < 0:
            raise InvalidArgumentError(
                f"expected fixed_width as a number of characters, at least 0, got {fixed_width}",
                fixed_width,
            )
        return cls._read(read_table(path, fixed_width=fixed_width), missing, options)

    @classmethod
    def _read(
        cls,
        table: TextTable,
        missing: Iterable[str | float],
        options: ColumnOptions,
        names: GivenNames = NO_NAMES,
    ) -> Responses:
        try:
            read = read_responses(table, missing, options, names)
            if table.hint and (read.problems or not read.items):
                raise TableError([table.hint])
            if read.problems:
                others = _faults(read.codes, read.items, read.labels)
                raise TableError(first_faults(chain(read.problems, others)))
        except BnmindError as fault:
            for note in table.notes:  # such as which sheet of a workbook was read
                fault.add_note(note)
            raise
        return Responses(
            codes=read.codes,
            items=read.items,
            examinees=read.examinees,
            groups=read.groups,
            notes=read.notes,
        )

    def __repr__(self) -> str:
        n, m = self.codes.shape
        return (
            f"Responses({counted(n, 'examinee')}, {counted(m, 'item')}, {self.n_missing} missing)"
        )

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_missing(self) -> int:
        """The number of missing responses."""
        return int(np.sum(self.codes == MISSING))

    def require_answers(self) -> None:
        """Raise if an item has no responses, so that nothing can be learned about it.

        Raises
        ------
        TableError
            If a column is empty.
        """
        empty = np.flatnonzero(~(self.codes != MISSING).any(axis=0)).tolist()
        if empty:
            raise TableError([f"column {self.items[one]} has no responses" for one in empty])

    @cached_property
    def patterns(self) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.intp], NDArray[np.intp]]:
        """The distinct rows, the number of each examinee's row, and the count of each row."""
        first, numbers, counts = distinct_rows(self.codes)
        return sealed(self.codes[first]), sealed(numbers), sealed(counts)

    @checked
    def take(self, examinees: ArrayLike) -> Self:
        """Return the responses of some of the `examinees`, by position or by a mask."""
        rows = positions(examinees, len(self), "examinees")
        ids = tuple(self.examinees[row] for row in rows)
        groups = tuple(self.groups[row] for row in rows) if self.groups else ()
        return type(self)(
            codes=self.codes[rows],
            items=self.items,
            examinees=ids,
            groups=groups,
            notes=self.notes,
        )

    @checked
    def for_bank(self, bank: ItemBank) -> Responses:
        """Return the responses with their columns in the order of the items of a `bank`.

        Columns with names similar to the items are renamed. If one of the two only numbers the
        items, they are matched by position. Other columns are left out. `notes` say so.

        Raises
        ------
        TableError
            If the bank's items are not among the columns, or an item has no such response. All
            faults are reported at once.
        """
        match = match_names(self.items, bank.item_names)
        if match is None:
            raise TableError(_unmatched(self.items, bank.item_names))
        found = self._with_columns(match, bank.item_names)
        if problems := _too_high(found, bank):
            raise TableError(problems)
        return found

    def _with_columns(self, match: NameMatch, names: tuple[str, ...]) -> Responses:
        """Return the responses to some items, under their names."""
        if self.items == names:
            return self
        codes = self.codes[:, list(match.places)]
        answered, left_out = answered_rows(codes, self.examinees)
        rows = np.flatnonzero(answered).tolist()
        others = [name for place, name in enumerate(self.items) if place not in match.places]
        notes = [*self.notes, *left_out, *([match.note] if match.note else [])]
        if others:
            places = map(self.items.index, others)
            notes.append(left_out_note(others, [self.codes[:, place] for place in places]))
        return Responses(
            codes=codes[answered],
            items=names,
            examinees=tuple(self.examinees[row] for row in rows),
            groups=tuple(self.groups[row] for row in rows) if self.groups else (),
            notes=tuple(notes),
        )


def _unmatched(names: Sequence[str], expected: Sequence[str]) -> list[str]:
    """Return the faults of columns that are not items, and of items without a column."""
    if are_numbered(expected) and not set(names) & set(expected):
        return [
            f"expected {counted(len(expected), 'column')}, one for each item of the Q-matrix or"
            f" bank, whose items have only numbers; got {len(names):,}: {names_shown(names)};"
            " --ignore leaves out a column that is not an item"
        ]
    known, own = frozenset(expected), frozenset(names)
    strange = [name for name in names if name not in known]
    absent = [name for name in expected if name not in own]
    if len(strange) == len(names) and len(absent) == len(expected):
        none = "no column names" if len(names) == 1 else f"none of the {len(names):,} columns names"
        columns = "column is" if len(names) == 1 else "columns are"
        return [
            f"{none} an item of the Q-matrix or bank: the {columns} {names_shown(names)}; the items"
            f" are {names_shown(expected)}"
        ]
    problems = []
    if strange:
        is_are = "column is not an item" if len(strange) == 1 else "columns are not items"
        problems.append(
            f"{len(strange):,} {is_are} of the Q-matrix or bank: {names_shown(strange)}"
        )
    if absent:
        what = "item has" if len(absent) == 1 else "items have"
        problems.append(f"{len(absent):,} {what} no column: {names_shown(absent)}")
    return problems


def responses_to(bank: ItemBank, responses: Responses | pandas.DataFrame | ArrayLike) -> Responses:
    """Return responses, or a table of them; the columns of an array are the items of a bank."""
    named = isinstance(responses, Responses) or hasattr(responses, "columns")
    return Responses.of(responses, items=None if named else bank.item_names)


def names_in(responses: Responses | pandas.DataFrame | TextTable | Any) -> tuple[str, ...]:
    """Return the names that the items may have: of the columns, or in the rows of a long table."""
    if isinstance(responses, Responses):
        return responses.items
    table = responses if isinstance(responses, TextTable) else frame_table(responses)
    return wide_table(table, ColumnOptions()).header or ()


def _too_high(found: Responses, bank: ItemBank) -> list[str]:
    """Return the faults of responses that an item does not have; many equal ones are one fault."""
    most = np.array([len(bank.responses(name)) - 1 for name in found.items])
    cells = np.argwhere(found.codes > most)
    values = found.codes[cells[:, 0], cells[:, 1]]
    problems = []
    for value in np.unique(values).tolist():
        places = cells[values == value].tolist()
        for row, column in places if len(places) <= FEW_CELLS else places[:1]:
            where = format_place(row, column, found.examinees, found.items)
            problem = f"expected a response from 0 to {most[column]} in {where}, got {value}"
            if len(places) > FEW_CELLS:
                problem += f", as in {len(places) - 1:,} other cells"
            if len(places) > FEW_CELLS or value in MISSING_CODES:
                problem += f"; {how_to_declare(str(value))}"
            problems.append(problem)
    wrong = np.unique(values)
    given = found.codes[found.codes != MISSING]
    steps = most.max(initial=0) == 1 and np.array_equal(wrong, np.arange(2, 2 + len(wrong)))
    if steps and len(cells) > FEW_CELLS:
        if len(wrong) > 1:  # grades, rather than codes of missing responses
            row, column = cells[0].tolist()
            where = format_place(row, column, found.examinees, found.items)
            problems = [
                f"expected the responses 0 and 1, got {given.min()} to {wrong[-1]} in"
                f" {len(cells):,} cells, the first in {where}"
            ]
        problems.append(
            "if these are steps or grades, --gate sequential:dina (gate=Sequential in Python)"
            " learns them"
        )
    if problems and given.min() == 1 and given.max() == most.max() + 1:
        return ["no response is 0; responses count from 0, the worst, so subtract 1 (--lowest 1)"]
    return first_faults(problems)


def _doubled(names: Sequence[str], what: str, where: str) -> list[str]:
    places: dict[str, list[int]] = {}
    for place, name in enumerate(names):
        places.setdefault(name, []).append(place + 1)
    return [
        f"{what} must be distinct, but {name} is in {where} {', '.join(map(str, lines[:12]))}"
        for name, lines in places.items()
        if name and len(lines) > 1
    ]


def _faults(codes: NDArray[Any], items: Sequence[str], examinees: Sequence[str]) -> Iterator[str]:
    for place, name in enumerate(items, 1):
        if fault := name_fault(name):
            yield f"expected the name of an item in column {place}, got {shown(name)}: {fault}"
    yield from _doubled(items, "items", "columns")
    if not codes.size:
        n_rows, n_columns = codes.shape
        yield f"responses need examinees and items, got {n_rows} and {n_columns}"
        return
    if len(examinees) != len(codes):
        yield f"expected {counted(len(codes), 'examinee')}, got {len(examinees)}"
        return
    for row, name in enumerate(examinees, 1):
        if not name:
            yield f"the examinee in row {row} has no name"
    yield from _doubled(examinees, "examinees", "rows")
    for row, column in np.argwhere((codes < MISSING) | (codes > MAX_CODE))[:MOST_FAULTS].tolist():
        yield (
            f"expected a response from 0 to {MAX_CODE}, or {MISSING} where there is none, in"
            f" {format_place(row, column, examinees, items)}, got {codes[row, column]}"
        )
    is_given = codes != MISSING
    for row in np.flatnonzero(~is_given.any(axis=1))[:MOST_FAULTS].tolist():
        yield f"row {row + 1}, of examinee {examinees[row]}, has no responses"
