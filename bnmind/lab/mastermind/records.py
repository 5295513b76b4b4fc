"""Files of games: transcripts, channels and priors as records, and games that go on later.

This module imports pydantic, so it is imported when the first file is read or written.

A file is written completely or not at all. That of ``bnmind play`` has the seed of the hidden code
and of the luck instead of the replies, so it does not show the code.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeAlias, TypeVar

import numpy as np
from pydantic import BeforeValidator, Field
from pydantic_core import to_json

from bnmind._arguments import checked
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
from bnmind._records import FileRecord, LargeRecord, Record, record_from_json
from bnmind._values import Value
from bnmind.errors import (
    BnmindError,
    InvalidArgumentError,
    ModelFileError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.lab.mastermind.games import Declared, Limit, PlayedTurn, Revealed, Transcript
from bnmind.mastermind.board import Board, Reply, Turn, digits_of
from bnmind.mastermind.channel import Channel, parse_noise
from bnmind.mastermind.prior import UNIFORM, Prior, UniformPrior
from bnmind.mastermind.priors import CodeList, parse_prior
from bnmind.strategies.strategy import GuessInfo

if TYPE_CHECKING:
    from bnmind.mastermind import Board

# --- Channels, priors and transcripts of games as records of files --------------------------------


_HERE = Path()
_MOST_LISTED = 2**17  # the most codes of a prior that a file lists


class ChannelRecord(Record):
    """A channel: its name, or all that determines it."""

    name: str
    reports: list[str] | None = None
    matrix: list[list[float]] | None = None
    ends: bool = False

    def channel(self, board: Board, directory: Path = _HERE) -> Channel:
        """Return the channel of the name, or of reports and a matrix."""
        if self.reports is None or self.matrix is None:
            return self._named(board, directory)
        if len({len(row) for row in self.matrix}) > 1:
            raise ModelFileError(f"channel {self.name}: expected rows of one length")
        return Channel(
            board=board,
            reports=tuple(Reply.parse(report, pegs=board.pegs) for report in self.reports),
            matrix=np.array(self.matrix),
            name=self.name,
            ends=self.ends,
        )

    def _named(self, board: Board, directory: Path) -> Channel:
        parts = {"reports": self.reports, "matrix": self.matrix, "ends": self.ends or None}
        given = [name for name, value in parts.items() if value is not None]
        if given:
            raise ModelFileError(
                [f"expected both reports and matrix, or neither, got only {' and '.join(given)}"],
                self,
            )
        channel = parse_noise(board, _located(self.name, directory))
        return channel if channel.name == self.name else replace(channel, name=self.name)


def _located(name: str, directory: Path) -> str:
    """Return a name; a path in it starts from a directory."""
    kind, _, path = name.strip().partition(":")
    return f"file:{directory / path}" if kind == "file" and path else name


class _WholeChannel(ChannelRecord):
    reports: list[str]
    matrix: list[list[float]]
    ends: bool


def _as_pair(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # TOML has no tuples


class PriorRecord(Record):
    """A prior, with its codes if its name does not determine it."""

    name: str
    codes: list[Annotated[tuple[list[int], float], BeforeValidator(_as_pair)]] | None = None

    def prior(self, board: Board, directory: Path = _HERE) -> Prior:
        """Return the prior of the name, or of the codes."""
        if self.codes is None:
            prior: Prior = parse_prior(board, _located(self.name, directory))
            return replace(prior, name=self.name) if isinstance(prior, CodeList) else prior
        codes = [board.checked(code) for code, _ in self.codes]
        probabilities = [probability for _, probability in self.codes]
        return CodeList(board, np.array(codes, dtype=np.uint8), np.array(probabilities), self.name)


def channel_content(channel: Channel) -> dict[str, Any]:
    """Return the content of the record of a channel."""
    return {
        "name": channel.name,
        "reports": [str(report) for report in channel.reports],
        "matrix": channel.matrix.tolist(),
        "ends": channel.ends,
    }


def is_named_channel(channel: Channel) -> bool:
    """Return whether the name of a channel determines it, wherever the name is read."""
    if channel.name.startswith("file:"):
        return False
    try:
        named = parse_noise(channel.board, channel.name)
    except BnmindError:
        return False
    same = (named.reports, named.ends) == (channel.reports, channel.ends)
    return same and np.array_equal(named.matrix, channel.matrix)


def is_named_prior(prior: Prior) -> bool:
    """Return whether the name of a prior determines it, wherever the name is read."""
    if prior.name.startswith("file:"):
        return False
    try:
        return bool(parse_prior(prior.board, prior.name) == prior)
    except BnmindError:
        return False


def listed_prior(prior: Prior) -> dict[str, Any]:
    """Return the name of a prior and its possible codes."""
    if isinstance(prior, CodeList):
        rows, p = prior.codes, prior.probabilities
    else:
        p = prior.distribution().probabilities
        possible = np.flatnonzero(p)
        if len(possible) > _MOST_LISTED:
            raise TooLargeError(
                f"expected a prior of at most {_MOST_LISTED:,} possible codes in a file, got"
                f" {prior.name}, which has {len(possible):,}",
                needed=len(possible),
                budget=_MOST_LISTED,
            )
        rows, p = digits_of(prior.board, possible), p[possible]
    codes = [list(pair) for pair in zip(rows.tolist(), p.tolist(), strict=True)]
    return {"name": prior.name, "codes": codes}


_ENDINGS: Mapping[str, Any] = {"revealed": Revealed, "declared": Declared, "limit": Limit}


def _from_unknown(value: Any) -> Any:
    return math.nan if value is None else value  # JSON has no nan


_Float: TypeAlias = Annotated[float, BeforeValidator(_from_unknown)]


class _Turn(LargeRecord):
    guess: list[int]
    true_reply: str
    report: str | None
    noise: Annotated[float, Field(ge=0, lt=1)]
    score: _Float
    information: _Float
    expected_entropy: _Float
    tied: int
    evaluated: int | None = None

    def turn(self, board: Board) -> PlayedTurn:
        """Return the turn."""
        report = None if self.report is None else Reply.parse(self.report, pegs=board.pegs)
        info = GuessInfo(
            guess=board.index(self.guess),
            score=self.score,
            information=self.information,
            expected_entropy=self.expected_entropy,
            tied=self.tied,
            evaluated=self.evaluated,
        )
        return PlayedTurn(
            guess=tuple(self.guess),
            true_reply=Reply.parse(self.true_reply, pegs=board.pegs),
            report=report,
            noise=self.noise,
            info=info,
        )


class _Transcript(FileRecord):
    board: dict[str, Any]
    strategy: str
    channel: _WholeChannel
    assumed: _WholeChannel
    ending: dict[str, Any]
    seed: int | None
    secret: list[int]
    turns: list[_Turn]
    won: bool
    declared: list[int] | None
    prior: PriorRecord | None = None
    assumed_prior: PriorRecord | None = None

    def transcript(self) -> Transcript:
        """Return the transcript."""
        board = _made("board", Board, self.board)
        kind = _ENDINGS.get(str(self.ending.get("kind")))
        if kind is None:
            raise UnknownNameError("kind of ending", self.ending.get("kind"), _ENDINGS)
        limits = {name: value for name, value in self.ending.items() if name != "kind"}
        board.index(self.secret)
        if self.declared is not None:
            board.index(self.declared)
        return Transcript(
            strategy=self.strategy,
            channel=self.channel.channel(board),
            assumed=self.assumed.channel(board),
            ending=_made("ending", kind, limits),
            secret=tuple(self.secret),
            turns=tuple(turn.turn(board) for turn in self.turns),
            won=self.won,
            declared=None if self.declared is None else tuple(self.declared),
            seed=self.seed,
            prior=_prior_of(self.prior, board),
            assumed_prior=_prior_of(self.assumed_prior, board),
        )


def _prior_of(record: PriorRecord | None, board: Board) -> Prior | None:
    """Return the prior of a record, but read no file that it names."""
    if record is None:
        return None
    if record.codes is None and record.name.startswith("file:"):
        raise ModelFileError(
            f"expected the codes of the prior {record.name} in the transcript", record.name
        )
    return record.prior(board)


def _made(place: str, make: Any, fields: Mapping[str, Any]) -> Any:
    """Return an object with the fields of a file, which checks them itself."""
    try:
        return make(**fields)
    except TypeError as fault:
        raise ModelFileError(f"{place}: expected other keys than {', '.join(fields)}") from fault


@checked
def transcript_to_json(transcript: Transcript) -> str:
    """Return a transcript as JSON, which `transcript_from_json` reads.

    Uniform priors and unknown numbers of examined codes are left out, so that the files of plain
    games stay readable for versions of the library that know neither.

    Parameters
    ----------
    transcript
        The game.

    Raises
    ------
    ModelFileError
        If the ending is not one of bnmind.
    TooLargeError
        If a prior has no name from which it could be made again, and too many codes to list.
    """
    board, ending = transcript.board, transcript.ending
    kind = next((name for name, kind in _ENDINGS.items() if type(ending) is kind), None)
    if kind is None:
        raise ModelFileError(
            f"expected an ending that a file can name, got {type(ending).__name__}", ending
        )
    content: dict[str, Any] = {
        "format": "bnmind transcript",
        "version": 1,
        "board": {"pegs": board.pegs, "colors": board.colors, "repeats": board.repeats},
        "strategy": transcript.strategy,
        "channel": channel_content(transcript.channel),
        "assumed": channel_content(transcript.assumed),
        "ending": {"kind": kind, **vars(ending)},
        "seed": transcript.seed,
        "secret": transcript.secret,
        "turns": [_turn_content(turn) for turn in transcript.turns],
        "won": transcript.won,
        "declared": transcript.declared,
    }
    for name in ("prior", "assumed_prior"):
        prior = getattr(transcript, name)
        if prior is not None and not isinstance(prior, UniformPrior):
            is_named = is_named_prior(prior)
            content[name] = {"name": prior.name, "codes": None} if is_named else listed_prior(prior)
    return to_json(content, indent=2, inf_nan_mode="null").decode() + "\n"


def _turn_content(turn: PlayedTurn) -> dict[str, Any]:
    info = turn.info
    evaluated = {} if info.evaluated is None else {"evaluated": info.evaluated}
    return {
        "guess": turn.guess,
        "true_reply": str(turn.true_reply),
        "report": None if turn.report is None else str(turn.report),
        "noise": turn.noise,
        "score": info.score,
        "information": info.information,
        "expected_entropy": info.expected_entropy,
        "tied": info.tied,
        **evaluated,
    }


@checked
def transcript_from_json(text: str) -> Transcript:
    """Read a transcript from JSON.

    Use `replay` to check that such a game is possible.

    Parameters
    ----------
    text
        The text, as `transcript_to_json` returns it.

    Raises
    ------
    ModelFileError
        If the text is not a transcript.
    """
    record = record_from_json(text, "bnmind transcript", {1: _Transcript})
    try:
        return record.transcript()
    except BnmindError as error:
        raise ModelFileError(f"expected a transcript of a game; {error}") from error


# --- Games that go on later: rows that can be edited, and files with a game -----------------------


_T = TypeVar("_T")

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


def _read(path: Path, read: Callable[[dict[str, Any]], _T], name: str, *versions: int) -> _T:
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
    from bnmind.mastermind import Board, Reply

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
