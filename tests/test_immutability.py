"""Every public object stays as it was made: nobody can change it, its copies, or what it holds.

Each has an example, which is shown in a few lines too; making the examples takes the most time.
"""

from __future__ import annotations

import copy
import dataclasses
import inspect
import json
import pickle
from collections.abc import Callable, Iterator, Mapping, Sequence
from enum import Enum
from functools import cached_property, partial
from pathlib import Path
from types import BuiltinFunctionType, FunctionType, MappingProxyType, MethodType
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pandas as pd
import pytest

from bnmind._display import LONGEST, MOST_ROWS
from bnmind._values import ReadOnlyDict, Value
from bnmind.errors import BnmindError
from tests.examples import PUBLIC, examples_of

CONSTANT = (
    *(type(None), bool, int, float, complex, str, bytes, Enum, Path, range, type, np.generic),
    *(FunctionType, BuiltinFunctionType, MethodType, np.ufunc),
)
"""Types whose values cannot change, or that are code."""

NEW_NAME = "a_name_that_nothing_has"


def attributes(thing: object) -> dict[str, Any]:
    """Return the public attributes of an instance, properties too, but not its methods.

    Of classes that no package exports only what they keep: what their properties make anew may
    be changed by whoever gets it, and so may a data frame.
    """
    found = {}
    for name in dir(type(thing)):
        member = inspect.getattr_static(type(thing), name)
        if name.startswith("_") or isinstance(member, staticmethod | classmethod | FunctionType):
            continue
        if isinstance(member, type) or (isinstance(member, property) and type(thing) not in PUBLIC):
            continue
        try:
            value = getattr(thing, name)
        except BnmindError:
            continue
        if isinstance(member, property) and isinstance(value, pd.DataFrame):
            assert getattr(thing, name) is not value
            continue
        found[name] = value
    fields = getattr(thing, "__dict__", {})
    found.update({name: getattr(thing, name) for name in fields if not name.startswith("_")})
    return found


def faults(thing: Any, where: str, seen: set[int]) -> Iterator[str]:
    """Yield what can be changed in an object, and where it is."""
    if isinstance(thing, CONSTANT):
        return
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        yield from array_faults(thing, where)
    elif isinstance(thing, partial):
        yield from faults((thing.func, thing.args, MappingProxyType(thing.keywords)), where, seen)
    elif isinstance(thing, Mapping):
        if isinstance(thing, Value):
            yield from instance_faults(thing, where, seen)
        elif not is_constant_mapping(thing):
            yield f"{where} is a {type(thing).__name__}"
        for key, value in thing.items():
            yield from faults(key, f"{where} key", seen)
            yield from faults(value, f"{where}[{key!r}]", seen)
    elif isinstance(thing, tuple | frozenset):
        for number, part in enumerate(thing):
            yield from faults(part, f"{where}[{number}]", seen)
        if type(thing) not in (tuple, frozenset):
            yield from instance_faults(thing, where, seen)
    elif type(thing).__module__.split(".")[0] in ("bnmind", "tests"):
        yield from instance_faults(thing, where, seen)
    else:
        yield f"{where} is a {type(thing).__module__}.{type(thing).__qualname__}"


def array_faults(array: np.ndarray[Any, Any], where: str) -> Iterator[str]:
    base: Any = array
    while isinstance(base, np.ndarray):
        if base.flags.writeable:
            yield f"{where} is {'writable' if base is array else 'a view of a writable array'}"
            return
        base = base.base
    if array.dtype.hasobject:
        yield f"{where} is an array of objects"


def is_constant_mapping(mapping: Mapping[Any, Any]) -> bool:
    """Return whether a mapping refuses changes."""
    return isinstance(mapping, MappingProxyType | ReadOnlyDict)


def instance_faults(thing: Any, where: str, seen: set[int]) -> Iterator[str]:
    found = attributes(thing)
    for name in (*found, NEW_NAME):
        try:
            object_value = found.get(name)
            setattr(thing, name, object_value)
        except (AttributeError, TypeError):
            continue
        yield f"{where}.{name} of a {type(thing).__name__} can be set"
        if name == NEW_NAME:
            delattr(thing, name)
    for name, value in found.items():
        yield from faults(value, f"{where}.{name}", seen)


def ways(thing: object) -> dict[str, Any]:
    """Return an object, and its copies by every way to make some."""
    return {
        "itself": thing,
        "pickled": pickle.loads(pickle.dumps(thing)),
        "deeply copied": copy.deepcopy(thing),
        "copied": copy.copy(thing),
    }


@pytest.mark.parametrize("kind", PUBLIC, ids=lambda kind: kind.__name__)
def test_every_public_value_stays_as_it_was_made_and_is_shown(kind: type) -> None:
    assert examples_of(kind), f"add an example of {kind.__name__} to tests/examples.py"
    assert_nothing_can_be_changed(kind)
    assert_what_a_constructor_was_given_may_change(kind)
    for thing in examples_of(kind):
        assert_is_short_and_its_html_is_whole(thing)


def assert_nothing_can_be_changed(kind: type) -> None:
    told = []
    for thing in examples_of(kind):
        for way, again in ways(thing).items():
            assert type(again) is kind
            told += [f"{way}: {fault}" for fault in faults(again, kind.__name__, set())]
    assert told == []


def changeable(value: Any) -> Any:
    """Return a value of the same content that its owner may change later."""
    if isinstance(value, np.ndarray):
        return np.array(value)
    if isinstance(value, Mapping) and not isinstance(value, Value):
        return {key: changeable(part) for key, part in value.items()}
    if type(value) is tuple:
        return [changeable(part) for part in value]
    return value


def spoil(value: Any) -> None:
    """Change a value as much as can be."""
    if isinstance(value, np.ndarray):
        if value.flags.writeable and value.size:
            value[...] = value.ravel()[::-1].reshape(value.shape)
            value.flat[0] = 0 if value.flat[0] else 1
    elif isinstance(value, dict):
        for part in value.values():
            spoil(part)
        value.clear()
    elif isinstance(value, list):
        for part in value:
            spoil(part)
        value[:] = ["spoiled"]


def content(value: Any) -> Any:
    """Return what tells two values apart, deeply."""
    if isinstance(value, np.ndarray):
        return (value.shape, value.dtype.str, value.tobytes())
    if isinstance(value, Mapping):
        return {str(key): content(part) for key, part in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str | bytes):
        return [content(part) for part in value]
    return repr(value)


def assert_what_a_constructor_was_given_may_change(kind: type) -> None:
    for thing in examples_of(kind):
        if dataclasses.is_dataclass(thing):
            names = [field.name for field in dataclasses.fields(thing) if field.init]
        elif isinstance(thing, tuple):
            names = list(thing._fields)  # type: ignore[attr-defined]
        else:
            assert isinstance(thing, Enum)
            continue
        given = {name: changeable(getattr(thing, name)) for name in names}
        made = kind(**given)
        before = {name: content(getattr(made, name)) for name in names}
        for value in given.values():
            spoil(value)
        assert {name: content(getattr(made, name)) for name in names} == before
        assert list(faults(made, kind.__name__, set())) == []


def assert_is_short_and_its_html_is_whole(thing: Any) -> None:
    text = repr(thing)
    assert len(text) <= 1.2 * LONGEST, text
    assert text.count("\n") <= MOST_ROWS
    make = getattr(thing, "_repr_html_", None)
    html = None if make is None else make()
    assert html is None or ElementTree.fromstring(html).tag in ("table", "pre", "div")
    if hasattr(thing, "_repr_svg_"):
        assert html is None


class Loose:
    """What the walk must find: a list, a dictionary, writable arrays, attributes to be set."""

    def __init__(self) -> None:
        self.names = ["a"]
        self.table = {"a": MappingProxyType({"b": np.zeros(2)})}
        base = np.zeros(2)
        self.view = base[:1]
        self.view.setflags(write=False)

    @cached_property
    def found(self) -> set[int]:
        """Something computed once."""
        return {1}


def test_a_read_only_dictionary_refuses_every_change() -> None:
    table = ReadOnlyDict({"a": 1})
    changes: list[Callable[[Any], object]] = [
        lambda d: d.__setitem__("a", 2),
        lambda d: d.__delitem__("a"),
        lambda d: d.__ior__({"a": 2}),
        lambda d: d.clear(),
        lambda d: d.pop("a"),
        lambda d: d.popitem(),
        lambda d: d.setdefault("b", 2),
        lambda d: d.update(a=2),
    ]
    assert {name for name in dir(dict) if name not in dir(Mapping)} - {
        *("__delitem__", "__setitem__", "__ior__", "clear", "pop", "popitem", "setdefault"),
        *("update", "copy", "fromkeys", "__or__", "__ror__"),
    } == set()
    for way in ways(table).values():
        assert way == table
        assert isinstance(way, ReadOnlyDict)
        for change in changes:
            with pytest.raises(TypeError, match="cannot be changed"):
                change(way)
    assert json.dumps(table) == '{"a": 1}'
    assert table | {"b": 2} == {"a": 1, "b": 2}
    assert type(table.copy()) is dict


def test_the_walk_would_notice() -> None:
    told = "\n".join(faults(Loose(), "loose", set()))
    for part in (
        "loose.names is a builtins.list",
        "loose.table is a dict",
        "loose.table['a']['b'] is writable",
        "loose.view is a view of a writable array",
        "loose.found is a builtins.set",
        "loose.names of a Loose can be set",
        f"loose.{NEW_NAME} of a Loose can be set",
    ):
        assert part in told
