"""Records of sessions and of designs of tests.

A session is JSON with one event on each line.

::

    {"schema": "bnmind-session", "version": 1,
     "bank": {"title": "…", "items": 20, "skills": 8, "fingerprint": "…"},
     "seed": 0, "about": {"selector": "entropy"},
     "events": [
      {"kind": "answer", "item": "item_7", "response": "1", "at": "2026-03-01T10:15:02"},
      {"kind": "undo", "at": "2026-03-01T10:15:09"}
     ]}

So all complete lines of a truncated file can be read, see `salvaged`.

A design is TOML; `bnmind.adaptive.sessions.design_file` reads it. This module imports pydantic, so
other modules import it when first needed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import BeforeValidator, Field, TypeAdapter, ValidationError

from bnmind._files import parse_json
from bnmind._messages import shown
from bnmind._records import (
    EXACTLY,
    FileRecord,
    LargeRecord,
    Record,
    Texts,
    as_list,
    fields_given,
    or_table,
    record_from_json,
)
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.bank_tables import BANK_PRIOR
from bnmind.adaptive.sessions.events import Event
from bnmind.errors import ModelFileError, SessionFileError

__all__ = [
    "ContentRecord",
    "DesignRecord",
    "ExposureRecord",
    "OrderRecord",
    "PilotRecord",
    "SavedSession",
    "StartRecord",
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


class _BankRecord(LargeRecord):
    title: str = ""
    items: int
    skills: int
    fingerprint: str


class SavedSession(FileRecord):
    """The content of a session file."""

    bank: _BankRecord
    seed: Annotated[int, Field(ge=0)] = 0
    about: dict[str, str] = Field(default_factory=dict)
    """Other texts saved with the test."""
    events: tuple[Annotated[Event, EXACTLY], ...]


_EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, EXACTLY])


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
    return saved.model_copy(update={"events": _whole_events(text)})


def _validated(text: str) -> SavedSession:
    try:
        return record_from_json(text, "bnmind-session", {1: SavedSession})
    except ModelFileError as fault:
        raise SessionFileError(str(fault)) from fault


def _whole_events(text: str) -> tuple[Event, ...]:
    events = []
    # Not splitlines: JSON strings may contain other line separators.
    for line in text.split("\n")[2:]:
        try:
            events.append(_EVENT.validate_json(line.strip().rstrip(",")))
        except ValidationError:
            break
    return tuple(events)


def _line(event: Event) -> str:
    return f"  {json.dumps(fields_given(event), ensure_ascii=False)}"


def _as_range(value: Any) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return {"min": value, "max": value} if is_number else value


_Count: TypeAlias = Annotated[int, Field(ge=0)]
_Positive: TypeAlias = Annotated[int, Field(ge=1)]


class StartRecord(Record):
    """A stage at the start of the test."""

    ask: Texts | None = None
    number: _Positive | None = None
    select: str | None = None
    within: float | None = None
    items: Texts | None = None
    codes: Texts | None = None
    skills: Texts | None = None


class _SelectRecord(Record):
    by: str | None = None
    shadow: bool = False


class ExposureRecord(Record):
    """A method of exposure control."""

    method: Literal["progressive", "randomesque", "sympson-hetter", "eligibility"]
    b: float | None = None
    best: _Positive | None = None
    rates: dict[str, float] | None = None
    r_max: float | None = None
    counts: str | dict[str, list[int]] | None = None


class _Range(Record):
    """The least and the largest number of items of a group; a number means exactly this many."""

    min: _Count = 0
    max: _Count | None = None


class _GroupRecord(_Range):
    name: str = ""
    items: Texts


class ContentRecord(Record):
    """The minima and maxima of a test."""

    codes: dict[str, Annotated[_Range, BeforeValidator(_as_range)]] = Field(default={})
    skills: dict[str, Annotated[_Range, BeforeValidator(_as_range)]] = Field(default={})
    groups: list[_GroupRecord] = Field(default=[])


class OrderRecord(Record):
    """The order of the content."""

    codes: Texts | None = None
    skills: Texts | None = None
    items: Texts | None = None


class _TestletRecord(Record):
    """Items that stay together."""

    __test__ = False  # pytest should not collect it

    items: Annotated[Texts, Field(min_length=2)]
    name: str = ""
    in_order: bool = False


class _EnemiesRecord(Record):
    items: Annotated[Texts, Field(min_length=2)]


class _StopRecord(Record):
    any: Texts


class PilotRecord(Record):
    """New items that are asked to learn their parameters."""

    items: Texts
    number: _Positive = 1
    places: list[_Positive] = Field(default=[])
    by: str | None = None
    count: bool = False
    complete: bool = True


class _ReportRecord(Record):
    skills: Texts | None = None
    answers: bool = True
    parameters: bool = False
    during: bool = False
    examinee: bool = True


class DesignRecord(Record):
    """The design of a test, as a file holds it."""

    title: str = ""
    seed: Annotated[int, Field(ge=0)] | None = None
    prior: Any = BANK_PRIOR
    parameters: Literal["learned", "averaged"] = "learned"
    start: Annotated[list[StartRecord], BeforeValidator(as_list)] = Field(default=[])
    select: Annotated[_SelectRecord, or_table("by")] = _SelectRecord()
    exposure: Annotated[list[ExposureRecord], BeforeValidator(as_list)] = Field(default=[])
    content: ContentRecord = ContentRecord()
    order: OrderRecord = OrderRecord()
    testlet: Annotated[list[_TestletRecord], BeforeValidator(as_list)] = Field(default=[])
    enemies: Annotated[list[_EnemiesRecord], BeforeValidator(as_list)] = Field(default=[])
    stop: Annotated[_StopRecord, or_table("any")] | None = None
    pilot: PilotRecord | None = None
    report: _ReportRecord = _ReportRecord()
