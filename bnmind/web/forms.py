"""The forms of questions and answers, and the schema of the API that follows from them.

FastAPI checks questions. Answers are instances of their forms; a test checks that real ones satisfy
the schema, and that there are no fields beside.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field


class Form(BaseModel):
    """A question or an answer.

    Names that a question does not know are faults. An answer may be made of an object that has
    attributes of its names, such as a result of the library.
    """

    model_config = ConfigDict(
        extra="forbid", frozen=True, from_attributes=True, use_attribute_docstrings=True
    )


Probability = Annotated[float, Field(json_schema_extra={"minimum": 0, "maximum": 1})]
"""A probability, by the schema; rounding may leave one a little above 1."""


class Fault(Form):
    """Why there is no answer."""

    kind: str
    """A name for programs: that of an error of the library, Busy, TooSlow, …"""
    message: str
    """A sentence for people."""


class Refusal(Form):
    """The form of all answers to questions that have none."""

    error: Fault


REFUSALS: dict[int | str, dict[str, Any]] = {
    422: {"model": Refusal, "description": "The question is impossible, or not of the form."},
    503: {"model": Refusal, "description": "The server is busy, or the answer took too long."},
}
"""The form of refusals, for all addresses."""

# --- The schema, for people -----------------------------------------------------------------------

_EXAMPLES: Mapping[str, dict[str, Any]] = {
    "/api/suggest": {"turns": [{"guess": "1123", "reply": "1b1w"}], "noise": "false:0.1"},
    "/api/doubts": {
        "turns": [{"guess": "1122", "reply": "0b0w"}, {"guess": "1122", "reply": "1b0w"}]
    },
    "/api/what-if": {"turns": [{"guess": "1123", "reply": "1b1w"}], "row": 0, "instead": "0b2w"},
    "/api/guess": {"turns": [{"guess": "1123", "reply": "1b1w"}], "guess": "2345"},
    "/api/play": {"noise": "false:0.2"},
    "/api/play/guess": {"guess": "1123"},
    "/api/tests": {"name": "Ann"},
    "/api/tests/{session}/answer": {"number": 0, "item": "multiply_half", "choice": 0},
    "/api/network/query": {"model": {"name": "asia"}, "evidence": {"xray": "yes"}},
    "/api/network/picture": {"model": {"name": "asia"}, "evidence": {"xray": "yes"}},
    "/api/network/rank": {"model": {"name": "asia"}, "about": ["lung"], "evidence": {}},
    "/api/network/explain": {"model": {"name": "asia"}, "evidence": {"dysp": "yes"}},
}
"""What the page proposes to send."""


@dataclass(frozen=True)
class FieldLine:
    """A field of a question."""

    name: str
    kind: str
    default: str
    about: str


@dataclass(frozen=True)
class Endpoint:
    """A question that the API answers."""

    group: str
    method: str
    path: str
    summary: str
    about: str
    fields: tuple[FieldLine, ...]
    answer: tuple[FieldLine, ...]
    """The fields of the answer; those of its parts have names such as ``rows[].guess``."""
    example: str

    @property
    def places(self) -> tuple[str, ...]:
        """The names of the parts of the path that differ, such as ``session``."""
        return tuple(re.findall(r"{(\w+)}", self.path))


def endpoints(schema: Mapping[str, Any]) -> tuple[Endpoint, ...]:
    """Return the endpoints of an OpenAPI schema, in its order."""
    parts = schema.get("components", {}).get("schemas", {})
    found = []
    for path, methods in schema["paths"].items():
        for method, one in methods.items():
            form = _named(_content(one.get("requestBody", {})), parts)
            example = _EXAMPLES.get(path) if form else None
            found.append(
                Endpoint(
                    group=one["tags"][0],
                    method=method.upper(),
                    path=path,
                    summary=one["summary"],
                    about=" ".join(one.get("description", "").replace("`", "").split()),
                    fields=tuple(_fields(form)),
                    answer=tuple(_parts(_content(one["responses"]["200"]), parts)),
                    example="" if example is None else json.dumps(example, indent=2),
                )
            )
    return tuple(found)


def grouped(schema: Mapping[str, Any]) -> dict[str, tuple[Endpoint, ...]]:
    """Return the endpoints of an OpenAPI schema by their group, in its order."""
    found = endpoints(schema)
    return {
        group: tuple(one for one in found if one.group == group)
        for group in dict.fromkeys(one.group for one in found)
    }


def _fields(form: Mapping[str, Any]) -> list[FieldLine]:
    required = set(form.get("required", ()))
    return [
        FieldLine(
            name,
            _kind(one),
            "required" if name in required else json.dumps(one.get("default")),
            one.get("description", "").replace("`", ""),
        )
        for name, one in form.get("properties", {}).items()
    ]


def _content(message: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the schema of the JSON of a question or an answer."""
    schema: Mapping[str, Any] = (
        message.get("content", {}).get("application/json", {}).get("schema", {})
    )
    return schema


def _named(one: Mapping[str, Any], parts: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the form to which a schema refers; empty if it refers to none."""
    form: Mapping[str, Any] = parts.get(one.get("$ref", "").rpartition("/")[2], {})
    return form


def _parts(one: Mapping[str, Any], parts: Mapping[str, Any], name: str = "") -> Iterator[FieldLine]:
    """Yield the fields of an answer and of all that is in it."""
    if name and "$ref" not in one:
        yield FieldLine(name, _kind(one), "", one.get("description", "").replace("`", ""))
    inner = [one, *one.get("anyOf", ())]
    for part in inner:
        if part.get("type") == "array":
            yield from _inside(part.get("items", {}), parts, f"{name}[]")
        else:
            yield from _inside(part, parts, name)


def _inside(one: Mapping[str, Any], parts: Mapping[str, Any], name: str) -> Iterator[FieldLine]:
    for field, part in _named(one, parts).get("properties", {}).items():
        yield from _parts(part, parts, f"{name}.{field}".removeprefix("."))


def _kind(one: Mapping[str, Any]) -> str:
    """Return the type of a field, and its range."""
    if "anyOf" in one:
        return " or ".join(_kind(part) for part in one["anyOf"])
    if "$ref" in one:
        return "object"
    kind = str(one.get("type", "any"))
    if kind == "array":
        kind = _kind(one.get("items", {}))
        return "list of objects" if kind == "object" else f"list of {kind}"
    if "minimum" in one and "maximum" in one:
        return f"{kind} {one['minimum']:g}–{one['maximum']:g}"
    return kind
