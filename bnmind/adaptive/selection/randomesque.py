"""Exposure control by drawing among the best items."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_fields, checked
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.selection.selector import (
    BatchSelection,
    ScoringSelector,
    Selection,
    by_rank,
    checked_allowed,
    drawn,
    in_bank_order,
    luck_of,
)
from bnmind.errors import InvalidArgumentError

__all__ = ["Randomesque"]


@dataclass(frozen=True)
class Randomesque:
    """Select one of the few best items, all with the same chance.

    It always needs luck, among one item too: a generator in `select`, numbers in
    `select_batch`.

    Parameters
    ----------
    scored
        What scores the items.
    best
        Among how many of the best to draw, at least 1; fewer if fewer are left.

    References
    ----------
    G. G. Kingsbury and A. Zara, "Procedures for selecting items for computerized adaptive
    tests", Appl. Meas. Educ. 1989.
    """

    scored: ScoringSelector[SkillBelief]
    best: int = 5

    def __post_init__(self) -> None:
        check_fields(self)
        if not self.best >= 1:
            raise InvalidArgumentError(
                f"expected to draw among at least 1 item, got {self.best}", self.best
            )

    @checked
    def select(
        self,
        belief: SkillBelief,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return one of the best items; the first number drawn decides."""
        ordered = in_bank_order(belief, items)
        luck = luck_of(belief, rng)
        scores = self.scored.scores(belief, ordered)
        ranked = by_rank(scores, self.scored.tolerance)[: self.best]
        chosen = int(ranked[int(luck[0] * len(ranked))])
        return Selection(
            ordered[chosen], ordered, scores, tuple(ordered[i] for i in sorted(ranked.tolist()))
        )

    @checked
    def select_batch(
        self,
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        *,
        luck: ArrayLike | None = None,
    ) -> BatchSelection:
        """Return for each examinee one of the best items."""
        checked_allowed(beliefs, allowed)
        first = drawn(luck, allowed.shape)[:, 0]
        scores = self.scored.allowed_scores(beliefs, allowed)
        ranked = by_rank(scores, self.scored.tolerance)
        among = np.minimum(allowed.sum(axis=1), min(self.best, allowed.shape[1]))
        chosen = ranked[np.arange(len(ranked)), (first * among).astype(np.intp)]
        items = np.where(among > 0, chosen, MISSING)
        return BatchSelection(items, scores, np.zeros(scores.shape, dtype=bool))
