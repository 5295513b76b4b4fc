r"""Doubtful answers: those that contradict the others, and the conflict among all of them.

=====================  ======================================================
symbol                 name here
=====================  ======================================================
P(x | others)          ``AnswerDoubt.probability``
P(x)                   ``AnswerDoubt.alone``
log₂ P(x) / P(x | o)   ``AnswerDoubt.conflict``: the conflict of an answer with
                       the others, in bits
p_value                Σ P(y | others) over the answers y that are no more
                       probable than x, as for the person fit of a test
conf(e)                ``Doubts.conflict``: log₂ Π_i P(x_i) / P(x_1, …, x_n)
=====================  ======================================================

A conflict above 0 means that the answers are less probable together than they would be if they
had nothing to do with each other. Either one of them is wrong, or the case is a rare one.

References
----------
F. V. Jensen, B. Chamberlain, T. Nordahl and F. Jensen, "Analysis in HUGIN of data conflict", UAI
1990 (the measure conf).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction.engine import Engine
from bnmind.junction.inference.evidence import Evidence, likelihood
from bnmind.junction.inference.limits import Limits
from bnmind.questions.asked import Asked, engine_of, findings_of, targets_of

__all__ = ["AnswerDoubt", "Doubts", "doubt_answers"]

_TIE = 1e-9
"""Probabilities closer than this, relative to that of the answer, count as equal."""

_ROUNDING = 1e-12
"""Bits below this, relative to those of the evidence, are rounding errors, and count as zero."""


@dataclass(frozen=True, kw_only=True)
class AnswerDoubt(Value):
    """How well one answer fits the others, and what the belief would be without it."""

    question: str
    """The variable."""
    answer: str
    """Its state."""
    probability: float
    """The probability of this answer, given all others."""
    alone: float
    """The probability of this answer before any other was known."""
    conflict: float
    """The conflict with the others, in bits; above 0 if they make the answer less probable."""
    p_value: float
    """The probability of an answer at least as surprising, given all others."""
    without: Mapping[str, Mapping[str, float]]
    """The probability of each state of each target, given all other answers."""
    shift: float
    """The largest difference that the answer makes to the probability of a state of a target."""


@dataclass(frozen=True)
class Doubts(Value):
    """The conflict among answers, and the doubt about each of them."""

    conflict: float
    """The conflict of all answers, conf(e) of Jensen et al., in bits."""
    answers: tuple[AnswerDoubt, ...]
    """The doubt about each answer, in the order of the answers."""

    @property
    def most_doubtful(self) -> AnswerDoubt | None:
        """The answer that is in most conflict with the others; None if none is in conflict."""
        doubted = [doubt for doubt in self.answers if doubt.conflict > _TIE]
        if not doubted:
            return None
        most = max(doubt.conflict for doubt in doubted)
        return next(doubt for doubt in doubted if doubt.conflict >= most - _TIE)


@checked
def doubt_answers(
    network: Asked,
    answers: Evidence,
    *,
    about: str | Sequence[str],
    evidence: Evidence | None = None,
    limits: Limits | None = None,
) -> Doubts:
    """Return how well each answer fits the others, and how much the belief depends on it.

    Parameters
    ----------
    network
        A network, a product of factors, or an engine.
    answers
        The state of each variable that was asked. Likelihoods belong to ``evidence``.
    about
        The targets.
    evidence
        Evidence that is not in doubt.
    limits
        The limits of the computation, as in `compile_plan`; by default those of the engine.

    Raises
    ------
    UnknownNameError
        If the network has no such variable, or the variable no such state.
    InvalidArgumentError
        If a target is among the answers, or there is none.
    ImpossibleEvidenceError
        If the answers and the evidence have probability zero. The error names those that contradict
        each other.
    TooLargeError
        If the computation would exceed the limits.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> fault = Variable("fault", ("no", "yes"))
    >>> tests = [Variable(name, ("ok", "bad")) for name in ("first", "second", "third")]
    >>> rates = [[0.9, 0.2], [0.1, 0.8]]
    >>> network = Network((TabularCPD(fault, (), [0.5, 0.5]),
    ...                    *(TabularCPD(test, (fault,), rates) for test in tests)))
    >>> doubts = doubt_answers(
    ...     network, {"first": "bad", "second": "ok", "third": "bad"}, about="fault"
    ... )
    >>> doubts.most_doubtful.question, round(doubts.most_doubtful.probability, 3)
    ('second', 0.211)
    """
    engine = engine_of(network, limits)
    model = engine.model
    given = findings_of(model, evidence)
    told = findings_of(model, answers)
    soft = {name: value for name, value in told.items() if not isinstance(value, str)}
    states = {name: value for name, value in told.items() if name not in soft}
    names = tuple(states)
    targets = targets_of(model, about, {**given, **told})
    if not names:
        return Doubts(0.0, ())
    posteriors = _with_and_without(engine, names, targets, states, {**given, **soft})
    logs, marginals = posteriors
    if not np.isfinite(logs[-1]):
        engine.posterior([()], {**given, **told})  # names findings that contradict each other
        raise ImpossibleEvidenceError("the answers have probability zero", {**given, **told})
    doubts = []
    # Logarithms of evidence, since probabilities of many answers underflow.
    bits = logs / math.log(2)
    rounding = _ROUNDING * max(1.0, float(np.abs(bits).max()))
    together = float(bits[-1] - bits[0])
    alone_bits = bits[1 + len(names) : -1] - bits[0]
    conflicts = alone_bits - (bits[-1] - bits[1 : 1 + len(names)])
    for number, name in enumerate(names):
        v = model.variable(name)
        place = v.index(states[name])
        others: Floats = marginals[name][1 + number]
        own = float(others[place])
        doubts.append(
            AnswerDoubt(
                question=name,
                answer=states[name],
                probability=own,
                alone=float(marginals[name][0, place]),
                conflict=_rounded(float(conflicts[number]), rounding),
                p_value=float(others[others <= own * (1 + _TIE)].sum() / others.sum()),
                without={
                    target: dict(
                        zip(
                            model.variable(target).states,
                            marginals[target][1 + number].tolist(),
                            strict=True,
                        )
                    )
                    for target in targets
                },
                shift=max(
                    float(abs(marginals[target][-1] - marginals[target][1 + number]).max())
                    for target in targets
                ),
            )
        )
    return Doubts(_rounded(float(alone_bits.sum()) - together, rounding), tuple(doubts))


def _rounded(bits: float, rounding: float) -> float:
    """Return a number of bits without rounding errors."""
    return bits if abs(bits) > rounding else 0.0


def _with_and_without(
    engine: Engine,
    names: Sequence[str],
    targets: Sequence[str],
    states: Mapping[str, str],
    given: Mapping[str, Any],
) -> tuple[Floats, Mapping[str, Floats]]:
    """Return posteriors without any answer, without each, with each alone, and with all of them.

    One plan with missing values answers all of these cases in a batch.
    """
    model = engine.model
    n = len(names)
    n_cases = 2 * n + 2
    columns: dict[str, NDArray[Any]] = {}
    for number, name in enumerate(names):
        column = np.full(n_cases, -1, dtype=np.intp)
        told = [*range(1, 1 + number), *range(2 + number, 1 + n), 1 + n + number, -1]
        column[told] = model.variable(name).index(states[name])
        columns[name] = column
    known = {name: value for name, value in given.items() if isinstance(value, str)}
    for name, value in given.items():
        weights = likelihood(model.variable(name), value)
        columns[name] = np.full(n_cases, int(weights.argmax()), dtype=np.intp)
        if name not in known:
            columns[name] = np.tile(weights, (n_cases, 1))
    plan = engine.plan(
        [(name,) for name in dict.fromkeys((*targets, *names))],
        evidence=list(known),
        soft=[*names, *(name for name in given if name not in known)],
    )
    if known and (plan.by_case is not None or plan.memory > engine.limits.max_bytes):
        plan = plan.restrict(known)
        columns = {name: column for name, column in columns.items() if name not in known}
    batch = plan.run_batch(columns, allow_impossible=True)
    return np.asarray(batch.log_evidence), {k: np.real(m) for k, m in batch.marginals.items()}
