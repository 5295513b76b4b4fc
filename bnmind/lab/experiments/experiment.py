"""Experiments: frozen values that say what is run, and the rows that they give.

An experiment divides its work into numbered batches, each of which can run anywhere. A batch is a
pure function: its rows depend neither on other batches nor on the process, so an experiment gives
the same rows with any number of workers, and after any interruption.
"""

from __future__ import annotations

import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from types import UnionType
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from bnmind._messages import counted
from bnmind._values import Value

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "VERSION",
    "Batch",
    "BatchRows",
    "Experiment",
    "Results",
    "Row",
    "columns_of",
    "row_frame",
    "typed_frame",
]

VERSION = 1
"""The version of the rules by which experiments draw their luck.

Another version may give other rows for the same seed."""

Row: TypeAlias = Any
"""An instance of a frozen dataclass, whose fields are the columns."""


@dataclass(frozen=True, eq=False)
class BatchRows(Value):
    """The rows of a batch."""

    rows: tuple[Row, ...]
    """One row for each game or examinee."""
    details: tuple[Row, ...] = ()
    """One row for each turn or question, if the experiment asks for them."""


class Batch(Protocol):
    """A part of an experiment that is run at once."""

    @property
    def number(self) -> int:
        """The number of the batch, from 0."""

    @property
    def n_rows(self) -> int:
        """The number of rows, without the details."""

    @property
    def has_details(self) -> bool:
        """Whether there are rows of turns or questions too, at least one."""

    def run(self) -> BatchRows:
        """Do the work, and return its rows; always the same ones."""


class Experiment(Protocol):
    """A frozen value that determines its rows."""

    @property
    def kind(self) -> str:
        """The name of its kind in files, a key of `EXPERIMENTS`."""

    @property
    def row_type(self) -> type[Row]:
        """The dataclass of the rows."""

    @property
    def detail_type(self) -> type[Row]:
        """The dataclass of the rows of turns or questions."""

    @property
    def n_rows(self) -> int:
        """The number of rows of all batches, without the details."""

    def batches(self) -> Sequence[Batch]:
        """Return the batches in the order of their numbers."""


@dataclass(frozen=True, eq=False)
class Results(Value):
    """The rows of an experiment, in the order of its batches."""

    experiment: Experiment
    """The experiment."""
    rows: tuple[Row, ...]
    """One row for each game or examinee."""
    details: tuple[Row, ...] = ()
    """One row for each turn or question, if the experiment asks for them."""

    def __repr__(self) -> str:
        return f"Results({self.experiment.kind}, {counted(len(self.rows), 'row')})"

    @property
    def frame(self) -> pd.DataFrame:
        """The rows as a new pandas data frame."""
        return row_frame(self.experiment.row_type, self.rows)

    @property
    def detail_frame(self) -> pd.DataFrame:
        """The rows of turns or questions as a new pandas data frame."""
        return row_frame(self.experiment.detail_type, self.details)


def columns_of(row_type: type[Row], rows: Sequence[Row]) -> Mapping[str, list[Any]]:
    """Return the values of rows by column."""
    names = [field.name for field in fields(row_type)]
    return {name: [getattr(row, name) for row in rows] for name in names}


def row_frame(row_type: type[Row], rows: Sequence[Row]) -> pd.DataFrame:
    """Return rows as a new pandas data frame.

    Parameters
    ----------
    row_type
        The class of the rows, whose fields become columns.
    rows
        The rows.
    """
    import pandas as pd

    return typed_frame(row_type, pd.DataFrame(columns_of(row_type, rows), dtype=object))


def typed_frame(row_type: type[Row], frame: pd.DataFrame) -> pd.DataFrame:
    """Return a frame of rows with the types of its columns, whatever values they hold.

    Numbers that may be missing have the type of floats, and truth values, that of objects.
    """
    import pandas as pd

    hints = typing.get_type_hints(row_type)
    text = pd.Series(["text"]).dtype
    kinds: dict[Any, Any] = {bool: bool, int: "int64", float: "float64", str: text}
    optional: dict[Any, Any] = {bool: object, int: "float64", float: "float64", str: text}
    types: dict[str, Any] = {}
    for one in fields(row_type):
        hint = hints[one.name]
        parts = set(typing.get_args(hint)) if isinstance(hint, UnionType) else {hint}
        (kind,) = parts - {type(None)}
        types[one.name] = (optional if len(parts) > 1 else kinds)[kind]
    return frame.astype({name: types[name] for name in frame.columns if name in types})
