"""Cases to learn from, of data frames and files: their distinct rows, as state positions."""

from __future__ import annotations

import os
from collections.abc import Container, Hashable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import close_names, did_you_mean, one_line
from bnmind._values import Sealed
from bnmind.errors import TableError, UnknownNameError
from bnmind.information import Floats
from bnmind.junction.cases.case_files import is_text, read_frames
from bnmind.junction.cases.tables import distinct_rows, frame_of, read_table, separator_question
from bnmind.pgm.network import Network
from bnmind.pgm.variable import format_label

MISSING = -1
"""The position of a missing cell."""

_SHOWN = 10
"""The most names of variables without a column that an error shows."""


@dataclass(frozen=True, eq=False, kw_only=True)
class DistinctCases(Sealed):
    """The distinct cases, as state positions."""

    states: NDArray[np.signedinteger[Any]]
    """``(rows, variables)`` in the order of the network; -1 for missing cells."""
    weights: Floats
    """``(rows,)``: how many cases there are of each row."""
    numbers: NDArray[np.intp]
    """``(rows,)``: the number of the first case of each row, from 0."""
    ignored: tuple[str, ...] = ()
    """The columns that are no variables of the network."""
    first_row: int = 0
    """The number of the first case in messages."""

    @classmethod
    def of(
        cls,
        network: Network,
        cases: Any,
        hidden: Iterable[str] = (),
        *,
        as_text: bool = False,
        first_row: int | None = None,
    ) -> DistinctCases:
        """Read cases.

        Parameters
        ----------
        network
            The variables.
        cases
            A data frame, or a mapping from names to columns of states.
        hidden
            The variables that may have no column, and are missing in all cases then.
        as_text, first_row
            As for `bnmind.junction.cases.tables.read_table`.

        Raises
        ------
        TableError
            If a column is missing, a state is unknown, or there are no cases. The error lists the
            faults, with row and column.
        """
        frame = frame_of(cases)
        without = frozenset(hidden)
        known = {v.name: v for v in network.variables}
        named = {format_label(label) for label in frame.columns}
        problems = [
            str(UnknownNameError("hidden variable", name, known))
            for name in sorted(without - set(known))
        ]
        if absent := [name for name in known if name not in named | without]:
            problems.append(_without_column(absent) + other_columns(frame.columns, known, absent))
        if not len(frame):
            problems.append("expected at least one case, got none")
        try:
            table = read_table(network.variables, frame, as_text=as_text, first_row=first_row)
        except TableError as fault:
            some = named & set(known)  # otherwise the missing columns are told already
            found = [*problems, *(fault.problems if some or not problems else ())]
            raise TableError(found, count=len(found) + fault.count - len(fault.problems)) from (
                None
            )
        if problems:
            raise TableError(problems)
        distinct = cls.of_positions(table.states(slice(None)).T)
        ignored = tuple(format_label(label) for label in table.unused)
        return cls(
            states=distinct.states,
            weights=distinct.weights,
            numbers=distinct.numbers,
            ignored=ignored,
            first_row=first_row or 0,
        )

    @classmethod
    def of_positions(cls, table: NDArray[np.signedinteger[Any]]) -> DistinctCases:
        """Return the distinct rows of a table ``(cases, variables)`` of state positions."""
        most = int(table.max(initial=0))
        kind = np.int8 if most < 128 else np.int16 if most < 2**15 else np.int32
        columns = (
            (column.astype(np.int64) + 1, int(column.max(initial=0)) + 2) for column in table.T
        )
        distinct = distinct_rows(columns, len(table))
        return cls(
            states=np.ascontiguousarray(table[distinct.first], dtype=kind),
            weights=np.bincount(distinct.kind).astype(np.float64),
            numbers=distinct.first,
        )

    @property
    def n_cases(self) -> int:
        """The number of cases."""
        return int(self.weights.sum())


def _without_column(absent: Sequence[str]) -> str:
    """Return the fault of variables without a column."""
    if len(absent) == 1:
        return (
            f"expected a column {one_line(absent[0])} in the cases, got none; name it as hidden if"
            f" it is never observed (--hidden {one_line(absent[0])})"
        )
    hidden = f" (--hidden {','.join(absent)})" if len(absent) <= 3 else ""
    return f"{missing_columns(absent)}; name as hidden those that are never observed{hidden}"


def other_columns(labels: Iterable[Hashable], known: Container[str], absent: Sequence[str]) -> str:
    """Return a clause about the columns that are no variables, and those that may be meant.

    >>> other_columns(["EKG", "day", "age"], {"age", "ECG"}, ["ECG"])
    '; the columns that are no variables are EKG, day; did you mean EKG by ECG?'
    """
    names = list(map(format_label, labels))
    if question := separator_question(names):
        return question
    unused = [name for name in names if name and name not in known]
    if not unused:
        return ""
    more = ", …" if len(unused) > _SHOWN else ""
    text = f"; the columns that are no variables are {', '.join(map(one_line, unused[:_SHOWN]))}"
    for name in absent[:_SHOWN]:
        if close := close_names(name, unused):
            return f"{text}{more}; {did_you_mean(close[:1])[:-1]} by {one_line(name)}?"
    return text + more


def missing_columns(absent: Sequence[str]) -> str:
    """Return a sentence about several variables without a column, with the first ten names.

    >>> missing_columns(["a", "b"])
    'expected a column for each variable in the cases, got none for 2 of them: a, b'
    """
    more = ", …" if len(absent) > _SHOWN else ""
    return (
        f"expected a column for each variable in the cases, got none for {len(absent):,} of them:"
        f" {', '.join(map(one_line, absent[:_SHOWN]))}{more}"
    )


_ROWS = 2**20
"""The rows that are read at a time."""


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
