"""Files with a game of ``bnmind play``: the seed of the hidden code, and the guesses so far.

The seed determines the code and the luck, so the file does not show the code.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bnmind.lab.mastermind.saved_game import read_record, write_record

if TYPE_CHECKING:
    from bnmind.mastermind import Board

__all__ = ["SavedPlay", "read_play", "write_play"]

_FORMAT = "bnmind play"
_VERSION = 1


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
    FileWriteError
        If the content of the file is not `before`, or it cannot be written.
    """
    board = game.board
    record = {
        "format": _FORMAT,
        "version": _VERSION,
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
    return write_record(path, record, before=before)


def read_play(path: Path) -> SavedPlay:
    """Read a game from a file.

    Raises
    ------
    InvalidArgumentError
        If the file is not such a game, or comes from a later version of bnmind.
    ModelFileError
        If the file cannot be read, is not UTF-8, or is far longer than a game.
    """
    return read_record(path, _game, _FORMAT, _VERSION)


def _game(content: dict[str, Any]) -> SavedPlay:
    from bnmind.mastermind import Board

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
