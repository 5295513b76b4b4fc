"""Deterministic functions as JSON records, and back.

A record has the name of the class in lower case and its fields::

    {"function": "addition", "terms": [[0, 1], [0, 1, 2]], "modulus": 4, "constant": 0}

The records of registered functions (`bnmind.pgm.function_registry`) are made of the fields of their
classes, which hold whole numbers and tuples of them. pydantic is imported with this module.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from dataclasses import MISSING, fields
from types import UnionType
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Literal,
    TypeAlias,
    Union,
    cast,
    get_args,
    get_origin,
    get_type_hints,
)

import numpy as np
from pydantic import Field, create_model, model_validator

from bnmind.pgm.formats.json_records import Strict
from bnmind.pgm.function_registry import FUNCTIONS, RegisteredFunction, name_of
from bnmind.pgm.functions import Function, Restricted
from bnmind.pgm.listed import Listed

__all__ = ["FunctionRecord", "arity_fault", "function_to_record", "steps_work"]

# Sums of very many such numbers fit into 64 bits.
_MOST = 2**31
_Position = Annotated[int, Field(ge=0, le=_MOST)]
_Positions: TypeAlias = Annotated[tuple[_Position, ...], Field(fail_fast=True)]


class _OfNumbers(Strict):
    """A record of a registered function, with the fields of its class."""

    function: str

    def make(self) -> Function:
        make: Any = FUNCTIONS[self.function].make
        return cast(Function, make(**{f.name: getattr(self, f.name) for f in fields(make)}))


def _annotation(hint: Any, least: int) -> Any:
    """Return the type of a field in a file: bounded whole numbers, or tuples of them."""
    if get_origin(hint) in (Union, UnionType):
        either = [_annotation(one, least) for one in get_args(hint)]
        return functools.reduce(operator.or_, either)
    if get_origin(hint) is tuple:
        inner = _annotation(get_args(hint)[0], least)
        return Annotated[tuple[inner, ...], Field(fail_fast=True)]  # type: ignore[valid-type]
    return Annotated[int, Field(ge=least, le=_MOST)] if hint is int else hint


def _record(name: str, row: RegisteredFunction) -> type[_OfNumbers]:
    """Return the record class of a registered function, with the fields of its class."""
    kind: Any = row.make
    hints = get_type_hints(kind)
    parts: dict[str, Any] = {"function": (Literal[name], ...)}
    for one in fields(kind):
        default = ... if one.default is MISSING else one.default
        parts[one.name] = (_annotation(hints[one.name], row.least.get(one.name, -_MOST)), default)
    return create_model(f"_{name.title()}", __base__=_OfNumbers, **parts)


class _Restricted(Strict):
    function: Literal["restricted"]
    of: FunctionRecord
    states: Annotated[tuple[Annotated[_Positions, Field(min_length=1)], ...], Field(fail_fast=True)]
    results: Annotated[_Positions, Field(min_length=1)] | None = None

    def make(self) -> Function:
        return Restricted(self.of.make(), self.states, self.results)


class _Listed(Strict):
    function: Literal["listed"]
    shape: Annotated[
        tuple[Annotated[int, Field(ge=1, le=2**31)], ...], Field(min_length=1, fail_fast=True)
    ]
    results: _Positions

    @model_validator(mode="after")
    def _fits(self) -> _Listed:
        if math.prod(self.shape) != len(self.results):
            raise ValueError(
                f"expected {math.prod(self.shape)} results for the shape"
                f" {list(self.shape)}, got {len(self.results)}"
            )
        return self

    def make(self) -> Function:
        return Listed(np.array(self.results, dtype=np.intp).reshape(self.shape))


if TYPE_CHECKING:
    _AnyRecord: TypeAlias = _OfNumbers | _Listed | _Restricted
else:
    _RECORDS = [_record(name, row) for name, row in FUNCTIONS.items()]
    _AnyRecord = Annotated[
        Union[(*_RECORDS, _Listed, _Restricted)],
        Field(discriminator="function"),
    ]

FunctionRecord: TypeAlias = _AnyRecord
"""A record of any function; the field ``function`` says which one."""

_Restricted.model_rebuild()


def function_to_record(function: Function) -> dict[str, Any] | None:
    """Return the record of a function, or None if it is not a function of bnmind.

    >>> from bnmind.pgm import Threshold
    >>> function_to_record(Threshold(2))
    {'function': 'threshold', 'least': 2, 'counted': None}
    """
    if isinstance(function, Restricted):
        inner = function_to_record(function.function)
        if inner is None:
            return None
        parts = {"of": inner, "states": function.states, "results": function.results}
        return {"function": "restricted", **parts}
    if isinstance(function, Listed):
        results = tuple(function.results.ravel().tolist())
        return {"function": "listed", "shape": function.results.shape, "results": results}
    name = name_of(function)
    if name is None:
        return None
    of: Any = function
    return {"function": name, **{one.name: getattr(of, one.name) for one in fields(of)}}


def arity_fault(function: Function, n_arguments: int) -> str | None:
    """Return a message if a function does not have ``n_arguments`` arguments, else None."""
    expected: int | None = None
    name = name_of(function)
    if isinstance(function, Restricted):
        name, expected = "restricted", sum(len(positions) > 1 for positions in function.states)
        if inner := arity_fault(function.function, len(function.states)):
            return inner
    elif isinstance(function, Listed):
        name, expected = "listed", function.results.ndim
    elif name is not None:
        expected = FUNCTIONS[name].n_arguments(function)
    if expected is None or expected == n_arguments:
        return None
    return f"expected {expected} arguments of the function {name}, got {n_arguments}"


def steps_work(function: Function, sizes: Sequence[int]) -> int:
    """Return a bound on the work of computing a function's steps, in cells.

    The number of partial sums may equal the number of configurations. Other functions have few
    partial results.
    """
    while isinstance(function, Restricted):
        sizes = [max(positions) + 1 for positions in function.states]
        function = function.function
    if isinstance(function, Listed):
        return function.results.size
    name = name_of(function)
    assert name is not None  # every function of a record has one
    return FUNCTIONS[name].partial_results(function, sizes) * sum(sizes)
