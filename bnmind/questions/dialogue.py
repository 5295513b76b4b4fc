"""Dialogues: questions to a person about a network, one after another, with the reasons for each.

A dialogue is an immutable state. Its steps return the next state and a record for people: how
probable the answer was, and how much is unknown before and after it.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property
from types import MappingProxyType
from typing import Annotated, Any, Protocol

import numpy as np
from annotated_types import Gt, Le

from bnmind._arguments import checked
from bnmind._messages import counted, listed
from bnmind._registry import COUNT, NUMBER, Registered, made_by_name
from bnmind._values import Natural, NonNegative, ReadOnlyDict, Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import unchecked_entropy
from bnmind.junction.engine import Engine
from bnmind.junction.evidence import Evidence
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.tabular import TabularCPD
from bnmind.questions.asked import Asked, Costs, costs_of, opened
from bnmind.questions.event_log import Event, EventKind, LogState, replayed, rounded
from bnmind.questions.ranking import (
    Causes,
    InformationOnly,
    JointEntropy,
    QuestionEffect,
    QuestionRanking,
    QuestionScore,
    TargetMeasure,
    causes_of,
    effect_of,
    ranking_of,
)
from bnmind.questions.value import Doubts, doubt_answers


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
        prices = zip(everything, costs_of(engine.model, costs, everything).tolist(), strict=True)
        engine.posterior([()], findings)  # raises if they are impossible
        return cls(
            engine=engine,
            about=targets,
            among=names,
            evidence=findings,
            costs={name: cost for name, cost in prices if cost},
            measure=JointEntropy() if measure is None else measure,
            score=InformationOnly() if score is None else score,
        )

    def __repr__(self) -> str:
        return f"Inquiry(about {', '.join(self.about)}, {counted(len(self.among), 'question')})"


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
            digest.update(rounded(np.real(potential.values), "<f8"))
            continue
        digest.update(type(potential).__name__.encode())
        if isinstance(potential, FunctionalCPD):
            digest.update(_described(potential.function).encode())
        else:
            for contribution in potential.contributions:
                digest.update(rounded(contribution, "<f8"))
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


@dataclass(frozen=True, kw_only=True)
class DialogueProgress(Value):
    """The progress of a dialogue, as input to a stopper."""

    entropy: float
    """The entropy of the targets, in bits."""
    certainty: float
    """The probability of the most probable state, the smallest of all targets."""
    n_asked: int
    """The number of questions answered or skipped."""
    cost: float
    """The cost of the questions answered."""
    gain: float
    """The largest information of an open question, in bits; 0 if there is none."""


class DialogueStopper(Protocol):
    """A rule that ends dialogues."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop; an empty text to go on.

        Parameters
        ----------
        progress
            The questions, answers and beliefs so far.
        """
        ...


@dataclass(frozen=True)
class EntropyAtMost(Value):
    """Stop once the entropy of the targets is at most this many bits."""

    bits: NonNegative
    """The entropy, at least 0."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop."""
        reached = progress.entropy <= self.bits
        return f"at most {self.bits:g} bits are unknown" if reached else ""


@dataclass(frozen=True)
class Certain(Value):
    """Stop once one state of each target has at least this probability."""

    probability: Annotated[float, Gt(0), Le(1)]
    """The probability, above 0 and at most 1."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop."""
        reached = progress.certainty >= self.probability
        return f"each target is {self.probability:g} certain or more" if reached else ""


@dataclass(frozen=True)
class GainAtMost(Value):
    """Stop once no open question has more information than this, in bits."""

    bits: NonNegative
    """The information, at least 0."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop."""
        reached = progress.gain <= self.bits
        return f"no question tells more than {self.bits:g} bits" if reached else ""


@dataclass(frozen=True)
class MostQuestions(Value):
    """Stop once this many questions were asked."""

    number: Natural
    """The number of questions."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop."""
        if progress.n_asked < self.number:
            return ""
        return "1 question was asked" if self.number == 1 else f"{self.number} questions were asked"


@dataclass(frozen=True)
class MostCost(Value):
    """Stop once the questions answered cost this much together."""

    cost: NonNegative
    """The sum of the costs, in their unit."""

    def stop(self, progress: DialogueProgress) -> str:
        """Return the reason to stop."""
        reached = progress.cost >= self.cost
        return f"the questions cost {progress.cost:g} together" if reached else ""


DIALOGUE_STOPPERS: Mapping[str, Registered[DialogueStopper]] = MappingProxyType(
    {
        "entropy": Registered("at most this many bits are unknown", None, NUMBER, EntropyAtMost),
        "certainty": Registered("one state of each target is this probable", None, NUMBER, Certain),
        "gain": Registered(
            "no question has more information than this, in bits", None, NUMBER, GainAtMost
        ),
        "questions": Registered("N questions were asked", None, COUNT, MostQuestions),
        "cost": Registered("the answers cost this much together", None, NUMBER, MostCost),
    }
)
"""The stoppers by name."""


@checked
def dialogue_stoppers_by_names(texts: Sequence[str]) -> tuple[DialogueStopper, ...]:
    """Return the stoppers of texts such as ``certainty:0.95``; any of them ends a dialogue.

    Parameters
    ----------
    texts
        Names, each with an argument after a colon.

    Raises
    ------
    UnknownNameError
        If no stopper has a name.
    InvalidArgumentError
        If an argument is missing or of another kind.
    """
    return tuple(made_by_name("stopper", DIALOGUE_STOPPERS, text) for text in texts)


@dataclass(frozen=True, kw_only=True)
class AnswerStep(Value):
    """The changes of one step of a dialogue."""

    event: Event
    """The step."""
    probability: float
    """The probability of the answer before it was given; 1 for skips and undos."""
    entropy_before: float
    """The entropy of the targets before the step, in bits."""
    entropy: float
    """The entropy of the targets after it, in bits. A surprising answer may increase it."""


@dataclass(frozen=True, eq=False, repr=False)
class Dialogue(Value):
    """The state of a dialogue. Steps return the next state, and what they changed.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> fault = Variable("fault", ("none", "pump", "valve"))
    >>> noise, leak = Variable("noise", ("no", "yes")), Variable("leak", ("no", "yes"))
    >>> network = Network((TabularCPD(fault, (), [0.6, 0.3, 0.1]),
    ...                    TabularCPD(noise, (fault,), [[0.9, 0.2, 0.8], [0.1, 0.8, 0.2]]),
    ...                    TabularCPD(leak, (fault,), [[0.99, 0.95, 0.2], [0.01, 0.05, 0.8]])))
    >>> dialogue = Dialogue(Inquiry.of(network, about="fault"))
    >>> dialogue.next_question()
    'noise'
    >>> dialogue, step = dialogue.answer("noise", "yes")
    >>> round(step.probability, 2), round(step.entropy_before, 2), round(step.entropy, 2)
    (0.32, 1.3, 1.01)
    >>> round(dialogue.belief["fault"]["pump"], 2)
    0.75
    """

    inquiry: Inquiry
    """The network, the targets and the options."""
    events: tuple[Event, ...] = ()
    """All events, undone ones and undos too."""

    def __post_init__(self) -> None:
        super().__post_init__()
        _ = self.state  # raises if an event is not valid

    def __repr__(self) -> str:
        return f"Dialogue({len(self.state.asked)} of {len(self.inquiry.among)} questions asked)"

    @cached_property
    def state(self) -> LogState:
        """The questions asked and their answers."""
        return replayed(self.events, self._check)

    @property
    def evidence(self) -> Mapping[str, Any]:
        """The evidence before the first question, and the answers."""
        return ReadOnlyDict({**self.inquiry.evidence, **self.state.responses})

    @property
    def open_questions(self) -> tuple[str, ...]:
        """The questions that were not asked and whose state is unknown."""
        gone = {*self.state.asked, *self.evidence}
        return tuple(name for name in self.inquiry.among if name not in gone)

    @cached_property
    def _causes(self) -> tuple[Causes, ...]:
        inquiry = self.inquiry
        groups = inquiry.measure.groups(inquiry.about)
        return causes_of(inquiry.engine, groups, self.open_questions, self.evidence)

    @cached_property
    def belief(self) -> Mapping[str, Mapping[str, float]]:
        """The probability of each state of each target."""
        posterior = self.inquiry.engine.posterior(list(self.inquiry.about), self.evidence)
        return ReadOnlyDict(
            {name: ReadOnlyDict(posterior[name].to_dict()) for name in self.inquiry.about}
        )

    @cached_property
    def entropy(self) -> float:
        """The entropy of the targets, in bits."""
        return float(sum(unchecked_entropy(part.masses) for part in self._causes))

    @cached_property
    def ranking(self) -> QuestionRanking:
        """The open questions, the best first."""
        inquiry = self.inquiry
        names = self.open_questions
        costs = costs_of(inquiry.engine.model, inquiry.costs, names)
        return ranking_of(self._causes, names, costs, inquiry.score, about=inquiry.about)

    @cached_property
    def cost(self) -> float:
        """The cost of the questions answered."""
        return float(sum(self.inquiry.costs.get(name, 0.0) for name in self.state.responses))

    @cached_property
    def progress(self) -> DialogueProgress:
        """The progress of the dialogue, as input to a stopper."""
        return DialogueProgress(
            entropy=self.entropy,
            certainty=min(max(chances.values()) for chances in self.belief.values()),
            n_asked=len(self.state.asked),
            cost=self.cost,
            gain=max((row.information for row in self.ranking), default=0.0),
        )

    @checked
    def stop_reason(self, stoppers: Sequence[DialogueStopper] = ()) -> str:
        """Return the reason why the dialogue is over; empty if it goes on.

        Parameters
        ----------
        stoppers
            Any of them ends the dialogue. Without open questions it is over in any case.
        """
        if not self.open_questions:
            return "there is no question left to ask"
        reasons = (stopper.stop(self.progress) for stopper in stoppers)
        return next((reason for reason in reasons if reason), "")

    def next_question(self) -> str:
        """Return the question to ask next; raises `NothingToAskError` if there is none."""
        return self.ranking.best.question

    @checked
    def answer(self, question: str, answer: Any, *, at: str = "") -> tuple[Dialogue, AnswerStep]:
        """Return the dialogue after an answer to any question, and what it changed.

        Parameters
        ----------
        question
            Any variable without an answer that is not a target; it may have been skipped.
        answer
            Its state, as text, number or truth value.
        at
            The time of the answer, in any form.

        Raises
        ------
        UnknownNameError
            If the network has no such variable, or the variable no such state.
        InvalidArgumentError
            If the question was answered already, or is no question.
        ImpossibleEvidenceError
            If the answer is impossible after the others. The error names those that contradict each
            other.
        """
        return self._told(EventKind.ANSWER, question, answer, at)

    @checked
    def skip(self, question: str, *, at: str = "") -> tuple[Dialogue, AnswerStep]:
        """Return the dialogue after a question without an answer; raises as `answer`.

        Parameters
        ----------
        question
            The name of the question.
        at
            The time, in any form.
        """
        return self._after(Event(EventKind.SKIP, question, at=at))

    @checked
    def change(self, question: str, answer: Any, *, at: str = "") -> tuple[Dialogue, AnswerStep]:
        """Return the dialogue with another answer to an answered question; raises as `answer`.

        Parameters
        ----------
        question
            The name of the question.
        answer
            The state, or its name.
        at
            The time, in any form.
        """
        return self._told(EventKind.CHANGE, question, answer, at)

    @checked
    def undo(self, *, at: str = "") -> tuple[Dialogue, AnswerStep]:
        """Return the dialogue with its last step undone; `events` keeps both.

        Parameters
        ----------
        at
            The time, in any form.

        Raises
        ------
        InvalidArgumentError
            If there is nothing to undo.
        """
        return self._after(Event(EventKind.UNDO, at=at))

    @checked
    def why(self, question: str | None = None) -> QuestionEffect:
        """Return the reasons for a question: its information, and the effect of each answer.

        Parameters
        ----------
        question
            Any variable whose state is unknown; by default the next question.

        Raises
        ------
        InvalidArgumentError
            If it was answered already, or is a target.
        NothingToAskError
            If there is no next question.
        """
        name = self.next_question() if question is None else question
        self._refuse(name)
        if name in self.state.responses:
            raise InvalidArgumentError(
                f"{name} was answered already, with {self.state.responses[name]}", name
            )
        causes = self._causes
        if name not in causes[0].channels:
            groups = self.inquiry.measure.groups(self.inquiry.about)
            causes = causes_of(self.inquiry.engine, groups, [name], self.evidence)
        return effect_of(causes, name)

    @cached_property
    def doubts(self) -> Doubts:
        """The answers that fit the others badly, and the conflict among all of them.

        The evidence of the inquiry is not in doubt.
        """
        inquiry = self.inquiry
        return doubt_answers(
            inquiry.engine, self.state.responses, about=inquiry.about, evidence=inquiry.evidence
        )

    def _check(self, event: Event) -> None:
        """Raise if the question or the answer of an event is none."""
        if event.kind is not EventKind.UNDO:
            self._refuse(event.item)
            if event.kind is not EventKind.SKIP:
                self.inquiry.engine.model.variable(event.item).index(event.response)

    def _refuse(self, question: str) -> None:
        """Raise unless a variable may be asked."""
        self.inquiry.engine.model.variable(question)
        if question in self.inquiry.about:
            raise InvalidArgumentError(f"{question} is a target, which cannot be asked", question)
        if question in self.inquiry.evidence:
            raise InvalidArgumentError(
                f"{question} is in the evidence that was given before the dialogue", question
            )

    def _told(
        self, kind: EventKind, question: str, answer: Any, at: str
    ) -> tuple[Dialogue, AnswerStep]:
        variable = self.inquiry.engine.model.variable(question)
        state = variable.states[variable.index(answer)]
        return self._after(Event(kind, question, state, at=at))

    def _after(self, event: Event) -> tuple[Dialogue, AnswerStep]:
        after = Dialogue(self.inquiry, (*self.events, event))
        # Compute the belief now, so that an impossible answer is refused.
        step = AnswerStep(
            event=event,
            probability=self._probability(event),
            entropy_before=self.entropy,
            entropy=after.entropy,
        )
        return after, step

    def _probability(self, event: Event) -> float:
        """Return the probability of an answer given the others."""
        if event.kind in (EventKind.SKIP, EventKind.UNDO):
            return 1.0
        others = {name: value for name, value in self.evidence.items() if name != event.item}
        posterior = self.inquiry.engine.posterior([event.item], others)
        return float(posterior[event.item][event.response])
