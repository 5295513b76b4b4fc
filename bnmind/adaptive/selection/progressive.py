r"""The progressive method of exposure control.

=========  ==================================================================
symbol     name here
=========  ==================================================================
I_i        the score of item i by ``scored``
R_i        a random number, uniform from 0 to the largest score
q, Q       the number of the question, from 1, and the ``length`` of the test
b          ``acceleration``; t in Barrada et al. (2008)
W_q        Σ_{f=2}^{q} (f − 1)^b / Σ_{f=2}^{Q} (f − 1)^b; 0 for q = 1
=========  ==================================================================

The item with the largest (1 − W_q) R_i + W_q I_i is asked.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Count, Finite
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.selection.drawing import DrawingSelector
from bnmind.adaptive.selection.entropy import MinimalEntropy
from bnmind.adaptive.selection.selector import (
    BatchSelection,
    ScoringSelector,
    Selection,
    by_rank,
)
from bnmind.information import Floats

__all__ = ["Progressive"]


@dataclass(frozen=True)
class Progressive(DrawingSelector):
    """Select at random at first, and by the score more and more.

    The first item is random, and the last one has the largest score. Answers are counted to
    find the number of the question, so a skipped item does not count.

    Parameters
    ----------
    length
        The number of items in the test, at least 1. Later questions go by the score alone.
    scored
        The selector that scores the items.
    acceleration
        At 0 the weight of the score grows evenly with the questions. Above 0 it grows late,
        so more is random; below 0 it grows early.

    References
    ----------
    J. R. Barrada, J. Olea, V. Ponsoda and F. J. Abad, "Incorporating randomness in the Fisher
    information for improving item-exposure control in CATs", Br. J. Math. Stat. Psychol. 2008;
    J. Revuelta and V. Ponsoda, "A comparison of item exposure control methods in computerized
    adaptive testing", J. Educ. Meas. 1998.
    """

    length: Count
    scored: ScoringSelector[SkillBelief] = field(default_factory=MinimalEntropy)
    acceleration: Annotated[float, Finite] = 0.0

    def weights(self) -> Floats:
        """Return the weight of the score at each question, ``(length,)``."""
        places = np.arange(1, self.length, dtype=np.float64)
        # Divided by the place of the largest power, which is then 1, so none is infinite.
        largest = self.length - 1 if self.acceleration >= 0 else 1
        sums = np.cumsum(np.concatenate([[0.0], (places / largest) ** self.acceleration]))
        result: Floats = sums / sums[-1] if self.length > 1 else np.ones(1)
        return result

    def _selected(self, belief: SkillBelief, ordered: tuple[str, ...], luck: Floats) -> Selection:
        own_luck = luck[[belief.bank.position(name) for name in ordered]]
        scores = self.scored.scores(belief, ordered)
        answered = np.array([len(belief.responses)])
        mixed = self._mixed(scores[None], np.ones((1, len(ordered)), bool), own_luck, answered)[0]
        item = ordered[int(by_rank(mixed, self.scored.tolerance)[0])]
        return Selection(item=item, items=ordered, scores=scores, tied=(item,))

    def _selected_batch(
        self, beliefs: BatchBelief, allowed: NDArray[np.bool_], luck: Floats
    ) -> BatchSelection:
        scores = self.scored.allowed_scores(beliefs, allowed)
        answered = (beliefs.responses != MISSING).sum(axis=1)
        mixed = self._mixed(scores, allowed, luck, answered)
        largest = mixed.max(axis=1, keepdims=True)
        best = np.argmax(mixed >= largest - self.scored.tolerance, axis=1)
        items = np.where(allowed.any(axis=1), best, MISSING)
        return BatchSelection(items, scores, np.zeros(scores.shape, dtype=bool))

    def _mixed(
        self, scores: Floats, allowed: NDArray[np.bool_], luck: Floats, answered: NDArray[np.intp]
    ) -> Floats:
        """Return the mixture of luck and scores, ``(examinees, items)``; −inf if not allowed."""
        weight = self.weights()[np.minimum(answered, self.length - 1)][:, None]
        known = np.where(allowed, scores, 0.0)
        # Scores below 0, such as negative distances, are random from the smallest one on.
        least = known.min(axis=1, keepdims=True, initial=0.0)
        span = known.max(axis=1, keepdims=True, initial=0.0) - least
        mixed = (1 - weight) * luck * span + weight * (known - least)
        return np.where(allowed, mixed, -np.inf)
