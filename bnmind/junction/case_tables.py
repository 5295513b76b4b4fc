"""Tables of cases: data frames whose columns are variables."""

from __future__ import annotations

import warnings
from collections.abc import Container, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import close_names, did_you_mean, one_line, shown, some_names
from bnmind.errors import InvalidArgumentError, TableError, UnknownNameError
from bnmind.junction.evidence import distinct_states, is_missing
from bnmind.pgm.variable import Variable, format_label, format_name

if TYPE_CHECKING:
    import pandas

# --- The distinct rows of a table of whole numbers, so that identical cases are computed once -----

_MOST_KEYS = 2**62


class Distinct(NamedTuple):
    """The distinct rows of a table."""

    first: NDArray[np.intp]
    """The number of the first row of each kind, ``(kinds,)``, ascending."""
    kind: NDArray[np.intp]
    """The kind of each row, ``(rows,)``."""

    def groups(self) -> list[NDArray[np.intp]]:
        """Return the rows of each kind."""
        if not len(self.first):
            return []
        order = np.argsort(self.kind, kind="stable")
        return np.split(order, np.cumsum(np.bincount(self.kind))[:-1])


def distinct_rows(columns: Iterable[tuple[NDArray[Any], int]], n_rows: int) -> Distinct:
    """Return the distinct rows of a table.

    A row is read as the digits of one number. Where that number would exceed 62 bits, the prefixes
    of the rows so far are numbered anew, so that the result is exact.

    Parameters
    ----------
    columns
        The whole numbers of each column, ``(rows,)``, from 0, and an upper bound of them.
    n_rows
        The number of rows.

    Examples
    --------
    >>> distinct = distinct_rows([(np.array([1, 0, 1]), 2), (np.array([2, 2, 2]), 3)], 3)
    >>> distinct.first.tolist(), distinct.kind.tolist()
    ([0, 1], [0, 1, 0])
    """
    import pandas

    keys = np.zeros(n_rows, dtype=np.int64)
    most = 1
    for digits, size in columns:
        if most * size >= _MOST_KEYS:
            keys, known = pandas.factorize(keys)
            most = max(1, len(known))
        keys = keys * size + digits
        most *= size
    kind, known = pandas.factorize(keys)
    first = np.empty(len(known), dtype=np.intp)
    first[kind[::-1]] = np.arange(n_rows)[::-1]  # of equal indices, the last assignment counts
    return Distinct(first, np.asarray(kind, dtype=np.intp))


def distinct_cases(states: NDArray[np.signedinteger[Any]]) -> Distinct:
    """Return the distinct cases, from state positions ``(variables, cases)``, -1 where missing."""
    seen = states[(states >= 0).any(axis=1)].astype(np.int64)
    return distinct_rows([(row + 1, int(row.max()) + 2) for row in seen], states.shape[1])


def patterns_of(states: NDArray[np.signedinteger[Any]]) -> Distinct:
    """Return the distinct sets of observed variables, from state positions."""
    packed = np.packbits(states >= 0, axis=0)
    return distinct_rows([(row, 256) for row in packed], states.shape[1])


# --- States that a reader of files may have taken for missing cells -------------------------------
#
# `pandas.read_csv` reads some texts, such as ``None`` and ``NA``, as missing cells. Where they are
# states of a variable, all cases with these states are lost without a word.

_READ_AS_MISSING = frozenset(
    (
        *("#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN"),
        *("", "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null"),
    )
)
"""The texts that `pandas.read_csv` takes for missing cells (pandas 2.2, ``na_values``)."""


class CaseTableWarning(UserWarning):
    """A table of cases can be read, but may not mean what its author thinks."""


def _warn_of_lost_states(columns: Iterable[Column]) -> None:
    """Warn if missing cells may have been states when the file was read.

    A column is suspected if some of its cells are missing, some are not, and the variable has the
    state ``None`` (or ``NA``, …), which neither a cell nor a category of the column holds.
    """
    lost = [
        f"{one_line(column.variable.name)} ({state})"
        for column in columns
        if not _READ_AS_MISSING.isdisjoint(states := column.variable.states)
        if np.any(column.positions < 0) and np.any(column.positions >= 0)
        for place, state in enumerate(states)
        if state in _READ_AS_MISSING and place not in column.places
    ]
    if lost:
        warnings.warn(
            f"these columns have missing cells, but never a state whose name pandas reads as"
            f" missing: {some_names(lost)}; if the cells held this state, read the"
            " file by pandas.read_csv(…, keep_default_na=False)",
            CaseTableWarning,
            stacklevel=2,
        )


# --- Cases as the columns of a data frame, read as state positions --------------------------------
#
# Columns are matched with variables by name. A cell holds a state as the user has it: text, a
# number, a truth value or a category. None, NaN and missing values of pandas are missing cells.
# Each distinct value of a column is looked up once.

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

    def states(self, rows: slice, hidden: Sequence[int] = ()) -> NDArray[np.int32]:
        """Return the positions of some rows, ``(variables, rows)``, -1 where missing.

        The variables whose numbers are in ``hidden`` are missing in every row.
        """
        n = len(range(*rows.indices(len(self))))
        states = np.full((len(self.variables), n), MISSING, dtype=np.int32)
        for number, v in enumerate(self.variables):
            if v.name in self.columns and number not in hidden:
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

    Raises
    ------
    TableError
        If a cell holds no state of its variable, two columns have the name of one variable, or no
        column has the name of a variable. The error names the first cell with each of ten wrong
        contents, with the label of its row and its column, and the number of all.
    """
    by_name = {v.name: v for v in variables}
    labels: dict[str, int] = {}
    unused: list[Hashable] = []
    twice = []
    for number, label in enumerate(frame.columns):
        name = format_name(label)
        if not isinstance(name, str) or name not in by_name:
            unused.append(label)
        elif name in labels:
            twice.append(f"two columns have the name of the variable {one_line(name)}")
        else:
            labels[name] = number
    if twice:
        raise TableError(twice)
    if not labels and by_name:
        some = f"no column has the name of a variable, such as {some_names(list(by_name))}"
        raise TableError([some + other_columns(frame.columns, by_name, list(by_name))])
    columns = {
        name: _column(by_name[name], frame.columns[number], frame.iloc[:, number], as_text=as_text)
        for name, number in labels.items()
    }
    _raise_unknown(frame, columns)
    if not as_text:
        _warn_of_lost_states(columns.values())
    return CaseTable(
        variables=tuple(variables),
        frame=frame,
        columns=columns,
        unused=tuple(unused),
        close=similar_variables(unused, [name for name in by_name if name not in labels]),
    )


def similar_variables(
    unused: Sequence[Hashable], free: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return the free variables with a name similar to that of an unused column."""
    labels = map(format_label, islice(unused, 200))  # comparing takes time
    return {label: close for label in labels if (close := close_names(label, free))}


def other_columns(labels: Iterable[Hashable], known: Container[str], absent: Sequence[str]) -> str:
    """Return a clause about the columns that are no variables, and those that may be meant.

    >>> other_columns(["EKG", "day", "age"], {"age", "ECG"}, ["ECG"])
    '; the columns that are no variables are EKG, day; did you mean ECG by EKG?'
    >>> other_columns(["rain;wet"], {"rain", "wet"}, ["rain", "wet"])
    "; is the separator ';'?"
    """
    names = list(map(format_label, labels))
    for sign in (";", "\t"):
        if len(names) == 1 and sign in names[0]:
            return f"; is the separator {sign!r}?"
    unused = [name for name in names if name and name not in known]
    if not unused:
        return ""
    text = f"; the columns that are no variables are {some_names(unused)}"
    for name in unused[:_FAULTS_SHOWN]:
        if close := close_names(name, absent):
            return f"{text}; {did_you_mean(close[:1])[:-1]} by {one_line(name)}?"
    return text


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
    mixed = series.dtype == object and pandas.api.types.infer_dtype(series) not in (
        *("string", "boolean", "integer", "floating", "empty"),
    )
    if mixed or series.dtype == np.float16:  # which pandas cannot factorize
        return distinct_states(list(series.to_numpy()))
    codes, known = pandas.factorize(series)
    return codes, _values(known)


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


def _raise_unknown(frame: pandas.DataFrame, columns: Mapping[str, Column]) -> None:
    """Raise an error that names the cells without a state of their variable, if there are any."""
    count = 0
    first: dict[tuple[str, str], tuple[int, Variable, Any]] = {}  # for each content of a column
    for column in columns.values():
        if _UNKNOWN in column.places:
            rows = np.flatnonzero(column.positions == _UNKNOWN)
            count += len(rows)
            contents = frame[column.label].iloc[rows[:_ROWS_COMPARED]].tolist()
            for row, content in zip(rows.tolist(), contents, strict=False):
                key = column.variable.name, repr(content)
                first.setdefault(key, (row, column.variable, content))
    if count:  # otherwise it is an unused category
        few = sorted(first.values(), key=lambda cell: cell[0])[:_FAULTS_SHOWN]
        faults = (
            f"row {one_line(str(frame.index[row]))}, column {one_line(variable.name)}:"
            f" {UnknownNameError('state', content, variable.states)}"
            for row, variable, content in few
        )
        raise TableError(faults, count=count)


# --- States as the column of a user has them: text, numbers, truth values or categories -----------


def spelled(table: CaseTable, variable: Variable, positions: NDArray[Any]) -> Any:
    """Return states of a variable as an array of pandas, with the values of its column.

    Parameters
    ----------
    table
        The cases. If they have a column of the variable, the result has its type, with a nullable
        type for whole numbers and truth values if a state is missing. A state that does not occur
        in the column is converted in the same way, if possible. Otherwise, states are text.
    variable
        The variable.
    positions
        State positions, ``(rows,)``; -1 becomes a missing value.
    """
    kind: Any = "str"
    known: dict[int, Any] = dict(enumerate(variable.states))
    if variable.name in table.columns:
        column = table.columns[variable.name]
        of_user = table.frame[column.label]
        kind = of_user.dtype
        known = dict(zip(reversed(column.places), reversed(column.values), strict=True))
    known[MISSING] = None
    # Only values that occur are converted to the type, each once.
    is_used = np.bincount(positions + 1, minlength=variable.n_states + 1) > 0
    values = [
        known[place] if place in known else _converted(of_user, variable.states[place])
        for place in (np.flatnonzero(is_used) - 1).tolist()
    ]
    return _array(values, kind).take((np.cumsum(is_used) - 1)[positions + 1])


def _array(values: list[Any], kind: Any) -> Any:
    """Return values as an array of the type of a column, or of one with room for them."""
    import pandas

    letter = getattr(kind, "kind", "")
    if isinstance(kind, pandas.CategoricalDtype):
        more = [v for v in values if v is not None and v not in kind.categories]
        if more:
            kind = pandas.CategoricalDtype([*kind.categories, *more], ordered=kind.ordered)
    elif None in values:
        kind = {"i": "Int64", "u": "UInt64", "b": "boolean"}.get(letter, kind)
    if letter == "b" and not all(v is None or isinstance(v, bool | np.bool_) for v in values):
        kind = object  # a cast would turn any text into True
    try:
        return pandas.array(values, dtype=kind)
    except (ValueError, TypeError, OverflowError):  # a state that does not fit among numbers
        return pandas.array(values, dtype=object)


def _converted(series: pandas.Series[Any], state: str) -> Any:
    """Return the text of a state as a value of a column, if possible."""
    kind = getattr(series.dtype, "kind", "O")
    if kind == "O" and len(present := series.dropna()):
        kind = {int: "i", float: "f", bool: "b"}.get(type(present.iloc[0]), "O")
    try:
        if kind == "b":
            return {"true": True, "false": False, "1": True, "0": False}[state.casefold()]
        if kind in "iu" and float(state).is_integer():
            return int(float(state))
        return float(state) if kind in "iuf" else state
    except (KeyError, ValueError, OverflowError):
        return state
