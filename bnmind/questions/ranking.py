"""Questions to any network, ranked by their information about some targets.

The targets are the causes, and the questions are channels:

=================  ==========================================================
symbol             name here
=================  ==========================================================
e                  the evidence
T = t              a configuration of some targets, which is the *cause*
m(t) = P(t | e)    ``Causes.masses``
N[t, x]            ``Causes.channels[X]``: P(X = x | t, e)
=================  ==========================================================

One plan answers all questions: the targets are its evidence variables, each configuration is a case
of a batch, and each question is a target. The probabilities of the cases are the masses, and the
posteriors are the channels. No clique has to contain the targets together with a question, so the
plan is smaller than one for the joint distributions.

=================  ==========================================================
symbol             name here
=================  ==========================================================
I(X; T)            ``information``: H(m N) − Σ_t m(t) H(N[t, :]), in bits
EH                 ``expected_entropy``: H(T | e) − I(X; T)
c(X)               ``costs``, in any unit, at least 0
α                  of the score ``less-cost``: the bits that one unit of cost must
                   pay for
=================  ==========================================================

The function `bnmind.information.information` computes it, as for guesses and for items of tests.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, TypeAlias, TypeVar, overload

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Table, aligned, frame_html
from bnmind._messages import counted, format_bytes, many
from bnmind._registry import NUMBER, Registered, made_by_name
from bnmind._values import Sealed, Value
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    NothingToAskError,
    TooLargeError,
)
from bnmind.information import Floats, information, unchecked_entropy
from bnmind.junction.batches import BatchPosterior
from bnmind.junction.engine import Engine
from bnmind.junction.evidence import Evidence, likelihood
from bnmind.junction.limits import Limits
from bnmind.junction.plan import Plan
from bnmind.pgm.distribution import label
from bnmind.pgm.variable import Variable
from bnmind.questions.asked import Asked, Costs, costs_of, opened

if TYPE_CHECKING:
    import pandas

_MOST_ROWS = 20
"""The most rows in a terminal."""

_MOST_NAMES = 3


_Row = TypeVar("_Row")


class QuestionRows(Sequence[_Row]):
    """A row for each question, the best first."""

    COLUMNS: ClassVar[tuple[str, ...]]
    """The fields of a row that a data frame shows."""

    about: tuple[str, ...]
    rows: tuple[_Row, ...]

    @property
    def best(self) -> _Row:
        """The best question.

        Raises
        ------
        NothingToAskError
            If there is no question.
        """
        if not self.rows:
            raise NothingToAskError("there is no question left to ask")
        return self.rows[0]

    @overload
    def __getitem__(self, index: int) -> _Row: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[_Row, ...]: ...
    def __getitem__(self, index: int | slice) -> _Row | tuple[_Row, ...]:
        return self.rows[index]

    def __len__(self) -> int:
        return len(self.rows)

    def _topic(self) -> str:
        """Return the first targets as text, and the number of the others."""
        first = ", ".join(label(name) for name in self.about[:_MOST_NAMES])
        more = len(self.about) - _MOST_NAMES
        return f"{first} and {more:,} more" if more > 0 else first

    @abstractmethod
    def _shown(self) -> tuple[str, Table]:
        """Return a title, and a table with a row for each question."""

    def __repr__(self) -> str:
        title, table = self._shown()
        most = _MOST_ROWS if len(self) <= _MOST_ROWS else _MOST_ROWS - 1
        rows = [[label(row[0]), *row[1:]] for row in table.rows[:most]]
        more = [f"… and {len(self) - most:,} more"] if len(self) > most else []
        return "\n".join([title, *(aligned(Table(table.heads, rows)) if rows else []), *more])

    def _repr_html_(self) -> str | None:
        """Return the first rows as an HTML table, which notebooks display."""
        return frame_html(self.to_frame(), caption=str(self).splitlines()[0])

    def to_frame(self) -> pandas.DataFrame:
        """Return a `pandas.DataFrame` of the `COLUMNS`, a row for each question, the best first."""
        import pandas

        return pandas.DataFrame({c: [getattr(r, c) for r in self.rows] for c in self.COLUMNS})


TargetMeasure: TypeAlias = Callable[[tuple[str, ...]], Sequence[tuple[str, ...]]]
"""Returns, of the names of the targets, the groups whose joint entropies are added."""

TARGET_MEASURES: Mapping[str, Registered[TargetMeasure]] = MappingProxyType(
    {
        "joint": Registered("the entropy of all targets together", lambda: lambda about: [about]),
        "marginals": Registered(
            "the sum of the entropies of single targets",
            lambda: lambda about: [(name,) for name in about],
        ),
    }
)
"""The measures by name.

``joint`` takes a run for each configuration of the targets, so their number is limited.
``marginals`` takes a run for each state of each target, so there may be many targets. With it,
dependence between targets counts several times, and what only a combination of targets tells counts
not at all."""


QuestionScore: TypeAlias = Callable[[Floats, Floats], Floats]
"""Returns scores, the largest first, of the information in bits and the costs, ``(questions,)``."""


def _per_cost(information: Floats, costs: Floats) -> Floats:
    if not np.all(costs > 0):
        raise InvalidArgumentError(
            "the information per cost needs a cost above 0 for every question, got"
            f" {float(np.min(costs)):g}; give each question a cost, or use less-cost",
            costs,
        )
    return information / costs


def _less_cost(alpha: float) -> QuestionScore:
    if alpha < 0:
        raise InvalidArgumentError(f"expected at least 0 bits for each cost, got {alpha}", alpha)
    return lambda information, costs: information - alpha * costs


QUESTION_SCORES: Mapping[str, Registered[QuestionScore]] = MappingProxyType(
    {
        "information": Registered("the information in bits", lambda: lambda bits, costs: bits),
        "per-cost": Registered("the information for each unit of cost", lambda: _per_cost),
        "less-cost": Registered(
            "the information minus this times the cost", None, NUMBER, _less_cost
        ),
    }
)
"""The scores by name.

``less-cost:0.01`` is the "entropy/cost ratio" of GeNIe (GeNIe Modeler, *Support for diagnosis: cost
of observation*): the number is α, the bits that one unit of cost must pay for. ``per-cost`` needs a
cost above 0 for every question."""


_QUICK = 2**26
"""Up to this many multiplications, a run is not worth another plan for the evidence."""

_BELOW_ZERO = 1e-9
"""Probabilities may be below zero by this much, where terms of opposite signs cancel."""

_WAY_OUT = (
    "Ask about fewer targets, use the measure marginals, name fewer questions in among, observe"
    " more variables, or raise the limit."
)


@dataclass(frozen=True, eq=False)
class Causes(Sealed):
    """The belief about some targets, and the answers to expect given each configuration."""

    targets: tuple[Variable, ...]
    """The targets; the states of the last one change fastest among the configurations."""
    masses: Floats
    """The probability of each configuration, ``(configurations,)``."""
    channels: Mapping[str, Floats]
    """For each question, the probability of each answer, ``(configurations, states)``."""
    states: Mapping[str, tuple[str, ...]]
    """The answers to each question."""

    def predicted(self, question: str) -> Floats:
        """Return the probability of each answer to a question, ``(states,)``."""
        chances: Floats = self.masses @ self.channels[question]
        return chances


def by_state(states: Sequence[str], chances: Floats) -> dict[str, float]:
    """Return the probability of each state, by its name."""
    return dict(zip(states, chances.tolist(), strict=True))


def configurations(targets: Sequence[Variable]) -> NDArray[np.intp]:
    """Return the positions of the states in each configuration, ``(targets, configurations)``."""
    sizes = [v.n_states for v in targets]
    return np.indices(sizes, dtype=np.intp).reshape(len(sizes), math.prod(sizes))


def causes_of(
    engine: Engine,
    groups: Sequence[tuple[str, ...]],
    among: Sequence[str],
    findings: Mapping[str, Any],
) -> tuple[Causes, ...]:
    """Return the belief about each group of targets, and the channels of all questions.

    Parameters
    ----------
    engine
        The model, with the limits of the computation of all groups together.
    groups
        The targets of each group, none of them observed.
    among
        The questions, none of them observed.
    findings
        The evidence, as `read_findings` returns it.

    Raises
    ------
    TooLargeError
        If the computation would exceed the limits. The error is raised before the computation.
    ImpossibleEvidenceError
        If the evidence has probability zero.
    """
    model, limits = engine.model, engine.limits
    scopes = [tuple(model.variable(name) for name in group) for group in groups]
    counts = [math.prod(v.n_states for v in scope) for scope in scopes]
    questions = [model.variable(name) for name in among]
    _refuse_large(scopes, counts, questions, limits)
    cases = _cases(scopes, counts)
    alone = len(groups) == 1
    asked = [name for name in among if not (alone and name in groups[0])]
    plan, columns = planned(engine, asked, cases, findings)
    total = sum(counts)
    needed = plan.multiplications * total
    if plan.by_case is None and needed > limits.max_multiplications:
        raise TooLargeError(
            f"the questions would take {many(needed)} multiplications for {many(total)}"
            f" configurations of the targets; allowed are"
            f" max_multiplications={limits.max_multiplications:,}. {_WAY_OUT}",
            needed=needed,
            budget=limits.max_multiplications,
        )
    batch = plan.run_batch(columns, allow_impossible=True)
    if len(batch.impossible) == total:
        engine.posterior([()], findings)  # names findings that contradict each other
        raise ImpossibleEvidenceError("the evidence has probability zero", dict(findings))
    return _split(batch, scopes, counts, questions)


def _refuse_large(
    scopes: Sequence[tuple[Variable, ...]],
    counts: Sequence[int],
    questions: Sequence[Variable],
    limits: Limits,
) -> None:
    """Raise `TooLargeError` if the channels would take too much memory."""
    names = {v.name for scope in scopes for v in scope}
    needed = 8 * sum(counts) * (sum(v.n_states for v in questions) + len(names) + 1)
    if needed > limits.max_bytes:
        largest = max(range(len(counts)), key=counts.__getitem__)
        raise TooLargeError(
            f"{len(scopes[largest])} targets have {many(counts[largest])} configurations together;"
            f" the answers to expect given each of them would take {format_bytes(needed)}; allowed"
            f" are max_bytes={limits.max_bytes:,}. {_WAY_OUT}",
            needed=needed,
            budget=limits.max_bytes,
        )


def _cases(
    scopes: Sequence[tuple[Variable, ...]], counts: Sequence[int]
) -> dict[str, NDArray[np.intp]]:
    """Return a column of states for each target; −1 in the cases of other groups."""
    cases: dict[str, NDArray[np.intp]] = {}
    start = 0
    for scope, count in zip(scopes, counts, strict=True):
        for v, column in zip(scope, configurations(scope), strict=True):
            whole = cases.setdefault(v.name, np.full(sum(counts), -1, dtype=np.intp))
            whole[start : start + count] = column
        start += count
    return cases


def planned(
    engine: Engine,
    asked: Sequence[str],
    cases: Mapping[str, NDArray[np.intp]],
    findings: Mapping[str, Any],
) -> tuple[Plan, dict[str, NDArray[Any]]]:
    """Return a plan of the beliefs about some variables in several cases, and its columns.

    Parameters
    ----------
    engine
        The model.
    asked
        The variables.
    cases
        For some variables, the position of the state in each case, ``(cases,)``; −1 if unknown.
    findings
        What is known in all cases, as `read_findings` returns it. A variable that has a likelihood
        there may have a state in the cases too.
    """
    states = {name: finding for name, finding in findings.items() if isinstance(finding, str)}
    rest = [name for name in findings if name not in states]
    n_cases = len(next(iter(cases.values())))
    # A variable with a likelihood takes it, and its state in a case, as one likelihood.
    sure = [n for n, column in cases.items() if column.min() >= 0 and n not in (*rest, *asked)]
    plan = engine.plan(
        [(name,) for name in asked] or [()],
        evidence=[*states, *sure],
        soft=[*rest, *(name for name in cases if name not in (*sure, *rest))],
    )
    is_quick = plan.by_case is None and plan.multiplications * n_cases <= _QUICK
    if states and (not is_quick or plan.memory > engine.limits.max_bytes):
        plan, states = plan.restrict(states), {}
    columns: dict[str, NDArray[Any]] = dict(cases)
    for name, state in states.items():
        columns[name] = np.full(n_cases, engine.model.variable(name).index(state), dtype=np.intp)
    for name in rest:
        variable = engine.model.variable(name)
        weights = np.tile(likelihood(variable, findings[name]), (n_cases, 1))
        if name in cases:
            # The last row stands for −1: any state.
            weights *= np.vstack([np.eye(variable.n_states), np.ones(variable.n_states)])[
                cases[name]
            ]
        columns[name] = weights
    return plan, columns


def _split(
    batch: BatchPosterior,
    scopes: Sequence[tuple[Variable, ...]],
    counts: Sequence[int],
    questions: Sequence[Variable],
) -> tuple[Causes, ...]:
    """Return the masses and channels of each group from the cases of all groups."""
    logs = np.asarray(batch.log_evidence)
    possible = np.isfinite(logs)
    weights = np.exp(np.where(possible, logs, -np.inf) - logs[possible].max())
    result = []
    start = 0
    for scope, count in zip(scopes, counts, strict=True):
        rows = slice(start, start + count)
        places = {v.name: place for place, v in enumerate(scope)}
        channels: dict[str, Floats] = {}
        for question in questions:
            if question.name in places:
                column = configurations(scope)[places[question.name]]
                channels[question.name] = np.eye(question.n_states)[column]
            else:
                channel = np.real(batch.marginals[question.name][rows])
                # Configurations of probability zero have no answers; any row will do.
                sure = np.eye(1, question.n_states)
                channels[question.name] = np.where(possible[rows, None], channel, sure)
        masses = weights[rows] / weights[rows].sum()
        if any(channel.min(initial=0.0) < -_BELOW_ZERO for channel in channels.values()):
            raise InvalidArgumentError(
                "the model is no distribution: the product of its factors is negative somewhere"
            )
        states = {v.name: v.states for v in questions}
        result.append(Causes(targets=scope, masses=masses, channels=channels, states=states))
        start += count
    return tuple(result)


TOLERANCE = 1e-9
"""Scores that differ by at most this count as equal."""

_ROUNDING = 1e-12
"""Bits below this are rounding errors of the computation, and count as zero."""


@dataclass(frozen=True, kw_only=True)
class RankedQuestion(Value):
    """The expected information of a question."""

    question: str
    """The variable to observe."""
    information: float
    """The expected information about the targets, in bits."""
    expected_entropy: float
    """The expected entropy of the targets after the answer, in bits."""
    cost: float
    """The cost of the observation; 0 if none was given."""
    score: float
    """The number by which questions are ranked."""
    predicted: Mapping[str, float]
    """The probability of each answer."""


@dataclass(frozen=True, kw_only=True, repr=False)
class QuestionRanking(QuestionRows[RankedQuestion], Value):
    """Questions about some targets, the best first. Printing shows them as a table.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.5, 0.5]),
    ...                    TabularCPD(wet, (rain,), [[1.0, 0.5], [0.0, 0.5]])))
    >>> rank_questions(network, about="rain")
    1 question about rain, of which 1.000 bits are unknown
    question   bits   left
    wet       0.311  0.689
    """

    COLUMNS: ClassVar = ("question", "information", "expected_entropy", "cost", "score")

    about: tuple[str, ...]
    """The targets."""
    entropy: float
    """The entropy of the targets now, in bits."""
    rows: tuple[RankedQuestion, ...]
    """The questions, the best first."""

    def named(self, question: str) -> RankedQuestion:
        """Return the row of a question.

        Parameters
        ----------
        question
            The name of the question.

        Raises
        ------
        InvalidArgumentError
            If the question is not in the ranking.
        """
        for row in self.rows:
            if row.question == question:
                return row
        raise InvalidArgumentError(f"{question} is not among the ranked questions", question)

    def _shown(self) -> tuple[str, Table]:
        title = (
            f"{counted(len(self), 'question')} about {self._topic()},"
            f" of which {self.entropy:.3f} bits are unknown"
        )
        with_costs = any(row.cost for row in self)
        with_scores = any(row.score != row.information for row in self)
        header = ["question", "bits", "left", *["cost"] * with_costs, *["score"] * with_scores]
        rows = []
        for row in self:
            cells = [row.question, f"{row.information:.3f}", f"{row.expected_entropy:.3f}"]
            cells += [f"{row.cost:g}"] * with_costs + [f"{row.score:.4g}"] * with_scores
            rows.append(cells)
        return title, Table(header, rows)


@checked
def rank_questions(
    network: Asked,
    *,
    about: str | Iterable[str],
    among: str | Iterable[str] | None = None,
    evidence: Evidence | None = None,
    costs: Costs | None = None,
    measure: str = "joint",
    score: str = "information",
    limits: Limits | None = None,
) -> QuestionRanking:
    """Return the variables of a network, ranked by their information about some targets.

    The information of a question is the mutual information of the observable variable and the
    targets, given the evidence. The entropy of the targets after the answer is expected to be
    smaller by just as much.

    Parameters
    ----------
    network
        A network, a product of factors, or an engine (see `bnmind.compile_model`).
    about
        The targets: the names of variables whose states are unknown.
    among
        The variables that can be observed. By default all that are neither targets nor in the
        evidence. A target may be named too if it can be observed itself. Variables whose state is
        known already are left out.
    evidence
        A state, or a likelihood ``{state: weight}``, for each observed variable. None and NaN mean
        that nothing was observed.
    costs
        The cost of each question, at least 0; questions that are not named cost 0. The costs count
        only for scores such as ``per-cost``.
    measure
        The measure of what is unknown about several targets: the name of one of `TARGET_MEASURES`.
    score
        The score by which questions are ranked: the name of one of `QUESTION_SCORES`, such as
        ``"per-cost"`` or ``"less-cost:0.01"``. Scores that differ by at most 1e-9 count as equal;
        such questions are in the order of the network's variables.
    limits
        The limits of the computation, as in `compile_plan`; by default those of the engine.

    Raises
    ------
    UnknownNameError
        If the network has no such variable, or the variable no such state.
    InvalidArgumentError
        If there is no target, a name is given twice, the state of a target is known already, or a
        cost is negative.
    ImpossibleEvidenceError
        If the evidence has probability zero. The error names findings that contradict each other.
    TooLargeError
        If the targets have too many configurations for the limits. The error is raised before
        the computation, and says what to do.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> fault = Variable("fault", ("none", "pump", "valve"))
    >>> noise, leak = Variable("noise", ("no", "yes")), Variable("leak", ("no", "yes"))
    >>> network = Network((TabularCPD(fault, (), [0.6, 0.3, 0.1]),
    ...                    TabularCPD(noise, (fault,), [[0.9, 0.2, 0.8], [0.1, 0.8, 0.2]]),
    ...                    TabularCPD(leak, (fault,), [[0.99, 0.95, 0.2], [0.01, 0.05, 0.8]])))
    >>> rank_questions(network, about="fault")
    2 questions about fault, of which 1.295 bits are unknown
    question   bits   left
    noise     0.334  0.961
    leak      0.266  1.030
    >>> rank_questions(network, about="fault", evidence={"noise": "no"}).best.question
    'leak'
    """
    engine, findings, targets, names = opened(network, about, among, evidence, limits=limits)
    costs_in_order = costs_of(engine.model, costs, names)
    groups = made_by_name("measure", TARGET_MEASURES, measure)(targets)
    causes = causes_of(engine, groups, names, findings)
    return ranking_of(causes, names, costs_in_order, score, about=targets)


def ranking_of(
    causes: Sequence[Causes],
    names: Sequence[str],
    costs: Floats,
    score: str,
    *,
    about: tuple[str, ...],
) -> QuestionRanking:
    """Return the ranking of questions, given the belief about each group of targets."""
    before = float(sum(unchecked_entropy(part.masses) for part in causes))
    bits = np.zeros(len(names))
    for part in causes:
        bits += [float(information(part.masses, part.channels[name])) for name in names]
    bits[bits < _ROUNDING] = 0.0
    scores = made_by_name("score", QUESTION_SCORES, score)(bits, costs)
    rows = []
    for i in ranked_order(scores, TOLERANCE):
        rows.append(
            RankedQuestion(
                question=names[i],
                information=float(bits[i]),
                expected_entropy=max(0.0, before - float(bits[i])),
                cost=float(costs[i]),
                score=float(scores[i]),
                predicted=by_state(causes[0].states[names[i]], causes[0].predicted(names[i])),
            )
        )
    return QuestionRanking(about=about, entropy=before, rows=tuple(rows))


def ranked_order(scores: Floats, tolerance: float) -> list[int]:
    """Return the positions of scores, the largest first; equal ones in their own order.

    The largest score and all within the tolerance of it come first, then the largest of the others
    and all within the tolerance of that, and so on. Rounding errors thus decide nothing.

    >>> ranked_order(np.array([0.1, 0.5 - 1e-12, 0.5]), 1e-9)
    [1, 2, 0]
    """
    order: list[int] = []
    tied: list[int] = []
    for i in np.argsort(-scores, kind="stable").tolist():
        if tied and scores[i] < scores[tied[0]] - tolerance:
            order += sorted(tied)
            tied = []
        tied.append(i)
    return order + sorted(tied)


@dataclass(frozen=True, kw_only=True)
class AnswerEffect(Value):
    """The belief about the targets after one answer."""

    answer: str
    """The state of the question."""
    probability: float
    """The probability of this answer now."""
    entropy: float
    """The entropy of the targets after it, in bits. One answer may increase it."""
    targets: Mapping[str, Mapping[str, float]]
    """The probability of each state of each target after it."""


@dataclass(frozen=True, kw_only=True)
class QuestionEffect(Value):
    """The reasons for a question."""

    question: str
    """The variable to observe."""
    information: float
    """The expected information about the targets, in bits."""
    entropy: float
    """The entropy of the targets now, in bits."""
    expected_entropy: float
    """The expected entropy of the targets after the answer, in bits."""
    answers: tuple[AnswerEffect, ...]
    """The effect of each answer that has a positive probability."""


def effect_of(causes: Sequence[Causes], question: str) -> QuestionEffect:
    """Return the effect of a question on the belief about some targets.

    Parameters
    ----------
    causes
        The belief about each group of targets, with a channel of the question.
    question
        The question.
    """
    before = float(sum(unchecked_entropy(part.masses) for part in causes))
    bits = float(sum(information(part.masses, part.channels[question]) for part in causes))
    predicted = causes[0].predicted(question)
    answers = []
    for number, answer in enumerate(causes[0].states[question]):
        if not predicted[number] > 0:
            continue
        left = 0.0
        targets: dict[str, dict[str, float]] = {}
        for part in causes:
            weights = part.masses * part.channels[question][:, number]
            belief: Floats = weights / weights.sum()
            left += float(unchecked_entropy(belief))
            targets |= _marginals(part, belief)
        probability = float(predicted[number])
        answers.append(
            AnswerEffect(answer=answer, probability=probability, entropy=left, targets=targets)
        )
    return QuestionEffect(
        question=question,
        information=bits,
        entropy=before,
        expected_entropy=max(0.0, before - bits),
        answers=tuple(answers),
    )


def _marginals(causes: Causes, belief: Floats) -> dict[str, dict[str, float]]:
    """Return the distribution of each target of a group."""
    table = belief.reshape([v.n_states for v in causes.targets])
    axes = range(table.ndim)
    return {
        v.name: by_state(v.states, table.sum(axis=tuple(a for a in axes if a != axis)))
        for axis, v in enumerate(causes.targets)
    }
