"""Selectors by chance, by a fixed order, by a function, by score per cost; the names of all.

A new selector is a class in a file of this folder and a line in `SELECTORS`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._registry import COUNT, NAMES, Argument, Registered, made_by_name
from bnmind._values import Distinct, Value
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.selection.ability_scores import (
    AStratified,
    MaximalFisher,
    MinimalPosteriorVariance,
)
from bnmind.adaptive.selection.exposure import Progressive, Randomesque
from bnmind.adaptive.selection.rules import check_allowed
from bnmind.adaptive.selection.scores import (
    DiscriminationIndex,
    KullbackLeibler,
    LossGain,
    MinimalEntropy,
    ModifiedPosteriorWeightedKL,
    PosteriorWeightedKL,
    SkillEntropy,
    TargetEntropy,
)
from bnmind.adaptive.selection.selector import (
    TOLERANCE,
    BatchSelection,
    Candidates,
    CandidateSelector,
    DrawingSelector,
    ScoringSelector,
    Selection,
    Selector,
    drawn,
    in_bank_order,
    luck_of,
)
from bnmind.errors import InvalidArgumentError, InvalidModelError, UnknownNameError
from bnmind.information import Floats


@dataclass(frozen=True)
class RandomItem(DrawingSelector):
    """Select any item, all with the same chance: a baseline for other selectors.

    The score of an item is its random number.
    """

    def _selected(self, belief: SkillBelief, ordered: tuple[str, ...], luck: Floats) -> Selection:
        scores = luck[[belief.bank.position(name) for name in ordered]]
        item = ordered[int(np.argmax(scores))]
        return Selection(item=item, items=ordered, scores=scores, tied=(item,))

    def _selected_batch(
        self, beliefs: BatchBelief, allowed: NDArray[np.bool_], luck: Floats
    ) -> BatchSelection:
        scores = np.where(allowed, luck, -np.inf)
        items = np.where(allowed.any(axis=1), np.argmax(scores, axis=1), MISSING)
        return BatchSelection(items, scores, np.zeros(scores.shape, dtype=bool))


@dataclass(frozen=True)
class FixedOrder(CandidateSelector[SkillBelief]):
    """Select the first item of a list that may be asked; then other items in bank order.

    Parameters
    ----------
    order
        The names of items in the order to ask them; default the order of the bank.
    """

    order: Annotated[tuple[str, ...], Distinct] = ()
    tolerance: float = field(default=0.0, init=False)

    def _scores(self, candidates: Candidates) -> Floats:
        bank = candidates.bank
        scores = -np.arange(len(bank.items), dtype=np.float64) - len(self.order)
        for number, name in enumerate(self.order):
            scores[bank.position(name)] = -number
        own = scores[[bank.position(name) for name in candidates.items]]
        return np.tile(own, (*candidates.shape[:-1], 1))


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
    tolerance: float = TOLERANCE
    batch_function: Callable[[BatchBelief, NDArray[np.intp]], ArrayLike] | None = field(
        default=None, kw_only=True
    )

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return the scores by the function."""
        return _scored(self.function(belief, tuple(items)), (len(items),))

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the scores, ``(examinees, items)``; −inf for answered items."""
        return self.allowed_scores(beliefs, beliefs.responses == MISSING)

    @checked
    def allowed_scores(self, beliefs: BatchBelief, allowed: NDArray[np.bool_]) -> Floats:
        """Return the scores of the allowed items; see `ScoringSelector`."""
        check_allowed(allowed, beliefs.responses.shape)
        names = np.array(beliefs.bank.item_names, dtype=object)
        if self.batch_function is not None:
            values = self.batch_function(beliefs, np.arange(len(names)))
            return np.where(allowed, _scored(values, allowed.shape, allowed), -np.inf)
        scores = np.full(allowed.shape, -np.inf)
        for examinee in np.flatnonzero(allowed.any(axis=1)).tolist():
            row = allowed[examinee]
            scores[examinee, row] = self.scores(beliefs.alone(examinee), names[row].tolist())
        return scores


def _scored(
    values: ArrayLike, shape: tuple[int, ...], allowed: NDArray[np.bool_] | None = None
) -> Floats:
    """Return scores as a checked array; scores of items not allowed may have any value."""
    scores = np.array(values, dtype=np.float64)
    if scores.shape != shape or np.isnan(scores if allowed is None else scores[allowed]).any():
        raise InvalidArgumentError(
            f"expected scores of shape {shape} without NaN, got shape {scores.shape}", scores.shape
        )
    return scores


@dataclass(frozen=True)
class ChosenBy(Value):
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

    @checked
    def select(
        self,
        belief: SkillBelief,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the item chosen by the function; its score is 1, that of others 0."""
        luck = None if rng is None else luck_of(belief, rng)
        return self._chosen(belief, in_bank_order(belief, items), luck)

    def _chosen(
        self, belief: SkillBelief, ordered: tuple[str, ...], luck: Floats | None
    ) -> Selection:
        rng = None if luck is None else np.random.default_rng(int(luck[0] * 2**53))
        chosen = self.function(belief, ordered, rng)
        if chosen not in ordered:
            raise UnknownNameError("item that may be asked", chosen, ordered)
        return Selection(
            item=chosen,
            items=ordered,
            scores=np.array([float(name == chosen) for name in ordered]),
            tied=(chosen,),
        )

    @checked
    def select_batch(
        self,
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        *,
        luck: ArrayLike | None = None,
    ) -> BatchSelection:
        """Return for each examinee the item chosen by the function."""
        check_allowed(allowed, beliefs.responses.shape)
        names = beliefs.bank.item_names
        numbers = None if luck is None else drawn(luck, allowed.shape)
        items = np.full(len(allowed), MISSING, dtype=np.intp)
        scores = np.where(allowed, 0.0, -np.inf)
        for number in np.flatnonzero(allowed.any(axis=1)).tolist():
            open_items = tuple(names[i] for i in np.flatnonzero(allowed[number]))
            own = None if numbers is None else numbers[number]
            chosen = self._chosen(beliefs.alone(number), open_items, own).item
            items[number] = beliefs.bank.position(chosen)
            scores[number, items[number]] = 1.0
        return BatchSelection(items, scores, np.zeros(scores.shape, dtype=bool))


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
    tolerance: float = TOLERANCE

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return the score of each item, divided by its cost."""
        return self.scored.scores(belief, items) / self._costs(belief.bank, items)

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item, divided by its cost, ``(examinees, items)``."""
        costs = self._costs(beliefs.bank, beliefs.bank.item_names)
        return self.scored.batch_scores(beliefs) / costs

    @checked
    def allowed_scores(self, beliefs: BatchBelief, allowed: NDArray[np.bool_]) -> Floats:
        """Return the score of each allowed item, divided by its cost; see `ScoringSelector`."""
        check_allowed(allowed, beliefs.responses.shape)
        costs = self._costs(beliefs.bank, beliefs.bank.item_names)
        return self.scored.allowed_scores(beliefs, allowed) / costs

    def _costs(self, bank: ItemBank, items: Sequence[str]) -> Floats:
        costs = np.array([self.cost(bank.item(name)) for name in items], dtype=np.float64)
        wrong = [name for name, c in zip(items, costs.tolist(), strict=True) if not c > 0]
        if wrong:
            raise InvalidModelError(
                [f"the cost must be positive; it is not for {', '.join(wrong[:5])}"]
            )
        return costs


LENGTH = Argument("LENGTH", "the number of items in the test", COUNT.read, "3")
"""The argument of selectors that need the length of the test; design files leave it out."""

SELECTORS: Mapping[str, Registered[Selector[SkillBelief]]] = MappingProxyType(
    {
        "entropy": Registered(
            "most information about all skills, or about some", MinimalEntropy, NAMES, TargetEntropy
        ),
        "skills": Registered("most information about each skill alone, summed", SkillEntropy),
        "gdi": Registered("largest G-DINA discrimination index", DiscriminationIndex),
        "kl": Registered(
            "largest Kullback-Leibler divergence from the most probable profile", KullbackLeibler
        ),
        "pwkl": Registered("the same, weighted by the belief", PosteriorWeightedKL),
        "mpwkl": Registered(
            "the same between all profiles, weighted by the belief", ModifiedPosteriorWeightedKL
        ),
        "fisher": Registered("largest Fisher information at the expected ability", MaximalFisher),
        "mepv": Registered("smallest expected variance of the ability", MinimalPosteriorVariance),
        "a-stratified": Registered(
            "flat curves first, steep ones last, difficulty near the ability",
            None,
            LENGTH,
            AStratified,
        ),
        "loss": Registered("fewest skills classified wrongly", LossGain),
        "per-cost": Registered("most information for its cost", lambda: PerCost(MinimalEntropy())),
        "per-time": Registered(
            "most information for its time", lambda: PerCost(MinimalEntropy(), item_time)
        ),
        "randomesque": Registered(
            "one of the N best by entropy, at random; default 5",
            lambda: Randomesque(MinimalEntropy()),
            COUNT,
            lambda number: Randomesque(MinimalEntropy(), number),
        ),
        "progressive": Registered(
            "random at first, then more and more by entropy", None, LENGTH, Progressive
        ),
        "random": Registered("a random item", RandomItem),
        "order": Registered("the first item in the order of the bank", FixedOrder),
    }
)
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
