"""Tables of the responses of examinees to items."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, positions
from bnmind._messages import MOST_FAULTS, first_faults, shown
from bnmind._values import CheckedValue, sealed
from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ResponseTableError
from bnmind.pgm.variable import label_text, name_fault

if TYPE_CHECKING:
    import pandas

__all__ = ["MISSING_TEXTS", "Responses"]

MISSING_TEXTS = ("", "NA", "N/A", "NaN", ".")
"""Texts that stand for a missing response, by default."""

_ID_COLUMNS = ("examinee", "id")
"""Names of columns with the names of the examinees, in upper or lower case."""

_MOST = 126
"""The highest position of a response that fits into int8 together with missing responses."""


@dataclass(frozen=True, eq=False)
class Responses(CheckedValue):
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

    Raises
    ------
    ResponseTableError
        If a code is out of range, a name is repeated, or an examinee or an item has no
        response at all. All faults are reported at once, with rows and columns.

    Examples
    --------
    >>> Responses([[1, 0], [-1, 1]], ("easy", "hard"))
    Responses(2 examinees, 2 items, 1 missing)
    """

    codes: NDArray[np.signedinteger[Any]]
    items: tuple[str, ...]
    examinees: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "items", tuple(self.items))
        array = _array(self.codes)
        if array.ndim != 2 or array.shape[1] != len(self.items) or array.dtype.kind not in "biu":
            raise ResponseTableError(
                [
                    f"expected whole numbers of shape (examinees, {len(self.items)}), got an"
                    f" array of shape {array.shape} of {array.dtype}"
                ]
            )
        ids = tuple(self.examinees) or tuple(str(row + 1) for row in range(len(array)))
        object.__setattr__(self, "examinees", ids)
        problems = first_faults(_faults(array, self.items, ids))
        if problems:
            raise ResponseTableError(problems)
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
        missing: Iterable[str] = MISSING_TEXTS,
    ) -> Responses:
        """Return the responses of an array or a data frame, a row for each examinee.

        Parameters
        ----------
        table
            Positions of responses; −1, nan or a text in ``missing`` for a missing
            response. The columns of a data frame name the items; its index, or a column
            ``examinee`` or ``id``, names the examinees.
        items, examinees
            Names that replace those of the table; default ``item_1``, … and "1", …
        missing
            Texts that stand for a missing response, in upper or lower case.
        """
        if isinstance(table, Responses):
            return table
        if hasattr(table, "columns"):
            frame: Any = table
            names = [label_text(name) for name in frame.columns]
            rows = [list(row) for row in frame.itertuples(index=False, name=None)]
            if examinees is None and not _counts_up(frame.index):
                examinees = list(frame.index)
            return _parsed(names, rows, items, examinees, missing)
        array = _array(table)
        if array.ndim != 2:
            raise ResponseTableError(
                [f"expected an array (examinees, items), got one of shape {array.shape}"]
            )
        if items is None:
            items = [f"item_{number + 1}" for number in range(array.shape[1])]
        if len(items) != array.shape[1]:
            raise ResponseTableError(
                [f"expected a column for each of {len(items)} items, got {array.shape[1]} columns"]
            )
        # An array has no column with names of examinees, even if an item is called so.
        unnamed = [""] * array.shape[1]
        return _parsed(unnamed, array.tolist(), items, examinees, missing)

    @classmethod
    @checked
    def from_csv(
        cls, path: str | os.PathLike[str], *, missing: Iterable[str] = MISSING_TEXTS
    ) -> Responses:
        """Return the responses in a CSV file: the items in the first line, then the examinees.

        Parameters
        ----------
        path
            The file; a column ``examinee`` or ``id`` names the examinees.
        missing
            As for `of`.

        Raises
        ------
        ModelFileError
            If the file cannot be read.
        ResponseTableError
            If its content is not a table of responses.
        """
        from bnmind.adaptive.items.bank_files import read_rows

        lines = read_rows(path)
        header = lines[0] if lines else []
        unnamed = (
            f"column {number + 1} has no name" for number, name in enumerate(header) if not name
        )
        uneven = (
            f"expected {len(header)} cells in row {number + 1}, got {len(row)}"
            for number, row in enumerate(lines[1:])
            if len(row) != len(header)
        )
        problems = first_faults(chain(unnamed, uneven))
        if problems or not header:
            raise ResponseTableError(problems or ["the first line must name the items"])
        return _parsed(header, lines[1:], None, None, missing)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Responses, (self.codes, self.items, self.examinees))

    def __repr__(self) -> str:
        n, m = self.codes.shape
        return f"Responses({n} examinees, {m} items, {self.n_missing} missing)"

    def __len__(self) -> int:
        return len(self.codes)

    @property
    def n_missing(self) -> int:
        """The number of missing responses."""
        return int(np.sum(self.codes == MISSING))

    @cached_property
    def patterns(self) -> tuple[NDArray[np.signedinteger[Any]], NDArray[np.intp], NDArray[np.intp]]:
        """The distinct rows, the number of each examinee's row, and the count of each row."""
        rows, inverse, counts = np.unique(
            self.codes, axis=0, return_inverse=True, return_counts=True
        )
        numbers = inverse.reshape(-1).astype(np.intp)
        return sealed(rows), sealed(numbers), sealed(counts.astype(np.intp))

    @checked
    def take(self, examinees: ArrayLike) -> Self:
        """Return the responses of some of the examinees, by position or by a mask."""
        rows = positions(examinees, len(self), "examinees")
        ids = tuple(self.examinees[row] for row in rows)
        return type(self)(self.codes[rows], self.items, ids)

    @checked
    def for_bank(self, bank: ItemBank) -> Responses:
        """Return the responses with their columns in the order of a bank's items.

        Raises
        ------
        ResponseTableError
            If the columns are not the bank's items, or an item has no such response. All
            faults are reported at once.
        """
        known, column_of = (
            frozenset(bank.item_names),
            {name: i for i, name in enumerate(self.items)},
        )
        problems = [
            f"column {place + 1}, {name}, is not an item of the Q-matrix or bank"
            for place, name in enumerate(self.items)
            if name not in known
        ]
        problems += [
            f"there is no column for item {name}"
            for name in bank.item_names
            if name not in column_of
        ]
        for place, name in enumerate(self.items):
            if name not in known:
                continue
            most = len(bank.responses(name)) - 1
            problems += [
                f"expected a response from 0 to {most} in {self._place(row, place)}, got"
                f" {self.codes[row, place]}"
                for row in np.flatnonzero(self.codes[:, place] > most)[:MOST_FAULTS].tolist()
            ]
        if problems:
            raise ResponseTableError(problems)
        if self.items == bank.item_names:
            return self
        order = [column_of[name] for name in bank.item_names]
        return Responses(self.codes[:, order], bank.item_names, self.examinees)

    def _place(self, row: int, column: int) -> str:
        return _place(row, column, self.examinees, self.items)


def _place(row: int, column: int, examinees: Sequence[str], items: Sequence[str]) -> str:
    """Return the place of a cell in words; rows are counted from 1 without the header."""
    who = f" (examinee {examinees[row]})" if examinees[row] != str(row + 1) else ""
    return f"row {row + 1}{who}, column {items[column]}"


def _array(table: ArrayLike) -> NDArray[Any]:
    """Return an array, masked if it was; raises `ResponseTableError` for a ragged table."""
    if isinstance(table, np.ma.MaskedArray):
        return table  # its tolist() has None for masked cells
    try:
        return np.asarray(table)
    except ValueError:
        rows = [np.size(row) for row in table]  # type: ignore[union-attr]
        raise ResponseTableError(
            [
                f"expected {rows[0]} responses in row {number}, got {size}"
                for number, size in enumerate(rows, 1)
                if size != rows[0]
            ]
            or [f"expected an array (examinees, items), got {len(rows)} rows"]
        ) from None


def _counts_up(index: Any) -> bool:
    return list(index) == list(range(len(index)))


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
        yield f"expected {len(codes)} examinees, got {len(examinees)}"
        return
    for row, name in enumerate(examinees, 1):
        if not name:
            yield f"the examinee in row {row} has no name"
    yield from _doubled(examinees, "examinees", "rows")
    for row, column in np.argwhere((codes < MISSING) | (codes > _MOST))[:MOST_FAULTS].tolist():
        yield (
            f"expected a response from 0 to {_MOST}, or {MISSING} where there is none, in"
            f" {_place(row, column, examinees, items)}, got {codes[row, column]}"
        )
    is_given = codes != MISSING
    for row in np.flatnonzero(~is_given.any(axis=1))[:MOST_FAULTS].tolist():
        yield f"row {row + 1}, of examinee {examinees[row]}, has no responses"
    for column in np.flatnonzero(~is_given.any(axis=0))[:MOST_FAULTS].tolist():
        yield f"column {items[column]} has no responses"


def _parsed(
    names: Sequence[str],
    rows: Sequence[Sequence[Any]],
    items: Sequence[str | int] | None,
    examinees: Sequence[object] | None,
    missing: Iterable[str],
) -> Responses:
    """Return the responses of a table of texts and numbers."""
    ids = [place for place, name in enumerate(names) if name.lower() in _ID_COLUMNS][:1]
    if ids and examinees is None:
        examinees = [str(row[ids[0]]).strip() for row in rows]
    columns = [place for place in range(len(names)) if place not in ids]
    named = (
        tuple(map(label_text, items))
        if items is not None
        else tuple(names[place] for place in columns)
    )
    if len(named) != len(columns):
        raise ResponseTableError([f"expected {len(columns)} items, got {len(named)}"])
    who = tuple(map(str, examinees)) if examinees is not None else ()
    if who and len(who) != len(rows):
        raise ResponseTableError([f"expected {len(rows)} examinees, got {len(who)}"])
    none = {text.lower() for text in missing}
    labels = who or tuple(str(row + 1) for row in range(len(rows)))
    codes = np.full((len(rows), len(columns)), MISSING, dtype=np.int64)
    problems: list[str] = []
    for row, cells in enumerate(rows):
        for column, place in enumerate(columns):
            code = _code(cells[place], none)
            if code is None and len(problems) < MOST_FAULTS:
                problems.append(
                    "expected the position of a response, or nothing, in"
                    f" {_place(row, column, labels, named)}, got {shown(cells[place])}"
                )
            # A wrong cell is not also reported as missing.
            codes[row, column] = 0 if code is None else code
    if problems:
        raise ResponseTableError(first_faults(chain(problems, _faults(codes, named, labels))))
    return Responses(codes, named, who)


def _code(cell: Any, none: set[str]) -> int | None:
    """Return the position in a cell; None if the cell is not a position."""
    if cell is None:
        return MISSING
    if isinstance(cell, str):
        text = cell.strip()
        if text.lower() in none:
            return MISSING
        try:
            cell = float(text)
        except ValueError:
            return None
    try:
        number = float(cell)
    except (TypeError, ValueError):
        return MISSING if str(cell).lower() in none or str(cell) == "<NA>" else None
    if number != number:  # nan
        return MISSING
    return int(number) if number % 1 == 0 and abs(number) < 2**31 else None
