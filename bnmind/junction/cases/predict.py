"""Predictions for the cases of a data frame: states, distributions, likelihoods, missing cells."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.junction.cases.answers import CaseAnswers
from bnmind.junction.cases.solver import CaseSolver, solver_of
from bnmind.junction.cases.spelling import spelled
from bnmind.junction.cases.table import CaseTable, frame_of, read_table
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import name_text

if TYPE_CHECKING:
    import pandas

__all__ = [
    "Progress",
    "answered",
    "impute",
    "imputed",
    "log_likelihood",
    "log_likelihoods_of",
    "opened",
    "predict",
    "predict_proba",
    "predicted",
    "probabilities",
    "row_chunks",
    "target_names",
]

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
    return predicted(*opened(model, cases, limits), targets, progress)


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
    return probabilities(*opened(model, cases, limits), targets, progress)


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
    return log_likelihoods_of(*opened(model, cases, limits), progress)


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
    return imputed(*opened(model, cases, limits), progress)


def predicted(
    solver: CaseSolver,
    table: CaseTable,
    targets: Names | None = None,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the answers of `predict` to cases that are read already."""
    names = target_names(solver, table, targets)
    numbers = [solver.numbers[name] for name in names]
    found = np.full((len(names), len(table)), -1, dtype=np.int32)
    possible = np.ones(len(table), dtype=np.bool_)
    for rows, number, joint in _distributions(solver, table, numbers, possible, progress):
        found[numbers.index(number), rows] = _most_probable(joint)
    found[:, ~possible] = -1
    index = table.frame.index
    columns = {
        table.columns[name].label if name in table.columns else name: spelled(
            table, solver.variables[number], found[place], index
        )
        for place, (name, number) in enumerate(zip(names, numbers, strict=True))
    }
    return answered(table, _frame(columns, index), possible)


def probabilities(
    solver: CaseSolver,
    table: CaseTable,
    targets: Names | None = None,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the answers of `predict_proba` to cases that are read already."""
    import pandas

    names = target_names(solver, table, targets)
    numbers = [solver.numbers[name] for name in names]
    labels = [(name, s) for name in names for s in solver.variables[solver.numbers[name]].states]
    sizes = [solver.variables[number].n_states for number in numbers]
    starts = dict(zip(numbers, np.cumsum([0, *sizes[:-1]]).tolist(), strict=True))
    found = np.empty((len(table), len(labels)))
    possible = np.ones(len(table), dtype=np.bool_)
    for rows, number, joint in _distributions(solver, table, numbers, possible, progress):
        found[rows, starts[number] : starts[number] + joint.shape[1]] = joint
    found[~possible] = np.nan
    columns = pandas.MultiIndex.from_tuples(labels, names=["variable", "state"])
    frame = pandas.DataFrame(found, index=table.frame.index, columns=columns, copy=False)
    return answered(table, frame, possible)


def log_likelihoods_of(
    solver: CaseSolver, table: CaseTable, progress: Progress | None = None
) -> CaseAnswers:
    """Return the answers of `log_likelihood` to cases that are read already."""
    import pandas

    found = np.empty(len(table))
    for rows in row_chunks(solver, len(table)):
        found[rows] = solver.log_likelihoods(table.states(rows))
        if progress is not None:
            progress(rows.stop, len(table))
    possible = found > -np.inf
    found[~possible] = np.nan
    frame = pandas.DataFrame({"log_likelihood": found}, index=table.frame.index)
    return answered(table, frame, possible)


def imputed(solver: CaseSolver, table: CaseTable, progress: Progress | None = None) -> CaseAnswers:
    """Return the answers of `impute` to cases that are read already."""
    missing = {solver.numbers[name]: column.positions < 0 for name, column in table.columns.items()}
    missing = {number: flags for number, flags in missing.items() if flags.any()}
    found = {number: np.full(len(table), -1, dtype=np.int32) for number in missing}
    possible = np.ones(len(table), dtype=np.bool_)
    total = sum(int(np.count_nonzero(flags)) for flags in missing.values())
    done = 0
    for rows in row_chunks(solver, len(table), list(missing)):
        states = table.states(rows)
        shared = solver.shared(list(missing), states)
        possible[rows] = solver.possible(states) if shared is None else shared[0]
        for place, (number, flags) in enumerate(missing.items()):
            which = np.flatnonzero(flags[rows])
            if shared is None:
                joint = solver.marginals(number, states[:, which])
            else:
                joint = shared[1][place][which]
            found[number][rows.start + which] = _most_probable(joint)
            done += len(which)
            if progress is not None:
                progress(done, total)
    for positions in found.values():
        positions[~possible] = -1
    return answered(table, filled(solver, table, found), possible)


def filled(
    solver: CaseSolver, table: CaseTable, found: dict[int, NDArray[np.int32]]
) -> pandas.DataFrame:
    """Return the frame of the cases with missing cells replaced.

    Parameters
    ----------
    solver, table
        The model and the cases.
    found
        The new positions, ``(rows,)``, by the number of the variable; -1 leaves a cell missing.
    """
    frame = table.frame.copy()
    for number, positions in found.items():
        v = solver.variables[number]
        column = table.columns[v.name]
        merged = np.where(column.positions < 0, positions, column.positions)
        new = spelled(table, v, merged, table.frame.index)
        frame[column.label] = new.array
    return frame


def answered(table: CaseTable, frame: pandas.DataFrame, possible: NDArray[np.bool_]) -> CaseAnswers:
    """Return answers with the report of a table."""
    impossible: list[Hashable] = table.frame.index[~possible].tolist()
    return CaseAnswers(
        _table=frame, impossible=tuple(impossible), unused=table.unused, close=table.close
    )


def target_names(solver: CaseSolver, table: CaseTable, targets: Names | None) -> list[str]:
    """Return the names of the targets, which by default are the variables without a column."""
    if targets is None:
        names = [v.name for v in solver.variables if v.name not in table.columns]
        if not names:
            raise InvalidArgumentError(
                "every variable of the model has a column; name the targets, whose own columns are"
                " then not used; impute and complete fill the missing cells of all columns",
                targets,
            )
        return names
    try:
        names = [targets] if isinstance(targets, str) else list(map(name_text, targets))
    except TypeError:
        names = []
    if not names or len(set(map(str, names))) < len(names):
        raise InvalidArgumentError(
            f"expected targets as names of different variables, got {shown(targets)}", targets
        )
    for name in names:
        if name not in solver.numbers:
            raise UnknownNameError("variable", name, solver.numbers)
    return names


def row_chunks(solver: CaseSolver, n_rows: int, targets: Sequence[int] = ()) -> Iterator[slice]:
    """Yield the rows that are processed together, for distributions of some targets."""
    states = sum(solver.variables[number].n_states for number in targets)
    size = max(2**10, _CELLS // max(1, len(solver.variables), 2 * states))
    for start in range(0, n_rows, size):
        yield slice(start, min(start + size, n_rows))


def opened(
    model: Network | FactorModel, cases: Any, limits: Limits
) -> tuple[CaseSolver, CaseTable]:
    """Return a model and cases, prepared for each other."""
    solver = solver_of(model, limits)
    return solver, read_table(solver.variables, frame_of(cases))


def _distributions(
    solver: CaseSolver,
    table: CaseTable,
    targets: Sequence[int],
    possible: NDArray[np.bool_],
    progress: Progress | None,
) -> Iterator[tuple[slice, int, Floats]]:
    """Yield rows, a target and its distributions; mark the rows that are possible."""
    hidden = [solver.variables[number].name for number in targets]
    done, total = 0, len(table) * len(targets)
    for rows in row_chunks(solver, len(table), targets):
        states = table.states(rows, hidden)
        shared = solver.shared(targets, states)
        possible[rows] = solver.possible(states) if shared is None else shared[0]
        for place, number in enumerate(targets):
            yield rows, number, shared[1][place] if shared else solver.marginals(number, states)
            done += rows.stop - rows.start
            if progress is not None:
                progress(done, total)


def _most_probable(joint: Floats) -> NDArray[np.intp]:
    """Return the first of the most probable states of each row."""
    most = joint.max(axis=1, keepdims=True)
    return np.asarray(np.argmax(joint >= most * (1 - _TIE), axis=1), dtype=np.intp)


def _frame(columns: dict[Any, pandas.Series[Any]], index: pandas.Index[Any]) -> pandas.DataFrame:
    import pandas

    return pandas.DataFrame({label: column.array for label, column in columns.items()}, index=index)
