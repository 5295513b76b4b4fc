"""Parameters of DiBello models: numbers, or tuples of numbers, from experts and from files."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnmind.adaptive.response_models.base.parameters import Number, Scale
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import Variable

__all__ = ["Numbers", "Scales", "flat", "one_for_each"]

Numbers = Number | tuple[Number, ...]
"""A number for all skills, or one for each."""
Scales = Scale | tuple[Scale, ...]
"""A slope for all skills, or one for each."""


def flat(value: Any) -> list[float]:
    """Return all numbers of nested tuples."""
    return [x for entry in value for x in flat(entry)] if isinstance(value, tuple) else [value]


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
