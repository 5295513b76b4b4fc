"""Dialogues: questions to a person about a network, one after another, with the reasons for each.

A dialogue is an immutable state. Its steps return the next state and a record for people: how
probable the answer was, and how much is unknown before and after it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from bnmind._arguments import checked
from bnmind._values import ReadOnlyDict, Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import unchecked_entropy
from bnmind.questions.asked import costs_of
from bnmind.questions.causes import Causes, causes_of
from bnmind.questions.doubts import Doubts, doubt_answers
from bnmind.questions.events import AnswerEvent, AnswerKind, AnswerState, state_after
from bnmind.questions.explanation import QuestionEffect, effect_of
from bnmind.questions.inquiry import Inquiry
from bnmind.questions.ranking import QuestionRanking, ranking_of
from bnmind.questions.stopping import DialogueProgress, DialogueStopper

__all__ = ["AnswerStep", "Dialogue"]


@dataclass(frozen=True, kw_only=True)
class AnswerStep(Value):
    """The changes of one step of a dialogue."""

    event: AnswerEvent
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
    events: tuple[AnswerEvent, ...] = ()
    """All events, undone ones and undos too."""

    def __post_init__(self) -> None:
        super().__post_init__()
        for event in self.events:
            self._check(event)
        _ = self.state  # raises if an event cannot follow those before it

    def __repr__(self) -> str:
        return f"Dialogue({len(self.state.asked)} of {len(self.inquiry.among)} questions asked)"

    @cached_property
    def state(self) -> AnswerState:
        """The questions asked and their answers."""
        return state_after(self.events)

    @property
    def evidence(self) -> Mapping[str, Any]:
        """The evidence before the first question, and the answers."""
        return ReadOnlyDict({**self.inquiry.evidence, **self.state.answers})

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
        return float(sum(self.inquiry.costs.get(name, 0.0) for name in self.state.answers))

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
        variable = self.inquiry.engine.model.variable(question)
        state = variable.states[variable.index(answer)]
        return self._after(
            AnswerEvent(kind=AnswerKind.ANSWER, question=question, answer=state, at=at)
        )

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
        return self._after(AnswerEvent(kind=AnswerKind.SKIP, question=question, at=at))

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
        variable = self.inquiry.engine.model.variable(question)
        state = variable.states[variable.index(answer)]
        return self._after(
            AnswerEvent(kind=AnswerKind.CHANGE, question=question, answer=state, at=at)
        )

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
        return self._after(AnswerEvent(kind=AnswerKind.UNDO, at=at))

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
        if name in self.state.answers:
            raise InvalidArgumentError(
                f"{name} was answered already, with {self.state.answers[name]}", name
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
            inquiry.engine, self.state.answers, about=inquiry.about, evidence=inquiry.evidence
        )

    def _check(self, event: AnswerEvent) -> None:
        """Raise if the question or the answer of an event is none."""
        if event.kind is not AnswerKind.UNDO:
            self._refuse(event.question)
            if event.kind is not AnswerKind.SKIP:
                self.inquiry.engine.model.variable(event.question).index(event.answer)

    def _refuse(self, question: str) -> None:
        """Raise unless a variable may be asked."""
        self.inquiry.engine.model.variable(question)
        if question in self.inquiry.about:
            raise InvalidArgumentError(f"{question} is a target, which cannot be asked", question)
        if question in self.inquiry.evidence:
            raise InvalidArgumentError(
                f"{question} is in the evidence that was given before the dialogue", question
            )

    def _after(self, event: AnswerEvent) -> tuple[Dialogue, AnswerStep]:
        after = Dialogue(self.inquiry, (*self.events, event))
        # Compute the belief now, so that an impossible answer is refused.
        step = AnswerStep(
            event=event,
            probability=self._probability(event),
            entropy_before=self.entropy,
            entropy=after.entropy,
        )
        return after, step

    def _probability(self, event: AnswerEvent) -> float:
        """Return the probability of an answer given the others."""
        if event.kind in (AnswerKind.SKIP, AnswerKind.UNDO):
            return 1.0
        others = {name: value for name, value in self.evidence.items() if name != event.question}
        posterior = self.inquiry.engine.posterior([event.question], others)
        return float(posterior[event.question][event.answer])
