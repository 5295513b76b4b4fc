"""Checks of the types of arguments.

`checked` decorates public functions and methods. It reads the annotations once for each function,
so the signature is the only place that defines the types. Functions themselves check the values,
such as shapes and names, and all properties of arrays.
"""

from __future__ import annotations

import inspect
import math
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import close_names, did_you_mean
from bnmind._values import Converter, array_kind, converter, evaluated, misfits, told
from bnmind.errors import BnmindError, InvalidArgumentError

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
    kinds: dict[str, Converter] = {}
    # The types whose values all fit, for each argument. A call with only known types costs one set
    # lookup for each argument.
    known: dict[str, set[type]] = {n: set() for n in names}
    in_order = tuple(known.values())

    @wraps(function)
    def call(*args: _P.args, **kwargs: _P.kwargs) -> _R:
        for types_, value in zip(in_order, args):  # noqa: B905 - strict costs time, for nothing
            if type(value) not in types_:
                return careful(*args, **kwargs)
        for key in kwargs:
            if type(kwargs[key]) not in known.get(key, ()):
                return careful(*args, **kwargs)
        return run(args, kwargs)

    def run(args: Any, kwargs: Any) -> _R:
        try:
            return function(*args, **kwargs)
        except Exception as fault:
            if type(fault) is TypeError and len(args) > n_positional:
                raise _too_many(name, names, n_positional, len(args)) from fault
            if (error := _array_error(function, _named(names, args, kwargs), fault)) is None:
                raise
            raise error from fault

    def careful(*args: Any, **kwargs: Any) -> _R:
        if not takes_all:
            for key in kwargs:
                if key not in known:
                    raise _unknown_keyword(function, key, names)
        if not kinds:
            # At the first call, because names in annotations may be imported late.
            kinds.update(_kinds_of(function))
        given = _named(names, args, kwargs)
        wrong = {}
        for key, value in given.items():
            kind = kinds.get(key)
            if kind is None or type(value) in known[key]:
                if key in known:
                    known[key].add(type(value))
                continue
            if isinstance(value, Iterator):
                given[key] = value = tuple(value)  # it can be inspected only once
            if not kind.fits(value):
                wrong[key] = kind, value
            elif kind.is_settled(value):
                known[key].add(type(value))
        if wrong:
            raise misfits(name, wrong)
        first = [given.pop(key) for key, _ in zip(names, args, strict=False)]
        return run((*first, *args[len(first) :]), given)

    return call


def _named(names: Sequence[str], args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a call by the names of the parameters."""
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _kinds_of(function: Any) -> dict[str, Converter]:
    """Return what the parameters of a function allow."""
    return {
        name: converter(evaluated(annotation, function.__globals__), freeze=False)
        for name, annotation in function.__annotations__.items()
        if name != "return"
    }


def _n_positional(parameters: Iterable[inspect.Parameter]) -> float:
    """Return how many arguments may be given by position."""
    kinds = [one.kind for one in parameters]
    if inspect.Parameter.VAR_POSITIONAL in kinds:
        return math.inf
    return sum(kind <= inspect.Parameter.POSITIONAL_OR_KEYWORD for kind in kinds)


def _too_many(function: str, names: Sequence[str], most: float, got: int) -> TypeError:
    """Return the error of Python, with an argument that has to be named."""
    text = f"{function}() takes {most:g} positional argument{'' if most == 1 else 's'}, got {got}"
    others = [name for name in names[int(most) :] if name]
    return TypeError(f"{text}; name the others, as in {others[0]}=…" if others else text)


def _unknown_keyword(function: Any, key: str, names: tuple[str, ...]) -> TypeError:
    """Return the error of Python, with the argument that may be meant."""
    question = did_you_mean(close_names(key, names))
    for name in names:
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
            given, kinds = _named(names, args, kwargs), _kinds_of(function)
            wrong = {
                name: (kinds[name], value)
                for name, value in given.items()
                if name in kinds and not kinds[name].fits(value)
            }
            found = misfits(function.__qualname__, wrong) if wrong else None
            if (error := found or _array_error(function, given, fault)) is None:
                raise
            raise error from fault

    return call


def _array_error(function: Any, given: Mapping[str, Any], fault: Exception) -> BnmindError | None:
    """Return the error of an argument that should be an array and is not; None if there is none.

    To save time, arrays are checked only after a function has failed.
    """
    if isinstance(fault, BnmindError):
        return None
    for name, annotation in function.__annotations__.items():
        if name in given and name != "return":
            kind = array_kind(evaluated(annotation, function.__globals__))
            if kind is not None and not kind.fits(given[name]):
                return misfits(function.__qualname__, {name: (kind, given[name])})
    return None


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
