"""Checks of the types of arguments.

`checked` decorates public functions and methods, and the constructors of public dataclasses call
`check_fields` first. Both read the annotations once for each function or class, so the signature is
the only place that defines the types. Functions themselves check the values, such as ranges, shapes
and names, and all properties of arrays.
"""

from __future__ import annotations

import inspect
import math
import sys
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial, wraps
from itertools import chain
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnmind._argument_kinds import Kind, Numbers, evaluated, holds, kinds_of, numbers_of, told
from bnmind._messages import close_names, did_you_mean
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
    """Return a function that rejects arguments of the wrong type.

    Raises
    ------
    InvalidArgumentError
        When the function is called. The error lists all faulty arguments.

    Examples
    --------
    >>> @checked
    ... def half(number: int) -> float:
    ...     return number / 2
    >>> half("ten")
    Traceback (most recent call last):
    bnmind.errors.InvalidArgumentError: half: expected number to be a whole number, got 'ten'
    """
    parameters = inspect.signature(function).parameters
    names = tuple(parameters)
    n_positional = _n_positional(parameters.values())
    takes_all = any(one.kind is inspect.Parameter.VAR_KEYWORD for one in parameters.values())
    name = function.__qualname__
    kinds: dict[str, Kind] = {}
    # The types whose values all fit, for each argument. A call with only known types costs one set
    # lookup for each argument.
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
        if not takes_all:
            for key in kwargs:
                if key not in known:
                    raise _unknown_keyword(function, key, names)
        if not ready:
            # At the first call, because names in annotations may be imported late.
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
        positional: Any = [
            _kept(kinds.get(key), value) for key, value in zip(names, args, strict=False)
        ]
        named: Any = {key: _kept(kinds.get(key), value) for key, value in kwargs.items()}
        positional += args[len(positional) :]
        everything = {**dict(zip(names, positional, strict=False)), **named}
        if all(kinds[key].fits(value) for key, value in everything.items() if key in kinds):
            return function(*positional, **named)
        raise _error(name, kinds, everything)

    def of_arrays(fault: Exception, args: Any, kwargs: Any) -> Exception | None:
        if type(fault) is TypeError and len(args) > n_positional:
            return _too_many(name, names, n_positional, len(args))
        return _array_error(function, {**dict(zip(names, args, strict=False)), **kwargs}, fault)

    return call


def _n_positional(parameters: Iterable[inspect.Parameter]) -> float:
    """Return how many arguments may be given by position."""
    kinds = [one.kind for one in parameters]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return math.inf
    return sum(
        kind in (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
        for kind in kinds
    )


def _too_many(function: str, names: Sequence[str], most: float, got: int) -> TypeError:
    """Return the error of Python, with an argument that has to be named."""
    text = f"{function}() takes {most:g} positional argument{'' if most == 1 else 's'}, got {got}"
    others = [name for name in names[int(most) :] if name]
    return TypeError(f"{text}; name the others, as in {others[0]}=…" if others else text)


_TWINS = {
    "about": ("targets", "target"),
    "evidence": ("given",),
    "given": ("evidence",),
    "max_guesses": ("ending",),
    "n_jobs": ("workers",),
    "q_matrix": ("model",),
    "qmatrix": ("q_matrix", "model"),
    "random_state": ("rng", "seed"),
    "rng": ("seed",),
    "seed": ("rng",),
    "target": ("targets", "about"),
    "targets": ("about", "target"),
    "variables": ("targets",),
}
"""Arguments that have another name in another function, or in another program."""


def _unknown_keyword(function: Any, key: str, names: tuple[str, ...]) -> TypeError:
    """Return the error of Python, with the argument that may be meant."""
    twins = tuple(name for name in _TWINS.get(key, ()) if name in names)[:1]
    question = did_you_mean(twins or close_names(key, names))
    for name in () if twins else names:
        kind = evaluated(function.__annotations__.get(name), function.__globals__)
        for one in (kind, *typing.get_args(kind)):
            if name == "options" and key in getattr(one, "__dataclass_fields__", {}):
                question = f"it is an option, options={one.__name__}({key}=…)"
    text = f"{function.__qualname__}() got an unexpected keyword argument {key!r}"
    return TypeError(f"{text}; {question}" if question else text)


_OF_NAMES = (LookupError, InvalidArgumentError)
"""Errors that inner functions may raise without naming the argument of the outer one."""


def checked_if_it_fails(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """Return a function that checks the types of its arguments only after an error.

    Use it for functions in inner loops. It does not detect wrong arguments that cause no error.

    Raises
    ------
    InvalidArgumentError
        Instead of an error of Python, or of an unknown name, if an argument has the wrong type.
    """
    names = tuple(inspect.signature(function).parameters)

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        try:
            return function(*args, **kwargs)
        except Exception as fault:
            if isinstance(fault, BnmindError) and not isinstance(fault, _OF_NAMES):
                raise  # this error is more specific
            annotations = {n: t for n, t in function.__annotations__.items() if n != "return"}
            kinds = kinds_of(annotations, function.__globals__)
            arguments = {**dict(zip(names, args, strict=False)), **kwargs}
            if not all(kinds[key].fits(value) for key, value in arguments.items() if key in kinds):
                raise _error(function.__qualname__, kinds, arguments) from fault
            if (error := _array_error(function, arguments, fault)) is None:
                raise
            raise error from fault

    return call


def _array_error(
    function: Any, given: Mapping[str, Any], fault: Exception
) -> InvalidArgumentError | None:
    """Return the error of an argument that should be an array and is not; None if there is none.

    To save time, arrays are checked only after a function has failed.
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
    """Return an argument; an iterator as a tuple."""
    return value if kind is None or kind.stays(value) else tuple(value)


def number_array(value: Any, what: str) -> NDArray[np.float64]:
    """Return real numbers as an array of float64, without a copy if they are one.

    Raises
    ------
    InvalidArgumentError
        If they are not such numbers; ``what`` names them in the message.

    Examples
    --------
    >>> number_array([1, 2], "the scores").tolist()
    [1.0, 2.0]
    """
    return _array(value, what, np.float64, "biuf", "numbers")


def whole_array(value: Any, what: str) -> NDArray[np.intp]:
    """Return whole numbers as an array of intp; see `number_array`."""
    return _array(value, what, np.intp, "iu", "whole numbers")


def positions(which: Any, n: int, what: str) -> NDArray[np.intp]:
    """Return the rows that positions or a mask select among ``n`` rows.

    Raises
    ------
    InvalidArgumentError
        If they are neither positions of rows nor a truth value for each row.

    Examples
    --------
    >>> positions([True, False, True], 3, "examinees").tolist()
    [0, 2]
    """
    try:
        rows = np.asarray(which)
        if rows.ndim == 1 and (not rows.size or rows.dtype.kind in "iub"):
            return np.arange(n)[rows if rows.size else []]
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
        array = np.asarray(value)
        # An empty list has no element type.
        if not array.size or array.dtype.kind in kinds:
            return array.astype(kind, copy=False)
    except (TypeError, ValueError, OverflowError):
        pass
    message = f"expected {what} as an array of {expected}, got {told(value)}"
    raise InvalidArgumentError(message, value)


def check_fields(instance: Any) -> None:
    """Check the types of the fields of a dataclass in its constructor.

    Raises
    ------
    InvalidArgumentError
        If a field has the wrong type. The error lists all such fields.
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
    """Return the allowed values of each field, and the types whose values all fit."""
    kinds: dict[str, Kind] = {}
    for base in reversed(kind.__mro__[:-1]):
        annotations = inspect.get_annotations(base)
        names = vars(sys.modules[base.__module__])
        kinds |= kinds_of(annotations, names)
        if "__post_init__" not in vars(base):  # otherwise it checks its arrays itself
            kinds |= _array_kinds(annotations, names)
    return {name: (expected, set()) for name, expected in kinds.items() if name in _fields(kind)}


def _array_kinds(annotations: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Kind]:
    """Return the allowed values of fields that are arrays, including lists."""
    array_kinds = {}
    for name, annotation in annotations.items():
        numbers = numbers_of(evaluated(annotation, names))
        if numbers is not None:
            # Lists become arrays; the constructor reports fractions in place of whole numbers.
            kinds = "biuf" if numbers.kinds in ("b", "iu") else numbers.kinds
            fits = partial(_may_be_array, numbers._replace(kinds=kinds, is_array=False))
            array_kinds[name] = Kind(fits, numbers.described, settled=lambda _: False)
    return array_kinds


def _may_be_array(numbers: Numbers, value: Any) -> bool:
    return holds(value, numbers)


def _fields(kind: Any) -> Mapping[str, Any]:
    fields: Mapping[str, Any] = kind.__dataclass_fields__
    return fields


def _error(owner: str, kinds: Mapping[str, Kind], given: Mapping[str, Any]) -> InvalidArgumentError:
    faults = {
        name: value
        for name, value in given.items()
        if name in kinds and not kinds[name].fits(value)
    }
    message = "; ".join(
        f"expected {name} to be {kinds[name].described}, got {told(value)}"
        + _part(kinds[name], value)
        for name, value in faults.items()
    )
    return InvalidArgumentError(f"{owner}: {message}", next(iter(faults.values())))


def _part(kind: Kind, value: Any) -> str:
    """Return a hint at the part of an object that is meant, such as the bank that was learned."""
    if type(value).__module__.startswith("bnmind."):
        for name in ("bank", "network"):
            if kind.fits(getattr(value, name, None)) and not kind.fits(None):
                return f"; its {name} is one, .{name}"
    return ""
