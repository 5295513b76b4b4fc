"""Games that go on later: rows that can be edited, and the files of ``bnmind assist`` and ``play``.

A file is written completely or not at all. That of ``bnmind play`` has the seed of the hidden code
and of the luck instead of the replies, so it does not show the code.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

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
from bnmind._values import Value
from bnmind.errors import BnmindError, InvalidArgumentError, ModelFileError
from bnmind.mastermind.board import Board, Reply, Turn
from bnmind.mastermind.prior import UNIFORM

_Game = TypeVar("_Game")

FORMAT = "bnmind assist"
VERSION = 2
"""The version of files with a prior; files without one have version 1."""
VERSION_OF_ROWS = 3
"""The version of files of games in which rows are ignored."""


@dataclass(frozen=True)
class GameRows(Value):
    """The guesses of a game with their replies, some of which the player does not trust.

    Rows are numbered from 1, as people see them.

    Examples
    --------
    >>> from bnmind.mastermind import Board, parse_history
    >>> rows = GameRows(parse_history(Board(4, 6), "1123 1b1w, 2345 0b2w"))
    >>> doubted = rows.toggled(1)
    >>> len(doubted.turns), len(doubted.trusted), doubted.toggled(1) == rows
    (2, 1, True)
    """

    turns: tuple[Turn, ...] = ()
    """All turns, oldest first."""
    ignored: tuple[int, ...] = ()
    """The numbers of the rows that are left out of account, ascending."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for row in self.ignored:
            self._require(row)
        self._set(ignored=tuple(sorted(set(self.ignored))))

    @property
    def trusted(self) -> tuple[Turn, ...]:
        """The turns that are taken into account."""
        return tuple(t for row, t in enumerate(self.turns, start=1) if row not in self.ignored)

    def turn(self, row: int) -> Turn:
        """Return the turn of a row.

        Raises
        ------
        InvalidArgumentError
            If there is no such row.
        """
        self._require(row)
        return self.turns[row - 1]

    def added(self, turn: Turn) -> GameRows:
        """Return the rows with one more at the end."""
        return replace(self, turns=(*self.turns, turn))

    def first(self, n: int) -> GameRows:
        """Return the first ``n`` rows."""
        return GameRows(self.turns[:n], tuple(row for row in self.ignored if row <= n))

    def edited(self, row: int, turn: Turn) -> GameRows:
        """Return the rows with another turn in a row, which is then trusted.

        Raises
        ------
        InvalidArgumentError
            If there is no such row.
        """
        self._require(row)
        turns = (*self.turns[: row - 1], turn, *self.turns[row:])
        return GameRows(turns, tuple(one for one in self.ignored if one != row))

    def toggled(self, row: int) -> GameRows:
        """Return the rows with a row left out of account, or taken into account again.

        Raises
        ------
        InvalidArgumentError
            If there is no such row.
        """
        self._require(row)
        return replace(self, ignored=tuple({row}.symmetric_difference(self.ignored)))

    def without(self, row: int) -> GameRows:
        """Return the rows without one of them.

        Raises
        ------
        InvalidArgumentError
            If there is no such row.
        """
        self._require(row)
        later = tuple(one - (one > row) for one in self.ignored if one != row)
        return GameRows((*self.turns[: row - 1], *self.turns[row:]), later)

    def ignoring(self, row: int) -> GameRows:
        """Return the rows with a row left out of account, whether it was or not.

        Raises
        ------
        InvalidArgumentError
            If there is no such row.
        """
        self._require(row)
        return replace(self, ignored=(*self.ignored, row))

    def _require(self, row: int) -> None:
        if not 1 <= row <= len(self.turns):
            rows = (
                f"expected a row from 1 to {len(self.turns)}" if self.turns else "there is no row"
            )
            raise InvalidArgumentError(f"{rows}{f', got {row}' if self.turns else ' yet'}", row)


# --- A game of `bnmind assist` --------------------------------------------------------------------


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
    ModelFileError
        If the content of the file is not `before`, or the file cannot be written. An existing file
        is then unchanged.
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
    return _write(path, record, before=before)


def _write(path: Path, record: Mapping[str, Any], *, before: bytes | None) -> bytes:
    """Write the record of a game like `write_game`."""
    content = encoded(path, json.dumps(record, indent=2) + "\n")
    with locked(path):
        # A file that was removed in the meantime is written again: nothing can be lost.
        if content_of(path) not in (before, None):
            raise ModelFileError(
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
    return _read(path, _game_of, FORMAT, 1, VERSION, VERSION_OF_ROWS)


def _read(path: Path, read: Callable[[dict[str, Any]], _Game], name: str, *versions: int) -> _Game:
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


def _game_of(content: dict[str, Any]) -> SavedGame:
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


# --- A game of `bnmind play` ----------------------------------------------------------------------

_PLAY = "bnmind play"


@dataclass(frozen=True, kw_only=True)
class SavedPlay:
    """A game against the computer."""

    board: Board
    noise: str
    """The noise, the prior and the ending are texts as at the command line."""
    prior: str
    ending: str
    max_guesses: int | None
    seed: int
    guesses: tuple[tuple[int, ...], ...] = ()
    ignored: tuple[int, ...] = ()
    """The numbers of the rows that the player does not trust, from 1."""
    undone: int = 0
    hints: int = 0
    over: bool = False


def write_play(path: Path, game: SavedPlay, *, before: bytes | None) -> bytes:
    """Write a game to a file, and return the new content; like `write_game`.

    Raises
    ------
    ModelFileError
        If the content of the file is not `before`, or it cannot be written.
    """
    board = game.board
    record = {
        "format": _PLAY,
        "version": 1,
        "pegs": board.pegs,
        "colors": board.colors,
        "repeats": board.repeats,
        "noise": game.noise,
        "prior": game.prior,
        "ending": game.ending,
        "max_guesses": game.max_guesses,
        "seed": game.seed,
        "guesses": [board.format(guess) for guess in game.guesses],
        "ignored": list(game.ignored),
        "undone": game.undone,
        "hints": game.hints,
        "over": game.over,
    }
    return _write(path, record, before=before)


def read_play(path: Path) -> SavedPlay:
    """Read a game from a file.

    Raises
    ------
    InvalidArgumentError
        If the file is not such a game, or comes from a later version of bnmind.
    ModelFileError
        If the file cannot be read, is not UTF-8, or is far longer than a game.
    """
    return _read(path, _play_of, _PLAY, 1)


def _play_of(content: dict[str, Any]) -> SavedPlay:
    board = Board(content["pegs"], content["colors"], repeats=content["repeats"])
    limit = content["max_guesses"]
    guesses = tuple(board.parse(guess) for guess in content["guesses"])
    return SavedPlay(
        board=board,
        noise=str(content["noise"]),
        prior=str(content["prior"]),
        ending=str(content["ending"]),
        max_guesses=None if limit is None else int(limit),
        seed=int(content["seed"]),
        guesses=guesses,
        ignored=tuple(row for row in map(int, content["ignored"]) if 1 <= row <= len(guesses)),
        undone=int(content["undone"]),
        hints=int(content["hints"]),
        over=bool(content["over"]),
    )
