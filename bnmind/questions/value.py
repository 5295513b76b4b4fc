r"""The value of information: how much better a decision becomes by an observation.

=========  ==================================================================
symbol     name here
=========  ==================================================================
U[a, t]    the utility of action a if the targets have configuration t
EU         ``expected_utility``: max_a Σ_t m(t) U[a, t]
EU(X)      Σ_x max_a Σ_t m(t) N[t, x] U[a, t]
value      EU(X) − EU, never negative
EVPI       ``perfect_information``: Σ_t m(t) max_a U[a, t] − EU
=========  ==================================================================

with the masses m and the channel N of `bnmind.questions.causes`.

References
----------
H. Raiffa and R. Schlaifer, *Applied Statistical Decision Theory*, 1961; R. A. Howard, "Information
value theory", IEEE Trans. Systems Science and Cybernetics 1966.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.information import Floats, tied_best
from bnmind.junction.inference.evidence import Evidence
from bnmind.junction.inference.limits import Limits
from bnmind.questions.asked import Asked, Costs, costs_of, opened
from bnmind.questions.causes import causes_of
from bnmind.questions.decision import Decision
from bnmind.questions.ranking import TOLERANCE, ranked_order
from bnmind.questions.rows import QuestionRows
from bnmind.questions.tables import names_text, questions_text, table_text

__all__ = ["InformationValues", "ValuedQuestion", "value_of_information"]

_LEAST = 1e-12
"""Gains up to this part of the spread of the utilities count as 0."""

_ROUNDING = 1e-13
"""The rounding error of an expected utility, as a part of the largest utility."""


@dataclass(frozen=True, kw_only=True)
class ValuedQuestion(Value):
    """The worth of a question for a decision."""

    question: str
    """The variable to observe."""
    value: float
    """The expected gain of utility by the answer, before its cost; never negative."""
    cost: float
    """The cost of the observation, in units of utility; 0 if none was given."""
    net: float
    """The value minus the cost. The question is worth asking if this is positive."""
    actions: Mapping[str, str]
    """The best action after each answer."""
    predicted: Mapping[str, float]
    """The probability of each answer."""


@dataclass(frozen=True, kw_only=True, repr=False)
class InformationValues(QuestionRows[ValuedQuestion], Value):
    """Questions by their worth for a decision, the best first. Printing shows them as a table."""

    COLUMNS: ClassVar = ("question", "value", "cost", "net")

    about: tuple[str, ...]
    """The targets of the decision."""
    action: str
    """The best action without another observation."""
    expected_utility: float
    """The expected utility of this action."""
    perfect_information: float
    """The expected gain of utility if the states of all targets were known."""
    rows: tuple[ValuedQuestion, ...]
    """The questions, the largest value after cost first."""

    @property
    def worth_asking(self) -> tuple[ValuedQuestion, ...]:
        """The questions whose value exceeds their cost."""
        return tuple(row for row in self.rows if row.net > 0)

    def __repr__(self) -> str:
        title = (
            f"{questions_text(len(self))} for a decision about"
            f" {names_text(self.about)}\nnow {self.action}, expected utility"
            f" {self.expected_utility:.6g}; perfect information is worth"
            f" {self.perfect_information:.6g}"
        )
        rows = [
            [row.question, f"{row.value:.6g}", f"{row.cost:g}", f"{row.net:.6g}"] for row in self
        ]
        return table_text(title, ["question", "value", "cost", "net"], rows)


@checked
def value_of_information(
    network: Asked,
    decision: Decision,
    *,
    among: str | Iterable[str] | None = None,
    evidence: Evidence | None = None,
    costs: Costs | None = None,
    limits: Limits | None = None,
) -> InformationValues:
    """Return how much the answer to each question improves a decision, the best first.

    The value of a question is the expected utility of the best action after its answer, minus that
    of the best action now. One question is asked before the decision; sequences of questions are
    not searched.

    Parameters
    ----------
    network
        A network, a product of factors, or an engine (see `bnmind.compile_model`).
    decision
        The utilities of the actions.
    among, evidence, limits
        As for `rank_questions`.
    costs
        The cost of each question, at least 0, in units of utility; questions that are not named
        cost 0.

    Raises
    ------
    UnknownNameError
        If the network has no such variable, or the variable no such state.
    InvalidArgumentError
        If a configuration has no utility, the state of a target is known already, or a cost is
        negative.
    ImpossibleEvidenceError, TooLargeError
        As for `rank_questions`.

    Examples
    --------
    An oil wildcatter (Raiffa, 1968) may drill at once, or have the ground sounded before:

    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> oil = Variable("oil", ("dry", "wet", "soaking"))
    >>> sounding = Variable("sounding", ("closed", "open", "diffuse"))
    >>> network = Network((TabularCPD(oil, (), [0.5, 0.3, 0.2]),
    ...                    TabularCPD(sounding, (oil,), [[0.1, 0.3, 0.5],
    ...                                                  [0.3, 0.4, 0.4],
    ...                                                  [0.6, 0.3, 0.1]])))
    >>> drilling = Decision.of("oil", {"drill": {"dry": -70, "wet": 50, "soaking": 200},
    ...                                "leave": {"dry": 0, "wet": 0, "soaking": 0}})
    >>> values = value_of_information(network, drilling, costs={"sounding": 10})
    >>> values
    1 question for a decision about oil
    now drill, expected utility 20; perfect information is worth 35
    question  value  cost  net
    sounding   12.5    10  2.5
    >>> dict(values.best.actions)
    {'closed': 'drill', 'open': 'drill', 'diffuse': 'leave'}
    """
    engine, findings, targets, names = opened(
        network, decision.about, among, evidence, limits=limits
    )
    utilities = decision.table(engine.model)
    prices = costs_of(engine.model, costs, names)
    (causes,) = causes_of(engine, [targets], names, findings)
    tie, least = (_tolerance(utilities, part) for part in (TOLERANCE, _LEAST))
    weighted = utilities * causes.masses
    now = weighted.sum(axis=-1)
    known = float(weighted.max(axis=0).sum())
    rows = []
    for name, price in zip(names, prices.tolist(), strict=True):
        after = weighted @ causes.channels[name]
        value = max(0.0, _cleared(float(after.max(axis=0).sum() - now.max()), least))
        chosen = [decision.actions[_best(column, tie)] for column in after.T]
        states = causes.states[name]
        rows.append(
            ValuedQuestion(
                question=name,
                value=value,
                cost=price,
                net=_cleared(value - price, least),
                actions=dict(zip(states, chosen, strict=True)),
                predicted=dict(zip(states, causes.predicted(name).tolist(), strict=True)),
            )
        )
    order = ranked_order(np.array([row.net for row in rows]), tie)
    return InformationValues(
        about=targets,
        action=decision.actions[_best(now, tie)],
        expected_utility=float(now.max()),
        perfect_information=max(0.0, _cleared(known - float(now.max()), least)),
        rows=tuple(rows[i] for i in order),
    )


def _tolerance(utilities: Floats, part: float) -> float:
    """Return a part of the spread of the utilities, and the rounding error of their sums.

    A constant added to all utilities changes no decision, so it must not make actions equal.
    """
    spread = part * float(utilities.max()) - part * float(utilities.min())
    return spread + _ROUNDING * float(np.abs(utilities).max())


def _best(utilities: Floats, tolerance: float) -> int:
    """Return the position of the best action; the first one of equal ones."""
    return int(tied_best(utilities, tolerance=tolerance)[0])


def _cleared(value: float, tolerance: float) -> float:
    """Return a gain of utility, or 0 if it differs from 0 only by rounding."""
    return 0.0 if abs(value) <= tolerance else value
