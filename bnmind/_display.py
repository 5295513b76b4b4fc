"""Values and results that show themselves: as text of a few lines, as HTML, as records.

The text of a small value is that of its dataclass. Of a larger one `outline` shows some parts of
long sequences, arrays by their shapes, and values deep inside by their types; notebooks show
tables. A `Result` is what a question has found: it says itself how terminals and notebooks print
it, and how it is recorded.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass
from html import escape
from itertools import islice
from typing import TYPE_CHECKING, Any, NamedTuple

from bnmind._messages import visible

if TYPE_CHECKING:
    import pandas

LONGEST = 600
"""The most characters of an outline."""
MOST_LINES = 10
"""The most lines of an outline."""


class _TooLongError(Exception):
    """The text is longer than an outline may be."""


class _Pen:
    """Writes a value in at most so many characters, to a depth, with some parts of sequences."""

    def __init__(self, *, depth: int | None, most: int | None) -> None:
        self.depth = depth
        self.most = most
        self.room = LONGEST

    def write(self, value: Any, level: int = 0) -> str:
        """Return the text of a value.

        Raises
        ------
        _TooLongError
            If it is too long.
        """
        text = self._parts(value, level)
        if text is None:
            text = repr(value)
            self._use(len(text))
        return text

    def _parts(self, value: Any, level: int) -> str | None:
        """Return the text of a value of several parts; None if it is written as it is."""
        kind: Any = type(value)
        deep = self.depth is not None and level > self.depth
        # Programs that show no arrays are not made to load NumPy here.
        is_array = hasattr(kind, "__array_interface__")
        if is_array and self.most is not None and value.size > self.most:
            return self._whole(f"<array {'×'.join(map(str, value.shape))}>")
        if _has_plain_repr(kind):
            named = ((f"{f.name}=", getattr(value, f.name)) for f in fields(kind) if f.repr)
            return self._joined(f"{kind.__qualname__}(", named, ")", level, deep=deep)
        if isinstance(value, tuple) and hasattr(kind, "_fields"):
            own = kind.__repr__ is not tuple.__repr__
            if own and "_fields" not in kind.__dict__:
                return None
            named = ((f"{name}=", getattr(value, name)) for name in kind._fields)
            return self._joined(f"{kind.__name__}(", named, ")", level, deep=deep)
        if kind in (tuple, list):
            ends = ("(", ",)" if len(value) == 1 else ")") if kind is tuple else ("[", "]")
            items = (("", part) for part in value)
            return self._joined(ends[0], items, ends[1], level, deep=deep, n=len(value))
        if isinstance(value, Mapping) and kind.__repr__ is dict.__repr__:
            pairs = ((f"{key!r}: ", part) for key, part in value.items())
            return self._joined("{", pairs, "}", level, deep=deep, n=len(value))
        return None

    def _joined(
        self,
        start: str,
        parts: Iterable[tuple[str, Any]],
        end: str,
        level: int,
        *,
        deep: bool,
        n: int | None = None,
    ) -> str:
        self._use(len(start) + len(end))
        if deep and (n is None or n):
            return self._whole(f"{start}…{end}")
        cut = self.most if n is not None and self.most is not None and n > self.most else None
        texts = []
        for name, part in islice(parts, cut):
            self._use(len(name) + 2)
            texts.append(name + self.write(part, level + 1))
        if cut is not None and n is not None:
            texts.append(self._whole(f"… {n - cut:,} more"))
        return f"{start}{', '.join(texts)}{end}"

    def _whole(self, text: str) -> str:
        self._use(len(text))
        return text

    def _use(self, characters: int) -> None:
        self.room -= characters
        if self.room < 0:
            raise _TooLongError


def _has_plain_repr(kind: type) -> bool:
    """Return whether the text of a class is that of its dataclass or an outline."""
    way: Any = kind.__repr__
    return is_dataclass(kind) and (way is outline or hasattr(way, "__wrapped__"))


def outline(value: Any) -> str:
    """Return the text of a dataclass in a few lines.

    >>> from bnmind.mastermind import Turn
    >>> outline(Turn((1, 1, 2, 3), (1, 2)))
    'Turn(guess=(1, 1, 2, 3), reply=Reply(black=1, white=2))'
    """
    for depth, most in ((None, None), (3, 6), (2, 6), (1, 6), (1, 3), (0, 3)):
        try:
            text = _Pen(depth=depth, most=most).write(value)
        except _TooLongError:
            continue
        if text.count("\n") < MOST_LINES:
            return text
    return f"{type(value).__qualname__}(…)"


MOST_ROWS = 10
"""The most rows of a table in a notebook."""

_SHORT = 100
"""A value whose text is so short needs no table."""


def outline_html(value: Any) -> str | None:
    """Return a table of the fields of a dataclass for notebooks; None if its text is short."""
    if len(repr(value)) <= _SHORT:
        return None
    shown = [
        (f.name.replace("_", " "), outline(getattr(value, f.name)))
        for f in fields(value)
        if f.repr and not f.name.startswith("_")
    ]
    return table_html((), shown, caption=type(value).__qualname__)


def table_html(
    heads: Sequence[object],
    rows: Iterable[Sequence[object]],
    *,
    caption: str = "",
    n_rows: int | None = None,
) -> str:
    """Return an HTML table for notebooks.

    Parameters
    ----------
    heads
        The heads of the columns; without any, the first cell of each row is its head.
    rows
        The rows; at most `MOST_ROWS` are shown if there are heads.
    caption
        What the table shows.
    n_rows
        The number of all rows, if ``rows`` are only the first.

    Examples
    --------
    >>> table_html(("skill", "level"), [("<b>", 1)], caption="Skills")[:52]
    '<table><caption>Skills</caption><thead><tr><th scope'
    """
    listed = list(rows)
    shown = listed[:MOST_ROWS] if heads else listed
    parts = [f"<caption>{_safe(caption)}</caption>"] if caption else []
    if heads:
        cells = "".join(f'<th scope="col">{_safe(head)}</th>' for head in heads)
        parts.append(f"<thead><tr>{cells}</tr></thead>")
    parts.append("<tbody>")
    for first, *others in shown:
        tag = "td" if heads else 'th scope="row"'
        end = "td" if heads else "th"
        cells = "".join(f"<td>{_safe(cell)}</td>" for cell in others)
        parts.append(f"<tr><{tag}>{_safe(first)}</{end}>{cells}</tr>")
    left = (len(listed) if n_rows is None else n_rows) - len(shown)
    if left > 0:
        parts.append(f'<tr><td colspan="{len(heads)}">… {left:,} more</td></tr>')
    parts.append("</tbody>")
    return f"<table>{''.join(parts)}</table>"


def frame_html(frame: pandas.DataFrame, *, caption: str = "") -> str:
    """Return the first rows of a table of pandas as HTML, with few digits."""
    first = frame.head(MOST_ROWS)
    rows = zip(*(first[column].tolist() for column in first.columns), strict=True)
    return table_html(
        [str(column).replace("_", " ") for column in first.columns],
        [[f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row] for row in rows],
        caption=caption,
        n_rows=len(frame),
    )


def text_html(text: str) -> str:
    """Return a text whose columns are aligned as HTML."""
    lines = "\n".join(map(visible, text.splitlines()))
    return f"<pre>{escape(lines)}</pre>"


def _safe(text: object) -> str:
    return escape(visible(str(text))).replace("\n", "<br/>")


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

    @classmethod
    def of(cls, rows: Iterable[object], columns: Mapping[str, str], **options: Any) -> Table:
        """Return the table of some values: for each column its head, and how to format a value.

        Numbers that are not known are dashes.

        >>> Table.of([1.5, float("nan")], {"value": "{:.2f}", "part": "{.imag:g}"}).rows
        [['1.50', '0'], ['–', '0']]
        """
        texts = [[form.format(row) for form in columns.values()] for row in rows]
        shown = [["–" if text == "nan" else text for text in row] for row in texts]
        return cls([*columns], shown, **options)


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

    def _repr_html_(self) -> str:
        parts = [
            text_html(part) if isinstance(part, str) else table_html(part.heads, part.rows)
            for part in self._shown()
        ]
        return parts[0] if len(parts) == 1 else f"<div>{''.join(parts)}</div>"


def parts_of(result: Result) -> tuple[str | Table, ...]:
    """Return the lines of text and the tables of a result."""
    return tuple(result._shown())


def text_of(result: Result) -> str:
    """Return the lines of text and the tables of a result as one text."""
    lines: list[str] = []
    for part in result._shown():
        lines += [part] if isinstance(part, str) else aligned(part, indent="  ", gap="   ")
    return "\n".join(lines)


def aligned(table: Table, *, indent: str = "", gap: str = "  ") -> list[str]:
    """Return the lines of a table, its columns side by side."""
    rows = [table.heads, *table.rows] if any(table.heads) else table.rows
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        cells = [
            cell.ljust(width) if place in table.left else cell.rjust(width)
            for place, (cell, width) in enumerate(zip(row, widths, strict=True))
        ]
        lines.append(f"{indent}{gap.join(cells)}".rstrip())
    return lines


def picked(value: object, *names: str, **others: str) -> dict[str, Any]:
    """Return attributes of a value as a record, by their own names or by others.

    Examples
    --------
    >>> picked(1 + 2j, "real", imaginary="imag")
    {'real': 1.0, 'imaginary': 2.0}
    """
    wanted = dict(zip(names, names, strict=True)) | others
    return {name: getattr(value, other) for name, other in wanted.items()}


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
