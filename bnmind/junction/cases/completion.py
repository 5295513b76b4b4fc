"""Joint completions of the cases of a data frame: most probable ones, and random ones."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import many
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.junction.cases.answers import CaseAnswers
from bnmind.junction.cases.joint_solver import Drawn, JointSolver, MostProbable, Pick
from bnmind.junction.cases.predict import Progress, answered, opened, row_chunks
from bnmind.junction.cases.solver import CaseSolver
from bnmind.junction.cases.spelling import spelled
from bnmind.junction.cases.table import CaseTable
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.queries.sampling import MOST_STATES
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import name_text

if TYPE_CHECKING:
    import pandas

__all__ = ["complete", "completed", "drawn", "sample_missing"]


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
    errors are those of `bnmind.predict`.

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
    return completed(*opened(model, cases, limits), progress)


@checked
def sample_missing(
    model: Network | FactorModel,
    cases: Any,
    *,
    rng: np.random.Generator,
    draws: int = 1,
    limits: Limits = DEFAULT_LIMITS,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the cases with all missing states drawn from their joint distribution given the row.

    Parameters
    ----------
    model, cases, limits, progress
        As for `bnmind.predict`.
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
        If there are too many states to draw, or as for `bnmind.predict`.
    TableError
        As for `bnmind.predict`.
    """
    if draws < 1:
        raise InvalidArgumentError(f"draws must be at least 1, got {draws}", draws)
    solver, table = opened(model, cases, limits)
    states = draws * len(table) * len(solver.variables)
    if states > MOST_STATES:
        raise TooLargeError(
            f"expected at most {MOST_STATES:,} states to draw at a time, got {many(states)}; draw"
            " fewer, or pass fewer rows",
            needed=states,
            budget=MOST_STATES,
        )
    return drawn(solver, table, rng, draws=draws, progress=progress)


def completed(
    solver: CaseSolver, table: CaseTable, progress: Progress | None = None
) -> CaseAnswers:
    """Return the answers of `complete` to cases that are read already."""
    return _completed(solver, table, MostProbable(), draws=1, progress=progress)


def drawn(
    solver: CaseSolver,
    table: CaseTable,
    rng: np.random.Generator,
    *,
    draws: int = 1,
    progress: Progress | None = None,
) -> CaseAnswers:
    """Return the answers of `sample_missing` to cases that are read already."""
    return _completed(solver, table, Drawn(rng), draws=draws, progress=progress)


def _completed(
    solver: CaseSolver, table: CaseTable, pick: Pick, *, draws: int, progress: Progress | None
) -> CaseAnswers:
    joint = JointSolver(solver)
    n, n_rows = len(solver.variables), len(table) * draws
    found = np.full((n, n_rows), -1, dtype=np.int32)
    possible = np.ones(n_rows, dtype=np.bool_)
    for rows in row_chunks(solver, len(table)):
        part = slice(rows.start * draws, rows.stop * draws)
        possible[part] = joint.fill(table.states(rows), draws, pick, found[:, part])
        if progress is not None:
            progress(rows.stop, len(table))
    return answered(table, _frame(solver, table, found, draws), possible[::draws])


def _frame(
    solver: CaseSolver, table: CaseTable, found: NDArray[np.int32], draws: int
) -> pandas.DataFrame:
    """Return the columns of the cases, completed, and those of the other variables."""
    import pandas

    index = table.frame.index.repeat(draws)
    labels: list[Any] = list(table.frame.columns)
    columns: list[Any] = []
    for place, name in enumerate(map(name_text, labels)):
        if isinstance(name, str) and name in table.columns:
            number = solver.numbers[name]
            columns.append(spelled(table, solver.variables[number], found[number], index).array)
        else:
            columns.append(table.frame.iloc[:, place].repeat(draws).array)
    for number, v in enumerate(solver.variables):
        if v.name not in table.columns:
            labels.append(v.name)
            columns.append(spelled(table, v, found[number], index).array)
    # Labels may be equal, so that they are set at the end.
    frame = pandas.DataFrame(dict(enumerate(columns)), index=index)
    frame.columns = pandas.Index(labels)
    return frame
