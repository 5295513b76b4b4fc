"""Opening stores: one run at a time, of the experiment that is there, with whole files only."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from bnmind._files import SMALL_FILE, LockHeldError, locked, read_text, write_file, write_files
from bnmind._front_door import installed_version
from bnmind._messages import listed, shown
from bnmind.errors import ModelFileError, TooLargeError
from bnmind.lab.experiments.experiment import Batch, Experiment, Row
from bnmind.lab.records import experiment_to_toml
from bnmind.lab.stores.environment import ENVIRONMENT, environment_text, read_environment
from bnmind.lab.stores.parts import (
    damage_of,
    is_part_name,
    part_name,
    set_aside,
    strange_files,
)
from bnmind.lab.stores.store import DETAILS, EXPERIMENT, digest_of

__all__ = ["alone", "begin", "missing_batches", "require_readable"]

_PATIENCE = 0.5
"""Seconds to wait for another run, which may just be ending."""


@contextmanager
def alone(directory: Path) -> Iterator[None]:
    """Keep other runs out of a directory.

    Raises
    ------
    ModelFileError
        If another run is writing into it.
    FileWriteError
        If it cannot be written.
    """
    lock = locked(directory / EXPERIMENT, patience=_PATIENCE)
    try:
        lock.__enter__()
    except LockHeldError as error:
        raise ModelFileError(
            f"another run is writing into {directory}; wait until it ends, or name another"
            " directory",
            str(directory),
        ) from error
    try:
        yield
    finally:
        lock.__exit__(None, None, None)


def require_readable(text: str) -> None:
    """Check, before any work, that the text of an experiment can be read back from its file.

    Raises
    ------
    TooLargeError
        If it is larger than the largest file that is read.
    """
    size = len(text.encode())
    if size > SMALL_FILE:
        raise TooLargeError(
            f"the file {EXPERIMENT} would have {size:,} bytes, and only files of up to"
            f" {SMALL_FILE:,} bytes are read; divide the experiment into several ones",
            needed=size,
            budget=SMALL_FILE,
        )


def begin(directory: Path, experiment: Experiment, sources: Mapping[str, str]) -> None:
    """Write the experiment and the environment, or check that they are those of the directory.

    Parameters
    ----------
    directory
        The directory, which exists.
    experiment
        The experiment.
    sources
        The digests of `own_sources` at the start of the run.

    Raises
    ------
    ModelFileError
        If the directory holds something else, or rows of a strategy of the user's own whose source
        has changed, or has a name that is not in UTF-8.
    """
    text = experiment_to_toml(experiment)
    try:
        str(directory).encode()
    except UnicodeEncodeError as fault:
        raise ModelFileError(
            f"the name of the directory {str(directory)!r} is not in UTF-8, and Arrow cannot read"
            " files in it; name another directory",
            str(directory),
        ) from fault
    path = directory / EXPERIMENT
    if not path.exists():
        for stranger in _strangers(directory, set()):
            raise ModelFileError(
                f"{directory} holds {stranger.name}, but no {EXPERIMENT}; name a new or an empty"
                " directory",
                str(directory),
            )
        write_files({directory / ENVIRONMENT: environment_text(sources), path: text})
        return
    before = read_text(path, most=SMALL_FILE)
    if before != text:
        faults = _differences(_content(before, path), tomllib.loads(text), "")
        raise ModelFileError(
            f"{directory} holds another experiment: {listed(faults)}; undo the change to go on"
            " from there, or name another directory to begin anew",
            str(directory),
        )
    environment = read_environment(directory)
    if environment["bnmind"] != installed_version():
        raise ModelFileError(
            f"{directory} holds rows of bnmind {environment['bnmind']}, and this is bnmind"
            f" {installed_version()}, whose rows may differ; name another directory",
            str(directory),
        )
    known = environment["sources"]
    if changed := [name for name in sources if known.get(name) != sources[name]]:
        raise ModelFileError(
            f"{directory} holds rows of {' and '.join(changed)} with other source code, in the"
            " module or in one that it imports; undo the change to go on from there, or remove the"
            " directory or name another one to begin anew",
            str(directory),
        )
    write_file(directory / ENVIRONMENT, environment_text(sources, environment))


def missing_batches(experiment: Experiment, directory: Path) -> list[Batch]:
    """Return the batches without a file in order; set files aside that are not."""
    batches = experiment.batches()
    digest = digest_of(experiment)
    names = {part_name(batch.number) for batch in batches}
    for stranger in _strangers(directory, names):
        if not is_part_name(stranger.name):
            raise ModelFileError(
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


def _strangers(directory: Path, known: set[str]) -> list[Path]:
    """Return the Parquet files whose names are not known, those of details too."""
    return [*strange_files(directory, known), *strange_files(directory / DETAILS, known)]


def _content(text: str, path: Path) -> Any:
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        message = f"{path} is damaged: {error}; name another directory"
        raise ModelFileError(message, str(path)) from error


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
