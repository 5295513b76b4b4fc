"""The events of a dialogue, and the state that they lead to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from enum import Enum

from bnmind._values import Value
from bnmind.errors import InvalidArgumentError

__all__ = ["AnswerEvent", "AnswerKind", "AnswerState", "state_after"]


class AnswerKind(Enum):
    """The kinds of events."""

    ANSWER = "answer"
    SKIP = "skip"
    CHANGE = "change"
    UNDO = "undo"


@dataclass(frozen=True, kw_only=True)
class AnswerEvent(Value):
    """One event of a dialogue, such as an answer to a question."""

    kind: AnswerKind
    """Whether it is an answer, a change, a skipped question or an undo."""
    question: str = ""
    """The variable asked; empty for an undo."""
    answer: str = ""
    """Its state; empty for a skip or an undo."""
    at: str = ""
    """The time of the event, in any form; empty if unknown."""


@dataclass(frozen=True)
class AnswerState(Value):
    """The state of a dialogue after some events."""

    asked: tuple[str, ...] = ()
    """The questions answered or skipped, in the order in which they were first asked."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """The answer to each question answered."""

    @property
    def skipped(self) -> tuple[str, ...]:
        """The questions asked that have no answer."""
        return tuple(name for name in self.asked if name not in self.answers)

    def after(self, event: AnswerEvent) -> AnswerState:
        """Return the state after an event other than an undo.

        Parameters
        ----------
        event
            An answer, a change of an answer, or a skipped question.

        Raises
        ------
        InvalidArgumentError
            If the question was answered or skipped already or, to change an answer, was not.
        """
        name = event.question
        before = self.answers.get(name)
        if event.kind is AnswerKind.CHANGE:
            if before is None:
                raise InvalidArgumentError(
                    f"{name} has no answer that could be changed; answer it first", name
                )
        elif before is not None:
            raise InvalidArgumentError(
                f"{name} was answered already, with {before}; change that answer, or undo it", name
            )
        elif event.kind is AnswerKind.SKIP and name in self.asked:
            raise InvalidArgumentError(f"{name} was skipped already", name)
        asked = self.asked if name in self.asked else (*self.asked, name)
        if event.kind is AnswerKind.SKIP:
            return AnswerState(asked, self.answers)
        return AnswerState(asked, {**self.answers, name: event.answer})


def state_after(events: Iterable[AnswerEvent]) -> AnswerState:
    """Return the state after events; an undo leads back to the state before the last one.

    Raises
    ------
    InvalidArgumentError
        If an event cannot follow those before it.

    Examples
    --------
    >>> noise = AnswerEvent(kind=AnswerKind.ANSWER, question="noise", answer="no")
    >>> state_after([noise]).answers, state_after([noise, AnswerEvent(kind=AnswerKind.UNDO)]).asked
    ({'noise': 'no'}, ())
    """
    states = [AnswerState()]
    for event in events:
        if event.kind is not AnswerKind.UNDO:
            states.append(states[-1].after(event))
        elif len(states) == 1:
            raise InvalidArgumentError("there is nothing to undo")
        else:
            states.pop()
    return states[-1]
