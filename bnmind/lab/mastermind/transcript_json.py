"""Transcripts as JSON files."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import FailFast, Field, ValidationError

from bnmind._arguments import checked
from bnmind._messages import made_by_newer
from bnmind.errors import BnmindError, ModelFileError
from bnmind.lab.mastermind.endings import Declared, Ending, Limit, Revealed
from bnmind.lab.mastermind.setting_json import (
    ChannelRecord,
    Part,
    PriorRecord,
    read_channel,
    read_prior,
    written_channel,
    written_prior,
)
from bnmind.lab.mastermind.transcript import PlayedTurn, Transcript
from bnmind.mastermind.board import Board
from bnmind.mastermind.reply import Reply
from bnmind.strategies.base.strategy import GuessInfo

__all__ = ["transcript_from_json", "transcript_to_json"]


class _Board(Part):
    pegs: int
    colors: int
    repeats: bool


class _Revealed(Part):
    kind: Literal["revealed"] = "revealed"
    limit: int


class _Declared(Part):
    kind: Literal["declared"] = "declared"
    certainty: float
    limit: int


class _Limit(Part):
    kind: Literal["limit"] = "limit"
    limit: int


class _Turn(Part):
    guess: list[int]
    true_reply: str
    report: str | None
    noise: Annotated[float, Field(ge=0, lt=1)]
    score: float | None
    information: float | None
    expected_entropy: float | None
    tied: int
    evaluated: int | None = None


class _Transcript(Part):
    format: Literal["bnmind transcript"]
    version: Literal[1]
    board: _Board
    strategy: str
    channel: ChannelRecord
    assumed: ChannelRecord
    ending: Annotated[_Revealed | _Declared | _Limit, Field(discriminator="kind")]
    seed: int | None
    secret: list[int]
    turns: Annotated[list[_Turn], FailFast()]  # only the first fault is told
    won: bool
    declared: list[int] | None
    prior: PriorRecord | None = None
    assumed_prior: PriorRecord | None = None


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
    TooLargeError
        If a prior has no name from which it could be made again, and too many codes to list.
    """
    board = transcript.board
    model = _Transcript(
        format="bnmind transcript",
        version=1,
        board=_Board(pegs=board.pegs, colors=board.colors, repeats=board.repeats),
        strategy=transcript.strategy,
        channel=written_channel(transcript.channel),
        assumed=written_channel(transcript.assumed),
        ending=_written_ending(transcript.ending),
        seed=transcript.seed,
        secret=list(transcript.secret),
        turns=[
            _Turn(
                guess=list(turn.guess),
                true_reply=str(turn.true_reply),
                report=None if turn.report is None else str(turn.report),
                noise=turn.noise,
                score=_number(turn.info.score),
                information=_number(turn.info.information),
                expected_entropy=_number(turn.info.expected_entropy),
                tied=turn.info.tied,
                evaluated=turn.info.evaluated,
            )
            for turn in transcript.turns
        ],
        won=transcript.won,
        declared=None if transcript.declared is None else list(transcript.declared),
        prior=written_prior(transcript.prior),
        assumed_prior=written_prior(transcript.assumed_prior),
    )
    unknown = {
        place: {"evaluated"} for place, turn in enumerate(model.turns) if turn.evaluated is None
    }
    uniform = {name: True for name in ("prior", "assumed_prior") if getattr(model, name) is None}
    return model.model_dump_json(indent=2, exclude={"turns": unknown, **uniform}) + "\n"


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
    try:
        model = _Transcript.model_validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        newer = made_by_newer(first["input"], 1) if first["loc"] == ("version",) else ""
        where = ".".join(str(part) for part in first["loc"]) or "the file"
        raise ModelFileError(
            f"expected a transcript of format version 1, got at {where}: {first['msg']}{newer}"
        ) from error
    try:
        return _read(model)
    except BnmindError as error:
        raise ModelFileError(f"expected a transcript of a game; {error}") from error


def _read(model: _Transcript) -> Transcript:
    board = Board(model.board.pegs, model.board.colors, repeats=model.board.repeats)

    def code(colors: list[int]) -> tuple[int, ...]:
        board.index(colors)
        return tuple(colors)

    turns = tuple(
        PlayedTurn(
            guess=code(turn.guess),
            true_reply=Reply.parse(turn.true_reply, pegs=board.pegs),
            report=None if turn.report is None else Reply.parse(turn.report, pegs=board.pegs),
            noise=turn.noise,
            info=GuessInfo(
                guess=board.index(turn.guess),
                score=_float(turn.score),
                information=_float(turn.information),
                expected_entropy=_float(turn.expected_entropy),
                tied=turn.tied,
                evaluated=turn.evaluated,
            ),
        )
        for turn in model.turns
    )
    return Transcript(
        strategy=model.strategy,
        channel=read_channel(board, model.channel),
        assumed=read_channel(board, model.assumed),
        ending=_read_ending(model.ending),
        secret=code(model.secret),
        turns=turns,
        won=model.won,
        declared=None if model.declared is None else code(model.declared),
        seed=model.seed,
        prior=read_prior(board, model.prior),
        assumed_prior=read_prior(board, model.assumed_prior),
    )


def _written_ending(ending: Ending) -> _Revealed | _Declared | _Limit:
    if isinstance(ending, Revealed):
        return _Revealed(limit=ending.limit)
    if isinstance(ending, Declared):
        return _Declared(certainty=ending.certainty, limit=ending.limit)
    if isinstance(ending, Limit):
        return _Limit(limit=ending.limit)
    raise ModelFileError(
        f"expected an ending that a file can name, got {type(ending).__name__}", ending
    )


def _read_ending(model: _Revealed | _Declared | _Limit) -> Ending:
    if isinstance(model, _Revealed):
        return Revealed(model.limit)
    if isinstance(model, _Declared):
        return Declared(model.certainty, model.limit)
    return Limit(model.limit)


def _number(value: float) -> float | None:
    """Return the number, or None for nan, which JSON lacks."""
    return None if math.isnan(value) else value


def _float(value: float | None) -> float:
    return math.nan if value is None else value
