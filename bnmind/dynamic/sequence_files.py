"""Sequences in files: CSV, Excel and Parquet."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from bnmind._arguments import checked
from bnmind.dynamic.network import DynamicNetwork
from bnmind.dynamic.sequences import Sequences, read_sequences
from bnmind.junction.cases.case_files import is_text, read_frames

if TYPE_CHECKING:
    import pandas

__all__ = ["read_sequences_for"]

_ROWS = 2**20
"""The rows that are read at a time."""


@checked
def read_sequences_for(
    network: DynamicNetwork, path: str | os.PathLike[str], *, sequence: str | None = None
) -> tuple[Sequences, pandas.DataFrame]:
    """Return the sequences in a file, and the file as a data frame.

    Parameters
    ----------
    network
        The variables.
    path
        A Parquet file (``.parquet``), or a text file (``.csv``, ``.csv.gz``, ``.tsv`` or ``.txt``)
        with the names of the columns in the first line. In text, empty cells are missing, and so
        are texts such as ``NA`` or ``?`` unless they are states. The first sheet of an Excel
        workbook (``.xlsx``) is read as if it were saved as CSV.
    sequence
        The column that tells to which sequence a row belongs.

    Raises
    ------
    ModelFileError
        If the file cannot be read, its name has another suffix, or openpyxl is needed for a
        workbook and is not installed.
    TableError
        If the rows do not fit the network. The error names the rows: in a CSV file or a workbook,
        the header is row 1; in a Parquet file, the first slice is row 1.
    """
    import pandas

    frames = list(read_frames(path, _ROWS))
    frame = frames[0] if len(frames) == 1 else pandas.concat(frames)
    text = is_text(path)
    found = read_sequences(
        network,
        network.variables,
        frame,
        sequence=sequence,
        as_text=text,
        first_row=2 if text else 1,
    )
    return found, frame.reset_index(drop=True)
