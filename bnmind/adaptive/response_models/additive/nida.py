"""The NIDA model: noisy inputs, deterministic "and"; each skill has one guess and one slip.

P(right | α) = Π_k (1 − s_k)^α_k g_k^(1 − α_k), with α_k = 1 if the examinee has the required level
of skill k. The guess g_k and the slip s_k of a skill are the same in all items that need it.
An item holds a copy of them; learning keeps the copies equal. With parameters of its own for
each item, it is `NoisyAnd`.

References
----------
E. Maris, "Estimating multiple classification latent class models", Psychometrika 1999; B. Junker
and K. Sijtsma, "Cognitive assessment models with few assumptions, and connections with
nonparametric item response theory", Appl. Psychol. Meas. 2001.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from annotated_types import Gt, Le

from bnmind._arguments import checked
from bnmind._values import Probability, sealed
from bnmind.adaptive.response_models.additive.effects import SkillEffects, needed_levels
from bnmind.adaptive.response_models.additive.link import LOG
from bnmind.adaptive.response_models.base.model import check_skills
from bnmind.adaptive.response_models.base.parameters import chance_faults
from bnmind.information import Floats

__all__ = ["Nida"]


@dataclass(frozen=True)
class Nida(SkillEffects):
    """Right if every skill works; how well a skill works is the same in all items.

    Parameters
    ----------
    guess, slip
        A chance for each skill of the item: that it works though the examinee lacks it, above
        0; and that it fails though the examinee has it. ``guess + slip`` is at most 1.
    required
        As for `Dina`.
    """

    link = LOG
    always_rises = True

    guess: tuple[Annotated[float, Gt(0), Le(1)], ...]
    slip: tuple[Probability, ...]
    required: tuple[int, ...] | None = None

    def _faults(self) -> Iterator[str]:
        return chance_faults(self.guess, self.slip)

    @property
    def coefficients(self) -> Floats:
        """The logarithm of each guess, then the rise to the logarithm of one minus the slip."""
        works, guessed = np.log1p(-np.array(self.slip)), np.log(np.array(self.guess))
        return sealed(np.concatenate([guessed, works - guessed]))

    def with_coefficients(self, coefficients: Floats) -> Self:
        """Return the model with other coefficients."""
        coefficients = self._numbers(coefficients)
        guessed, rises = np.split(coefficients, 2)
        works = np.minimum(guessed + np.maximum(rises, 0.0), 0.0)
        guess, slip = np.exp(np.minimum(guessed, works)).tolist(), (-np.expm1(works)).tolist()
        return dataclasses.replace(self, guess=tuple(guess), slip=tuple(slip))

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Self:
        """Return a model in which each skill has the guess and the slip."""
        check_skills(required, sizes)
        n = len(required)
        return cls((guess,) * n, (slip,) * n, needed_levels(required))
