"""Immutable dataclasses, whose fields are checked, converted and frozen by their annotations.

`converter` compiles an annotation to a function that checks a value and returns it in the form in
which it is kept: lists as tuples, mappings as read-only ones, arrays as read-only arrays of the
declared type, scalars of NumPy as those of Python. Ranges stand in the annotation, as in
``Annotated[int, Ge(1)]``; a function in it changes what fits. `Value` converts each field so, once,
in its constructor. Lengths that must agree are said by `Shape`, what else relates several fields by
`Value._faults`. `Sealed` is for values that only the library makes.
"""

from __future__ import annotations

import collections.abc
import math
import operator
import os
import sys
import types
import typing
from collections import deque
from collections.abc import Callable, Iterable, Iterator, KeysView, Mapping, Sequence, ValuesView
from dataclasses import fields
from enum import StrEnum
from functools import cache
from inspect import get_annotations
from numbers import Integral, Real
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np
from annotated_types import Ge, Gt, Le, Lt, MinLen
from numpy.typing import ArrayLike, NDArray

from bnmind._display import outline, outline_html
from bnmind._messages import shown
from bnmind.errors import InvalidArgumentError, InvalidModelError

_Type = TypeVar("_Type", bound=np.generic)
_Kind = TypeVar("_Kind")
_Key = TypeVar("_Key")
_Part = TypeVar("_Part")


class Bounded(NamedTuple):
    """A constraint of an annotation: numbers that are not larger, and so finite."""

    most: float


class Must(NamedTuple):
    """A constraint of an annotation: what fits passes a test, which the words describe."""

    words: str
    test: Callable[[Any], Any]


class Shape:
    """A constraint of a field: each axis is as long as another part of the value, given by a path.

    The field's own name stands for any length.
    """

    def __init__(self, *paths: str) -> None:
        self._paths = paths
        self.roots = frozenset([path.partition(".")[0] for path in paths])
        self._parts = [operator.attrgetter(path) for path in paths]

    def fault(self, owner: Any, name: str) -> str | None:
        """Return what is wrong with the shape of a field, unless it is None."""
        wanted, part = tuple([_length(find(owner)) for find in self._parts]), getattr(owner, name)
        found = part.shape if isinstance(part, np.ndarray) else (_length(part),)
        if found == wanted or part is None:
            return None
        here, paths = f"{type(owner).__name__}: expected", " by ".join(self._paths)
        if len(found) == len(wanted) == 1:
            return f"{here} {wanted[0]:,} values in {name}, as many as {paths}, got {found[0]:,}"
        return f"{here} {name} of shape {wanted}, {paths}, got {found}"


def _length(part: Any) -> int:
    if isinstance(part, int):
        return part
    if isinstance(part, np.ndarray):
        return part.shape[0] if part.ndim else 1
    return len(part or ())


def chances(*, each: str = "", within: float = 1e-9) -> Must:
    """Return a constraint: numbers of at least 0 with a sum of one; of an array, in each row."""

    def test(value: Any) -> Any:
        if isinstance(value, np.ndarray):
            is_fit = value.ndim > 0 and value.min(initial=0) >= 0
            return is_fit and abs(value.sum(axis=-1) - 1) <= within
        return min(value, default=-1) >= 0 and abs(math.fsum(value) - 1) <= within

    return Must(f", none negative, that sum to 1{each}", test)


Finite = Bounded(sys.float_info.max)
"""No infinite numbers."""
Distinct = Must(", all different", lambda value: len(set(value)) == len(value))
"""A sequence of parts that are all different."""
Filled = Must(", at least one", lambda array: array.size > 0)
"""An array that is not empty."""
Chances = chances()
"""Numbers of at least 0 with a sum of one."""
Raw = Must("", bool)
"""A field that its class converts itself, because it knows a better message."""

Natural = Annotated[int, Ge(0)]
Count = Annotated[int, Ge(1)]
Probability = Annotated[float, Ge(0), Le(1)]
Positive = Annotated[float, Gt(0), Finite]
NonNegative = Annotated[float, Ge(0), Finite]

# --- Frozen values --------------------------------------------------------------------------------


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
        return lambda value, own: _same(value, [frozen(part, own=own) for part in value])
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


def _same(value: Any, parts: Sequence[Any]) -> Any:
    """Return a tuple of these parts: the value itself if it is one, of its class in any case."""
    kind: Any = type(value)
    if issubclass(kind, tuple):
        if len(value) == len(parts) and all(map(operator.is_, parts, value)):
            return value
        if hasattr(kind, "_make"):
            return kind._make(parts)
    return tuple(parts)


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


# --- Annotations ----------------------------------------------------------------------------------

_MISFIT: Any = type("_Misfit", (), {})()
"""What a converter returns for a value that does not fit."""


class Converter(NamedTuple):
    """What an annotation allows."""

    convert: Callable[[Any], Any]
    """Return the form in which a value is kept, or what `misfits` knows."""
    words: str
    """The allowed values, as in "expected seed to be …"."""
    is_settled: Callable[[Any], bool] = lambda _: False
    """Whether all values of the type of a fitting value fit too, and stay as they are."""
    culprit: Callable[[Any], str] | None = None
    """Return which element of an array does not fit, in words."""

    def fits(self, value: Any) -> bool:
        """Return whether a value is allowed."""
        return self.convert(value) is not _MISFIT


def evaluated(annotation: Any, names: Mapping[str, Any]) -> Any:
    """Return the type of an annotation; `Any` if it is imported only for type checkers."""
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, dict(names))  # the module's own annotation
        except (NameError, TypeError):
            return Any
    return annotation


def _unfolded(annotation: Any) -> Any:
    """Return the type behind a name that a `type` statement gave it, as NumPy 2.5 does."""
    while type(alias := typing.get_origin(annotation) or annotation).__name__ == "TypeAliasType":
        parts = typing.get_args(annotation)
        annotation = alias.__value__[parts] if parts else alias.__value__
    return annotation


def _members(union: Any) -> list[Any]:
    """Return the types of a union, and those of the unions in it."""
    if typing.get_origin(union := _unfolded(union)) in (typing.Union, types.UnionType):
        return [member for part in typing.get_args(union) for member in _members(part)]
    return [union]


_ARRAY_LIKE = frozenset(_members(ArrayLike))
"""The types whose union is `numpy.typing.ArrayLike`."""
_SCALARS: Mapping[Any, tuple[Any, str]] = {
    int: (Integral, "a whole number"),
    float: (Real, "a number"),
    bool: ((bool, np.bool_), "True or False"),
    str: (str, "text"),
    type(None): (type(None), "None"),
}
_ARRAYS: tuple[tuple[type, str, str], ...] = (
    (np.bool_, "b", "an array of True and False"),
    (np.integer, "iu", "an array of whole numbers"),
    (np.floating, "biuf", "an array of numbers"),
    (np.str_, "U", "an array of texts"),
    (np.generic, "biufc", "an array of numbers"),
)
_CONCRETE: tuple[Any, ...] = (
    *(np.bool_, np.int8, np.int16, np.int32, np.int64, np.intp, np.uint8, np.float64, np.uint64),
    np.complex128,
)
_NAMES: Mapping[Any, str] = {
    os.PathLike: "a path",
    np.random.Generator: "a random generator such as numpy.random.default_rng(1)",
}
_EXAMPLES: Mapping[str, str] = {
    "BeliefView": "belief_view(network, posterior)",
    "Board": "Board(4, 6)",
    "Channel": "Channel.false_reply(board, 0.2)",
    "CodeMaker": "CodeMaker.from_seed(channel, 0)",
    "Experiment": 'read_experiment("noise.toml")',
    "HasBank": "learn(responses, q_matrix)",
    "ItemBank": 'read_bank("bank.json")',
    "IrtModel": 'IRT_MODELS["2PL"]',
    "Responses": "Responses.drawn(bank, 1000, seed=1)",
    "Selector": "MinimalEntropy()",
    "Stopper": "MaximalItems(20)",
    "Strategy": "Entropy()",
}
"""Values of classes, for users who give a name or a number instead."""
_MAKERS: Mapping[str, str] = {"ResponseModel": "a response model such as Gdina (a class)"}
"""Functions, by the name of the class of what they return."""
_INTERVALS: Mapping[str, str] = {
    "ge": "of at least {}",
    "gt": "above {}",
    "le": "of at most {}",
    "lt": "below {}",
    "ge le": "from {} to {}",
    "ge lt": "in [{}, {})",
    "gt le": "in ({}, {}]",
    "gt lt": "between {} and {}",
}
"""Intervals in words, by the kinds of their ends."""
_FREE = Converter(frozen, "anything")
_UNCHECKED = Converter(lambda value: value, "anything", lambda _: True)


@cache
def converter(annotation: Any, *, freeze: bool = True) -> Converter:
    """Return what an annotation allows.

    Parameters
    ----------
    annotation
        A type, with constraints in `typing.Annotated`. Ranges are those of `annotated_types`.
    freeze
        Whether values are converted and arrays are checked, as fields are. Arguments are only
        checked, and iterators become tuples; their arrays are checked if the function fails.

    Examples
    --------
    >>> converter(Annotated[int, Ge(1)]).words, converter(list[float] | None).convert([1, 2])
    ('a whole number of at least 1', (1.0, 2.0))
    """
    annotation = _unfolded(annotation)
    marks: Sequence[Any] = ()
    if typing.get_origin(annotation) is Annotated:
        annotation, *marks = typing.get_args(annotation)
        annotation = _unfolded(annotation)
    if Raw in marks:
        return _UNCHECKED
    marks = [mark for mark in marks if not isinstance(mark, Shape)]
    found = _plain(type(None) if annotation is None else annotation, freeze=freeze)
    is_array = typing.get_origin(annotation) is np.ndarray
    is_array |= _ARRAY_LIKE.issubset(_members(annotation))
    return _within(found, marks, is_array=is_array) if marks else found


def _plain(annotation: Any, *, freeze: bool) -> Converter:
    """Return what an annotation without constraints allows."""
    anything = _FREE if freeze else _UNCHECKED
    if annotation in (Any, object):
        return anything
    if annotation in _SCALARS:
        return _scalar(annotation, freeze=freeze)
    if isinstance(annotation, TypeVar) and annotation.__bound__ is not None:
        return converter(annotation.__bound__, freeze=freeze)
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        members = _members(annotation)
        if _ARRAY_LIKE.issubset(members):
            arrays = _array(np.dtype[np.float64]) if freeze else anything
            none = [_scalar(type(None), freeze=freeze)] if type(None) in members else []
            return _any_of([arrays, *none]) if freeze else anything
        found = [converter(member, freeze=freeze) for member in members]
        return anything if anything in found else _any_of(found)
    if origin is np.ndarray:
        return _array(parts[1]) if freeze else anything
    if origin is collections.abc.Callable:
        words = _MAKERS.get(getattr(parts[-1], "__name__", "") if parts else "", "a function")
        return Converter(lambda value: value if callable(value) else _MISFIT, words)
    kind = origin or annotation
    if not isinstance(kind, type) or kind.__module__.startswith("numpy._typing"):
        return anything
    if parts and issubclass(kind, Mapping):
        return _mapping(*(converter(part, freeze=freeze) for part in parts), freeze=freeze)
    if parts and issubclass(kind, tuple) and parts[-1] is not Ellipsis:
        return _fixed([converter(part, freeze=freeze) for part in parts], freeze=freeze)
    if parts and issubclass(kind, Iterable) and not getattr(kind, "_is_protocol", False):
        return _sequence(kind, converter(parts[0], freeze=freeze), freeze=freeze)
    return _instance(kind, freeze=freeze)


def _scalar(kind: Any, *, freeze: bool) -> Converter:
    allowed, words = _SCALARS[kind]
    numeric, to_float = kind in (int, float), freeze and kind is float

    def convert(value: Any) -> Any:
        if type(value) is kind:
            return value
        if not isinstance(value, allowed) or (numeric and isinstance(value, bool)):
            return _MISFIT
        if to_float:
            try:
                return float(value)
            except OverflowError:
                return _MISFIT
        return value.item() if isinstance(value, np.generic) else value

    return Converter(convert, words, lambda value: not isinstance(value, np.generic))


def _within(found: Converter, marks: Iterable[Any], *, is_array: bool) -> Converter:
    """Return the values of a type that meet constraints; of an array, each element does."""
    tests: list[tuple[Callable[[Any, Any], bool], Any]] = []
    changes: list[Callable[[Any], Any]] = []
    ends: dict[str, Any] = {}
    words, more = found.words, ""
    for mark in marks:
        match mark:
            case Ge() | Gt() | Le() | Lt():
                kind = type(mark).__name__.lower()
                ends[kind] = end = getattr(mark, kind)
                tests.append((getattr(operator, kind), end))
            case MinLen(min_length=least):
                tests.append((lambda value, least: len(value) >= least, least))
                words += ", at least one" if least == 1 else f", at least {least}"
            case Bounded(most=most):
                tests.append((lambda value, most: abs(value) <= most, most))
                words = words.replace("a number", "a finite number")
                words = words.replace("of numbers", "of finite numbers")
            case Must(words=text, test=test):
                tests.append((lambda value, test: test(value), test))
                more += text
            case _ if callable(mark):
                changes.append(mark)
    if ends:
        texts = {kind: f"{end:,}" if type(end) is int else f"{end}" for kind, end in ends.items()}
        low_first = sorted(texts)
        interval = _INTERVALS[" ".join(low_first)]
        words = f"{words} {interval.format(*[texts[kind] for kind in low_first])}"
    every: Callable[[Any], bool] = _every if is_array else bool

    def convert(value: Any) -> Any:
        done = found.convert(value)
        if done is _MISFIT:
            return done
        for test, end in tests:
            if not every(test(done, end)):
                return _MISFIT
        for change in changes:
            done = change(done)
        return done

    def culprit(value: Any) -> str:
        done = found.convert(value)
        kept = () if done is _MISFIT else [np.asarray(test(done, end)) for test, end in tests]
        wrong = [one for fits in kept if fits.shape == done.shape for one in done[~fits].tolist()]
        return f"{shown(wrong[0])} in it" if wrong else told(value)

    return Converter(convert, words + more, culprit=culprit if is_array else None)


def _every(fits: Any) -> bool:
    """Return whether each element of a mask, or the one truth value, is true."""
    return bool(fits.all()) if isinstance(fits, np.ndarray) else bool(fits)


def _any_of(found: Sequence[Converter]) -> Converter:
    def convert(value: Any) -> Any:
        for one in found:
            if (done := one.convert(value)) is not _MISFIT:
                return done
        return _MISFIT

    def is_settled(value: Any) -> bool:
        return any(one.fits(value) and one.is_settled(value) for one in found)

    words = " or ".join(dict.fromkeys(one.words for one in found))
    culprit = next((one.culprit for one in found if one.culprit), None)
    return Converter(convert, words, is_settled, culprit)


def _array(declared: Any) -> Converter:
    """Return the arrays of a declared type, and what is converted to them without a loss."""
    kind = next(iter(typing.get_args(declared)), np.generic)
    kind = typing.get_origin(kind) or kind
    kind = kind if isinstance(kind, type) else np.generic
    kinds, words = next((k, w) for base, k, w in _ARRAYS if issubclass(kind, base))
    # Abstract types such as `numpy.integer` name no type of elements.
    dtype: np.dtype[Any] | None = np.dtype(kind) if kind in _CONCRETE else None

    def convert(value: Any) -> Any:
        try:
            array = np.asarray(value)
            if array.size and array.dtype.kind not in kinds:
                return _MISFIT
            if kind is np.inexact:
                wide = np.complex128 if array.dtype.kind == "c" else np.float64
                done = np.asarray(array, dtype=wide, order="C")
                return _read_only(array) if done is array else sealed(done)
            if dtype is not None and array.dtype != dtype:
                done = array.astype(dtype)
                is_exact = dtype.kind not in "iu" or np.can_cast(array.dtype, dtype)
                return sealed(done) if is_exact or np.array_equal(done, array) else _MISFIT
        except (TypeError, ValueError, OverflowError):
            return _MISFIT
        return _read_only(array)

    return Converter(convert, words)


def array_kind(annotation: Any) -> Converter | None:
    """Return the arrays that the annotation of an argument allows; None for other annotations."""
    members = _members(annotation)
    declared = [typing.get_args(one)[1] for one in members if typing.get_origin(one) is np.ndarray]
    likes = _ARRAY_LIKE.issubset(members)
    if not (declared or likes):
        return None
    found = _array(np.dtype[np.floating[Any]] if likes else declared[0])

    def convert(value: Any) -> Any:
        if value is None and type(None) in members:
            return value
        return found.convert(value) if likes or isinstance(value, np.ndarray) else _MISFIT

    return found._replace(convert=convert)


def _mapping(keys: Converter, values: Converter, *, freeze: bool) -> Converter:
    def convert(value: Any) -> Any:
        if not isinstance(value, Mapping):
            return _MISFIT
        done = {keys.convert(key): values.convert(part) for key, part in value.items()}
        if _MISFIT in done or any(part is _MISFIT for part in done.values()):
            return _MISFIT
        if not freeze or (
            type(value) is ReadOnlyDict and all(map(operator.is_, done.values(), value.values()))
        ):
            return value
        return ReadOnlyDict(done)

    known = "anything" not in (keys.words, values.words)
    words = f"a mapping from {keys.words} to {values.words}" if known else "a mapping"
    return Converter(convert, words)


def _fixed(parts: Sequence[Converter], *, freeze: bool) -> Converter:
    """Return the tuples of a fixed length."""

    def convert(value: Any) -> Any:
        if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray):
            return _MISFIT
        if (isinstance(value, np.ndarray) and not value.ndim) or len(value) != len(parts):
            return _MISFIT
        done = [one.convert(part) for one, part in zip(parts, value, strict=True)]
        if any(part is _MISFIT for part in done):
            return _MISFIT
        return _same(value, done) if freeze else value

    words = dict.fromkeys(one.words for one in parts)
    each = f"each {parts[0].words}" if len(words) == 1 else " and ".join(one.words for one in parts)
    return Converter(convert, f"{len(parts)} values, {each}")


def _sequence(kind: type, part: Converter, *, freeze: bool) -> Converter:
    ordered, is_set = issubclass(kind, Sequence), issubclass(kind, collections.abc.Set)
    to_tuple = issubclass(kind, tuple)
    known: set[type] = set()

    def convert(value: Any) -> Any:
        if type(value) is not tuple and type(value) is not list:
            if isinstance(value, str | bytes) or not isinstance(value, Iterable):
                return _MISFIT
            if ordered and isinstance(value, collections.abc.Set | Mapping):
                return _MISFIT
            if isinstance(value, Iterator):
                # A tuple may be made of an iterator; a sequence must be iterable more than once.
                if ordered and not to_tuple:
                    return _MISFIT
                value = tuple(value)
            dimensions = getattr(value, "ndim", 1)
            if dimensions != 1 and (not dimensions or not isinstance(value, np.ndarray)):
                return _MISFIT  # one number, or a table, which is a sequence of its columns
            if to_tuple and isinstance(value, np.ndarray):
                return _MISFIT  # an array is not converted to a tuple
        done = value
        if not known.issuperset(map(type, value)):
            done = [part.convert(one) for one in value]
            if any(one is _MISFIT for one in done):
                return _MISFIT
            same = {type(one): one for one, kept in zip(value, done, strict=True) if one is kept}
            known.update(map(type, filter(part.is_settled, same.values())))
        if not freeze or (done is value and type(value) is tuple):
            return value
        if is_set:
            return frozenset(done)
        return _read_only(value) if isinstance(value, np.ndarray) else _same(value, done)

    each = "" if part.words == "anything" else f", each {part.words}"
    return Converter(convert, f"a {'set' if is_set else 'sequence'}{each}")


def _instance(kind: Any, *, freeze: bool) -> Converter:
    """Return the instances of a class; of a protocol, what has all its attributes."""
    if freeze and issubclass(kind, StrEnum):
        return _member(kind)
    name = kind.__name__
    words = _NAMES.get(kind, f"{'an' if name[:1] in 'AEIOU' else 'a'} {name}")
    words += f" such as {_EXAMPLES[name]}" if name in _EXAMPLES else ""
    keep = frozen if freeze else _UNCHECKED.convert
    if not getattr(kind, "_is_protocol", False):
        return Converter(
            lambda value: keep(value) if isinstance(value, kind) else _MISFIT,
            words,
            lambda value: _way(value.__class__) is None,
        )
    names = [
        name
        for base in kind.__mro__
        if getattr(base, "_is_protocol", False)
        for name in (*vars(base), *vars(base).get("__annotations__", {}))
        if name == "__call__" or not name.startswith("_")
    ]

    @cache
    def has_all(owner: Any) -> bool:
        own = [vars(base) for base in owner.__mro__]
        return all(any(name in known for known in own) for name in names)

    def convert(value: Any) -> Any:
        if isinstance(value, type):
            return _MISFIT
        if has_all(value.__class__):
            return value
        own = [*(vars(base) for base in type(value).__mro__), getattr(value, "__dict__", {})]
        return value if all(any(name in known for known in own) for name in names) else _MISFIT

    return Converter(convert, words, lambda value: has_all(value.__class__))


def _member(kind: type[StrEnum]) -> Converter:
    """Return the members of an enumeration, which may be given by their texts."""

    def convert(value: Any) -> Any:
        try:
            return kind(value)
        except ValueError:
            return _MISFIT

    return Converter(convert, f"one of {', '.join(kind)}")


def told(value: Any) -> str:
    """Return the text of an argument of the wrong type; models of pgmpy and pyAgrum by a hint."""
    library = type(value).__module__.partition(".")[0]
    if library in ("pgmpy", "pyagrum") and not isinstance(value, type):
        kind = type(value).__name__
        model = "FactorModel" if "Markov" in kind or "FactorGraph" in kind else "Network"
        if hasattr(value, "nodes"):
            return f"a model of {library} ({kind}); convert it first: {model}.from_{library}(model)"
    if library == "pandas" and not isinstance(value, type):
        return f"a table of pandas ({type(value).__name__})"
    return f"the class {value.__name__}" if isinstance(value, type) else shown(value)


def misfits(
    owner: str,
    wrong: Mapping[str, tuple[Converter, Any]],
    kind: type[InvalidArgumentError | InvalidModelError] = InvalidArgumentError,
    more: Iterable[str] = (),
) -> InvalidArgumentError | InvalidModelError:
    """Return the error of values that do not fit, by their names, and of more faults."""
    first, *others = (
        f"expected {name} to be {one.words}, got {(one.culprit or told)(value)}"
        for name, (one, value) in wrong.items()
    )
    error = kind([f"{owner}: {first}", *others, *more])
    error.value = next(iter(wrong.values()))[1]
    return error


# --- Dataclasses ----------------------------------------------------------------------------------


class Value:
    """A base class of immutable dataclasses, which are valid from construction."""

    __slots__ = ()

    _error: ClassVar[type[InvalidArgumentError | InvalidModelError]] = InvalidArgumentError
    """The error of wrong fields, and of what `_faults` yields."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        # A dataclass replaces the text of a parent, but keeps one of the class itself.
        text: Any = cls.__repr__
        generated = text is object.__repr__ or hasattr(text, "__wrapped__")
        cls.__repr__ = outline if generated else text  # type: ignore[method-assign]

    def __post_init__(self) -> None:
        self._convert()
        if faults := [*self._faults()]:
            raise self._error(faults)

    def _faults(self) -> Iterable[str]:
        """Yield what is wrong with the fields together, a sentence each."""
        return ()

    def _convert(self) -> None:
        """Convert the fields by their annotations; raise an error if one is wrong."""
        own = self.__dict__
        wrong: dict[str, tuple[Converter, Any]] = {}
        kind: Any = type(self)
        converters, shapes = _converters(kind)
        for name, found, known in converters:
            value = own.get(name, _MISFIT)
            if type(value) in known:
                continue
            done = found.convert(value)
            if done is _MISFIT:
                wrong[name] = found, value
            elif done is not value:
                own[name] = done
            elif found.is_settled(value):
                known.add(type(value))
        if wrong:
            right = {*own} - {*wrong}
            more = [one.fault(self, name) for name, one in shapes if {name, *one.roots} <= right]
            raise misfits(kind.__name__, wrong, self._error, filter(None, more))
        if shapes and any(faults := [shape.fault(self, name) for name, shape in shapes]):
            raise self._error(filter(None, faults))

    def _set(self, **values: Any) -> None:
        """Set fields in the constructor, to frozen values."""
        for name, value in values.items():
            self.__dict__[name] = frozen(value, own=True)

    def _repr_html_(self) -> str | None:
        """Return a table of the fields, which notebooks display if the text is long."""
        return None if hasattr(self, "_repr_svg_") else outline_html(self)

    def __getstate__(self) -> dict[str, Any]:
        # Without cached properties.
        return {field.name: getattr(self, field.name) for field in fields(self)}  # type: ignore[arg-type]

    def __setstate__(self, state: Mapping[str, Any]) -> None:
        for name, value in state.items():
            object.__setattr__(self, name, frozen(value, own=True))


@cache
def _converters(
    kind: Any,
) -> tuple[list[tuple[str, Converter, set[type]]], list[tuple[str, Shape]]]:
    """Return what each field allows, the types whose values all fit as they are, and shapes."""
    hints: dict[str, Any] = {}
    for base in reversed(kind.__mro__[:-1]):
        names = vars(sys.modules[base.__module__])
        hints |= {name: evaluated(one, names) for name, one in get_annotations(base).items()}
    own = [field.name for field in fields(kind)]
    marks = [(name, mark) for name in own for mark in getattr(hints[name], "__metadata__", ())]
    # A field that is made later is no value yet.
    found = [(name, converter(hints[name]), {type(_MISFIT)}) for name in own]
    return found, [(name, mark) for name, mark in marks if isinstance(mark, Shape)]


class Sealed(Value):
    """A value made by the library, which owns its arrays; they are not copied."""

    __slots__ = ()

    def __post_init__(self) -> None:
        own = self.__dict__
        for field in fields(self):  # type: ignore[arg-type]
            own[field.name] = frozen(own[field.name], own=True)


def made(kind: type[_Kind], **values: Any) -> _Kind:
    """Return an instance of a dataclass with valid, immutable fields, without its constructor.

    Use it for instances that are made very often.
    """
    instance = object.__new__(kind)
    instance.__dict__.update(values)
    return instance


def remembered(owner: Any, name: str, make: Callable[[], _Kind]) -> _Kind:
    """Return what a pure function of an immutable object makes, from memory if it has been made.

    It is kept with the object, under a name that is no field. Of several threads that make it at
    the same time, the first wins.
    """
    known: dict[str, Any] = owner.__dict__
    if name not in known:
        known.setdefault(name, make())
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
