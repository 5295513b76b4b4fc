"""Selectors for banks with one ability: Fisher information, expected variance, strata.

Maximal Fisher information at an estimated ability:

=========  ==================================================================
symbol     name here
=========  ==================================================================
θ̂          ``estimate(belief)``
I_j(θ̂)     ``fisher_information``; with two responses
           a² (P − c)² (d − P)² / ((d − c)² P (1 − P)), as in catsim
=========  ==================================================================

Minimal expected posterior variance (MEPV) of the ability:

==============  ==================================================================
symbol          name here
==============  ==================================================================
θ               the ability, a point of the grid
p(θ, x)         ``joints``: the ability and the response to an item, given the answers
E Var(θ | X)    Var(θ) − score, so the largest score has the smallest expected variance
Var(E(θ | X))   the score: Σ_x p(x) (E(θ | x) − E θ)²
==============  ==================================================================

The a-stratified method, for items with logistic curves:

==========  ==================================================================
symbol      name here
==========  ==================================================================
a_i, b_i    the slope and the difficulty of item i
θ̂           ``estimate(belief)``
K           ``strata``
==========  ==================================================================

The items are divided into K strata by their slopes, the flattest first, and the test into K
stages. In stage k, the item of stratum k whose difficulty is nearest to θ̂ is asked.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._values import Count
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.estimates import (
    AbilityEstimate,
    ability_of,
    expected_ability,
)
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.response_models.base import ability_values
from bnmind.adaptive.response_models.curves import GradedResponse, Logistic
from bnmind.adaptive.selection.selector import TOLERANCE, Candidates, CandidateSelector
from bnmind.errors import InvalidModelError
from bnmind.information import Floats


def fisher_information(bank: ItemBank, items: Sequence[str], abilities: ArrayLike) -> Floats:
    """Return Fisher's information of items at abilities, ``(…, items)``.

    Raises
    ------
    InvalidModelError
        If an item has no curve, as those of `irt_bank` have.
    """
    ability_of(bank)
    theta = np.asarray(abilities, dtype=np.float64)[..., None]
    models: list[Any] = [bank.item(name).gate for name in items]
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
        if not hasattr(model, "fisher_information"):
            raise InvalidModelError([f"item {name} has no response model with Fisher information"])
        values[..., number] = model.fisher_information(theta[..., 0])
    return values


@dataclass(frozen=True)
class MaximalFisher(CandidateSelector[SkillBelief]):
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

    def _scores(self, candidates: Candidates) -> Floats:
        abilities = self.estimate(candidates.belief)
        return fisher_information(candidates.bank, candidates.items, abilities)


@dataclass(frozen=True)
class MinimalPosteriorVariance(CandidateSelector[SkillBelief]):
    """Select the item with the smallest expected variance of the ability after its response.

    The score is the expected reduction of the variance of the belief, in squared units of the
    ability. The bank has one ability whose states are numbers, such as that of `irt_bank`.

    Parameters
    ----------
    tolerance
        Scores closer than this count as equal.

    References
    ----------
    W. van der Linden, "Bayesian item selection criteria for adaptive testing", Psychometrika
    1998, eq. 12 (minimum expected posterior variance); R. Owen, "A Bayesian sequential
    procedure for quantal response in the context of adaptive mental testing", JASA 1975.

    Examples
    --------
    >>> from bnmind.adaptive import irt_bank, logistic_items, start_belief
    >>> bank = irt_bank(logistic_items([[1.2, -0.5], [0.8, 1.0], [1.1, 0.1]]))
    >>> found = MinimalPosteriorVariance().select(start_belief(bank), bank.item_names)
    >>> found.item, found.scores.round(3).tolist()
    ('item_1', [0.209, 0.111, 0.194])
    """

    tolerance: float = TOLERANCE

    def _scores(self, candidates: Candidates) -> Floats:
        bank = candidates.bank
        ability = ability_of(bank)
        joints, points = candidates.joints([ability]), ability_values(bank.variable(ability))
        masses = joints.sum(axis=-3)
        sums = np.tensordot(joints, points, axes=(-3, 0))
        squares = np.divide(sums**2, masses, out=np.zeros_like(sums), where=masses > 0)
        # Var(E(θ | X))
        reduction: Floats = squares.sum(axis=-1) - sums.sum(axis=-1) ** 2
        return np.maximum(reduction, 0.0)


_FAR = 1e6
"""Added to the distance of an item for each stratum between its own and that of the stage."""


@dataclass(frozen=True)
class AStratified(CandidateSelector[SkillBelief]):
    """Ask flat items first and steep items last, each with a difficulty near the ability.

    Steep items are kept for the end of the test, when the ability is known better, so items
    are used more evenly. If no item of the stage's stratum may be asked, an item of the
    nearest stratum is. Answers are counted to find the stage.

    Parameters
    ----------
    length
        The number of items in the test, at least 1. The stages have equal lengths.
    strata
        The number of strata, at least 1.
    blocked
        Whether to divide the items by their difficulty into blocks first, and each block by
        slope, so that the difficulties of all strata are alike (b-blocking).
    estimate
        The function that estimates the ability.
    tolerance
        Distances closer than this count as equal.

    References
    ----------
    H.-H. Chang and Z. Ying, "a-Stratified multistage computerized adaptive testing", Appl.
    Psychol. Meas. 1999; H.-H. Chang, J. Qian and Z. Ying, "a-Stratified multistage computerized
    adaptive testing with b blocking", 2001.
    """

    length: Count
    strata: Count = 4
    blocked: bool = field(default=False, kw_only=True)
    estimate: AbilityEstimate = expected_ability
    tolerance: float = TOLERANCE

    def _scores(self, candidates: Candidates) -> Floats:
        bank = candidates.bank
        slopes, difficulties = _curves(bank)
        stratum = _strata(slopes, difficulties, self.strata, blocked=self.blocked)
        stage = np.minimum(candidates.n_answered * self.strata // self.length, self.strata - 1)
        away = np.abs(stratum - stage[..., None])
        abilities = np.asarray(self.estimate(candidates.belief))
        distances = np.abs(difficulties - abilities[..., None]) + _FAR * away
        return -distances[..., [bank.position(name) for name in candidates.items]]


def _curves(bank: ItemBank) -> tuple[Floats, Floats]:
    """Return the size of the slope and the difficulty of each item, ``(items,)``."""
    ability_of(bank)
    pairs, wrong = [], []
    for item in bank.items:
        if isinstance(item.gate, Logistic):
            pairs.append((abs(item.gate.slope), item.gate.difficulty))
        elif isinstance(item.gate, GradedResponse):
            pairs.append((abs(item.gate.slope), float(np.mean(item.gate.thresholds))))
        else:
            wrong.append(item.name)
    if wrong:
        raise InvalidModelError(
            [f"items with a slope and a difficulty are needed, not {', '.join(wrong[:5])}"]
        )
    slopes, difficulties = np.array(pairs, dtype=np.float64).T
    return slopes, difficulties


def _strata(
    slopes: Floats, difficulties: Floats, strata: int, *, blocked: bool
) -> NDArray[np.intp]:
    """Return the stratum of each item, from 0 for the flattest, ``(items,)``."""
    n = len(slopes)
    result = np.empty(n, dtype=np.intp)
    if not blocked:
        result[np.argsort(slopes, kind="stable")] = np.arange(n) * strata // n
        return result
    by_difficulty = np.argsort(difficulties, kind="stable")
    for start in range(0, n, strata):
        block = by_difficulty[start : start + strata]
        inside = block[np.argsort(slopes[block], kind="stable")]
        result[inside] = np.arange(len(inside)) * strata // len(inside)
    return result
