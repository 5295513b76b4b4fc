"""Experiments with games as plain values, as files hold them.

::

    kind = "games"
    games = 1000                # or "all", to play every code once
    seed = 7
    board = "4x6"
    noise = ["exact", "false:0.2"]
    strategies = ["knuth", {name = "entropy", assume = "false:0.1"}]

The fields of a setting (board, repeats, noise, prior, ending, max_guesses, strategies) stand at the
top, or in tables ``[[settings]]``, which take from the top the fields that they lack. Lists of
boards, noises, priors and endings stand for all their combinations.

This module imports pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BeforeValidator, Field

from bnmind._messages import shown
from bnmind.errors import BnmindError, ExperimentFileError
from bnmind.lab.experiments.experiment import VERSION
from bnmind.lab.experiments.faults import Faults, record_of
from bnmind.lab.experiments.game_experiment import GameExperiment
from bnmind.lab.mastermind.ending_names import parse_ending
from bnmind.lab.mastermind.endings import Ending
from bnmind.lab.mastermind.setting import GameSetting, Player
from bnmind.lab.mastermind.setting_json import (
    ChannelRecord,
    Part,
    PriorRecord,
    read_channel,
    read_prior,
)
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.noise_parser import parse_noise
from bnmind.mastermind.priors.code_list import CodeList
from bnmind.mastermind.priors.prior import Prior
from bnmind.mastermind.priors.registry import parse_prior
from bnmind.strategies import strategy_by_name
from bnmind.strategies.base.strategy import Strategy

__all__ = ["game_experiment_from"]

_UNIFORM = "uniform"


def _as_list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _as_table(value: Any) -> Any:
    return {"name": value} if isinstance(value, str) else value


def _as_tables(value: Any) -> list[Any]:
    return [_as_table(one) for one in _as_list(value)]


class _Noise(Part):
    name: str
    reports: list[str] | None = None
    matrix: list[list[float]] | None = None
    ends: bool = False


class _Prior(Part):
    name: str
    codes: list[Annotated[tuple[list[int], float], Field(strict=False)]] | None = None


class _Strategy(Part):
    name: str
    assume: Annotated[_Noise | None, BeforeValidator(_as_table)] = None
    assume_prior: Annotated[_Prior | None, BeforeValidator(_as_table)] = None


_Texts: TypeAlias = Annotated[list[str], BeforeValidator(_as_list), Field(min_length=1)]


class _Setting(Part):
    board: _Texts
    repeats: bool = True
    noise: Annotated[list[_Noise], BeforeValidator(_as_tables), Field(min_length=1)]
    prior: Annotated[list[_Prior], BeforeValidator(_as_tables)] = Field(
        default=[_Prior(name=_UNIFORM)], min_length=1
    )
    ending: _Texts = Field(default=["revealed"])
    max_guesses: int = 100
    strategies: Annotated[list[_Strategy], BeforeValidator(_as_tables), Field(min_length=1)]


def _no_all(value: Any) -> Any:
    return None if value == "all" else value


class _Experiment(Part):
    kind: Literal["games"]
    version: int = VERSION
    games: Annotated[int | None, BeforeValidator(_no_all)] = 1000
    seed: int = 0
    match: int = 1
    turns: bool = False
    batch_games: int | None = None
    settings: Annotated[list[_Setting], Field(min_length=1)]


def game_experiment_from(content: Mapping[str, Any], directory: Path) -> GameExperiment:
    """Return the experiment of the content of a file.

    Parameters
    ----------
    content
        The content, as `experiment_content` returns it or as the head of this module shows.
    directory
        The directory from which the names of files in it start.

    Raises
    ------
    ExperimentFileError
        If the content is not such an experiment. The error lists all faults with their places.
    """
    record = record_of(_Experiment, _spread(content))
    faults = Faults()
    settings: list[GameSetting] = []
    for number, entry in enumerate(record.settings, start=1):
        settings += _settings(entry, f"settings {number}", directory, faults)
    if faults.found:
        raise ExperimentFileError(faults.found, content)
    options = record.model_dump(exclude={"kind", "settings"})
    try:
        return GameExperiment(settings=tuple(settings), **options)
    except BnmindError as fault:
        raise ExperimentFileError([str(fault)], content) from fault


def _spread(content: Mapping[str, Any]) -> dict[str, Any]:
    """Return the content with the fields of settings at the top moved into each setting."""
    top = {key: value for key, value in content.items() if key in _Setting.model_fields}
    rest = {key: value for key, value in content.items() if key not in top}
    settings = rest.get("settings", [{}])
    if isinstance(settings, list):
        rest["settings"] = [{**top, **one} if isinstance(one, Mapping) else one for one in settings]
    return rest


def _settings(entry: _Setting, place: str, directory: Path, faults: Faults) -> list[GameSetting]:
    """Return the settings of all combinations of a table; faults are collected."""
    strategies = [
        faults.at(f"{place}, strategies {n}", strategy_by_name, one.name)
        for n, one in enumerate(entry.strategies, start=1)
    ]
    endings = [
        faults.at(f"{place}, ending {n}", parse_ending, one, entry.max_guesses)
        for n, one in enumerate(entry.ending, start=1)
    ]
    made = []
    for n, text in enumerate(entry.board, start=1):
        board = faults.at(f"{place}, board {n}", _board, text, entry.repeats)
        if board is None:
            continue
        reader = _Reader(board, place, directory, faults)
        channels = [reader.channel(one, f"noise {m}") for m, one in enumerate(entry.noise, 1)]
        priors = [reader.prior(one, f"prior {m}") for m, one in enumerate(entry.prior, 1)]
        players = tuple(
            reader.player(strategy, one, f"strategies {m}")
            for m, (strategy, one) in enumerate(zip(strategies, entry.strategies, strict=True), 1)
        )
        if not faults.found:
            for channel, prior, ending in product(channels, priors, endings):
                made.append(faults.at(place, _setting, channel, prior, ending, players))
    return [setting for setting in made if setting is not None]


def _setting(
    channel: Channel | None,
    prior: Prior | None,
    ending: Ending | None,
    players: tuple[Player | None, ...],
) -> GameSetting:
    assert channel is not None  # otherwise there would be a fault
    assert ending is not None
    seated = tuple(player for player in players if player is not None)
    return GameSetting(channel=channel, prior=prior, ending=ending, players=seated)


def _board(text: str, repeats: bool) -> Board:
    pegs, sign, colors = text.partition("x")
    if not (sign and pegs.isdecimal() and colors.isdecimal() and len(text) < 20):
        raise ExperimentFileError([f"expected a board such as 4x6, got {shown(text)}"], text)
    return Board(int(pegs), int(colors), repeats=repeats)


class _Reader:
    """The reader of the parts of a setting that belong to a board."""

    def __init__(self, board: Board, place: str, directory: Path, faults: Faults) -> None:
        self.board, self.place, self.directory, self.faults = board, place, directory, faults

    def channel(self, record: _Noise, where: str) -> Channel | None:
        """Return a channel; None if it has a fault."""
        return self.faults.at(f"{self.place}, {where}", self._channel, record)

    def prior(self, record: _Prior, where: str) -> Prior | None:
        """Return the prior of the secrets; None if it is uniform or has a fault."""
        if record == _Prior(name=_UNIFORM):
            return None
        return self.faults.at(f"{self.place}, {where}", self._prior, record)

    def player(self, strategy: Strategy | None, record: _Strategy, where: str) -> Player | None:
        """Return a player; None without a strategy."""
        channel: Channel | None = None
        prior: Prior | None = None
        if record.assume is not None:
            channel = self.channel(record.assume, f"{where}, assume")
        if record.assume_prior is not None:
            place = f"{self.place}, {where}, assume_prior"
            prior = self.faults.at(place, self._prior, record.assume_prior)
        return None if strategy is None else Player(strategy, channel, prior, record.name)

    def _channel(self, record: _Noise) -> Channel:
        if record.matrix is not None and record.reports is not None:
            whole = ChannelRecord(**record.model_dump())
            return read_channel(self.board, whole)
        parts = {"reports": record.reports, "matrix": record.matrix, "ends": record.ends or None}
        given = [name for name, value in parts.items() if value is not None]
        if given:
            raise ExperimentFileError(
                [f"expected both reports and matrix, or neither, got only {' and '.join(given)}"],
                record,
            )
        channel = parse_noise(self.board, self._located(record.name))
        return replace(channel, name=record.name) if channel.name != record.name else channel

    def _prior(self, record: _Prior) -> Prior:
        if record.codes is None:
            prior: Prior = parse_prior(self.board, self._located(record.name))
            if isinstance(prior, CodeList):
                return replace(prior, name=record.name)
            return prior
        prior_or_none = read_prior(self.board, PriorRecord(**record.model_dump()))
        assert prior_or_none is not None
        return prior_or_none

    def _located(self, name: str) -> str:
        """Return a name with the path in it starting from here, if there is one."""
        kind, _, path = name.strip().partition(":")
        return f"file:{self.directory / path}" if kind == "file" and path else name
