"""Q-matrices in text files, as R, Excel and others write them."""

from __future__ import annotations

import os
from collections.abc import Sequence

from bnmind._arguments import checked
from bnmind.adaptive.items.qmatrix import QMatrix
from bnmind.adaptive.items.tables.text_table import read_table

__all__ = ["read_qmatrix"]


@checked
def read_qmatrix(path: str | os.PathLike[str], *, expected: Sequence[str] = ()) -> QMatrix:
    """Return the Q-matrix in a text file.

    The first line names the skills. Each further line holds the name of an item and the
    level that it needs of each skill, 0 for a skill that is not needed. A column ``item``
    names the items, or the only one with expected names, or a first column that has no name,
    counts the rows, or holds texts.
    Without names the items are ``item_1``, ``item_2``, … and the skills ``skill_1``, …

    Cells are separated by commas, semicolons, tabs, vertical bars or blanks. Truth values
    count as 0 and 1, empty cells as 0, and crosses as 1. `QMatrix.notes` lists all that was
    guessed.

    Parameters
    ----------
    path
        The file: text with a line for each item.
    expected
        The names of the items in the responses, as for `QMatrix.of`.

    Raises
    ------
    ModelFileError
        If the file cannot be read.
    InvalidModelError
        If a line has too few or too many cells, a cell is not a whole number of at least
        0, an item needs no skill, or no item needs a skill. All faults are reported at
        once, with rows and columns.
    """
    return QMatrix.of(read_table(path), expected=expected)
