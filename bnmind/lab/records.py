"""Files of the laboratory: experiments, and transcripts of games.

An experiment is TOML, or JSON with the same content. People write names::

    kind = "games"
    games = 1000                # or "all", to play every code once
    seed = 7
    board = "4x6"
    noise = ["exact", "false:0.2"]
    strategies = ["knuth", {name = "entropy", assume = "false:0.1"}]

The fields of a setting (board, repeats, noise, prior, ending, max_guesses, strategies) stand at the
top, or in tables ``[[settings]]``, which take from the top the fields that they lack. Lists of
boards, noises, priors and endings stand for all their combinations. ::

    kind = "tests"
    bank = "fractions.json"
    selectors = ["entropy", "random"]
    stop = ["items:10", "certainty:0.9"]    # as --stop: any of them ends a test
    examinees = 1000                        # or: responses = "answers.csv"
    seed = 7

    kind = "learning"
    responses = "answers.csv"
    qmatrix = "q.csv"           # or: bank = "bank.json"
    gate = "dina"               # the response model for a Q-matrix
    starts = 20
    seed = 7

An experiment that is written holds its bank, its responses and its channels itself. So does a
transcript, which is JSON.

This module imports pydantic, so it is imported when the first file is read or written.
"""

from __future__ import annotations

import json
import math
import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import BeforeValidator, Field, model_validator
from pydantic_core import to_json

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, read_text, write_file
from bnmind._messages import shown
from bnmind._records import (
    Faults,
    FileRecord,
    LargeRecord,
    Record,
    Texts,
    as_list,
    in_file,
    or_table,
    parse_table,
    record_from_json,
    record_from_table,
)
from bnmind._registry import leads_to
from bnmind._values import Count, Natural
from bnmind.adaptive import (
    Bounds,
    ItemBank,
    LearningOptions,
    Responses,
    read_bank,
    selector_by_name,
    stopper_by_names,
)
from bnmind.adaptive.items.qmatrix import read_qmatrix
from bnmind.adaptive.learning.learn import bank_to_learn
from bnmind.adaptive.models import gate_of
from bnmind.adaptive.records import bank_from_json, bank_to_json
from bnmind.adaptive.stopping import name_stoppers
from bnmind.errors import BnmindError, ModelFileError, TooLargeError, UnknownNameError
from bnmind.lab.experiments import MEASURES, VERSION, Experiment, LearningExperiment, TestExperiment
from bnmind.lab.game_experiments import GameExperiment
from bnmind.lab.mastermind.games import (
    Declared,
    Limit,
    PlayedTurn,
    Revealed,
    Transcript,
    parse_ending,
)
from bnmind.lab.mastermind.setting import GameSetting, Player, name_ending
from bnmind.lab.result_files import format_toml
from bnmind.mastermind.board import Board, Reply, digits_of
from bnmind.mastermind.channel import Channel, parse_noise
from bnmind.mastermind.prior import Prior, UniformPrior
from bnmind.mastermind.priors import CodeList, parse_prior
from bnmind.strategies import strategy_by_name
from bnmind.strategies.strategy import GuessInfo

# --- Channels and priors --------------------------------------------------------------------------

_MOST_LISTED = 2**17  # the most codes of a prior that a file lists


class _Channel(Record):
    """A channel: its name, or all that determines it."""

    name: str
    reports: list[str] | None = None
    matrix: list[list[float]] | None = None
    ends: bool = False

    def channel(self, board: Board, directory: Path | None = None) -> Channel:
        """Return the channel of the name, or of reports and a matrix."""
        if self.reports is None or self.matrix is None:
            given = [key for key, value in self if key != "name" and value not in (None, False)]
            if given:
                told = (
                    f"expected both reports and matrix, or neither, got only {' and '.join(given)}"
                )
                raise ModelFileError([told], self)
            channel = parse_noise(board, _located(self.name, directory))
            return channel if channel.name == self.name else replace(channel, name=self.name)
        if len({len(row) for row in self.matrix}) > 1:
            raise ModelFileError(f"channel {self.name}: expected rows of one length")
        return Channel(
            board=board,
            reports=tuple(Reply.parse(report, pegs=board.pegs) for report in self.reports),
            matrix=np.array(self.matrix),
            name=self.name,
            ends=self.ends,
        )


class _WholeChannel(_Channel):
    reports: list[str]
    matrix: list[list[float]]
    ends: bool


def _located(name: str, directory: Path | None) -> str:
    """Return a name; a path in it starts from a directory, without which no file is read."""
    kind, _, path = name.strip().partition(":")
    if kind != "file" or not path:
        return name
    if directory is None:
        raise ModelFileError(f"expected all of {name} in this file", name)
    return f"file:{directory / path}"


def _channel_content(channel: Channel) -> dict[str, Any]:
    return {
        "name": channel.name,
        "reports": [str(report) for report in channel.reports],
        "matrix": channel.matrix.tolist(),
        "ends": channel.ends,
    }


def _noise_content(channel: Channel) -> str | dict[str, Any]:
    """Return the name of a channel if it determines the channel wherever it is read, or all."""
    if not channel.name.startswith("file:"):
        with suppress(BnmindError):
            named = parse_noise(channel.board, channel.name)
            same = (named.reports, named.ends) == (channel.reports, channel.ends)
            if same and np.array_equal(named.matrix, channel.matrix):
                return channel.name
    return _channel_content(channel)


def _as_pair(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value  # TOML has no tuples


class _Prior(Record):
    """A prior, with its codes if its name does not determine it."""

    name: str
    codes: list[Annotated[tuple[list[int], float], BeforeValidator(_as_pair)]] | None = None

    def prior(self, board: Board, directory: Path | None = None) -> Prior:
        """Return the prior of the name, or of the codes."""
        if self.codes is None:
            prior: Prior = parse_prior(board, _located(self.name, directory))
            return replace(prior, name=self.name) if isinstance(prior, CodeList) else prior
        codes = [board.checked(code) for code, _ in self.codes]
        probabilities = [probability for _, probability in self.codes]
        return CodeList(board, np.array(codes, dtype=np.uint8), np.array(probabilities), self.name)


def _is_named(prior: Prior) -> bool:
    """Return whether the name of a prior determines it, wherever the name is read."""
    try:
        return not prior.name.startswith("file:") and parse_prior(prior.board, prior.name) == prior
    except BnmindError:
        return False


def _listed_prior(prior: Prior) -> dict[str, Any]:
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


# --- Experiments ----------------------------------------------------------------------------------

_TOO_LARGE = 2**31
"""Smaller codes fit into an array, which checks them; no response has such a code."""


class _Responses(Record):
    """Recorded answers: a file, or items and codes."""

    file: str | None = None
    items: list[str] | None = None
    codes: list[list[int]] | None = None

    def responses(self, directory: Path) -> Responses:
        """Return the responses."""
        table = self.items, self.codes
        if self.file is not None and table != (None, None):
            raise ModelFileError(
                ["expected either the name of a CSV file or items and codes, got both"], self
            )
        if self.file is not None:
            return Responses.from_csv(directory / self.file)
        if self.items is None or self.codes is None:
            raise ModelFileError(["expected the name of a CSV file, or items and codes"], self)
        for number, row in enumerate(self.codes, start=1):
            if len(row) != len(self.items):
                raise ModelFileError(
                    [f"codes {number}: expected {len(self.items)} numbers, got {len(row)}"], row
                )
            if large := [code for code in row if abs(code) >= _TOO_LARGE]:
                raise ModelFileError(
                    [f"codes {number}: expected small numbers, got {shown(large[0])}"], row
                )
        return Responses(np.array(self.codes, dtype=np.int64), tuple(self.items))


_Answers: TypeAlias = Annotated[_Responses, or_table("file")]
_Noise: TypeAlias = Annotated[_Channel, or_table("name")]
_NamedPrior: TypeAlias = Annotated[_Prior, or_table("name")]


def _bank_of(text: str, directory: Path) -> ItemBank:
    """Return the bank in a file that is named, or in the text itself."""
    is_whole = text.lstrip().startswith("{")
    return bank_from_json(text) if is_whole else read_bank(directory / text)


def _format_bank(bank: ItemBank) -> str:
    """Return a bank as a text in one line, which `_bank_of` reads."""
    return json.dumps(json.loads(bank_to_json(bank)), ensure_ascii=False, separators=(",", ":"))


def _responses_content(responses: Responses) -> dict[str, Any]:
    return {"items": list(responses.items), "codes": responses.codes.tolist()}


class _Experiment(Record):
    """The fields of every kind of experiment; each kind says how they become parts, and back."""

    kind: str
    version: int = VERSION

    def parts(self, directory: Path, faults: Faults) -> dict[str, Any]:
        """Return the arguments of the experiment; names of files start from a directory."""
        raise NotImplementedError

    @staticmethod
    def content(experiment: Any, faults: Faults) -> dict[str, Any]:
        """Return an experiment as plain values, without its kind and version."""
        raise NotImplementedError


class _Seat(Record):
    """A strategy and what it assumes."""

    name: str
    assume: _Noise | None = None
    assume_prior: _NamedPrior | None = None

    def assumed(self, place: str, faults: Faults, **where: Any) -> tuple[Any, Any]:
        """Return the channel and the prior that it assumes, if any, on a board."""
        channel, prior = self.assume, self.assume_prior
        return (
            channel and faults.at(f"{place}, assume", channel.channel, **where),
            prior and faults.at(f"{place}, assume_prior", prior.prior, **where),
        )


class _Setting(Record):
    board: Texts
    repeats: bool = True
    noise: Annotated[list[_Noise], BeforeValidator(as_list), Field(min_length=1)]
    prior: Annotated[list[_NamedPrior], BeforeValidator(as_list), Field(min_length=1)] = Field(
        default=[_Prior(name="uniform")]
    )
    ending: Texts = Field(default=["revealed"])
    max_guesses: int = 100
    strategies: Annotated[
        list[Annotated[_Seat, or_table("name")]], BeforeValidator(as_list), Field(min_length=1)
    ]

    def settings(self, place: str, directory: Path, faults: Faults) -> Iterator[GameSetting]:
        """Yield the settings of all combinations; faults are collected."""
        names = [one.name for one in self.strategies]
        strategies = faults.each(f"{place}, strategies", strategy_by_name, names)
        find_ending = partial(parse_ending, limit=self.max_guesses)
        endings = faults.each(f"{place}, ending", find_ending, self.ending)
        find_board = partial(_board, repeats=self.repeats)
        for board in faults.each(f"{place}, board", find_board, self.board):
            if board is None:
                continue
            where = {"board": board, "directory": directory}
            channels = faults.each(
                f"{place}, noise", partial(_Channel.channel, **where), self.noise
            )
            priors = faults.each(f"{place}, prior", partial(_Prior.prior, **where), self.prior)
            assumed = [
                one.assumed(f"{place}, strategies {n}", faults, **where)
                for n, one in enumerate(self.strategies, start=1)
            ]
            if faults.found:
                continue
            players = tuple(
                Player(strategy, *own, name)
                for strategy, own, name in zip(strategies, assumed, names, strict=True)
            )
            for channel, prior, ending in product(channels, priors, endings):
                make = partial(GameSetting, channel=channel, players=players, prior=prior)
                setting = faults.at(place, make, ending=ending)
                yield from () if setting is None else (setting,)


def _board(text: str, repeats: bool) -> Board:
    pegs, sign, colors = text.partition("x")
    if not (sign and pegs.isdecimal() and colors.isdecimal() and len(text) < 20):
        raise ModelFileError([f"expected a board such as 4x6, got {shown(text)}"], text)
    return Board(int(pegs), int(colors), repeats=repeats)


class _Games(_Experiment):
    games: Annotated[
        int | None, BeforeValidator(lambda value: None if value == "all" else value)
    ] = 1000
    seed: int = 0
    match: int = 1
    turns: bool = False
    batch_games: Count | None = None
    settings: Annotated[list[_Setting], Field(min_length=1)]

    @model_validator(mode="before")
    @classmethod
    def _spread(cls, content: Any) -> Any:
        """Return the content with the fields of settings at the top moved into each setting."""
        top = {key: value for key, value in content.items() if key in _Setting.model_fields}
        rest = {key: value for key, value in content.items() if key not in top}
        settings = rest.get("settings", [{}])
        if isinstance(settings, list):
            rest["settings"] = [
                {**top, **one} if isinstance(one, dict) else one for one in settings
            ]
        return rest

    def parts(self, directory: Path, faults: Faults) -> dict[str, Any]:
        settings = [
            setting
            for number, record in enumerate(self.settings, start=1)
            for setting in record.settings(f"settings {number}", directory, faults)
        ]
        options = self.model_dump(exclude={"kind", "version", "settings"})
        return {**options, "settings": tuple(settings)}

    @staticmethod
    def content(experiment: GameExperiment, faults: Faults) -> dict[str, Any]:
        names = ("games", "seed", "match", "turns", "batch_games")
        given = {name: getattr(experiment, name) for name in names}
        return {
            "games": "all",
            **{name: value for name, value in given.items() if value is not None},
            "settings": [
                _setting_content(setting, f"settings {number}", faults)
                for number, setting in enumerate(experiment.settings, start=1)
            ],
        }


def _setting_content(setting: GameSetting, place: str, faults: Faults) -> dict[str, Any]:
    board = setting.board
    content: dict[str, Any] = {"board": f"{board.pegs}x{board.colors}"}
    if not board.repeats:
        content["repeats"] = False
    content["noise"] = _noise_content(setting.channel)
    if setting.prior is not None:
        content["prior"] = faults.at(f"{place}, prior", _prior_content, setting.prior)
    content["ending"] = faults.at(f"{place}, ending", name_ending, setting.ending)
    content["max_guesses"] = setting.ending.limit
    content["strategies"] = faults.each(f"{place}, strategies", _player_content, setting.players)
    return content


def _prior_content(prior: Prior) -> str | dict[str, Any]:
    if _is_named(prior):
        return prior.name
    if not isinstance(prior, CodeList):
        raise ModelFileError(
            [f"expected a prior of bnmind or a CodeList, got {prior.name}, which no file can name"],
            prior,
        )
    return _listed_prior(prior)


def _player_content(player: Player) -> str | dict[str, Any]:
    name = player.source or player.strategy.name
    if not leads_to(strategy_by_name, name, player.strategy):
        raise ModelFileError(
            [
                f"the name {shown(name)} does not lead to the strategy; give Player the source by"
                " which it is found, such as module:name"
            ],
            player,
        )
    content: dict[str, Any] = {"name": name}
    if player.assumed is not None:
        content["assume"] = _noise_content(player.assumed)
    if player.assumed_prior is not None:
        content["assume_prior"] = _prior_content(player.assumed_prior)
    return content if len(content) > 1 else name


class _Tests(_Experiment):
    bank: str
    selectors: Texts
    stop: Annotated[list[str], BeforeValidator(as_list)] = Field(default=[])
    examinees: Count | None = None
    responses: _Answers | None = None
    seed: Natural = 0
    steps: bool = False
    batch_examinees: Count = 500

    def parts(self, directory: Path, faults: Faults) -> dict[str, Any]:
        if self.examinees is not None and self.responses is not None:
            faults.found.append("expected either examinees or responses, got both")
        if len(set(self.selectors)) < len(self.selectors):
            faults.found.append(f"selectors: expected different ones, got {shown(self.selectors)}")
        examinees: Any = 1000 if self.examinees is None else self.examinees
        if self.responses is not None:
            examinees = faults.at("responses", self.responses.responses, directory)
        selectors = faults.each("selectors", selector_by_name, self.selectors)
        return {
            **self.model_dump(include={"seed", "steps", "batch_examinees"}),
            "bank": faults.at("bank", _bank_of, self.bank, directory),
            "selectors": dict(zip(self.selectors, selectors, strict=True)),
            "stopper": faults.at("stop", stopper_by_names, self.stop),
            "examinees": examinees,
        }

    @staticmethod
    def content(experiment: TestExperiment, faults: Faults) -> dict[str, Any]:
        people = experiment.examinees
        if isinstance(people, Responses):
            given: dict[str, Any] = {"responses": _responses_content(people)}
        else:
            given = {"examinees": people}
        return {
            "selectors": faults.each("selectors", _selector_content, experiment.selectors.items()),
            "stop": faults.at("stop", name_stoppers, experiment.stopper),
            "seed": experiment.seed,
            "steps": experiment.steps,
            "batch_examinees": experiment.batch_examinees,
            **given,
            "bank": _format_bank(experiment.bank),
        }


def _selector_content(named: tuple[str, object]) -> str:
    name, selector = named
    if not leads_to(selector_by_name, name, selector):
        raise ModelFileError([f"the name {shown(name)} does not lead to the selector"], name)
    return name


_DEFAULTS = LearningOptions()
_OPTIONS = ("starts", "seed", "max_iterations", "tolerance")
"""The options of learning that a file has under their own names."""


class _Learning(_Experiment):
    responses: _Answers
    bank: str | None = None
    qmatrix: str | None = None
    gate: str | None = None
    starts: int = 1
    seed: int = _DEFAULTS.seed
    max_guess: float = 1.0
    max_slip: float = 1.0
    max_iterations: int = _DEFAULTS.max_iterations
    tolerance: float = _DEFAULTS.tolerance
    items: bool = False

    def parts(self, directory: Path, faults: Faults) -> dict[str, Any]:
        if (self.bank is None) == (self.qmatrix is None):
            faults.found.append("expected either bank or qmatrix")
        return {
            "bank": faults.at("bank", self._bank, directory),
            "responses": faults.at("responses", self.responses.responses, directory),
            "options": faults.at("options", _options, self.model_dump()),
            "items": self.items,
        }

    def _bank(self, directory: Path) -> ItemBank | None:
        if self.bank is not None:
            if self.gate is not None:
                message = "a gate is for a Q-matrix; a bank has its own"
                raise ModelFileError([message], self.gate)
            return _bank_of(self.bank, directory)
        if self.qmatrix is None:
            return None
        gate = gate_of(self.gate or "dina")
        return bank_to_learn(read_qmatrix(directory / self.qmatrix), gate, None)

    @staticmethod
    def content(experiment: LearningExperiment, faults: Faults) -> dict[str, Any]:
        options = experiment.options
        bounds = options.bounds if isinstance(options.bounds, Bounds) else Bounds()
        content: dict[str, Any] = {
            "starts": experiment.n_rows,
            "seed": options.seed,
            "max_guess": bounds.guess[1],
            "max_slip": bounds.slip[1],
            "max_iterations": options.max_iterations,
            "tolerance": options.tolerance,
            "items": experiment.items,
            "responses": _responses_content(experiment.responses),
            "bank": _format_bank(experiment.bank),
        }
        if replace(options, workers=1, starts=experiment.n_rows) != _options(content):
            faults.found.append(
                f"expected options of learning that a file has: {', '.join(_OPTIONS)} and bounds"
            )
        return content


def _options(content: Mapping[str, Any]) -> LearningOptions:
    bounds = Bounds((0.0, content["max_guess"]), (0.0, content["max_slip"]))
    return LearningOptions(bounds=bounds, **{name: content[name] for name in _OPTIONS})


@dataclass(frozen=True, kw_only=True)
class ExperimentKind:
    """A kind of experiment, and its form in files."""

    about: str
    """The kind, in a few words."""
    makes: Callable[..., Experiment]
    """The class of its experiments."""
    record: type[_Experiment]
    """The record of its files."""
    keys: tuple[str, ...]
    """The columns that tell apart the rows of a summary."""
    measures: tuple[str, ...]
    """The columns of which a summary shows the means."""


EXPERIMENTS: Mapping[str, ExperimentKind] = MappingProxyType(
    {
        "games": ExperimentKind(
            about="games of Mastermind strategies",
            makes=GameExperiment,
            record=_Games,
            keys=(
                *("board", "channel", "prior", "ending", "max_guesses"),
                *("strategy", "assumed", "assumed_prior"),
            ),
            measures=("guesses", "won", "seconds", "codes_examined"),
        ),
        "tests": ExperimentKind(
            about="adaptive tests of the same examinees",
            makes=TestExperiment,
            record=_Tests,
            keys=("selector",),
            measures=("length", *MEASURES),
        ),
        "learning": ExperimentKind(
            about="learning of a bank from many starts",
            makes=LearningExperiment,
            record=_Learning,
            keys=("converged",),
            measures=("objective", "log_likelihood", "steps"),
        ),
    }
)
"""The kinds of experiments, by the name that a file gives as ``kind``."""


def _content(experiment: Experiment) -> dict[str, Any]:
    """Return an experiment as plain values: texts, numbers, lists and dictionaries."""
    if experiment.kind not in EXPERIMENTS:
        raise UnknownNameError("kind of experiment", experiment.kind, EXPERIMENTS)
    faults = Faults()
    content = EXPERIMENTS[experiment.kind].record.content(experiment, faults)
    if faults.found:
        raise ModelFileError(faults.found, experiment)
    version = getattr(experiment, "version", VERSION)
    return {"kind": experiment.kind, "version": version, **content}


@checked
def experiment_to_toml(experiment: Experiment) -> str:
    """Return an experiment as TOML, which `experiment_from_text` reads.

    Parameters
    ----------
    experiment
        The experiment.

    Raises
    ------
    ModelFileError
        If a part of the experiment has no name by which a file could refer to it.
    UnknownNameError
        If its kind is not registered.
    """
    return format_toml(_content(experiment))


@checked
def experiment_to_json(experiment: Experiment) -> str:
    """Return an experiment as JSON; see `experiment_to_toml`.

    Parameters
    ----------
    experiment
        The experiment.
    """
    return json.dumps(_content(experiment), indent=2, ensure_ascii=False) + "\n"


@checked
def experiment_from_text(text: str, *, directory: Path = Path()) -> Experiment:
    r"""Read an experiment from TOML or JSON; a text that starts with ``{`` is JSON.

    Parameters
    ----------
    text
        The text.
    directory
        The directory from which names of files in it start.

    Raises
    ------
    ModelFileError
        If the text is not an experiment. The error lists all faults with their places.

    Examples
    --------
    >>> experiment_from_text(
    ...     'kind = "games"\nboard = "4x6"\nnoise = ["exact", "false:0.2"]\nstrategies = "knuth"'
    ... )
    GameExperiment(2 settings, 2,000 games)
    """
    content = parse_table(text)
    name = content.get("kind")
    if not isinstance(name, str) or name not in EXPERIMENTS:
        known = " or ".join(f'kind = "{name}"' for name in EXPERIMENTS)
        problem = "none" if name is None else shown(name)
        raise ModelFileError([f"kind: expected {known}, got {problem}"], name)
    kind, faults = EXPERIMENTS[name], Faults()
    record = record_from_table(kind.record, content)
    parts = record.parts(directory, faults)
    if faults.found:
        raise ModelFileError(faults.found, content)
    try:
        return kind.makes(**parts, version=record.version)
    except BnmindError as fault:
        raise ModelFileError([str(fault)], content) from fault


@checked
def read_experiment(path: str | os.PathLike[str]) -> Experiment:
    """Read an experiment from a TOML or JSON file.

    Parameters
    ----------
    path
        The file: TOML or JSON.

    Raises
    ------
    ModelFileError
        If the file is not an experiment, or cannot be read. The error lists all faults with their
        places.
    """
    text = read_text(path, most=SMALL_FILE)
    try:
        return experiment_from_text(text, directory=Path(path).parent)
    except ModelFileError as error:
        raise in_file(error, path) from error


@checked
def write_experiment(experiment: Experiment, path: str | os.PathLike[str]) -> None:
    """Write an experiment to a file: JSON if its name ends with .json, otherwise TOML.

    Parameters
    ----------
    experiment
        The experiment.
    path
        The file; JSON if it ends with ``.json``.

    Raises
    ------
    ModelFileError, UnknownNameError
        See `experiment_to_toml`; also if the file cannot be written.
    """
    is_json = Path(path).suffix.lower() == ".json"
    write_file(path, (experiment_to_json if is_json else experiment_to_toml)(experiment))


# --- Transcripts of games -------------------------------------------------------------------------

_ENDINGS: Mapping[str, Any] = {"revealed": Revealed, "declared": Declared, "limit": Limit}


_Float: TypeAlias = Annotated[
    float, BeforeValidator(lambda value: math.nan if value is None else value)
]
"""A number; JSON has no nan."""

_REASONS = ("score", "information", "expected_entropy", "tied", "evaluated")
"""The fields of `GuessInfo` that a file has under their own names."""


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
        reasons = {name: getattr(self, name) for name in _REASONS}
        return PlayedTurn(
            guess=tuple(self.guess),
            true_reply=Reply.parse(self.true_reply, pegs=board.pegs),
            report=None if self.report is None else Reply.parse(self.report, pegs=board.pegs),
            noise=self.noise,
            info=GuessInfo(guess=board.index(self.guess), **reasons),
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
    prior: _Prior | None = None
    assumed_prior: _Prior | None = None

    def transcript(self) -> Transcript:
        """Return the transcript."""
        kind = self.ending.get("kind")
        if str(kind) not in _ENDINGS:
            raise UnknownNameError("kind of ending", kind, _ENDINGS)
        limits = {name: value for name, value in self.ending.items() if name != "kind"}
        try:
            board, ending = Board(**self.board), _ENDINGS[str(kind)](**limits)
        except TypeError as fault:
            keys = f"{', '.join(self.board)} of the board, or {', '.join(limits)} of the ending"
            raise ModelFileError(f"expected other keys than {keys}") from fault
        board.index(self.secret)
        if self.declared is not None:
            board.index(self.declared)
        priors: dict[str, Any] = {"prior": self.prior, "assumed_prior": self.assumed_prior}
        return Transcript(
            **self.model_dump(include={"strategy", "secret", "won", "declared", "seed"}),
            channel=self.channel.channel(board),
            assumed=self.assumed.channel(board),
            ending=ending,
            turns=tuple(turn.turn(board) for turn in self.turns),
            **{name: one and one.prior(board) for name, one in priors.items()},
        )


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
        "channel": _channel_content(transcript.channel),
        "assumed": _channel_content(transcript.assumed),
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
            named = {"name": prior.name, "codes": None}
            content[name] = named if _is_named(prior) else _listed_prior(prior)
    return to_json(content, indent=2, inf_nan_mode="null").decode() + "\n"


def _turn_content(turn: PlayedTurn) -> dict[str, Any]:
    reasons = {name: getattr(turn.info, name) for name in _REASONS}
    if turn.info.evaluated is None:
        del reasons["evaluated"]
    return {
        "guess": turn.guess,
        "true_reply": str(turn.true_reply),
        "report": None if turn.report is None else str(turn.report),
        "noise": turn.noise,
        **reasons,
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
