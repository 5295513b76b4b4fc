"""Arguments: whether they are of the types that a signature names, told plainly if not.

`checked` is put on public functions and methods, and `check_fields` is called first by the
constructors of public dataclasses. Both read the annotations, once for each function or class,
so that a signature is the one place that says what is accepted. What depends on values, such as
ranges, shapes and names, the functions check themselves; arrays are left to them altogether.
"""

from __future__ import annotations

import collections.abc
import inspect
import os
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cache, wraps
from itertools import chain
from numbers import Integral, Real
from typing import Any, NamedTuple, ParamSpec, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError

__all__ = ["check_fields", "checked", "number_array", "whole_array"]

_P = ParamSpec("_P")
_R = TypeVar("_R")


_NAMES: Mapping[Any, str] = {os.PathLike: "a path"}


class _Kind(NamedTuple):
    """What an argument may be."""

    fits: Callable[[Any], bool]
    described: str
    stays: Callable[[Any], bool] = lambda _: True
    """Whether a value can be looked at without being used up."""


def checked(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that refuses arguments of the wrong type.

    Raises
    ------
    InvalidArgumentError
        When it is called: all faulty arguments at once.

    Examples
    --------
    >>> @checked
    ... def half(number: int) -> float:
    ...     return number / 2
    >>> half("ten")
    Traceback (most recent call last):
    bnmind.errors.InvalidArgumentError: half: expected number to be a whole number, got 'ten'
    """
    names = tuple(inspect.signature(function).parameters)
    name = function.__qualname__
    kinds: dict[str, _Kind] = {}
    ready = False

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        nonlocal ready
        if not ready:
            # Not before the first call: names in annotations may be imported late.
            annotations = {n: t for n, t in function.__annotations__.items() if n != "return"}
            kinds.update(_kinds(annotations, function.__globals__))
            ready = True
        for key, value in chain(zip(names, args, strict=False), kwargs.items()):
            if key in kinds and not (kinds[key].fits(value) and kinds[key].stays(value)):
                break
        else:
            return function(*args, **kwargs)
        given: Any = [_kept(kinds.get(key), value) for key, value in zip(names, args, strict=False)]
        named: Any = {key: _kept(kinds.get(key), value) for key, value in kwargs.items()}
        given += args[len(given) :]
        everything = {**dict(zip(names, given, strict=False)), **named}
        if all(kinds[key].fits(value) for key, value in everything.items() if key in kinds):
            return function(*given, **named)
        raise _error(name, kinds, everything)

    return call


def _kept(kind: _Kind | None, value: Any) -> Any:
    """Return an argument; what can be gone through only once as a tuple."""
    return value if kind is None or kind.stays(value) else tuple(value)


def number_array(value: Any, what: str) -> NDArray[np.float64]:
    """Return real numbers as an array of float64, not copied if they are one.

    Raises
    ------
    InvalidArgumentError
        If they are no such numbers; ``what`` names them.

    Examples
    --------
    >>> number_array([1, 2], "the scores").tolist()
    [1.0, 2.0]
    """
    return _array(value, what, np.float64, "biuf", "numbers")


def whole_array(value: Any, what: str) -> NDArray[np.intp]:
    """Return whole numbers as an array of intp; else as `number_array`."""
    return _array(value, what, np.intp, "iu", "whole numbers")


def _array(value: Any, what: str, kind: Any, kinds: str, expected: str) -> NDArray[Any]:
    if type(value) is np.ndarray and value.dtype == kind:
        return value
    try:
        found = np.asarray(value)
        # An empty list has no type of its own.
        if not found.size or found.dtype.kind in kinds:
            return found.astype(kind, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    told = f"expected {what} as an array of {expected}, got {_told(value)}"
    raise InvalidArgumentError(told, value)


def check_fields(instance: Any) -> None:
    """Refuse fields of a dataclass that are of the wrong type, called by its constructor.

    Raises
    ------
    InvalidArgumentError
        If some are; all of them at once.
    """
    kind: type = type(instance)
    kinds = _field_kinds(kind)
    for name, expected in kinds.items():
        if not expected.fits(getattr(instance, name)):
            raise _error(kind.__name__, kinds, {n: getattr(instance, n) for n in kinds})


@cache
def _field_kinds(kind: type) -> dict[str, _Kind]:
    kinds: dict[str, _Kind] = {}
    for base in reversed(kind.__mro__[:-1]):
        annotations = inspect.get_annotations(base)
        kinds |= _kinds(annotations, vars(sys.modules[base.__module__]))
    return {name: expected for name, expected in kinds.items() if name in _fields(kind)}


def _fields(kind: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = kind.__dataclass_fields__
    return found


def _error(
    owner: str, kinds: Mapping[str, _Kind], given: Mapping[str, Any]
) -> InvalidArgumentError:
    faults = {
        name: value
        for name, value in given.items()
        if name in kinds and not kinds[name].fits(value)
    }
    told = "; ".join(
        f"expected {name} to be {kinds[name].described}, got {_told(value)}"
        for name, value in faults.items()
    )
    return InvalidArgumentError(f"{owner}: {told}", next(iter(faults.values())))


def _told(value: Any) -> str:
    return f"the class {value.__name__}" if isinstance(value, type) else shown(value)


def _kinds(annotations: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, _Kind]:
    found = {}
    for name, annotation in annotations.items():
        if isinstance(annotation, str):
            try:
                annotation = eval(annotation, dict(names))  # the module's own annotation
            except (NameError, TypeError):
                # Imported for the type checker only, or made of such a name: it may be anything.
                continue
        kind = _kind_of(annotation)
        if kind is not None:
            found[name] = kind
    return found


def _kind_of(annotation: Any) -> _Kind | None:
    """Return what an annotation allows, or None if that is anything or too much to tell."""
    simple = {
        None: _Kind(lambda value: value is None, "None"),
        type(None): _Kind(lambda value: value is None, "None"),
        int: _Kind(_is_whole, "a whole number"),
        float: _Kind(_is_number, "a number"),
        bool: _Kind(lambda value: isinstance(value, bool | np.bool_), "True or False"),
        str: _Kind(lambda value: isinstance(value, str), "text"),
    }
    if annotation in (Any, object) or annotation == ArrayLike:
        return None
    if annotation is None or annotation in simple:
        return simple[annotation]
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        return _any_of([_kind_of(argument) for argument in arguments])
    if origin is not None:
        return None if origin is np.ndarray else _of_parts(origin, arguments)
    if not isinstance(annotation, type) or annotation.__module__.startswith("numpy._typing"):
        return None
    if getattr(annotation, "_is_protocol", False):
        return _protocol(annotation)
    return _Kind(lambda value: isinstance(value, annotation), _with_article(annotation.__name__))


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _any_of(kinds: Iterable[_Kind | None]) -> _Kind | None:
    known = []
    for kind in kinds:
        if kind is None:
            return None
        known.append(kind)
    fits = [kind.fits for kind in known]
    words = list(dict.fromkeys(kind.described for kind in known))
    return _Kind(
        lambda value: any(fit(value) for fit in fits),
        " or ".join(words),
        lambda value: all(kind.stays(value) for kind in known),
    )


def _of_parts(origin: Any, arguments: tuple[Any, ...]) -> _Kind | None:
    """Return what a container's annotation allows."""
    if origin is collections.abc.Callable:
        return _Kind(_is_function, "a function")
    if not isinstance(origin, type):
        return None
    if issubclass(origin, Mapping):
        keys, values = (_kind_of(argument) for argument in arguments)
        return _Kind(
            lambda value: (
                isinstance(value, Mapping)
                and (keys is None or all(map(keys.fits, value.keys())))
                and (values is None or all(map(values.fits, value.values())))
            ),
            f"a mapping from {keys.described} to {values.described}"
            if keys and values
            else "a mapping",
        )
    if issubclass(origin, tuple) and arguments[-1:] != (Ellipsis,):
        return _fixed([_kind_of(argument) for argument in arguments])
    if issubclass(origin, Iterable) and arguments:
        parts = _kind_of(arguments[0])
        what = "a sequence" + (f", each {parts.described}" if parts else "")
        ordered = issubclass(origin, Sequence)
        # A tuple may be made of what can be gone through once; a sequence is gone through often.
        once = not ordered or issubclass(origin, tuple)
        return _Kind(
            lambda value: (
                # An array is not made a tuple.
                not (issubclass(origin, tuple) and isinstance(value, np.ndarray))
                and _is_sequence(value, parts, ordered=ordered, once=once)
            ),
            what,
            lambda value: not isinstance(value, Iterator),
        )
    if getattr(origin, "_is_protocol", False):
        return _protocol(origin)
    described = _NAMES.get(origin, _with_article(origin.__name__))
    return _Kind(lambda value: isinstance(value, origin), described)


def _fixed(parts: Sequence[_Kind | None]) -> _Kind:
    """Return what a tuple of a fixed length allows."""

    def fits(value: Any) -> bool:
        if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray):
            return False
        if (isinstance(value, np.ndarray) and not value.ndim) or len(value) != len(parts):
            return False
        return all(kind is None or kind.fits(part) for kind, part in zip(parts, value, strict=True))

    words = " and ".join(kind.described if kind else "anything" for kind in parts)
    return _Kind(fits, f"{len(parts)} values, {words}")


def _is_sequence(value: Any, parts: _Kind | None, *, ordered: bool, once: bool) -> bool:
    if type(value) is tuple or type(value) is list:
        return parts is None or all(map(parts.fits, value))
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    if isinstance(value, Iterator):
        return once
    if ordered and isinstance(value, set | frozenset | Mapping):
        return False
    if isinstance(value, np.ndarray) and not value.ndim:
        return False
    return parts is None or all(map(parts.fits, value))


def _is_function(value: Any) -> bool:
    return callable(value)


def _protocol(protocol: Any) -> _Kind:
    """Return what a protocol allows: instances that have all that it names."""
    members = [
        name
        for base in protocol.__mro__
        if getattr(base, "_is_protocol", False)
        for name in (*vars(base), *vars(base).get("__annotations__", {}))
        if name == "__call__" or not name.startswith("_")
    ]

    def fits(value: Any) -> bool:
        if isinstance(value, type):
            return False
        own = [vars(base) for base in type(value).__mro__] + [getattr(value, "__dict__", {})]
        return all(any(name in names for names in own) for name in members)

    return _Kind(fits, _with_article(protocol.__name__))


def _with_article(name: str) -> str:
    return f"an {name}" if name[:1] in "AEIOU" else f"a {name}"
