"""The answers to a table of cases."""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bnmind._messages import counted, one_line
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.pgm.variable import label_text

if TYPE_CHECKING:
    import pandas

__all__ = ["CaseAnswers", "case_notes"]

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
        """Remarks about the cases, in sentences."""
        counts = (len(self), len(self.impossible))
        return case_notes(counts, self.impossible, self.unused, self.close)

    def __repr__(self) -> str:
        n, m = self._table.shape
        impossible = f", {len(self.impossible):,} impossible" if self.impossible else ""
        return f"CaseAnswers({counted(n, 'row')}, {m:,} column{'s' if m != 1 else ''}{impossible})"

    def __str__(self) -> str:
        return "\n".join([repr(self), *self.notes, str(self._table.head(_SHOWN))])


def case_notes(
    counts: tuple[int, int],
    impossible: Sequence[Hashable],
    unused: Sequence[Hashable],
    close: Mapping[str, Sequence[str]],
) -> tuple[str, ...]:
    """Return what the caller should know about cases, in sentences.

    Parameters
    ----------
    counts
        The number of rows, and of impossible ones.
    impossible
        The labels of the impossible rows, or the first of them.
    unused
        The labels of the columns that are not variables.
    close
        For such columns, variables with a similar name.
    """
    notes = []
    n_rows, n = counts
    if n:
        notes.append(
            f"{n:,} row{'s' if n > 1 else ''} of {n_rows:,} {'have' if n > 1 else 'has'}"
            f" probability zero and no answer: {_some(impossible, n)}"
        )
    if n := len(unused):
        notes.append(
            f"{n:,} column{'s are' if n > 1 else ' is'} not in the model: {_some(unused, n)}"
        )
    notes += [
        f"the column {one_line(label)} is not a variable; did you mean {' or '.join(similar)}?"
        for label, similar in close.items()
    ]
    return tuple(notes)


def _some(labels: Sequence[Hashable], count: int) -> str:
    texts = [one_line(label_text(label) or str(label), longest=40) for label in labels[:_SHOWN]]
    return ", ".join(texts) + (", …" if count > _SHOWN else "")
