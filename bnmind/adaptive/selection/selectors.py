"""Selectors by chance, by an order, by a function, by score per cost, by stages; exposure control.

Exposure control does not ask the best items of every examinee.

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

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le, Lt
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked, number_array
from bnmind._messages import shown
from bnmind._registry import COUNT, Registered, made_by_name
from bnmind._values import Count, Distinct, Finite, Probability, Value, sealed
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.selection.rules import Mask
from bnmind.adaptive.selection.scores import MinimalEntropy
from bnmind.adaptive.selection.selector import (
    LENGTH,
    Choice,
    ScoringSelector,
    Selector,
    best_of,
    by_rank,
    drawn,
    one_of,
    selector,
)
from bnmind.errors import InvalidArgumentError, InvalidModelError, UnknownNameError
from bnmind.information import Floats


@checked
def item_cost(item: Item) -> float:
    """Return the cost of an item.

    Parameters
    ----------
    item
        The item.
    """
    return item.cost


@checked
def item_time(item: Item) -> float:
    """Return the time that an item takes.

    Parameters
    ----------
    item
        The item.
    """
    return item.time


@selector(
    "per-time",
    "most information for its time",
    plain=lambda: PerCost(MinimalEntropy(), item_time),
)
@selector("per-cost", "most information for its cost", plain=lambda: PerCost(MinimalEntropy()))
@dataclass(frozen=True)
class PerCost(ScoringSelector[SkillBelief]):
    """Select the item with the largest score divided by its cost, such as bits a minute.

    Parameters
    ----------
    scored
        The selector that scores the items.
    cost
        The function that returns the cost of an item, above 0: `item_cost` (default),
        `item_time`, or a function of your own.
    tolerance
        Quotients closer than this count as equal.

    References
    ----------
    Y. Cheng, Q. Diao and J. Behrens, "A simplified version of the maximum information per
    time unit method in computerized adaptive testing", Behav. Res. Methods 2017.
    """

    scored: ScoringSelector[SkillBelief]
    cost: Callable[[Item], float] = item_cost

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item, divided by its cost, ``(examinees, items)``."""
        every = np.ones((len(beliefs), len(beliefs.bank.items)), dtype=bool)
        return self._open_scores(beliefs, every)

    def _open_scores(self, beliefs: BatchBelief, allowed: Mask) -> Floats:
        """Return the score of each allowed item, divided by its cost; see `ScoringSelector`."""
        costs = np.array([self.cost(item) for item in beliefs.bank.items], dtype=np.float64)
        wrong = [beliefs.bank.item_names[i] for i in np.flatnonzero(~(costs > 0)).tolist()]
        if wrong:
            raise InvalidModelError(
                [f"the cost must be positive; it is not for {', '.join(wrong[:5])}"]
            )
        return self.scored.allowed_scores(beliefs, allowed) / costs


@dataclass(frozen=True)
class ScoredBy(ScoringSelector[SkillBelief]):
    """Select the item with the highest score by a function.

    Parameters
    ----------
    function
        A function of a belief and the names of the items that may be asked, in bank order.
        It returns a score for each item, larger is better, and must depend on nothing else.
        It is used in live tests and in simulations. A simulation calls it once for each
        examinee and question; with a junction tree each call needs a run of the tree.
    tolerance
        Scores closer than this count as equal.
    batch_function
        An optional function for many examinees at once, which makes simulations faster.
        It takes a `BatchBelief` and the positions of all items, and returns scores
        ``(examinees, items)``.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> hardest = ScoredBy(lambda belief, items: [-belief.predict(name)[1] for name in items])
    >>> hardest.select(start_belief(bank), bank.item_names).item
    'item_2'
    """

    function: Callable[[SkillBelief, tuple[str, ...]], ArrayLike]
    batch_function: Callable[[BatchBelief, NDArray[np.intp]], ArrayLike] | None = field(
        default=None, kw_only=True
    )

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the scores, ``(examinees, items)``; −inf for answered items."""
        return self._open_scores(beliefs, beliefs.responses == MISSING)

    def _open_scores(self, beliefs: BatchBelief, allowed: Mask) -> Floats:
        """Return the scores of the allowed items; see `ScoringSelector`."""
        if self.batch_function is not None and len(beliefs) > 1:
            values = self.batch_function(beliefs, np.arange(allowed.shape[1]))
            return np.where(allowed, _scored(values, allowed.shape, allowed), -np.inf)
        scores = np.full(allowed.shape, -np.inf)
        for row, names in _open_to_each(beliefs, allowed):
            scores[row, allowed[row]] = _scored(
                self.function(beliefs.alone(row), names), (len(names),)
            )
        return scores


def _scored(values: ArrayLike, shape: tuple[int, ...], needed: Mask | None = None) -> Floats:
    """Return scores as a checked array; scores that are not needed may have any value."""
    scores = np.array(values, dtype=np.float64)
    if scores.shape != shape or np.isnan(scores if needed is None else scores[needed]).any():
        raise InvalidArgumentError(
            f"expected scores of shape {shape} without NaN, got shape {scores.shape}", scores.shape
        )
    return scores


def _open_to_each(beliefs: BatchBelief, allowed: Mask) -> Iterator[tuple[int, tuple[str, ...]]]:
    """Yield the rows of examinees who may be asked something, and the names of these items."""
    names = beliefs.bank.item_names
    for row in np.flatnonzero(allowed.any(axis=1)).tolist():
        yield row, tuple([names[i] for i in np.flatnonzero(allowed[row]).tolist()])


@dataclass(frozen=True)
class ChosenBy(Selector[SkillBelief]):
    """Select the item that a function returns, for one examinee after the other.

    Parameters
    ----------
    function
        A function of a belief, the names of the items that may be asked, in bank order,
        and a random generator or None. It returns the name of one of the items. The
        generator is made from the random numbers of the examinee. A simulation calls the
        function once for each examinee and question.
    """

    function: Callable[[SkillBelief, tuple[str, ...], np.random.Generator | None], str]

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Choice:
        """Return the items chosen by the function; their score is 1, that of others 0."""
        numbers = None if luck is None else drawn(luck, allowed.shape)
        items = np.full(len(allowed), MISSING, dtype=np.intp)
        for row, names in _open_to_each(beliefs, allowed):
            own = None if numbers is None else np.random.default_rng(int(numbers[row, 0] * 2**53))
            chosen = self.function(beliefs.alone(row), names, own)
            if chosen not in names:
                raise UnknownNameError("item that may be asked", chosen, names)
            items[row] = beliefs.bank.position(chosen)
        is_chosen = one_of(items, allowed)
        scores = np.where(allowed, is_chosen, -np.inf)
        return best_of(scores, allowed, 0.0)


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
class Staged(Selector[SkillBelief]):
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

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Choice:
        """Return for each examinee the item selected by the selector of the stage."""
        ends = np.cumsum([stage.answers for stage in self.stages], dtype=np.intp)
        answered = (beliefs.responses != MISSING).sum(axis=1)
        numbers = np.searchsorted(ends, answered, side="right")
        selectors: list[Selector[SkillBelief]] = [stage.selector for stage in self.stages]
        selectors.append(self.then)
        found = best_of(np.zeros(allowed.shape), allowed, 0.0)
        for number in np.unique(numbers).tolist():
            rows = numbers == number
            if rows.all():
                found = selectors[number]._choice(beliefs, allowed, luck)
                break
            own = None if luck is None else np.asarray(luck)[rows]
            parts = selectors[number]._choice(beliefs.take(rows), allowed[rows], own)
            for whole, part in zip(found, parts, strict=True):
                whole[rows] = part
        return found


@selector(
    "randomesque",
    "one of the N best by entropy, at random; default 5",
    COUNT,
    plain=lambda: Randomesque(MinimalEntropy()),
    given=lambda number: Randomesque(MinimalEntropy(), number),
)
@dataclass(frozen=True)
class Randomesque(Selector[SkillBelief]):
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

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Choice:
        """Return for each examinee one of the best items; ``luck`` is required."""
        numbers = drawn(luck, allowed.shape)
        scores = self.scored.allowed_scores(beliefs, allowed)
        ranked = by_rank(scores, self.scored.tolerance)
        near = scores > -np.inf
        if self.within is not None:
            best = scores.max(axis=1, keepdims=True)
            near &= scores >= best - self.within * np.abs(best) - self.scored.tolerance
        among = np.minimum(near.sum(axis=1), min(self.best, scores.shape[1]))
        chosen = ranked[np.arange(len(ranked)), (numbers[:, 0] * among).astype(np.intp)]
        tied, aside = np.zeros_like(allowed), np.zeros_like(allowed)
        np.put_along_axis(tied, ranked, np.arange(ranked.shape[1]) < among[:, None], axis=1)
        return Choice(np.where(among > 0, chosen, MISSING), scores, tied, aside)


@selector("progressive", "random at first, then more and more by entropy", LENGTH)
@dataclass(frozen=True)
class Progressive(Selector[SkillBelief]):
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

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Choice:
        """Return for each examinee the best item by luck and score; ``luck`` is required."""
        numbers = drawn(luck, allowed.shape)
        scores = self.scored.allowed_scores(beliefs, allowed)
        answered = (beliefs.responses != MISSING).sum(axis=1)
        weight = self.weights()[np.minimum(answered, self.length - 1)][:, None]
        known = np.where(allowed, scores, 0.0)
        # Scores below 0, such as negative distances, are random from the smallest one on.
        least = known.min(axis=1, keepdims=True, initial=0.0)
        span = known.max(axis=1, keepdims=True, initial=0.0) - least
        mixed = (1 - weight) * numbers * span + weight * (known - least)
        mixed = np.where(allowed, mixed, -np.inf)
        return best_of(mixed, allowed, self.scored.tolerance)._replace(scores=scores)


@dataclass(frozen=True)
class SympsonHetter(Selector[SkillBelief]):
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

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Choice:
        """Return for each examinee the best item that is not rejected; ``luck`` is required."""
        numbers = drawn(luck, allowed.shape)
        scores = self.scored.allowed_scores(beliefs, allowed)
        ranked = by_rank(scores, self.scored.tolerance)
        rates = np.array([self.rates.get(name, 1.0) for name in beliefs.bank.item_names])
        passed = np.take_along_axis(allowed & (numbers < rates), ranked, axis=1)
        first = np.argmax(passed, axis=1)  # the best one if none passes
        chosen = ranked[np.arange(len(ranked)), first]
        items = np.where(allowed.any(axis=1), chosen, MISSING)
        aside = np.zeros_like(allowed)
        np.put_along_axis(aside, ranked, np.arange(ranked.shape[1]) < first[:, None], axis=1)
        return Choice(items, scores, one_of(items, allowed), aside & allowed)


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


@selector("random", "a random item")
@dataclass(frozen=True)
class RandomItem(Selector[SkillBelief]):
    """Select any item, all with the same chance: a baseline for other selectors.

    The score of an item is its random number.
    """

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Choice:
        """Return for each examinee the item of the largest number; ``luck`` is required."""
        scores = np.where(allowed, drawn(luck, allowed.shape), -np.inf)
        return best_of(scores, allowed, 0.0)


@selector("order", "the first item in the order of the bank")
@dataclass(frozen=True)
class FixedOrder(ScoringSelector[SkillBelief]):
    """Select the first item of a list that may be asked; then other items in bank order.

    Parameters
    ----------
    order
        The names of items in the order to ask them; default the order of the bank.
    """

    order: Annotated[tuple[str, ...], Distinct] = ()
    tolerance: float = field(default=0.0, init=False)

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the place of each item in the order, negated, ``(examinees, items)``."""
        bank = beliefs.bank
        scores = -np.arange(len(bank.items), dtype=np.float64) - len(self.order)
        scores[[bank.position(name) for name in self.order]] = -np.arange(len(self.order))
        return np.tile(scores, (len(beliefs), 1))


SELECTORS: Mapping[str, Registered[Selector[SkillBelief]]] = MappingProxyType(selector)
"""The selector of each name."""


@checked
def selector_by_name(text: str) -> Selector[SkillBelief]:
    """Return the selector that a text names, such as ``gdi`` or ``randomesque:3``.

    Parameters
    ----------
    text
        The name, and perhaps an argument after a colon.

    Raises
    ------
    UnknownNameError
        If no selector has the name.
    InvalidArgumentError
        If the argument is of another kind, or does not belong there.

    Examples
    --------
    >>> selector_by_name("gdi")
    DiscriminationIndex(tolerance=1e-09)
    """
    return made_by_name("selector", SELECTORS, text)


def selector_name(selector: Selector[SkillBelief]) -> str:
    """Return the name of a kind of selector, without an argument; of its class if it has none.

    >>> selector_name(RandomItem())
    'random'
    """
    for name, member in SELECTORS.items():
        made = member.plain() if member.plain is not None else None
        if made is None and member.argument is not None and member.given is not None:
            made = member.given(member.argument.read(member.argument.example))
        if type(made) is type(selector):
            return name
    return type(selector).__name__
