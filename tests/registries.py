"""What the contract of every registry asks: plain names, words for the help, members that fit."""

from __future__ import annotations

import dataclasses
import pickle
import re
from collections.abc import Mapping
from typing import Any, TypeVar

import pytest

from bnmind._registry import Registered, made_by_name, usage
from bnmind.errors import InvalidArgumentError, UnknownNameError

__all__ = ["check_value", "examples_of", "registry_faults"]

_Member = TypeVar("_Member")
_NAME = re.compile(r"[a-z][a-z0-9]*(-[a-z0-9]+)*")


def registry_faults(registry: Mapping[str, Any]) -> list[str]:
    """Return how a registry breaks the contract, whatever its members are."""
    faults = []
    if not hasattr(registry, "keys") or hasattr(registry, "__setitem__"):
        faults.append("can be changed")
    for name, member in registry.items():
        if not _NAME.fullmatch(name):
            faults.append(f"{name}: not a name in lower case with hyphens")
        if not member.about or "\n" in member.about or len(member.about) > 80:
            faults.append(f"{name}: the help needs one short line about it")
    return faults


def examples_of(kind: str, registry: Mapping[str, Registered[_Member]], name: str) -> list[_Member]:
    """Return the members that a name makes: without an argument, and with an example of one."""
    member = registry[name]
    texts = [name] * (member.plain is not None)
    if member.argument is not None:
        texts.append(f"{name}:{member.argument.example}")
    assert usage(name, member).startswith(name)
    with pytest.raises(InvalidArgumentError, match=re.escape(name)):
        made_by_name(kind, registry, f"{name}:\x00?" if member.argument is None else f'{name}:"')
    with pytest.raises(UnknownNameError, match=f"did you mean {re.escape(name)}"):
        made_by_name(kind, registry, f"{name}x")
    return [made_by_name(kind, registry, text) for text in texts]


def check_value(value: object) -> None:
    """Raise AssertionError unless a value is immutable and survives pickle."""
    assert dataclasses.is_dataclass(value)
    for field in dataclasses.fields(value):
        with pytest.raises((dataclasses.FrozenInstanceError, AttributeError)):
            setattr(value, field.name, None)
    assert repr(pickle.loads(pickle.dumps(value))) == repr(value)
