"""Records: the content of files as strict pydantic models, and their faults in plain words.

A file has a head, its schema and its version, so that old versions are read, and newer ones and
other files are refused by name. Files that people write are TOML, or JSON with the same content;
all their faults are told at once, each with its place.

This module imports pydantic, so it is imported when the first file is read or written.
"""

from __future__ import annotations

import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import MISSING, fields, is_dataclass
from enum import Enum
from functools import cache
from itertools import islice
from typing import (
    Annotated,
    Any,
    ParamSpec,
    Self,
    TypeAlias,
    TypeVar,
    get_args,
    get_origin,
    get_type_hints,
)

from pydantic import (
    AliasChoices,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    FailFast,
    Field,
    GetCoreSchemaHandler,
    GetPydanticSchema,
    ValidationError,
    create_model,
    model_validator,
)
from pydantic_core import CoreSchema, PydanticCustomError
from pydantic_core.core_schema import no_info_after_validator_function

from bnmind._files import parse_json, require_head
from bnmind._messages import first_faults, listed, one_line, shown
from bnmind.errors import (
    BnmindError,
    ModelFileError,
    UnknownNameError,
)

LONG_TEXT = 2**20
"""For texts of at least this length, records report only the first fault of each list.

A fault takes a hundred times the memory of the wrong entry, and a file may have twenty million
entries.
"""

_SHOWN_NAMES = 5

_PLAIN = {
    "missing": "this key is missing",
    "extra_forbidden": "there is no such key",
    "string_type": "expected a text",
    "list_type": "expected a list",
    "tuple_type": "expected a list",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "bool_type": "expected true or false",
    "dict_type": "expected a table",
    "model_type": "expected a table",
    "model_attributes_type": "expected a table",
    "greater_than_equal": "expected at least {ge}",
    "too_short": "expected at least {min_length}",
}
"""Messages for the faults that are frequent, by their types."""

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")
_Record = TypeVar("_Record", bound=BaseModel)


class Record(BaseModel):
    """A record with exactly the declared fields and types."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True)


class LargeRecord(Record):
    """A record of which a file may have millions; all unknown fields of one are one fault."""

    model_config = ConfigDict(extra="allow")

    @model_validator(mode="after")
    def _no_others(self) -> Self:
        if self.model_extra:
            names = ", ".join(map(shown, islice(self.model_extra, _SHOWN_NAMES)))
            raise PydanticCustomError("unknown_fields", "unknown fields: {names}", {"names": names})
        return self


@cache
def record_of(kind: Any, *left_out: str, base: type[BaseModel] = LargeRecord) -> Any:
    """Return the record with the fields of a dataclass, but for some."""
    hints = get_type_hints(kind)
    parts: dict[str, Any] = {}
    for field in fields(kind):
        if field.name not in left_out:
            found = _in_file(hints[field.name])
            if get_origin(found) is tuple and base is LargeRecord:
                found = Annotated[found, FailFast()]
            names = AliasChoices(field.name, *field.metadata.get("also", ()))
            default = ... if field.default is MISSING else field.default
            if field.default_factory is not MISSING:
                default = field.default_factory()
            parts[field.name] = (found, Field(default, validation_alias=names))
    return create_model(kind.__name__, __base__=base, **parts)


def _in_file(annotation: Any) -> Any:
    """Return an annotation for a record: dataclasses are those with exactly their fields."""
    if get_origin(annotation) is tuple:
        return tuple[tuple(map(_in_file, get_args(annotation)))]  # type: ignore[misc]
    return Annotated[annotation, EXACTLY] if is_dataclass(annotation) else annotation


def _exactly(kind: type[Any], handler: GetCoreSchemaHandler) -> CoreSchema:
    record = record_of(kind)  # type: ignore[arg-type]
    return no_info_after_validator_function(lambda read: kind(**vars(read)), handler(record))


EXACTLY = GetPydanticSchema(_exactly)
"""Marks a dataclass that a file holds with exactly its fields, as ``Annotated[Event, EXACTLY]``.

The metadata of a field may have other names that it has in files, as ``also``."""


def fields_given(value: Any, *left_out: str) -> dict[str, Any]:
    """Return the fields of a dataclass that differ from their defaults, for JSON."""
    given: dict[str, Any] = {}
    for field in fields(value):
        part = getattr(value, field.name)
        if field.name not in left_out and part != field.default:
            given[field.name] = part.value if isinstance(part, Enum) else part
    return given


def as_list(value: Any) -> list[Any]:
    """Return a list, also of a single value."""
    return value if isinstance(value, list) else [value]


def or_table(key: str) -> BeforeValidator:
    """Return the rule that a value that is no table stands for one with this key alone."""
    return BeforeValidator(lambda value: value if isinstance(value, dict) else {key: value})


Names: TypeAlias = Annotated[list[str], Field(fail_fast=True)]
"""Names or states; an error names only the first one that is not text."""


Texts: TypeAlias = Annotated[
    list[str],
    BeforeValidator(lambda value: [value] if isinstance(value, str) else value),
    Field(min_length=1),
]
"""One text or a list of texts."""


class FileRecord(LargeRecord):
    """A whole JSON file of bnmind, with its head."""

    schema_name: str = Field(validation_alias=AliasChoices("schema", "format"))
    version: int


class _Head(FileRecord):
    """The head alone, whatever else is in the file."""

    model_config = ConfigDict(extra="ignore")


def record_from_json(text: str, schema: str, versions: Mapping[int, type[_Record]]) -> _Record:
    """Return the record in a JSON text.

    Parameters
    ----------
    text
        The file's.
    schema
        The name that its field ``schema`` or ``format`` must have.
    versions
        The records of the versions that can be read.

    Raises
    ------
    ModelFileError
        If the schema or the version is another one, or the text is not such a record. The error
        lists all faults, each with its path in the file.
    """
    head = _parsed(_Head, text, schema)
    require_head(head.schema_name, head.version, schema, versions)
    kind = versions[head.version]
    kind = kind if len(text) < LONG_TEXT else _failing_fast(kind)
    return _parsed(kind, text, f"{schema} {head.version}")


@cache
def _failing_fast(kind: type[_Record]) -> type[_Record]:
    """Return the record with lists that report only their first fault."""
    lists: dict[str, Any] = {
        name: (Annotated[field.annotation, FailFast()], field)
        for name, field in kind.model_fields.items()
        if get_origin(field.annotation) in (list, tuple)
    }
    return create_model(kind.__name__, __base__=kind, **lists)


def _parsed(record: type[_Record], text: str, what: str) -> _Record:
    try:
        return record.model_validate_json(text)
    except ValidationError as fault:
        error = record_fault(fault, what)
    raise error


def record_fault(fault: ValidationError, what: str) -> ModelFileError:
    """Return the error about a text that is not a record; places are paths of JSON."""
    faults = fault.errors(include_url=False, include_input=False)
    return ModelFileError(f"expected {what}, got {listed(first_faults(map(_at_path, faults)))}")


def _at_path(fault: Mapping[str, Any]) -> str:
    if fault["loc"]:
        # The path may contain keys of the file, which may be long.
        path = [
            shown(part)[1:-1] or "''" if isinstance(part, str) else part for part in fault["loc"]
        ]
        return f"{'.'.join(map(str, path))}: {_plain(fault)}"
    # The message about invalid JSON already names the line and the column.
    if fault["type"] == "json_invalid":
        return str(fault["msg"])
    return f"{_plain(fault)} (the whole file)"


def _plain(fault: Mapping[str, Any]) -> str:
    if plain := _PLAIN.get(fault["type"]):
        return plain.format(**fault.get("ctx", {}))
    return " ".join(fault["msg"].split()) or "wrong"


class Faults:
    """A collection of faults, each with its place in a file."""

    def __init__(self) -> None:
        self.found: list[str] = []

    def at(
        self, place: str, make: Callable[_Given, _Made], *given: _Given.args, **named: _Given.kwargs
    ) -> _Made | None:
        """Return what a function makes; None if it fails, and the fault is collected."""
        try:
            return make(*given, **named)
        except BnmindError as fault:
            self.tell(place, str(fault))
        return None

    def tell(self, place: str, fault: str) -> None:
        """Collect a fault, unless it is known."""
        if (message := f"{place}: {fault}") not in self.found:
            self.found.append(message)

    def each(self, place: str, make: Callable[[Any], _Made], given: Iterable[Any]) -> list[Any]:
        """Return what a function makes of each part, like `at`; places count from 1."""
        return [self.at(f"{place} {number}", make, one) for number, one in enumerate(given, 1)]


def parse_table(text: str) -> dict[str, Any]:
    """Return the value of a TOML text, or of JSON if it starts with ``{``.

    Raises
    ------
    ModelFileError
        If it is neither.
    """
    if text.lstrip().startswith("{"):
        return dict(parse_json(text))
    try:
        return tomllib.loads(text)
    except (tomllib.TOMLDecodeError, ValueError, RecursionError) as fault:
        raise ModelFileError(f"expected TOML ({fault})", one_line(text)) from fault


def record_from_table(
    kind: type[_Record], content: Mapping[str, Any], *, between: str = ", "
) -> _Record:
    """Return the record with the content of a file.

    Parameters
    ----------
    kind
        The record.
    content
        The content, as `parse_table` returns it.
    between
        What separates the keys of a place. Where it is a dot, unknown keys are compared with those
        of the table that they are in.

    Raises
    ------
    ModelFileError
        If it is no such record. It lists all faults with their places, in which members of lists
        count from 1.
    """
    try:
        return kind.model_validate(dict(content))
    except ValidationError as fault:
        faults = fault.errors(include_url=False, include_input=False)
        problems = list(dict.fromkeys(_at_place(one, kind, between) for one in faults))
    raise ModelFileError(problems, content)


def _at_place(fault: Mapping[str, Any], kind: type[BaseModel], between: str) -> str:
    place = _place(fault["loc"], between)
    if fault["type"] == "extra_forbidden" and between == ".":
        *parents, name = fault["loc"]
        inside = f"[{_place(parents, between)}]" if parents else "the file"
        return f"{inside}: {UnknownNameError('key', str(name), _keys_at(kind, parents))}"
    message = _plain(fault)
    return f"{place}: {message[0].lower()}{message[1:]}"


def _place(parts: Iterable[int | str], between: str) -> str:
    texts = [f" {p + 1}" if isinstance(p, int) else f"{between}{shown(p)[1:-1]}" for p in parts]
    return "".join(texts).removeprefix(between).lstrip() or "the file"


def _keys_at(kind: type[BaseModel], parts: Iterable[int | str]) -> list[str]:
    """Return the keys of the table at a place."""
    for part in parts:
        if field := kind.model_fields.get(str(part)):
            kind = _record_in(field.annotation) or kind
    return list(kind.model_fields)


def _record_in(annotation: Any) -> type[BaseModel] | None:
    """Return the first record in an annotation."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    return next(filter(None, map(_record_in, get_args(annotation))), None)


@contextmanager
def faults_in(path: str | os.PathLike[str] | None) -> Iterator[None]:
    """Name a file, if there is one, in the errors about its content."""
    try:
        yield
    except ModelFileError as fault:
        if path is None or (named := in_file(fault, path)) is fault:
            raise
        raise named from fault


def in_file(error: ModelFileError, path: str | os.PathLike[str]) -> ModelFileError:
    """Return an error whose first fault names the file."""
    place = os.fspath(path)
    if error.value == place:
        return error
    return ModelFileError([f"{place}: {error.problems[0]}", *error.problems[1:]], place)
