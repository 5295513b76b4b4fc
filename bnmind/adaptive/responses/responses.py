"""Tables of the responses of examinees to items."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property, partial
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, positions
from bnmind._messages import MOST_FAULTS, counted, each_of, first_faults, shown
from bnmind._values import Value, sealed
from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.descriptions import answer_keys
from bnmind.adaptive.items.name_match import NameMatch, are_numbered, match_names, names_shown
from bnmind.adaptive.items.tables.text_table import TextTable, frame_table, read_table
from bnmind.adaptive.responses.cells import (
    FEW_CELLS,
    MAX_CODE,
    MISSING_CODES,
    MISSING_TEXTS,
    how_to_declare,
    place_text,
)
from bnmind.adaptive.responses.columns import ColumnOptions, left_out_note
from bnmind.adaptive.responses.long_tables import wide_table
from bnmind.adaptive.responses.reading import (
    NO_NAMES,
    GivenNames,
    answered_rows,
    array_of,
    distinct_rows,
    read_responses,
    rectangular,
)
from bnmind.errors import BnmindError, InvalidArgumentError, TableError
from bnmind.pgm.variable import label_text, name_fault

if TYPE_CHECKING:
    import pandas

__all__ = ["MISSING_TEXTS", "Responses", "names_in", "responses_to"]


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

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "items", tuple(self.items))
        array = rectangular(self.codes)
        if array.ndim != 2 or array.shape[1] != len(self.items) or array.dtype.kind not in "biu":
            raise TableError(
                [
                    f"expected whole numbers of shape (examinees, {len(self.items)}), got an"
                    f" array of shape {array.shape} of {array.dtype}"
                ]
            )
        ids = tuple(self.examinees) or tuple(str(row + 1) for row in range(len(array)))
        object.__setattr__(self, "examinees", ids)
        problems = first_faults(_faults(array, self.items, ids))
        if self.groups and len(self.groups) != len(array):
            problems.append(f"expected {len(array)} groups of examinees, got {len(self.groups)}")
        if problems:
            raise TableError(problems)
        codes = array.astype(np.int8)
        codes.setflags(write=False)
        object.__setattr__(self, "codes", codes)

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
        given = None if items is None else tuple(map(label_text, items))
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

    def __reduce__(self) -> tuple[Any, ...]:
        make = partial(Responses, groups=self.groups, notes=self.notes)
        return (make, (self.codes, self.items, self.examinees))

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
            where = place_text(row, column, found.examinees, found.items)
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
            where = place_text(row, column, found.examinees, found.items)
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
            f" {place_text(row, column, examinees, items)}, got {codes[row, column]}"
        )
    is_given = codes != MISSING
    for row in np.flatnonzero(~is_given.any(axis=1))[:MOST_FAULTS].tolist():
        yield f"row {row + 1}, of examinee {examinees[row]}, has no responses"
