"""What users leave out: the defaults of all functions and fields, and what must be named."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import bnmind.adaptive as adaptive
from tests.approved import Notes, plain

MODULES = [
    module.name
    for module in pkgutil.walk_packages(adaptive.__path__, f"{adaptive.__name__}.")
    if not module.ispkg
]


def functions_of(module: str) -> Iterator[tuple[str, Callable[..., Any]]]:
    """Yield the functions, constructors and methods that a module defines."""
    for name, thing in vars(importlib.import_module(module)).items():
        if getattr(thing, "__module__", None) != module:
            continue
        if inspect.isfunction(thing):
            yield name, thing
        elif inspect.isclass(thing):
            for own, member in vars(thing).items():
                function = inspect.unwrap(getattr(member, "__func__", member))
                if inspect.isfunction(function):
                    yield f"{name}.{own}", function


def is_small(value: object) -> bool:
    """Return whether a value is a fraction near zero."""
    return isinstance(value, float) and abs(value) < 0.1


def defaults_of(function: Callable[..., Any]) -> dict[str, Any]:
    """Return the defaults of a function; arguments that must be named come after a star."""
    found = {}
    for parameter in inspect.signature(function).parameters.values():
        if parameter.default is not parameter.empty:
            star = "*" if parameter.kind is parameter.KEYWORD_ONLY else ""
            default = parameter.default
            # No tolerance: some defaults are tiny.
            found[star + parameter.name] = repr(default) if is_small(default) else plain(default)
    return found


def fields_of(module: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the fields of a module's classes that are hidden, or made anew for each value."""
    for name, thing in vars(importlib.import_module(module)).items():
        if inspect.isclass(thing) and thing.__module__ == module:
            for field in dataclasses.fields(thing) if dataclasses.is_dataclass(thing) else ():
                marks = {mark: getattr(field, mark) for mark in ("init", "repr", "compare")}
                if field.default_factory is not dataclasses.MISSING:
                    yield f"{name}.{field.name}", {**marks, "made": plain(field.default_factory())}
                elif not all(marks.values()):
                    yield f"{name}.{field.name}", marks


@pytest.mark.parametrize("module", MODULES, ids=lambda name: name.partition("adaptive.")[2])
def test_what_is_left_out_is_as_approved(module: str) -> None:
    notes = Notes(Path(__file__), module)
    for name, function in functions_of(module):
        if defaults := defaults_of(function):
            notes.note(defaults, name)
    for name, marks in fields_of(module):
        notes.note(marks, name)
    notes.check(if_kept=True)
