"""Responses from tables: their codes, names and groups, with notes on all that was guessed."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._messages import counted, first_faults, shown
from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.items.name_match import match_names, names_shown
from bnmind.adaptive.items.tables.choice_cells import AnswerKey
from bnmind.adaptive.items.tables.text_table import TextTable, number_of
from bnmind.adaptive.responses.cells import WRONG, CellCodes, wrong_cells
from bnmind.adaptive.responses.columns import ColumnOptions, ColumnRoles, roles_of
from bnmind.adaptive.responses.doubts import doubts
from bnmind.adaptive.responses.long_tables import wide_table
from bnmind.errors import TableError

__all__ = [
    "NO_NAMES",
    "GivenNames",
    "ReadResponses",
    "answered_rows",
    "array_of",
    "distinct_rows",
    "read_responses",
    "rectangular",
]


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
    ids = _texts(table, roles.examinee) if names.examinees is None else names.examinees
    labels = ids or tuple(str(row + 1) for row in range(len(table.rows)))
    problems = [
        f"column {place + 1} has no name"
        for name, place in zip(roles.names, roles.items, strict=True)
        if not name and names.items is None
    ]
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
    groups = _texts(table, roles.group)
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


def _texts(table: TextTable, place: int | None) -> tuple[str, ...]:
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
