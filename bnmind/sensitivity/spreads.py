"""Spreads: how far parameters vary in a tornado."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["Absolute", "Odds", "Relative", "Spread"]

Spread = Callable[[Floats], tuple[Floats, Floats]]
"""A function from parameters to the least and the largest values that they may have."""


@dataclass(frozen=True)
class Relative(Value):
    """Parameters vary by a share of their value: 0.1 stands for ±10 %."""

    share: float = 0.1
    """The largest share, at least 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.share < math.inf:
            raise InvalidArgumentError(f"expected a finite share of at least 0, got {self.share}")

    def __call__(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest values, from 0 to 1."""
        low = np.clip(values * (1 - self.share), 0.0, 1.0)
        return low, np.clip(values * (1 + self.share), 0.0, 1.0)


@dataclass(frozen=True)
class Absolute(Value):
    """Parameters vary by a difference; 1 stands for all values from 0 to 1."""

    difference: float = 0.1
    """The largest difference, at least 0."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.difference < math.inf:
            raise InvalidArgumentError(
                f"expected a finite difference of at least 0, got {self.difference}"
            )

    def __call__(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest values, from 0 to 1."""
        low = np.clip(values - self.difference, 0.0, 1.0)
        return low, np.clip(values + self.difference, 0.0, 1.0)


@dataclass(frozen=True)
class Odds(Value):
    """The odds of parameters vary by a factor; 0 and 1 stay as they are."""

    factor: float = 2.0
    """The largest factor, at least 1."""

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 1 <= self.factor < math.inf:
            raise InvalidArgumentError(f"expected a finite factor of at least 1, got {self.factor}")

    def __call__(self, values: Floats) -> tuple[Floats, Floats]:
        """Return the least and the largest values, from 0 to 1."""
        low = values / (values + self.factor * (1 - values))
        return low, self.factor * values / (self.factor * values + 1 - values)
