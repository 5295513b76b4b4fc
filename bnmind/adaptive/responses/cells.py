"""The responses in the cells of a table: positions, truth values, and missing ones."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import first_faults, in_shell, shown
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.items.tables.choice_cells import AnswerKey
from bnmind.adaptive.items.tables.text_table import TRUTH_VALUES, number_of

__all__ = [
    "FEW_CELLS",
    "MAX_CODE",
    "MISSING_CODES",
    "MISSING_TEXTS",
    "WRONG",
    "CellCodes",
    "how_to_declare",
    "place_text",
    "wrong_cells",
]

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
                f" in {count:,} cells, the first in {place_text(*first, examinees, items)}; score"
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
                f" {place_text(*first, examinees, items)}; put a number in place of each label, 0"
                " for the worst response; --missing declares a text that stands for a missing one"
            )
            groups = {text: places for text, places in groups.items() if text not in labels}
        for text, places in groups.items():
            if len(places) > FEW_CELLS:
                yield (
                    f"expected the position of a response, or nothing, got {text} in"
                    f" {len(places):,} cells, the first in"
                    f" {place_text(*places[0], examinees, items)}; {how_to_declare(text)}"
                )
                continue
            number = number_of(text) or 0.0
            is_code = number <= MISSING - 1 or number in MISSING_CODES  # such as -9 and 999
            for row, column in places:
                yield (
                    "expected the position of a response, or nothing, in"
                    f" {place_text(row, column, examinees, items)}, got {text}"
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


def place_text(row: int, column: int, examinees: Sequence[str], items: Sequence[str]) -> str:
    """Return the place of a cell in words; rows are counted from 1 without the header."""
    who = f" (examinee {examinees[row]})" if examinees[row] != str(row + 1) else ""
    return f"row {row + 1}{who}, column {items[column]}"
