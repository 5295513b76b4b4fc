"""Cases in files: CSV and Parquet."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from bnmind._arguments import checked
from bnmind._messages import one_line
from bnmind.errors import MissingLibraryError, ModelFileError
from bnmind.fitting.cases import DistinctCases
from bnmind.pgm.network import Network

if TYPE_CHECKING:
    import pandas

__all__ = ["read_cases_for"]

_PARQUET = (".parquet", ".pq")


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
        A Parquet file (``.parquet``), or a CSV file with the names of the columns in the first
        line, which may be compressed as ``.gz``. In CSV, empty cells and texts such as ``NA`` or
        ``?`` are missing, unless they are states.
    hidden
        The variables that may have no column.

    Raises
    ------
    ModelFileError
        If the file cannot be read.
    CaseTableError
        If the cases do not fit the network. The error names the lines of a CSV file.
    MissingLibraryError
        If the file is Parquet and pyarrow is not installed.
    """
    if Path(path).suffix.lower() in _PARQUET:
        return DistinctCases.of(network, _parquet(path), hidden)
    # The first line of the file holds the names.
    return DistinctCases.of(network, _csv(path), hidden, as_text=True, first_row=2)


def _csv(path: str | os.PathLike[str]) -> pandas.DataFrame:
    import pandas

    try:
        frame: pandas.DataFrame = pandas.read_csv(
            path, dtype="str", keep_default_na=False, skip_blank_lines=False
        )
    except (OSError, ValueError, EOFError) as fault:  # pandas' errors are ValueErrors
        raise _unreadable(path, fault) from fault
    return frame


def _parquet(path: str | os.PathLike[str]) -> pandas.DataFrame:
    import pandas

    try:
        return pandas.read_parquet(path)
    except ImportError as fault:
        raise MissingLibraryError("pyarrow must be installed for Parquet files", "pyarrow") from (
            fault
        )
    except (OSError, ValueError) as fault:
        raise _unreadable(path, fault) from fault


def _unreadable(path: str | os.PathLike[str], fault: Exception) -> ModelFileError:
    name = os.fspath(path)
    reason = fault.strerror if isinstance(fault, OSError) and fault.strerror else str(fault)
    return ModelFileError(f"cannot read cases from {one_line(name)}: {one_line(reason)}", name)
