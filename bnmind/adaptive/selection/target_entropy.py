r"""Minimal expected entropy of some of the skills, together or one by one.

=========  ==================================================================
symbol     name here
=========  ==================================================================
S_T        the target skills jointly
I(X; S_T)  H(X) − Σ_s P(s) H(X | S_T = s): the same formula with the targets'
           configurations as causes, P(X | s) as the channel
=========  ==================================================================
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge, MinLen

from bnmind._arguments import checked_if_it_fails
from bnmind._values import Distinct, Finite
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.skill_response_joints import (
    batch_response_joints,
    checked_skills,
    response_joints,
)
from bnmind.adaptive.selection.selector import TOLERANCE, ScoringSelector
from bnmind.information import Floats, information

__all__ = ["SkillEntropy", "TargetEntropy", "information_about"]

_Weight = Annotated[float, Ge(0), Finite]


def information_about(joints: Floats) -> Floats:
    """Return the information of items about skills, from their joint distributions.

    Parameters
    ----------
    joints
        ``(…, configurations, items, responses)``, as `response_joints` returns.

    Returns
    -------
    Floats
        ``(…, items)``, in bits.
    """
    by_item = np.moveaxis(joints, -3, -2)
    masses = by_item.sum(axis=-1)
    is_possible = masses[..., None] > 0
    channel = np.divide(by_item, masses[..., None], out=np.zeros_like(by_item), where=is_possible)
    return information(masses, channel)


@dataclass(frozen=True)
class TargetEntropy(ScoringSelector[SkillBelief]):
    """Select the item with the most expected information about some skills jointly.

    The score is in bits. Information about other skills counts only through its dependence
    with the target skills.

    Parameters
    ----------
    skills
        The names of the target skills.
    tolerance
        Information closer than this, in bits, counts as equal.

    References
    ----------
    Minimal expected entropy (see `MinimalEntropy`) of a marginal of the belief.
    """

    skills: Annotated[tuple[str, ...], MinLen(1), Distinct]
    tolerance: float = TOLERANCE

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return the information about the target skills, in bits."""
        return information_about(response_joints(belief, self.skills, items))

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the information about the target skills, ``(examinees, items)``."""
        return information_about(batch_response_joints(beliefs, self.skills))


@dataclass(frozen=True)
class SkillEntropy(ScoringSelector[SkillBelief]):
    """Select the item with the smallest expected sum of the entropies of single skills.

    The score is Σ_k w_k I(X; S_k), in bits: each skill counts separately, whatever their
    dependence.

    Parameters
    ----------
    weights
        The weight of each skill, at least 0; default 1 for all skills.
    tolerance
        Scores closer than this count as equal.
    """

    weights: Annotated[Mapping[str, _Weight], MinLen(1)] | None = None
    tolerance: float = TOLERANCE

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return the weighted sum of the information about each skill, in bits."""
        total = np.zeros(len(items))
        for skill, weight in self._weighed(belief.bank.skills).items():
            checked_skills(belief.bank, [skill])
            if weight:
                total += weight * information_about(response_joints(belief, [skill], items))
        return total

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the weighted sum of the information about each skill, ``(examinees, items)``."""
        total = np.zeros((len(beliefs), len(beliefs.bank.items)))
        for skill, weight in self._weighed(beliefs.bank.skills).items():
            checked_skills(beliefs.bank, [skill])
            if weight:
                total += weight * information_about(batch_response_joints(beliefs, [skill]))
        return total

    def _weighed(self, skills: Sequence[str]) -> Mapping[str, float]:
        return dict.fromkeys(skills, 1.0) if self.weights is None else self.weights
