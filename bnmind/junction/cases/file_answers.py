"""Answers to a file of cases, computed and written in chunks."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, TypeAlias

from bnmind._arguments import checked
from bnmind._display import Result
from bnmind._files import check_writable, writing
from bnmind._messages import one_line
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TableError
from bnmind.junction.cases.answers import CaseAnswers, case_notes
from bnmind.junction.cases.case_files import (
    FrameWriter,
    check_suffix,
    file_rows,
    is_text,
    read_frames,
)
from bnmind.junction.cases.predict import Progress
from bnmind.junction.cases.table import CaseTable, read_table
from bnmind.pgm.network import FactorModel, Network

if TYPE_CHECKING:
    import pandas

__all__ = ["Answer", "FileAnswers", "answer_file", "answered_frames", "carrying", "write_answers"]

Answer: TypeAlias = "Callable[[Network | FactorModel, pandas.DataFrame], CaseAnswers]"
"""A function such as `bnmind.predict`."""

_CELLS = 2**22
_SHOWN = 10
_MOST = 1000
"""The most impossible rows that a report names."""


@dataclass(frozen=True, kw_only=True)
class FileAnswers(Result, Value):
    """The report of the answers to a file of cases."""

    n_rows: int
    """The number of cases."""
    columns: tuple[str, ...]
    """The names of the columns of the answers."""
    n_impossible: int = 0
    """The number of rows of probability zero."""
    impossible: tuple[int, ...] = ()
    """The first of these rows. In a CSV file, the header is row 1."""
    unused: tuple[str, ...] = ()
    """The names of the columns that are not variables of the model."""
    close: tuple[tuple[str, tuple[str, ...]], ...] = ()
    """Such columns, and variables without a column whose names are similar."""

    def to_dict(self) -> dict[str, Any]:
        """Return the report as a record for JSON."""
        return {
            "rows": self.n_rows,
            "columns": list(self.columns),
            "impossible": {"count": self.n_impossible, "first": list(self.impossible)},
            "unused": list(self.unused),
            "similar": {name: list(similar) for name, similar in self.close},
        }

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the cases, in sentences."""
        return case_notes(
            (self.n_rows, self.n_impossible), self.impossible, self.unused, dict(self.close)
        )


@checked
def answer_file(
    model: Network | FactorModel,
    cases: str | os.PathLike[str],
    out: str | os.PathLike[str],
    answer: Answer,
    *,
    rows: int | None = None,
    progress: Progress | None = None,
) -> FileAnswers:
    """Write the answers to a file of cases to another file, in chunks of rows.

    The file of answers appears only when it is complete.

    Parameters
    ----------
    model
        A network, or a product of factors.
    cases
        A ``.csv``, ``.csv.gz``, ``.tsv``, ``.txt``, ``.xlsx`` or ``.parquet`` file with a row for
        each case. In a text file, commas, semicolons or tabs separate the cells; empty cells are
        missing, and so are texts such as ``NA`` unless they are states. The first sheet of an
        Excel workbook is read as if it were saved as CSV.
    out
        A ``.csv`` or ``.parquet`` file for the answers. It starts with the columns that are not
        variables of the model, such as names of the cases.
    answer
        A function of a model and a data frame, such as ``bnmind.predict`` or
        ``functools.partial(bnmind.predict, targets=["rain"])``.
    rows
        The number of rows of a chunk; by default it depends on the number of variables.
    progress
        Called with the number of rows done, and the number of all, or None if it is unknown.

    Raises
    ------
    TableError
        If a cell holds no state of its variable. The error names the first ten such cells of the
        whole file, and their number. Nothing is written.
    ModelFileError
        If the cases cannot be read, or are no table, or openpyxl is needed for a workbook and is
        not installed.
    FileWriteError
        If the answers cannot be written.
    MissingLibraryError
        If pyarrow is needed for a Parquet file, and is not installed.
    """
    check_suffix(out, read=False)
    check_suffix(cases, read=True)
    check_writable(out)
    with writing(out) as file:
        return write_answers(file, out, (model, cases, answer), rows=rows, progress=progress)


def write_answers(
    file: BinaryIO,
    out: str | os.PathLike[str],
    asked: tuple[Network | FactorModel, str | os.PathLike[str], Answer],
    *,
    rows: int | None = None,
    progress: Progress | None = None,
) -> FileAnswers:
    """Write the answers to a file of cases to an open file, named ``out``; see `answer_file`."""
    total = file_rows(asked[1])
    report = FileAnswers(n_rows=0, columns=())
    writer = FrameWriter(file, out)
    try:
        for frame, report in answered_frames(*asked, rows=rows):
            writer.write(frame)
            if progress is not None:
                progress(report.n_rows, None if total is None else max(total, report.n_rows))
    finally:
        writer.close()
    return report


def answered_frames(
    model: Network | FactorModel,
    cases: str | os.PathLike[str],
    answer: Answer,
    *,
    rows: int | None = None,
) -> Iterator[tuple[pandas.DataFrame, FileAnswers]]:
    """Yield the answers to the rows of a file, in chunks, with the report so far.

    The parameters and errors are those of `answer_file`.
    """
    if rows is not None and rows < 1:
        raise InvalidArgumentError(f"rows must be at least 1, got {rows}", rows)
    if rows is None:
        rows = max(1000, min(100_000, _CELLS // max(1, len(model.variables))))
    faults: dict[str, str] = {}  # the first fault of each column and content
    n_faults = n_rows = n_impossible = 0
    impossible: list[int] = []
    as_text = is_text(cases)
    for number, chunk in enumerate(read_frames(cases, rows)):
        if not number:
            read_table(model.variables, chunk.iloc[:0], as_text=as_text)  # checks the columns
        n_rows += len(chunk)
        try:
            table = read_table(model.variables, chunk, as_text=as_text)
        except TableError as fault:
            for problem in fault.problems:  # row 7, column wet: …
                faults.setdefault(problem.partition(", ")[2], problem)
            n_faults += fault.count
        if faults:
            continue  # nothing will be written, but all faults are counted
        answers = answer(model, _in_states(table) if as_text else chunk)
        n_impossible += len(answers.impossible)
        impossible += [int(str(row)) for row in answers.impossible[: _MOST - len(impossible)]]
        frame = carrying(table.frame, table.unused, answers.frame)
        report = FileAnswers(
            n_rows=n_rows,
            columns=tuple(frame.columns),
            n_impossible=n_impossible,
            impossible=tuple(impossible),
            unused=tuple(map(str, table.unused)),
            close=tuple(table.close.items()),
        )
        yield frame, report
    if faults:
        raise TableError(list(faults.values())[:_SHOWN], count=n_faults)


def _in_states(table: CaseTable) -> pandas.DataFrame:
    """Return cases read from text, with states as categories."""
    import pandas

    frame = table.frame.copy()
    for column in table.columns.values():
        kind = pandas.CategoricalDtype(list(column.variable.states))
        frame[column.label] = pandas.Categorical.from_codes(column.positions, dtype=kind)
    return frame


def carrying(
    cases: pandas.DataFrame, unused: Sequence[Hashable], answers: pandas.DataFrame
) -> pandas.DataFrame:
    """Return answers after the columns that are not variables, with names as plain text.

    Raises
    ------
    TableError
        If such a column has the name of an answer, and other values.
    """
    import pandas

    if isinstance(answers.columns, pandas.MultiIndex):
        answers.columns = pandas.Index(["=".join(map(str, label)) for label in answers.columns])
    carried = cases.loc[answers.index, list(unused)]
    for label in unused:
        if label in answers.columns:
            if not carried[label].equals(answers[label]):
                raise TableError(
                    [f"the column {one_line(str(label))} of the cases has the name of an answer"]
                )
            carried = carried.drop(columns=[label])
    return pandas.concat([carried, answers], axis=1).rename(columns=str)
