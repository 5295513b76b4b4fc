"""Checks of the parameters of response models.

Parameters come from files and data frames, which may hold anything: text, a list in place of
one number, infinities, whole numbers with hundreds of digits.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from bnmind._messages import shown
from bnmind._values import sealed
from bnmind.errors import InvalidModelError
from bnmind.information import Floats

__all__ = [
    "LARGEST",
    "chance_faults",
    "increasing",
    "make_plain",
    "normalized_rows",
    "probability_faults",
    "refuse",
    "slope_faults",
]

_ROW_TOLERANCE = 1.000001e-6
"""Distributions that sum to one this closely are accepted and normalized, as in tables."""

LARGEST = 1e100
"""Products and sums of numbers up to this are finite."""


def make_plain(
    model: object,
    *,
    one: Iterable[str] = (),
    each: Iterable[str] = (),
    many: Iterable[str] = (),
    levels: Iterable[str] = (),
) -> list[str]:
    """Convert the fields of a response model under construction to numbers; return the faults.

    Parameters
    ----------
    model
        A frozen dataclass that calls this in its ``__post_init__``.
    one
        Fields with one number.
    each
        Fields with one number, or one for each skill.
    many
        Fields with a list of numbers.
    levels
        Fields with a level for each skill, or None.
    """
    problems: list[str] = []

    def plain(name: str, value: Any) -> float:
        number = _number(value)
        if number is None:
            problems.append(f"expected one finite number as {name}, got {shown(value)}")
            return 0.0
        return number

    def listed(name: str, value: Any) -> tuple[float, ...]:
        if not _is_list(value):
            problems.append(f"expected a list of numbers as {name}, got {shown(value)}")
            return ()
        return tuple([plain(name, entry) for entry in value])

    numbers: dict[str, Any] = {}
    for name in one:
        numbers[name] = plain(name, getattr(model, name))
    for name in each:
        value = getattr(model, name)
        numbers[name] = listed(name, value) if _is_list(value) else plain(name, value)
    for name in many:
        numbers[name] = listed(name, getattr(model, name))
    for name in levels:
        value = getattr(model, name)
        try:
            numbers[name] = None if value is None else tuple([operator.index(x) for x in value])
        except TypeError:
            problems.append(f"expected whole numbers as {name} levels, got {shown(value)}")
    for name, value in numbers.items():
        object.__setattr__(model, name, value)
    return problems


def _is_list(value: Any) -> bool:
    return isinstance(value, list | tuple) or (isinstance(value, np.ndarray) and value.ndim == 1)


def _number(value: Any) -> float | None:
    if isinstance(value, str | bytes) or (isinstance(value, np.ndarray) and value.ndim):
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        return None
    return number if abs(number) <= LARGEST else None


def probability_faults(what: str, values: float | tuple[float, ...]) -> list[str]:
    """Return the faults of one or more probabilities."""
    v = np.asarray(values)
    return [] if np.all((v >= 0) & (v <= 1)) else [f"expected {what} in [0, 1], got {values}"]


def chance_faults(guess: float | tuple[float, ...], slip: float | tuple[float, ...]) -> list[str]:
    """Return the faults of guesses and slips."""
    problems = [*probability_faults("a guess", guess), *probability_faults("a slip", slip)]
    lengths = {len(x) for x in (guess, slip) if isinstance(x, tuple)}
    if len(lengths) > 1:
        problems.append(f"expected as many guesses as slips, got {guess} and {slip}")
    elif not problems and np.any(np.add(guess, slip) > 1 + 1e-12):
        problems.append(f"expected guess + slip of at most 1, got {guess} and {slip}")
    return problems


def slope_faults(slope: float) -> list[str]:
    """Return the fault of the slope of a curve with difficulties: a flat curve has none."""
    return [] if slope else ["expected a slope other than 0, got 0"]


def increasing(thresholds: Sequence[float], *, falls: bool = False) -> list[str]:
    """Return the faults of thresholds, which must increase; decrease if ``falls``."""
    t = np.asarray(thresholds, dtype=np.float64)
    steps = -np.diff(t) if falls else np.diff(t)
    if t.ndim == 1 and t.size and np.all(np.isfinite(t)) and np.all(steps >= 0):
        return []
    order = "decreasing thresholds with a negative slope" if falls else "increasing thresholds"
    return [f"expected {order}, got {shown(thresholds)}"]


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
