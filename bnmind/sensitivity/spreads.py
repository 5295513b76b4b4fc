"""Spreads: how far parameters vary in a tornado."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from bnmind._values import Finite, NonNegative, Value
from bnmind.information import Floats

__all__ = ["Absolute", "Odds", "Relative", "Spread"]

Spread = Callable[[Floats], tuple[Floats, Floats]]
"""A function from parameters to the least and the largest values that they may have."""


@dataclass(frozen=True)
class Relative(Value):
    """Parameters vary by a share of their value: 0.1 stands for ±10 %."""

    share: NonNegative = 0.1
    """The largest share, at least 0."""

    def __call__(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest values, from 0 to 1."""
        low = np.clip(values * (1 - self.share), 0.0, 1.0)
        return low, np.clip(values * (1 + self.share), 0.0, 1.0)


@dataclass(frozen=True)
class Absolute(Value):
    """Parameters vary by a difference; 1 stands for all values from 0 to 1."""

    difference: NonNegative = 0.1
    """The largest difference, at least 0."""

    def __call__(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest values, from 0 to 1."""
        low = np.clip(values - self.difference, 0.0, 1.0)
        return low, np.clip(values + self.difference, 0.0, 1.0)


@dataclass(frozen=True)
class Odds(Value):
    """The odds of parameters vary by a factor; 0 and 1 stay as they are."""

    factor: Annotated[float, Ge(1), Finite] = 2.0
    """The largest factor, at least 1."""

    def __call__(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest values, from 0 to 1."""
        low = values / (values + self.factor * (1 - values))
        return low, self.factor * values / (self.factor * values + 1 - values)
