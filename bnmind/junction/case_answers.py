"""Predictions for each row of a table of cases, in memory or in a file."""

from __future__ import annotations

import os
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, BinaryIO, NamedTuple, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result
from bnmind._files import check_writable, writing
from bnmind._messages import counted, many, one_line
from bnmind._values import Count, Value
from bnmind.errors import InvalidArgumentError, TableError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.case_files import (
    check_suffix,
    file_rows,
    is_text,
    read_frames,
)
from bnmind.junction.case_solver import CaseSolver, States
from bnmind.junction.case_tables import CaseTable, frame_of, read_table, spelled
from bnmind.junction.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.sampling import MOST_STATES
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import format_label

if TYPE_CHECKING:
    import pandas

# --- The answers to a table of cases --------------------------------------------------------------

_SHOWN = 6


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CaseAnswers(Value):
    """The answers to the cases of a data frame, with a report.

    Functions such as `bnmind.predict` return such answers. Printing them shows the report and the
    first rows.
    """

    _table: pandas.DataFrame
    impossible: tuple[Hashable, ...]
    """The labels of the rows of probability zero, whose answers are NaN."""
    unused: tuple[Hashable, ...] = ()
    """The labels of the columns that are not variables of the model."""
    close: Mapping[str, tuple[str, ...]]
    """For such columns, variables without a column whose names are similar."""

    def __len__(self) -> int:
        return len(self._table)

    @property
    def frame(self) -> pandas.DataFrame:
        """The answers as a new `pandas.DataFrame`, with the index of the cases."""
        return self._table.copy()

    def to_series(self) -> pandas.Series[Any]:
        """Return the answers as a `pandas.Series`, if they are a single column.

        Raises
        ------
        InvalidArgumentError
            If there are several columns, or none.
        """
        if self._table.shape[1] != 1:
            raise InvalidArgumentError(
                f"expected answers of one column, got {self._table.shape[1]}; use frame", self
            )
        return self._table.iloc[:, 0].copy()

    @property
    def notes(self) -> tuple[str, ...]:
        """Remarks about the cases, in sentences."""
        counts = (len(self), len(self.impossible))
        return case_notes(counts, self.impossible, self.unused, self.close)

    def __repr__(self) -> str:
        n, m = self._table.shape
        impossible = f", {len(self.impossible):,} impossible" if self.impossible else ""
        return f"CaseAnswers({counted(n, 'row')}, {m:,} column{'s' if m != 1 else ''}{impossible})"

    def __str__(self) -> str:
        return "\n".join([repr(self), *self.notes, str(self._table.head(_SHOWN))])


def case_notes(
    counts: tuple[int, int],
    impossible: Sequence[Hashable],
    unused: Sequence[Hashable],
    close: Mapping[str, Sequence[str]],
) -> tuple[str, ...]:
    """Return what the caller should know about cases, in sentences.

    Parameters
    ----------
    counts
        The number of rows, and of impossible ones.
    impossible
        The labels of the impossible rows, or the first of them.
    unused
        The labels of the columns that are not variables.
    close
        For such columns, variables with a similar name.
    """
    notes = []
    n_rows, n = counts
    if n:
        verb = "have" if n > 1 else "has"
        text = f"{counted(n, 'row')} of {n_rows:,} {verb} probability zero and no answer"
        notes.append(f"{text}: {_some(impossible, n)}")
    if n := len(unused):
        verb = "are" if n > 1 else "is"
        notes.append(f"{counted(n, 'column')} {verb} not in the model: {_some(unused, n)}")
    notes += [
        f"the column {one_line(label)} is not a variable; did you mean {' or '.join(similar)}?"
        for label, similar in close.items()
    ]
    return tuple(notes)


def _some(labels: Sequence[Hashable], count: int) -> str:
    texts = [one_line(format_label(label) or str(label), longest=40) for label in labels[:_SHOWN]]
    return ", ".join(texts) + (", …" if count > _SHOWN else "")


# Predictions for the cases of a data frame: states, distributions, likelihoods, missing cells.

Progress: TypeAlias = Callable[[int, int | None], None]
"""Takes the amount of work done, and the total amount."""

Names: TypeAlias = str | Iterable[str | int]
"""The name of a variable, or several names; a whole number stands for the name of its digits."""

_TIE = 1e-9
"""States whose probabilities differ by a smaller factor are equally probable."""

_CELLS = 2**25
"""The number of cells that are processed at a time."""


@checked
def predict(
    model: Network | FactorModel,
    cases: Any,
    targets: Names | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the most probable state of each target in each case.

    Parameters
    ----------
    model
        A network, or a product of factors.
    cases
        A `pandas.DataFrame` with a row for each case, whose columns are matched with variables by
        name; or a mapping from names to columns. Cells are states: text, numbers, truth values or
        categories. None and NaN mark missing cells. Other columns are ignored and reported.
    targets
        The names of the variables to predict, or whole numbers as for columns; by default those
        without a column. The columns of the targets are never used as evidence.
    limits
        The limits of the computation, as in `compile_plan`.
    progress
        Called with the amount of work done and the total amount.

    Returns
    -------
    CaseAnswers
        Its `frame` has the index of the cases and a column for each target, with values as the
        column of the target has them. Of equally probable states, the first of the variable is
        chosen. Impossible rows are NaN, and reported.

    Raises
    ------
    TableError
        If a cell holds no state of its variable, or no column matches a variable. The error names
        the first ten cells with their rows and columns, and the number of all.
    UnknownNameError
        If a target is not a variable.
    TooLargeError
        If the computation would exceed its limits.
    CancellationError
        If a factor has negative numbers, and too few correct digits are left in some case.

    Examples
    --------
    >>> import pandas
    >>> from bnmind.pgm import TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> cases = pandas.DataFrame({"wet": ["yes", "no", None]})
    >>> predict(network, cases, "rain").frame["rain"].tolist()
    ['yes', 'no', 'no']
    """
    asked = _Asked.of(model, cases, limits, progress)
    numbers = asked.numbers_of(targets)
    found, possible = asked.most_probable(numbers, hidden=numbers)
    return asked.answered(asked.spelled(found), possible)


@checked
def predict_proba(
    model: Network | FactorModel,
    cases: Any,
    targets: Names | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the distribution of each target in each case.

    The parameters and errors are those of `predict`.

    Returns
    -------
    CaseAnswers
        Its `frame` has the index of the cases and a column ``(variable, state)`` for each state of
        each target. Impossible rows are NaN, and reported.
    """
    import pandas

    asked = _Asked.of(model, cases, limits, progress)
    numbers = asked.numbers_of(targets)
    variables = [asked.solver.variables[number] for number in numbers]
    labels = [(v.name, state) for v in variables for state in v.states]
    found = np.empty((len(asked.table), len(labels)))
    possible = np.ones(len(found), dtype=np.bool_)
    for rows, _, possible[rows], joints in asked.distributions(numbers, numbers):
        found[rows] = np.concatenate(joints, axis=1)
    found[~possible] = np.nan
    columns = pandas.MultiIndex.from_tuples(labels, names=["variable", "state"])
    index = asked.table.frame.index
    return asked.answered(pandas.DataFrame(found, index, columns, copy=False), possible)


@checked
def log_likelihood(
    model: Network | FactorModel,
    cases: Any,
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the natural logarithm of the probability of the observed cells of each case.

    The parameters and errors are those of `predict`.

    Returns
    -------
    CaseAnswers
        Its `to_series`, the single column of its `frame`, is named ``log_likelihood``. Impossible
        rows are NaN, and reported.
    """
    asked = _Asked.of(model, cases, limits, progress)
    found = np.empty(len(asked.table))
    for rows in asked.chunks():
        found[rows] = asked.solver.log_likelihoods(asked.table.states(rows))
    possible = found > -np.inf
    found[~possible] = np.nan
    return asked.answered({"log_likelihood": found}, possible)


@checked
def impute(
    model: Network | FactorModel,
    cases: Any,
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the cases with each missing cell replaced by its own most probable state.

    Each cell is predicted on its own, given the observed cells of its row. The predictions of a
    row may be improbable together; `complete` fills them jointly. The parameters and errors are
    those of `predict`.

    Returns
    -------
    CaseAnswers
        Its `frame` has the index and all columns of the cases. Missing cells of impossible rows
        stay missing, and the rows are reported.
    """
    asked = _Asked.of(model, cases, limits, progress)
    columns = asked.table.columns.items()
    numbers = [asked.solver.numbers[name] for name, c in columns if (c.positions < 0).any()]
    found, possible = asked.most_probable(numbers)
    return asked.answered(asked.filled(found), possible)


@checked
def complete(
    model: Network | FactorModel,
    cases: Any,
    *,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the cases with all missing states replaced by the most probable completion of a row.

    The states of a row are jointly the most probable ones (the most probable explanation), and may
    differ from the most probable states of single cells, which `impute` returns. The parameters and
    errors are those of `predict`.

    Returns
    -------
    CaseAnswers
        Its `frame` has the index and all columns of the cases, and then a column for each other
        variable. Missing cells of impossible rows stay missing, and the rows are reported.

    Examples
    --------
    >>> import pandas
    >>> from bnmind.pgm import TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.6, 0.4]),
    ...                    TabularCPD(wet, (rain,), [[0.5, 0.1], [0.5, 0.9]])))
    >>> complete(network, pandas.DataFrame({"wet": [None, "no"]})).frame.to_dict("list")
    {'wet': ['yes', 'no'], 'rain': ['yes', 'no']}
    """
    return _Asked.of(model, cases, limits, progress).completed(None, 1)


@checked
def sample_missing(
    model: Network | FactorModel,
    cases: Any,
    *,
    rng: np.random.Generator,
    draws: Count = 1,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the cases with all missing states drawn from their joint distribution given the row.

    Parameters
    ----------
    model, cases, limits, progress
        As for `predict`.
    rng
        The random generator. Equal generators give equal draws.
    draws
        The number of draws of each row, as for multiple imputation.

    Returns
    -------
    CaseAnswers
        Its `frame` has the columns of `complete`. The draws of a row follow each other, with the
        same label of the index.

    Raises
    ------
    InvalidArgumentError
        If ``draws`` is less than 1.
    TooLargeError
        If there are too many states to draw, or as for `predict`.
    TableError
        As for `predict`.
    """
    asked = _Asked.of(model, cases, limits, progress)
    states = draws * len(asked.table) * len(asked.solver.variables)
    if states > MOST_STATES:
        raise TooLargeError(
            f"expected at most {MOST_STATES:,} states to draw at a time, got {many(states)}; draw"
            " fewer, or pass fewer rows",
            needed=states,
            budget=MOST_STATES,
        )
    return asked.completed(rng, draws)


class _Asked(NamedTuple):
    """A model and cases, prepared for each other."""

    solver: CaseSolver
    table: CaseTable
    progress: Progress | None

    @classmethod
    def of(
        cls, model: Network | FactorModel, cases: Any, limits: Limits, progress: Progress | None
    ) -> Self:
        solver = CaseSolver.of(model, limits)
        return cls(solver, read_table(solver.variables, frame_of(cases)), progress)

    def numbers_of(self, targets: Names | None) -> list[int]:
        """Return the numbers of targets; by default of the variables without a column."""
        known = self.solver.numbers
        if targets is not None:
            given: Any = targets
            names = self.solver.planner.reader.names(given, "a prediction")
            return [known[name] for name in names]
        numbers = [known[name] for name in known if name not in self.table.columns]
        if not numbers:
            raise InvalidArgumentError(
                "every variable of the model has a column; name the targets, whose own columns are"
                " then not used; impute and complete fill the missing cells of all columns",
                targets,
            )
        return numbers

    def chunks(self, targets: Sequence[int] = ()) -> Iterator[slice]:
        """Yield the rows that are processed together, for distributions of some targets."""
        variables, n_rows = self.solver.variables, len(self.table)
        states = sum(variables[number].n_states for number in targets)
        size = max(2**10, _CELLS // max(1, len(variables), 2 * states))
        for start in range(0, n_rows, size):
            rows = slice(start, min(start + size, n_rows))
            yield rows
            if self.progress is not None:
                self.progress(rows.stop, n_rows)

    def distributions(
        self, targets: Sequence[int], hidden: Sequence[int]
    ) -> Iterator[tuple[slice, States, NDArray[np.bool_], Sequence[Floats]]]:
        """Yield rows, their states, whether they are possible, and the distributions of targets."""
        for rows in self.chunks(targets):
            states = self.table.states(rows, hidden)
            yield rows, states, *self.solver.distributions(targets, states)

    def most_probable(
        self, targets: Sequence[int], hidden: Sequence[int] = ()
    ) -> tuple[dict[int, NDArray[np.int32]], NDArray[np.bool_]]:
        """Return the states of targets by number, the most probable ones where they are missing.

        They stay missing in impossible rows. Which rows are possible is returned, too.
        """
        found = {number: np.empty(len(self.table), dtype=np.int32) for number in targets}
        possible = np.ones(len(self.table), dtype=np.bool_)
        for rows, states, part, joints in self.distributions(targets, hidden):
            possible[rows] = part
            for number, joint in zip(targets, joints, strict=True):
                most = joint.max(axis=1, keepdims=True)
                first = np.argmax(joint >= most * (1 - _TIE), axis=1)
                own = states[number]
                found[number][rows] = np.where((own < 0) & part, first, own)
        return found, possible

    def completed(self, rng: np.random.Generator | None, draws: int) -> CaseAnswers:
        """Return the most probable completion of each row, or draws."""
        n_rows = len(self.table) * draws
        found = np.full((len(self.solver.variables), n_rows), -1, dtype=np.int32)
        possible = np.ones(n_rows, dtype=np.bool_)
        for rows in self.chunks():
            part = slice(rows.start * draws, rows.stop * draws)
            possible[part] = self.solver.complete(
                self.table.states(rows), found[:, part], rng, draws
            )
        return self.answered(self.filled(dict(enumerate(found)), draws), possible[::draws])

    def spelled(self, found: Mapping[int, NDArray[np.int32]]) -> dict[Hashable, Any]:
        """Return columns of states by their labels, from positions by number."""
        columns: dict[Hashable, Any] = {}
        for number, positions in found.items():
            v = self.solver.variables[number]
            own = self.table.columns.get(v.name)
            columns[v.name if own is None else own.label] = spelled(self.table, v, positions)
        return columns

    def filled(self, found: Mapping[int, NDArray[np.int32]], draws: int = 1) -> pandas.DataFrame:
        """Return the cases with new states, and the columns of other variables after them.

        Parameters
        ----------
        found
            The new positions, ``(rows * draws,)``, by the number of the variable; -1 leaves a cell
            missing.
        draws
            How many rows follow each other for one of the cases.
        """
        import pandas

        frame = self.table.frame.iloc[np.repeat(np.arange(len(self.table)), draws)]
        places: dict[Hashable, int] = {label: at for at, label in enumerate(frame.columns)}
        columns = self.spelled(found)
        for label in columns.keys() & places.keys():
            frame.isetitem(places[label], columns.pop(label))
        added = pandas.DataFrame(columns, index=frame.index)
        return pandas.concat([frame, added], axis=1) if columns else frame

    def answered(self, answers: Any, possible: NDArray[np.bool_]) -> CaseAnswers:
        """Return answers, a frame or columns for each case, with the report of the cases."""
        import pandas

        cases = self.table.frame
        if not isinstance(answers, pandas.DataFrame):
            answers = pandas.DataFrame(answers, index=cases.index)
        impossible: list[Hashable] = cases.index[~possible].tolist()
        return CaseAnswers(
            _table=answers,
            impossible=tuple(impossible),
            unused=self.table.unused,
            close=self.table.close,
        )


# --- Answers to a file of cases, computed and written in chunks -----------------------------------

Answer: TypeAlias = "Callable[[Network | FactorModel, pandas.DataFrame], CaseAnswers]"
"""A function such as `bnmind.predict`."""

_FILE_CELLS = 2**22
_FAULTS_SHOWN = 10
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
    rows: Count | None = None,
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
        A ``.csv`` file for the answers. It starts with the columns that are not
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
        If the cases cannot be read, or are no table; if openpyxl is needed for a workbook and is
        not installed; or if the answers cannot be written.
    MissingLibraryError
        If pyarrow is needed for a Parquet file, and is not installed.
    """
    check_suffix(out, read=False)
    check_suffix(cases, read=True)
    check_writable(out)
    with writing(out) as file:
        return write_answers(file, (model, cases, answer), rows=rows, progress=progress)


def write_answers(
    file: BinaryIO,
    asked: tuple[Network | FactorModel, str | os.PathLike[str], Answer],
    *,
    rows: int | None = None,
    progress: Progress | None = None,
) -> FileAnswers:
    """Write the answers to a file of cases to an open file; see `answer_file`."""
    model, cases, answer = asked
    if rows is None:
        rows = max(1000, min(100_000, _FILE_CELLS // max(1, len(model.variables))))
    total = file_rows(cases)
    as_text = is_text(cases)
    n_rows = n_impossible = n_faults = 0
    impossible: list[int] = []
    faults: dict[str, str] = {}  # the first fault of each column and content
    for number, chunk in enumerate(read_frames(cases, rows)):
        if not number:
            read_table(model.variables, chunk.iloc[:0], as_text=as_text)  # checks the columns
        try:
            table = read_table(model.variables, chunk, as_text=as_text)
        except TableError as fault:
            for problem in fault.problems:  # row 7, column wet: …
                faults.setdefault(problem.partition(", ")[2], problem)
            n_faults += fault.count
        if faults:
            continue  # nothing will be written, but all faults are counted
        answers = answer(model, _in_states(table) if as_text else chunk)
        frame = carrying(table.frame, table.unused, answers.frame)
        file.write(frame.to_csv(index=False, header=not number, lineterminator="\n").encode())
        n_rows += len(chunk)
        n_impossible += len(answers.impossible)
        rest = _MOST - len(impossible)
        impossible += [int(str(row)) for row in answers.impossible[:rest]]
        if progress is not None:
            progress(n_rows, None if total is None else max(total, n_rows))
    if faults:
        raise TableError(list(faults.values())[:_FAULTS_SHOWN], count=n_faults)
    return FileAnswers(
        n_rows=n_rows,
        columns=tuple(frame.columns),
        n_impossible=n_impossible,
        impossible=tuple(impossible),
        unused=tuple(map(str, table.unused)),
        close=tuple(table.close.items()),
    )


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
