"""Running experiments into directories, from where an earlier run ended."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from bnmind._arguments import checked
from bnmind._files import check_writable_directory, naming
from bnmind._workers import Executor, finished_of
from bnmind.lab.experiments.experiment import BatchRows, Experiment
from bnmind.lab.records import experiment_to_toml
from bnmind.lab.stores.columns import arrow
from bnmind.lab.stores.environment import own_sources
from bnmind.lab.stores.opening import alone, begin, missing_batches, require_readable
from bnmind.lab.stores.parts import part_name, write_part
from bnmind.lab.stores.store import DETAILS, Store, digest_of

__all__ = ["run_into", "write_batch"]


@checked
def run_into(
    experiment: Experiment,
    directory: Path,
    *,
    workers: int | Executor = 1,
    progress: Callable[[int, int], None] | None = None,
) -> Store:
    r"""Run an experiment, and write its rows into a directory batch by batch.

    If the directory holds some batches of the experiment already, only the others run. Each batch
    is a file, which is written whole or not at all, so that a run that is killed at any moment
    loses at most the batches that were running. A damaged file is renamed to ``….damaged``, and its
    batch runs again.

    Parameters
    ----------
    experiment
        The experiment; its parts need names for the file (see `experiment_to_toml`).
    directory
        The directory, which is made if it is missing.
    workers
        The number of processes; 1 runs in this process, and −1 uses all cores. Or an executor.
    progress
        Called after each batch with the number of rows that this run has made, and the number
        that it has to make.

    Returns
    -------
    Store
        The directory with all rows.

    Raises
    ------
    ModelFileError
        If the directory holds another experiment, or rows of another version of bnmind, which the
        message compares; or rows of a strategy of your own whose source code has changed since; or
        if another run is writing into it.
    ModelFileError
        If a part of the experiment has no name.
    FileWriteError
        If a file cannot be written.
    TooLargeError
        If the file with the experiment would be larger than the largest that is read.
    MissingLibraryError
        If pyarrow is not installed.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> from bnmind.lab import experiment_from_text
    >>> experiment = experiment_from_text(
    ...     'kind = "games"\nboard = "2x3"\nnoise = "exact"\nstrategies = "knuth"\ngames = "all"'
    ... )
    >>> with TemporaryDirectory() as directory:
    ...     store = run_into(experiment, Path(directory) / "results")
    ...     store.frame["guesses"].mean()
    np.float64(2.6666666666666665)
    """
    arrow()  # raises if it is missing
    require_readable(experiment_to_toml(experiment))
    check_writable_directory(directory)
    with naming(str(directory)):
        directory.mkdir(parents=True, exist_ok=True)
    with alone(directory):
        begin(directory, experiment, own_sources(experiment))
        missing = missing_batches(experiment, directory)
        total = sum(batch.n_rows for batch in missing)
        digest, done = digest_of(experiment), 0
        # A batch is written as soon as it is finished, even if one before it is not.
        for place, rows in finished_of([batch.run for batch in missing], workers):
            batch = missing[place]
            write_batch(experiment, directory, rows, digest=digest, number=batch.number)
            done += batch.n_rows
            if progress is not None:
                progress(done, total)
    return Store(directory)


def write_batch(
    experiment: Experiment, directory: Path, rows: BatchRows, *, digest: str, number: int
) -> None:
    """Write the rows of a batch; the last file to be written says that it is finished.

    Parameters
    ----------
    experiment
        The experiment.
    directory
        The directory of the results.
    rows
        The rows of the batch.
    digest
        The text that identifies the experiment; see `digest_of`.
    number
        The number of the batch, from 0.
    """
    name = part_name(number)
    for place, row_type, part in (
        (directory / DETAILS / name, experiment.detail_type, rows.details),
        (directory / name, experiment.row_type, rows.rows),
    ):
        if part:
            with naming(str(place.parent)):
                place.parent.mkdir(exist_ok=True)
            write_part(place, row_type, part, digest=digest, number=number)
