"""The NIDO model: the compensatory counterpart of NIDA; each skill adds to the log-odds.

logit P(right | α) = Σ_k (β_k0 + β_k1 α_k) over the skills that the item needs, with α_k = 1 if the
examinee has the required level of skill k, β_k0 the ``intercepts`` and β_k1 the ``effects``. Those
of a skill are the same in all items that need it. An item holds a copy of them; learning keeps the
copies equal. With parameters of its own for each item, it is `Llm`.

References
----------
J. Templin, *CDM user's guide*, 2006; A. Rupp, J. Templin and R. Henson, *Diagnostic
Measurement*, 2010, chapter 6.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Self

import numpy as np

from bnmind._arguments import checked
from bnmind._values import sealed
from bnmind.adaptive.response_models.additive.effects import SkillEffects, needed_levels
from bnmind.adaptive.response_models.additive.link import LOGIT
from bnmind.adaptive.response_models.base.model import check_skills
from bnmind.adaptive.response_models.base.parameters import Number, refuse
from bnmind.information import Floats

__all__ = ["Nido"]


@dataclass(frozen=True)
class Nido(SkillEffects):
    """Right with log-odds to which each skill adds the same in all items.

    Parameters
    ----------
    intercepts, effects
        For each skill of the item, its part of the log-odds if it is missing, and the increase
        if it is present.
    required
        As for `Dina`.
    """

    link = LOGIT

    intercepts: tuple[Number, ...]
    effects: tuple[Number, ...]
    required: tuple[int, ...] | None = None

    def _faults(self) -> Iterator[str]:
        if len(self.intercepts) != len(self.effects):
            yield f"expected as many intercepts as effects, got {self}"

    @property
    def coefficients(self) -> Floats:
        """The intercepts, then the effects."""
        return sealed(np.array([*self.intercepts, *self.effects]))

    def with_coefficients(self, coefficients: Floats) -> Self:
        """Return the model with other coefficients."""
        coefficients = self._numbers(coefficients)
        intercepts, effects = np.split(coefficients, 2)
        return dataclasses.replace(
            self, intercepts=tuple(intercepts.tolist()), effects=tuple(effects.tolist())
        )

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Self:
        """Return a model that has the guess and the slip if the item needs one skill."""
        check_skills(required, sizes)
        if not (0 < guess < 1 and 0 < slip < 1):
            refuse([f"expected a guess and a slip above 0 and below 1, got {guess} and {slip}"])
        n = len(required)
        low, high = LOGIT.of(np.array([guess, 1 - slip])).tolist()
        return cls((low,) * n, (high - low,) * n, needed_levels(required))
