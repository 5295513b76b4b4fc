"""Parameters of DiBello models: numbers, or tuples of numbers, from experts and from files."""

from __future__ import annotations

from enum import StrEnum
from typing import Any, TypeVar

import numpy as np

from bnmind._messages import shown
from bnmind.adaptive.response_models.base.parameters import LARGEST
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import Variable

__all__ = ["Numbers", "flat", "member_of", "one_for_each", "plain_numbers"]

Numbers = float | tuple[float, ...]
"""A number for all skills, or one for each."""

_Member = TypeVar("_Member", bound=StrEnum)


def plain_numbers(name: str, value: Any, problems: list[str], *, depth: int = 2) -> Any:
    """Return a number as a float, and lists of numbers as tuples; add the faults."""
    if depth and isinstance(value, list | tuple):
        return tuple(plain_numbers(name, entry, problems, depth=depth - 1) for entry in value)
    wrong = isinstance(value, str | bytes | bool | np.bool_ | np.ndarray)
    try:
        number = float("nan" if wrong else value)
    except (TypeError, ValueError, OverflowError):
        number = float("nan")
    if not abs(number) <= LARGEST:
        problems.append(f"expected finite numbers as {name}, got {shown(value)}")
        return 0.0
    return number


def flat(value: Any) -> list[float]:
    """Return all numbers of nested tuples."""
    return [x for entry in value for x in flat(entry)] if isinstance(value, tuple) else [value]


def member_of(kind: type[_Member], value: Any, problems: list[str]) -> _Member:
    """Return the member of an enumeration with a name; add the fault if there is none."""
    try:
        return kind(value)
    except ValueError:
        names = ", ".join(kind)
        problems.append(f"expected one of {names} as {kind.__name__.lower()}, got {shown(value)}")
        return next(iter(kind))


def one_for_each(what: str, value: Any, item: Variable, n: int) -> Floats:
    """Return ``n`` numbers from one number or from ``n``.

    Raises
    ------
    InvalidModelError
        If there is another number of them; the message names the item.
    """
    numbers = np.asarray(value, dtype=np.float64)
    if numbers.ndim and len(numbers) != n:
        raise InvalidModelError([f"expected {n} {what} for {item.name}, got {len(numbers)}"])
    each: Floats = np.broadcast_to(numbers, (n,))
    return each
