"""Experiments as TOML files, or as JSON with the same content.

People write names::

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

An experiment that is written holds its bank, its responses and its channels itself.

This module imports pydantic, so it is imported when the first file is read or written.
"""

from __future__ import annotations

import json
import os
import pickle
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from pathlib import Path
from types import MappingProxyType
from typing import Annotated, Any, TypeAlias

import numpy as np
from pydantic import BeforeValidator, Field, model_validator

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, read_text, write_file
from bnmind._messages import shown
from bnmind._records import (
    Faults,
    Record,
    Texts,
    as_list,
    in_file,
    or_table,
    parse_table,
    record_from_table,
)
from bnmind._values import Count, Natural
from bnmind.adaptive import (
    STOPPERS,
    AllOf,
    AnyOf,
    Bounds,
    ItemBank,
    LearningOptions,
    Responses,
    Stopper,
    read_bank,
    selector_by_name,
    stopper_by_names,
)
from bnmind.adaptive.items.qmatrix import read_qmatrix
from bnmind.adaptive.items.records import bank_from_json, bank_to_json
from bnmind.adaptive.learning.model import bank_to_learn
from bnmind.adaptive.response_models.registry import gate_of
from bnmind.errors import (
    BnmindError,
    InvalidArgumentError,
    ModelFileError,
    UnknownNameError,
)
from bnmind.lab.experiments import MEASURES, VERSION, Experiment, LearningExperiment, TestExperiment
from bnmind.lab.game_experiments import GameExperiment
from bnmind.lab.mastermind.games import Declared, Ending, parse_ending
from bnmind.lab.mastermind.records import (
    ChannelRecord,
    PriorRecord,
    channel_content,
    is_named_channel,
    is_named_prior,
    listed_prior,
)
from bnmind.lab.mastermind.setting import GameSetting, Player, format_ending, leads_to
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.prior import Prior
from bnmind.mastermind.priors import CodeList
from bnmind.strategies import strategy_by_name

_TOO_LARGE = 2**31
"""Smaller codes fit into an array, which checks them; no response has such a code."""


class _Responses(Record):
    """Recorded answers: a file, or items and codes."""

    file: str | None = None
    items: list[str] | None = None
    codes: list[list[int]] | None = None

    def responses(self, directory: Path) -> Responses:
        """Return the responses."""
        has_table = self.items is not None or self.codes is not None
        if self.file is not None:
            if has_table:
                raise ModelFileError(
                    ["expected either the name of a CSV file or items and codes, got both"], self
                )
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
_Noise: TypeAlias = Annotated[ChannelRecord, or_table("name")]
_NamedPrior: TypeAlias = Annotated[PriorRecord, or_table("name")]


def _bank_of(text: str, directory: Path) -> ItemBank:
    """Return the bank in a file that is named, or in the text itself."""
    is_whole = text.lstrip().startswith("{")
    return bank_from_json(text) if is_whole else read_bank(directory / text)


def _format_bank(bank: ItemBank) -> str:
    """Return a bank as a text in one line, which `_bank_of` reads."""
    return json.dumps(json.loads(bank_to_json(bank)), ensure_ascii=False, separators=(",", ":"))


def _responses_content(responses: Responses) -> dict[str, Any]:
    return {"items": list(responses.items), "codes": responses.codes.tolist()}


_UNIFORM = PriorRecord(name="uniform")


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


class _Setting(Record):
    board: Texts
    repeats: bool = True
    noise: Annotated[list[_Noise], BeforeValidator(as_list), Field(min_length=1)]
    prior: Annotated[list[_NamedPrior], BeforeValidator(as_list), Field(min_length=1)] = Field(
        default=[_UNIFORM]
    )
    ending: Texts = Field(default=["revealed"])
    max_guesses: int = 100
    strategies: Annotated[
        list[Annotated[_Seat, or_table("name")]], BeforeValidator(as_list), Field(min_length=1)
    ]

    def settings(self, place: str, directory: Path, faults: Faults) -> Iterator[GameSetting]:
        """Yield the settings of all combinations; faults are collected."""
        strategies: list[Any] = [
            faults.at(f"{place}, strategies {n}", strategy_by_name, one.name)
            for n, one in enumerate(self.strategies, start=1)
        ]
        endings: list[Any] = [
            faults.at(f"{place}, ending {n}", parse_ending, one, self.max_guesses)
            for n, one in enumerate(self.ending, start=1)
        ]
        for n, text in enumerate(self.board, start=1):
            board = faults.at(f"{place}, board {n}", _board, text, self.repeats)
            if board is None:
                continue
            at = partial(faults.at, board=board, directory=directory)
            channels: list[Any] = [
                at(f"{place}, noise {m}", one.channel) for m, one in enumerate(self.noise, 1)
            ]
            priors = [
                None if one == _UNIFORM else at(f"{place}, prior {m}", one.prior)
                for m, one in enumerate(self.prior, start=1)
            ]
            assumed: list[tuple[Any, Any]] = [
                (
                    one.assume and at(f"{place}, strategies {m}, assume", one.assume.channel),
                    one.assume_prior
                    and at(f"{place}, strategies {m}, assume_prior", one.assume_prior.prior),
                )
                for m, one in enumerate(self.strategies, start=1)
            ]
            if faults.found:
                continue
            players = tuple(
                Player(strategy, *own, one.name)
                for strategy, own, one in zip(strategies, assumed, self.strategies, strict=True)
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


def _no_all(value: Any) -> Any:
    return None if value == "all" else value


class _Games(_Experiment):
    games: Annotated[int | None, BeforeValidator(_no_all)] = 1000
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
        batch = {} if experiment.batch_games is None else {"batch_games": experiment.batch_games}
        return {
            "games": "all" if experiment.games is None else experiment.games,
            "seed": experiment.seed,
            "match": experiment.match,
            "turns": experiment.turns,
            **batch,
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
    content["ending"] = faults.at(f"{place}, ending", _ending_content, setting.ending)
    content["max_guesses"] = setting.ending.limit
    content["strategies"] = [
        faults.at(f"{place}, strategies {n}", _player_content, player)
        for n, player in enumerate(setting.players, start=1)
    ]
    return content


def _noise_content(channel: Channel) -> str | dict[str, Any]:
    return channel.name if is_named_channel(channel) else channel_content(channel)


def _prior_content(prior: Prior) -> str | dict[str, Any]:
    if is_named_prior(prior):
        return prior.name
    if not isinstance(prior, CodeList):
        raise ModelFileError(
            [f"expected a prior of bnmind or a CodeList, got {prior.name}, which no file can name"],
            prior,
        )
    return listed_prior(prior)


def _ending_content(ending: Ending) -> str:
    text = format_ending(ending)
    if isinstance(ending, Declared):
        text = f"declared:{float(ending.certainty)!r}"
    try:
        same = parse_ending(text, ending.limit) == ending
    except BnmindError:
        same = False
    if not same:
        raise ModelFileError(
            [f"expected an ending that a file can name, got {type(ending).__name__}"], ending
        )
    return text


def _player_content(player: Player) -> str | dict[str, Any]:
    name = player.source or player.strategy.name
    if not leads_to(name, player.strategy):
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
        return {
            "bank": faults.at("bank", _bank_of, self.bank, directory),
            "selectors": {
                name: faults.at(f"selectors {number}", selector_by_name, name)
                for number, name in enumerate(self.selectors, start=1)
            },
            "stopper": faults.at("stop", stopper_by_names, self.stop),
            "examinees": examinees,
            "seed": self.seed,
            "steps": self.steps,
            "batch_examinees": self.batch_examinees,
        }

    @staticmethod
    def content(experiment: TestExperiment, faults: Faults) -> dict[str, Any]:
        people = experiment.examinees
        return {
            "selectors": [
                faults.at(f"selectors {number}", _named_selector, name, selector)
                for number, (name, selector) in enumerate(experiment.selectors.items(), start=1)
            ],
            "stop": faults.at("stop", _name_stoppers, experiment.stopper),
            "seed": experiment.seed,
            "steps": experiment.steps,
            "batch_examinees": experiment.batch_examinees,
            **(
                {"responses": _responses_content(people)}
                if isinstance(people, Responses)
                else {"examinees": people}
            ),
            "bank": _format_bank(experiment.bank),
        }


def _named_selector(name: str, selector: object) -> str:
    if not _same(selector_by_name(name), selector):
        raise ModelFileError([f"the name {shown(name)} does not lead to the selector"], name)
    return name


def _name_stoppers(stopper: Stopper | None) -> list[str]:
    """Return the texts from which `stopper_by_names` makes a stopper."""
    if stopper is None:
        return []
    any_of = stopper.stoppers if isinstance(stopper, AnyOf) else (stopper,)
    all_of = [one.stoppers if isinstance(one, AllOf) else (one,) for one in any_of]
    texts = ["+".join(map(_name_stopper, stoppers)) for stoppers in all_of]
    if not _same(stopper_by_names(texts), stopper):
        raise ModelFileError(["expected a stopper that a file can name"], stopper)
    return texts


def _name_stopper(stopper: Stopper) -> str:
    """Return the name of a registered stopper, with its argument."""
    first = next(iter(vars(stopper).values()), None)
    for name in STOPPERS:
        text = f"{name}:{first!r}"
        try:
            if _same(stopper_by_names([text]), stopper):
                return text
        except BnmindError:
            continue
    raise ModelFileError(
        [f"expected a stopper that a file can name, got {type(stopper).__name__}"], stopper
    )


def _same(one: object, other: object) -> bool:
    """Return whether two parts are the same, by equality or by all that they hold."""
    if type(one) is not type(other):
        return False
    try:
        return bool(one == other) or pickle.dumps(one) == pickle.dumps(other)
    except (pickle.PicklingError, AttributeError, TypeError, ValueError):
        return False


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


# --- Content as TOML ------------------------------------------------------------------------------

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_WIDTH = 100


def format_toml(content: Mapping[str, Any]) -> str:
    r"""Return a mapping of texts, numbers, truth values, lists and mappings as TOML.

    A list of mappings at the top becomes an array of tables. Values that are None are left out.

    References
    ----------
    TOML 1.0.0, https://toml.io/en/v1.0.0.

    Examples
    --------
    >>> print(format_toml({"games": 3, "settings": [{"board": "4x6"}]}), end="")
    games = 3
    <BLANKLINE>
    [[settings]]
    board = "4x6"
    """
    tables = {key: value for key, value in content.items() if _is_tables(value)}
    lines = _lines({key: value for key, value in content.items() if key not in tables})
    for key, rows in tables.items():
        for row in rows:
            lines += ["", f"[[{_key(key)}]]", *_lines(row)]
    return "\n".join(lines) + "\n"


def _is_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(v, Mapping) for v in value)


def _lines(content: Mapping[str, Any]) -> list[str]:
    lines = []
    for key, value in content.items():
        if value is None:
            continue
        line = f"{_key(key)} = {_value(value)}"
        if len(line) > _WIDTH and isinstance(value, list):
            parts = [f"    {_value(part)}," for part in value]
            line = "\n".join([f"{_key(key)} = [", *parts, "]"])
        lines.append(line)
    return lines


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _quote(key)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, str):
        return _quote(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, Mapping):
        pairs = [f"{_key(k)} = {_value(v)}" for k, v in value.items() if v is not None]
        return f"{{{', '.join(pairs)}}}"
    raise InvalidArgumentError(f"TOML has no value like {shown(value)}", value)


def _quote(text: str) -> str:
    # A basic string of TOML is one of JSON, but for the character DEL.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
