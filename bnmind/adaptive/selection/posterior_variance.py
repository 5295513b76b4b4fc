r"""Minimal expected posterior variance (MEPV) of an ability.

==============  ==================================================================
symbol          name here
==============  ==================================================================
θ               the ability, a point of the grid
p(θ, x)         ``joints``: the ability and the response to an item, given the answers
E Var(θ | X)    Var(θ) − score, so the largest score has the smallest expected variance
Var(E(θ | X))   the score: Σ_x p(x) (E(θ | x) − E θ)²
==============  ==================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind.adaptive.beliefs.ability_estimates import ability_of
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.skill_response_joints import batch_response_joints, response_joints
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.response_models.base import ability_values
from bnmind.adaptive.selection.selector import TOLERANCE, ScoringSelector
from bnmind.information import Floats

__all__ = ["MinimalPosteriorVariance"]


@dataclass(frozen=True)
class MinimalPosteriorVariance(ScoringSelector[SkillBelief]):
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

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return the expected reduction of the variance by each item."""
        ability = ability_of(belief.bank)
        return _reduction(belief.bank, response_joints(belief, [ability], items))

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the expected reduction of the variance, ``(examinees, items)``."""
        ability = ability_of(beliefs.bank)
        return _reduction(beliefs.bank, batch_response_joints(beliefs, [ability]))


def _reduction(bank: ItemBank, joints: Floats) -> Floats:
    """Return Var(E(θ | X)), from joints ``(…, abilities, items, responses)``."""
    points = ability_values(bank.variable(ability_of(bank)))
    masses = joints.sum(axis=-3)
    sums = np.tensordot(joints, points, axes=(-3, 0))
    squares = np.divide(sums**2, masses, out=np.zeros_like(sums), where=masses > 0).sum(axis=-1)
    result: Floats = np.maximum(squares - sums.sum(axis=-1) ** 2, 0.0)
    return result
