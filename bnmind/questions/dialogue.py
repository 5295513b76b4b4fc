"""Dialogues: questions to a person about a network, one after another, with the reasons for each.

A dialogue is an immutable state. Its steps return the next state and a record for people: how
probable the answer was, and how much is unknown before and after it.

A file of a dialogue is JSON with one event on each line, see `bnmind.questions.event_log`::

    {"schema": "bnmind-dialogue", "version": 1,
     "network": {"variables": 8, "fingerprint": "…"}, "about": ["fault"],
     "options": {"--among": "noise,leak"},
     "events": [
      {"kind": "answer", "question": "noise", "answer": "yes", "at": "2026-03-01T10:15:02"},
      {"kind": "undo", "at": "2026-03-01T10:15:09"}
     ]}
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields, is_dataclass
from functools import cached_property, partial
from types import MappingProxyType
from typing import Any, TypeAlias, TypeVar

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted, listed, one_line
from bnmind._registry import COUNT, NUMBER, Argument, Registered, made_by_name
from bnmind._values import ReadOnlyDict, Value
from bnmind.errors import BnmindError, InvalidArgumentError, ModelFileError
from bnmind.information import unchecked_entropy
from bnmind.junction.engine import Engine
from bnmind.junction.evidence import Evidence
from bnmind.pgm.cpd import FunctionalCPD
from bnmind.pgm.factor import Factor
from bnmind.pgm.tabular import TabularCPD
from bnmind.questions.asked import Asked, Costs, costs_of, opened
from bnmind.questions.event_log import (
    Event,
    EventKind,
    LogState,
    LogSubject,
    SavedLog,
    log_to_json,
    read_log,
    replayed,
    rounded,
    write_log,
)
from bnmind.questions.ranking import (
    QUESTION_SCORES,
    TARGET_MEASURES,
    Causes,
    QuestionEffect,
    QuestionRanking,
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
    measure: str = "joint"
    """The measure of what is unknown about several targets."""
    score: str = "information"
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
        measure: str = "joint",
        score: str = "information",
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
        made_by_name("measure", TARGET_MEASURES, measure)
        made_by_name("score", QUESTION_SCORES, score)
        return cls(
            engine=engine,
            about=targets,
            among=names,
            evidence=findings,
            costs={name: cost for name, cost in prices if cost},
            measure=measure,
            score=score,
        )

    def __repr__(self) -> str:
        return f"Inquiry(about {', '.join(self.about)}, {counted(len(self.among), 'question')})"


DialogueStopper: TypeAlias = Callable[[Any], str]
"""A rule that ends dialogues: a function of a `Dialogue` that returns the reason to stop, or an
empty text."""


def _entropy(bits: float, dialogue: Dialogue) -> str:
    return f"at most {bits:g} bits are unknown" if dialogue.entropy <= bits else ""


def _certainty(least: float, dialogue: Dialogue) -> str:
    return f"each target is {least:g} certain or more" if dialogue.certainty >= least else ""


def _gain(bits: float, dialogue: Dialogue) -> str:
    return f"no question tells more than {bits:g} bits" if dialogue.gain <= bits else ""


def _questions(number: int, dialogue: Dialogue) -> str:
    were = f"{counted(number, 'question')} {'was' if number == 1 else 'were'} asked"
    return were if len(dialogue.state.asked) >= number else ""


def _cost(most: float, dialogue: Dialogue) -> str:
    return f"the questions cost {dialogue.cost:g} together" if dialogue.cost >= most else ""


_Number = TypeVar("_Number", int, float)


def _limited(
    about: str,
    argument: Argument,
    stop: Callable[[_Number, Dialogue], str],
    most: float = math.inf,
) -> Registered[DialogueStopper]:
    def given(limit: _Number) -> DialogueStopper:
        if not 0 <= limit <= most or not math.isfinite(limit):
            wanted = "a finite number of at least 0" if most > 1 else "a number from 0 to 1"
            raise InvalidArgumentError(f"expected {wanted}, got {limit}", limit)
        return partial(stop, limit)

    return Registered(about, None, argument, given)


DIALOGUE_STOPPERS: Mapping[str, Registered[DialogueStopper]] = MappingProxyType(
    {
        "entropy": _limited("at most this many bits are unknown", NUMBER, _entropy),
        "certainty": _limited("one state of each target is this probable", NUMBER, _certainty, 1),
        "gain": _limited("no question has more information than this, in bits", NUMBER, _gain),
        "questions": _limited("N questions were asked", COUNT, _questions),
        "cost": _limited("the answers cost this much together", NUMBER, _cost),
    }
)
"""The stoppers by name; each takes a number, as in ``certainty:0.95``."""


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
        return self._causes_about(self.open_questions)

    def _causes_about(self, names: Sequence[str]) -> tuple[Causes, ...]:
        """Return the belief about the targets, with the channels of some questions."""
        inquiry = self.inquiry
        groups = made_by_name("measure", TARGET_MEASURES, inquiry.measure)(inquiry.about)
        return causes_of(inquiry.engine, groups, names, self.evidence)

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

    @property
    def certainty(self) -> float:
        """The probability of the most probable state, the smallest of all targets."""
        return min(max(chances.values()) for chances in self.belief.values())

    @property
    def gain(self) -> float:
        """The largest information of an open question, in bits; 0 if there is none."""
        return max((row.information for row in self.ranking), default=0.0)

    @checked
    def stop_reason(self, stoppers: Sequence[str | DialogueStopper] = ()) -> str:
        """Return the reason why the dialogue is over; empty if it goes on.

        Parameters
        ----------
        stoppers
            Any of them ends the dialogue: names of `DIALOGUE_STOPPERS`, such as
            ``certainty:0.95``, or functions, see `DialogueStopper`. Without open questions the
            dialogue is over in any case.
        """
        rules = [
            made_by_name("stopper", DIALOGUE_STOPPERS, one) if isinstance(one, str) else one
            for one in stoppers
        ]
        if not self.open_questions:
            return "there is no question left to ask"
        return next(filter(None, (stop(self) for stop in rules)), "")

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
            causes = self._causes_about([name])
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


# --- Files ----------------------------------------------------------------------------------------

_SCHEMA = "bnmind-dialogue"


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
class SavedDialogue(SavedLog):
    """The content of a file with a dialogue."""

    network: LogSubject
    """The network."""
    about: tuple[str, ...]
    """The targets."""
    options: Mapping[str, str] = field(default_factory=dict)
    """Other texts saved with the dialogue, such as the options of a command."""


@checked
def dialogue_to_json(dialogue: Dialogue, *, options: Mapping[str, str] | None = None) -> str:
    """Return a dialogue as JSON text, with one event on each line.

    Parameters
    ----------
    dialogue
        The dialogue.
    options
        Other texts to save with it.
    """
    engine = dialogue.inquiry.engine
    head = {
        "schema": _SCHEMA,
        "version": 1,
        "network": {"variables": len(engine.model.variables), "fingerprint": fingerprint(engine)},
        "about": list(dialogue.inquiry.about),
        "options": dict(options or {}),
    }
    return log_to_json(head, dialogue.events, also=True)


@checked
def write_dialogue(
    path: str | os.PathLike[str],
    dialogue: Dialogue,
    *,
    options: Mapping[str, str] | None = None,
    before: str | None = None,
) -> str:
    """Write a dialogue to a file, unless another program has written to it; return the text.

    Parameters
    ----------
    path
        The file.
    dialogue, options
        As for `dialogue_to_json`.
    before
        The text that the file has if this program was the last to write it; None if the file must
        not exist. A file that was removed in the meantime is written again.

    Raises
    ------
    OvertakenError
        If the file holds something else.
    ModelFileError
        If it is too long to be read again, or cannot be written. An existing file is then
        unchanged.
    """
    text = dialogue_to_json(dialogue, options=options)
    write_log(path, text, before=before)
    return text


@checked
def read_dialogue(path: str | os.PathLike[str], *, salvage: bool = False) -> SavedDialogue:
    """Return the content of a file with a dialogue.

    Parameters
    ----------
    path
        The file, which `write_dialogue` wrote.
    salvage
        Whether to read the complete lines of a truncated or damaged file.

    Raises
    ------
    ModelFileError
        If the file cannot be read, is not such a file, is damaged or from a newer version.
    """
    return read_log(path, _SCHEMA, SavedDialogue, salvage=salvage)


@checked
def resumed_dialogue(
    saved: SavedDialogue, inquiry: Inquiry, *, path: str | os.PathLike[str] = ""
) -> Dialogue:
    """Return the dialogue of a file, as it was after its last event.

    Parameters
    ----------
    saved
        The content of the file.
    inquiry
        The network, the targets and the options.
    path
        The file, for messages.

    Raises
    ------
    ModelFileError
        If it is a dialogue about another network or other targets, or an event is not valid.
    """
    place = os.fspath(path) or "the file"
    if saved.network.fingerprint != fingerprint(inquiry.engine):
        raise ModelFileError(
            f"the dialogue in {place} is about a network with other variables, states or tables",
            place,
        )
    if saved.about != inquiry.about:
        raise ModelFileError(
            f"the dialogue in {place} is about {one_line(', '.join(saved.about))}, not about"
            f" {', '.join(inquiry.about)}",
            place,
        )
    try:
        dialogue = Dialogue(inquiry, saved.events)
        _ = dialogue.belief  # raises if the answers are impossible
    except BnmindError as fault:
        raise ModelFileError(f"{fault}, in {place}", place) from fault
    return dialogue
