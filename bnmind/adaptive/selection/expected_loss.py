r"""Decisions about skills, and the items that reduce their expected loss most.

=========  ==================================================================
symbol     name here
=========  ==================================================================
L[d, s]    ``Loss.table``: the loss of decision d if the skills have configuration s
ρ          min_d Σ_s L[d, s] P(s): the risk of deciding now
E ρ        Σ_r min_d Σ_s L[d, s] P(s, X=r): the expected risk after item X
score      Σ over the losses of ρ − E ρ
=========  ==================================================================
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import MinLen
from numpy.typing import ArrayLike

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._messages import counted, shown
from bnmind._values import Distinct, Finite, Value
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.skill_response_joints import (
    batch_response_joints,
    checked_skills,
    response_joints,
)
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.selector import TOLERANCE, ScoringSelector
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["Loss", "LossGain"]


@dataclass(frozen=True, eq=False)
class Loss(Value):
    """The losses of decisions about some skills.

    Parameters
    ----------
    skills
        The skills that a decision is about.
    table
        ``(decisions, configurations)``, finite; the levels of the last skill change fastest.

    Examples
    --------
    Passing an examinee without the skill is three times as bad as failing one with it:

    >>> Loss(("borrow",), [[0, 1], [3, 0]])
    Loss(borrow: 2 decisions)
    """

    skills: Annotated[tuple[str, ...], MinLen(1), Distinct]
    table: Annotated[ArrayLike, Finite]

    def _faults(self) -> Iterator[str]:
        shape = np.shape(self.table)
        if len(shape) != 2 or not shape[0] or not np.all(np.isfinite(self.table)):
            yield f"expected finite losses (decisions, configurations), got shape {shape}"

    def __repr__(self) -> str:
        return f"Loss({', '.join(self.skills)}: {counted(len(np.asarray(self.table)), 'decision')})"

    @classmethod
    @checked
    def zero_one(cls, bank: ItemBank, skills: Sequence[str]) -> Loss:
        """Return the loss that is 0 if the decision names all levels correctly, else 1.

        Parameters
        ----------
        bank
            The item bank.
        skills
            The names of the skills.
        """
        return cls(tuple(skills), 1.0 - np.eye(checked_skills(bank, skills)))

    @classmethod
    @checked
    def each_skill(cls, bank: ItemBank) -> tuple[Loss, ...]:
        """Return a zero-one loss for each skill: the number of skills classified wrongly.

        Parameters
        ----------
        bank
            The item bank.
        """
        return tuple(cls.zero_one(bank, [skill]) for skill in bank.skills)

    @checked
    def risk(self, belief: SkillBelief) -> float:
        """Return the expected loss of the best decision now.

        Parameters
        ----------
        belief
            The belief.
        """
        first = belief.bank.item_names[:1]
        joint = self._checked(response_joints(belief, self.skills, first))
        return float((np.asarray(self.table) @ joint[:, 0].sum(axis=-1)).min())

    @checked
    def gains(self, joints: Floats) -> Floats:
        """Return the expected reduction of the risk by each item.

        Parameters
        ----------
        joints
            ``(…, configurations, items, responses)``, as `response_joints` returns.

        Returns
        -------
        Floats
            ``(…, items)``, never negative.
        """
        joints = self._checked(joints)
        losses = np.einsum("ds,...sir->...dir", np.asarray(self.table), joints)
        now = losses.sum(axis=-1).min(axis=-2)
        after = losses.min(axis=-3).sum(axis=-1)
        gains: Floats = np.maximum(now - after, 0.0)
        return gains

    def _checked(self, joints: Floats) -> Floats:
        if not (isinstance(joints, np.ndarray) and joints.ndim >= 3):
            raise InvalidArgumentError(
                "expected joints as an array (…, configurations, items, responses), got"
                f" {shown(joints)}",
                joints,
            )
        n_configurations, width = joints.shape[-3], np.asarray(self.table).shape[1]
        if n_configurations != width:
            raise InvalidArgumentError(
                f"expected losses for {n_configurations} configurations of"
                f" {', '.join(self.skills)}, got {width}",
                width,
            )
        return joints


@dataclass(frozen=True)
class LossGain(ScoringSelector[SkillBelief]):
    """Select the item with the largest expected reduction of the loss of the best decisions.

    Often no single response can change a decision. Then all scores are zero, and the first
    item in the bank is selected. `MinimalEntropy` does not have this drawback.

    Parameters
    ----------
    losses
        The losses of the decisions, which are added. Default a zero-one loss for each
        skill, see `Loss.each_skill`.
    tolerance
        Gains closer than this count as equal.

    References
    ----------
    C. Tatsuoka and T. Ferguson, "Sequential classification on partially ordered sets", J.
    R. Stat. Soc. B 2003, section 3 (expected loss); H. Raiffa and R. Schlaifer, *Applied
    Statistical Decision Theory*, 1961 (value of sample information).
    """

    losses: Annotated[tuple[Loss, ...], MinLen(1)] | None = None
    tolerance: float = TOLERANCE

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return the expected reduction of the risk by each item."""
        total = np.zeros(len(items))
        for loss in self._losses(belief.bank):
            total += loss.gains(response_joints(belief, loss.skills, items))
        return total

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the expected reduction of the risk by each item, ``(examinees, items)``."""
        total = np.zeros((len(beliefs), len(beliefs.bank.items)))
        for loss in self._losses(beliefs.bank):
            total += loss.gains(batch_response_joints(beliefs, loss.skills))
        return total

    def _losses(self, bank: ItemBank) -> tuple[Loss, ...]:
        return Loss.each_skill(bank) if self.losses is None else self.losses
