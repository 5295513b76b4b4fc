"""The reduced reparametrized unified model (RRUM): each missing skill divides the chance.

P(right | α) = π* Π_k r_k*^(1 − α_k), with α_k = 1 if the examinee has the required level of skill
k, π* the ``baseline`` and r_k* the ``penalties``. It is G-DINA with the log link and without
interactions, a noisy-and with a leak, and also known as the generalized NIDA model.

References
----------
S. Hartz, *A Bayesian framework for the unified model for assessing cognitive abilities*,
dissertation, University of Illinois, 2002; J. de la Torre, "The generalized DINA model
framework", Psychometrika 2011, equation 15.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from bnmind._arguments import checked
from bnmind._values import sealed
from bnmind.adaptive.response_models.additive.effects import (
    ROUNDING,
    ItemEffects,
    needed_levels,
)
from bnmind.adaptive.response_models.additive.link import LOG
from bnmind.adaptive.response_models.base.model import check_skills
from bnmind.adaptive.response_models.base.parameters import Scale
from bnmind.information import Floats

__all__ = ["Rrum"]


@dataclass(frozen=True)
class Rrum(ItemEffects):
    """Right with a baseline chance, times a penalty for each missing skill.

    Parameters
    ----------
    baseline
        The chance of a right response with all skills, above 0.
    penalties
        The factor of each skill if it is missing, above 0. A factor above 1 means that the
        skill hurts. All products must be chances.
    required
        As for `Dina`.
    """

    link = LOG

    baseline: Scale
    penalties: tuple[Scale, ...]
    required: tuple[int, ...] | None = None

    def _faults(self) -> Iterator[str]:
        high = self.baseline * math.prod(max(penalty, 1.0) for penalty in self.penalties)
        if high > 1 + ROUNDING:
            yield f"expected products of the baseline and penalties up to 1, got {high:g}"

    @property
    def coefficients(self) -> Floats:
        """The logarithm of the chance without any skill, and of the factor for each skill."""
        factors = -np.log(np.array(self.penalties, dtype=np.float64))
        return sealed(np.array([np.log(self.baseline) - factors.sum(), *factors]))

    def with_coefficients(self, coefficients: Floats) -> Self:
        """Return the model with other coefficients."""
        coefficients = self._numbers(coefficients)
        baseline, penalties = float(np.exp(coefficients.sum())), np.exp(-coefficients[1:]).tolist()
        return dataclasses.replace(self, baseline=baseline, penalties=tuple(penalties))

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Self:
        """Return a model with equal penalties, from the guess to one minus the slip."""
        check_skills(required, sizes)
        factors = cls._even(len(required), guess, slip)[1:]
        return cls(1 - slip, tuple(np.exp(-factors).tolist()), needed_levels(required))
