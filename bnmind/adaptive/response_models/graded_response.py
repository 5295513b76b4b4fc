"""The graded response model of item response theory: a threshold for each response.

References
----------
F. Samejima, "Estimation of latent ability using a response pattern of graded scores",
Psychometrika monograph 17, 1969.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.response_models.base.abilities import fisher, parent_abilities
from bnmind.adaptive.response_models.base.curves import graded, logistic
from bnmind.adaptive.response_models.base.parameters import Number, increasing, slope_faults
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import TabularCPD, Variable

__all__ = ["GradedResponse"]


@dataclass(frozen=True)
class GradedResponse(Value):
    """Graded responses to one ability, with a threshold for each response (Samejima).

    Parameters
    ----------
    slope
        The discrimination, not 0. If it is negative, high responses are those of low abilities.
    thresholds
        For each response but the first, the ability at which that response or a better
        one has probability 1/2; increasing, or decreasing if the slope is negative.
    """

    slope: Number
    thresholds: tuple[Number, ...]

    _per_slope = "thresholds"  # the field that is minus an intercept over the slope
    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        yield from increasing(self.thresholds, falls=self.slope < 0)
        yield from slope_faults(self.slope)

    @property
    def n_responses(self) -> int:
        """The number of thresholds plus one."""
        return len(self.thresholds) + 1

    @checked
    def probabilities(self, abilities: ArrayLike) -> Floats:
        """Return the chance of each response at each ability, ``(abilities, responses)``.

        Parameters
        ----------
        abilities
            Abilities on the scale of the item's difficulty, an array of any shape; each is any
            finite number.
        """
        return np.moveaxis(graded(self._distances(abilities)), 0, -1)

    @checked
    def fisher_information(self, abilities: ArrayLike) -> Floats:
        """Return Fisher's information at each ability, ``(abilities,)``.

        Parameters
        ----------
        abilities
            Abilities on the scale of the item's difficulty, an array of any shape; each is any
            finite number.
        """
        distances = self._distances(abilities)
        falls = self.slope * logistic(distances) * logistic(-distances)
        edge = np.zeros_like(falls[:1])
        slopes = np.concatenate([edge, falls]) - np.concatenate([falls, edge])
        return fisher(np.moveaxis(slopes, 0, -1), self.probabilities(abilities))

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given an ability, whose states are numbers."""
        theta = parent_abilities(item, parents)
        return TabularCPD(item, tuple(parents), self.probabilities(theta).T)

    def _distances(self, abilities: ArrayLike) -> Floats:
        theta = np.asarray(abilities, dtype=np.float64)
        thresholds = np.asarray(self.thresholds).reshape(-1, *(1,) * theta.ndim)
        distances: Floats = self.slope * (theta[None] - thresholds)
        return distances
