r"""Shadow tests: each item is the best one of the best complete test.

==========  ====================================================================
symbol      name here
==========  ====================================================================
I_i         the score of item i by ``scored``
x_i         whether item i is in the shadow test; 1 for the items asked
n           ``blueprint.length``
==========  ====================================================================

Before each question a complete test is assembled that holds all items asked, meets all
constraints and has the largest Σ_i I_i x_i. Its best item that was not asked is asked, and the
rest goes back to the bank.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.assembly.blueprint import (
    Blueprint,
    Program,
    Structure,
    best_completion,
    structure_of,
)
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import check_allowed, enemies_of, item_mask
from bnmind.adaptive.selection.selector import (
    BatchSelection,
    ScoringSelector,
    Selection,
    in_bank_order,
)
from bnmind.information import Floats, tied_best

_DIGITS = 9
"""Digits of the scores relative to the largest one, so that live and simulated tests agree."""

_FILL = 1e-3
"""The worth of an item of score 0, relative to the best."""


@dataclass(frozen=True)
class ShadowTest(Value):
    """Select the best item of the best complete test that holds all items answered.

    Constraints that will matter later are met at the smallest loss of score, where `Blueprint`
    alone would let a selector run into them. Use the same blueprint as a rule too, so that the
    minima hold if items are skipped, and stoppers wait for them. If no complete test is left,
    the best allowed item is asked.

    Parameters
    ----------
    scored
        The selector that scores the items.
    blueprint
        The constraints, with a length.

    References
    ----------
    W. van der Linden and L. Reese, "A model for optimal constrained adaptive testing", Appl.
    Psychol. Meas. 1998; W. van der Linden, *Linear Models for Optimal Test Design*, Springer
    2005, chapter 9. The program is solved by HiGHS, through ``scipy.optimize.milp``.
    """

    scored: ScoringSelector[SkillBelief]
    blueprint: Blueprint

    def _faults(self) -> Iterator[str]:
        if self.blueprint.length is None:
            yield "shadow tests need a blueprint with a length"

    @checked
    def select(
        self,
        belief: SkillBelief,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the best allowed item of the shadow test; ties go to the first in the bank."""
        bank = belief.bank
        ordered = in_bank_order(belief, items)
        allowed, answered = item_mask(bank, ordered), item_mask(bank, belief.responses)
        open_items = allowed | self._open(bank, answered)
        every = np.full(len(bank.items), -np.inf)
        names = [bank.item_names[place] for place in np.flatnonzero(open_items).tolist()]
        every[open_items] = self.scored.scores(belief, names)
        best = self._best(bank, answered, allowed, open_items, every)
        tied = tuple(bank.item_names[place] for place in best.tolist())
        return Selection(item=tied[0], items=ordered, scores=every[allowed], tied=tied)

    @checked
    def select_batch(
        self,
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        *,
        luck: ArrayLike | None = None,
    ) -> BatchSelection:
        """Return for each examinee the best allowed item of the shadow test."""
        check_allowed(allowed, beliefs.responses.shape)
        bank = beliefs.bank
        answered = beliefs.responses != MISSING
        open_items = allowed | self._open(bank, answered)
        scores = self.scored.allowed_scores(beliefs, open_items)
        items = np.full(len(allowed), MISSING, dtype=np.intp)
        for row in np.flatnonzero(allowed.any(axis=1)).tolist():
            best = self._best(bank, answered[row], allowed[row], open_items[row], scores[row])
            items[row] = best[0]
        scores = np.where(allowed, scores, -np.inf)
        return BatchSelection(items, scores, np.zeros(scores.shape, dtype=bool))

    def _open(self, bank: ItemBank, answered: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return the items that can come later, ``(…, items)``: not answered, and no enemies."""
        return ~answered & ~enemies_of(bank, answered, self.blueprint.enemies)

    def _best(
        self,
        bank: ItemBank,
        answered: NDArray[np.bool_],
        allowed: NDArray[np.bool_],
        open_items: NDArray[np.bool_],
        scores: Floats,
    ) -> NDArray[np.intp]:
        """Return the positions of the best allowed items of the shadow test, in bank order."""
        inside = self._shadow(bank, answered, allowed, allowed, scores)
        if inside is None:
            # Only some items may be asked now, such as those of a stage; others come later.
            inside = self._shadow(bank, answered, open_items, allowed, scores)
        among = allowed if inside is None else inside & allowed
        return tied_best(np.where(among, scores, -np.inf), tolerance=self.scored.tolerance)

    def _shadow(
        self,
        bank: ItemBank,
        answered: NDArray[np.bool_],
        pool: NDArray[np.bool_],
        allowed: NDArray[np.bool_],
        scores: Floats,
    ) -> NDArray[np.bool_] | None:
        """Return the items that complete the test best, with at least one that is allowed.

        Returns
        -------
        NDArray or None
            ``(items,)``; None if items of the pool cannot complete the test.
        """
        structure = structure_of(bank, self.blueprint.bounds, self.blueprint.enemies)
        assert self.blueprint.length is not None  # as the constructor checks
        left = max(self.blueprint.length - int(answered.sum()), 1)
        low, high = scores[pool].min(), scores[pool].max()
        # Scores that differ by rounding alone are equal, so that noise chooses no item.
        span = high - low if high - low > self.scored.tolerance else 1.0
        levels = np.round((scores - low) / span, _DIGITS)
        part_of, n_parts = _parts(structure, pool, levels, left)
        members = np.flatnonzero(part_of != MISSING)
        own = part_of[members]
        # Every item is worth something, so that the shadow test is as long as the test.
        worth = levels[members] + _FILL
        vectors = np.zeros((n_parts, len(structure.members)), dtype=np.intp)
        np.add.at(vectors, own, structure.members[:, members].T.astype(np.intp))
        counts = structure.members[:, answered].sum(axis=1)
        class_of_part = np.zeros(n_parts, dtype=np.intp)
        class_of_part[own] = structure.class_of[members]
        has_allowed = np.zeros(n_parts, dtype=bool)
        has_allowed[own[allowed[members]]] = True
        found = best_completion(
            Program(
                available=np.ones(n_parts, dtype=np.intp),
                sizes=np.bincount(own, minlength=n_parts),
                vectors=vectors,
                need=np.maximum(structure.least - counts, 0),
                room=np.maximum(structure.most - counts, 0),
                length=left,
                begun=np.zeros(n_parts, dtype=bool),
                cliques=structure.cliques[:, class_of_part],
            ),
            np.asarray(np.bincount(own, weights=worth, minlength=n_parts), dtype=np.float64),
            at_least_one=None if has_allowed.all() else has_allowed,
        )
        if found is None or not found.any():
            return None
        inside = np.zeros(len(pool), dtype=bool)
        inside[members] = found[own] > 0
        return inside


def _parts(
    structure: Structure, pool: NDArray[np.bool_], scores: Floats, left: int
) -> tuple[NDArray[np.intp], int]:
    """Return the part of each item of the pool, ``(items,)``, and the number of parts.

    A testlet is one part. Of items that are interchangeable but for their scores, only as many
    of the best are parts as may still be asked; others are `MISSING`.
    """
    part_of = np.full(len(pool), MISSING, dtype=np.intp)
    single = np.flatnonzero(pool & ~structure.in_testlet())
    order = single[np.lexsort((single, -scores[single], structure.class_of[single]))]
    classes = structure.class_of[order]
    first = np.searchsorted(classes, classes)
    kept = order[np.arange(len(order)) - first < left]
    part_of[kept] = np.arange(len(kept))
    inside = np.flatnonzero(pool & structure.in_testlet())
    testlets, own = np.unique(structure.class_of[inside], return_inverse=True)
    part_of[inside] = len(kept) + own
    return part_of, len(kept) + len(testlets)
