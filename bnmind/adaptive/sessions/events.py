"""The events of a live test, and the state that a sequence of events leads to."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import KW_ONLY, dataclass, field
from enum import Enum

from bnmind._values import ReadOnlyDict, Value, made
from bnmind.adaptive.beliefs.belief import SkillBelief, updated_anyway
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError


class EventKind(Enum):
    """The kinds of events."""

    ANSWER = "answer"
    SKIP = "skip"
    CHANGE = "change"
    UNDO = "undo"


@dataclass(frozen=True)
class Event(Value):
    """One event of a test, such as an answer to an item."""

    kind: EventKind
    """Whether it is an answer, a change, a skipped item, or another event."""
    item: str = ""
    """The item answered, skipped or changed; empty for an undo."""
    response: str = ""
    """The name of the response; empty for a skip or an undo."""
    _: KW_ONLY
    at: str = ""
    """The time of the event, in any form; empty if unknown."""
    set_aside: tuple[str, ...] = ()
    """Items that exposure control withholds from then on."""


@dataclass(frozen=True)
class Step(Value):
    """An event that can be undone, and the state that it replaced."""

    event: Event
    is_first: bool
    """Whether the item had not been asked before."""
    previous_response: int | None
    """The position of the response before the event; None if there was none."""
    n_set_aside: int
    """The number of items that the event added to those set aside."""


@dataclass(frozen=True)
class SessionState(Value):
    """The state of a test after some events."""

    asked: tuple[str, ...] = ()
    """The items answered or skipped, in the order in which they were first asked."""
    responses: Mapping[str, int] = field(default_factory=dict)
    """The position of the response to each item answered."""
    set_aside: tuple[str, ...] = ()
    """Items that exposure control withholds."""
    steps: tuple[Step, ...] = ()
    """The events that have not been undone, with all that is needed to undo them."""

    @property
    def skipped(self) -> tuple[str, ...]:
        """The items asked that have no answer."""
        return tuple(item for item in self.asked if item not in self.responses)

    def after(self, bank: ItemBank, event: Event, *, response: int | None = None) -> SessionState:
        """Return the state after one more event.

        Parameters
        ----------
        bank
            The item bank.
        event
            The event.
        response
            The position of the event's response, if the caller has looked it up in the bank.

        Raises
        ------
        UnknownNameError
            If the bank has no such item.
        InvalidArgumentError
            If the item has no such response, was answered already (or, to change an answer,
            was not), or there is nothing to undo.
        """
        replay = Replay(bank, self)
        replay.add(event, response=response)
        return replay.state()


class Replay:
    """The state of a test while events are added one by one.

    Events, undos too, are added without a look at those before.

    Parameters
    ----------
    bank
        The item bank.
    state
        The state to start from; default that of a test without events.
    """

    def __init__(self, bank: ItemBank, state: SessionState | None = None) -> None:
        start = SessionState() if state is None else state
        self._bank = bank
        self._responses = dict(start.responses)
        # Dictionaries keep the order of insertion, and membership tests are fast.
        self._asked = dict.fromkeys(start.asked)
        self._set_aside = dict.fromkeys(start.set_aside)
        self._steps = list(start.steps)

    def state(self) -> SessionState:
        """Return the state after all events added so far."""
        # All of it is valid by now.
        return made(
            SessionState,
            asked=tuple(self._asked),
            responses=ReadOnlyDict(self._responses),
            set_aside=tuple(self._set_aside),
            steps=tuple(self._steps),
        )

    def add(self, event: Event, *, response: int | None = None) -> None:
        """Add an event; parameters and errors are those of `SessionState.after`."""
        if event.kind is EventKind.UNDO:
            self._undo()
            return
        item = event.item
        if response is None:
            self._bank.position(item)  # raises if there is no such item
        previous = self._responses.get(item)
        self._refuse(event, previous)
        if response is None and event.kind is not EventKind.SKIP:
            response = self._bank.response(item, event.response)
        new = [name for name in dict.fromkeys(event.set_aside) if name not in self._set_aside]
        step = Step(event, item not in self._asked, previous, len(new))
        self._steps.append(step)
        self._asked.setdefault(item)
        if response is not None:
            self._responses[item] = response
        self._set_aside.update(dict.fromkeys(new))

    def _refuse(self, event: Event, previous: int | None) -> None:
        """Raise `InvalidArgumentError` if the event cannot follow those before it."""
        item = event.item
        if event.kind is EventKind.CHANGE:
            if previous is None:
                raise InvalidArgumentError(
                    f"{item} has no answer that could be changed; answer it first", item
                )
        elif previous is not None:
            name = self._bank.responses(item)[previous]
            raise InvalidArgumentError(
                f"{item} was answered already, with {name}; change that answer, or undo it", item
            )
        elif event.kind is EventKind.SKIP and item in self._asked:
            raise InvalidArgumentError(f"{item} was skipped already", item)

    def _undo(self) -> None:
        if not self._steps:
            raise InvalidArgumentError("there is nothing to undo")
        step = self._steps.pop()
        item = step.event.item
        # The items that the last event added come last.
        for _ in range(step.n_set_aside):
            self._set_aside.popitem()
        if step.is_first:
            self._asked.popitem()
        if step.previous_response is not None:
            self._responses[item] = step.previous_response
        else:
            self._responses.pop(item, None)


def believed(
    belief: SkillBelief, responses: Mapping[str, int], *, error_chance: float = 0.0
) -> SkillBelief:
    """Return a belief given these responses instead of those that it was given.

    Parameters
    ----------
    belief
        The belief to start from.
    responses
        The position of the response to each item.
    error_chance
        That of the belief if the responses are possible; otherwise see `updated_anyway`.
    """
    changed = [item for item, number in belief.responses.items() if responses.get(item) != number]
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
