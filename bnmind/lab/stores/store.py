"""Stores: directories with the rows of an experiment, the experiment, and the environment.

::

    experiment.toml         the experiment
    environment.json        the version of bnmind, digests of the source code of strategies of your
                            own, and the libraries and the date of each run
    part-000000.parquet     the rows of the first batch
    details/part-….parquet  the rows of its turns or questions, if there are any
    ….damaged               files that were set aside

`run_into` makes them. Any program that reads Parquet reads the rows; with DuckDB::

    SELECT strategy, avg(guesses) FROM read_parquet('DIRECTORY/*.parquet') GROUP BY strategy
"""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import StoreError
from bnmind.lab.experiments.experiment import Batch, Experiment, Results, Row, typed_frame
from bnmind.lab.records import EXPERIMENTS, experiment_to_toml, read_experiment
from bnmind.lab.stores.columns import arrow, schema_of
from bnmind.lab.stores.environment import read_environment
from bnmind.lab.stores.parts import damage_of, damaged_files, part_name
from bnmind.lab.stores.summaries import summary_frame

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["DETAILS", "EXPERIMENT", "Store", "digest_of", "read_store"]

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
        return damaged_files(self.directory)

    @property
    def is_complete(self) -> bool:
        """Whether all batches are finished."""
        return len(self.parts) == len(self.experiment.batches())

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a new pandas data frame.

        Raises
        ------
        StoreError
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
        StoreError
            If the batch is not finished, or its file is damaged.
        """
        path, row_type = self.directory / part_name(number), self.experiment.row_type
        if not path.is_file():
            raise StoreError(f"batch {number} is not finished: there is no {path}", str(path))
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
        return summary_frame(table, kind.keys, kind.measures)

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

    def _fault(self, row_type: type[Row], parts: tuple[Path, ...], error: Exception) -> StoreError:
        """Return an error that names the first damaged file."""
        digest = digest_of(self.experiment)
        for part in parts:
            number = int(part.stem.removeprefix("part-"))
            damage = damage_of(part, row_type, None, digest=digest, number=number)
            if damage is not None:
                return StoreError(
                    f"{part} is damaged: {damage}; run the experiment into {self.directory} again,"
                    " which sets the file aside and makes its rows again",
                    str(part),
                )
        return StoreError(f"cannot read {self.directory}: {error}", str(self.directory))


@checked
def read_store(directory: Path) -> Store:
    """Return the store in a directory.

    Parameters
    ----------
    directory
        The directory.

    Raises
    ------
    StoreError
        If the directory is not one.
    ExperimentFileError
        If its experiment cannot be read.
    """
    if not (directory / EXPERIMENT).is_file():
        raise StoreError(
            f"expected a directory with the rows of an experiment, got {directory}, which has no"
            f" {EXPERIMENT}",
            str(directory),
        )
    store = Store(directory)
    _ = store.experiment, store.environment  # raise if they cannot be read
    return store


def digest_of(experiment: Experiment) -> str:
    """Return a short text that differs for different experiments.

    Parameters
    ----------
    experiment
        The experiment.
    """
    return hashlib.sha256(experiment_to_toml(experiment).encode()).hexdigest()[:16]


def _rows(row_type: type[Row], table: Any) -> tuple[Row, ...]:
    return tuple(row_type(**row) for row in table.to_pylist())
