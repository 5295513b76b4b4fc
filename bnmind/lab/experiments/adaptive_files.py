"""Experiments with adaptive tests as plain values, as files hold them.

::

    kind = "tests"
    bank = "fractions.json"
    selectors = ["entropy", "random"]
    stop = ["items:10", "certainty:0.9"]    # as --stop: any of them ends a test
    examinees = 1000                        # or: responses = "answers.csv"
    seed = 7

An experiment that is written holds its bank and its responses itself. This module imports pydantic.
"""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field

from bnmind._messages import shown
from bnmind.adaptive import (
    STOPPERS,
    AllOf,
    AnyOf,
    Responses,
    Stopper,
    selector_by_name,
    stopper_by_names,
)
from bnmind.errors import BnmindError, ExperimentFileError
from bnmind.lab.experiments.adaptive_experiment import TestExperiment
from bnmind.lab.experiments.adaptive_parts import (
    ResponsesRecord,
    as_list,
    as_table,
    bank_of,
    bank_text,
    responses_content,
    responses_of,
)
from bnmind.lab.experiments.experiment import VERSION
from bnmind.lab.experiments.faults import Faults, record_of
from bnmind.lab.mastermind.setting_json import Part

__all__ = ["test_content", "test_experiment_from"]


class _Experiment(Part):
    kind: Literal["tests"]
    version: int = VERSION
    bank: str
    selectors: Annotated[list[str], BeforeValidator(as_list), Field(min_length=1)]
    stop: Annotated[list[str], BeforeValidator(as_list)] = Field(default=[])
    examinees: int | None = None
    responses: Annotated[ResponsesRecord | None, BeforeValidator(as_table)] = None
    seed: int = 0
    steps: bool = False
    batch_examinees: int = 500


def test_experiment_from(content: Mapping[str, Any], directory: Path) -> TestExperiment:
    """Return the experiment of the content of a file.

    Parameters
    ----------
    content
        The content, as `test_content` returns it or as the head of this module shows.
    directory
        The directory from which the names of files in it start.

    Raises
    ------
    ExperimentFileError
        If the content is not such an experiment. The error lists all faults with their places.
    """
    record = record_of(_Experiment, content)
    faults = Faults()
    if record.examinees is not None and record.responses is not None:
        faults.found.append("expected either examinees or responses, got both")
    if len(set(record.selectors)) < len(record.selectors):
        faults.found.append(f"selectors: expected different ones, got {shown(record.selectors)}")
    bank = faults.at("bank", bank_of, record.bank, directory)
    selectors = {
        name: faults.at(f"selectors {number}", selector_by_name, name)
        for number, name in enumerate(record.selectors, start=1)
    }
    stopper = faults.at("stop", stopper_by_names, record.stop)
    people: int | Responses | None = 1000 if record.examinees is None else record.examinees
    if record.responses is not None:
        people = faults.at("responses", responses_of, record.responses, directory)
    if faults.found:
        raise ExperimentFileError(faults.found, content)
    try:
        return TestExperiment(
            bank=bank,  # type: ignore[arg-type]
            selectors=selectors,  # type: ignore[arg-type]
            stopper=stopper,
            examinees=people,  # type: ignore[arg-type]
            seed=record.seed,
            steps=record.steps,
            batch_examinees=record.batch_examinees,
            version=record.version,
        )
    except BnmindError as fault:
        raise ExperimentFileError([str(fault)], content) from fault


def test_content(experiment: TestExperiment) -> dict[str, Any]:
    """Return an experiment as plain values, from which `test_experiment_from` makes it again.

    Raises
    ------
    ExperimentFileError
        If a selector or the stopper has no name. The error lists all faults.
    """
    faults = Faults()
    content: dict[str, Any] = {
        "kind": experiment.kind,
        "version": experiment.version,
        "selectors": [
            faults.at(f"selectors {number}", _named_selector, name, selector)
            for number, (name, selector) in enumerate(experiment.selectors.items(), start=1)
        ],
        "stop": faults.at("stop", _stop_texts, experiment.stopper),
        "seed": experiment.seed,
        "steps": experiment.steps,
        "batch_examinees": experiment.batch_examinees,
    }
    people = experiment.examinees
    if isinstance(people, Responses):
        content["responses"] = responses_content(people)
    else:
        content["examinees"] = people
    content["bank"] = bank_text(experiment.bank)
    if faults.found:
        raise ExperimentFileError(faults.found, experiment)
    return content


def _named_selector(name: str, selector: object) -> str:
    if not _same(selector_by_name(name), selector):
        raise ExperimentFileError([f"the name {shown(name)} does not lead to the selector"], name)
    return name


def _stop_texts(stopper: Stopper | None) -> list[str]:
    """Return the texts from which `stopper_by_names` makes a stopper."""
    if stopper is None:
        return []
    any_of = stopper.stoppers if isinstance(stopper, AnyOf) else (stopper,)
    texts = ["+".join(map(_stop_text, _all_of(one))) for one in any_of]
    if not _same(stopper_by_names(texts), stopper):
        raise ExperimentFileError(["expected a stopper that a file can name"], stopper)
    return texts


def _all_of(stopper: Stopper) -> tuple[Stopper, ...]:
    return tuple(stopper.stoppers) if isinstance(stopper, AllOf) else (stopper,)


def _stop_text(stopper: Stopper) -> str:
    """Return the name of a registered stopper, with its argument."""
    first = next(iter(vars(stopper).values()), None)
    for name in STOPPERS:
        text = f"{name}:{first!r}"
        try:
            if _same(stopper_by_names([text]), stopper):
                return text
        except BnmindError:
            continue
    raise ExperimentFileError(
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
