"""What happens in a live test, and where a list of events leads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import Enum

from bnmind.adaptive.bank import ItemBank
from bnmind.adaptive.belief import SkillBelief
from bnmind.errors import InvalidResponseError

__all__ = ["Event", "EventKind", "SessionState", "believed", "state_after"]


class EventKind(Enum):
    """What may happen."""

    ANSWER = "answer"
    SKIP = "skip"
    CHANGE = "change"
    UNDO = "undo"


@dataclass(frozen=True)
class Event:
    """Something that happened in a test."""

    kind: EventKind
    item: str = ""
    """The item answered or skipped; empty for what undoes."""
    response: str = ""
    """The name of the response, if there is one."""
    at: str = ""
    """When, in whatever form the caller writes it; empty if not told."""
    set_aside: tuple[str, ...] = ()
    """Items that exposure control withholds from then on."""


@dataclass(frozen=True)
class SessionState:
    """Where the events have led."""

    asked: tuple[str, ...] = ()
    """The items answered or skipped, in the order in which they first were."""
    responses: Mapping[str, int] = field(default_factory=dict)
    """The position of the response to each item answered."""
    set_aside: tuple[str, ...] = ()
    """Items that exposure control withholds."""
    done: tuple[Event, ...] = ()
    """The events that were not undone."""

    @property
    def skipped(self) -> tuple[str, ...]:
        """The items asked that have no answer."""
        return tuple(item for item in self.asked if item not in self.responses)

    def after(self, bank: ItemBank, event: Event) -> SessionState:
        """Return where one more event leads.

        Raises
        ------
        UnknownNameError
            If there is no such item.
        InvalidResponseError
            If the item has no such response, was answered already (or, to change an answer,
            was not), or there is nothing to undo.
        """
        if event.kind is EventKind.UNDO:
            if not self.done:
                raise InvalidResponseError("expected an event to undo, got none")
            return state_after(bank, self.done[:-1])
        item = event.item
        bank.position(item)
        given = self.responses.get(item)
        now = "" if given is None else bank.responses(item)[given]
        responses = dict(self.responses)
        if event.kind is EventKind.CHANGE:
            if given is None:
                raise InvalidResponseError(
                    f"expected an item that was answered, to change its answer, got {item}", item
                )
            responses[item] = bank.response(item, event.response)
        elif given is not None:
            raise InvalidResponseError(
                f"expected an item without an answer, got {item}, answered {now}; an answer can"
                " be changed, or undone",
                item,
            )
        elif event.kind is EventKind.ANSWER:
            responses[item] = bank.response(item, event.response)
        elif item in self.asked:
            raise InvalidResponseError(f"expected an item not skipped yet, got {item}", item)
        asked = self.asked if item in self.asked else (*self.asked, item)
        aside = (*self.set_aside, *(i for i in event.set_aside if i not in self.set_aside))
        return SessionState(asked, responses, aside, (*self.done, event))


def state_after(bank: ItemBank, events: Sequence[Event]) -> SessionState:
    """Return where events lead from the start; errors as for `SessionState.after`."""
    state = SessionState()
    for event in events:
        state = state.after(bank, event)
    return state


def believed(belief: SkillBelief, responses: Mapping[str, int]) -> SkillBelief:
    """Return a belief changed to that after these responses and no others.

    Raises
    ------
    ImpossibleEvidenceError
        If the responses together have probability zero; it names them.
    """
    for item, response in belief.responses.items():
        if responses.get(item) != response:
            belief = belief.without(item)
    for item, response in responses.items():
        if item not in belief.responses:
            belief = belief.update(item, response)
    return belief
