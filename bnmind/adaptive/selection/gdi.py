r"""The G-DINA discrimination index.

=========  ==================================================================
symbol     name here
=========  ==================================================================
α*_lj      a configuration of the item's cause
π(α*_lj)   its mass given the responses so far
P̄_j        Σ_l π(α*_lj) P(X_j=1 | α*_lj)
ς²_j       Σ_l π(α*_lj) [P(X_j=1 | α*_lj) − P̄_j]²
=========  ==================================================================
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.selection.selector import (
    TOLERANCE,
    QuestionBelief,
    ScoringSelector,
)
from bnmind.information import Floats

__all__ = ["DiscriminationIndex"]


@dataclass(frozen=True)
class DiscriminationIndex(ScoringSelector[QuestionBelief]):
    """Select the item with the largest G-DINA discrimination index (GDI).

    The score is the variance of the probability of a right response over the
    configurations of the required skills, weighted by the belief. For items with more than
    two responses it is half the sum of the variances of all responses, which is the same
    for two responses.

    Parameters
    ----------
    tolerance
        Scores closer than this count as equal.

    References
    ----------
    M. Kaplan, J. de la Torre and J. R. Barrada, "New item selection methods for cognitive
    diagnosis computerized adaptive testing", Appl. Psychol. Meas. 2015.
    """

    tolerance: float = TOLERANCE

    @checked_if_it_fails
    def scores(self, belief: QuestionBelief, items: Sequence[str]) -> Floats:
        """Return the index of each item."""
        return _index(belief.masses(items), belief.bank.channels(items))

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the index of each item, ``(examinees, items)``."""
        items = np.arange(len(beliefs.bank.items))
        return _index(beliefs.masses(items), beliefs.bank.channels())


def _index(masses: Floats, channels: Floats) -> Floats:
    mean = np.matmul(masses[..., None, :], channels)
    variances = np.matmul(masses[..., None, :], (channels - mean) ** 2)
    result: Floats = variances[..., 0, :].sum(axis=-1) / 2
    return result
