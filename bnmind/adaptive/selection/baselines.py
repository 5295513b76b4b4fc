"""Selectors by chance, by a fixed order, by a function, and by score per cost."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._values import Distinct, Value
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.selection.drawing import DrawingSelector, drawn, luck_of
from bnmind.adaptive.selection.selector import (
    TOLERANCE,
    BatchSelection,
    ScoringSelector,
    Selection,
    checked_allowed,
    in_bank_order,
)
from bnmind.errors import InvalidArgumentError, InvalidModelError, UnknownNameError
from bnmind.information import Floats

__all__ = ["ChosenBy", "FixedOrder", "PerCost", "RandomItem", "ScoredBy", "item_cost", "item_time"]


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
class FixedOrder(ScoringSelector[SkillBelief]):
    """Select the first item of a list that may be asked; then other items in bank order.

    Parameters
    ----------
    order
        The names of items in the order to ask them; default the order of the bank.
    """

    order: Annotated[tuple[str, ...], Distinct] = ()
    tolerance: float = field(default=0.0, init=False)

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return scores that decrease along the order."""
        every = self._every(belief.bank)
        return np.array([every[belief.bank.position(name)] for name in items])

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return scores that decrease along the order, ``(examinees, items)``."""
        return np.tile(self._every(beliefs.bank), (len(beliefs), 1))

    def _every(self, bank: ItemBank) -> Floats:
        scores = -np.arange(len(bank.items), dtype=np.float64) - len(self.order)
        for number, name in enumerate(self.order):
            scores[bank.position(name)] = -number
        return scores


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
        checked_allowed(beliefs, allowed)
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
    alone
        A function of the beliefs of a batch and the number of an examinee that returns the
        belief about that examinee; default `BatchBelief.alone`.
    """

    function: Callable[[SkillBelief, tuple[str, ...], np.random.Generator | None], str]
    alone: Callable[[BatchBelief, int], SkillBelief] | None = None

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
        checked_allowed(beliefs, allowed)
        names = beliefs.bank.item_names
        numbers = None if luck is None else drawn(luck, allowed.shape)
        items = np.full(len(allowed), MISSING, dtype=np.intp)
        scores = np.where(allowed, 0.0, -np.inf)
        for number in np.flatnonzero(allowed.any(axis=1)).tolist():
            open_items = tuple(names[i] for i in np.flatnonzero(allowed[number]))
            belief = self.alone(beliefs, number) if self.alone else beliefs.alone(number)
            own = None if numbers is None else numbers[number]
            chosen = self._chosen(belief, open_items, own).item
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
        checked_allowed(beliefs, allowed)
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
