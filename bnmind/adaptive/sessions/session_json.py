"""Sessions as JSON text, with one event on each line.

::

    {"schema": "bnmind-session", "version": 1,
     "bank": {"title": "…", "items": 20, "skills": 8, "fingerprint": "…"},
     "seed": 0, "about": {"selector": "entropy"},
     "events": [
      {"kind": "answer", "item": "item_7", "response": "1", "at": "2026-03-01T10:15:02"},
      {"kind": "undo", "at": "2026-03-01T10:15:09"}
     ]}

So all complete lines of a truncated file can be read, see `salvaged`. This module imports
pydantic, so other modules import it when first needed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any, Literal, cast

import numpy as np
from pydantic import AfterValidator, FailFast, Field, ValidationError

from bnmind._files import parse_json
from bnmind._messages import shown
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.sessions.events import Event, EventKind
from bnmind.errors import ModelFileError, SessionFileError
from bnmind.pgm.formats.json_records import Strict, validated

__all__ = [
    "SavedSession",
    "bank_fingerprint",
    "extended",
    "salvaged",
    "session_from_json",
    "session_to_json",
]

_NONE, _BETWEEN, _END = "[\n", ",\n", "\n ]}\n"
"""The text before the first event, between two, and after the last."""

_DIGITS = 9
"""Digits of the probabilities in a fingerprint; further digits may differ between machines."""


class _BankRecord(Strict):
    title: str = ""
    items: int
    skills: int
    fingerprint: str


class _EventRecord(Strict):
    kind: Literal["answer", "skip", "change", "undo"]
    item: str = ""
    response: str = ""
    at: str = ""
    set_aside: list[str] = Field(default_factory=list)


def _read(entry: _EventRecord) -> Event:
    return Event(
        kind=EventKind(entry.kind),
        item=entry.item,
        response=entry.response,
        at=entry.at,
        set_aside=tuple(entry.set_aside),
    )


class _SessionRecord(Strict):
    schema_name: Literal["bnmind-session"] = Field(alias="schema")
    version: Literal[1]
    bank: _BankRecord
    seed: Annotated[int, Field(ge=0)] = 0
    about: dict[str, str] = Field(default_factory=dict)
    events: Annotated[list[Annotated[_EventRecord, AfterValidator(_read)]], FailFast()]
    """Each record becomes an `Event` as soon as it is read, and validation ends at the first fault,
    since all records or all faults of a large file would need much memory."""


@dataclass(frozen=True, kw_only=True)
class SavedSession:
    """The content of a session file."""

    fingerprint: str
    """That of the bank."""
    title: str
    """That of the bank."""
    seed: int
    about: Mapping[str, str]
    """Other texts saved with the test."""
    events: tuple[Event, ...]


def bank_fingerprint(bank: ItemBank) -> str:
    """Return a text that differs between banks with different skills, items or probabilities.

    It does not depend on wording, titles, costs and content codes, which may be corrected
    during a session.
    """
    digest = hashlib.sha256()

    def enter(*parts: object) -> None:
        digest.update(json.dumps(parts).encode())

    enter(bank.skills, [(v.name, v.states) for v in bank.hidden])
    for cpd in bank.hidden_network().cpds:
        factor = cpd.to_factor()
        enter(factor.names, factor.values.shape)
        digest.update(_rounded(np.real(factor.values)))
    for name in bank.item_names:
        enter(name, bank.responses(name), bank.cause(name))
        digest.update(_rounded(bank.channel(name)))
    return digest.hexdigest()[:32]


def _rounded(values: Any) -> bytes:
    scaled = np.round(np.asarray(values, dtype=np.float64) * 10**_DIGITS)
    return np.ascontiguousarray(scaled.astype("<i8")).tobytes()


def session_to_json(
    bank: ItemBank, seed: int, about: Mapping[str, str], events: Sequence[Event]
) -> str:
    """Return a session as JSON text with one event on each line."""
    head = {
        "schema": "bnmind-session",
        "version": 1,
        "bank": {
            "title": bank.title,
            "items": len(bank.items),
            "skills": len(bank.skills),
            "fingerprint": bank_fingerprint(bank),
        },
        "seed": seed,
        "about": dict(about),
    }
    start = json.dumps(head, ensure_ascii=False)[:-1]
    return f'{start},\n "events": {_NONE}{_BETWEEN.join(map(_line, events))}{_END}'


def extended(text: str, event: Event) -> str:
    """Return the text of `session_to_json` with one more event, by appending it."""
    whole = text.removesuffix(_END)
    return f"{whole}{'' if whole.endswith(_NONE) else _BETWEEN}{_line(event)}{_END}"


def session_from_json(text: str) -> SavedSession:
    """Return the content of a session file.

    Raises
    ------
    SessionFileError
        If the text is truncated, with the line and column of the fault and the number of
        complete events; is not of this form; or is of a newer version.
    """
    try:
        parse_json(text)
    except ModelFileError as fault:
        line, column = fault.line, fault.column
        whole = _whole_events(text)
        if not whole and not text.lstrip().startswith("{"):
            raise SessionFileError(f"expected a saved session, got {shown(text)}") from fault
        raise SessionFileError(
            f"the session is truncated or damaged at line {line}, column {column}, after"
            f" {len(whole)} whole event{'s' * (len(whole) != 1)}, which can be salvaged",
            line=line,
            column=column,
        ) from fault
    return _validated(text)


def salvaged(text: str) -> SavedSession:
    """Return the content of the complete lines of a truncated or damaged file.

    Raises
    ------
    SessionFileError
        If its first line is not complete.
    """
    head = text.split("\n", 1)[0].rstrip().rstrip(",")
    saved = _validated(f'{head}, "events": []}}')
    return replace(saved, events=_whole_events(text))


def _validated(text: str) -> SavedSession:
    try:
        record = validated(text, "bnmind-session", {1: _SessionRecord})
    except ModelFileError as fault:
        raise SessionFileError(str(fault)) from fault
    return SavedSession(
        fingerprint=record.bank.fingerprint,
        title=record.bank.title,
        seed=record.seed,
        about=record.about,
        events=tuple(cast(list[Event], record.events)),
    )


def _whole_events(text: str) -> tuple[Event, ...]:
    events = []
    # Not splitlines: JSON strings may contain other line separators.
    for line in text.split("\n")[2:]:
        try:
            events.append(_read(_EventRecord.model_validate_json(line.strip().rstrip(","))))
        except ValidationError:
            break
    return tuple(events)


def _line(event: Event) -> str:
    record: dict[str, Any] = {"kind": event.kind.value}
    for name in ("item", "response", "at"):
        if value := getattr(event, name):
            record[name] = value
    if event.set_aside:
        record["set_aside"] = list(event.set_aside)
    return f"  {json.dumps(record, ensure_ascii=False)}"
