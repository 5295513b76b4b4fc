"""Experiments with learning as plain values, as files hold them.

::

    kind = "learning"
    responses = "answers.csv"
    qmatrix = "q.csv"           # or: bank = "bank.json"
    gate = "dina"               # the response model for a Q-matrix
    starts = 20
    seed = 7

An experiment that is written holds its bank and its responses itself. This module imports pydantic.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator

from bnmind.adaptive import Bounds, ItemBank, LearningOptions
from bnmind.adaptive.items.qmatrix_csv import read_qmatrix
from bnmind.adaptive.learning.model import bank_to_learn
from bnmind.adaptive.response_models.registry import gate_of
from bnmind.errors import BnmindError, ExperimentFileError
from bnmind.lab.experiments.adaptive_parts import (
    ResponsesRecord,
    as_table,
    bank_of,
    bank_text,
    responses_content,
    responses_of,
)
from bnmind.lab.experiments.experiment import VERSION
from bnmind.lab.experiments.faults import Faults, record_of
from bnmind.lab.experiments.learning_experiment import LearningExperiment
from bnmind.lab.mastermind.setting_json import Part

__all__ = ["learning_content", "learning_experiment_from"]

_DEFAULTS = LearningOptions()


class _Experiment(Part):
    kind: Literal["learning"]
    version: int = VERSION
    responses: Annotated[ResponsesRecord, BeforeValidator(as_table)]
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


def learning_experiment_from(content: Mapping[str, Any], directory: Path) -> LearningExperiment:
    """Return the experiment of the content of a file.

    Parameters
    ----------
    content
        The content, as `learning_content` returns it or as the head of this module shows.
    directory
        The directory from which the names of files in it start.

    Raises
    ------
    ExperimentFileError
        If the content is not such an experiment. The error lists all faults with their places.
    """
    record = record_of(_Experiment, content)
    faults = Faults()
    if (record.bank is None) == (record.qmatrix is None):
        faults.found.append("expected either bank or qmatrix")
    bank = faults.at("bank", _bank, record, directory)
    responses = faults.at("responses", responses_of, record.responses, directory)
    options = faults.at("options", _options, record)
    if faults.found:
        raise ExperimentFileError(faults.found, content)
    try:
        return LearningExperiment(
            responses=responses,  # type: ignore[arg-type]
            bank=bank,  # type: ignore[arg-type]
            options=options,  # type: ignore[arg-type]
            items=record.items,
            version=record.version,
        )
    except BnmindError as fault:
        raise ExperimentFileError([str(fault)], content) from fault


def _bank(record: _Experiment, directory: Path) -> ItemBank | None:
    if record.bank is not None:
        if record.gate is not None:
            raise ExperimentFileError(["a gate is for a Q-matrix; a bank has its own"], record.gate)
        return bank_of(record.bank, directory)
    if record.qmatrix is None:
        return None
    gate = gate_of(record.gate or "dina")
    return bank_to_learn(read_qmatrix(directory / record.qmatrix), gate, None)


def _options(record: _Experiment) -> LearningOptions:
    return LearningOptions(
        starts=record.starts,
        seed=record.seed,
        bounds=Bounds((0.0, record.max_guess), (0.0, record.max_slip)),
        max_iterations=record.max_iterations,
        tolerance=record.tolerance,
    )


def learning_content(experiment: LearningExperiment) -> dict[str, Any]:
    """Return an experiment as plain values, from which `learning_experiment_from` makes it again.

    Raises
    ------
    ExperimentFileError
        If it has options that a file does not have, such as priors.
    """
    options = experiment.options
    bounds = options.bounds
    guess, slip = (bounds.guess, bounds.slip) if isinstance(bounds, Bounds) else ((0, 0), (0, 0))
    content: dict[str, Any] = {
        "kind": experiment.kind,
        "version": experiment.version,
        "starts": experiment.n_rows,
        "seed": options.seed,
        "max_guess": guess[1],
        "max_slip": slip[1],
        "max_iterations": options.max_iterations,
        "tolerance": options.tolerance,
        "items": experiment.items,
        "responses": responses_content(experiment.responses),
        "bank": bank_text(experiment.bank),
    }
    known = {key: content[key] for key in ("starts", "seed", "max_iterations", "tolerance")}
    wanted = LearningOptions(bounds=Bounds((0.0, guess[1]), (0.0, slip[1])), **known)
    if replace(options, workers=1, starts=experiment.n_rows) != wanted:
        raise ExperimentFileError(
            ["expected options of learning that a file has: " + ", ".join(known) + " and bounds"],
            options,
        )
    return content
