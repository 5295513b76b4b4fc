"""The logistic models of item response theory, with one to four parameters (1PL to 4PL).

=======  ================================================================
symbol   name here
=======  ================================================================
θ        the ability; a variable whose states are numbers
a        ``slope``, the discrimination
b        ``difficulty``
c, d     ``lower``, ``upper``: the asymptotes
P(θ)     c + (d − c) / (1 + exp(−a (θ − b))): the logistic curve, D = 1
I(θ)     a² (P − c)² (d − P)² / ((d − c)² P (1 − P)), Fisher's information
=======  ================================================================

References
----------
A. Birnbaum in F. Lord and M. Novick, *Statistical Theories of Mental Test Scores*, 1968
(1–3PL); M. Barton and F. Lord, ETS RR-81-20, 1981 (4PL); D. Magis, "A note on the item
information function of the four-parameter logistic model", Appl. Psychol. Meas. 2013.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._values import Probability, Value
from bnmind.adaptive.response_models.base.abilities import fisher, parent_abilities
from bnmind.adaptive.response_models.base.curves import graded
from bnmind.adaptive.response_models.base.parameters import Number, slope_faults
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import TabularCPD, Variable

__all__ = ["Logistic"]


@dataclass(frozen=True)
class Logistic(Value):
    """An item with two responses that follows a logistic curve of one to four parameters.

    Parameters
    ----------
    slope
        The discrimination a, not 0. If it is negative, the chance falls with the ability.
    difficulty
        The ability b at the middle of the curve.
    lower, upper
        The asymptotes c and d: the probabilities of a right response at very low and very
        high abilities, in [0, 1].
    """

    slope: Number = 1.0
    difficulty: Number = 0.0
    lower: Probability = 0.0
    upper: Probability = 1.0

    _per_slope = "difficulty"  # the field that is minus an intercept over the slope
    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        yield from slope_faults(self.slope)
        if not self.lower < self.upper:
            yield f"expected asymptotes with lower < upper, got {self.lower} and {self.upper}"

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    @checked
    def probabilities(self, abilities: ArrayLike) -> Floats:
        """Return the chance of each response at each ability, ``(abilities, 2)``.

        Parameters
        ----------
        abilities
            Abilities on the scale of the item's difficulty, an array of any shape; each is any
            finite number.
        """
        theta = np.asarray(abilities, dtype=np.float64)
        wrong, right = graded((self.slope * (theta - self.difficulty))[None])
        # Without subtractions from 1, so that both tails keep their digits.
        high = self.upper * right + self.lower * wrong
        low = (1 - self.upper) * right + (1 - self.lower) * wrong
        return np.stack([low, high], axis=-1)

    @checked
    def fisher_information(self, abilities: ArrayLike) -> Floats:
        """Return Fisher's information at each ability, ``(abilities,)``.

        Parameters
        ----------
        abilities
            Abilities on the scale of the item's difficulty, an array of any shape; each is any
            finite number.
        """
        theta = np.asarray(abilities, dtype=np.float64)
        wrong, right = graded((self.slope * (theta - self.difficulty))[None])
        slope = (self.upper - self.lower) * self.slope * wrong * right
        chances = self.probabilities(theta)
        return fisher(np.stack([-slope, slope], axis=-1), chances)

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given an ability, whose states are numbers."""
        theta = parent_abilities(item, parents)
        return TabularCPD(item, tuple(parents), self.probabilities(theta).T)
