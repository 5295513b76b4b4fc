"""The contract that every registered stopper keeps, and wrong stoppers that break it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from bnmind.adaptive import (
    STOPPERS,
    BatchProgress,
    EntropyBelow,
    ItemBank,
    Progress,
    Stopper,
    start_belief,
    start_beliefs,
)
from bnmind.errors import BnmindError
from tests.adaptive.test_selector_contract import ABILITY, SKILLS
from tests.registries import check_value, examples_of, registry_faults, rejected


def check_stopper(stopper: Stopper) -> None:
    """Raise AssertionError unless a stopper keeps the contract on a bank that it fits."""
    check_value(stopper)
    fits = [bank for bank in (SKILLS, ABILITY) if _fits(stopper, bank)]
    assert fits, "fits no bank"
    for bank in fits:
        check_bank(stopper, bank)


def _fits(stopper: Stopper, bank: ItemBank) -> bool:
    try:
        stopper.stop(Progress(start_belief(bank), (), bank.item_names))
    except BnmindError:
        return False
    return True


def check_bank(stopper: Stopper, bank: ItemBank) -> None:
    """The reason is a text in one line, and the same live and in a simulation, at every step."""
    names, n_items = bank.item_names, len(bank.items)
    answers = np.array([[0] * n_items, [1] * n_items, [1, 0, 1, 0, 1][:n_items]])
    beliefs = start_beliefs(bank, len(answers))
    alone = [start_belief(bank) for _ in answers]
    for step in range(n_items + 1):
        asked = np.zeros(answers.shape, dtype=bool)
        asked[:, :step] = True
        many = stopper.stop_batch(BatchProgress(beliefs, asked, ~asked))
        assert isinstance(many, np.ndarray)
        assert many.dtype.kind == "U"
        assert many.shape == (len(answers),)
        for row, belief in enumerate(alone):
            progress = Progress(belief, names[:step], names[step:])
            reason = stopper.stop(progress)
            assert isinstance(reason, str)
            assert "\n" not in reason
            assert stopper.stop(progress) == reason
            assert many[row] == reason, "another reason than alone"
        if step < n_items:
            beliefs = beliefs.update(np.full(len(answers), step), answers[:, step])
            alone = [
                belief.update(names[step], int(answer))
                for belief, answer in zip(alone, answers[:, step], strict=True)
            ]


@pytest.mark.parametrize("name", STOPPERS)
def test_a_registered_stopper_keeps_the_contract(name: str) -> None:
    for stopper in examples_of("stopper", STOPPERS, name):
        check_stopper(stopper)


def test_the_registry_keeps_the_contract() -> None:
    assert registry_faults(STOPPERS) == []


@dataclass(frozen=True)
class TruthValue(EntropyBelow):
    """Says yes or no instead of why."""

    def stop(self, progress: Progress) -> str:
        """Return a truth value."""
        return bool(super().stop(progress))  # type: ignore[return-value]


@dataclass(frozen=True)
class LaterInBatches(EntropyBelow):
    """Stops a simulation elsewhere than a live test."""

    def stop_batch(self, progress: BatchProgress) -> NDArray[np.str_]:
        """Return the reasons of half the threshold."""
        return EntropyBelow(self.bits / 2).stop_batch(progress)


@dataclass(frozen=True)
class FewReasons(EntropyBelow):
    """Forgets the last examinee."""

    def stop_batch(self, progress: BatchProgress) -> NDArray[np.str_]:
        """Return one reason too few."""
        return super().stop_batch(progress)[:-1]


class Mutable(EntropyBelow):
    """Can be changed after construction."""

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


@pytest.mark.parametrize(
    "wrong",
    [TruthValue(1.5), LaterInBatches(1.5), FewReasons(1.5), Mutable(1.5)],
    ids=lambda wrong: type(wrong).__name__,
)
def test_the_contract_rejects_a_wrong_stopper(wrong: Stopper) -> None:
    assert not rejected(lambda: check_stopper(EntropyBelow(1.5)))
    assert rejected(lambda: check_stopper(wrong))
