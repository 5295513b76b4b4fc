"""The registry of deterministic functions that are made of whole numbers.

A new function is a file in this folder and a line here: files then hold it, and its arguments can
be put into another order. A line in `bnmind.rank_one.forms` gives it a rank-one form, too. The
contract tests run over every member. `Listed`, which holds a table, and `Restricted`, which holds
another function, are not members.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

from bnmind.pgm.functions import (
    Addition,
    Equality,
    Exactly,
    Function,
    Maximum,
    Minimum,
    Parity,
    Threshold,
)

__all__ = ["FUNCTIONS", "RegisteredFunction", "name_of", "with_arguments_in_order"]


def _few_results(function: Any, sizes: Sequence[int]) -> int:
    return max(sizes, default=1) + len(sizes) + 2


def _partial_sums(function: Addition, sizes: Sequence[int]) -> int:
    span = 1 + sum(max(t, default=0) - min(t, default=0) for t in function.terms)
    # Beyond 64 arguments the product is no bound, and whole numbers become slow.
    configurations = math.prod(sizes) if len(sizes) < 64 else 2**64
    return min(function.modulus, span, configurations)


class RegisteredFunction(NamedTuple):
    """A function as files name it."""

    example: Function
    """A function of this kind, for arguments of 2, 3 and 2 states."""
    about: str
    """The function, in a few words."""
    each: str | None = None
    """The field with an entry for each argument; None if the order of arguments does not matter."""
    least: Mapping[str, int] = MappingProxyType({})
    """The least whole number of a field in a file; the default is −2³¹."""
    partial_results: Callable[[Any, Sequence[int]], int] = _few_results
    """A bound on the number of partial results, from the function and the numbers of states."""

    @property
    def make(self) -> type[Function]:
        """The class."""
        return type(self.example)

    def n_arguments(self, function: Function) -> int | None:
        """Return the number of arguments, or None if a function of this kind takes any number."""
        entries = None if self.each is None else getattr(function, self.each)
        return None if entries is None else len(entries)


FUNCTIONS: Mapping[str, RegisteredFunction] = MappingProxyType(
    {
        "addition": RegisteredFunction(
            Addition.of((2, 3, 2), signs=(1, -1, 2)),
            "a sum, a difference or a count",
            "terms",
            MappingProxyType({"modulus": 1}),
            _partial_sums,
        ),
        "minimum": RegisteredFunction(Minimum(), "the smallest position"),
        "maximum": RegisteredFunction(Maximum(), "the largest position"),
        "parity": RegisteredFunction(Parity(), "whether the sum is odd"),
        "equality": RegisteredFunction(Equality(), "whether all positions are the same"),
        "threshold": RegisteredFunction(
            Threshold(2, ((1,), (0, 2), (1,))),
            "whether at least l arguments count",
            "counted",
            MappingProxyType({"counted": 0}),
        ),
        "exactly": RegisteredFunction(
            Exactly(2, ((1,), (0, 2), (1,))),
            "whether exactly l arguments count",
            "counted",
            MappingProxyType({"counted": 0}),
        ),
    }
)
"""The function of each name in files."""

_NAMES = MappingProxyType({row.make: name for name, row in FUNCTIONS.items()})


def name_of(function: Function) -> str | None:
    """Return the name of a function's kind, or None if it is not registered."""
    return _NAMES.get(type(function))


def with_arguments_in_order(function: Any, order: Sequence[int]) -> Function | None:
    """Return a registered function of the same arguments in another order.

    Parameters
    ----------
    function
        Any function.
    order
        The place of each argument in the old order.

    Returns
    -------
    Function or None
        None if the function is not registered.
    """
    name = name_of(function)
    if name is None:
        return None
    each = FUNCTIONS[name].each
    entries = None if each is None else getattr(function, each)
    if each is None or entries is None:
        known: Function = function
        return known
    moved: Function = dataclasses.replace(function, **{each: tuple(entries[i] for i in order)})
    return moved
