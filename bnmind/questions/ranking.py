"""Questions to any network, ranked by their information about some targets.

=========  ==================================================================
symbol     name here
=========  ==================================================================
I(X; T)    ``information``: H(m N) − Σ_t m(t) H(N[t, :]), in bits, with the
           masses m and the channel N of `bnmind.questions.causes`
EH         ``expected_entropy``: H(T | e) − I(X; T)
=========  ==================================================================

The function `bnmind.information.information` computes it, as for guesses and for items of tests.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats, information, unchecked_entropy
from bnmind.junction.inference.evidence import Evidence
from bnmind.junction.inference.limits import Limits
from bnmind.questions.asked import Asked, Costs, costs_of, opened
from bnmind.questions.causes import Causes, causes_of
from bnmind.questions.measures import JointEntropy, TargetMeasure
from bnmind.questions.rows import QuestionRows
from bnmind.questions.scores import InformationOnly, QuestionScore
from bnmind.questions.tables import names_text, questions_text, table_text

__all__ = ["QuestionRanking", "RankedQuestion", "rank_questions", "ranked_order", "ranking_of"]

TOLERANCE = 1e-9
"""Scores that differ by at most this count as equal."""

_ROUNDING = 1e-12
"""Bits below this are rounding errors of the computation, and count as zero."""

JOINTLY: TargetMeasure = JointEntropy()
BY_INFORMATION: QuestionScore = InformationOnly()


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

    def __repr__(self) -> str:
        title = (
            f"{questions_text(len(self))} about {names_text(self.about)},"
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
        return table_text(title, header, rows)


@checked
def rank_questions(
    network: Asked,
    *,
    about: str | Iterable[str],
    among: str | Iterable[str] | None = None,
    evidence: Evidence | None = None,
    costs: Costs | None = None,
    measure: TargetMeasure = JOINTLY,
    score: QuestionScore = BY_INFORMATION,
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
        only for scores such as `InformationPerCost`.
    measure
        The measure of what is unknown about several targets: `JointEntropy` or `MarginalEntropies`.
    score
        The score by which questions are ranked: `InformationOnly`, `InformationPerCost` or
        `InformationLessCost`. Scores that differ by at most 1e-9 count as equal; such questions are
        in the order of the network's variables.
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
    causes = causes_of(engine, measure.groups(targets), names, findings)
    return ranking_of(causes, names, costs_in_order, score, about=targets)


def ranking_of(
    causes: Sequence[Causes],
    names: Sequence[str],
    costs: Floats,
    score: QuestionScore,
    *,
    about: tuple[str, ...],
) -> QuestionRanking:
    """Return the ranking of questions, given the belief about each group of targets."""
    before = float(sum(unchecked_entropy(part.masses) for part in causes))
    bits = np.zeros(len(names))
    for part in causes:
        bits += [float(information(part.masses, part.channels[name])) for name in names]
    bits[bits < _ROUNDING] = 0.0
    scores = score.scores(bits, costs)
    rows = []
    for i in ranked_order(scores, TOLERANCE):
        rows.append(
            RankedQuestion(
                question=names[i],
                information=float(bits[i]),
                expected_entropy=max(0.0, before - float(bits[i])),
                cost=float(costs[i]),
                score=float(scores[i]),
                predicted=_answers(causes[0], names[i]),
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


def _answers(causes: Causes, question: str) -> dict[str, float]:
    states = causes.states[question]
    return dict(zip(states, causes.predicted(question).tolist(), strict=True))
