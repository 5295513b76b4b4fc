"""Every registered selector keeps the contract of `bnmind.testing`, and wrong ones break it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import ArrayLike, NDArray

from bnmind.adaptive import (
    SELECTORS,
    BatchBelief,
    ItemBank,
    MaximalItems,
    MinimalEntropy,
    Responses,
    Selection,
    Selector,
    SkillBelief,
    simulate,
)
from bnmind.adaptive.scores import Selections
from bnmind.adaptive.selectors import selector_name
from bnmind.errors import ContractError, InvalidArgumentError, UnknownNameError
from bnmind.testing import check_selector


@pytest.mark.parametrize("name", SELECTORS)
def test_a_registered_selector_keeps_the_contract(name: str) -> None:
    check_selector(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", SELECTORS)
def test_a_registered_selector_keeps_the_contract_with_many_examinees(name: str) -> None:
    check_selector(name, thorough=True)


def test_a_name_that_is_not_registered_is_an_error_of_its_own() -> None:
    with pytest.raises(UnknownNameError, match="did you mean entropy"):
        check_selector("entrpoy")
    check_selector("randomesque:2")


@dataclass(frozen=True)
class AnyItem(MinimalEntropy):
    """Asks live what is not allowed."""

    def select(
        self,
        belief: SkillBelief,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the first item of the bank."""
        found = super().select(belief, items, rng=rng)
        other = belief.bank.item_names[1]
        return Selection(item=other, items=found.items, scores=found.scores, tied=(other,))


@dataclass(frozen=True)
class FirstGiven(MinimalEntropy):
    """Takes the item that comes first in the list, so that the order decides."""

    def select(
        self,
        belief: SkillBelief,
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
        """Return the scores with the sign turned, if there are several examinees."""
        return super().batch_scores(beliefs) * (1 if len(beliefs) == 1 else -1)


@dataclass(frozen=True)
class NeverDone(MinimalEntropy):
    """Asks those in a simulation who have nothing left to be asked."""

    def select_batch(
        self,
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        *,
        luck: ArrayLike | None = None,
    ) -> Selections:
        """Return the first item instead of `MISSING`."""
        found = super().select_batch(beliefs, allowed, luck=luck)
        return found._replace(items=np.maximum(found.items, 0))


@dataclass(frozen=True)
class Counting(MinimalEntropy):
    """Counts its calls in an attribute that is no field."""

    def batch_scores(self, beliefs: BatchBelief) -> NDArray[np.float64]:
        """Count."""
        object.__setattr__(self, "calls", getattr(self, "calls", 0) + 1)
        return super().batch_scores(beliefs)


@dataclass(frozen=True)
class Overwriting(MinimalEntropy):
    """Writes into the mask that it is given."""

    def select_batch(
        self,
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        *,
        luck: ArrayLike | None = None,
    ) -> Selections:
        """Forbid the last item to all."""
        found = super().select_batch(beliefs, allowed, luck=luck)
        allowed[:, -1] = False
        return found


@dataclass(frozen=True)
class GlobalLuck(MinimalEntropy):
    """Uses the global generator of NumPy."""

    def batch_scores(self, beliefs: BatchBelief) -> NDArray[np.float64]:
        """Draw, in vain."""
        return super().batch_scores(beliefs) + 0 * np.random.rand()  # noqa: NPY002


@dataclass(frozen=True)
class FirstSkill(MinimalEntropy):
    """Prefers items of the skill that is the first in the bank."""

    def batch_scores(self, beliefs: BatchBelief) -> NDArray[np.float64]:
        """Add something for the first skill."""
        bank = beliefs.bank
        first = [bank.cause(item)[0] == bank.skills[0] for item in bank.item_names]
        found: NDArray[np.float64] = super().batch_scores(beliefs) + np.array(first)
        return found


@dataclass(frozen=True)
class ByHand(MinimalEntropy):
    """Computes p log p by hand, which is no number once an item is certain."""

    def batch_scores(self, beliefs: BatchBelief) -> NDArray[np.float64]:
        """Return entropies that are nan for certain responses."""
        return _by_hand(beliefs.masses(np.arange(len(beliefs.bank.items))), beliefs.bank.channels())


def _by_hand(masses: NDArray[np.float64], channels: NDArray[np.float64]) -> NDArray[np.float64]:
    p = np.matmul(masses[..., None, :], channels)[..., 0, :]
    with np.errstate(all="ignore"):
        entropies: NDArray[np.float64] = -(p * np.log2(p)).sum(axis=-1)
    return entropies


@dataclass(frozen=True)
class TwoResponses(MinimalEntropy):
    """Takes every item for right or wrong."""

    def batch_scores(self, beliefs: BatchBelief) -> NDArray[np.float64]:
        """Fail for items with more responses."""
        if beliefs.bank.channels().shape[-1] != 2:
            raise IndexError("index 2 is out of bounds")
        return super().batch_scores(beliefs)


@dataclass(frozen=True)
class TiesTwice(MinimalEntropy):
    """Names an equal item twice."""

    def select(
        self,
        belief: SkillBelief,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the same selection, with ties named twice."""
        found = super().select(belief, items, rng=rng)
        return Selection(
            item=found.item, items=found.items, scores=found.scores, tied=found.tied * 2
        )


@dataclass(frozen=True)
class ScoresAsGiven(MinimalEntropy):
    """Shows the scores in the order in which items are given."""

    def select(
        self,
        belief: SkillBelief,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the same selection, with scores in another order."""
        found = super().select(belief, items, rng=rng)
        scores = self.scores(belief, items)
        return Selection(item=found.item, items=found.items, scores=scores, tied=found.tied)


@pytest.mark.parametrize(
    ("wrong", "promise"),
    [
        (ByHand(), "expected a number as the score of 'item_1' by ByHand, got nan"),
        (TwoResponses(), "it serves a bank, or refuses it with words"),
        (TiesTwice(), "each tie is named once"),
        (ScoresAsGiven(), "in the order of the bank, in whatever order"),
        (AnyItem(), "it selects an allowed item"),
        (FirstGiven(), "in whatever order"),
        (OtherBatch(), "among many"),
        (NeverDone(), "is asked nothing"),
        (Counting(), "does not change it"),
        (Overwriting(), "does not change what it is given"),
        (FirstSkill(), "the order of the skills in the bank does not matter"),
        (GlobalLuck(), "draws from the generator that it is given"),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_the_contract_rejects_a_wrong_selector(wrong: Selector, promise: str) -> None:
    with pytest.raises(ContractError, match=promise) as caught:
        check_selector(wrong)
    assert caught.value.value is wrong
    assert caught.value.family == "selector"


def test_a_score_that_is_no_number_is_named_in_a_simulation_too() -> None:
    bank = ItemBank.from_qmatrix([[1], [1], [1]], guess=0.0, slip=0.0)
    people = Responses.drawn(bank, 3)
    with pytest.raises(InvalidArgumentError, match="expected a number as the score of 'item_"):
        simulate(bank, people, {"x": ByHand()}, MaximalItems(3))


def test_each_kind_of_selector_has_the_name_it_is_made_by() -> None:
    names: dict[type, str] = {}
    for name, member in SELECTORS.items():
        if member.plain is not None:
            made = member.plain()
        else:
            assert member.argument is not None
            assert member.given is not None
            made = member.given(member.argument.read(member.argument.example))
        names.setdefault(type(made), name)  # per-cost and per-time are of one class
        assert selector_name(made) == names[type(made)]
