"""Faults of files, collected with their places.

This module imports pydantic.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import ParamSpec, TypeVar

from pydantic import ValidationError

from bnmind._messages import shown
from bnmind.errors import BnmindError

__all__ = ["Faults", "problems_of"]

_Given = ParamSpec("_Given")
_Made = TypeVar("_Made")


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
        problems.append(f"{place}: {message[0].lower()}{message[1:]}")
    return problems
