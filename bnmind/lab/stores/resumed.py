"""Games that are kept while they are played, until all of them are finished.

The games of finished batches are kept in a store of their own beside the results to come. Its name
contains a digest of the experiment, so that several experiments do not meet. A run that is
interrupted or killed goes on from there.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from contextlib import ExitStack, closing, suppress
from pathlib import Path

from bnmind._files import move, naming, remove_directory
from bnmind._workers import Executor, finished_of
from bnmind.errors import (
    FileWriteError,
    MissingLibraryError,
    ModelFileError,
    TooLargeError,
)
from bnmind.lab.experiments.experiment import BatchRows
from bnmind.lab.experiments.game_experiment import GameBatch, GameExperiment
from bnmind.lab.mastermind.comparison import GameRow
from bnmind.lab.records import experiment_to_toml
from bnmind.lab.stores.columns import arrow
from bnmind.lab.stores.environment import own_sources
from bnmind.lab.stores.opening import alone, begin, missing_batches, require_readable
from bnmind.lab.stores.run_into import write_batch
from bnmind.lab.stores.store import EXPERIMENT, Store, digest_of

__all__ = ["forget_unfinished", "resumed_games", "unfinished_place"]

_PREFIX = "unfinished-"


def unfinished_place(
    experiment: GameExperiment, directory: Path, *, sequential: bool = False
) -> Path | None:
    """Return where to keep the games of an experiment until all of them are finished.

    Parameters
    ----------
    experiment
        The experiment.
    directory
        The directory of the results.
    sequential
        Whether a rule may end the games early. They are then kept apart from those of a run that
        needs all of them, so that each run can remove its own.

    Returns
    -------
    Path or None
        None if they cannot be kept, because pyarrow is not installed, a player has no name by
        which a file could refer to it, or the file of the experiment would be too large.
    """
    try:
        arrow()
        require_readable(experiment_to_toml(experiment))
        end = "-until" if sequential else ""
        return directory / f"{_PREFIX}{digest_of(experiment)}{end}"
    except (MissingLibraryError, ModelFileError, TooLargeError):
        return None


def resumed_games(
    experiment: GameExperiment,
    place: Path | None,
    *,
    workers: int | Executor = 1,
    kept: Callable[[int], None] | None = None,
) -> Iterator[GameRow]:
    """Yield the rows of all games in order; those that are kept are not played again.

    Games are kept in batches. The last batch is not kept, since all games are then finished.

    Parameters
    ----------
    experiment
        The experiment, without rows for turns.
    place
        A directory to keep them in, which need not exist; None to keep nothing.
    workers
        The number of processes or an executor, as for `run`.
    kept
        Called at the start with the number of rows that are kept from an earlier run, if there are
        any.

    Raises
    ------
    ModelFileError
        If another run keeps its games there, or the source code of a strategy of your own has
        changed since.
    FileWriteError
        If the directory cannot be written.
    """
    batches = experiment.batches()
    sources = {} if place is None else own_sources(experiment)
    with ExitStack() as stack:
        missing = {batch.number for batch in batches}
        begun = place is not None and (place / EXPERIMENT).is_file()
        if place is not None and begun:
            stack.enter_context(alone(place))
            begin(place, experiment, sources)
            missing = {batch.number for batch in missing_batches(experiment, place)}
        known = sum(batch.n_rows for batch in batches if batch.number not in missing)
        if known and kept is not None:
            kept(known)
        left, digest = len(missing), digest_of(experiment) if place is not None else ""

        def keep(number: int, rows: Sequence[GameRow]) -> None:
            nonlocal left, begun
            left -= 1
            if place is None or not left:
                return
            if not begun:
                with naming(str(place)):
                    place.mkdir(parents=True, exist_ok=True)
                stack.enter_context(alone(place))
                begin(place, experiment, sources)
                begun = True
            write_batch(experiment, place, BatchRows(tuple(rows)), digest=digest, number=number)

        made = _made([batch for batch in batches if batch.number in missing], workers, keep)
        stack.enter_context(closing(made))
        store = None if place is None else Store(place)
        for batch in batches:
            if store is not None and batch.number not in missing:
                yield from store.rows_of(batch.number)
            else:
                yield from next(made)


def forget_unfinished(directory: Path, place: Path | None) -> None:
    """Remove the kept games of an experiment, once all its games are in files of their own.

    Parameters
    ----------
    directory
        The directory of the results.
    place
        Where the games were kept; None if nowhere.
    """
    for left in directory.glob(f".{_PREFIX}*"):
        remove_directory(left)  # a run was killed here
    if place is not None and place.is_dir():
        # In one step, so that a run that is killed now leaves all or nothing.
        with suppress(FileWriteError):
            move(place, place.with_name(f".{place.name}"))
    for left in directory.glob(f".{_PREFIX}*"):
        remove_directory(left)


def _made(
    batches: list[GameBatch],
    workers: int | Executor,
    keep: Callable[[int, Sequence[GameRow]], None],
) -> Generator[Iterator[GameRow], None, None]:
    """Yield the rows of each batch; in this process, each as soon as its game has ended.

    Batches are kept as soon as they are finished.
    """
    if workers == 1:
        for batch in batches:
            yield _kept(batch, keep)
        return
    early: dict[int, Sequence[GameRow]] = {}
    done = 0
    with closing(finished_of([batch.run for batch in batches], workers)) as finished:
        for number, result in finished:
            keep(batches[number].number, result.rows)
            early[number] = result.rows
            while done in early:
                yield iter(early.pop(done))
                done += 1


def _kept(batch: GameBatch, keep: Callable[[int, Sequence[GameRow]], None]) -> Iterator[GameRow]:
    rows = []
    for row in batch.play():
        rows.append(row)
        yield row
    keep(batch.number, rows)
