"""Boards by the names that the files of published figures use."""

from __future__ import annotations

from bnmind.mastermind.board import Board

__all__ = ["CLASSIC", "board_of"]

CLASSIC = Board(4, 6)


def board_of(name: str) -> Board:
    """Return the board of a name such as 4x6 or 4x6r, or 4x6n, whose codes repeat no color.

    >>> board_of("4x6n")
    Board(pegs=4, colors=6, repeats=False)
    """
    pegs, colors = name.rstrip("rn").split("x")
    return Board(int(pegs), int(colors), repeats=not name.endswith("n"))
