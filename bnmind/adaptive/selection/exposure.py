"""Exposure control: selectors that do not ask the best items of every examinee.

The progressive method:

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

The Sympson–Hetter method:

=============  ==============================================================
symbol         name here
=============  ==============================================================
K_i            ``rates[i]``: P(A_i | S_i), the chance to ask a selected item
P(S_i)         ``selected``: the share of tests in which it was selected
r_max          ``limit``
=============  ==============================================================

The item-eligibility method:

=============  ==============================================================
symbol         name here
=============  ==============================================================
α_i            ``asked[i]``: examinees who were asked the item
ε_i            ``eligible[i]``: examinees for whom it was eligible
r_max          ``limit``
P(E_i)         min(1, r_max ε_i / α_i): the chance that it is eligible for the
               next examinee; 1 while α_i = 0
=============  ==============================================================

Which items are eligible is drawn before a test; others are not asked in it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le, Lt
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked, number_array
from bnmind._messages import shown
from bnmind._values import Count, Finite, Probability, Value, sealed
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.scores import MinimalEntropy
from bnmind.adaptive.selection.selector import (
    BatchSelection,
    DrawingSelector,
    ScoringSelector,
    Selection,
    by_rank,
)
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats


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
        return sums / sums[-1] if self.length > 1 else np.ones(1)

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


@dataclass(frozen=True)
class SympsonHetter(DrawingSelector):
    """Ask a selected item only with a certain probability, else try the next best item.

    An item that is selected and not asked is set aside for the rest of the test; see
    `Selection.set_aside`. If all items are rejected, the best one is asked.

    Parameters
    ----------
    scored
        The selector that scores the items.
    rates
        The probability of asking each item when it is selected, in [0, 1]; 1 for items not
        named. To find the rates, alternate between simulations and `adjusted`.

    References
    ----------
    J. B. Sympson and R. D. Hetter, "Controlling item-exposure rates in computerized
    adaptive testing", Proc. 27th Military Testing Association, 1985.
    """

    scored: ScoringSelector[SkillBelief]
    rates: Mapping[str, Probability] = field(default_factory=dict)

    @checked
    def adjusted(self, selected: Mapping[str, float], limit: float) -> SympsonHetter:
        """Return the selector with rates for the next round of simulations.

        Parameters
        ----------
        selected
            The share of tests in which each item was selected, asked or set aside.
        limit
            The largest share of tests in which an item may be asked, in (0, 1].

        Raises
        ------
        InvalidArgumentError
            If the limit is not in (0, 1].
        """
        if not 0 < limit <= 1:
            raise InvalidArgumentError(f"expected a limit in (0, 1], got {limit}", limit)
        return SympsonHetter(
            self.scored,
            {name: limit / share if share > limit else 1.0 for name, share in selected.items()},
        )

    def _selected(self, belief: SkillBelief, ordered: tuple[str, ...], luck: Floats) -> Selection:
        own_luck = luck[[belief.bank.position(name) for name in ordered]]
        scores = self.scored.scores(belief, ordered)
        ranked = by_rank(scores, self.scored.tolerance)
        rates = np.array([self.rates.get(name, 1.0) for name in ordered])
        passed = (own_luck < rates)[ranked]
        first = int(np.argmax(passed))  # the best one if none passes
        item = ordered[int(ranked[first])]
        aside = tuple(ordered[i] for i in ranked[:first])
        return Selection(item=item, items=ordered, scores=scores, tied=(item,), set_aside=aside)

    def _selected_batch(
        self, beliefs: BatchBelief, allowed: NDArray[np.bool_], luck: Floats
    ) -> BatchSelection:
        scores = self.scored.allowed_scores(beliefs, allowed)
        ranked = by_rank(scores, self.scored.tolerance)
        passed = np.take_along_axis(allowed & (luck < self._rates(beliefs.bank)), ranked, axis=1)
        first = np.argmax(passed, axis=1)
        rows = np.arange(len(ranked))
        items = np.where(allowed.any(axis=1), ranked[rows, first], MISSING)
        before = np.arange(ranked.shape[1]) < first[:, None]
        aside = np.zeros(allowed.shape, dtype=bool)
        np.put_along_axis(aside, ranked, before, axis=1)
        return BatchSelection(items, scores, aside & allowed)

    def _rates(self, bank: ItemBank) -> Floats:
        return np.array([self.rates.get(name, 1.0) for name in bank.item_names])


@dataclass(frozen=True, eq=False)
class ItemEligibility(Value):
    """The item-eligibility method: counts so far, and the eligibility for the next test.

    Created by `start`, then by `after`.

    Parameters
    ----------
    limit
        The largest share of examinees who may be asked an item, in (0, 1].
    eligible, asked
        ``(items,)`` numbers of examinees for whom each item was eligible, and was asked.

    References
    ----------
    W. van der Linden and B. Veldkamp, "Constraining item exposure in computerized adaptive
    testing with shadow tests", J. Educ. Behav. Stat. 2004; "Conditional item-exposure
    control in adaptive testing using item-ineligibility probabilities", 2007.
    """

    limit: Annotated[float, Gt(0), Le(1)]
    eligible: Floats
    asked: Floats

    def _faults(self) -> Iterator[str]:
        if self.eligible.ndim != 1 or self.asked.shape != self.eligible.shape:
            yield "expected a number of examinees for each item as eligible and asked"
        elif not np.all((self.asked >= 0) & (self.asked <= self.eligible)):
            yield "no item can have been asked more often than it was eligible"

    @classmethod
    @checked
    def start(cls, bank: ItemBank, limit: float) -> ItemEligibility:
        """Return the counts before the first examinee: every item is eligible.

        Parameters
        ----------
        bank
            The items.
        limit
            The largest exposure rate of an item, above 0 and at most 1.
        """
        nothing = np.zeros(len(bank.items))
        return cls(limit, nothing, nothing)

    @property
    def probabilities(self) -> Floats:
        """The probability that each item is eligible for the next examinee, ``(items,)``."""
        ratio = np.divide(
            self.limit * self.eligible,
            self.asked,
            out=np.ones_like(self.asked),
            where=self.asked > 0,
        )
        return sealed(np.minimum(ratio, 1.0))

    @checked
    def draw(self, luck: ArrayLike) -> NDArray[np.bool_]:
        """Return a mask of eligible items, given random numbers ``(…, items)`` in [0, 1).

        Parameters
        ----------
        luck
            Random numbers, uniform in [0, 1), with the items on the last axis.

        Raises
        ------
        InvalidArgumentError
            If the numbers have another shape.
        """
        numbers = number_array(luck, "luck")
        if numbers.shape[-1:] != self.asked.shape:
            raise InvalidArgumentError(
                f"expected luck of shape (…, {len(self.asked)}), got shape {numbers.shape}", luck
            )
        return numbers < self.probabilities

    @checked
    def after(self, eligible: NDArray[np.bool_], asked: NDArray[np.bool_]) -> ItemEligibility:
        """Return the counts after one or more examinees.

        Parameters
        ----------
        eligible, asked
            Masks ``(items,)`` or ``(examinees, items)``. An item that was asked although it
            was not eligible, because no other remained, counts as eligible.

        Raises
        ------
        InvalidArgumentError
            If a mask is not one of truth values for all items.
        """
        for what, mask in (("eligible", eligible), ("asked", asked)):
            truth = isinstance(mask, np.ndarray) and mask.dtype.kind == "b"
            if not truth or mask.ndim > 2 or mask.shape[-1:] != self.asked.shape:
                raise InvalidArgumentError(
                    f"expected {what} as an array of True and False for {len(self.asked)} items,"
                    f" got {shown(mask)}",
                    mask,
                )
        check_shape(asked, "asked", eligible.shape)
        was_eligible, was_asked = np.atleast_2d(eligible | asked), np.atleast_2d(asked)
        return ItemEligibility(
            self.limit, self.eligible + was_eligible.sum(axis=0), self.asked + was_asked.sum(axis=0)
        )
