"""The interface of kinds of curves, and constants that they share."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from bnmind.adaptive.learning.parameters.block import ItemRule
from bnmind.adaptive.learning.parameters.curves.scoring import Curve
from bnmind.adaptive.learning.parameters.options import Priors
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.information import Floats

__all__ = ["FARTHEST", "FLATTEST", "STEEPEST", "CurveKind", "slope_bounds", "within"]

FLATTEST = 1e-5
"""The least slope of one ability where slopes must be positive."""

STEEPEST = 50.0
"""The largest slope of all curves."""

FARTHEST = 100.0
"""The largest threshold and intercept."""


class CurveKind(Curve, Protocol):
    """The interface of items of one kind with the same parents and number of responses.

    *Values* are slopes, intercepts, thresholds and asymptotes. `inner` turns them into the
    parameters of the M-step, of which those of `GradedCurves` differ.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters of each item."""

    @property
    def limits(self) -> Floats:
        """``(items, parameters, 2)``: the least and the largest values."""

    def start(self) -> Floats:
        """Return the values of the items' response models, ``(items, parameters)``."""

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return the start with random changes."""

    def inner(self, values: Floats) -> Floats:
        """Return the parameters of the M-step."""

    def values(self, x: Floats) -> Floats:
        """Return the values; the inverse of `inner`."""

    def valid(self, values: Floats) -> bool:
        """Return whether the values are in order."""

    def response_models(self, values: Floats) -> tuple[ResponseModel, ...]:
        """Return the response model of each item."""


def slope_bounds(rule: ItemRule, priors: Priors) -> tuple[float, float]:
    """Return the least and the largest slope of an item with one ability.

    Slopes are positive where their prior or a bound says so.
    """
    positive = rule.bounds.slope[0] >= 0 or priors.slope is not None
    low, high = np.clip(rule.bounds.slope, FLATTEST if positive else -STEEPEST, STEEPEST).tolist()
    return low, high


def within(values: Floats, bounds: Floats) -> Floats:
    """Return values moved into their bounds, ``(…, 2)``."""
    result: Floats = np.clip(values, bounds[..., 0], bounds[..., 1])
    return result
