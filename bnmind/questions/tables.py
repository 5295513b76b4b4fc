"""Rankings as text tables."""

from __future__ import annotations

from collections.abc import Sequence

from bnmind.pgm.distribution import label

__all__ = ["names_text", "questions_text", "table_text"]

_MOST_ROWS = 20
"""The most rows in a terminal."""

_MOST_NAMES = 3


def names_text(names: Sequence[str]) -> str:
    """Return the first names as text, and the number of the others.

    >>> names_text(["pump", "valve"]), names_text(list("abcde"))
    ('pump, valve', 'a, b, c and 2 more')
    """
    shown = ", ".join(label(name) for name in names[:_MOST_NAMES])
    more = len(names) - _MOST_NAMES
    return f"{shown} and {more:,} more" if more > 0 else shown


def questions_text(number: int) -> str:
    """Return a number of questions in words.

    >>> questions_text(1), questions_text(1200)
    ('1 question', '1,200 questions')
    """
    return "1 question" if number == 1 else f"{number:,} questions"


def table_text(title: str, header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Return a title and a table: the first column to the left, the others to the right.

    Long tables are cut, and end with the number of the other rows.
    """
    shown = rows if len(rows) <= _MOST_ROWS else rows[: _MOST_ROWS - 1]
    lines = [title]
    if rows:
        cells = [header, *([label(row[0]), *row[1:]] for row in shown)]
        widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
        for row in cells:
            first, rest = row[0].ljust(widths[0]), map(str.rjust, row[1:], widths[1:])
            lines.append("  ".join([first, *rest]).rstrip())
    if len(shown) < len(rows):
        lines.append(f"… and {len(rows) - len(shown):,} more")
    return "\n".join(lines)
