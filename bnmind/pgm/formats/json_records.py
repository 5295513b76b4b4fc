"""The common parts of bnmind's JSON files: strict records, and messages for their faults.

This module imports pydantic, so it is itself imported when first needed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import islice
from typing import Annotated, Any, Self, TypeAlias, TypeVar

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from bnmind.errors import InvalidModelError, ModelFileError
from bnmind.pgm.formats.source import shown
from bnmind.pgm.variable import Variable

__all__ = [
    "LONG_TEXT",
    "Names",
    "Strict",
    "VariableRecord",
    "listed",
    "record_fault",
    "validated",
    "variables_of",
]

LONG_TEXT = 2**20
"""For texts of at least this length, records report only the first fault of each list.

A fault takes a hundred times the memory of the wrong entry, and a file may have twenty million
entries.
"""

_SHOWN_FAULTS = 5
_LONGEST_FAULT = 240

_PLAIN = {
    "missing": "missing",
    "string_type": "not a text",
    "list_type": "not a list",
    "tuple_type": "not a list",
    "int_type": "not a whole number",
    "float_type": "not a number",
    "bool_type": "not true or false",
    "dict_type": "not an object",
    "model_type": "not an object",
    "model_attributes_type": "not an object",
}
"""The messages about frequent faults, by their types."""

_USES = {
    "bnmind-bank": "an item bank is for bnmind test, classify and simulate; its network is"
    " bnmind.adaptive.read_bank(path).network",
    "bnmind-dynamic": "a network over time is for bnmind track",
    "bnmind-session": "a saved test is for bnmind test --session",
}
"""The use of a file of another kind, by its schema."""

_Record = TypeVar("_Record", bound=BaseModel)
_Fault = TypeVar("_Fault")


class Strict(BaseModel):
    """A record with exactly the declared fields and types."""

    # `_no_others` reports all unknown fields as one fault; "forbid" would report each of them.
    model_config = ConfigDict(strict=True, extra="allow", frozen=True)

    @model_validator(mode="after")
    def _no_others(self) -> Self:
        if self.model_extra:
            names = ", ".join(shown(name) for name in islice(self.model_extra, _SHOWN_FAULTS))
            raise PydanticCustomError(
                "extra_forbidden", "unknown fields: {names}", {"names": names}
            )
        return self


Names: TypeAlias = Annotated[list[str], Field(fail_fast=True)]
"""Names or states; an error names only the first one that is not text."""


class VariableRecord(Strict):
    """A variable."""

    name: str
    states: Names


class _Head(BaseModel):
    """The head of every JSON file of bnmind."""

    model_config = ConfigDict(strict=True, extra="ignore", frozen=True)

    schema_name: str = Field(alias="schema")
    version: int


def validated(text: str, schema: str, versions: Mapping[int, type[_Record]]) -> _Record:
    """Return the record in a JSON text.

    Parameters
    ----------
    text
        The file's.
    schema
        The name that its field ``schema`` must have.
    versions
        The records of the versions that can be read.

    Raises
    ------
    ModelFileError
        If the schema or the version is another one, or the text is not such a record. The error
        lists all faults, each with its path in the file.
    """
    head = _parsed(_Head, text, schema)
    if head.schema_name != schema:
        use = f"; {_USES[head.schema_name]}" if head.schema_name in _USES else ""
        raise ModelFileError(
            f"expected schema {schema}, got {shown(head.schema_name)} at schema{use}"
        )
    if head.version not in versions:
        known = " or ".join(map(str, sorted(versions)))
        newer = ", made by a newer bnmind," if head.version > max(versions) else ""
        version = str(head.version) if abs(head.version) < 10**9 else "another"
        raise ModelFileError(
            f"expected {schema} of version {known}, got version {version}{newer} at version"
        )
    return _parsed(versions[head.version], text, f"{schema} {head.version}")


def _parsed(record: type[_Record], text: str, what: str) -> _Record:
    try:
        return record.model_validate_json(text)
    except ValidationError as fault:
        error = record_fault(fault, what)
    raise error


def record_fault(fault: ValidationError, what: str) -> ModelFileError:
    """Return the error about a text that is not a record."""
    faults = fault.errors(include_url=False, include_input=False, include_context=False)
    return ModelFileError(f"expected {what}, got {listed(faults, _told)}")


def _told(error: Mapping[str, Any]) -> str:
    # The path may contain keys of the file, which may be long.
    path = [
        shown(part)[1:-1] or "''" if isinstance(part, str) else str(part) for part in error["loc"]
    ]
    message = _PLAIN.get(error["type"]) or " ".join(error["msg"].split())
    if path:
        return f"{'.'.join(path)}: {message}"
    # The message about invalid JSON already names the line and the column.
    return message if error["type"] == "json_invalid" else f"{message} (the whole file)"


def listed(faults: Sequence[_Fault], told: Callable[[_Fault], str] = str) -> str:
    """Return the first faults, shortened if long, and the number of the others."""
    first = [told(fault) for fault in faults[:_SHOWN_FAULTS]]
    cut = [f if len(f) <= _LONGEST_FAULT else f"{f[: _LONGEST_FAULT - 1]}…" for f in first]
    more = f"; and {len(faults) - _SHOWN_FAULTS} more" if len(faults) > _SHOWN_FAULTS else ""
    return "; ".join(cut) + more


def variables_of(records: Iterable[VariableRecord]) -> dict[str, Variable]:
    """Return the variables by name.

    Raises
    ------
    InvalidModelError
        If a variable is invalid or occurs twice; the error lists all faults.
    """
    problems: list[str] = []
    variables: dict[str, Variable] = {}
    for number, entry in enumerate(records):
        if entry.name in variables:
            problems.append(
                f"at variables.{number}: expected distinct variables, got {shown(entry.name)} twice"
            )
        try:
            variables[entry.name] = Variable(entry.name, tuple(entry.states))
        except InvalidModelError as fault:
            problems += [f"at variables.{number}: {p}" for p in fault.problems]
    if problems:
        raise InvalidModelError(problems)
    return variables
