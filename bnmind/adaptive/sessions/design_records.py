"""The records of a design file, and messages about their faults. This module imports pydantic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from bnmind._messages import shown
from bnmind.adaptive.items.priors import BANK_PRIOR
from bnmind.errors import DesignFileError, UnknownNameError

__all__ = [
    "ContentRecord",
    "DesignRecord",
    "ExposureRecord",
    "OrderRecord",
    "PilotRecord",
    "RangeRecord",
    "StartRecord",
    "TestletRecord",
    "design_record",
]


class _Part(BaseModel):
    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


def _as_list(value: Any) -> Any:
    return [value] if isinstance(value, str) else value


def _as_range(value: Any) -> Any:
    is_number = isinstance(value, int) and not isinstance(value, bool)
    return {"min": value, "max": value} if is_number else value


def _as_tables(value: Any) -> Any:
    return [value] if isinstance(value, dict) else value


def _as_select(value: Any) -> Any:
    return {"by": value} if isinstance(value, str) else value


def _as_stop(value: Any) -> Any:
    return {"any": value} if isinstance(value, str | list) else value


Names: TypeAlias = Annotated[list[str], BeforeValidator(_as_list), Field(min_length=1)]
Count: TypeAlias = Annotated[int, Field(ge=0)]
Positive: TypeAlias = Annotated[int, Field(ge=1)]


class StartRecord(_Part):
    """A stage at the start of the test."""

    ask: Names | None = None
    number: Positive | None = None
    select: str | None = None
    within: float | None = None
    items: Names | None = None
    codes: Names | None = None
    skills: Names | None = None


class _SelectRecord(_Part):
    by: str | None = None
    shadow: bool = False


class ExposureRecord(_Part):
    """A method of exposure control."""

    method: Literal["progressive", "randomesque", "sympson-hetter", "eligibility"]
    b: float | None = None
    best: Positive | None = None
    rates: dict[str, float] | None = None
    r_max: float | None = None
    counts: str | dict[str, list[int]] | None = None


class RangeRecord(_Part):
    """The least and the largest number of items of a group; a number means exactly this many."""

    min: Count = 0
    max: Count | None = None


Range: TypeAlias = Annotated[RangeRecord, BeforeValidator(_as_range)]


class _GroupRecord(RangeRecord):
    name: str = ""
    items: Names


class ContentRecord(_Part):
    """The minima and maxima of a test."""

    codes: dict[str, Range] = Field(default={})
    skills: dict[str, Range] = Field(default={})
    groups: list[_GroupRecord] = Field(default=[])


class OrderRecord(_Part):
    """The order of the content."""

    codes: Names | None = None
    skills: Names | None = None
    items: Names | None = None


class TestletRecord(_Part):
    """Items that stay together."""

    __test__ = False  # pytest should not collect it

    items: Annotated[Names, Field(min_length=2)]
    name: str = ""
    in_order: bool = False


class _EnemiesRecord(_Part):
    items: Annotated[Names, Field(min_length=2)]


class _StopRecord(_Part):
    any: Names


class PilotRecord(_Part):
    """New items that are asked to learn their parameters."""

    items: Names
    number: Positive = 1
    places: list[Positive] = Field(default=[])
    by: str | None = None
    count: bool = False
    complete: bool = True


class _ReportRecord(_Part):
    skills: Names | None = None
    answers: bool = True
    parameters: bool = False
    during: bool = False
    examinee: bool = True


class DesignRecord(_Part):
    """The design of a test, as a file holds it."""

    title: str = ""
    seed: Annotated[int, Field(ge=0)] | None = None
    prior: Any = BANK_PRIOR
    parameters: Literal["learned", "averaged"] = "learned"
    start: Annotated[list[StartRecord], BeforeValidator(_as_tables)] = Field(default=[])
    select: Annotated[_SelectRecord, BeforeValidator(_as_select)] = _SelectRecord()
    exposure: Annotated[list[ExposureRecord], BeforeValidator(_as_tables)] = Field(default=[])
    content: ContentRecord = ContentRecord()
    order: OrderRecord = OrderRecord()
    testlet: Annotated[list[TestletRecord], BeforeValidator(_as_tables)] = Field(default=[])
    enemies: Annotated[list[_EnemiesRecord], BeforeValidator(_as_tables)] = Field(default=[])
    stop: Annotated[_StopRecord, BeforeValidator(_as_stop)] | None = None
    pilot: PilotRecord | None = None
    report: _ReportRecord = _ReportRecord()


_PLAIN = {
    "missing": "this key is missing",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "string_type": "expected a text",
    "bool_type": "expected true or false",
    "list_type": "expected a list",
    "dict_type": "expected a table",
    "model_type": "expected a table",
    "model_attributes_type": "expected a table",
    "greater_than_equal": "expected a larger number",
}
"""Messages for the faults that are frequent."""


def design_record(content: Mapping[str, Any]) -> DesignRecord:
    """Return the record of the content of a file.

    Raises
    ------
    DesignFileError
        If the content is not such a record. The error lists all faults with their places.
    """
    try:
        return DesignRecord.model_validate(dict(content))
    except ValidationError as error:
        problems = list(dict.fromkeys(_told(fault) for fault in error.errors(include_url=False)))
    raise DesignFileError(problems, content)


def _told(fault: Any) -> str:
    """Return a fault with its place; members of lists count from 1."""
    place = _place(fault["loc"])
    if fault["type"] == "extra_forbidden":
        *parents, name = fault["loc"]
        known = _keys_at(tuple(parents))
        inside = f"[{_place(tuple(parents))}]" if parents else "the file"
        return f"{inside}: {UnknownNameError('key', str(name), known)}"
    if fault["type"] == "too_short":
        return f"{place}: expected at least {fault['ctx']['min_length']}"
    message = " ".join(str(fault["msg"]).split()) or "wrong"
    return f"{place}: {_PLAIN.get(fault['type'], f'{message[0].lower()}{message[1:]}')}"


def _place(parts: tuple[int | str, ...]) -> str:
    texts = [f" {p + 1}" if isinstance(p, int) else f".{shown(p)[1:-1]}" for p in parts]
    return "".join(texts).lstrip(".") or "the file"


def _keys_at(parts: tuple[int | str, ...]) -> list[str]:
    """Return the keys of the table at a place."""
    tables: dict[str, type[BaseModel]] = {
        "start": StartRecord,
        "select": _SelectRecord,
        "exposure": ExposureRecord,
        "content": ContentRecord,
        "order": OrderRecord,
        "testlet": TestletRecord,
        "enemies": _EnemiesRecord,
        "stop": _StopRecord,
        "pilot": PilotRecord,
        "report": _ReportRecord,
    }
    names = [part for part in parts if isinstance(part, str)]
    if not names:
        return list(DesignRecord.model_fields)
    if names[0] == "content" and len(names) > 1:
        kind: type[BaseModel] = _GroupRecord if names[1] == "groups" else RangeRecord
        return list(kind.model_fields)
    return list(tables[names[0]].model_fields) if names[0] in tables else []
