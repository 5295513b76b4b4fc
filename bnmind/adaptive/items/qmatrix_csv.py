"""Q-matrices in CSV files: a first column ``item``, then a column for each skill."""

from __future__ import annotations

import os

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import first_faults
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.errors import InvalidModelError

__all__ = ["read_qmatrix"]


@checked
def read_qmatrix(path: str | os.PathLike[str]) -> QMatrix:
    """Return the Q-matrix in a CSV file.

    The first line names the skills. Each further line holds the name of an item and the
    level that it needs of each skill, 0 for a skill that is not needed. Without a column
    ``item`` the items are named ``item_1``, ``item_2``, …

    Raises
    ------
    ModelFileError
        If the file cannot be read.
    InvalidModelError
        If a line has too few or too many cells, a cell is not a whole number of at least
        0, an item needs no skill, or no item needs a skill. All faults are reported at
        once, with rows and columns.
    """
    from bnmind.adaptive.items.bank_files import read_rows

    rows = read_rows(path)
    header = rows[0] if rows else []
    named = [place for place, name in enumerate(header) if name.lower() == "item"][:1]
    columns = [place for place in range(len(header)) if place not in named]
    problems = first_faults(
        f"expected {len(header)} cells in row {number} of the Q-matrix, got {len(row)}"
        for number, row in enumerate(rows[1:], 1)
        if len(row) != len(header)
    )
    if problems:
        raise InvalidModelError(problems)
    names = [row[named[0]] if named else f"item_{n}" for n, row in enumerate(rows[1:], 1)]
    needs = np.empty((len(names), len(columns)), dtype=object)
    for cells, row in zip(needs, rows[1:], strict=True):
        cells[:] = [row[place] for place in columns]
    return QMatrix.of(needs, items=names, skills=[header[place] for place in columns])
