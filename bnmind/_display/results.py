"""Results that show themselves: as a record, as text and tables, in terminals and notebooks."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import Any, NamedTuple

__all__ = ["Result", "Strong", "Table", "finite", "parts_of"]


class Strong(str):
    """A line of a result that matters most."""

    __slots__ = ()


class Table(NamedTuple):
    """A table of texts in a result."""

    heads: Sequence[str]
    """The heads of the columns; all empty if there are none."""
    rows: Sequence[Sequence[str]]
    bold: Collection[int] = ()
    """The numbers of the rows that matter most."""
    left: Collection[int] = (0,)
    """The columns of words; those of numbers are aligned to the right."""


class Result:
    """What a question has found, which says itself how it is printed and recorded.

    A subclass defines `to_dict` and often `_shown`; terminals and notebooks follow.
    """

    __slots__ = ()

    @property
    def notes(self) -> Sequence[str]:
        """What to know about the result, a sentence each; none by default."""
        return ()

    @abstractmethod
    def to_dict(self) -> dict[str, Any]:
        """Return the result as a record for JSON; what is not finite is None."""

    def _shown(self) -> Iterator[str | Table]:
        """Yield lines of text and tables, from the top to the bottom; by default the `repr`."""
        yield from repr(self).split("\n")

    def __rich__(self) -> Any:
        from rich.console import Group
        from rich.padding import Padding
        from rich.table import Table as RichTable
        from rich.text import Text

        parts: list[Any] = []
        for part in self._shown():
            if isinstance(part, str):
                parts.append(Text(part, style="bold" if isinstance(part, Strong) else ""))
                continue
            table = RichTable(*part.heads, box=None, pad_edge=False, show_header=any(part.heads))
            for row in part.rows:
                table.add_row(*map(Text, row))
            parts.append(Padding(table, (0, 0, 0, 2), expand=False))
        return Group(*parts)

    def _repr_html_(self) -> str | None:
        from bnmind._display.tables import table_html, text_html

        return "".join(
            text_html(part) if isinstance(part, str) else table_html(part.heads, part.rows)
            for part in self._shown()
        )


def parts_of(result: Result) -> tuple[str | Table, ...]:
    """Return the lines of text and the tables of a result."""
    return tuple(result._shown())


def finite(value: Any) -> Any:
    """Return a record in which numbers that are not finite are None, as JSON has no others.

    Examples
    --------
    >>> finite({"weights": [0.5, float("inf")]})
    {'weights': [0.5, None]}
    """
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): finite(one) for key, one in value.items()}
    return [finite(one) for one in value] if isinstance(value, list | tuple) else value
