"""The contract that every registered selector keeps, and wrong selectors that break it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from bnmind.adaptive import (
    MISSING,
    SELECTORS,
    BatchBelief,
    BatchSelection,
    Dina,
    ItemBank,
    Logistic,
    MinimalEntropy,
    QuestionBelief,
    Selection,
    Selector,
    SkillBelief,
    irt_bank,
    start_belief,
    start_beliefs,
)
from bnmind.errors import BnmindError, NothingToAskError
from tests.registries import check_value, examples_of, registry_faults, rejected

SKILLS = ItemBank.from_response_models(
    [[1, 0], [1, 1], [0, 1], [1, 0], [0, 1]],
    [Dina(0.1, 0.2), Dina(0.3, 0.1), Dina(0.2, 0.05), Dina(0.15, 0.15), Dina(0.05, 0.3)],
)
ABILITY = irt_bank([Logistic(slope, at) for slope, at in ((1, 0), (2, -1), (0.5, 1), (1.5, 0.5))])


def check_selector(selector: Selector[SkillBelief]) -> None:
    """Raise AssertionError unless a selector keeps the contract on a bank that it fits."""
    check_value(selector)
    fits = [bank for bank in (SKILLS, ABILITY) if _fits(selector, bank)]
    assert fits, "fits no bank"
    for bank in fits:
        check_one(selector, bank)
        check_batch(selector, bank)


def _fits(selector: Selector[SkillBelief], bank: ItemBank) -> bool:
    try:
        selector.select(start_belief(bank), bank.item_names, rng=np.random.default_rng(0))
    except BnmindError:
        return False
    return True


def check_one(selector: Selector[SkillBelief], bank: ItemBank) -> None:
    """The choice is an allowed item of the best score, and depends on belief and luck alone."""
    belief = start_belief(bank).update(bank.item_names[1], 1)
    allowed = (bank.item_names[3], bank.item_names[0], bank.item_names[2])
    found = selector.select(belief, allowed, rng=np.random.default_rng(1))
    assert isinstance(found, Selection)
    assert found.items == tuple(sorted(allowed, key=bank.position))
    assert found.scores.shape == (3,)
    assert found.item in found.items
    assert set(found.tied) <= set(found.items)
    for items in (allowed, allowed[::-1]):
        again = selector.select(belief, items, rng=np.random.default_rng(1))
        assert again.item == found.item, "depends on the order of the items"
    for item in allowed:
        assert selector.select(belief, [item], rng=np.random.default_rng(1)).item == item
    with pytest.raises(NothingToAskError):
        selector.select(belief, (), rng=np.random.default_rng(1))


def check_batch(selector: Selector[SkillBelief], bank: ItemBank) -> None:
    """Many examinees are asked what each would be asked alone."""
    names, n_items = bank.item_names, len(bank.items)
    answers = [(0, 0), (0, 1), (1, 0), (2, 1), (3, 1), (3, 0)]
    allowed = np.ones((6, n_items), dtype=bool)
    for row, (item, _) in enumerate(answers):
        allowed[row, item] = False
    allowed[5] = False
    luck = np.array([np.random.default_rng(row).random(n_items) for row in range(6)])
    items, responses = np.array(answers).T
    beliefs = start_beliefs(bank, 6).update(items, responses)
    found = selector.select_batch(beliefs, allowed, luck=luck)
    assert isinstance(found, BatchSelection)
    assert found.items.shape == (6,)
    assert found.scores.shape == found.set_aside.shape == (6, n_items)
    assert found.items[5] == MISSING
    for row, (item, response) in enumerate(answers[:5]):
        belief = start_belief(bank).update(names[item], response)
        may = [name for name, yes in zip(names, allowed[row], strict=True) if yes]
        alone = selector.select(belief, may, rng=np.random.default_rng(row))
        assert names[found.items[row]] == alone.item, "another item than alone"


@pytest.mark.parametrize("name", SELECTORS)
def test_a_registered_selector_keeps_the_contract(name: str) -> None:
    for selector in examples_of("selector", SELECTORS, name):
        check_selector(selector)


def test_the_registry_keeps_the_contract() -> None:
    assert registry_faults(SELECTORS) == []


@dataclass(frozen=True)
class AnyItem(MinimalEntropy):
    """Asks live what is not allowed."""

    def select(
        self,
        belief: QuestionBelief,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the first item of the bank."""
        found = super().select(belief, items, rng=rng)
        return Selection(item="item_1", items=found.items, scores=found.scores, tied=("item_1",))


@dataclass(frozen=True)
class FirstGiven(MinimalEntropy):
    """Takes the item that comes first in the list, so that the order decides."""

    def select(
        self,
        belief: QuestionBelief,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the first item given."""
        found = super().select(belief, items, rng=rng)
        return Selection(item=items[0], items=found.items, scores=found.scores, tied=(items[0],))


@dataclass(frozen=True)
class OtherBatch(MinimalEntropy):
    """Asks other items in a simulation than live."""

    def batch_scores(self, beliefs: BatchBelief) -> NDArray[np.float64]:
        """Return the scores with the sign turned."""
        return -super().batch_scores(beliefs)


@dataclass(frozen=True)
class NeverDone(MinimalEntropy):
    """Asks those in a simulation who have nothing left to be asked."""

    def select_batch(
        self,
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        *,
        luck: ArrayLike | None = None,
    ) -> BatchSelection:
        """Return the first item instead of `MISSING`."""
        found = super().select_batch(beliefs, allowed, luck=luck)
        return BatchSelection(np.maximum(found.items, 0), found.scores, found.set_aside)


@pytest.mark.parametrize(
    "wrong", [AnyItem(), FirstGiven(), OtherBatch(), NeverDone()], ids=lambda w: type(w).__name__
)
def test_the_contract_rejects_a_wrong_selector(wrong: Selector[SkillBelief]) -> None:
    assert not rejected(lambda: check_selector(MinimalEntropy()))
    assert rejected(lambda: check_selector(wrong))
