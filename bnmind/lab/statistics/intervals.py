"""Confidence intervals of a mean, for a number of observations that was chosen in advance.

An interval is ``mean ± factor · sd``, where ``sd`` is the standard deviation of the observations
and the factor depends on their number and on the allowed probability of error.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bnmind._arguments import checked
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.lab.statistics.moments import Moments

__all__ = [
    "ExactMean",
    "IntervalMethod",
    "NormalInterval",
    "StudentInterval",
    "UnknownInterval",
    "require_error",
    "spread_widths",
]

_ROUNDING = 1e-12
"""Observations with a smaller standard deviation, relative to their mean, are taken as equal."""


class IntervalMethod(Protocol):
    """A way to compute confidence intervals of a mean."""

    @property
    def name(self) -> str:
        """The name of the method, as in a report."""

    @property
    def in_advance(self) -> bool:
        """Whether the method holds for a number of observations chosen in advance.

        Otherwise a test of ranks beside it would not hold, or is not needed.
        """

    def half_widths(self, moments: Moments, error: float) -> Floats:
        """Return half the widths of intervals, shape (series,); inf if nothing is known.

        Parameters
        ----------
        moments
            The moments of the observations.
        error
            The probability that an interval misses its mean, in (0, 1).
        """


class _FixedNumber:
    """An interval of a number of standard deviations, chosen with the number of observations."""

    @property
    def in_advance(self) -> bool:
        """The number of observations is chosen in advance."""
        return True

    def factor(self, n: int, error: float) -> float:
        """Return half the width in standard deviations.

        Parameters
        ----------
        n
            The number of observations, at least 1.
        error
            The probability that the interval misses the mean, above 0 and below 1.
        """
        raise NotImplementedError

    @checked
    def half_widths(self, moments: Moments, error: float) -> Floats:
        """Return half the widths of intervals; infinite where all observations are equal."""
        return spread_widths(self.factor(moments.n, error), moments)


@dataclass(frozen=True)
class StudentInterval(_FixedNumber):
    """The interval of Student's t distribution.

    It holds for a number of observations chosen in advance, exactly for normal ones and
    approximately for others.

    References
    ----------
    Student, *The probable error of a mean*, Biometrika 6 (1908), 1-25.

    Examples
    --------
    >>> round(StudentInterval().factor(25, 0.05), 4)  # 2.064 / 5
    0.4128
    """

    @property
    def name(self) -> str:
        """The name of the method."""
        return "Student's t"

    @checked
    def factor(self, n: int, error: float) -> float:
        """Return half the width in standard deviations; infinite for a single observation.

        Parameters
        ----------
        n
            The number of observations, at least 1.
        error
            The probability that the interval misses the mean, above 0 and below 1.
        """
        from scipy.special import stdtrit

        require_error(n, error)
        if n == 1:
            return math.inf
        return float(-stdtrit(n - 1, error / 2)) / math.sqrt(n)


@dataclass(frozen=True)
class NormalInterval(_FixedNumber):
    """The interval of the normal distribution.

    It holds for a large number of observations, chosen in advance.

    Examples
    --------
    >>> round(NormalInterval().factor(25, 0.05), 4)  # 1.96 / 5
    0.392
    """

    @property
    def name(self) -> str:
        """The name of the method."""
        return "normal"

    @checked
    def factor(self, n: int, error: float) -> float:
        """Return half the width in standard deviations; infinite for a single observation.

        Parameters
        ----------
        n
            The number of observations, at least 1.
        error
            The probability that the interval misses the mean, above 0 and below 1.
        """
        from scipy.special import ndtri

        require_error(n, error)
        return math.inf if n == 1 else float(-ndtri(error / 2)) / math.sqrt(n)


@dataclass(frozen=True)
class ExactMean:
    """The mean itself, if the observations are all that there are, not a sample."""

    @property
    def name(self) -> str:
        """The name of the method."""
        return "exact"

    @property
    def in_advance(self) -> bool:
        """No test is needed."""
        return False

    @checked
    def half_widths(self, moments: Moments, error: float) -> Floats:
        """Return 0 for each series."""
        require_error(moments.n, error)
        return np.zeros(len(moments.means))


@dataclass(frozen=True)
class UnknownInterval:
    """The whole line, if the observations are no sample and so tell nothing about the mean.

    Examples
    --------
    >>> from bnmind.lab import paired_differences
    >>> print(paired_differences({"a": [3, 4], "b": [4, 6]}, interval=UnknownInterval()))
    a - b: -1.5 (-inf to inf)
    """

    @property
    def name(self) -> str:
        """The name of the method."""
        return "unknown"

    @property
    def in_advance(self) -> bool:
        """No test applies."""
        return False

    @checked
    def half_widths(self, moments: Moments, error: float) -> Floats:
        """Return infinity for each series."""
        require_error(moments.n, error)
        return np.full(len(moments.means), np.inf)


def require_error(n: int, error: float) -> None:
    """Raise unless there are observations and the probability of error is in (0, 1)."""
    if n < 1:
        raise InvalidArgumentError(f"expected at least one observation, got {n}", n)
    if not 0 < error < 1:
        raise InvalidArgumentError(
            f"expected a probability of error between 0 and 1, got {error}", error
        )


def spread_widths(factor: float, moments: Moments) -> Floats:
    """Return a factor times the standard deviations; infinite where observations do not vary.

    Equal observations tell nothing about the spread, so their interval is not a point. Neither do
    observations that differ by rounding alone, as means of several games may.
    """
    sds = moments.sds
    vary = sds > _ROUNDING * np.maximum(1.0, np.abs(moments.means))  # False for nan
    return np.where(vary, np.where(vary, sds, 1.0) * factor, np.inf)
