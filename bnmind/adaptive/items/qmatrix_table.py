"""Q-matrices in tables as people keep them: with names, bare, with numbered rows, or with crosses.

The packages CDM and GDINA of R use a bare matrix. Its rows and columns get numbers for names;
learning matches such rows with the columns of the responses by position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import counted
from bnmind.adaptive.items.name_match import (
    are_numbered,
    is_row_names,
    match_names,
    names_shown,
)
from bnmind.adaptive.items.tables.text_table import TextTable, number_of
from bnmind.errors import InvalidModelError
from bnmind.pgm.variable import label_text

__all__ = ["QMatrixParts", "qmatrix_parts", "renamed_skills"]

_CROSSES = frozenset(["x", "+", "✓", "✔", "✗", "×", "•"])
"""Marks that stand for 1."""

_EMPTY = frozenset(["", "nan", "NaN", "<NA>"])


@dataclass(frozen=True, eq=False)
class QMatrixParts:
    """The parts of a Q-matrix that were read from a table."""

    needs: NDArray[Any]
    """``(items, skills)`` of objects, not checked."""
    items: tuple[str, ...]
    skills: tuple[str, ...]
    notes: tuple[str, ...]


def qmatrix_parts(table: TextTable, expected: Sequence[str] = ()) -> QMatrixParts:
    """Return the parts of the Q-matrix in a table.

    The names of the items are in a column ``item``, in the only one that holds expected names, or
    in the first column, if it has no name, counts the rows, or holds texts. Empty cells are 0, and
    crosses are 1.

    Raises
    ------
    InvalidModelError
        If a row has too few or too many cells.
    """
    if table.uneven:
        raise InvalidModelError([f"{fault}, in the Q-matrix" for fault in table.uneven])
    rows = [row for row in table.rows if any(_is_given(cell) for cell in row)]
    notes = list(table.notes)
    if len(rows) < len(table.rows):
        notes.append(f"{counted(len(table.rows) - len(rows), 'empty row')} left out")
    place = _item_column(table, rows, expected)
    of_rows = place is not None and table.header is not None and is_row_names(table.header[0])
    columns = [c for c in range(table.n_columns) if c != place and not (of_rows and c == 0)]
    texts = [column for column in columns if _holds_texts(rows, column)]
    if texts and table.header is not None and len(texts) < len(columns):
        columns = sorted(set(columns).difference(texts))
        names = names_shown([table.header[column] for column in texts])
        notes.append(f"columns with texts, not levels, were left out: {names}")
    if place is None:
        items = tuple(f"item_{number}" for number in range(1, len(rows) + 1))
    else:
        items = tuple(label_text(row[place]).strip() for row in rows)
    if table.header is None:
        skills = tuple(f"skill_{number}" for number in range(1, len(columns) + 1))
        notes.append("the first line has no names; the skills are named skill_1 and so on")
    else:
        skills = tuple(table.header[column] for column in columns)
    if set(items) & set(skills) and are_numbered(skills):
        notes.append(renamed_skills(skills))
        skills = tuple(f"skill_{number}" for number in range(1, len(skills) + 1))
    needs = np.empty((len(rows), len(columns)), dtype=object)
    n_empty = n_crosses = 0
    for cells, row in zip(needs, rows, strict=True):
        for k, column in enumerate(columns):
            cell = row[column]
            is_cross = isinstance(cell, str) and cell.strip().lower() in _CROSSES
            is_empty = not _is_given(cell)
            n_crosses += is_cross
            n_empty += is_empty
            number = None if is_cross or is_empty else number_of(cell)
            whole = int(number) if number is not None and number % 1 == 0 else None
            cells[k] = int(is_cross) if is_cross or is_empty else cell if whole is None else whole
    if n_crosses:
        notes.append(f"{counted(n_crosses, 'marked cell')} read as 1")
    if n_empty:
        notes.append(f"{counted(n_empty, 'empty cell')} read as 0")
    return QMatrixParts(needs, items, skills, tuple(notes))


def renamed_skills(skills: Sequence[str]) -> str:
    """Return a note about skills with numbers for names, which items have too."""
    return (
        f"the skills {names_shown(skills)} are named skill_1 and so on, because items have these"
        " names, too"
    )


def _holds_texts(rows: Sequence[tuple[Any, ...]], column: int) -> bool:
    """Return whether a column has texts, and no number or cross."""
    given = [row[column] for row in rows if _is_given(row[column])]
    return bool(given) and not any(
        number_of(cell) is not None or str(cell).strip().lower() in _CROSSES for cell in given
    )


def _is_given(cell: Any) -> bool:
    return cell is not None and str(cell).strip() not in _EMPTY


def _item_column(
    table: TextTable, rows: Sequence[tuple[Any, ...]], expected: Sequence[str]
) -> int | None:
    """Return the column with the names of the items; None if there is none."""
    header = table.header or ("?",) * table.n_columns
    named = [place for place, name in enumerate(header) if name.strip().lower() == "item"]
    if named or table.n_columns < 2 or not rows:
        return named[0] if named else None
    if len(holding := [c for c in range(table.n_columns) if _holds_names(rows, c, expected)]) == 1:
        return holding[0]
    first = [row[0] for row in rows]
    numbers = [number_of(cell) for cell in first]
    if not header[0] or _counts(numbers):
        return 0
    has_texts = any(
        number is None and _is_given(cell) and str(cell).strip().lower() not in _CROSSES
        for cell, number in zip(first, numbers, strict=True)
    )
    return 0 if has_texts and len(set(map(str, first))) == len(first) else None


def _holds_names(rows: Sequence[tuple[Any, ...]], column: int, expected: Sequence[str]) -> bool:
    """Return whether the cells of a column are distinct names among the expected ones."""
    names = [label_text(row[column]).strip() for row in rows]
    match = match_names(expected, names) if len(set(names)) == len(names) > 2 else None
    return match is not None and not match.by_position


def _counts(numbers: Sequence[float | None]) -> bool:
    """Return whether numbers count the rows, from 0 or 1; two rows may do so by chance."""
    return len(numbers) > 2 and any(
        list(numbers) == list(range(start, start + len(numbers))) for start in (0, 1)
    )
