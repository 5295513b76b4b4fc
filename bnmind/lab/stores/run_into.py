"""Running experiments into directories, from where an earlier run ended."""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bnmind._arguments import checked
from bnmind._bounded_files import SMALL_FILE, read_text
from bnmind._file_locks import locked
from bnmind._front_door import installed_version
from bnmind._messages import listed, shown
from bnmind._text_files import check_writable_directory, naming, write_file, write_files
from bnmind._workers import Backend, results_of
from bnmind.errors import FileWriteError, StoreError
from bnmind.lab.experiments.experiment import Batch, Experiment, Row
from bnmind.lab.experiments.files import experiment_to_toml
from bnmind.lab.stores.columns import arrow
from bnmind.lab.stores.environment import ENVIRONMENT, environment_text, read_environment
from bnmind.lab.stores.parts import (
    damage_of,
    is_part_name,
    part_name,
    set_aside,
    strange_files,
    write_part,
)
from bnmind.lab.stores.store import DETAILS, EXPERIMENT, Store, digest_of

__all__ = ["run_into"]

_PATIENCE = 0.5
"""Seconds to wait for another run, which may just be ending."""


@checked
def run_into(
    experiment: Experiment,
    directory: Path,
    *,
    workers: int | Backend = 1,
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
        The number of processes; 1 runs in this process, and −1 uses all cores. Or a backend.
    progress
        Called after each batch with the number of rows that this run has made, and the number
        that it has to make.

    Returns
    -------
    Store
        The directory with all rows.

    Raises
    ------
    StoreError
        If the directory holds another experiment, or rows of another version of bnmind, which the
        message compares; or if another run is writing into it.
    ExperimentFileError
        If a part of the experiment has no name.
    FileWriteError
        If a file cannot be written.
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
    text = experiment_to_toml(experiment)
    check_writable_directory(directory)
    with naming(str(directory)):
        directory.mkdir(parents=True, exist_ok=True)
    with _alone(directory):
        _begin(directory, text)
        missing = _missing(experiment, directory)
        total = sum(batch.n_rows for batch in missing)
        digest, done = digest_of(experiment), 0
        made = results_of([batch.run for batch in missing], workers)
        for batch, rows in zip(missing, made, strict=True):
            name = part_name(batch.number)
            # The rows come last: they say that the batch is finished.
            for place, row_type, part in (
                (directory / DETAILS / name, experiment.detail_type, rows.details),
                (directory / name, experiment.row_type, rows.rows),
            ):
                if part:
                    _make_folder(place.parent)
                    write_part(place, row_type, part, digest=digest, number=batch.number)
            done += batch.n_rows
            if progress is not None:
                progress(done, total)
    return Store(directory)


@contextmanager
def _alone(directory: Path) -> Iterator[None]:
    """Keep other runs out of a directory."""
    lock = locked(directory / EXPERIMENT, patience=_PATIENCE)
    try:
        lock.__enter__()
    except FileWriteError as error:
        raise StoreError(
            f"another run is writing into {directory}; wait until it ends, or name another"
            " directory",
            str(directory),
        ) from error
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


def _make_folder(folder: Path) -> None:
    with naming(str(folder)):
        folder.mkdir(exist_ok=True)


def _begin(directory: Path, text: str) -> None:
    """Write the experiment and the environment, or check that they are those of the directory."""
    path = directory / EXPERIMENT
    if not path.exists():
        for stranger in strange_files(directory, set()):
            raise StoreError(
                f"{directory} holds {stranger.name}, but no {EXPERIMENT}; name a new or an empty"
                " directory",
                str(directory),
            )
        write_files({directory / ENVIRONMENT: environment_text(), path: text})
        return
    before = read_text(path, most=SMALL_FILE)
    if before != text:
        faults = _differences(_content(before, path), tomllib.loads(text), "")
        raise StoreError(
            f"{directory} holds another experiment: {listed(faults)}; name another directory",
            str(directory),
        )
    environment = read_environment(directory)
    if environment["bnmind"] != installed_version():
        raise StoreError(
            f"{directory} holds rows of bnmind {environment['bnmind']}, and this is bnmind"
            f" {installed_version()}, whose rows may differ; name another directory",
            str(directory),
        )
    write_file(directory / ENVIRONMENT, environment_text(environment))


def _missing(experiment: Experiment, directory: Path) -> list[Batch]:
    """Return the batches without a file in order; set files aside that are not."""
    batches = experiment.batches()
    digest = digest_of(experiment)
    names = {part_name(batch.number) for batch in batches}
    for stranger in strange_files(directory, names):
        if not is_part_name(stranger.name):
            raise StoreError(
                f"{stranger} does not belong to the experiment, and would be read with its rows;"
                " move it elsewhere",
                str(stranger),
            )
        set_aside(stranger)
    missing = []
    for batch in batches:
        name = part_name(batch.number)
        detail = directory / DETAILS / name
        parts: list[tuple[Path, type[Row], int | None]] = [
            (directory / name, experiment.row_type, batch.n_rows)
        ]
        if detail.exists():
            parts.append((detail, experiment.detail_type, None))
        if not parts[0][0].exists():
            missing.append(batch)
            continue
        damaged = [
            path
            for path, row_type, n_rows in parts
            if damage_of(path, row_type, n_rows, digest=digest, number=batch.number) is not None
        ]
        for path in damaged:
            set_aside(path)
        if damaged or (batch.has_details and not detail.exists()):
            missing.append(batch)
    return missing


def _content(text: str, path: Path) -> Any:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise StoreError(f"{path} is damaged: {error}; name another directory", str(path)) from (
            error
        )


def _differences(there: Any, here: Any, place: str) -> list[str]:
    """Return the places where two plain values differ, and how."""
    if isinstance(there, Mapping) and isinstance(here, Mapping):
        names = [*there, *(name for name in here if name not in there)]
        return [
            fault
            for name in names
            for fault in _differences(
                there.get(name, _NOTHING), here.get(name, _NOTHING), f"{place}, {name}"
            )
        ]
    if _is_list(there) and _is_list(here) and len(there) == len(here):
        return [
            fault
            for number, (one, other) in enumerate(zip(there, here, strict=True), start=1)
            for fault in _differences(one, other, f"{place} {number}")
        ]
    if there == here:
        return []
    where = place.lstrip(", ") or "the file"
    return [f"{where} is {_told(there)} there and {_told(here)} here"]


_NOTHING = object()


def _told(value: Any) -> str:
    if value is _NOTHING:
        return "missing"
    tables = _is_list(value) and any(isinstance(one, Mapping) for one in value)
    return f"a list of {len(value)}" if tables else shown(value)


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)
