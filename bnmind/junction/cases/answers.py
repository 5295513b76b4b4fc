"""The answers to a table of cases."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bnmind._messages import one_line
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.pgm.variable import label_text

if TYPE_CHECKING:
    import pandas

__all__ = ["CaseAnswers"]

_SHOWN = 6


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class CaseAnswers(Value):
    """The answers to the cases of a data frame, with a report.

    Functions such as `bnmind.predict` return such answers. Printing them shows the report and the
    first rows.
    """

    _table: pandas.DataFrame
    impossible: tuple[Hashable, ...]
    """The labels of the rows of probability zero, whose answers are NaN."""
    unused: tuple[Hashable, ...] = ()
    """The labels of the columns that are not variables of the model."""
    close: Mapping[str, tuple[str, ...]]
    """For such columns, variables without a column whose names are similar."""

    def __len__(self) -> int:
        return len(self._table)

    @property
    def frame(self) -> pandas.DataFrame:
        """The answers as a new `pandas.DataFrame`, with the index of the cases."""
        return self._table.copy()

    def to_series(self) -> pandas.Series[Any]:
        """Return the answers as a `pandas.Series`, if they are a single column.

        Raises
        ------
        InvalidArgumentError
            If there are several columns, or none.
        """
        if self._table.shape[1] != 1:
            raise InvalidArgumentError(
                f"expected answers of one column, got {self._table.shape[1]}; use frame", self
            )
        return self._table.iloc[:, 0].copy()

    @property
    def notes(self) -> tuple[str, ...]:
        """What the caller should know about the cases, in sentences."""
        notes = []
        if n := len(self.impossible):
            rows = f"{n:,} row{'s' if n > 1 else ''} of {len(self):,}"
            notes.append(
                f"{rows} {'have' if n > 1 else 'has'} probability zero and no answer:"
                f" {_some(self.impossible)}"
            )
        if n := len(self.unused):
            notes.append(
                f"{n:,} column{'s are' if n > 1 else ' is'} not in the model: {_some(self.unused)}"
            )
        notes += [
            f"the column {one_line(label)} is not a variable; did you mean {' or '.join(similar)}?"
            for label, similar in self.close.items()
        ]
        return tuple(notes)

    def __repr__(self) -> str:
        n, m = self._table.shape
        impossible = f", {len(self.impossible):,} impossible" if self.impossible else ""
        return f"CaseAnswers({n:,} rows, {m:,} column{'s' if m != 1 else ''}{impossible})"

    def __str__(self) -> str:
        return "\n".join([repr(self), *self.notes, str(self._table.head(_SHOWN))])


def _some(labels: tuple[Hashable, ...]) -> str:
    texts = [one_line(label_text(label) or str(label), longest=40) for label in labels[:_SHOWN]]
    return ", ".join(texts) + (", …" if len(labels) > _SHOWN else "")
