"""Cases in files: CSV, Excel and Parquet."""

from __future__ import annotations

import os
from collections.abc import Iterable

from bnmind._arguments import checked
from bnmind.fitting.cases import DistinctCases
from bnmind.junction.cases.case_files import is_text, read_frames
from bnmind.pgm.network import Network

__all__ = ["read_cases_for"]

_ROWS = 2**20
"""The rows that are read at a time."""


@checked
def read_cases_for(
    network: Network, path: str | os.PathLike[str], hidden: Iterable[str] = ()
) -> DistinctCases:
    """Return the cases in a file, to learn from.

    Parameters
    ----------
    network
        The variables.
    path
        A Parquet file (``.parquet``), or a text file (``.csv``, ``.csv.gz``, ``.tsv`` or ``.txt``)
        with the names of the columns in the first line, and cells that commas, semicolons or tabs
        separate. In text, empty cells are missing, and so are texts such as ``NA``
        or ``?`` unless they are states. The first sheet of an Excel workbook (``.xlsx``) is read as
        if it were saved as CSV.
    hidden
        The variables that may have no column.

    Raises
    ------
    ModelFileError
        If the file cannot be read, its name has another suffix, or rows of a CSV file have more
        cells than its first line, or openpyxl is needed for a workbook and is not installed.
    TableError
        If two columns have the same name, or the cases do not fit the network. The error names the
        rows: in a CSV file or a workbook, the header is row 1; in a Parquet file, the first case
        is row 1.
    MissingLibraryError
        If the file is Parquet and pyarrow is not installed.
    """
    import pandas

    frames = list(read_frames(path, _ROWS))
    frame = frames[0] if len(frames) == 1 else pandas.concat(frames)
    text = is_text(path)
    return DistinctCases.of(network, frame, hidden, as_text=text, first_row=2 if text else 1)
