"""Arguments: whether they are of the types that a signature names, told plainly if not.

`checked` is put on public functions and methods, and `check_fields` is called first by the
constructors of public dataclasses. Both read the annotations, once for each function or class,
so that a signature is the one place that says what is accepted. What depends on values, such as
ranges, shapes and names, the functions check themselves; arrays are left to them altogether.
"""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from functools import cache, partial, wraps
from itertools import chain
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnmind._argument_kinds import Kind, Numbers, evaluated, holds, kinds_of, numbers_of, told
from bnmind.errors import BnmindError, InvalidArgumentError

__all__ = [
    "check_fields",
    "check_shape",
    "checked",
    "checked_if_it_fails",
    "number_array",
    "positions",
    "whole_array",
]

_P = ParamSpec("_P")
_R = TypeVar("_R")


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
    kinds: dict[str, Kind] = {}
    # The types that fit each argument whatever the value is: a call whose arguments are all of
    # types seen before costs a look into a set for each.
    known: dict[str, set[type]] = {n: set() for n in names}
    in_order = tuple(known.values())
    ready = False

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for types_, value in zip(in_order, args):  # noqa: B905 - strict costs time, for nothing
            if type(value) not in types_:
                return careful(*args, **kwargs)
        for key in kwargs:
            if type(kwargs[key]) not in known.get(key, ()):
                return careful(*args, **kwargs)
        try:
            return function(*args, **kwargs)
        except Exception as fault:
            if (error := of_arrays(fault, args, kwargs)) is None:
                raise
            raise error from fault

    def careful(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        nonlocal ready
        if not ready:
            # Not before the first call: names in annotations may be imported late.
            annotations = {n: t for n, t in function.__annotations__.items() if n != "return"}
            kinds.update(kinds_of(annotations, function.__globals__))
            ready = True
        for key, value in chain(zip(names, args, strict=False), kwargs.items()):
            if type(value) in known.get(key, ()):
                continue
            kind = kinds.get(key)
            if kind is not None and not (kind.fits(value) and kind.stays(value)):
                break
            if key in known and (kind is None or kind.settled(value)):
                known[key].add(type(value))
        else:
            try:
                return function(*args, **kwargs)
            except Exception as fault:
                if (error := of_arrays(fault, args, kwargs)) is None:
                    raise
                raise error from fault
        given: Any = [_kept(kinds.get(key), value) for key, value in zip(names, args, strict=False)]
        named: Any = {key: _kept(kinds.get(key), value) for key, value in kwargs.items()}
        given += args[len(given) :]
        everything = {**dict(zip(names, given, strict=False)), **named}
        if all(kinds[key].fits(value) for key, value in everything.items() if key in kinds):
            return function(*given, **named)
        raise _error(name, kinds, everything)

    def of_arrays(fault: Exception, args: Any, kwargs: Any) -> InvalidArgumentError | None:
        return _array_error(function, {**dict(zip(names, args, strict=False)), **kwargs}, fault)

    return call


_OF_NAMES = (LookupError, InvalidArgumentError)
"""Errors that functions within may raise for what is not theirs to name."""


def checked_if_it_fails(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function whose errors tell of arguments of the wrong type, if that is why.

    For what is called in inner loops: nothing is looked at while all goes well, so that a wrong
    argument that does no harm is not noticed.

    Raises
    ------
    InvalidArgumentError
        Instead of an error of Python's, or of a name that is not found, if an argument is of
        the wrong type.
    """
    names = tuple(inspect.signature(function).parameters)

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except Exception as fault:
            if isinstance(fault, BnmindError) and not isinstance(fault, _OF_NAMES):
                raise  # it has judged the value, and says more
            annotations = {n: t for n, t in function.__annotations__.items() if n != "return"}
            kinds = kinds_of(annotations, function.__globals__)
            given = {**dict(zip(names, args, strict=False)), **kwargs}
            if not all(kinds[key].fits(value) for key, value in given.items() if key in kinds):
                raise _error(function.__qualname__, kinds, given) from fault
            if (error := _array_error(function, given, fault)) is None:
                raise
            raise error from fault

    return call


def _array_error(
    function: Any, given: Mapping[str, Any], fault: Exception
) -> InvalidArgumentError | None:
    """Return the error of an argument that is no array, though annotated as one, if there is one.

    Arrays are not looked at before a function has failed: that would take time.
    """
    if isinstance(fault, BnmindError):
        return None
    for name, annotation in function.__annotations__.items():
        if name in given and name != "return":
            numbers = numbers_of(evaluated(annotation, function.__globals__))
            if numbers is not None and not holds(given[name], numbers):
                return InvalidArgumentError(
                    f"{function.__qualname__}: expected {name} as {numbers.described}, got"
                    f" {told(given[name])}",
                    given[name],
                )
    return None


def _kept(kind: Kind | None, value: Any) -> Any:
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


def positions(which: Any, n: int, what: str) -> NDArray[np.intp]:
    """Return the rows that positions or a mask stand for, among ``n``.

    Raises
    ------
    InvalidArgumentError
        If they are no whole numbers of rows that there are, and no truth value for each.

    Examples
    --------
    >>> positions([True, False, True], 3, "examinees").tolist()
    [0, 2]
    """
    try:
        found = np.asarray(which)
        if found.ndim == 1 and (not found.size or found.dtype.kind in "iub"):
            return np.arange(n)[found if found.size else []]
    except (ValueError, IndexError):
        pass
    message = f"expected {what} as positions below {n} or a truth value each, got {told(which)}"
    raise InvalidArgumentError(message, which)


def check_shape(array: NDArray[Any], what: str, shape: tuple[int, ...]) -> None:
    """Raise `InvalidArgumentError` unless an array has a shape.

    >>> check_shape(np.zeros(3), "luck", (2,))
    Traceback (most recent call last):
    bnmind.errors.InvalidArgumentError: expected luck of shape (2,), got shape (3,)
    """
    if np.shape(array) != shape:
        message = f"expected {what} of shape {shape}, got shape {np.shape(array)}"
        raise InvalidArgumentError(message, array)


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
    message = f"expected {what} as an array of {expected}, got {told(value)}"
    raise InvalidArgumentError(message, value)


def check_fields(instance: Any) -> None:
    """Refuse fields of a dataclass that are of the wrong type, called by its constructor.

    Raises
    ------
    InvalidArgumentError
        If some are; all of them at once.
    """
    kind: type = type(instance)
    kinds = _field_kinds(kind)
    for name, (expected, known) in kinds.items():
        value = getattr(instance, name)
        if type(value) not in known:
            if not expected.stays(value):
                value = tuple(value)
                object.__setattr__(instance, name, value)
            if not expected.fits(value):
                expectations = {n: kinds[n][0] for n in kinds}
                raise _error(kind.__name__, expectations, {n: getattr(instance, n) for n in kinds})
            if expected.settled(value):
                known.add(type(value))


@cache
def _field_kinds(kind: type) -> dict[str, tuple[Kind, set[type]]]:
    """Return what each field may be, and the types that fit whatever the value is."""
    kinds: dict[str, Kind] = {}
    for base in reversed(kind.__mro__[:-1]):
        annotations = inspect.get_annotations(base)
        names = vars(sys.modules[base.__module__])
        kinds |= kinds_of(annotations, names)
        if "__post_init__" not in vars(base):  # else it reads its arrays itself
            kinds |= _array_kinds(annotations, names)
    return {name: (expected, set()) for name, expected in kinds.items() if name in _fields(kind)}


def _array_kinds(annotations: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Kind]:
    """Return what fields that are arrays may be: lists too, and numbers of every kind."""
    found = {}
    for name, annotation in annotations.items():
        numbers = numbers_of(evaluated(annotation, names))
        if numbers is not None:
            # Lists become arrays, and fractions where none belong have messages of their own.
            kinds = "biuf" if numbers.kinds in ("b", "iu") else numbers.kinds
            fits = partial(_may_be_array, numbers._replace(kinds=kinds, is_array=False))
            found[name] = Kind(fits, numbers.described, settled=lambda _: False)
    return found


def _may_be_array(numbers: Numbers, value: Any) -> bool:
    return holds(value, numbers)


def _fields(kind: Any) -> Mapping[str, Any]:
    found: Mapping[str, Any] = kind.__dataclass_fields__
    return found


def _error(owner: str, kinds: Mapping[str, Kind], given: Mapping[str, Any]) -> InvalidArgumentError:
    faults = {
        name: value
        for name, value in given.items()
        if name in kinds and not kinds[name].fits(value)
    }
    message = "; ".join(
        f"expected {name} to be {kinds[name].described}, got {told(value)}"
        for name, value in faults.items()
    )
    return InvalidArgumentError(f"{owner}: {message}", next(iter(faults.values())))
