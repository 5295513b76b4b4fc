"""Every public function and class answers values of wrong types with an error of bnmind.

Each is called with the same wrong value for all arguments that it requires. Enumerations are made
from their members, and abstract classes not at all.
"""

from __future__ import annotations

import enum
import importlib
import inspect
import warnings
from pathlib import Path
from typing import Any

import pytest

from bnmind.errors import BnmindError

ROOMS = (
    "adaptive",
    "datasets",
    "dynamic",
    "fitting",
    "information",
    "junction",
    "lab",
    "mastermind",
    "pgm",
    "questions",
    "rank_one",
    "sensitivity",
    "strategies",
    "views",
)
WRONG = ("text", 987_654, object())
"""A number that is no open file, too."""
UNCHECKED = frozenset(["reply_table"])
"""A function that is cached by its arguments."""


def _callables(room: str) -> list[tuple[str, Any]]:
    module = importlib.import_module(f"bnmind.{room}")
    members = [(name, getattr(module, name)) for name in module.__all__]
    return [
        (name, one)
        for name, one in members
        if callable(one)
        and name not in UNCHECKED
        and not inspect.isabstract(one)
        and not getattr(one, "_is_protocol", False)
        and not (isinstance(one, type) and issubclass(one, enum.Enum | Exception))
    ]


@pytest.mark.parametrize("room", ROOMS)
def test_wrong_types_are_answered_with_an_error_of_bnmind(
    room: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)  # a text may be a place to write to
    faults = []
    for name, one in _callables(room):
        try:
            parameters = inspect.signature(one).parameters.values()
        except (TypeError, ValueError):  # a type of another library
            continue
        required = [p for p in parameters if p.default is p.empty]
        positional = [p for p in required if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        named = [p.name for p in required if p.kind is p.KEYWORD_ONLY]
        for wrong in WRONG if positional or named else ():
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    one(*[wrong for _ in positional], **dict.fromkeys(named, wrong))
            except BnmindError:
                pass
            except Exception as fault:
                faults.append(f"{name}({wrong!r}): {type(fault).__name__}: {fault}")
    assert not faults, "\n".join(faults)
