"""Deterministic functions as JSON records, and back.

A record has the name of the class in lower case and its fields::

    {"function": "addition", "terms": [[0, 1], [0, 1, 2]], "modulus": 4, "constant": 0}

A new function needs a record class here, with the same fields, and a place in
`FunctionRecord`. pydantic is imported with this module.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, Literal, TypeAlias

import numpy as np
from pydantic import Field, model_validator

from bnmind.pgm.formats.json_records import Strict
from bnmind.pgm.functions import (
    Addition,
    Equality,
    Exactly,
    Function,
    Maximum,
    Minimum,
    Parity,
    Restricted,
    Threshold,
)
from bnmind.pgm.listed import Listed

__all__ = ["FunctionRecord", "arity_fault", "function_to_record", "steps_work"]

# Small enough for sums of very many in 64 bits.
_Integer = Annotated[int, Field(ge=-(2**31), le=2**31)]
_Position = Annotated[int, Field(ge=0, le=2**31)]
_Positions: TypeAlias = Annotated[tuple[_Position, ...], Field(fail_fast=True)]
_Sets: TypeAlias = Annotated[tuple[_Positions, ...], Field(fail_fast=True)]
_Integers: TypeAlias = Annotated[tuple[_Integer, ...], Field(fail_fast=True)]


class _Addition(Strict):
    function: Literal["addition"]
    terms: Annotated[tuple[_Integers, ...], Field(fail_fast=True)]
    modulus: Annotated[int, Field(ge=1, le=2**31)]
    constant: _Integer = 0

    def make(self) -> Function:
        return Addition(self.terms, self.modulus, self.constant)


class _Minimum(Strict):
    function: Literal["minimum"]

    def make(self) -> Function:
        return Minimum()


class _Maximum(Strict):
    function: Literal["maximum"]

    def make(self) -> Function:
        return Maximum()


class _Parity(Strict):
    function: Literal["parity"]

    def make(self) -> Function:
        return Parity()


class _Equality(Strict):
    function: Literal["equality"]

    def make(self) -> Function:
        return Equality()


class _Threshold(Strict):
    function: Literal["threshold"]
    least: _Integer
    counted: _Sets | None = None

    def make(self) -> Function:
        return Threshold(self.least, self.counted)


class _Exactly(Strict):
    function: Literal["exactly"]
    count: _Integer
    counted: _Sets | None = None

    def make(self) -> Function:
        return Exactly(self.count, self.counted)


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


FunctionRecord: TypeAlias = Annotated[
    _Addition
    | _Minimum
    | _Maximum
    | _Parity
    | _Equality
    | _Threshold
    | _Exactly
    | _Listed
    | _Restricted,
    Field(discriminator="function"),
]
"""A record of any of the functions, told apart by its field ``function``."""

_Restricted.model_rebuild()


def function_to_record(function: Function) -> dict[str, Any] | None:
    """Return the record of a function, or None if it is not one of ours.

    >>> function_to_record(Threshold(2))
    {'function': 'threshold', 'least': 2, 'counted': None}
    """
    match function:
        case Addition(terms, modulus, constant):
            fields: dict[str, Any] = {"terms": terms, "modulus": modulus, "constant": constant}
        case Threshold(least, counted):
            fields = {"least": least, "counted": counted}
        case Exactly(count, counted):
            fields = {"count": count, "counted": counted}
        case Restricted(whole, states, results):
            inner = function_to_record(whole)
            if inner is None:
                return None
            fields = {"of": inner, "states": states, "results": results}
        case Listed(results):
            fields = {"shape": results.shape, "results": tuple(results.ravel().tolist())}
        case Minimum() | Maximum() | Parity() | Equality():
            fields = {}
        case _:
            return None
    return {"function": type(function).__name__.lower(), **fields}


def arity_fault(function: Function, n_arguments: int) -> str | None:
    """Return what is wrong if a function has not so many arguments, or None."""
    wanted = n_arguments
    match function:
        case Addition(terms):
            wanted = len(terms)
        case Threshold(_, counted) | Exactly(_, counted):
            wanted = n_arguments if counted is None else len(counted)
        case Listed(results):
            wanted = results.ndim
        case Restricted(whole, states):
            wanted = sum(len(kept) > 1 for kept in states)
            if inner := arity_fault(whole, len(states)):
                return inner
        case _:
            pass
    if wanted == n_arguments:
        return None
    name = type(function).__name__.lower()
    return f"expected {wanted} arguments of the function {name}, got {n_arguments}"


def steps_work(function: Function, sizes: Sequence[int]) -> int:
    """Return a bound on the work of computing a function's steps, in cells.

    Partial sums may be as many as there are configurations; the other functions have
    few partial results.
    """
    while isinstance(function, Restricted):
        sizes = [max(kept) + 1 for kept in function.states]
        function = function.function
    if isinstance(function, Listed):
        return function.results.size
    reached = max(sizes, default=1) + len(sizes) + 2
    if isinstance(function, Addition):
        span = 1 + sum(max(t, default=0) - min(t, default=0) for t in function.terms)
        reached = min(function.modulus, span, _product(sizes))
    return reached * sum(sizes)


def _product(sizes: Sequence[int]) -> int:
    # Beyond this it is no bound any more, and whole numbers become slow.
    return math.prod(sizes) if len(sizes) < 64 else 2**64
