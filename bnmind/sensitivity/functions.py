r"""Sensitivity functions: a posterior as a function of one or two entries of the tables.

If an entry is t and the other entries of its row change in proportion, P(x, e) and P(e) are linear
in t, so that the posterior is a quotient of two linear functions:

.. math:: P(x|e)(t) = \frac{a_x t + b_x}{c t + d}, \qquad c = \sum_x a_x, \quad d = \sum_x b_x

It is constant or strictly monotone. With two entries of different rows, both are bilinear.

References
----------
K. B. Laskey, IEEE Trans. SMC 25, 1995; E. Castillo, J. M. Gutiérrez and A. S. Hadi, IEEE Trans. SMC
27, 1997; V. M. H. Coupé and L. C. van der Gaag, "Properties of sensitivity analysis of Bayesian
belief networks", Annals of Mathematics and Artificial Intelligence 36, 2002.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.pgm.variable import Variable
from bnmind.sensitivity.parameters import Parameter

__all__ = ["SensitivityFunction", "TwoWayFunction"]


_ROUNDING = 1e-12
"""Values this far outside of the range from 0 to 1 are inside of it, up to rounding."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SensitivityFunction(Sealed):
    """The posterior of a target as a function of one parameter."""

    parameter: Parameter
    """The parameter."""
    value: float
    """Its value in the network."""
    target: Variable
    """The target."""
    slopes: Floats
    """``(states,)`` the numbers a of P(state, evidence) = a t + b, divided by P(evidence)."""
    constants: Floats
    """``(states,)`` the numbers b."""

    @property
    def denominator(self) -> tuple[float, float]:
        """The numbers c and d of P(evidence) = c t + d, divided by P(evidence) in the network."""
        return float(self.slopes.sum()), float(self.constants.sum())

    @checked
    def __call__(self, t: float) -> Floats:
        """Return the posterior ``(states,)`` if the parameter is t.

        It is NaN if the evidence is impossible then.

        Raises
        ------
        InvalidArgumentError
            If t is not a probability.
        """
        if not 0 <= t <= 1:
            raise InvalidArgumentError(f"expected a probability from 0 to 1, got {t}", t)
        return quotients(self.slopes * t + self.constants)

    @checked
    def derivative(self, t: float | None = None) -> Floats:
        """Return the derivatives of the posterior ``(states,)`` at t, by default at its value."""
        at = self.value if t is None else t
        c, d = self.denominator
        with np.errstate(divide="ignore", invalid="ignore"):
            slope: Floats = (self.slopes * d - self.constants * c) / (c * at + d) ** 2
        return slope

    @checked
    def value_for(self, state: Any, probability: float) -> float | None:
        """Return the value of the parameter that gives a state this posterior probability.

        The result is None if no value from 0 to 1 does, or if every value does.
        """
        place = self.target.index(state)
        c, d = self.denominator
        slope = self.slopes[place] - probability * c
        constant = self.constants[place] - probability * d
        if slope == 0:
            return None
        t = float(-constant / slope)
        if not -_ROUNDING <= t <= 1 + _ROUNDING:
            return None
        t = min(max(t, 0.0), 1.0)
        return t if c * t + d > 0 else None


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoWayFunction(Sealed):
    """The posterior of a target as a function of two parameters s and t, bilinear over bilinear."""

    parameters: tuple[Parameter, Parameter]
    """The parameters s and t."""
    values: tuple[float, float]
    """Their values in the network."""
    target: Variable
    """The target."""
    coefficients: Floats
    """``(states, 4)`` the numbers of P(state, evidence) = k₀ s t + k₁ s + k₂ t + k₃, divided by
    P(evidence) in the network."""

    @checked
    def __call__(self, s: float, t: float) -> Floats:
        """Return the posterior ``(states,)`` if the parameters are s and t.

        It is NaN if the evidence is impossible then.

        Raises
        ------
        InvalidArgumentError
            If s or t is not a probability, or both are of one row and their sum exceeds one.
        """
        if not (0 <= s <= 1 and 0 <= t <= 1):
            raise InvalidArgumentError(f"expected probabilities from 0 to 1, got {s} and {t}")
        first, second = self.parameters
        same_row = first.variable == second.variable and first.given == second.given
        if same_row and s + t > 1 + 1e-12:
            raise InvalidArgumentError(
                f"{first} and {second} are in one row, so that their sum is at most 1, got {s + t}"
            )
        return quotients(self.coefficients @ np.array([s * t, s, t, 1.0]))


def quotients(numerators: Floats) -> Floats:
    """Return numbers ``(states, …)`` divided by their sum; NaN where it is not positive."""
    # Rounding may leave small negative numbers.
    positive = np.maximum(numerators, 0.0)
    total = positive.sum(axis=0)
    shares: Floats = np.divide(
        positive, total, out=np.full(numerators.shape, np.nan), where=total > 0
    )
    return shares
