"""Files with a game of ``bnmind assist``; a file is written completely or not at all."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from bnmind._files import (
    SMALL_FILE,
    encoded,
    is_stream,
    locked,
    parse_document,
    read_text,
    write_file,
)
from bnmind._messages import shown
from bnmind.errors import BnmindError, FileWriteError, InvalidArgumentError
from bnmind.mastermind.priors.uniform import UNIFORM

if TYPE_CHECKING:
    from bnmind.mastermind import Board, Turn

__all__ = [
    "FORMAT",
    "VERSION",
    "SavedGame",
    "content_of",
    "read_game",
    "read_record",
    "write_game",
    "write_record",
]

_T = TypeVar("_T")

FORMAT = "bnmind assist"
VERSION = 2
"""The version of files with a prior; files without one have version 1."""
VERSION_OF_ROWS = 3
"""The version of files of games in which rows are ignored."""


@dataclass(frozen=True, kw_only=True)
class SavedGame:
    """The state of a game."""

    board: Board
    """The board."""
    noise: str
    """The noise as it is typed, such as ``false:0.2``."""
    turns: tuple[Turn, ...]
    """The guesses and replies, oldest first."""
    over: bool = False
    """Whether the last turn won the game."""
    prior: str = UNIFORM
    """The prior of the code, as at the command line."""
    ignored: tuple[int, ...] = ()
    """The numbers of the rows that the player does not trust, from 1, ascending."""


def write_game(path: Path, game: SavedGame, *, before: bytes | None) -> bytes:
    """Write a game to a file, replacing its content, and return the new content.

    Parameters
    ----------
    path
        The file.
    game
        The game.
    before
        The content of the file when it was last read or written, see `content_of`. If
        another program has changed the file since then, the file stays unchanged.

    Raises
    ------
    FileWriteError
        If the content of the file is not `before`.
    FileWriteError
        If the file cannot be written. An existing file is then unchanged.
    """
    board = game.board
    version = 1 if game.prior == UNIFORM else VERSION
    record = {
        "format": FORMAT,
        "version": VERSION_OF_ROWS if game.ignored else version,
        "pegs": board.pegs,
        "colors": board.colors,
        "repeats": board.repeats,
        "noise": game.noise,
        **({} if game.prior == UNIFORM else {"prior": game.prior}),
        "turns": [
            {"guess": board.format(turn.guess), "reply": str(turn.reply)} for turn in game.turns
        ],
        **({"ignored": list(game.ignored)} if game.ignored else {}),
        "over": game.over,
    }
    return write_record(path, record, before=before)


def write_record(path: Path, record: Mapping[str, Any], *, before: bytes | None) -> bytes:
    """Write the record of a game like `write_game`."""
    content = encoded(path, json.dumps(record, indent=2) + "\n")
    with locked(path):
        # A file that was removed in the meantime is written again: nothing can be lost.
        if content_of(path) not in (before, None):
            raise FileWriteError(
                f"another program has written to {path}, so this game is not saved there; the same"
                " command resumes what is there, --save names another file",
                str(path),
            )
        write_file(path, content)
    return content


def content_of(path: Path) -> bytes | None:
    """Return the content of a file, up to the length of a saved game.

    It is None if there is no file, and for a pipe or a device, which may have no end.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    OSError
        If the file cannot be read.
    """
    try:
        if is_stream(str(path)):
            return None
        with path.open("rb") as file:
            return file.read(SMALL_FILE)
    except FileNotFoundError:
        return None


def read_game(path: Path) -> SavedGame:
    """Read a game from a file.

    Parameters
    ----------
    path
        The file.

    Raises
    ------
    InvalidArgumentError
        If the file is not a saved game, or comes from a later version of bnmind.
    ModelFileError
        If the file cannot be read, is not UTF-8, or is far longer than a game.
    """
    return read_record(path, _game, FORMAT, 1, VERSION, VERSION_OF_ROWS)


def read_record(path: Path, read: Callable[[dict[str, Any]], _T], name: str, *versions: int) -> _T:
    """Read the record of a game like `read_game`; `read` makes the game of it."""
    text = read_text(path, most=SMALL_FILE)
    try:
        return read(parse_document(text, name, *versions))
    except BnmindError as error:
        reason = str(error)
    except (ValueError, KeyError, TypeError, AttributeError, OverflowError):
        reason = "something else"
    raise InvalidArgumentError(
        f"expected a saved game in {path}, got {reason}; name another file with --save, or begin a "
        f"new game with --new",
        str(path),
    )


def _game(content: dict[str, Any]) -> SavedGame:
    from bnmind.mastermind import Board, Reply, Turn

    board = Board(content["pegs"], content["colors"], repeats=content["repeats"])
    turns = tuple(
        Turn(board.parse(turn["guess"]), Reply.parse(turn["reply"], pegs=board.pegs))
        for turn in content["turns"]
    )
    ignored = sorted({int(row) for row in content.get("ignored", ())})
    if ignored and not 1 <= ignored[0] <= ignored[-1] <= len(turns):
        raise InvalidArgumentError(f"rows {shown(ignored)} of {len(turns)}")
    return SavedGame(
        board=board,
        noise=str(content["noise"]),
        turns=turns,
        ignored=tuple(ignored),
        over=bool(content["over"]) and bool(turns),
        prior=str(content.get("prior", UNIFORM)),
    )
