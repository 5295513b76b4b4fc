"""Exposure control by drawing among the best items."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from bnmind._values import Count
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.selection.drawing import DrawingSelector
from bnmind.adaptive.selection.selector import (
    BatchSelection,
    ScoringSelector,
    Selection,
    by_rank,
)
from bnmind.information import Floats

__all__ = ["Randomesque"]


@dataclass(frozen=True)
class Randomesque(DrawingSelector):
    """Select one of the few best items, each with the same probability.

    The first random number decides. It is required even if there is only one item.

    Parameters
    ----------
    scored
        The selector that scores the items.
    best
        The number of best items to draw from, at least 1; fewer if fewer may be asked.
    within
        The largest share of the best score, in (0, 1), by which another score may be smaller;
        default any.

    References
    ----------
    G. G. Kingsbury and A. Zara, "Procedures for selecting items for computerized adaptive
    tests", Appl. Meas. Educ. 1989.
    """

    scored: ScoringSelector[SkillBelief]
    best: Count = 5
    within: Annotated[float, Gt(0), Lt(1)] | None = None

    def _among(self, scores: Floats) -> NDArray[np.intp]:
        """Return the number of items to draw from, by scores that are −inf for others."""
        near = scores > -np.inf
        if self.within is not None:
            best = scores.max(axis=-1, keepdims=True)
            near &= scores >= best - self.within * np.abs(best) - self.scored.tolerance
        among: NDArray[np.intp] = np.minimum(near.sum(axis=-1), min(self.best, scores.shape[-1]))
        return among

    def _selected(self, belief: SkillBelief, ordered: tuple[str, ...], luck: Floats) -> Selection:
        scores = self.scored.scores(belief, ordered)
        ranked = by_rank(scores, self.scored.tolerance)[: self._among(scores)]
        chosen = int(ranked[int(luck[0] * len(ranked))])
        return Selection(
            item=ordered[chosen],
            items=ordered,
            scores=scores,
            tied=tuple(ordered[i] for i in sorted(ranked.tolist())),
        )

    def _selected_batch(
        self, beliefs: BatchBelief, allowed: NDArray[np.bool_], luck: Floats
    ) -> BatchSelection:
        scores = self.scored.allowed_scores(beliefs, allowed)
        ranked = by_rank(scores, self.scored.tolerance)
        among = self._among(scores)
        chosen = ranked[np.arange(len(ranked)), (luck[:, 0] * among).astype(np.intp)]
        items = np.where(among > 0, chosen, MISSING)
        return BatchSelection(items, scores, np.zeros(scores.shape, dtype=bool))
