"""The board on the terminal: guesses as pegs with a letter each, and the replies.

The letters tell the colors apart; the colors only repeat them, where the terminal has colors and
``NO_COLOR`` is not set.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bnmind.cli.shared.terminal import plain_table, show_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from bnmind.mastermind import Board, Reply

__all__ = ["PEG_COLORS", "BoardRow", "colors_of", "letter", "pegs_text", "show_board"]

PEG_COLORS = (
    ("#d13438", "#ffffff"),
    ("#f4c430", "#16181b"),
    ("#28804a", "#ffffff"),
    ("#2766c4", "#ffffff"),
    ("#f28c38", "#16181b"),
    ("#8347ad", "#ffffff"),
    ("#3db6c9", "#16181b"),
    ("#8a5a36", "#ffffff"),
    ("#f29ab8", "#16181b"),
    ("#5f6b76", "#ffffff"),
    ("#a4c639", "#16181b"),
    ("#123c69", "#ffffff"),
    ("#e0d3b0", "#16181b"),
    ("#7a1f3d", "#ffffff"),
    ("#6fa8ff", "#16181b"),
    ("#c45ab3", "#16181b"),
    ("#1c6b6b", "#ffffff"),
    ("#c9ccd1", "#16181b"),
    ("#5a4fcf", "#ffffff"),
    ("#3b3f1c", "#ffffff"),
)
"""The color of a peg and of its letter, the same as on the pages; tests compare them."""

_LETTERS = 26
_WIDEST = 1000
_INDENT = 2


@dataclass(frozen=True, kw_only=True)
class BoardRow:
    """A row of the board."""

    number: int
    guess: Sequence[int]
    reply: Reply | None = None
    """The reply; None if there is none yet."""
    remark: str = ""
    style: str = ""
    """The style of the reply and the remark."""


def letter(color: int) -> str:
    """Return the letter of a color; beyond 26 colors its number."""
    return chr(ord("A") + color - 1) if color <= _LETTERS else str(color)


def colors_of(board: Board) -> str:
    """Return how the colors of a board are written: ``colors A to F or 1 to 6``."""
    if board.colors > _LETTERS:
        return f"colors 1 to {board.colors}"
    numbers = "1 to 9 and 0" if board.colors == 10 else f"1 to {board.colors}"
    return f"colors A to {letter(board.colors)} or {numbers}"


def pegs_text(code: Sequence[int]) -> Text:
    """Return a code as pegs: ``(A)(A)(B)(C)``."""
    from rich.text import Text

    pegs = Text()
    for color in code:
        style = ""
        if color <= len(PEG_COLORS):
            peg, mark = PEG_COLORS[color - 1]
            style = f"bold {mark} on {peg}"
        pegs.append(f"({letter(color)})", style=style)
    return pegs


def show_board(console: Console, board: Board, rows: Sequence[BoardRow]) -> None:
    """Print rows of the board: pegs, the code as text, the reply and a remark.

    On a narrow terminal, the code stands only on the pegs.
    """
    if not rows:
        return
    table = _table(board, rows, coded=True)
    wide = console.options.update(width=_WIDEST)
    if console.measure(table, options=wide).maximum + _INDENT > console.width:
        table = _table(board, rows, coded=False)
    show_table(console, table)


def _table(board: Board, rows: Sequence[BoardRow], *, coded: bool) -> Table:
    from rich.text import Text

    remarked = any(row.remark for row in rows)
    # An empty column would touch its neighbor.
    table = plain_table(*[""] * (3 + coded + remarked))
    table.padding = (0, 2, 0, 0)
    for column in table.columns[1:]:
        column.justify = "left"
        column.no_wrap = True
    table.columns[0].justify = "right"
    for row in rows:
        reply = "" if row.reply is None else str(row.reply)
        table.add_row(
            str(row.number),
            pegs_text(row.guess),
            *([board.format(row.guess)] if coded else []),
            Text(reply, style=row.style),
            *([Text(row.remark, style=row.style)] if remarked else []),
        )
    return table
