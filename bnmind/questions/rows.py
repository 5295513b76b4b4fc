"""Questions in order, the best first."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, ClassVar, TypeVar, overload

from bnmind._display import frame_html
from bnmind.errors import NothingToAskError

if TYPE_CHECKING:
    import pandas

__all__ = ["QuestionRows"]

_Row = TypeVar("_Row")


class QuestionRows(Sequence[_Row]):
    """A row for each question, the best first."""

    COLUMNS: ClassVar[tuple[str, ...]]
    """The fields of a row that a data frame shows."""

    rows: tuple[_Row, ...]

    @property
    def best(self) -> _Row:
        """The best question.

        Raises
        ------
        NothingToAskError
            If there is no question.
        """
        if not self.rows:
            raise NothingToAskError("there is no question left to ask")
        return self.rows[0]

    @overload
    def __getitem__(self, index: int) -> _Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_Row, ...]: ...
    def __getitem__(self, index: int | slice) -> _Row | tuple[_Row, ...]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def __iter__(self) -> Iterator[_Row]:
        return iter(self.rows)

    def _repr_html_(self) -> str | None:
        """Return the first rows as an HTML table, which notebooks display."""
        return frame_html(self.to_frame(), caption=str(self).splitlines()[0])

    def to_frame(self) -> pandas.DataFrame:
        """Return a `pandas.DataFrame` of the `COLUMNS`, a row for each question, the best first."""
        import pandas

        return pandas.DataFrame({c: [getattr(r, c) for r in self.rows] for c in self.COLUMNS})
