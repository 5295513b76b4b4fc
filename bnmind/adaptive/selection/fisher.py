r"""Maximal Fisher information at an estimated ability, for IRT banks.

=========  ==================================================================
symbol     name here
=========  ==================================================================
θ̂          ``estimate(belief)``
I_j(θ̂)     ``fisher_information``; with two responses
           a² (P − c)² (d − P)² / ((d − c)² P (1 − P)), as in catsim
=========  ==================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked_if_it_fails
from bnmind.adaptive.beliefs.ability_estimates import AbilityEstimate, ability_of, expected_ability
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.response_models.curves import Logistic
from bnmind.adaptive.selection.selector import TOLERANCE, ScoringSelector
from bnmind.errors import InvalidModelError
from bnmind.information import Floats

__all__ = ["MaximalFisher", "fisher_information"]


@runtime_checkable
class _Curve(Protocol):
    def fisher_information(self, abilities: ArrayLike) -> Floats:
        """Return Fisher's information at each ability."""


def fisher_information(bank: ItemBank, items: Sequence[str], abilities: ArrayLike) -> Floats:
    """Return Fisher's information of items at abilities, ``(…, items)``.

    Raises
    ------
    InvalidModelError
        If an item has no curve, as those of `irt_bank` have.
    """
    ability_of(bank)
    theta = np.asarray(abilities, dtype=np.float64)[..., None]
    models = [bank.item(name).gate for name in items]
    values = np.empty((*theta.shape[:-1], len(models)))
    logistic = [number for number, model in enumerate(models) if isinstance(model, Logistic)]
    if logistic:
        parameters = [model for model in models if isinstance(model, Logistic)]
        a, b, c, d = np.array([(g.slope, g.difficulty, g.lower, g.upper) for g in parameters]).T
        distance = a * (theta - b)
        # Nothing overflows, and both tails keep their digits.
        small = np.exp(-np.abs(distance))
        near = 1 / (1 + small)
        far = small * near
        high, low = np.where(distance >= 0, near, far), np.where(distance >= 0, far, near)
        slope = (d - c) * a * near * far
        right, wrong = c * low + d * high, (1 - c) * low + (1 - d) * high
        product = right * wrong
        values[..., logistic] = np.divide(
            slope**2, product, out=np.zeros_like(product), where=product > 0
        )
    for number, (name, model) in enumerate(zip(items, models, strict=True)):
        if isinstance(model, Logistic):
            continue
        if not isinstance(model, _Curve):
            raise InvalidModelError([f"item {name} has no response model with Fisher information"])
        values[..., number] = model.fisher_information(theta[..., 0])
    return values


@dataclass(frozen=True)
class MaximalFisher(ScoringSelector[SkillBelief]):
    """Select the item with the largest Fisher information at the estimated ability.

    With the same estimate it selects the same items as catsim's ``MaxInfoSelector``, except
    that ties go to the first item.

    Parameters
    ----------
    estimate
        The function that estimates the ability: `expected_ability` (default),
        `most_probable_ability`, or a function of your own.
    tolerance
        Information closer than this counts as equal.

    References
    ----------
    F. Lord, *Applications of Item Response Theory to Practical Testing Problems*, 1980;
    the formula for four parameters from D. Magis, "A note on the item information function
    of the four-parameter logistic model", Appl. Psychol. Meas. 2013.

    Examples
    --------
    >>> from bnmind.adaptive import irt_bank, logistic_items, start_belief
    >>> bank = irt_bank(logistic_items([[1.2, -0.5], [0.8, 1.0], [1.1, 0.1]]))
    >>> MaximalFisher().select(start_belief(bank), bank.item_names).item
    'item_1'
    """

    estimate: AbilityEstimate = expected_ability
    tolerance: float = TOLERANCE

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return Fisher's information of each item."""
        return fisher_information(belief.bank, items, self.estimate(belief))

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return Fisher's information of each item, ``(examinees, items)``."""
        return fisher_information(beliefs.bank, beliefs.bank.item_names, self.estimate(beliefs))
