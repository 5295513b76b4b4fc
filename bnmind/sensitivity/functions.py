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
from bnmind.sensitivity.ends import between
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
    posterior: Floats
    """``(states,)`` the posterior in the network."""
    slopes: Floats
    """``(states,)`` the numbers a of P(state, evidence) = a t + b, divided by P(evidence)."""
    ends: Floats
    """``(2, states)`` P(state, evidence) at t = 0 and at t = 1, divided by P(evidence)."""

    @property
    def constants(self) -> Floats:
        """``(states,)`` the numbers b."""
        constants: Floats = self.ends[0]
        return constants

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
        return quotients(self._numerators(t))

    @checked
    def derivative(self, t: float | None = None) -> Floats:
        """Return the derivatives of the posterior ``(states,)`` at t, by default at its value.

        They are NaN if the evidence is impossible then.

        Parameters
        ----------
        t
            The value of the parameter, from 0 to 1; its present one if None.

        Raises
        ------
        InvalidArgumentError
            If t is not a probability.
        """
        numerators = self._numerators(self.value if t is None else t)
        total = numerators.sum()
        if total <= 0:
            return np.full(len(numerators), np.nan)
        zero, one = self.ends
        slope: Floats = (one / total) * (zero.sum() / total) - (zero / total) * (one.sum() / total)
        return slope

    def _numerators(self, t: float) -> Floats:
        """Return P(state, evidence) if the parameter is t, divided by P(evidence)."""
        _check_probability(t)
        return between(self.ends, np.array(self.value), np.array(t), self.posterior)

    @checked
    def value_for(self, state: Any, probability: float) -> float | None:
        """Return the value of the parameter that gives a state this posterior probability.

        The result is None if no value from 0 to 1 does, or if every value does.

        Parameters
        ----------
        state
            A state of the target.
        probability
            The posterior probability that is wanted.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            If the target has no such state, or the second argument is not a probability.
        """
        place = self.target.index(state)
        _check_probability(probability)
        totals = self.ends.sum(axis=1)
        low, high = self.ends[:, place] - probability * totals
        slope = high - low
        if abs(slope) <= _ROUNDING * float(self.ends[:, place].sum() + probability * totals.sum()):
            return None
        t = float(-low / slope)
        if not -_ROUNDING <= t <= 1 + _ROUNDING:
            return None
        t = min(max(t, 0.0), 1.0)
        return t if (1 - t) * totals[0] + t * totals[1] > 0 else None


@dataclass(frozen=True, eq=False, kw_only=True)
class TwoWayFunction(Sealed):
    """The posterior of a target as a function of two parameters s and t, bilinear over bilinear."""

    parameters: tuple[Parameter, Parameter]
    """The parameters s and t."""
    values: tuple[float, float]
    """Their values in the network."""
    target: Variable
    """The target."""
    posterior: Floats
    """``(states,)`` the posterior in the network."""
    corners: Floats
    """P(state, evidence) for extreme s and t, divided by P(evidence) in the network.

    The shape is ``(states, 4)``, at (0, 0), (0, 1), (1, 0) and (1, 1). For two entries of one row
    it is ``(states, 3)``, at (0, 0), (1, 0) and (0, 1)."""

    @property
    def coefficients(self) -> Floats:
        """``(states, 4)`` the numbers of P(state, evidence) = k₀ s t + k₁ s + k₂ t + k₃."""
        if self._in_one_row:
            rest, first, second = self.corners.T
            both = np.zeros(len(rest))
        else:
            rest, second, first, far = self.corners.T
            both = (far - first) - (second - rest)
        coefficients = np.stack([both, first - rest, second - rest, rest], axis=1)
        coefficients.flags.writeable = False
        return coefficients

    @property
    def _in_one_row(self) -> bool:
        return int(self.corners.shape[1]) == 3

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
        left = 1 - s - t
        if self._in_one_row and left < -_ROUNDING:
            first, second = self.parameters
            raise InvalidArgumentError(
                f"{first} and {second} are in one row, so that their sum is at most 1, got {s + t}"
            )
        if (s, t) == self.values:
            return quotients(self.posterior)
        if self._in_one_row:
            weights = [left if left > _ROUNDING else 0.0, s, t]
        else:
            weights = [(1 - s) * (1 - t), (1 - s) * t, s * (1 - t), s * t]
        return quotients(self.corners @ np.array(weights))


def _check_probability(number: float) -> None:
    if not 0 <= number <= 1:
        raise InvalidArgumentError(f"expected a probability from 0 to 1, got {number}", number)


def quotients(numerators: Floats) -> Floats:
    """Return numbers of at least 0, ``(states, …)``, divided by their sum; NaN where it is zero."""
    total = numerators.sum(axis=0)
    shares: Floats = np.divide(
        numerators, total, out=np.full(numerators.shape, np.nan), where=total > 0
    )
    return shares
