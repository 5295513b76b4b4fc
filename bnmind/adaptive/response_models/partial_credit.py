"""The generalized partial credit model: steps from each response to the next.

=========  ======================================================================
symbol     name here
=========  ======================================================================
θ          the ability; a variable whose states are numbers
a          ``slope``, the discrimination
b_r        ``thresholds``: the ability at which responses r − 1 and r are equally
           probable; in any order
P(X = r)   exp(Σ_{s ≤ r} a (θ − b_s)) / Σ_q exp(Σ_{s ≤ q} a (θ − b_s))
=========  ======================================================================

References
----------
E. Muraki, "A generalized partial credit model: application of an EM algorithm", Appl.
Psychol. Meas. 1992, eq. 3, with D = 1; with equal slopes, G. Masters, "A Rasch model for
partial credit scoring", Psychometrika 1982.
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
from bnmind.adaptive.response_models.base.parameters import Number, slope_faults
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import TabularCPD, Variable

__all__ = ["PartialCredit"]


@dataclass(frozen=True)
class PartialCredit(Value):
    """The generalized partial credit model (GPCM) of one ability.

    With the same slope for all items it is the partial credit model (PCM), and with two
    responses the 2PL.

    Parameters
    ----------
    slope
        The discrimination, not 0. If it is negative, high responses are those of low abilities.
    thresholds
        For each response but the first, the ability at which that response and the one
        before it are equally probable; in any order.

    Examples
    --------
    >>> PartialCredit(1.0, (-1.0, 1.0)).probabilities([1.0])[0].round(3).tolist()
    [0.063, 0.468, 0.468]
    """

    slope: Number
    thresholds: Annotated[tuple[Number, ...], MinLen(1)]

    _per_slope = "thresholds"  # the field that is minus an intercept over the slope
    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        return slope_faults(self.slope)

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
        theta = np.asarray(abilities, dtype=np.float64)
        steps = self.slope * (theta[..., None] - np.asarray(self.thresholds))
        first = np.zeros((*theta.shape, 1))
        return softmax(np.concatenate([first, np.cumsum(steps, axis=-1)], axis=-1))

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
        scores = np.arange(self.n_responses) * self.slope
        return fisher(chances * (scores - (chances @ scores)[..., None]), chances)

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given an ability, whose states are numbers."""
        check_item(item, self.n_responses)
        theta = parent_abilities(item, parents)
        return TabularCPD(item, tuple(parents), self.probabilities(theta).T)
