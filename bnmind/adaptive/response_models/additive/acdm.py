"""The additive model (A-CDM): each skill adds to the chance of a right response.

P(right | α) = δ_0 + Σ_k δ_k α_k, with α_k = 1 if the examinee has the required level of skill k,
δ_0 the ``intercept`` and δ_k the ``effects``. It is G-DINA with the identity link and without
interactions.

References
----------
J. de la Torre, "The generalized DINA model framework", Psychometrika 2011, equation 11.
"""

from __future__ import annotations

import dataclasses
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
from bnmind.adaptive.response_models.additive.link import IDENTITY
from bnmind.adaptive.response_models.base.model import check_skills
from bnmind.adaptive.response_models.base.parameters import Number
from bnmind.information import Floats

__all__ = ["Acdm"]


@dataclass(frozen=True)
class Acdm(ItemEffects):
    """Right with a chance that each skill raises by its effect.

    Parameters
    ----------
    intercept
        The chance of a right response without any skill.
    effects
        The increase of the chance by each skill. All sums must be chances.
    required
        As for `Dina`.
    """

    link = IDENTITY

    intercept: Number
    effects: tuple[Number, ...]
    required: tuple[int, ...] | None = None

    def _faults(self) -> Iterator[str]:
        low = self.intercept + sum(min(effect, 0.0) for effect in self.effects)
        high = self.intercept + sum(max(effect, 0.0) for effect in self.effects)
        if low < -ROUNDING or high > 1 + ROUNDING:
            yield f"expected sums of effects in [0, 1], got {low:g} to {high:g}"

    @property
    def coefficients(self) -> Floats:
        """The intercept and the effects."""
        return sealed(np.array([self.intercept, *self.effects]))

    def with_coefficients(self, coefficients: Floats) -> Self:
        """Return the model with other coefficients."""
        coefficients = self._numbers(coefficients)
        intercept, *effects = coefficients.tolist()
        return dataclasses.replace(self, intercept=intercept, effects=tuple(effects))

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Self:
        """Return a model with equal effects, from the guess to one minus the slip."""
        check_skills(required, sizes)
        intercept, *effects = cls._even(len(required), guess, slip).tolist()
        return cls(intercept, tuple(effects), needed_levels(required))
