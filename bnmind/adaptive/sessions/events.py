"""What happens in a live test, and where a list of events leads."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from enum import Enum

from bnmind._values import CheckedValue, Value
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.response_errors import updated_anyway
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError, InvalidResponseError

__all__ = ["Event", "EventKind", "Replay", "SessionState", "believed"]


class EventKind(Enum):
    """What may happen."""

    ANSWER = "answer"
    SKIP = "skip"
    CHANGE = "change"
    UNDO = "undo"


@dataclass(frozen=True)
class Event(CheckedValue):
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
class SessionState(Value):
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
        if event.kind is EventKind.UNDO and self.done:
            replay = Replay(bank)
            for earlier in self.done[:-1]:
                replay.add(earlier)
            return replay.state()
        replay = Replay(bank, self)
        replay.add(event)
        return replay.state()


class Replay:
    """Events added one by one, to see where all of them lead.

    To add an event takes a time that does not depend on how many came before it.

    Parameters
    ----------
    bank
        The item bank.
    state
        Where earlier events have led, which then cannot be undone; nowhere unless given.
    """

    def __init__(self, bank: ItemBank, state: SessionState | None = None) -> None:
        start = SessionState() if state is None else state
        self._bank = bank
        self._before = start.done
        self._responses = dict(start.responses)
        # Dictionaries keep the order, and are quick to look into.
        self._asked = dict.fromkeys(start.asked)
        self._set_aside = dict.fromkeys(start.set_aside)
        self._done: list[_Done] = []

    def state(self) -> SessionState:
        """Return where the events have led so far."""
        return SessionState(
            tuple(self._asked),
            dict(self._responses),
            tuple(self._set_aside),
            (*self._before, *(step.event for step in self._done)),
        )

    def add(self, event: Event) -> None:
        """Add an event; errors as for `SessionState.after`."""
        if event.kind is EventKind.UNDO:
            self._undo()
            return
        item = event.item
        self._bank.position(item)
        given = self._responses.get(item)
        response = self._response(event, given)
        aside = [name for name in dict.fromkeys(event.set_aside) if name not in self._set_aside]
        self._done.append(_Done(event, item not in self._asked, given, len(aside)))
        self._asked.setdefault(item)
        if response is not None:
            self._responses[item] = response
        self._set_aside.update(dict.fromkeys(aside))

    def _response(self, event: Event, given: int | None) -> int | None:
        """Return the position of the response that an event gives, None if it skips the item."""
        item = event.item
        if event.kind is EventKind.CHANGE:
            if given is None:
                raise InvalidResponseError(
                    f"expected an item that was answered, to change its answer, got {item}", item
                )
        elif given is not None:
            now = self._bank.responses(item)[given]
            raise InvalidResponseError(
                f"expected an item without an answer, got {item}, answered {now}; an answer can"
                " be changed, or undone",
                item,
            )
        elif event.kind is EventKind.SKIP:
            if item in self._asked:
                raise InvalidResponseError(f"expected an item not skipped yet, got {item}", item)
            return None
        return self._bank.response(item, event.response)

    def _undo(self) -> None:
        if not self._done:
            raise InvalidResponseError("expected an event to undo, got none")
        step = self._done.pop()
        item = step.event.item
        # What the last event has added stands last.
        for _ in range(step.n_set_aside):
            self._set_aside.popitem()
        if step.asked_first:
            self._asked.popitem()
        if step.given is not None:
            self._responses[item] = step.given
        else:
            self._responses.pop(item, None)


@dataclass(frozen=True)
class _Done:
    """An event that may be undone, and what there was before it."""

    event: Event
    asked_first: bool
    """Whether the item had not been asked before."""
    given: int | None
    """The response before, if there was one."""
    n_set_aside: int
    """How many items it has added to those set aside."""


def believed(
    belief: SkillBelief, responses: Mapping[str, int], *, error_chance: float = 0.0
) -> SkillBelief:
    """Return a belief changed to that after these responses and no others.

    Parameters
    ----------
    belief
        The belief to change.
    responses
        The position of the response to each item.
    error_chance
        That of the belief if the responses are possible; otherwise see `updated_anyway`.
    """
    changed = [item for item, given in belief.responses.items() if responses.get(item) != given]
    for item in changed:
        belief = belief.without(item)
    if changed and belief.error_chance != error_chance:
        # Without a response that was changed the others may be possible.
        with suppress(ImpossibleEvidenceError):
            belief = belief.with_errors(error_chance)
    for item, response in responses.items():
        if item not in belief.responses:
            belief = updated_anyway(belief, item, response)
    return belief
