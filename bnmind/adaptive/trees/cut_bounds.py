r"""Bounds of the results of tests that were not followed to their end.

=============  =====================================================================
symbol         name here
=============  =====================================================================
q(s)           ``TableBatch.table``, the belief about the profiles s
c(s)           ``Resolution.classes``: profiles with the same chances of all answers
k              ``most``, the number of items that can still be asked
=============  =====================================================================

However many items are asked, answers never tell two profiles of one class apart. For every test
that goes on from q:

* accuracy of the profile: from max_s q(s), as more answers never lower the expected probability of
  the best decision, to Σ_c max_{s in c} q(s), that of an examiner who is told the class;
* accuracy of a skill: likewise, with the probability of its levels;
* entropy: from H(q) − min(H(c), Σ of the k largest log₂ numbers of responses) to H(q).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.beliefs.profile_space import ProfileSpace
from bnmind.adaptive.beliefs.table_batch import TableBatch
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.sessions.design import Design
from bnmind.adaptive.stopping.ending import RuleOfWholeTest, RuleWithMinima
from bnmind.adaptive.stopping.stopper import limits_of, most_items_of
from bnmind.information import Floats, unchecked_entropy

__all__ = ["Resolution", "Values", "most_items", "values_now"]


class Values(NamedTuple):
    """The results of tests that end at some beliefs."""

    pattern: Floats
    """``(beliefs,)``, the probability of the most probable profile."""
    skills: Floats
    """``(beliefs, skills)``, the probability of the most probable level."""
    entropy: Floats
    """``(beliefs,)``, in bits."""


def values_now(beliefs: BatchBelief) -> Values:
    """Return the results if the tests end now."""
    skills = [beliefs.marginal(skill).max(axis=1) for skill in beliefs.bank.skills]
    return Values(beliefs.profile().probabilities, np.stack(skills, axis=1), beliefs.entropy)


@dataclass(frozen=True, eq=False)
class Resolution(Sealed):
    """What all items of a bank together can tell; made by `of`."""

    order: NDArray[np.intp]
    """``(profiles,)``, the profiles, those of one class side by side."""
    starts: NDArray[np.intp]
    """``(classes,)``, the place of the first profile of each class."""
    levels: NDArray[np.intp]
    """``(profiles, skills)``, the level of each skill, in the order of ``order``."""

    @classmethod
    def of(cls, bank: ItemBank, space: ProfileSpace) -> Resolution:
        """Return the classes of the profiles of a bank."""
        states = np.indices(space.shape).reshape(len(space.shape), -1)
        number = np.zeros(states.shape[1], dtype=np.intp)
        for item, channel in enumerate(bank.item_channels):
            axes = [space.place[name] for name in bank.causes[bank.cause_numbers[item]]]
            sizes = tuple(space.shape[axis] for axis in axes)
            rows = np.ravel_multi_index(tuple(states[axis] for axis in axes), sizes)
            _, alike = np.unique(channel, axis=0, return_inverse=True)
            # One item after the other, so that the numbers stay small.
            number = number * len(channel) + alike.reshape(-1)[rows]
            _, number = np.unique(number, return_inverse=True)
        order = np.argsort(number, kind="stable")
        _, starts = np.unique(number[order], return_index=True)
        return cls(order, starts, states[: len(bank.skills)].T[order])

    def best(self, beliefs: TableBatch) -> Values:
        """Return bounds of the results, however the tests go on."""
        table = beliefs.table[:, self.order]
        skills = []
        for skill, levels in enumerate(self.levels.T):
            sums = [
                np.add.reduceat(np.where(levels == level, table, 0.0), self.starts, axis=1)
                for level in range(beliefs.space.shape[skill])
            ]
            skills.append(np.max(sums, axis=0).sum(axis=1))
        classes = np.add.reduceat(table, self.starts, axis=1)
        # With hidden variables beside the skills, a profile of the skills is in several cells.
        pattern = (
            np.maximum.reduceat(table, self.starts, axis=1).sum(axis=1)
            if len(beliefs.space.shape) == len(beliefs.bank.skills)
            else np.ones(len(beliefs))
        )
        left = np.maximum(beliefs.entropy - unchecked_entropy(classes), 0.0)
        return Values(pattern, np.stack(skills, axis=1), left)


def most_items(design: Design) -> int:
    """Return the largest number of items of a test.

    Rules with minima hold back every stopper but limits, and some outweigh limits too.
    """
    stopper, every = design.stopper, len(design.bank.items)
    rules = [rule for rule in design.rules if isinstance(rule, RuleWithMinima)]
    if any(isinstance(rule, RuleOfWholeTest) and rule.outweighs_limits() for rule in rules):
        return every
    if rules and stopper is not None:
        stopper = limits_of(stopper)
    most = most_items_of(stopper)
    return every if most is None else min(most, every)
