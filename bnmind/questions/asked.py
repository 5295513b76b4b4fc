"""The arguments of questions, read and checked: targets, candidates, evidence and costs.

Costs may come from a CSV file with the columns ``question`` and ``cost``, and the targets and
candidates from the marks for diagnosis in an XDSL file. GeNIe marks a node as a target
(``diagtype="target"``), an observation (``diagtype="observation"``) or neither. The states of a
target that are faults have ``fault="true"``. Observations with ``ranked="true"`` are to be ranked
by their value.
"""

from __future__ import annotations

import csv
import math
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._files import SMALL_FILE, read_text
from bnmind._messages import first_faults, listed, shown
from bnmind._values import Value, frozen
from bnmind.errors import InvalidArgumentError, ModelFileError, UnknownNameError
from bnmind.information import Floats
from bnmind.junction.engine import Engine, compile_model
from bnmind.junction.evidence import Evidence, by_name, read_findings, real_numbers
from bnmind.junction.limits import DEFAULT_LIMITS, Limits
from bnmind.pgm.encoded_names import decoded
from bnmind.pgm.formats.model_format import read_from
from bnmind.pgm.formats.xml import smile_of
from bnmind.pgm.network import FactorModel, Network

if TYPE_CHECKING:
    import pandas

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
    """Return the arguments of a question, read and checked.

    By default the candidates are all variables that are neither targets nor in the evidence.
    Variables whose state is known are no questions.

    Raises
    ------
    UnknownNameError, InvalidArgumentError
        As `findings_of` and `targets_of`; or if a candidate is not in the model, or named twice.
    """
    engine = engine_of(asked, limits)
    model = engine.model
    findings = findings_of(model, evidence)
    targets = targets_of(model, about, findings)
    names = [v.name for v in model.variables]
    if among is None:
        gone = {*targets, *findings}
        return Opened(engine, findings, targets, tuple(n for n in names if n not in gone))
    given = _names(among, "among")
    if problems := _faults(model, given, {}, "question"):
        raise InvalidArgumentError(listed(problems), given)
    chosen = {name for name in given if not isinstance(findings.get(name), str)}
    return Opened(engine, findings, targets, tuple(name for name in names if name in chosen))


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


_HEADER = ["question", "cost"]


@checked
def read_costs(path: str | os.PathLike[str]) -> dict[str, float]:
    """Return the costs in a CSV file, {question: cost}.

    Parameters
    ----------
    path
        The file. Its first line is ``question,cost``.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or is not of this form. The error lists all faulty lines.
    """
    place = os.fspath(path)
    try:
        rows = list(csv.reader(read_text(path, most=SMALL_FILE).splitlines(), strict=True))
    except csv.Error as fault:
        raise ModelFileError(f"{place} is not a CSV file: {fault}", place) from fault
    if not rows or [cell.strip() for cell in rows[0]] != _HEADER:
        raise ModelFileError(
            f"expected a CSV file with the first line question,cost in {place}, got"
            f" {shown(','.join(rows[0]) if rows else '')}",
            place,
        )
    costs: dict[str, float] = {}
    faults = []
    for line, row in enumerate(rows[1:], start=2):
        if not row:
            continue
        name, cost = row[0].strip(), _number(row[1]) if len(row) == 2 else math.nan
        if not (name and cost >= 0 and math.isfinite(cost)):
            faults.append(f"line {line} must be a question and a cost of at least 0, got {row}")
        elif name in costs:
            faults.append(f"line {line} names {name} again")
        costs[name] = cost
    if faults:
        raise ModelFileError(f"{listed(first_faults(faults))}, in {place}", place)
    return costs


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


@dataclass(frozen=True, kw_only=True)
class DiagnosisMarks(Value):
    """The roles of variables in a diagnosis; variables without a role are in none of the lists."""

    targets: tuple[str, ...] = ()
    """The variables that the diagnosis is about."""
    observations: tuple[str, ...] = ()
    """The variables that can be observed."""
    ranked: tuple[str, ...] = ()
    """The observations that are to be ranked by their value."""
    faults: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The states of targets that are faults."""


@checked
def read_diagnosis(path: str | os.PathLike[str]) -> DiagnosisMarks:
    """Return the targets and observations that a ``.xdsl`` file of GeNIe marks for diagnosis.

    Parameters
    ----------
    path
        The file; ``.gz`` if it is compressed. It need not have any marks.

    Raises
    ------
    ModelFileError
        If the file cannot be read or is not of this format, with the place.
    """
    return read_from(path, _marks)


def _marks(data: bytes) -> DiagnosisMarks:
    """Return the marks in an XDSL file; errors as for the network in it."""
    root, encoded = smile_of(data)

    def original(name: str) -> str:
        return decoded(name) if encoded else name

    nodes = [(original(node.attribute("id")), node) for node in root.one("nodes").children]
    targets = [(name, n) for name, n in nodes if n.attributes.get("diagtype") == "target"]
    seen = [(name, n) for name, n in nodes if n.attributes.get("diagtype") == "observation"]
    faults = {
        name: tuple(
            original(state.attribute("id"))
            for state in node.each("state")
            if state.attributes.get("fault") == "true"
        )
        for name, node in targets
    }
    return DiagnosisMarks(
        targets=tuple(name for name, _ in targets),
        observations=tuple(name for name, _ in seen),
        ranked=tuple(name for name, node in seen if node.attributes.get("ranked") == "true"),
        faults={name: states for name, states in faults.items() if states},
    )
