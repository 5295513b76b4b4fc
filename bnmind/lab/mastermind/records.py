"""Channels, priors and transcripts of games as records of files.

This module imports pydantic, so it is imported when the first file is read or written.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import BeforeValidator, Field
from pydantic_core import to_json

from bnmind._arguments import checked
from bnmind._records import FileRecord, LargeRecord, Record, record_from_json
from bnmind.errors import (
    BnmindError,
    ModelFileError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.lab.mastermind.endings import Declared, Limit, Revealed
from bnmind.lab.mastermind.transcript import PlayedTurn, Transcript
from bnmind.mastermind.board import Board, digits_of
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.noise_parser import parse_noise
from bnmind.mastermind.priors.code_list import CodeList
from bnmind.mastermind.priors.prior import Prior
from bnmind.mastermind.priors.registry import parse_prior
from bnmind.mastermind.priors.uniform import UniformPrior
from bnmind.mastermind.reply import Reply
from bnmind.strategies.base.strategy import GuessInfo

__all__ = [
    "ChannelRecord",
    "PriorRecord",
    "channel_content",
    "is_named_channel",
    "is_named_prior",
    "listed_prior",
    "transcript_from_json",
    "transcript_to_json",
]

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
