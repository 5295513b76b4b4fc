"""The title of a tree file: the name of the format, its version and the board."""

from __future__ import annotations

import re

from bnmind._files import require_head
from bnmind.errors import InvalidArgumentError, ModelFileError
from bnmind.mastermind.board import Board

__all__ = ["FORMAT", "VERSION", "board_of", "board_of_title", "title_of"]

FORMAT = "bnmind strategy tree"
VERSION = 1

_NUMBER = "([0-9]{1,9})"
_HEADER = re.compile(rf"(?:#|//) {FORMAT} {_NUMBER}, board {_NUMBER}x{_NUMBER}( without repeats)?")


def title_of(board: Board) -> str:
    """Return the title of the tree of a board."""
    return f"{FORMAT} {VERSION}, board {board}"


def board_of_title(title: str) -> Board:
    """Return the board that a title names."""
    match = _HEADER.fullmatch(title.strip())
    if match is None:
        raise ModelFileError(f"expected a first line like '# {FORMAT} 1, board 4x6'", title)
    require_head(FORMAT, int(match[1]), FORMAT, (VERSION,))
    return board_of(int(match[2]), int(match[3]), repeats=match[4] is None)


def board_of(pegs: int, colors: int, *, repeats: bool) -> Board:
    """Return the board, or raise `ModelFileError` if there is no such board."""
    try:
        return Board(pegs, colors, repeats=repeats)
    except InvalidArgumentError as error:
        raise ModelFileError(str(error), error.value) from error
