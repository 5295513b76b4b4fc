"""Cases as the columns of a data frame, read as state positions.

Columns are matched with variables by name. A cell holds a state as the user has it: text, a number,
a truth value or a category. None, NaN and missing values of pandas are missing cells. Each distinct
value of a column is looked up once.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from numbers import Number
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import one_line, shown
from bnmind.errors import InvalidArgumentError, TableError, UnknownNameError
from bnmind.junction.cases.lost_states import warn_of_lost_states
from bnmind.junction.inference.evidence import is_missing
from bnmind.pgm.variable import Variable, label_text, name_text

if TYPE_CHECKING:
    import pandas

__all__ = ["CaseTable", "Column", "close_names", "frame_of", "read_table", "separator_question"]

MISSING = -1
"""The position of a missing cell."""

_UNKNOWN = -2
_FAULTS_SHOWN = 10
_ROWS_COMPARED = 10_000

_MISSING_TEXTS = frozenset(["", "?", "na", "n/a", "nan", "null", "none", "<na>", "nat"])
"""Texts of a file, in lower case, that mark a missing cell unless they are states."""


_TRUTH_TEXTS = {"true": True, "false": False}
"""Texts of a file, in lower case, that pandas writes for truth values."""


@dataclass(frozen=True, kw_only=True)
class Column:
    """The column of a variable: its distinct values, and the position of each cell."""

    variable: Variable
    label: Hashable
    """The label of the column in the frame."""
    values: tuple[Any, ...]
    """The distinct values that are present, or the categories."""
    places: tuple[int, ...]
    """The position of each of these values; -1 for text that marks a missing cell."""
    positions: NDArray[np.int32]
    """The state position of each cell, -1 where it is missing."""


@dataclass(frozen=True, kw_only=True)
class CaseTable:
    """The cases of a data frame, matched with the variables of a model."""

    variables: tuple[Variable, ...]
    frame: pandas.DataFrame
    columns: Mapping[str, Column]
    """The columns of variables of the model, by the name of the variable."""
    unused: tuple[Hashable, ...]
    """The labels of the other columns."""
    close: Mapping[str, tuple[str, ...]]
    """For labels of other columns, variables without a column that have a similar name."""

    def __len__(self) -> int:
        return len(self.frame)

    def states(self, rows: slice, hidden: Sequence[str] = ()) -> NDArray[np.int32]:
        """Return the positions of some rows, ``(variables, rows)``, -1 where missing.

        The variables in ``hidden`` are missing in every row.
        """
        n = len(range(*rows.indices(len(self))))
        states = np.full((len(self.variables), n), MISSING, dtype=np.int32)
        for number, v in enumerate(self.variables):
            if v.name in self.columns and v.name not in hidden:
                states[number] = self.columns[v.name].positions[rows]
        return states


def frame_of(cases: Any) -> pandas.DataFrame:
    """Return cases as a data frame.

    Parameters
    ----------
    cases
        A `pandas.DataFrame`, an object with a method ``to_pandas``, or a mapping from names to
        columns of states.

    Raises
    ------
    InvalidArgumentError
        If it is anything else.
    """
    import pandas

    if isinstance(cases, pandas.DataFrame):
        return cases
    if callable(convert := getattr(cases, "to_pandas", None)) and not isinstance(cases, type):
        cases = convert()
        if isinstance(cases, pandas.DataFrame):
            return cases
    if isinstance(cases, Mapping):
        try:
            return pandas.DataFrame(dict(cases))
        except (ValueError, TypeError) as fault:
            raise InvalidArgumentError(f"the cases are not a table: {fault}", cases) from fault
    raise InvalidArgumentError(
        f"expected the cases as a pandas.DataFrame with a column for each observed variable, got"
        f" {shown(cases)}",
        cases,
    )


def read_table(
    variables: Sequence[Variable],
    frame: pandas.DataFrame,
    *,
    as_text: bool = False,
    first_row: int | None = None,
) -> CaseTable:
    """Return the cases of a data frame, matched with variables.

    Parameters
    ----------
    variables
        The variables of the model.
    frame
        The cases.
    as_text
        Whether all cells are the text of a file. Texts such as ``NA`` then mark missing cells
        unless they are states, and the text of a number or a truth value matches the state of
        an equal one.
    first_row
        The number of the first row in error messages; by default, rows have the labels of the
        index.

    Raises
    ------
    TableError
        If a cell holds no state of its variable, two columns have the name of one variable, or no
        column has the name of a variable. The error names the first cell with each of ten wrong
        contents, with its row and column, and the number of all.
    """
    by_name = {v.name: v for v in variables}
    labels: dict[str, int] = {}
    unused: list[Hashable] = []
    twice = []
    for number, label in enumerate(frame.columns):
        name = name_text(label)
        if not isinstance(name, str) or name not in by_name:
            unused.append(label)
        elif name in labels:
            twice.append(f"two columns have the name of the variable {one_line(name)}")
        else:
            labels[name] = number
    if twice:
        raise TableError(twice)
    close = close_names(unused, [name for name in by_name if name not in labels])
    if not labels and by_name:
        raise TableError([_no_column(frame, variables, close)])
    columns = {
        name: _column(by_name[name], frame.columns[number], frame.iloc[:, number], as_text=as_text)
        for name, number in labels.items()
    }
    _raise_unknown(frame, columns, first_row)
    if not as_text:
        warn_of_lost_states((c.variable, c.positions, c.places) for c in columns.values())
    return CaseTable(
        variables=tuple(variables),
        frame=frame,
        columns=columns,
        unused=tuple(unused),
        close=close,
    )


def close_names(unused: Sequence[Hashable], free: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return the free variables with a name similar to that of an unused column."""
    found: dict[str, tuple[str, ...]] = {}
    for label in islice(unused, 200):  # comparing takes time
        text = label_text(label)
        if similar := UnknownNameError("variable", text, free).close:
            found[text] = similar
    return found


def _no_column(
    frame: pandas.DataFrame, variables: Sequence[Variable], close: Mapping[str, tuple[str, ...]]
) -> str:
    def some(names: Sequence[str]) -> str:
        return ", ".join(map(one_line, names[:6])) + (", …" if len(names) > 6 else "")

    text = (
        f"no column has the name of a variable: the columns are"
        f" {some([label_text(label) for label in frame.columns]) or 'none'}; the variables are"
        f" {some([v.name for v in variables])}"
    )
    if question := separator_question(frame.columns):
        return text + question
    for label, similar in islice(close.items(), 1):
        text += f"; did you mean {similar[0]} by {label}?"
    return text


def separator_question(labels: Iterable[Hashable]) -> str:
    """Return the question whether the cells of a file are separated by semicolons or tabs.

    >>> separator_question(["rain;wet"]), separator_question(["rain", "wet"])
    ("; is the separator ';'?", '')
    """
    names = list(islice(map(label_text, labels), 2))
    found = [sign for sign in (";", "\t") if len(names) == 1 and sign in names[0]]
    return f"; is the separator {found[0]!r}?" if found else ""


def _column(
    variable: Variable, label: Hashable, series: pandas.Series[Any], *, as_text: bool
) -> Column:
    codes, values = _coded(series)
    places = [_place(variable, value, as_text=as_text) for value in values]
    # The last entry is for the code -1, a missing cell.
    lookup = np.array([*places, MISSING], dtype=np.int32)
    return Column(
        variable=variable,
        label=label,
        values=tuple(values),
        places=tuple(places),
        positions=lookup[codes],
    )


def _coded(series: pandas.Series[Any]) -> tuple[NDArray[Any], list[Any]]:
    """Return the number of each cell's value, -1 where it is missing, and the values."""
    import pandas

    if isinstance(series.dtype, pandas.CategoricalDtype):
        return series.cat.codes.to_numpy(), _values(series.cat.categories)
    if series.dtype == np.float16:  # which pandas cannot factorize
        few, number = np.unique(series.to_numpy(), return_inverse=True)
        series = pandas.Series(np.array([float(str(value)) for value in few])[number])
    mixed = series.dtype == object and pandas.api.types.infer_dtype(series) not in (
        *("string", "boolean", "integer", "floating", "empty"),
    )
    if not mixed:
        codes, known = pandas.factorize(series)
        return codes, _values(known)
    # Equal values of different types, such as 1 and True, may be different states.
    numbers: dict[Any, int] = {}
    values: list[Any] = []
    codes = np.full(len(series), -1, dtype=np.intp)
    for row, value in enumerate(series.tolist()):
        if is_missing(value):
            continue
        key = (type(value), value if isinstance(value, str | Number | np.generic) else repr(value))
        if key not in numbers:
            numbers[key] = len(values)
            values.append(value)
        codes[row] = numbers[key]
    return codes, values


def _values(known: pandas.Index[Any]) -> list[Any]:
    """Return values as Python has them; numbers of low precision by their shortest text."""
    kind: Any = known.dtype
    if getattr(kind, "kind", "") == "f" and kind.itemsize < 8:
        return [float(str(value)) for value in known.to_numpy(dtype=f"f{kind.itemsize}")]
    return list(known.tolist())


def _place(variable: Variable, value: Any, *, as_text: bool) -> int:
    """Return the position of a value; -1 where it is missing, -2 if there is no such state."""
    if isinstance(value, np.floating) and value.itemsize < 8:
        value = float(str(value))
    try:
        return variable.index(value)
    except UnknownNameError:
        if not (as_text and isinstance(value, str)):
            return MISSING if is_missing(value) else _UNKNOWN
    text = value.strip()
    if text in variable.states:
        return variable.states.index(text)
    if text.casefold() in _MISSING_TEXTS:
        return MISSING
    try:
        truth = _TRUTH_TEXTS.get(text.casefold())
        return variable.index(float(text) if truth is None else truth)
    except (ValueError, UnknownNameError):
        return _UNKNOWN


def _raise_unknown(
    frame: pandas.DataFrame, columns: Mapping[str, Column], first_row: int | None
) -> None:
    """Raise an error that names the cells without a state of their variable, if there are any."""
    wrong = [column for column in columns.values() if _UNKNOWN in column.places]
    if not wrong:
        return
    cells = [np.flatnonzero(column.positions == _UNKNOWN) for column in wrong]
    count = sum(map(len, cells))
    if not count:  # an unused category
        return
    first: dict[tuple[int, str], tuple[int, int, Any]] = {}  # the first cell with each content
    for number, rows in enumerate(cells):
        contents = frame[wrong[number].label].iloc[rows[:_ROWS_COMPARED]].tolist()
        for row, content in zip(rows.tolist(), contents, strict=False):
            first.setdefault((number, repr(content)), (row, number, content))
    shown_first = sorted(first.values(), key=lambda cell: cell[:2])[:_FAULTS_SHOWN]

    def faults() -> Iterator[str]:
        for row, number, content in shown_first:
            column = wrong[number]
            label = str(frame.index[row]) if first_row is None else f"{row + first_row:,}"
            fault = UnknownNameError("state", content, column.variable.states)
            yield f"row {one_line(label)}, column {one_line(column.variable.name)}: {fault}"

    raise TableError(faults(), count=count)
