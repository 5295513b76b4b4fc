"""Values as HTML tables for notebooks: short, whole and escaped."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import fields
from html import escape
from typing import TYPE_CHECKING, Any

from bnmind._display.outline import outline
from bnmind._messages import visible

if TYPE_CHECKING:
    import pandas

__all__ = ["MOST_ROWS", "frame_html", "outline_html", "table_html", "text_html"]

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
        [tuple(map(_number, row)) for row in rows],
        caption=caption,
        n_rows=len(frame),
    )


def text_html(text: str) -> str:
    """Return a text whose columns are aligned as HTML."""
    lines = "\n".join(map(visible, text.splitlines()))
    return f"<pre>{escape(lines)}</pre>"


def _number(cell: object) -> object:
    return f"{cell:.4g}" if isinstance(cell, float) else cell


def _safe(text: object) -> str:
    return escape(visible(str(text))).replace("\n", "<br/>")
