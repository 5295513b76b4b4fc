"""Experiments as TOML and JSON files."""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, parse_json, read_text, write_file
from bnmind._messages import one_line, shown
from bnmind.errors import ExperimentFileError, ModelFileError, UnknownNameError
from bnmind.lab.experiments.adaptive_experiment import MEASURES
from bnmind.lab.experiments.experiment import Experiment
from bnmind.lab.experiments.toml_text import toml_text

__all__ = [
    "EXPERIMENTS",
    "ExperimentKind",
    "experiment_content",
    "experiment_from_text",
    "experiment_to_json",
    "experiment_to_toml",
    "read_experiment",
    "write_experiment",
]


@dataclass(frozen=True, kw_only=True)
class ExperimentKind:
    """A kind of experiment, and its form in files."""

    about: str
    """The kind, in a few words."""
    content: Callable[[Any], dict[str, Any]]
    """Return an experiment as plain values."""
    read: Callable[[Mapping[str, Any], Path], Experiment]
    """Return the experiment of plain values; names of files start from a directory."""
    keys: tuple[str, ...]
    """The columns that tell apart the rows of a summary."""
    measures: tuple[str, ...]
    """The columns of which a summary shows the means."""


# pydantic is imported when the first experiment is read or written.


def _game_content(experiment: Any) -> dict[str, Any]:
    from bnmind.lab.experiments.game_writing import game_content

    return game_content(experiment)


def _read_games(content: Mapping[str, Any], directory: Path) -> Experiment:
    from bnmind.lab.experiments.game_reading import game_experiment_from

    return game_experiment_from(content, directory)


def _test_content(experiment: Any) -> dict[str, Any]:
    from bnmind.lab.experiments.adaptive_files import test_content

    return test_content(experiment)


def _read_tests(content: Mapping[str, Any], directory: Path) -> Experiment:
    from bnmind.lab.experiments.adaptive_files import test_experiment_from

    return test_experiment_from(content, directory)


def _learning_content(experiment: Any) -> dict[str, Any]:
    from bnmind.lab.experiments.learning_files import learning_content

    return learning_content(experiment)


def _read_learning(content: Mapping[str, Any], directory: Path) -> Experiment:
    from bnmind.lab.experiments.learning_files import learning_experiment_from

    return learning_experiment_from(content, directory)


EXPERIMENTS: Mapping[str, ExperimentKind] = MappingProxyType(
    {
        "games": ExperimentKind(
            about="games of Mastermind strategies",
            content=_game_content,
            read=_read_games,
            keys=(
                *("board", "channel", "prior", "ending", "max_guesses"),
                *("strategy", "assumed", "assumed_prior"),
            ),
            measures=("guesses", "won", "seconds", "codes_examined"),
        ),
        "tests": ExperimentKind(
            about="adaptive tests of the same examinees",
            content=_test_content,
            read=_read_tests,
            keys=("selector",),
            measures=("length", *MEASURES),
        ),
        "learning": ExperimentKind(
            about="learning of a bank from many starts",
            content=_learning_content,
            read=_read_learning,
            keys=("converged",),
            measures=("objective", "log_likelihood", "steps"),
        ),
    }
)
"""The kinds of experiments, by the name that a file gives as ``kind``."""


@checked
def experiment_content(experiment: Experiment) -> dict[str, Any]:
    """Return an experiment as plain values: texts, numbers, lists and dictionaries.

    Parameters
    ----------
    experiment
        The experiment.

    Raises
    ------
    ExperimentFileError
        If a part of the experiment has no name by which a file could refer to it.
    UnknownNameError
        If its kind is not registered.
    """
    if experiment.kind not in EXPERIMENTS:
        raise UnknownNameError("kind of experiment", experiment.kind, EXPERIMENTS)
    content = EXPERIMENTS[experiment.kind].content(experiment)
    return {name: _plain(value) for name, value in content.items()}


def _plain(value: Any) -> Any:
    """Return a value with numbers of Python in place of those of NumPy."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, Mapping):
        return {name: _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value


@checked
def experiment_to_toml(experiment: Experiment) -> str:
    """Return an experiment as TOML, which `experiment_from_text` reads.

    Parameters
    ----------
    experiment
        The experiment.

    Raises
    ------
    ExperimentFileError
        See `experiment_content`.
    """
    return toml_text(experiment_content(experiment))


@checked
def experiment_to_json(experiment: Experiment) -> str:
    """Return an experiment as JSON, which `experiment_from_text` reads.

    Parameters
    ----------
    experiment
        The experiment.

    Raises
    ------
    ExperimentFileError
        See `experiment_content`.
    """
    return json.dumps(experiment_content(experiment), indent=2, ensure_ascii=False) + "\n"


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
    ExperimentFileError
        If the text is not an experiment. The error lists all faults with their places.

    Examples
    --------
    >>> experiment_from_text(
    ...     'kind = "games"\nboard = "4x6"\nnoise = ["exact", "false:0.2"]\nstrategies = "knuth"'
    ... )
    GameExperiment(2 settings, 2,000 games)
    """
    content = _parsed(text)
    if not isinstance(content, dict):
        raise ExperimentFileError([f"expected an experiment, got {shown(content)}"], content)
    kind = content.get("kind")
    if not isinstance(kind, str) or kind not in EXPERIMENTS:
        known = " or ".join(f'kind = "{name}"' for name in EXPERIMENTS)
        problem = "none" if kind is None else shown(kind)
        raise ExperimentFileError([f"kind: expected {known}, got {problem}"], kind)
    return EXPERIMENTS[kind].read(content, directory)


@checked
def read_experiment(path: str | os.PathLike[str]) -> Experiment:
    """Read an experiment from a TOML or JSON file.

    Parameters
    ----------
    path
        The file: TOML or JSON.

    Raises
    ------
    ExperimentFileError
        If the file is not an experiment. The error lists all faults with their places.
    ModelFileError
        If the file cannot be read.
    """
    text = read_text(path, most=SMALL_FILE)
    try:
        return experiment_from_text(text, directory=Path(path).parent)
    except ExperimentFileError as error:
        problems = [f"{os.fspath(path)}: {error.problems[0]}", *error.problems[1:]]
        raise ExperimentFileError(problems, os.fspath(path)) from error


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
    ExperimentFileError
        See `experiment_content`.
    FileWriteError
        If the file cannot be written.
    """
    is_json = Path(path).suffix.lower() == ".json"
    write_file(path, (experiment_to_json if is_json else experiment_to_toml)(experiment))


def _parsed(text: str) -> Any:
    """Return the value of a TOML or JSON text."""
    if text.lstrip().startswith("{"):
        try:
            return parse_json(text)
        except ModelFileError as error:
            raise ExperimentFileError([str(error)], one_line(text)) from error
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as error:
        raise ExperimentFileError([f"expected TOML ({error})"], one_line(text)) from error
