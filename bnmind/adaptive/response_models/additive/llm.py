"""The linear logistic model (LLM): each skill adds to the log-odds of a right response.

logit P(right | α) = λ_0 + Σ_k λ_k α_k, with α_k = 1 if the examinee has the required level of
skill k, λ_0 the ``intercept`` and λ_k the ``effects``. It is G-DINA with the logit link and
without interactions, and also known as the compensatory RUM (C-RUM).

References
----------
E. Maris, "Estimating multiple classification latent class models", Psychometrika 1999; J. de la
Torre, "The generalized DINA model framework", Psychometrika 2011, equation 13.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Self

import numpy as np

from bnmind._arguments import checked
from bnmind._values import sealed
from bnmind.adaptive.response_models.additive.effects import ItemEffects, needed_levels
from bnmind.adaptive.response_models.additive.link import LOGIT
from bnmind.adaptive.response_models.base.model import check_skills
from bnmind.adaptive.response_models.base.parameters import Number
from bnmind.information import Floats

__all__ = ["Llm"]


@dataclass(frozen=True)
class Llm(ItemEffects):
    """Right with log-odds that each skill raises by its effect.

    Parameters
    ----------
    intercept
        The natural logarithm of the odds of a right response without any skill.
    effects
        The increase of the log-odds by each skill.
    required
        As for `Dina`.
    """

    link = LOGIT

    intercept: Number
    effects: tuple[Number, ...]
    required: tuple[int, ...] | None = None

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
