"""A game of ``bnmind assist`` in a file, which appears whole or not at all."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from bnmind._bounded_files import SMALL_FILE, parse_json, read_text
from bnmind.errors import BnmindError, InvalidHistoryError

if TYPE_CHECKING:
    from bnmind.mastermind import Board, Turn

__all__ = ["FORMAT", "VERSION", "SavedGame", "read_game", "write_game"]

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


def write_game(path: Path, game: SavedGame) -> None:
    """Write a game to a file, in place of the one that is there.

    Raises
    ------
    OSError
        If the place cannot be written; what was there is untouched.
    """
    board = game.board
    content = {
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
    draft = path.with_name(f".{path.name}.{uuid4().hex}.tmp")
    try:
        draft.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")
        os.replace(draft, path)
    finally:
        draft.unlink(missing_ok=True)


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
        raise InvalidHistoryError(f"{content['format']!r} of version {content['version']!r}")
    board = Board(content["pegs"], content["colors"], repeats=content["repeats"])
    turns = tuple(
        Turn(board.parse(turn["guess"]), Reply.parse(turn["reply"], pegs=board.pegs))
        for turn in content["turns"]
    )
    return SavedGame(board, str(content["noise"]), turns, bool(content["over"]) and bool(turns))
