"""A game of ``bnmind assist`` in a file, which appears whole or not at all."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bnmind._bounded_files import SMALL_FILE, parse_json, read_text
from bnmind._file_locks import locked
from bnmind._messages import shown
from bnmind._text_files import encoded, write_file
from bnmind.errors import BnmindError, InvalidHistoryError

if TYPE_CHECKING:
    from bnmind.mastermind import Board, Turn

__all__ = ["FORMAT", "VERSION", "SavedGame", "content_of", "read_game", "write_game"]

FORMAT = "bnmind assist"
VERSION = 1


@dataclass(frozen=True)
class SavedGame:
    """A game as far as it has been played."""

    board: Board
    noise: str
    turns: tuple[Turn, ...]
    over: bool = False
    """Whether the last turn has won."""


def write_game(path: Path, game: SavedGame, *, before: bytes | None) -> bytes:
    """Write a game to a file, in place of what was there before, and return what is there now.

    Parameters
    ----------
    path
        The file.
    game
        The game.
    before
        The content of the file when it was last read or written, see `content_of`. If
        another program has written to it since then, it stays as it is.

    Raises
    ------
    BnmindError
        If the file has another content.
    FileWriteError
        If it cannot be written; what was there is untouched.
    """
    board = game.board
    record = {
        "format": FORMAT,
        "version": VERSION,
        "pegs": board.pegs,
        "colors": board.colors,
        "repeats": board.repeats,
        "noise": game.noise,
        "turns": [
            {"guess": board.format(turn.guess), "reply": str(turn.reply)} for turn in game.turns
        ],
        "over": game.over,
    }
    content = encoded(path, json.dumps(record, indent=2) + "\n")
    with locked(path):
        # A file removed meanwhile is written anew: there is nothing that could be lost.
        if content_of(path) not in (before, None):
            raise BnmindError(
                f"expected {path} as this game left it, got another content: another program has"
                " written to it; the same command resumes what is there, --save names another"
                " file"
            )
        write_file(path, content)
    return content


def content_of(path: Path) -> bytes | None:
    """Return what is in a file, as far as a saved game may be long; None if there is none.

    Raises
    ------
    OSError
        If it cannot be read.
    """
    try:
        with path.open("rb") as file:
            return file.read(SMALL_FILE)
    except FileNotFoundError:
        return None


def read_game(path: Path) -> SavedGame:
    """Return the game in a file.

    Raises
    ------
    InvalidHistoryError
        If it is no saved game, or one of a later version of bnmind.
    ModelFileError
        If it cannot be read, is not UTF-8, or is far longer than a game.
    """
    text = read_text(path, most=SMALL_FILE)
    try:
        return _game(parse_json(text))
    except BnmindError as error:
        reason = str(error)
    except (ValueError, KeyError, TypeError, AttributeError):
        reason = "something else"
    raise InvalidHistoryError(
        f"expected a saved game in {path}, got {reason}; name another file with --save, or begin a "
        f"new game with --new",
        str(path),
    )


def _game(content: dict[str, Any]) -> SavedGame:
    from bnmind.mastermind import Board, Reply, Turn

    if (content["format"], content["version"]) != (FORMAT, VERSION):
        raise InvalidHistoryError(
            f"{shown(content['format'])} of version {shown(content['version'])}"
        )
    board = Board(content["pegs"], content["colors"], repeats=content["repeats"])
    turns = tuple(
        Turn(board.parse(turn["guess"]), Reply.parse(turn["reply"], pegs=board.pegs))
        for turn in content["turns"]
    )
    return SavedGame(board, str(content["noise"]), turns, bool(content["over"]) and bool(turns))
