"""Q-matrices in CSV files: a first column ``item``, then a column for each skill."""

from __future__ import annotations

import csv
import io
import os

import numpy as np

from bnmind.adaptive.qmatrix import QMatrix
from bnmind.errors import InvalidModelError

__all__ = ["read_qmatrix"]


def read_qmatrix(path: str | os.PathLike[str]) -> QMatrix:
    """Return the Q-matrix in a CSV file.

    The first line names the skills; each further line an item, and the level of each
    skill that it needs, 0 where it needs none of it. Without a column ``item`` the items
    are ``item_1``, ``item_2``, …

    Raises
    ------
    ModelFileError
        If the file cannot be read.
    InvalidModelError
        If a line has too few or too many cells, a cell is no whole number of at least 0,
        an item needs no skill, or no item needs a skill; all faults at once, with the
        rows and columns.
    """
    from bnmind.adaptive.files import read_text

    lines = csv.reader(io.StringIO(read_text(path).removeprefix("\ufeff")))
    rows = [[cell.strip() for cell in row] for row in lines if row]
    header = rows[0] if rows else []
    named = [place for place, name in enumerate(header) if name.lower() == "item"][:1]
    columns = [place for place in range(len(header)) if place not in named]
    problems = [
        f"expected {len(header)} cells in row {number} of the Q-matrix, got {len(row)}"
        for number, row in enumerate(rows[1:], 1)
        if len(row) != len(header)
    ]
    if problems:
        raise InvalidModelError(problems)
    names = [row[named[0]] if named else f"item_{n}" for n, row in enumerate(rows[1:], 1)]
    needs = np.zeros((len(names), len(columns)), dtype=np.intp)
    for number, row in enumerate(rows[1:]):
        for column, place in enumerate(columns):
            try:
                level = float(row[place])
            except ValueError:
                level = float("nan")
            if level >= 0 and level % 1 == 0:
                needs[number, column] = int(level)
            else:
                needs[number, column] = 1  # what is wrong is at least there
                problems.append(
                    f"expected a whole number of at least 0 in row {number + 1} (item"
                    f" {names[number]}), column {header[place]} of the Q-matrix, got"
                    f" {row[place]!r}"
                )
    skills = tuple(header[place] for place in columns)
    try:
        made = QMatrix.of(needs, items=names, skills=skills)
    except InvalidModelError as fault:
        raise InvalidModelError([*problems, *fault.problems]) from None
    if problems:
        raise InvalidModelError(problems)
    return made
