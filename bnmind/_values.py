"""Base classes of immutable dataclasses.

The fields of a frozen dataclass may still hold mutable lists, dictionaries and arrays, and arrays
become writable again by pickling and deep copies. `Value` prevents both: its constructor, and the
restoration from a pickle, convert fields to tuples, read-only mappings and read-only arrays.
`CheckedValue` also checks the types of its fields. `Sealed` is for values that only the library
makes.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator, KeysView, Mapping, ValuesView
from dataclasses import fields
from functools import cache
from operator import is_
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_fields
from bnmind._display.outline import outline
from bnmind._display.tables import outline_html

__all__ = [
    "CheckedValue",
    "ReadOnlyDict",
    "Sealed",
    "Value",
    "freeze",
    "frozen",
    "latest",
    "made",
    "remembered",
    "sealed",
]

_Type = TypeVar("_Type", bound=np.generic)
_Kind = TypeVar("_Kind")
_Key = TypeVar("_Key")
_Part = TypeVar("_Part")


class ReadOnlyDict(dict[_Key, _Part]):
    """A read-only dictionary. As a subclass of ``dict``, it works with pandas and JSON.

    Examples
    --------
    >>> chances = ReadOnlyDict({"no": 0.25, "yes": 0.75})
    >>> chances["no"] = 1.0
    Traceback (most recent call last):
    TypeError: this mapping cannot be changed; dict(...) makes a copy that can
    """

    __slots__ = ()

    def _refuse(self, *_: Any, **__: Any) -> Any:
        raise TypeError("this mapping cannot be changed; dict(...) makes a copy that can")

    __setitem__ = __delitem__ = __ior__ = _refuse
    clear = pop = popitem = setdefault = update = _refuse

    def __reduce__(self) -> tuple[Any, ...]:
        return (_read_only_dict, (dict(self),))

    def __copy__(self) -> ReadOnlyDict[_Key, _Part]:
        return self


def _read_only_dict(content: dict[Any, Any]) -> ReadOnlyDict[Any, Any]:
    """Restore a dictionary and its arrays from a pickle or a deep copy."""
    return ReadOnlyDict({key: frozen(part, own=True) for key, part in content.items()})


class Value:
    """A base class of immutable dataclasses.

    A dataclass with its own ``__post_init__`` must call `freeze` there.
    """

    __slots__ = ()

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A dataclass replaces the text of a parent, but keeps one of the class itself.
        text: Any = cls.__repr__
        generated = text is object.__repr__ or hasattr(text, "__wrapped__")
        cls.__repr__ = outline if generated else text  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        freeze(self)

    def _repr_html_(self) -> str | None:
        """Return a table of the fields, which notebooks display if the text is long."""
        return None if hasattr(self, "_repr_svg_") else outline_html(self)

    def __getstate__(self) -> dict[str, Any]:
        # Without cached properties.
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, frozen(value, own=True))


class CheckedValue(Value):
    """A value that checks the types of its fields; see `bnmind._arguments.check_fields`."""

    __slots__ = ()

    def __post_init__(self) -> None:
        freeze(self)
        check_fields(self)


class Sealed(Value):
    """A value made by the library, which owns its arrays; they are not copied."""

    __slots__ = ()

    def __post_init__(self) -> None:
        freeze(self, own=True)


def made(kind: type[_Kind], **values: Any) -> _Kind:
    """Return an instance of a dataclass with valid, immutable fields, without its constructor.

    Use it for instances that are made very often.
    """
    instance = object.__new__(kind)
    instance.__dict__.update(values)
    return instance


def remembered(owner: Any, name: str, make: Callable[[], _Kind]) -> _Kind:
    """Return what a pure function of an immutable object makes, from memory if it has been made.

    It is kept with the object, under a name that is no field.
    """
    known: dict[str, Any] = owner.__dict__
    if name not in known:
        known[name] = make()
    value: _Kind = known[name]
    return value


def latest(owner: Any, name: str, key: Any, make: Callable[[], _Kind]) -> _Kind:
    """Return what a pure function of an immutable object and a key makes; see `remembered`.

    Only the two latest results of each name are kept.
    """
    known: dict[Any, _Kind] = remembered(owner, name, dict)
    found = known.get(key)
    if found is None:
        found = make()
        while len(known) > 1:
            known.pop(next(iter(known), key), None)
        known[key] = found
    return found


def freeze(instance: Any, *, own: bool = False) -> None:
    """Make the fields of a dataclass immutable; ``own`` as in `frozen`."""
    kind: Any = type(instance)
    for name in _names(kind):
        value = getattr(instance, name)
        frozen_value = frozen(value, own=own)
        if frozen_value is not value:
            object.__setattr__(instance, name, frozen_value)


@cache
def _names(kind: Any) -> tuple[str, ...]:
    """Return the names of the fields of a dataclass."""
    return tuple(field.name for field in fields(kind))


def frozen(value: Any, *, own: bool = False) -> Any:
    """Return a value with tuples, frozen sets, read-only mappings and arrays at all levels.

    Parameters
    ----------
    value
        The value. Instances of other classes are unchanged.
    own
        Whether there are no other references to its arrays, so that no copies are needed.

    Examples
    --------
    >>> frozen([1, [2, {"a": [3]}]])
    (1, (2, {'a': (3,)}))
    """
    kind: Any = type(value)
    way = _way(kind)
    return value if way is None else way(value, own)


@cache
def _way(kind: Any) -> Callable[[Any, bool], Any] | None:
    """Return the function that freezes values of a type; None if they stay unchanged."""
    if kind is ReadOnlyDict or issubclass(kind, Value):
        return None
    if kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_make")):
        return _frozen_tuple
    if issubclass(kind, np.ndarray):
        return lambda value, own: sealed(value) if own else _read_only(value)
    if kind is list or issubclass(kind, Iterator | KeysView | ValuesView | deque):
        return lambda value, own: tuple([frozen(part, own=own) for part in value])
    if issubclass(kind, Mapping):
        return lambda value, own: ReadOnlyDict(
            {key: frozen(part, own=own) for key, part in value.items()}
        )
    if kind is set:
        return lambda value, _: frozenset(value)
    return None


def _frozen_tuple(value: tuple[Any, ...], own: bool) -> tuple[Any, ...]:
    parts = [frozen(part, own=own) for part in value]
    if all(map(is_, parts, value)):
        return value
    kind: Any = type(value)
    result: tuple[Any, ...] = tuple(parts) if kind is tuple else kind._make(parts)
    return result


def _read_only(array: NDArray[Any]) -> NDArray[Any]:
    """Return a read-only array, a copy if necessary."""
    base: Any = array
    while isinstance(base, np.ndarray) and not base.flags.writeable:
        base = base.base
    if isinstance(base, np.ndarray):
        array = np.array(array)
        array.setflags(write=False)
    return array


def sealed(array: NDArray[_Type]) -> NDArray[_Type]:
    """Make an array and the arrays that it is a view of read-only, and return it.

    >>> sealed(np.arange(4).reshape(2, 2)).base.flags.writeable
    False
    """
    base: Any = array
    while isinstance(base, np.ndarray):
        base.setflags(write=False)
        base = base.base
    return array
