"""The order of a test: content in turns, and stages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import MinLen
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._values import Count, Distinct, Value
from bnmind.adaptive.assembly.blueprint import Bound
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import asked_mask, check_allowed, checked_asked, item_mask
from bnmind.adaptive.selection.scores import MinimalEntropy
from bnmind.adaptive.selection.selector import BatchSelection, Selection, Selector


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
