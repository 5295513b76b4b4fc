"""An inquiry: the network, the targets, the questions and the options of dialogues."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import listed
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.engine import Engine
from bnmind.junction.inference.evidence import Evidence
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.tabular import TabularCPD
from bnmind.questions.asked import Asked, Costs, costs_of, opened
from bnmind.questions.measures import JointEntropy, TargetMeasure
from bnmind.questions.scores import InformationOnly, QuestionScore
from bnmind.questions.tables import questions_text

__all__ = ["Inquiry", "fingerprint"]

_DIGITS = 9
"""Digits of the probabilities in a fingerprint; further digits may differ between machines."""


@dataclass(frozen=True, kw_only=True, eq=False, repr=False)
class Inquiry(Value):
    """The part of a dialogue that stays the same: what is asked, about what, and how.

    `Inquiry.of` makes one.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.5, 0.5]),
    ...                    TabularCPD(wet, (rain,), [[1.0, 0.5], [0.0, 0.5]])))
    >>> Inquiry.of(network, about="rain")
    Inquiry(about rain, 1 question)
    """

    engine: Engine
    """The engine that answers."""
    about: tuple[str, ...]
    """The targets."""
    among: tuple[str, ...]
    """The variables that may be asked, in the order of the network."""
    evidence: Mapping[str, Any] = field(default_factory=dict)
    """The evidence before the first question: states and likelihoods."""
    costs: Mapping[str, float] = field(default_factory=dict)
    """The cost of each question that has one."""
    measure: TargetMeasure = field(default_factory=JointEntropy)
    """The measure of what is unknown about several targets."""
    score: QuestionScore = field(default_factory=InformationOnly)
    """The score by which questions are chosen."""

    @classmethod
    @checked
    def of(
        cls,
        network: Asked,
        *,
        about: str | Iterable[str],
        among: str | Iterable[str] | None = None,
        evidence: Evidence | None = None,
        costs: Costs | None = None,
        measure: TargetMeasure | None = None,
        score: QuestionScore | None = None,
    ) -> Inquiry:
        """Return an inquiry. The parameters and errors are those of `rank_questions`.

        A target cannot be asked, and the evidence must be possible.

        Raises
        ------
        InvalidArgumentError
            If a variable is both a target and a question; otherwise as `rank_questions`.
        """
        engine, findings, targets, names = opened(network, about, among, evidence)
        if both := [name for name in names if name in targets]:
            raise InvalidArgumentError(
                listed([f"{name} cannot be both a target and a question" for name in both]), both
            )
        everything = [v.name for v in engine.model.variables]
        costs_in_order = costs_of(engine.model, costs, everything)
        engine.posterior([()], findings)  # raises if they are impossible
        return cls(
            engine=engine,
            about=targets,
            among=names,
            evidence=findings,
            costs={
                name: cost
                for name, cost in zip(everything, costs_in_order.tolist(), strict=True)
                if cost
            },
            measure=JointEntropy() if measure is None else measure,
            score=InformationOnly() if score is None else score,
        )

    def __repr__(self) -> str:
        return f"Inquiry(about {', '.join(self.about)}, {questions_text(len(self.among))})"


def fingerprint(engine: Engine) -> str:
    """Return a text that differs between networks with other variables, states, arcs or tables.

    Noisy nodes count by their kind, links and leak, and functional nodes by their function.
    """
    digest = hashlib.sha256()
    for v in engine.model.variables:
        digest.update(json.dumps([v.name, v.states]).encode())
    for potential in engine.model.potentials:
        digest.update(json.dumps([v.name for v in potential.scope]).encode())
        if isinstance(potential, TabularCPD | Factor):
            digest.update(_rounded(np.real(potential.values)))
            continue
        digest.update(type(potential).__name__.encode())
        if isinstance(potential, FunctionalCPD):
            digest.update(_described(potential.function).encode())
        else:
            for contribution in potential.contributions:
                digest.update(_rounded(contribution))
    return digest.hexdigest()[:32]


def _described(part: Any) -> str:
    """Return a function, or a part of one, as a text that is the same in every process."""
    if isinstance(part, np.ndarray):
        return f"{part.shape}{part.tolist()}"
    if isinstance(part, tuple | list):
        return f"({','.join(map(_described, part))})"
    if is_dataclass(part):
        values = (getattr(part, one.name) for one in fields(part))
        return f"{type(part).__name__}({','.join(map(_described, values))})"
    # An object without a repr of its own shows its address.
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(part))


def _rounded(values: Floats) -> bytes:
    rounded = np.round(values * 10**_DIGITS) + 0.0
    return np.ascontiguousarray(rounded, dtype="<f8").tobytes()
