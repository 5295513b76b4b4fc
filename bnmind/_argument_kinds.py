"""The types that annotations allow for arguments, and their descriptions for messages."""

from __future__ import annotations

import collections.abc
import os
import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from bnmind._messages import shown

__all__ = ["Kind", "Numbers", "evaluated", "holds", "kinds_of", "numbers_of", "told"]


_NAMES: Mapping[Any, str] = {
    os.PathLike: "a path",
    np.random.Generator: "a random generator such as numpy.random.default_rng(1)",
}

_MAKERS: Mapping[str, str] = {"ResponseModel": "a response model such as Gdina (a class)"}
"""Functions, by the name of the class of the objects that they return."""


_EXAMPLES: Mapping[str, str] = {
    "BeliefView": "belief_view(network, posterior)",
    "Board": "Board(4, 6)",
    "Channel": "Channel.false_reply(board, 0.2)",
    "CodeMaker": "CodeMaker.from_seed(channel, 0)",
    "Examinees": "Examinees.drawn(bank, 1000, seed=1)",
    "Experiment": 'read_experiment("noise.toml")',
    "HasBank": "learn(responses, q_matrix)",
    "ItemBank": 'read_bank("bank.json")',
    "IrtModel": 'IRT_MODELS["2PL"]',
    "Selector": "MinimalEntropy()",
    "Stopper": "MaximalItems(20)",
    "Strategy": "Entropy()",
}
"""Values of classes, for users who give a name or a number instead."""


def _always(_: Any) -> bool:
    return True


def _never(_: Any) -> bool:
    return False


class Kind(NamedTuple):
    """The values that an annotation allows."""

    fits: Callable[[Any], bool]
    described: str
    stays: Callable[[Any], bool] = _always
    """Whether a value can be inspected without being consumed."""
    settled: Callable[[Any], bool] = _always
    """Whether all values of the type of a fitting value fit too."""


class Numbers(NamedTuple):
    """The numbers that an array may hold."""

    kinds: str
    described: str
    is_array: bool
    """Whether lists are not allowed."""
    optional: bool = False
    """Whether the array may be None."""


def kinds_of(annotations: Mapping[str, Any], names: Mapping[str, Any]) -> dict[str, Kind]:
    kinds = {}
    for name, annotation in annotations.items():
        kind = _kind_of(evaluated(annotation, names))
        if kind is not None:
            kinds[name] = kind
    return kinds


def evaluated(annotation: Any, names: Mapping[str, Any]) -> Any:
    """Return the type of an annotation; `Any` if it is imported only for type checkers."""
    if isinstance(annotation, str):
        try:
            annotation = eval(annotation, dict(names))  # the module's own annotation
        except (NameError, TypeError):
            return Any
    return _unfolded(annotation)


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


def _kind_of(annotation: Any) -> Kind | None:
    """Return the values that an annotation allows; None for any value or a complex annotation."""
    simple = {
        None: Kind(lambda value: value is None, "None"),
        type(None): Kind(lambda value: value is None, "None"),
        int: Kind(_is_whole, "a whole number"),
        float: Kind(_is_number, "a number"),
        bool: Kind(lambda value: isinstance(value, bool | np.bool_), "True or False"),
        str: Kind(lambda value: isinstance(value, str), "text"),
    }
    annotation = _unfolded(annotation)
    if annotation in (Any, object):
        return None
    if annotation is None or annotation in simple:
        return simple[annotation]
    if isinstance(annotation, TypeVar):
        return None if annotation.__bound__ is None else _kind_of(annotation.__bound__)
    origin, arguments = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        members = _members(annotation)
        if _ARRAY_LIKE.issubset(members):
            return None
        return _any_of([_kind_of(member) for member in members])
    if origin is not None:
        return None if origin is np.ndarray else _of_parts(origin, arguments)
    if not isinstance(annotation, type) or annotation.__module__.startswith("numpy._typing"):
        return None
    if getattr(annotation, "_is_protocol", False):
        return _protocol(annotation)
    described = _NAMES.get(annotation, _with_article(annotation.__name__))
    return Kind(lambda value: isinstance(value, annotation), described)


def _is_whole(value: Any) -> bool:
    return isinstance(value, Integral) and not isinstance(value, bool)


def _is_number(value: Any) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _any_of(kinds: Iterable[Kind | None]) -> Kind | None:
    known = []
    for kind in kinds:
        if kind is None:
            return None
        known.append(kind)
    fits = [kind.fits for kind in known]
    words = list(dict.fromkeys(kind.described for kind in known))
    return Kind(
        lambda value: any(fit(value) for fit in fits),
        " or ".join(words),
        lambda value: all(kind.stays(value) for kind in known),
        lambda value: any(kind.fits(value) and kind.settled(value) for kind in known),
    )


def _of_parts(origin: Any, arguments: tuple[Any, ...]) -> Kind | None:
    """Return the values that the annotation of a container allows."""
    if origin is collections.abc.Callable:
        made = getattr(arguments[-1], "__name__", "") if arguments else ""
        return Kind(_is_function, _MAKERS.get(made, "a function"))
    if not isinstance(origin, type):
        return None
    if issubclass(origin, Mapping):
        keys, values = (_kind_of(argument) for argument in arguments)
        return Kind(
            lambda value: (
                isinstance(value, Mapping)
                and (keys is None or all(map(keys.fits, value.keys())))
                and (values is None or all(map(values.fits, value.values())))
            ),
            f"a mapping from {keys.described} to {values.described}"
            if keys and values
            else "a mapping",
            settled=_never,
        )
    if issubclass(origin, tuple) and arguments[-1:] != (Ellipsis,):
        return _fixed([_kind_of(argument) for argument in arguments])
    if issubclass(origin, Iterable) and arguments:
        parts = _kind_of(arguments[0])
        what = "a sequence" + (f", each {parts.described}" if parts else "")
        ordered = issubclass(origin, Sequence)
        # A tuple may be made of an iterator; a sequence must be iterable more than once.
        once = not ordered or issubclass(origin, tuple)
        return Kind(
            lambda value: (
                # An array is not converted to a tuple.
                not (issubclass(origin, tuple) and isinstance(value, np.ndarray))
                and _is_sequence(value, parts, ordered=ordered, once=once)
            ),
            what,
            lambda value: not isinstance(value, Iterator),
            _never,
        )
    if getattr(origin, "_is_protocol", False):
        return _protocol(origin)
    described = _NAMES.get(origin, _with_article(origin.__name__))
    return Kind(lambda value: isinstance(value, origin), described)


def _fixed(parts: Sequence[Kind | None]) -> Kind:
    """Return the values that a tuple of a fixed length allows."""

    def fits(value: Any) -> bool:
        if isinstance(value, str | bytes) or not isinstance(value, Sequence | np.ndarray):
            return False
        if (isinstance(value, np.ndarray) and not value.ndim) or len(value) != len(parts):
            return False
        return all(kind is None or kind.fits(part) for kind, part in zip(parts, value, strict=True))

    words = " and ".join(kind.described if kind else "anything" for kind in parts)
    return Kind(fits, f"{len(parts)} values, {words}", settled=_never)


def _is_sequence(value: Any, parts: Kind | None, *, ordered: bool, once: bool) -> bool:
    if type(value) is tuple or type(value) is list:
        if parts is None:
            return True
        if parts.settled is _always and len(set(map(type, value))) == 1:
            return parts.fits(value[0])  # one tells of all, which are of its type
        return all(map(parts.fits, value))
    if isinstance(value, str | bytes) or not isinstance(value, Iterable):
        return False
    if isinstance(value, Iterator):
        return once
    if ordered and isinstance(value, set | frozenset | Mapping):
        return False
    dimensions = getattr(value, "ndim", 1)
    if dimensions != 1 and (not dimensions or not isinstance(value, np.ndarray)):
        return False  # an array that is one number, or a table, which is a sequence of its columns
    return parts is None or all(map(parts.fits, value))


def _is_function(value: Any) -> bool:
    return callable(value)


def _protocol(protocol: Any) -> Kind:
    """Return the values that a protocol allows: instances with all its attributes."""
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

    def settled(value: Any) -> bool:
        own = [vars(base) for base in type(value).__mro__]
        return all(any(name in names for names in own) for name in members)

    return Kind(fits, _with_article(protocol.__name__), settled=settled)


def _with_article(name: str) -> str:
    article = "an" if name[:1] in "AEIOU" else "a"
    return f"{article} {name}{f' such as {_EXAMPLES[name]}' if name in _EXAMPLES else ''}"


def numbers_of(annotation: Any) -> Numbers | None:
    """Return the numbers that the annotation of an array allows; None for other annotations."""
    annotation = _unfolded(annotation)
    origin, parts = typing.get_origin(annotation), typing.get_args(annotation)
    if origin in (typing.Union, types.UnionType):
        parts = tuple(_members(annotation))
        numbers = (
            Numbers("biuf", "an array of numbers", is_array=False)
            if _ARRAY_LIKE.issubset(parts)
            else next(filter(None, map(numbers_of, parts)), None)
        )
        return numbers and numbers._replace(optional=type(None) in parts)
    if origin is not np.ndarray:
        return None
    kind = next(iter(typing.get_args(parts[1])), np.generic)
    kind = typing.get_origin(kind) or kind
    if not isinstance(kind, type):
        kind = np.generic
    if issubclass(kind, np.bool_):
        return Numbers("b", "an array of True and False", is_array=True)
    if issubclass(kind, np.integer):
        return Numbers("iu", "an array of whole numbers", is_array=True)
    if issubclass(kind, np.floating):
        return Numbers("biuf", "an array of numbers", is_array=True)
    if issubclass(kind, np.str_):
        return Numbers("U", "an array of texts", is_array=True)
    return Numbers("biufc", "an array of numbers", is_array=True)


def holds(value: Any, numbers: Numbers) -> bool:
    """Return whether a value is an array of such numbers."""
    if value is None:
        return numbers.optional
    if numbers.is_array and not isinstance(value, np.ndarray):
        return False
    try:
        array = value if type(value) is np.ndarray else np.asarray(value)
    except ValueError:
        return False
    return not array.size or array.dtype.kind in numbers.kinds


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
