"""Confidence sequences: intervals of a mean that may be looked at after every observation.

An interval for a fixed number of observations, such as Student's, is wrong more often than it says
if somebody looks at it repeatedly and stops when it looks good. A confidence sequence covers the
mean at all times at once with the stated probability, so any rule may decide when to stop.

=========  ==================================================================
symbol     name here
=========  ==================================================================
t          ``n``, the number of observations
α          ``error``
ρ          ``rho``, the width of the normal mixture
t*         ``narrowest_at``
=========  ==================================================================

The half-width is σ̂ₜ √(2(tρ²+1)/(t²ρ²) · log(√(tρ²+1)/α)): Ville's inequality for the martingale
that mixes exp(λSₜ − tλ²/2) over λ ~ N(0, ρ²). The sample's standard deviation stands for the true
one.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from bnmind._arguments import checked
from bnmind._values import Count, Value
from bnmind.information import Floats
from bnmind.lab.statistics.intervals import require_error, spread_widths
from bnmind.lab.statistics.moments import Moments

__all__ = ["ConfidenceSequence"]


@dataclass(frozen=True)
class ConfidenceSequence(Value):
    """The asymptotic confidence sequence with a normal mixture as its boundary.

    It is 1.3 to 2 times as wide as Student's interval. The guarantee is asymptotic: it holds the
    better, the later the first look. The paper leaves the first look open; ours waits for a number
    of observations and, as many games of good players are of equal length, for a number of
    observations that are not zero. It cannot foresee an event that has not happened yet, such as
    a lost game that counts as a hundred guesses.

    References
    ----------
    I. Waudby-Smith, D. Arbour, R. Sinha, E. H. Kennedy and A. Ramdas, *Time-uniform central limit
    theory and asymptotic confidence sequences*, Annals of Statistics 52 (2024), 2613-2640;
    theorem 2.2, with ρ as in their appendix.
    H. Robbins, *Statistical methods related to the law of the iterated logarithm*, Annals of
    Mathematical Statistics 41 (1970), 1397-1409.

    Examples
    --------
    >>> looks = ConfidenceSequence()
    >>> round(looks.factor(1000, 0.05) * 1000**0.5, 2)  # Student: 1.96
    3.04
    >>> looks.factor(looks.first - 1, 0.05)
    inf
    """

    narrowest_at: Count = 1000
    """The number of observations for which the interval is about as narrow as it can be."""
    first: Annotated[int, Ge(2)] = 100
    """The number of observations before the first look; earlier intervals are infinite."""
    first_nonzero: Count = 30
    """The number of observations other than zero before the first look."""

    @property
    def name(self) -> str:
        """The name of the method."""
        return "confidence sequence"

    @property
    def in_advance(self) -> bool:
        """The number of observations may be chosen by looking at them."""
        return False

    @checked
    def factor(self, n: int, error: float) -> float:
        """Return half the width in standard deviations; infinite before the first look.

        Parameters
        ----------
        n
            The number of observations, at least 1.
        error
            The probability that the interval misses the mean, above 0 and below 1.
        """
        require_error(n, error)
        if n < self.first:
            return math.inf
        twice = -2 * math.log(error)
        rho_squared = (twice + math.log(twice + 1)) / self.narrowest_at
        scaled = n * rho_squared + 1
        root = 2 * scaled / (n * n * rho_squared) * math.log(math.sqrt(scaled) / error)
        return math.sqrt(root)

    @checked
    def half_widths(self, moments: Moments, error: float) -> Floats:
        """Return half the widths of intervals; infinite before the first look."""
        widths = spread_widths(self.factor(moments.n, error), moments)
        return np.where(moments.nonzero < self.first_nonzero, np.inf, widths)
