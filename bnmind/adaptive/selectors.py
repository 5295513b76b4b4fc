"""Selectors by chance, by an order, by a function, by score per cost, by stages; exposure control.

Maximal Fisher information at an estimated ability:

=========  ==================================================================
symbol     name here
=========  ==================================================================
θ̂          ``estimate(belief)``
I_j(θ̂)     ``fisher_information``; with two responses
           a² (P − c)² (d − P)² / ((d − c)² P (1 − P)), as in catsim
=========  ==================================================================

Minimal expected posterior variance (MEPV) of the ability:

==============  ==================================================================
symbol          name here
==============  ==================================================================
θ               the ability, a point of the grid
p(θ, x)         ``joints``: the ability and the response to an item, given the answers
E Var(θ | X)    Var(θ) − score, so the largest score has the smallest expected variance
Var(E(θ | X))   the score: Σ_x p(x) (E(θ | x) − E θ)²
==============  ==================================================================

The a-stratified method, for items with logistic curves:

==========  ==================================================================
symbol      name here
==========  ==================================================================
a_i, b_i    the slope and the difficulty of item i
θ̂           ``estimate(belief)``
==========  ==================================================================

The items are divided into K ``strata`` by their slopes, the flattest first, and the test into K
stages. In stage k, the item of stratum k whose difficulty is nearest to θ̂ is asked.

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
from operator import attrgetter
from types import MappingProxyType
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le, Lt
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked, number_array
from bnmind._messages import counted
from bnmind._registry import COUNT, Argument, Registered, made_by_name
from bnmind._values import Count, Distinct, Finite, Probability, Value, sealed
from bnmind.adaptive.beliefs import MISSING, BatchBelief, SkillBelief
from bnmind.adaptive.estimates import (
    AbilityEstimate,
    ability_of,
    expected_ability,
    fisher_information,
)
from bnmind.adaptive.formulas import ability_values
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.models import GradedResponse, Logistic
from bnmind.adaptive.rules import Mask
from bnmind.adaptive.scores import (
    MinimalEntropy,
    ScoringSelector,
    Selections,
    Selector,
    best_of,
    selector,
    skill_joints,
)
from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.information import Floats

LENGTH = Argument("LENGTH", "the number of items in the test", COUNT.read, "3")
"""The argument of selectors that need the length of the test; design files leave it out."""


@selector("fisher", "largest Fisher information at the expected ability")
@dataclass(frozen=True)
class MaximalFisher(ScoringSelector):
    """Select the item with the largest Fisher information at the estimated ability.

    With the same estimate it selects the same items as catsim's ``MaxInfoSelector``, except
    that ties go to the first item.

    Parameters
    ----------
    estimate
        The function that estimates the ability: `expected_ability` (default),
        `most_probable_ability`, or a function of your own.
    tolerance
        Information closer than this counts as equal.

    References
    ----------
    F. Lord, *Applications of Item Response Theory to Practical Testing Problems*, 1980;
    the formula for four parameters from D. Magis, "A note on the item information function
    of the four-parameter logistic model", Appl. Psychol. Meas. 2013.

    Examples
    --------
    >>> from bnmind.adaptive import irt_bank, start_belief
    >>> bank = irt_bank([[1.2, -0.5], [0.8, 1.0], [1.1, 0.1]])
    >>> MaximalFisher().select(start_belief(bank), bank.item_names).item
    'item_1'
    """

    estimate: AbilityEstimate = expected_ability

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        return fisher_information(beliefs.bank, beliefs.bank.item_names, self.estimate(beliefs))


@selector("mepv", "smallest expected variance of the ability")
@dataclass(frozen=True)
class MinimalPosteriorVariance(ScoringSelector):
    """Select the item with the smallest expected variance of the ability after its response.

    The score is the expected reduction of the variance of the belief, in squared units of the
    ability. The bank has one ability whose states are numbers, such as that of `irt_bank`.

    Parameters
    ----------
    tolerance
        Scores closer than this count as equal.

    References
    ----------
    W. van der Linden, "Bayesian item selection criteria for adaptive testing", Psychometrika
    1998, eq. 12 (minimum expected posterior variance); R. Owen, "A Bayesian sequential
    procedure for quantal response in the context of adaptive mental testing", JASA 1975.

    Examples
    --------
    >>> from bnmind.adaptive import irt_bank, start_belief
    >>> bank = irt_bank([[1.2, -0.5], [0.8, 1.0], [1.1, 0.1]])
    >>> found = MinimalPosteriorVariance().select(start_belief(bank), bank.item_names)
    >>> found.item, found.scores.round(3).tolist()
    ('item_1', [0.209, 0.111, 0.194])
    """

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        bank = beliefs.bank
        ability = ability_of(bank)
        joints, points = skill_joints(beliefs, [ability]), ability_values(bank.variable(ability))
        masses = joints.sum(axis=-3)
        sums = np.tensordot(joints, points, axes=(-3, 0))
        squares = np.divide(sums**2, masses, out=np.zeros_like(sums), where=masses > 0)
        # Var(E(θ | X))
        reduction: Floats = squares.sum(axis=-1) - sums.sum(axis=-1) ** 2
        return np.maximum(reduction, 0.0)


_FAR = 1e6
"""Added to the distance of an item for each stratum between its own and that of the stage."""


@selector("a-stratified", "flat curves first, steep ones last, difficulty near the ability", LENGTH)
@dataclass(frozen=True)
class AStratified(ScoringSelector):
    """Ask flat items first and steep items last, each with a difficulty near the ability.

    Steep items are kept for the end of the test, when the ability is known better, so items
    are used more evenly. If no item of the stage's stratum may be asked, an item of the
    nearest stratum is. Answers are counted to find the stage.

    Parameters
    ----------
    length
        The number of items in the test, at least 1. The stages have equal lengths.
    strata
        The number of strata, at least 1.
    blocked
        Whether to divide the items by their difficulty into blocks first, and each block by
        slope, so that the difficulties of all strata are alike (b-blocking).
    estimate
        The function that estimates the ability.
    tolerance
        Distances closer than this count as equal.

    References
    ----------
    H.-H. Chang and Z. Ying, "a-Stratified multistage computerized adaptive testing", Appl.
    Psychol. Meas. 1999; H.-H. Chang, J. Qian and Z. Ying, "a-Stratified multistage computerized
    adaptive testing with b blocking", 2001.
    """

    length: Count
    strata: Count = 4
    blocked: bool = field(default=False, kw_only=True)
    estimate: AbilityEstimate = expected_ability

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        slopes, difficulties = _curves(beliefs.bank)
        stratum = _strata(slopes, difficulties, self.strata, blocked=self.blocked)
        n_answered = (beliefs.codes != MISSING).sum(axis=1)
        stage = np.minimum(n_answered * self.strata // self.length, self.strata - 1)
        away = np.abs(stratum - stage[:, None])
        abilities = np.asarray(self.estimate(beliefs))
        distances: Floats = np.abs(difficulties - abilities[:, None]) + _FAR * away
        return -distances


def _curves(bank: ItemBank) -> tuple[Floats, Floats]:
    """Return the size of the slope and the difficulty of each item, ``(items,)``."""
    ability_of(bank)
    pairs, wrong = [], []
    for item in bank.items:
        if isinstance(item.gate, Logistic):
            pairs.append((abs(item.gate.slope), item.gate.difficulty))
        elif isinstance(item.gate, GradedResponse):
            pairs.append((abs(item.gate.slope), float(np.mean(item.gate.thresholds))))
        else:
            wrong.append(item.name)
    if wrong:
        raise InvalidModelError(
            [f"items with a slope and a difficulty are needed, not {', '.join(wrong[:5])}"]
        )
    slopes, difficulties = np.array(pairs, dtype=np.float64).T
    return slopes, difficulties


def _strata(
    slopes: Floats, difficulties: Floats, strata: int, *, blocked: bool
) -> NDArray[np.intp]:
    """Return the stratum of each item, from 0 for the flattest, ``(items,)``."""
    n = len(slopes)
    order = np.argsort(difficulties, kind="stable") if blocked else np.arange(n)
    size = strata if blocked else n
    result = np.empty(n, dtype=np.intp)
    for start in range(0, n, size):
        block = order[start : start + size]
        inside = block[np.argsort(slopes[block], kind="stable")]
        result[inside] = np.arange(len(inside)) * strata // len(inside)
    return result


def by_rank(scores: Floats, tolerance: float) -> NDArray[np.intp]:
    """Return the places of scores, best first, along the last axis.

    Scores within ``tolerance`` of the largest count as equal, then scores within
    ``tolerance`` of the largest of the rest, and so on. Ties are in order of place.
    """
    order = np.argsort(-scores, axis=-1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=-1)
    group = np.zeros(ranked.shape, dtype=np.intp)
    largest = ranked[..., 0]
    for place in range(1, ranked.shape[-1]):
        is_lower = ~(ranked[..., place] >= largest - tolerance)
        largest = np.where(is_lower, ranked[..., place], largest)
        group[..., place] = group[..., place - 1] + is_lower
    return np.take_along_axis(order, np.argsort(group * ranked.shape[-1] + order, axis=-1), axis=-1)


_SPREAD = 20
"""The eligibility of an item is spread evenly over so many examinees."""


def generator_of(seed: int, step: int, *, examinee: int = 0) -> np.random.Generator:
    """Return the generator for one question of one test.

    A live test has the generators of the first examinee of a simulation with the same seed.

    Parameters
    ----------
    seed
        The seed of the design or the simulation, at least 0.
    step
        The number of items asked before.
    examinee
        The number of the examinee in a simulation.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(examinee, 1, step)))


def eligibility_luck(seed: int, n_items: int, *, examinee: int = 0) -> Floats:
    """Return the numbers that decide, before a test, which items are eligible in it, ``(items,)``.

    Each is uniform in [0, 1), and those of the items are independent. Those of one item are spread
    evenly over 20 examinees in a row, as in systematic sampling. So a simulation makes an item
    eligible nearly as often as its probability says.

    Parameters
    ----------
    seed, examinee
        As for `generator_of`.
    n_items
        The number of items.
    """
    place = examinee % _SPREAD
    sequence = np.random.SeedSequence(seed, spawn_key=(examinee - place, 2))
    rng = np.random.default_rng(sequence)
    luck = rng.random(n_items)
    if place:
        shifts = rng.permuted(np.tile(np.arange(1, _SPREAD)[:, None], n_items), axis=0)
        luck = (luck + shifts[place - 1] / _SPREAD) % 1.0
    return luck


def pilot_generator(seed: int, *, examinee: int = 0) -> np.random.Generator:
    """Return the generator that draws, before a test, the questions of its pilot items.

    Parameters
    ----------
    seed, examinee
        As for `generator_of`.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(examinee, 3)))


class MissingLuckError(InvalidArgumentError):
    """A selector that draws was given no random numbers."""


def drawn(luck: ArrayLike | None, shape: tuple[int, ...]) -> Floats:
    """Return luck as an array of the given shape.

    Raises
    ------
    MissingLuckError
        If there is none.
    InvalidArgumentError
        If its shape is another one.
    """
    expected = f"expected luck of shape {shape} for a selector that draws"
    if luck is None:
        raise MissingLuckError(f"{expected}, got none")
    numbers = number_array(luck, "luck")
    if numbers.shape != shape:
        raise InvalidArgumentError(f"{expected}, got shape {numbers.shape}")
    return numbers


@selector(
    "per-time",
    "most information for its time",
    plain=lambda: PerCost(MinimalEntropy(), "time"),
)
@selector("per-cost", "most information for its cost", plain=lambda: PerCost(MinimalEntropy()))
@dataclass(frozen=True)
class PerCost(ScoringSelector):
    """Select the item with the largest score divided by its cost, such as bits a minute.

    Parameters
    ----------
    scored
        The selector that scores the items.
    cost
        ``"cost"`` or ``"time"``, as stated in the bank, or a function that returns the cost of an
        item, above 0.
    tolerance
        Quotients closer than this count as equal.

    References
    ----------
    Y. Cheng, Q. Diao and J. Behrens, "A simplified version of the maximum information per
    time unit method in computerized adaptive testing", Behav. Res. Methods 2017.
    """

    scored: ScoringSelector
    cost: str | Callable[[Item], float] = "cost"

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item, divided by its cost, ``(examinees, items)``.

        Raises
        ------
        InvalidModelError
            If a cost is not positive.
        """
        cost = attrgetter(self.cost) if isinstance(self.cost, str) else self.cost
        costs = np.array([cost(item) for item in beliefs.bank.items], dtype=np.float64)
        if not np.all(costs > 0):
            wrong = [beliefs.bank.item_names[i] for i in np.flatnonzero(~(costs > 0)).tolist()]
            raise InvalidModelError(
                [f"the cost must be positive; it is not for {', '.join(wrong[:5])}"]
            )
        return self.scored.batch_scores(beliefs) / costs


@dataclass(frozen=True)
class ScoredBy(ScoringSelector):
    """Select the item with the highest score by a function.

    Parameters
    ----------
    function
        A function of a belief and the names of the items that may be asked, in bank order.
        It returns a score for each item, larger is better, and must depend on nothing else.
        A simulation calls it once for each examinee and question; a selector of your own that
        states `ScoringSelector.batch_scores` scores all examinees at once.
    tolerance
        Scores closer than this count as equal.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> hardest = ScoredBy(lambda belief, items: [-belief.predict(name)[1] for name in items])
    >>> hardest.select(start_belief(bank), bank.item_names).item
    'item_2'
    """

    function: Callable[[SkillBelief, tuple[str, ...]], ArrayLike]

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the scores, ``(examinees, items)``; −inf for answered items."""
        return self._open_scores(beliefs, beliefs.codes == MISSING)

    def _open_scores(self, beliefs: BatchBelief, allowed: Mask) -> Floats:
        """Return the scores of the allowed items; see `ScoringSelector`."""
        every = np.array(beliefs.bank.item_names, dtype=object)
        scores = np.full(allowed.shape, -np.inf)
        for row in np.flatnonzero(allowed.any(axis=1)).tolist():
            names = tuple(every[allowed[row]].tolist())
            found = np.array(self.function(beliefs.alone(row), names), dtype=np.float64)
            if found.shape != (len(names),) or np.isnan(found).any():
                raise InvalidArgumentError(
                    f"expected scores of shape {(len(names),)} without NaN, got shape"
                    f" {found.shape}",
                    found.shape,
                )
            scores[row, allowed[row]] = found
        return scores


@dataclass(frozen=True)
class Staged(Selector):
    """Select by one selector after the other.

    The number of answers determines the stage; a skipped item does not count.

    Parameters
    ----------
    stages
        The stages, in order: the selector of each, and the number of its answers, at least 1.
    then
        The selector after the last stage.

    Examples
    --------
    >>> from bnmind.adaptive import FixedOrder, ItemBank, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1], [0, 1]], guess=0.2, slip=0.1)
    >>> staged = Staged(((FixedOrder(("item_2",)), 1),))
    >>> staged.select(start_belief(bank), bank.item_names).item
    'item_2'
    >>> staged.select(start_belief(bank).update("item_2", 1), ["item_1", "item_3"]).item
    'item_1'
    """

    stages: tuple[tuple[Selector, Count], ...]
    then: Selector = field(default_factory=MinimalEntropy)

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Selections:
        """Return for each examinee the item selected by the selector of the stage."""
        ends = np.cumsum([answers for _, answers in self.stages], dtype=np.intp)
        answered = (beliefs.codes != MISSING).sum(axis=1)
        numbers = np.searchsorted(ends, answered, side="right")
        selectors = [*(selector for selector, _ in self.stages), self.then]
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
class Randomesque(Selector):
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

    scored: ScoringSelector
    best: Count = 5
    within: Annotated[float, Gt(0), Lt(1)] | None = None

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Selections:
        """Return for each examinee one of the best items; ``luck`` is required."""
        numbers = drawn(luck, allowed.shape)
        scores = self.scored._open_scores(beliefs, allowed)
        ranked = by_rank(scores, self.scored.tolerance)
        near = scores > -np.inf
        if self.within is not None:
            best = scores.max(axis=1, keepdims=True)
            near &= scores >= best - self.within * np.abs(best) - self.scored.tolerance
        among = np.minimum(near.sum(axis=1), min(self.best, scores.shape[1]))
        chosen = ranked[np.arange(len(ranked)), (numbers[:, 0] * among).astype(np.intp)]
        items, tied = np.where(among > 0, chosen, MISSING), np.argsort(ranked) < among[:, None]
        return Selections(items, scores, tied, np.zeros_like(tied))


@selector("progressive", "random at first, then more and more by entropy", LENGTH)
@dataclass(frozen=True)
class Progressive(Selector):
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
    scored: ScoringSelector = field(default_factory=MinimalEntropy)
    acceleration: Annotated[float, Finite] = 0.0

    def weights(self) -> Floats:
        """Return the weight of the score at each question, ``(length,)``."""
        places = np.arange(1, self.length, dtype=np.float64)
        # Divided by the place of the largest power, which is then 1, so none is infinite.
        largest = self.length - 1 if self.acceleration >= 0 else 1
        sums = np.cumsum(np.concatenate([[0.0], (places / largest) ** self.acceleration]))
        return sums / sums[-1] if self.length > 1 else np.ones(1)

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Selections:
        """Return for each examinee the best item by luck and score; ``luck`` is required."""
        numbers = drawn(luck, allowed.shape)
        scores = self.scored._open_scores(beliefs, allowed)
        answered = (beliefs.codes != MISSING).sum(axis=1)
        weight = self.weights()[np.minimum(answered, self.length - 1)][:, None]
        known = np.where(allowed, scores, 0.0)
        # Scores below 0, such as negative distances, are random from the smallest one on.
        least = known.min(axis=1, keepdims=True, initial=0.0)
        span = known.max(axis=1, keepdims=True, initial=0.0) - least
        mixed = (1 - weight) * numbers * span + weight * (known - least)
        mixed = np.where(allowed, mixed, -np.inf)
        return best_of(mixed, allowed, self.scored.tolerance)._replace(scores=scores)


@dataclass(frozen=True)
class SympsonHetter(Selector):
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

    scored: ScoringSelector
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

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Selections:
        """Return for each examinee the best item that is not rejected; ``luck`` is required."""
        numbers = drawn(luck, allowed.shape)
        scores = self.scored._open_scores(beliefs, allowed)
        ranked = by_rank(scores, self.scored.tolerance)
        rates = np.array([self.rates.get(name, 1.0) for name in beliefs.bank.item_names])
        passed = np.take_along_axis(allowed & (numbers < rates), ranked, axis=1)
        first = np.argmax(passed, axis=1)  # the best one if none passes
        chosen = ranked[np.arange(len(ranked)), first]
        items = np.where(allowed.any(axis=1), chosen, MISSING)
        tied = items[:, None] == np.arange(scores.shape[1])
        return Selections(items, scores, tied, allowed & (np.argsort(ranked) < first[:, None]))


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
            if mask.dtype.kind != "b" or mask.ndim > 2 or mask.shape[-1:] != self.asked.shape:
                words = f"expected {what} as an array of True and False for"
                raise InvalidArgumentError(f"{words} {counted(len(self.asked), 'item')}", mask)
        check_shape(asked, "asked", eligible.shape)
        was_eligible, was_asked = np.atleast_2d(eligible | asked), np.atleast_2d(asked)
        return ItemEligibility(
            self.limit, self.eligible + was_eligible.sum(axis=0), self.asked + was_asked.sum(axis=0)
        )


@selector("random", "a random item")
@dataclass(frozen=True)
class RandomItem(Selector):
    """Select any item, all with the same chance: a baseline for other selectors.

    The score of an item is its random number.
    """

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Selections:
        """Return for each examinee the item of the largest number; ``luck`` is required."""
        scores = np.where(allowed, drawn(luck, allowed.shape), -np.inf)
        return best_of(scores, allowed, 0.0)


@selector("order", "the first item in the order of the bank")
@dataclass(frozen=True)
class FixedOrder(ScoringSelector):
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


SELECTORS: Mapping[str, Registered[Selector]] = MappingProxyType(selector)
"""The selector of each name."""


@checked
def selector_by_name(text: str) -> Selector:
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


def selector_name(selector: Selector) -> str:
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
