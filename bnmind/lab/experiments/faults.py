"""Faults of files, collected with their places.

This module imports pydantic.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ParamSpec, TypeVar

from pydantic import ValidationError

from bnmind._messages import shown
from bnmind.errors import BnmindError, ExperimentFileError
from bnmind.lab.mastermind.setting_json import Part

__all__ = ["Faults", "problems_of", "record_of"]

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")
_Record = TypeVar("_Record", bound=Part)

_PLAIN = {
    "missing": "this key is missing",
    "extra_forbidden": "there is no such key",
    "int_type": "expected a whole number",
    "float_type": "expected a number",
    "string_type": "expected a text",
    "bool_type": "expected true or false",
    "list_type": "expected a list",
    "model_type": "expected a text or a table",
    "too_short": "expected at least one",
}
"""Messages for the faults that are frequent."""


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
            message = f"{place}: {fault}"
            if message not in self.found:
                self.found.append(message)
            return None


def record_of(kind: type[_Record], content: Mapping[str, Any]) -> _Record:
    """Return the record with the content of a file.

    Raises
    ------
    ExperimentFileError
        If the content is no such record. The error lists all faults with their places.
    """
    try:
        return kind.model_validate(dict(content))
    except ValidationError as error:
        raise ExperimentFileError(problems_of(error), content) from error


def problems_of(error: ValidationError) -> list[str]:
    """Return the faults of a record, each with its place; members of lists count from 1."""
    problems = []
    for fault in error.errors(include_url=False, include_input=False, include_context=False):
        parts = [
            f" {part + 1}" if isinstance(part, int) else f", {shown(part)[1:-1]}"
            for part in fault["loc"]
        ]
        place = "".join(parts).lstrip(", ")
        message = " ".join(fault["msg"].split()) or "wrong"
        plain = _PLAIN.get(fault["type"], f"{message[0].lower()}{message[1:]}")
        problems.append(f"{place}: {plain}")
    return problems
