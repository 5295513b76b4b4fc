r"""Tests by content in turns, by stages, and by shadow tests.

A shadow test
-------------
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
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import MinLen
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._values import Count, Distinct, Value
from bnmind.adaptive.assembly.blueprint import (
    Blueprint,
    Bound,
    Program,
    Structure,
    best_completion,
    structure_of,
)
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import (
    asked_mask,
    check_allowed,
    checked_asked,
    enemies_of,
    item_mask,
)
from bnmind.adaptive.selection.scores import MinimalEntropy
from bnmind.adaptive.selection.selector import (
    BatchSelection,
    ScoringSelector,
    Selection,
    Selector,
    in_bank_order,
)
from bnmind.information import Floats, tied_best

_DIGITS = 9
"""Digits of the scores relative to the largest one, so that live and simulated tests agree."""

_FILL = 1e-3
"""The worth of an item of score 0, relative to the best."""


@dataclass(frozen=True)
class ContentOrder(Value):
    """Ask the items of one group before those of the next.

    A group ends when other rules allow none of its items: its maximum is reached, or the
    remaining questions are needed for the minima of other groups, see `Blueprint`. Give each
    group but the last a maximum, or the first groups take all questions that they can. Items
    of no group come last. The numbers of the bounds do not matter here.

    Parameters
    ----------
    groups
        The groups: `CodeBound`, `SkillBound` or `ItemsBound`.
    """

    groups: Annotated[tuple[Bound, ...], MinLen(1)]

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the items that stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        return _first_open(allowed, [group.members(bank) for group in self.groups])


@dataclass(frozen=True)
class StartItems(Value):
    """Ask some items first, in their order.

    An item that other rules do not allow is left out.

    Parameters
    ----------
    items
        The names of the items.
    """

    items: Annotated[tuple[str, ...], Distinct]

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the items that stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        return _first_open(allowed, [item_mask(bank, [name]) for name in self.items])


def _first_open(
    allowed: NDArray[np.bool_], groups: Sequence[NDArray[np.bool_]]
) -> NDArray[np.bool_]:
    """Return the allowed items of the first group ``(items,)`` that has one; without, all."""
    remaining = allowed
    for group in reversed(groups):
        inside = allowed & group
        remaining = np.where(inside.any(axis=1, keepdims=True), inside, remaining)
    return remaining


@dataclass(frozen=True)
class StageItems(Value):
    """Ask only some items in a stage of the test, as far as other rules allow any of them.

    Parameters
    ----------
    items
        The names of the items.
    first, last
        The numbers of the first and the last question of the stage, from 1.
    """

    items: tuple[str, ...]
    first: Count
    last: Count

    def _faults(self) -> Iterator[str]:
        if self.first > self.last:
            yield f"expected first to be at most last, got {self.first} and {self.last}"

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the items that stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        question = 1 + asked_mask(bank, asked).sum(axis=1)
        now = (question >= self.first) & (question <= self.last)
        return np.where(now[:, None], _first_open(allowed, [item_mask(bank, self.items)]), allowed)


@dataclass(frozen=True)
class Stage(Value):
    """A stage of a test with a selector of its own.

    Parameters
    ----------
    selector
        The selector.
    answers
        The number of answers in the stage, at least 1.
    """

    selector: Selector[SkillBelief]
    answers: Count


@dataclass(frozen=True)
class Staged(Value):
    """Select by one selector after the other.

    The number of answers determines the stage; a skipped item does not count.

    Parameters
    ----------
    stages
        The stages, in order.
    then
        The selector after the last stage.

    Examples
    --------
    >>> from bnmind.adaptive import FixedOrder, ItemBank, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1], [0, 1]], guess=0.2, slip=0.1)
    >>> staged = Staged((Stage(FixedOrder(("item_2",)), answers=1),))
    >>> staged.select(start_belief(bank), bank.item_names).item
    'item_2'
    >>> staged.select(start_belief(bank).update("item_2", 1), ["item_1", "item_3"]).item
    'item_1'
    """

    stages: tuple[Stage, ...]
    then: Selector[SkillBelief] = field(default_factory=MinimalEntropy)

    @checked
    def select(
        self,
        belief: SkillBelief,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the item selected by the selector of the stage."""
        number = int(self._numbers(np.array([len(belief.responses)]))[0])
        return self._selectors[number].select(belief, items, rng=rng)

    @checked
    def select_batch(
        self,
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        *,
        luck: ArrayLike | None = None,
    ) -> BatchSelection:
        """Return for each examinee the item selected by the selector of the stage."""
        check_allowed(allowed, beliefs.responses.shape)
        numbers = self._numbers((beliefs.responses != MISSING).sum(axis=1))
        items = np.full(len(allowed), MISSING, dtype=np.intp)
        scores = np.full(allowed.shape, -np.inf)
        aside = np.zeros(allowed.shape, dtype=bool)
        for number in np.unique(numbers).tolist():
            rows = numbers == number
            everybody = bool(rows.all())
            some = beliefs if everybody else beliefs.take(rows)
            own = luck if everybody or luck is None else np.asarray(luck)[rows]
            found = self._selectors[number].select_batch(some, allowed[rows], luck=own)
            items[rows], scores[rows], aside[rows] = found.items, found.scores, found.set_aside
        return BatchSelection(items, scores, aside)

    @property
    def _selectors(self) -> tuple[Selector[SkillBelief], ...]:
        return (*(stage.selector for stage in self.stages), self.then)

    def _numbers(self, answered: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the number of the stage after some answers."""
        ends = np.cumsum([stage.answers for stage in self.stages], dtype=np.intp)
        return np.searchsorted(ends, answered, side="right").astype(np.intp)


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
