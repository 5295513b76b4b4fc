"""Running experiments in memory."""

from __future__ import annotations

from collections.abc import Callable

from bnmind._arguments import checked
from bnmind._messages import many
from bnmind._workers import Executor, results_of
from bnmind.errors import TooLargeError
from bnmind.lab.experiments.experiment import Experiment, Results, Row

__all__ = ["MOST_ROWS", "run"]

MOST_ROWS = 2**21
"""The largest number of rows of an experiment in memory, without the details: about 600 MB."""


@checked
def run(
    experiment: Experiment,
    *,
    workers: int | Executor = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Run an experiment, and return its rows.

    The rows depend on the experiment alone, except for measured seconds, which equality of rows
    ignores. For large experiments, and to go on after an interruption, see `run_into`.

    Parameters
    ----------
    experiment
        The experiment.
    workers
        The number of processes; 1 runs in this process, and −1 uses all cores. Or an executor.
    progress
        Called after each batch with the number of rows so far and the total number of rows.

    Raises
    ------
    TooLargeError
        If there are more than `MOST_ROWS` rows.
    """
    if experiment.n_rows > MOST_ROWS:
        raise TooLargeError(
            f"memory holds at most {MOST_ROWS:,} rows of an experiment, and this one has"
            f" {many(experiment.n_rows)}; use run_into, which writes them to a directory",
            needed=experiment.n_rows,
            budget=MOST_ROWS,
        )
    rows: list[Row] = []
    details: list[Row] = []
    for batch in results_of([batch.run for batch in experiment.batches()], workers):
        rows += batch.rows
        details += batch.details
        if progress is not None:
            progress(len(rows), experiment.n_rows)
    return Results(experiment, tuple(rows), tuple(details))
