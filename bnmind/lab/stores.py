"""Stores: directories with the rows of an experiment, the experiment, and the environment.

::

    experiment.toml         the experiment
    environment.json        the version of bnmind, digests of the source code of strategies of your
                            own, and the libraries and the date of each run
    part-000000.parquet     the rows of the first batch
    details/part-….parquet  the rows of its turns or questions, if there are any
    ….damaged               files that were set aside

`run_into` makes them, one run at a time, and goes on where an earlier run ended. Each file is there
whole or not at all, with the same columns of the same types. Any program that reads Parquet reads
the rows; with DuckDB::

    SELECT strategy, avg(guesses) FROM read_parquet('DIRECTORY/*.parquet') GROUP BY strategy
"""

from __future__ import annotations

import hashlib
import io
import json
import platform
import re
import tomllib
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager, ExitStack, closing, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._files import (
    SMALL_FILE,
    check_writable_directory,
    locked,
    move,
    naming,
    parse_document,
    read_text,
    remove_directory,
    write_file,
    write_files,
)
from bnmind._front_door import installed_version
from bnmind._messages import listed, one_line, shown
from bnmind._values import Value
from bnmind._workers import finished_of
from bnmind.errors import (
    MissingLibraryError,
    ModelFileError,
    TooLargeError,
)
from bnmind.lab.experiments import (
    Batch,
    BatchRows,
    Experiment,
    Results,
    Row,
    columns_of,
    kinds_of_columns,
    typed_frame,
)
from bnmind.lab.game_experiments import GameBatch, GameExperiment
from bnmind.lab.mastermind.comparison import GameRow
from bnmind.lab.records import EXPERIMENTS, experiment_to_toml, read_experiment
from bnmind.strategies.registry import source_digest

if TYPE_CHECKING:
    import pandas as pd


def arrow() -> Any:
    """Return the module pyarrow, with its Parquet; raise `MissingLibraryError` without it."""
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise MissingLibraryError(
            'directories of results need pyarrow; install it with: pip install "bnmind[lab]"',
            "pyarrow",
        ) from error
    return pyarrow


def schema_of(row_type: type[Row]) -> Any:
    """Return the Arrow schema of a dataclass of rows.

    The types do not depend on the rows, so a column without a value has the type of the others.
    """
    pa = arrow()
    types = {bool: pa.bool_(), int: pa.int64(), float: pa.float64(), str: pa.string()}
    return pa.schema(
        pa.field(name, types[kind], nullable=may_be_missing)
        for name, kind, may_be_missing in kinds_of_columns(row_type)
    )


_DAMAGED = ".damaged"
_KEY = b"bnmind"
_NAME = re.compile(r"part-[0-9]{6,}\.parquet")


def part_name(number: int) -> str:
    """Return the name of the file of a batch.

    >>> part_name(123)
    'part-000123.parquet'
    """
    return f"part-{number:06d}.parquet"


def write_part(
    path: Path, row_type: type[Row], rows: Sequence[Row], *, digest: str, number: int
) -> None:
    """Write the rows of a batch; the mark of its experiment and number is kept in the file."""
    schema = schema_of(row_type).with_metadata({_KEY: _mark(digest, number)})
    table = arrow().table(dict(columns_of(row_type, rows)), schema=schema)
    content = io.BytesIO()
    arrow().parquet.write_table(table, content, write_page_checksum=True)
    write_file(path, content.getvalue())


def damage_of(
    path: Path, row_type: type[Row], n_rows: int | None, *, digest: str, number: int
) -> str | None:
    """Return what is wrong with the file of a batch; None if it is in order.

    All of it is read, and the checksums of its pages are compared. The number of rows may be
    unknown. A file that may not be read raises `ModelFileError`.
    """
    try:
        with path.open("rb") as file:
            table = arrow().parquet.ParquetFile(file, page_checksum_verification=True).read()
    except PermissionError as error:
        raise ModelFileError(f"cannot read {path} ({error.strerror})", str(path)) from error
    except (arrow().ArrowException, OSError, ValueError) as error:
        return one_line(str(error), longest=100) or type(error).__name__
    if (table.schema.metadata or {}).get(_KEY) != _mark(digest, number):
        return "it belongs to another experiment or batch"
    if not table.schema.equals(schema_of(row_type)):
        return "its columns are other ones"
    if n_rows is not None and table.num_rows != n_rows:
        return f"it has {table.num_rows:,} rows instead of {n_rows:,}"
    return None


def set_aside(path: Path) -> Path:
    """Rename a damaged file, so that it is kept but not read; return its new name."""
    new, number = path.with_name(path.name + _DAMAGED), 1
    while new.exists():
        number += 1
        new = path.with_name(f"{path.name}{_DAMAGED}-{number}")
    move(path, new)
    return new


def _mark(digest: str, number: int) -> bytes:
    content: dict[str, Any] = {"experiment": digest, "batch": number}
    return json.dumps(content).encode()


ENVIRONMENT = "environment.json"
"""The name of the file."""

_SCHEMA, _VERSION = "bnmind-results", 1
"""Of the file with the environment."""

_LIBRARIES = ("numpy", "numba", "scipy", "pandas", "pyarrow")


def own_sources(experiment: Experiment) -> dict[str, str]:
    """Return the digest of the source of each strategy of the user's own, by its name in files."""
    settings = experiment.settings if isinstance(experiment, GameExperiment) else ()
    names = {one.source or one.strategy.name for setting in settings for one in setting.players}
    digests = {name: source_digest(name) for name in sorted(names)}
    return {name: digest for name, digest in digests.items() if digest is not None}


def format_environment(sources: Mapping[str, str], before: Mapping[str, Any] | None = None) -> str:
    """Return the content of the file, with the run that begins now after those before."""
    now = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        **{name: _version(name) for name in _LIBRARIES},
    }
    runs = [] if before is None else list(before["runs"])
    content = {"schema": _SCHEMA, "version": _VERSION, "bnmind": installed_version()}
    return json.dumps({**content, "sources": dict(sources), "runs": [*runs, now]}, indent=2) + "\n"


def read_environment(directory: Path) -> dict[str, Any]:
    """Return the environment of the runs into a directory; see `Store.environment`.

    Raises
    ------
    ModelFileError
        If the file is missing or damaged.
    """
    path = directory / ENVIRONMENT
    try:
        content = parse_document(read_text(path, most=SMALL_FILE), _SCHEMA, _VERSION)
    except ModelFileError as error:
        raise ModelFileError(
            f"expected the environment of a run in {path}: {error}", str(path)
        ) from error
    content = {"sources": {}, **content}
    kinds = {"bnmind": str, "sources": dict, "runs": list}
    if not all(isinstance(content.get(key), kind) for key, kind in kinds.items()):
        raise ModelFileError(f"expected bnmind, sources and runs in {path}", str(path))
    return content


def _version(library: str) -> str | None:
    try:
        return version(library)
    except PackageNotFoundError:
        return None


EXPERIMENT = "experiment.toml"
"""The name of the file with the experiment."""

DETAILS = "details"
"""The name of the folder with the rows of turns or questions."""


@dataclass(frozen=True)
class Store(Value):
    """A directory with the rows of an experiment, made by `run_into` or `read_store`.

    The properties read the files anew each time.
    """

    directory: Path
    """The directory."""

    @cached_property
    def experiment(self) -> Experiment:
        """The experiment."""
        return read_experiment(self.directory / EXPERIMENT)

    @property
    def environment(self) -> dict[str, Any]:
        """The versions of bnmind and of libraries, the date of each run, and ``sources``.

        These are digests of the source code of strategies of your own, by name.
        """
        return read_environment(self.directory)

    @property
    def parts(self) -> tuple[Path, ...]:
        """The files with the rows of finished batches, in their order."""
        return tuple(
            self.directory / part_name(batch.number)
            for batch in self.experiment.batches()
            if self._has(batch)
        )

    @property
    def n_rows(self) -> int:
        """The number of rows of finished batches."""
        if not (self.directory / EXPERIMENT).is_file():
            return 0
        return sum(batch.n_rows for batch in self.experiment.batches() if self._has(batch))

    @property
    def damaged(self) -> tuple[Path, ...]:
        """The files that were set aside because they were damaged."""
        return tuple(sorted(self.directory.rglob(f"*{_DAMAGED}*")))

    @property
    def is_complete(self) -> bool:
        """Whether all batches are finished."""
        return len(self.parts) == len(self.experiment.batches())

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a new pandas data frame.

        Raises
        ------
        ModelFileError
            If a file is damaged; the error names it.
        """
        row_type = self.experiment.row_type
        return typed_frame(row_type, self._table(row_type, self.parts).to_pandas())

    @property
    def detail_frame(self) -> pd.DataFrame:
        """The rows of turns or questions as a new pandas data frame."""
        row_type = self.experiment.detail_type
        return typed_frame(row_type, self._table(row_type, self._detail_parts).to_pandas())

    @checked
    def rows_of(self, number: int) -> tuple[Row, ...]:
        """Return the rows of a finished batch, without the details.

        Parameters
        ----------
        number
            The number of the batch, from 0.

        Raises
        ------
        ModelFileError
            If the batch is not finished, or its file is damaged.
        """
        path, row_type = self.directory / part_name(number), self.experiment.row_type
        if not path.is_file():
            raise ModelFileError(f"batch {number} is not finished: there is no {path}", str(path))
        return _rows(row_type, self._table(row_type, (path,)))

    @property
    def results(self) -> Results:
        """The rows in memory, those of finished batches, as `run` returns them."""
        experiment = self.experiment
        rows = _rows(experiment.row_type, self._table(experiment.row_type, self.parts))
        details = self._table(experiment.detail_type, self._detail_parts)
        return Results(experiment, rows, _rows(experiment.detail_type, details))

    @property
    def summary(self) -> pd.DataFrame:
        """The means of each strategy in each setting, or of each selector, as a new data frame.

        Columns: what tells the rows of the summary apart, ``rows``, and for each measure its mean
        (``guesses``), the standard error (``guesses_error``) and the largest value
        (``guesses_most``).
        """
        kind = EXPERIMENTS[self.experiment.kind]
        columns = [*kind.keys, *kind.measures]
        table = self._table(self.experiment.row_type, self.parts, columns)
        return _summary(table, kind.keys, kind.measures)

    def _has(self, batch: Batch) -> bool:
        """Return whether a batch is finished: its rows are there, and those of its details."""
        name = part_name(batch.number)
        if not (self.directory / name).is_file():
            return False
        return not batch.has_details or (self.directory / DETAILS / name).is_file()

    @property
    def _detail_parts(self) -> tuple[Path, ...]:
        folder = self.directory / DETAILS
        return tuple(path for part in self.parts if (path := folder / part.name).is_file())

    def _table(
        self, row_type: type[Row], parts: tuple[Path, ...], columns: list[str] | None = None
    ) -> Any:
        """Return the rows of some files as an Arrow table."""
        pa, schema = arrow(), schema_of(row_type)
        if not parts:
            empty = schema.empty_table()
            return empty if columns is None else empty.select(columns)
        import pyarrow.dataset as ds

        scanning = ds.ParquetFragmentScanOptions(page_checksum_verification=True)
        form = ds.ParquetFileFormat(default_fragment_scan_options=scanning)
        try:
            files = ds.dataset([str(part) for part in parts], schema=schema, format=form)
            return files.to_table(columns=columns)
        except (pa.ArrowException, OSError) as error:
            raise self._fault(row_type, parts, error) from error

    def _fault(
        self, row_type: type[Row], parts: tuple[Path, ...], error: Exception
    ) -> ModelFileError:
        """Return an error that names the first damaged file."""
        digest = digest_of(self.experiment)
        for part in parts:
            number = int(part.stem.removeprefix("part-"))
            damage = damage_of(part, row_type, None, digest=digest, number=number)
            if damage is not None:
                return ModelFileError(
                    f"{part} is damaged: {damage}; run the experiment into {self.directory} again,"
                    " which sets the file aside and makes its rows again",
                    str(part),
                )
        return ModelFileError(f"cannot read {self.directory}: {error}", str(self.directory))


@checked
def read_store(directory: Path) -> Store:
    """Return the store in a directory.

    Parameters
    ----------
    directory
        The directory.

    Raises
    ------
    ModelFileError
        If the directory is not one, or its experiment cannot be read.
    """
    if not (directory / EXPERIMENT).is_file():
        raise ModelFileError(
            f"expected a directory with the rows of an experiment, got {directory}, which has no"
            f" {EXPERIMENT}",
            str(directory),
        )
    store = Store(directory)
    _ = store.experiment, store.environment  # raise if they cannot be read
    return store


def digest_of(experiment: Experiment) -> str:
    """Return a short text that differs for different experiments."""
    return hashlib.sha256(experiment_to_toml(experiment).encode()).hexdigest()[:16]


def _summary(table: Any, keys: Sequence[str], measures: Sequence[str]) -> pd.DataFrame:
    """Return the mean, the standard error and the largest value of measures of a table, by keys.

    Missing values do not count; a measure without any value is left out. Groups are in the order of
    appearance.
    """
    pa = arrow()
    import pyarrow.compute as pc

    known = [name for name in measures if table[name].null_count < len(table) or not len(table)]
    columns = {name: table[name] for name in keys}
    columns |= {name: pc.cast(table[name], pa.float64()) for name in known}
    wanted: list[tuple[Any, ...]] = [([], "count_all")]
    for name in known:
        deviation = (name, "stddev", pc.VarianceOptions(ddof=1))
        wanted += [(name, "mean"), deviation, (name, "count"), (name, "max")]
    found = pa.table(columns).group_by(list(keys), use_threads=False).aggregate(wanted).to_pandas()
    summary = found[list(keys)].assign(rows=found["count_all"])
    for name in known:
        count, spread = (
            found[f"{name}_{what}"].to_numpy(dtype=float) for what in ("count", "stddev")
        )
        summary[name] = found[f"{name}_mean"]
        with np.errstate(divide="ignore", invalid="ignore"):
            summary[f"{name}_error"] = spread / np.sqrt(count)
        summary[f"{name}_most"] = found[f"{name}_max"]
    result: pd.DataFrame = summary
    return result


def _rows(row_type: type[Row], table: Any) -> tuple[Row, ...]:
    return tuple(row_type(**row) for row in table.to_pylist())


_PATIENCE = 0.5
"""Seconds to wait for another run, which may just be ending."""


def alone(directory: Path) -> AbstractContextManager[None]:
    """Keep other runs out of a directory; raise `ModelFileError` if one is writing into it."""
    return locked(
        directory / EXPERIMENT,
        patience=_PATIENCE,
        held=f"another run is writing into {directory}; wait until it ends, or name another"
        " directory",
    )


def require_readable(experiment: Experiment) -> None:
    """Raise `TooLargeError`, before any work, if an experiment could not be read from its file."""
    size = len(experiment_to_toml(experiment).encode())
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
    text, path = experiment_to_toml(experiment), directory / EXPERIMENT
    if (obstacle := _obstacle(directory, text, sources)) is not None:
        raise ModelFileError(obstacle, str(directory))
    if path.exists():
        before = read_environment(directory)
        write_file(directory / ENVIRONMENT, format_environment(sources, before))
    else:
        write_files({directory / ENVIRONMENT: format_environment(sources), path: text})


def _obstacle(directory: Path, text: str, sources: Mapping[str, str]) -> str | None:
    """Return why the run of an experiment cannot write into a directory; None if it can."""
    try:
        str(directory).encode()
    except UnicodeEncodeError:
        return (
            f"the name of the directory {str(directory)!r} is not in UTF-8, and Arrow cannot read"
            " files in it; name another directory"
        )
    path = directory / EXPERIMENT
    if not path.exists():
        for stranger in _strangers(directory):
            return (
                f"{directory} holds {stranger.name}, but no {EXPERIMENT}; name a new or an empty"
                " directory"
            )
        return None
    if (before := read_text(path, most=SMALL_FILE)) != text:
        try:
            content = tomllib.loads(before)
        except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
            return f"{path} is damaged: {error}; name another directory"
        return (
            f"{directory} holds another experiment:"
            f" {listed(_differences(content, tomllib.loads(text), ''))}; undo the change to go on"
            " from there, or name another directory to begin anew"
        )
    environment = read_environment(directory)
    if environment["bnmind"] != installed_version():
        return (
            f"{directory} holds rows of bnmind {environment['bnmind']}, and this is bnmind"
            f" {installed_version()}, whose rows may differ; name another directory"
        )
    known = environment["sources"]
    if changed := [name for name in sources if known.get(name) != sources[name]]:
        return (
            f"{directory} holds rows of {' and '.join(changed)} with other source code, in the"
            " module or in one that it imports; undo the change to go on from there, or remove the"
            " directory or name another one to begin anew"
        )
    return None


def missing_batches(experiment: Experiment, directory: Path) -> list[Batch]:
    """Return the batches without a file in order; set files aside that are not."""
    batches = experiment.batches()
    digest = digest_of(experiment)
    for stranger in _strangers(directory, {part_name(batch.number) for batch in batches}):
        if not _NAME.fullmatch(stranger.name):
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
        if not (directory / name).exists():
            missing.append(batch)
            continue
        damaged = False
        for path, row_type, n_rows in (
            (directory / name, experiment.row_type, batch.n_rows),
            (detail, experiment.detail_type, None),
        ):
            if path.exists() and damage_of(
                path, row_type, n_rows, digest=digest, number=batch.number
            ):
                set_aside(path)
                damaged = True
        if damaged or (batch.has_details and not detail.exists()):
            missing.append(batch)
    return missing


def _strangers(directory: Path, known: Collection[str] = ()) -> list[Path]:
    """Return the Parquet files whose names are not known, those of details too."""
    folders = (directory, directory / DETAILS)
    files = (path for folder in folders for path in sorted(folder.glob("*.parquet")))
    return [path for path in files if path.name not in known]


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
        if another run is writing into it; or if a part of the experiment has no name, or a file
        cannot be written.
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
    require_readable(experiment)
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


# Games are kept while they are played, until all of them are finished: in a store of their own
# beside the results to come. Its name contains a digest of the experiment, so that several
# experiments do not meet. A run that is interrupted or killed goes on from there.

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
        require_readable(experiment)
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
        If another run keeps its games there, the source code of a strategy of your own has
        changed since, or the directory cannot be written.
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
        with suppress(ModelFileError):
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
