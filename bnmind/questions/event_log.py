"""The log of a dialogue or of a test: its events, the state that they lead to, and its file.

A question is asked by its name, and answered by the name of a response. Nothing is removed from a
log: a changed answer and an undo are events, too. The file is JSON with one event on each line, so
that all complete lines of a truncated file can be read::

    {"schema": "bnmind-session", "version": 1, …,
     "events": [
      {"kind": "answer", "item": "item_7", "response": "1", "at": "2026-03-01T10:15:02"},
      {"kind": "undo", "at": "2026-03-01T10:15:09"}
     ]}

In files of dialogues an item is a ``question``, and a response an ``answer``.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from enum import Enum
from functools import cached_property
from pathlib import Path
from typing import Annotated, Any, TypeVar

import numpy as np

from bnmind._files import SMALL_FILE, OvertakenError, locked, parse_json, read_text, write_file
from bnmind._messages import counted, shown
from bnmind._values import ReadOnlyDict, Value, made
from bnmind.errors import BnmindError, InvalidArgumentError, ModelFileError


class EventKind(Enum):
    """The kinds of events."""

    ANSWER = "answer"
    SKIP = "skip"
    CHANGE = "change"
    UNDO = "undo"


@dataclass(frozen=True)
class Event(Value):
    """One event of a test or a dialogue, such as an answer."""

    kind: EventKind
    """Whether it is an answer, a change, a skipped item, or another event."""
    item: str = field(default="", metadata={"also": ("question",)})
    """The item or the question answered, skipped or changed; empty for an undo."""
    response: str = field(default="", metadata={"also": ("answer",)})
    """The name of the response; empty for a skip or an undo."""
    _: KW_ONLY
    at: str = ""
    """The time of the event, in any form; empty if unknown."""
    set_aside: tuple[str, ...] = ()
    """Items that exposure control withholds from then on."""


@dataclass(frozen=True)
class LogState(Value):
    """The state of a test or a dialogue after some events."""

    events: tuple[Event, ...] = ()
    """The events that have not been undone."""

    @cached_property
    def asked(self) -> tuple[str, ...]:
        """The items answered or skipped, in the order in which they were first asked."""
        return tuple({event.item: None for event in self.events})

    @cached_property
    def responses(self) -> Mapping[str, str]:
        """The name of the response to each item answered."""
        answers = {e.item: e.response for e in self.events if e.kind is not EventKind.SKIP}
        return ReadOnlyDict(answers)

    @cached_property
    def set_aside(self) -> tuple[str, ...]:
        """Items that exposure control withholds."""
        return tuple({name: None for event in self.events for name in event.set_aside})

    @property
    def skipped(self) -> tuple[str, ...]:
        """The items asked that have no answer."""
        return tuple(item for item in self.asked if item not in self.responses)

    def after(self, event: Event) -> LogState:
        """Return the state after one more event.

        Parameters
        ----------
        event
            The event.

        Raises
        ------
        InvalidArgumentError
            If the item was answered or skipped already (or, to change an answer, was not
            answered), or there is nothing to undo.
        """
        latest = next((one for one in reversed(self.events) if one.item == event.item), None)
        _refuse(event, latest, may_undo=bool(self.events))
        is_undo = event.kind is EventKind.UNDO
        # All of it is valid by now.
        return made(LogState, events=self.events[:-1] if is_undo else (*self.events, event))


def _refuse(event: Event, latest: Event | None, *, may_undo: bool) -> None:
    """Raise unless an event may follow the latest one about its item that was not undone."""
    item, is_answered = event.item, latest is not None and latest.kind is not EventKind.SKIP
    if event.kind is EventKind.UNDO:
        if not may_undo:
            raise InvalidArgumentError("there is nothing to undo")
    elif event.kind is EventKind.CHANGE:
        if not is_answered:
            raise InvalidArgumentError(
                f"{item} has no answer that could be changed; answer it first", item
            )
    elif latest is not None and is_answered:
        raise InvalidArgumentError(
            f"{item} was answered already, with {latest.response}; change that answer, or undo it",
            item,
        )
    elif latest is not None and event.kind is EventKind.SKIP:
        raise InvalidArgumentError(f"{item} was skipped already", item)


def replayed(
    events: Iterable[Event], check: Callable[[Event], Any], *, place: str = ""
) -> LogState:
    """Return the state that events lead to.

    Each event, an undo too, is added without a look at all those before.

    Parameters
    ----------
    events
        The events.
    check
        A function that raises an error if an item or a response is unknown.
    place
        The file of the events, if there is one.

    Raises
    ------
    InvalidArgumentError, UnknownNameError
        If an event is not valid.
    ModelFileError
        Instead, if the events are from a file. The message names the event.
    """
    left: list[Event] = []
    about: dict[str, list[Event]] = {}
    for number, event in enumerate(events):
        try:
            check(event)
            of_item = about.setdefault(event.item, [])
            _refuse(event, of_item[-1] if of_item else None, may_undo=bool(left))
        except BnmindError as fault:
            if not place:
                raise
            raise ModelFileError(f"{fault}, at events.{number} in {place}", place) from fault
        if event.kind is EventKind.UNDO:
            about[left.pop().item].pop()
        else:
            left.append(event)
            of_item.append(event)
    return made(LogState, events=tuple(left))


# --- Files ----------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class LogSubject(Value):
    """The bank or the network that a log is about, as its file names it."""

    title: str = ""
    """The title of the bank."""
    items: int = 0
    """The number of items of the bank."""
    skills: int = 0
    """The number of skills of the bank."""
    variables: int = 0
    """The number of variables of the network."""
    fingerprint: str
    """A text that differs between banks or networks with other tables."""


@dataclass(frozen=True, kw_only=True)
class SavedLog(Value):
    """The content of the file of a log."""

    events: tuple[Event, ...]
    """All events, undone ones and undos too."""
    text: str = ""
    """The text of the file."""


_Saved = TypeVar("_Saved", bound=SavedLog)

_NONE, _BETWEEN, _END = "[\n", ",\n", "\n ]}\n"
"""The text before the first event, between two, and after the last."""

_DIGITS = 9
"""Digits of the probabilities in a fingerprint; further digits may differ between machines."""


def rounded(values: Any, kind: str) -> bytes:
    """Return probabilities, of which machines agree, for a fingerprint; as numbers of a kind."""
    whole = np.round(np.asarray(values, dtype=np.float64) * 10**_DIGITS) + 0.0
    return np.ascontiguousarray(whole.astype(kind)).tobytes()


def log_to_json(head: Mapping[str, Any], events: Sequence[Event], *, also: bool = False) -> str:
    """Return a log as JSON text with one event on each line.

    Parameters
    ----------
    head
        The fields before the events.
    events
        The events.
    also
        Whether items and responses have the keys of dialogues, ``question`` and ``answer``.
    """
    start = json.dumps(head, ensure_ascii=False)[:-1]
    lines = _BETWEEN.join(_line(event, also=also) for event in events)
    return f'{start},\n "events": {_NONE}{lines}{_END}'


def extended(text: str, event: Event) -> str:
    """Return the text of `log_to_json` with one more event, by appending it."""
    whole = text.removesuffix(_END)
    return f"{whole}{'' if whole.endswith(_NONE) else _BETWEEN}{_line(event)}{_END}"


def _line(event: Event, *, also: bool = False) -> str:
    from bnmind._records import fields_given

    keys = {"item": "question", "response": "answer"} if also else {}
    record = {keys.get(key, key): part for key, part in fields_given(event).items()}
    return f"  {json.dumps(record, ensure_ascii=False)}"


def log_from_json(text: str, schema: str, kind: type[_Saved], *, salvage: bool = False) -> _Saved:
    """Return the content of a log.

    Parameters
    ----------
    text
        The content of the file.
    schema
        The name of its format, such as ``bnmind-session``.
    kind
        The class of its content, whose fields are those of the file.
    salvage
        Whether to return only what is in complete lines of a truncated or damaged log.

    Raises
    ------
    ModelFileError
        If the text is truncated, with the line and column of the fault and the number of
        complete events; is not of this form; or is of a newer version. With ``salvage``, if its
        first line is not complete.
    """
    from bnmind._records import FileRecord, record_from_json, record_of

    whole = _whole_events(text) if salvage else ()
    head = text.split("\n", 1)[0].rstrip().rstrip(",")
    if not salvage:
        _refuse_damaged(text, schema.removeprefix("bnmind-"))
    record = record_from_json(
        f'{head}, "events": []}}' if salvage else text,
        schema,
        {1: record_of(kind, "text", base=FileRecord)},  # type: ignore[arg-type]
    )
    values = {one.name: getattr(record, one.name) for one in fields(kind) if one.name != "text"}
    try:
        return kind(**{**values, **({"events": whole} if salvage else {})}, text=text)
    except InvalidArgumentError as fault:
        raise ModelFileError(f"expected {schema} 1, got {fault}") from fault


def _refuse_damaged(text: str, what: str) -> None:
    """Raise unless a text is JSON."""
    try:
        parse_json(text)
    except ModelFileError as fault:
        line, column = fault.line, fault.column
        whole = _whole_events(text)
        if not whole and not text.lstrip().startswith("{"):
            raise ModelFileError(f"expected a saved {what}, got {shown(text)}") from fault
        kept = f", after {counted(len(whole), 'whole event')}, which can be salvaged"
        raise ModelFileError(
            f"the {what} is truncated or damaged at line {line}, column {column}"
            f"{kept if whole else ''}",
            line=line,
            column=column,
        ) from fault


def _whole_events(text: str) -> tuple[Event, ...]:
    from pydantic import TypeAdapter, ValidationError

    from bnmind._records import EXACTLY

    adapter: TypeAdapter[Event] = TypeAdapter(Annotated[Event, EXACTLY])
    events = []
    # Not splitlines: JSON strings may contain other line separators.
    for line in text.split("\n")[2:]:
        try:
            events.append(adapter.validate_json(line.strip().rstrip(",")))
        except ValidationError:
            break
    return tuple(events)


def read_log(
    path: str | os.PathLike[str], schema: str, kind: type[_Saved], *, salvage: bool = False
) -> _Saved:
    """Return the content of the file of a log; the others as for `log_from_json`.

    Raises
    ------
    ModelFileError
        If the file cannot be read, or is not such a log.
    """
    place = os.fspath(path)
    try:
        text = read_text(place, most=SMALL_FILE, damaged=True)
        return log_from_json(text, schema, kind, salvage=salvage)
    except ModelFileError as fault:
        told = str(fault) if place in str(fault) else f"{fault}, in {place}"
        raise ModelFileError(told, place, line=fault.line, column=fault.column) from fault


def write_log(
    path: str | os.PathLike[str],
    text: str,
    *,
    before: str | None,
    is_same: Callable[[str], bool] = lambda _: False,
) -> None:
    """Write a log to its file, unless another program has written to it.

    Parameters
    ----------
    path
        The file. If it was removed in the meantime, it is written again.
    text
        The text to write.
    before
        The text that the file has if this program was the last to write it; None if the file must
        not exist.
    is_same
        Whether another text holds the same log.

    Raises
    ------
    OvertakenError
        If the file holds something else.
    ModelFileError
        If no reader would take so long a text, or if the file cannot be written. An existing file
        is then unchanged.
    """
    place = Path(path)
    _refuse_long(place, text)
    with locked(place):
        if place.exists():
            if before is None:
                raise OvertakenError(
                    f"{place} exists; load it to continue what is there, or choose another file",
                    str(place),
                )
            if not _holds(place, before, is_same):
                raise OvertakenError(
                    f"another program has written to {place}, so this is not saved there; load it"
                    " again (the same command resumes what is there), or save this to another file",
                    str(place),
                )
        write_file(place, text)


def replace_log(path: str | os.PathLike[str], text: str) -> None:
    """Write a log to a file, whatever it holds; errors as for `write_log`."""
    _refuse_long(Path(path), text)
    with locked(path):
        write_file(path, text)


def _holds(place: Path, text: str, is_same: Callable[[str], bool]) -> bool:
    try:
        content = read_text(place, most=SMALL_FILE)
        # The first test is quick; the second may read every event.
        return content == text or is_same(content)
    except BnmindError:
        return False


def _refuse_long(place: Path, text: str) -> None:
    """Refuse to write a log that is longer than its reader accepts."""
    # A character takes at most four bytes: short texts need not be encoded to be measured.
    if len(text) * 4 > SMALL_FILE and len(text.encode()) > SMALL_FILE:
        raise ModelFileError(
            f"the session has become too long: {place} would have more than the"
            f" {SMALL_FILE >> 20} MiB that can be loaded again; start a new session",
            str(place),
        )
