"""Checks of the parameters of response models."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Annotated

import numpy as np
from annotated_types import Gt

from bnmind._messages import shown
from bnmind._values import Bounded, sealed
from bnmind.errors import InvalidModelError
from bnmind.information import Floats

__all__ = [
    "LARGEST",
    "Number",
    "Scale",
    "chance_faults",
    "increasing",
    "normalized_rows",
    "refuse",
    "slope_faults",
]

_ROW_TOLERANCE = 1.000001e-6
"""Distributions that sum to one this closely are accepted and normalized, as in tables."""

LARGEST = 1e100
"""Products and sums of numbers up to this are finite."""


Number = Annotated[float, Bounded(LARGEST)]
"""A parameter without limits of its own."""
Scale = Annotated[float, Gt(0), Bounded(LARGEST)]
"""A parameter above 0."""


def chance_faults(
    guess: float | tuple[float, ...], slip: float | tuple[float, ...]
) -> Iterator[str]:
    """Yield what is wrong with guesses and slips together."""
    lengths = {len(x) for x in (guess, slip) if isinstance(x, tuple)}
    if len(lengths) > 1:
        yield f"expected as many guesses as slips, got {guess} and {slip}"
    elif np.any(np.add(guess, slip) > 1 + 1e-12):
        yield f"expected guess + slip of at most 1, got {guess} and {slip}"


def slope_faults(slope: float) -> Iterator[str]:
    """Yield the fault of the slope of a curve with difficulties: a flat curve has none."""
    if not slope:
        yield "expected a slope other than 0, got 0"


def increasing(thresholds: Sequence[float], *, falls: bool = False) -> Iterator[str]:
    """Yield the fault of thresholds, which must increase; decrease if ``falls``."""
    steps = pairwise(reversed(thresholds) if falls else thresholds)
    if not thresholds or any(low > high for low, high in steps):
        order = "decreasing thresholds with a negative slope" if falls else "increasing thresholds"
        yield f"expected {order}, got {shown(thresholds)}"


def refuse(problems: Sequence[str]) -> None:
    """Raise `InvalidModelError` if there are faults."""
    if problems:
        raise InvalidModelError(problems)


def normalized_rows(values: Floats) -> Floats:
    """Return rows of probabilities normalized to sum to one; read-only.

    Raises
    ------
    InvalidModelError
        If there are no rows, or a row does not sum to one within 1e-6.
    """
    sums = values.sum(axis=1, keepdims=True)
    wrong = np.flatnonzero(np.abs(sums - 1) > _ROW_TOLERANCE)
    if not values.size:
        raise InvalidModelError(["a G-DINA model needs at least one row of probabilities"])
    if wrong.size:
        got = f"{float(sums[wrong[0], 0]):.9g} in row {wrong[0] + 1}"
        raise InvalidModelError([f"expected rows that sum to one in a G-DINA model, got {got}"])
    # Rows that sum to one up to rounding are not changed, so that a copy has the same digits.
    off = np.abs(sums - 1) > 4 * values.shape[1] * np.finfo(np.float64).eps
    return sealed(np.where(off, values / sums, values))
