"""The nominal response model: responses without an order, such as wrong alternatives.

=========  ===================================================================
symbol     name here
=========  ===================================================================
θ          the ability; a variable whose states are numbers
a_r, c_r   ``slopes`` and ``intercepts``, those of the first response being 0
P(X = r)   exp(a_r θ + c_r) / Σ_q exp(a_q θ + c_q)
=========  ===================================================================

References
----------
R. D. Bock, "Estimating item parameters and latent ability when responses are scored in two
or more nominal categories", Psychometrika 1972. Deviation: the parameters of the first
response are 0, as in the R package mirt; Bock lets them sum to 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import MinLen
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.response_models.base.abilities import fisher, parent_abilities
from bnmind.adaptive.response_models.base.curves import softmax
from bnmind.adaptive.response_models.base.model import check_item
from bnmind.adaptive.response_models.base.parameters import Number
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import TabularCPD, Variable

__all__ = ["Nominal"]


@dataclass(frozen=True)
class Nominal(Value):
    """The nominal response model (Bock) of one ability.

    Parameters
    ----------
    slopes
        For each response but the first, how steeply its chance rises against that of the
        first response; of any sign. The response with the largest slope is the best one.
    intercepts
        For each response but the first, the logarithm of its chance over that of the first
        response at ability 0.

    Examples
    --------
    >>> Nominal((1.0, 2.0), (0.5, 0.0)).probabilities([0.0])[0].round(3).tolist()
    [0.274, 0.452, 0.274]
    """

    slopes: Annotated[tuple[Number, ...], MinLen(1)]
    intercepts: tuple[Number, ...]

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        n, m = len(self.slopes), len(self.intercepts)
        if n != m:
            yield f"expected as many slopes as intercepts, got {n} and {m}"

    @property
    def n_responses(self) -> int:
        """The number of slopes plus one."""
        return len(self.slopes) + 1

    @checked
    def probabilities(self, abilities: ArrayLike) -> Floats:
        """Return the chance of each response at each ability, ``(abilities, responses)``.

        Parameters
        ----------
        abilities
            Abilities on the scale of the item's difficulty, an array of any shape; each is any
            finite number.
        """
        theta = np.asarray(abilities, dtype=np.float64)[..., None]
        return softmax(theta * np.array([0.0, *self.slopes]) + np.array([0.0, *self.intercepts]))

    @checked
    def fisher_information(self, abilities: ArrayLike) -> Floats:
        """Return Fisher's information at each ability, ``(abilities,)``.

        Parameters
        ----------
        abilities
            Abilities on the scale of the item's difficulty, an array of any shape; each is any
            finite number.
        """
        chances = self.probabilities(abilities)
        slopes = np.array([0.0, *self.slopes])
        return fisher(chances * (slopes - (chances @ slopes)[..., None]), chances)

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given an ability, whose states are numbers."""
        check_item(item, self.n_responses)
        theta = parent_abilities(item, parents)
        return TabularCPD(item, tuple(parents), self.probabilities(theta).T)
