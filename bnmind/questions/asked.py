"""The arguments of questions, read and checked: targets, candidates, evidence and costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from bnmind._messages import listed, shown
from bnmind._values import frozen
from bnmind.errors import InvalidArgumentError, UnknownNameError
from bnmind.information import Floats
from bnmind.junction.engine import Engine, compile_model
from bnmind.junction.inference.evidence import Evidence, by_name, read_findings, real_numbers
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.pgm.network import FactorModel, Network

if TYPE_CHECKING:
    import pandas

__all__ = [
    "Asked",
    "Costs",
    "Opened",
    "costs_of",
    "engine_of",
    "findings_of",
    "opened",
    "targets_of",
]

Costs: TypeAlias = "Mapping[str, float] | pandas.Series[float]"
"""The cost of each question, by name."""

Asked: TypeAlias = Network | FactorModel | Engine
"""A network, a product of factors, or an engine."""


def engine_of(asked: Asked, limits: Limits | None) -> Engine:
    """Return the engine that answers, with other limits if they are given."""
    if not isinstance(asked, Engine):
        return compile_model(asked, limits=limits or DEFAULT_LIMITS)
    return asked if limits is None else replace(asked, limits=limits)


class Opened(NamedTuple):
    """The arguments of a question that is valid."""

    engine: Engine
    findings: Mapping[str, Any]
    """The evidence, states as text, without what is missing."""
    targets: tuple[str, ...]
    candidates: tuple[str, ...]
    """The variables that may be observed, in the order of the model."""


def opened(
    asked: Asked,
    about: str | Iterable[str],
    among: str | Iterable[str] | None,
    evidence: Evidence | None,
    *,
    limits: Limits | None = None,
) -> Opened:
    """Return the arguments of a question, read and checked; see the functions below for errors."""
    engine = engine_of(asked, limits)
    findings = findings_of(engine.model, evidence)
    targets = targets_of(engine.model, about, findings)
    return Opened(engine, findings, targets, candidates_of(engine.model, among, targets, findings))


def findings_of(model: Network | FactorModel, evidence: Evidence | None) -> Mapping[str, Any]:
    """Return the evidence with states as text and without missing findings.

    Raises
    ------
    UnknownNameError
        If the model has no such variable, or the variable no such state.
    InvalidArgumentError
        If the evidence is not a mapping.
    """
    given = by_name(evidence, "the evidence")
    findings = read_findings(given, (), [model.variable(name) for name in given])
    read_only: Mapping[str, Any] = frozen(findings)
    return read_only


def targets_of(
    model: Network | FactorModel, about: str | Iterable[str], findings: Mapping[str, Any]
) -> tuple[str, ...]:
    """Return the names of the targets, of which none is observed.

    Raises
    ------
    UnknownNameError
        If the model has no such variable.
    InvalidArgumentError
        If there is none, one is named twice, or its state is known.
    """
    names = _names(about, "about")
    problems = _faults(model, names, findings, "target")
    if not names:
        problems.append("name at least one target in about, such as about=['fault']")
    if problems:
        raise InvalidArgumentError(listed(problems), names)
    return names


def candidates_of(
    model: Network | FactorModel,
    among: str | Iterable[str] | None,
    about: Sequence[str],
    findings: Mapping[str, Any],
) -> tuple[str, ...]:
    """Return the names of the questions in the order of the model's variables.

    By default these are all variables that are neither targets nor in the evidence. Variables
    whose state is known are no questions.

    Raises
    ------
    UnknownNameError
        If the model has no such variable.
    InvalidArgumentError
        If one is named twice.
    """
    if among is None:
        gone = {*about, *findings}
        return tuple(v.name for v in model.variables if v.name not in gone)
    names = _names(among, "among")
    if problems := _faults(model, names, {}, "question"):
        raise InvalidArgumentError(listed(problems), names)
    chosen = {name for name in names if not isinstance(findings.get(name), str)}
    return tuple(v.name for v in model.variables if v.name in chosen)


def costs_of(model: Network | FactorModel, costs: Costs | None, among: Sequence[str]) -> Floats:
    """Return the cost of each question, ``(questions,)``; 0 if it is not given.

    Raises
    ------
    UnknownNameError
        If a cost is of no variable of the model.
    InvalidArgumentError
        If a cost is not a number of at least 0.
    """
    given = by_name(costs, "the costs")
    numbers = real_numbers(list(given.values()), "the costs") if given else np.zeros(0)
    if numbers.shape != (len(given),):
        raise InvalidArgumentError("the costs must be one number for each question", costs)
    by_question: dict[str, float] = {}
    problems = []
    for name, cost in zip(given, numbers.tolist(), strict=True):
        model.variable(name)
        by_question[name] = cost
        if not (np.isfinite(cost) and cost >= 0):
            problems.append(f"the cost of {name} must be a number of at least 0, got {cost}")
    if problems:
        raise InvalidArgumentError(listed(problems), costs)
    return np.array([by_question.get(name, 0.0) for name in among])


def _names(given: str | Iterable[str], what: str) -> tuple[str, ...]:
    """Return names as a tuple; a single text is one name."""
    names = (given,) if isinstance(given, str) else tuple(given)
    if wrong := [name for name in names if not isinstance(name, str)]:
        raise InvalidArgumentError(
            f"expected the names of variables in {what}, got {shown(wrong[0])}", given
        )
    return names


def _faults(
    model: Network | FactorModel, names: Sequence[str], findings: Mapping[str, Any], what: str
) -> list[str]:
    known = [v.name for v in model.variables]
    for name in names:
        if name not in known:
            raise UnknownNameError("variable", name, known)
    repeated = [name for name in dict.fromkeys(names) if names.count(name) > 1]
    observed = [name for name in dict.fromkeys(names) if isinstance(findings.get(name), str)]
    return [
        *(f"the {what} {name} is named twice" for name in repeated),
        *(f"the {what} {name} is in the evidence already" for name in observed),
    ]
