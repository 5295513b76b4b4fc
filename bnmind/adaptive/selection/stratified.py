r"""The a-stratified method, for items with logistic curves.

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

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind._values import Count
from bnmind.adaptive.beliefs.ability_estimates import AbilityEstimate, ability_of, expected_ability
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.response_models.curves import GradedResponse, Logistic
from bnmind.adaptive.selection.selector import TOLERANCE, ScoringSelector
from bnmind.errors import InvalidModelError
from bnmind.information import Floats

__all__ = ["AStratified"]

_FAR = 1e6
"""Added to the distance of an item for each stratum between its own and that of the stage."""


@dataclass(frozen=True)
class AStratified(ScoringSelector[SkillBelief]):
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

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return the negative distance of each item, in units of the ability."""
        bank = belief.bank
        distances = self._distances(
            bank, np.asarray(self.estimate(belief))[None], np.array([len(belief.responses)])
        )
        return -distances[0, [bank.position(name) for name in items]]

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the negative distance of each item, ``(examinees, items)``."""
        answered = (beliefs.responses != MISSING).sum(axis=1)
        return -self._distances(beliefs.bank, self.estimate(beliefs), answered)

    def _distances(self, bank: ItemBank, abilities: Floats, answered: NDArray[np.intp]) -> Floats:
        slopes, difficulties = _curves(bank)
        stratum = _strata(slopes, difficulties, self.strata, blocked=self.blocked)
        stage = np.minimum(answered * self.strata // self.length, self.strata - 1)
        away = np.abs(stratum - stage[:, None])
        result: Floats = np.abs(difficulties - abilities[:, None]) + _FAR * away
        return result


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
