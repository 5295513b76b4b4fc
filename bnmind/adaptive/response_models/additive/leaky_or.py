"""The noisy-or with a leak: each skill alone may be enough, and so may other causes.

P(right | α) = 1 − (1 − ℓ) Π_k (1 − c_k)^α_k, with α_k = 1 if the examinee has the required level
of skill k, ℓ the ``leak`` and c_k the ``links``. A missing skill never helps, other than in
`NoisyOr`, so that all parameters are identified. The noisy-and with a leak is `Rrum`.

References
----------
M. Henrion, "Some practical issues in constructing belief networks", UAI 1987; J. Vomlel,
"Noisy-or classifier", Int. J. Intell. Syst. 2006.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Annotated, Self

import numpy as np
from annotated_types import Ge, Lt

from bnmind._arguments import checked
from bnmind._values import sealed
from bnmind.adaptive.response_models.additive.effects import ItemEffects, needed_levels
from bnmind.adaptive.response_models.additive.link import COMPLEMENTARY
from bnmind.adaptive.response_models.base.model import check_skills
from bnmind.information import Floats

__all__ = ["LeakyOr"]

_Chance = Annotated[float, Ge(0), Lt(1)]


@dataclass(frozen=True)
class LeakyOr(ItemEffects):
    """Right if any skill works or the leak does, independently of each other.

    Parameters
    ----------
    leak
        The chance of a right response without any skill, in [0, 1).
    links
        The chance that each skill, if present, is enough, in [0, 1).
    required
        As for `Dina`.
    """

    link = COMPLEMENTARY
    always_rises = True

    leak: _Chance
    links: tuple[_Chance, ...]
    required: tuple[int, ...] | None = None

    @property
    def coefficients(self) -> Floats:
        """−ln(1 − ℓ), and −ln(1 − c_k) of each skill."""
        return sealed(COMPLEMENTARY.of(np.array([self.leak, *self.links])))

    def with_coefficients(self, coefficients: Floats) -> Self:
        """Return the model with other coefficients."""
        coefficients = self._numbers(coefficients)
        leak, *links = np.maximum(-np.expm1(-coefficients), 0.0).tolist()
        return dataclasses.replace(self, leak=leak, links=tuple(links))

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> Self:
        """Return a model with equal links, from the guess to one minus the slip."""
        check_skills(required, sizes)
        leak, *links = (-np.expm1(-cls._even(len(required), guess, slip))).tolist()
        return cls(leak, tuple(links), needed_levels(required))
