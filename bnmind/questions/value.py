"""The worth of an observation: for a decision, and as one answer among others.

The value of information is how much better a decision becomes by an observation. With the
masses m and the channel N of `bnmind.questions.ranking`:

=====================  ======================================================
symbol                 name here
=====================  ======================================================
U[a, t]                the utility of action a if the targets have
                       configuration t
EU                     ``expected_utility``: max_a Σ_t m(t) U[a, t]
EU(X)                  Σ_x max_a Σ_t m(t) N[t, x] U[a, t]
value                  EU(X) − EU, never negative
EVPI                   ``perfect_information``: Σ_t m(t) max_a U[a, t] − EU
=====================  ======================================================

Doubtful answers are those that contradict the others:

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
H. Raiffa and R. Schlaifer, *Applied Statistical Decision Theory*, 1961; R. A. Howard, "Information
value theory", IEEE Trans. Systems Science and Cybernetics 1966; F. V. Jensen, B. Chamberlain, T.
Nordahl and F. Jensen, "Analysis in HUGIN of data conflict", UAI 1990 (the measure conf).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._display import Table
from bnmind._messages import counted, listed, shown
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats, tied_best
from bnmind.junction.engine import Engine
from bnmind.junction.evidence import Evidence
from bnmind.junction.limits import Limits
from bnmind.pgm.variable import Variable, format_label
from bnmind.questions.asked import (
    Asked,
    Costs,
    costs_of,
    engine_of,
    findings_of,
    opened,
    targets_of,
)
from bnmind.questions.ranking import (
    TOLERANCE,
    QuestionRows,
    by_state,
    causes_of,
    planned,
    ranked_order,
)

if TYPE_CHECKING:
    import pandas

Utilities: TypeAlias = "Mapping[str, Mapping[Any, float]] | pandas.DataFrame"
"""The utility of each action in each configuration."""

_MOST_CONFIGURATIONS = 2**20
"""Configurations of targets beyond which no table of utilities is read."""


def _table_of(utilities: Utilities, targets: Sequence[Variable]) -> tuple[tuple[str, ...], Floats]:
    """Return the actions, and their utilities, ``(actions, configurations)``.

    The states of the last target change fastest.
    """
    table: Any = utilities
    if hasattr(table, "columns"):
        table = table.to_dict(orient="index")
    if not (isinstance(table, Mapping) and table) or any(
        not isinstance(row, Mapping) for row in table.values()
    ):
        raise InvalidArgumentError(
            "expected utilities as {action: {state: utility}} or a data frame, with one action at"
            f" least, got {shown(utilities)}",
            utilities,
        )
    sizes = [v.n_states for v in targets]
    if math.prod(sizes) > _MOST_CONFIGURATIONS:
        raise TooLargeError(
            f"the {len(targets)} targets have {math.prod(sizes):,} configurations together;"
            f" utilities are limited to {_MOST_CONFIGURATIONS:,}",
            needed=math.prod(sizes),
            budget=_MOST_CONFIGURATIONS,
        )
    values, problems = np.full((len(table), *sizes), np.nan), []
    for action, row, place in zip(map(format_label, table), table.values(), values, strict=True):
        for key, value in row.items():
            states = key if isinstance(key, tuple) else (key,)
            if len(states) != len(targets):
                names = ", ".join(v.name for v in targets)
                raise InvalidArgumentError(f"expected a state of each of {names}, got {shown(key)}")
            cell = tuple(v.index(state) for v, state in zip(targets, states, strict=True))
            if not math.isnan(place[cell]):
                problems.append(f"{action} has two utilities for {shown(key)}")
            is_right = isinstance(value, Real) and math.isfinite(value)
            if not is_right:
                wrong = f"expected a finite utility of {action} for {shown(key)}, got"
                problems.append(f"{wrong} {shown(value)}")
            place[cell] = value if is_right else 0.0
        for empty in np.argwhere(np.isnan(place)).tolist():
            lacking = ", ".join(v.states[i] for v, i in zip(targets, empty, strict=True))
            problems.append(f"{action} has no utility for {lacking}")
    if problems:
        raise InvalidArgumentError(listed(problems), utilities)
    return tuple(map(format_label, table)), values.reshape(len(table), math.prod(sizes))


_TIE = 1e-9
"""Probabilities closer than this, relative to that of the answer, count as equal."""

_RELATIVE_ROUNDING = 1e-12
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
    logs, marginals = _with_and_without(engine, names, targets, states, {**given, **soft})
    if not np.isfinite(logs[-1]):
        engine.posterior([()], {**given, **told})  # names findings that contradict each other
        raise ImpossibleEvidenceError("the answers have probability zero", {**given, **told})
    of_targets = {target: marginals[target] for target in targets}
    doubts = []
    # Logarithms of evidence, since probabilities of many answers underflow.
    bits = logs / math.log(2)
    rounding = _RELATIVE_ROUNDING * max(1.0, float(np.abs(bits).max()))
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
                conflict=_cleared(float(conflicts[number]), rounding),
                p_value=float(others[others <= own * (1 + _TIE)].sum() / others.sum()),
                without={
                    target: by_state(model.variable(target).states, beliefs[1 + number])
                    for target, beliefs in of_targets.items()
                },
                shift=max(
                    float(abs(beliefs[-1] - beliefs[1 + number]).max())
                    for beliefs in of_targets.values()
                ),
            )
        )
    return Doubts(_cleared(float(alone_bits.sum()) - together, rounding), tuple(doubts))


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
    n = len(names)
    cases = {}
    for number, name in enumerate(names):
        column = np.full(2 * n + 2, -1, dtype=np.intp)
        told = [*range(1, 1 + number), *range(2 + number, 1 + n), 1 + n + number, -1]
        column[told] = engine.model.variable(name).index(states[name])
        cases[name] = column
    plan, columns = planned(engine, list(dict.fromkeys((*targets, *names))), cases, given)
    batch = plan.run_batch(columns, allow_impossible=True)
    return np.asarray(batch.log_evidence), {k: np.real(m) for k, m in batch.marginals.items()}


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

    def _shown(self) -> tuple[str, Table]:
        title = (
            f"{counted(len(self), 'question')} for a decision about"
            f" {self._topic()}\nnow {self.action}, expected utility"
            f" {self.expected_utility:.6g}; perfect information is worth"
            f" {self.perfect_information:.6g}"
        )
        rows = [
            [row.question, f"{row.value:.6g}", f"{row.cost:g}", f"{row.net:.6g}"] for row in self
        ]
        return title, Table(self.COLUMNS, rows)


@checked
def value_of_information(
    network: Asked,
    utilities: Utilities,
    *,
    about: str | Iterable[str],
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
    utilities
        ``{action: {state: utility}}``; with several targets, a tuple of states for each utility.
        Or a `pandas.DataFrame` with a row for each action and a column for each state or, with
        levels, each configuration.
    about
        The targets that the utilities depend on.
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
        If there are no actions, a configuration has no utility or several, a utility is not a
        finite number, the state of a target is known already, or a cost is negative.
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
    >>> drilling = {"drill": {"dry": -70, "wet": 50, "soaking": 200},
    ...             "leave": {"dry": 0, "wet": 0, "soaking": 0}}
    >>> values = value_of_information(network, drilling, about="oil", costs={"sounding": 10})
    >>> values
    1 question for a decision about oil
    now drill, expected utility 20; perfect information is worth 35
    question  value  cost  net
    sounding   12.5    10  2.5
    >>> dict(values.best.actions)
    {'closed': 'drill', 'open': 'drill', 'diffuse': 'leave'}
    """
    engine, findings, targets, names = opened(network, about, among, evidence, limits=limits)
    actions, table = _table_of(utilities, [engine.model.variable(name) for name in targets])
    prices = costs_of(engine.model, costs, names)
    (causes,) = causes_of(engine, [targets], names, findings)
    tie, least = (_tolerance(table, part) for part in (TOLERANCE, _LEAST))
    weighted = table * causes.masses
    now = weighted.sum(axis=-1)
    known = float(weighted.max(axis=0).sum())
    rows = []
    for name, price in zip(names, prices.tolist(), strict=True):
        after = weighted @ causes.channels[name]
        value = max(0.0, _cleared(float(after.max(axis=0).sum() - now.max()), least))
        chosen = [actions[_best(column, tie)] for column in after.T]
        states = causes.states[name]
        rows.append(
            ValuedQuestion(
                question=name,
                value=value,
                cost=price,
                net=_cleared(value - price, least),
                actions=dict(zip(states, chosen, strict=True)),
                predicted=by_state(states, causes.predicted(name)),
            )
        )
    order = ranked_order(np.array([row.net for row in rows]), tie)
    return InformationValues(
        about=targets,
        action=actions[_best(now, tie)],
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
    """Return a number of bits or a utility, or 0 if it differs from 0 only by rounding."""
    return 0.0 if abs(value) <= tolerance else value
