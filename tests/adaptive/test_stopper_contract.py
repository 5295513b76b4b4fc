"""Every registered stopper keeps the contract of `bnmind.testing`, and wrong ones break it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray

from bnmind.adaptive import STOPPERS, EntropyBelow, MaximalItems, Progress, SkillBelief, Stopper
from bnmind.errors import ContractError
from bnmind.information import entropy
from bnmind.testing import check_stopper


@pytest.mark.parametrize("name", STOPPERS)
def test_a_registered_stopper_keeps_the_contract(name: str) -> None:
    check_stopper(name)


@pytest.mark.slow
@pytest.mark.parametrize("name", STOPPERS)
def test_a_registered_stopper_keeps_the_contract_with_many_examinees(name: str) -> None:
    check_stopper(name, thorough=True)


@dataclass(frozen=True)
class TruthValue(EntropyBelow):
    """Says yes or no instead of why."""

    def stop(
        self, belief: SkillBelief, asked: Sequence[str] = (), allowed: Sequence[str] = ()
    ) -> str:
        """Return a truth value."""
        return bool(super().stop(belief, asked, allowed))  # type: ignore[return-value]


@dataclass(frozen=True)
class LaterAlone(EntropyBelow):
    """Stops one examinee elsewhere than many."""

    def stop(
        self, belief: SkillBelief, asked: Sequence[str] = (), allowed: Sequence[str] = ()
    ) -> str:
        """Return the reason of half the threshold."""
        return EntropyBelow(self.bits / 2).stop(belief)


@dataclass(frozen=True)
class FewReasons(EntropyBelow):
    """Forgets the last examinee."""

    def stop_batch(self, progress: Progress) -> NDArray[np.str_]:
        """Return one reason too few, if there are several examinees."""
        return super().stop_batch(progress)[: max(1, len(progress.beliefs) - 1)]


class Mutable(EntropyBelow):
    """Can be changed after construction."""

    def __setattr__(self, name: str, value: object) -> None:
        object.__setattr__(self, name, value)


@dataclass(frozen=True)
class ByTheLastItem(MaximalItems):
    """Ends a live test at an item, and a simulation at its place in the bank.

    The two are the same if items are asked in the order of the bank.
    """

    def stop_batch(self, progress: Progress) -> NDArray[np.str_]:
        """Stop once the third item is the last one asked, of many in the order of the bank."""
        third = progress.asked[:, 2] & ~progress.asked[:, 3:].any(axis=1)
        if len(progress.beliefs) == 1:
            third = np.array([progress.sequence[0, -1:].tolist() == [2]])
        return np.where(third, "the third item", "")


@dataclass(frozen=True)
class FirstSkill(EntropyBelow):
    """Is certain of the skill that is the first in the bank."""

    def stop(
        self, belief: SkillBelief, asked: Sequence[str] = (), allowed: Sequence[str] = ()
    ) -> str:
        """Stop once the first skill is certain."""
        known = entropy(belief.marginal(belief.bank.skills[0]))
        return "certain" if known <= self.bits else ""

    def stop_batch(self, progress: Progress) -> NDArray[np.str_]:
        """Stop once the first skill is certain."""
        known = entropy(progress.beliefs.marginal(progress.bank.skills[0]))
        return np.where(known <= self.bits, "certain", "")


@dataclass(frozen=True)
class ByHand(EntropyBelow):
    """Computes p log p by hand, which is no number once a skill is certain."""

    def stop(
        self, belief: SkillBelief, asked: Sequence[str] = (), allowed: Sequence[str] = ()
    ) -> str:
        """Stop unless the entropy is larger."""
        skill = belief.bank.skills[-1]
        return "" if _by_hand(belief.marginal(skill)) > self.bits else "known"

    def stop_batch(self, progress: Progress) -> NDArray[np.str_]:
        """Stop if the entropy is smaller."""
        skill = progress.bank.skills[-1]
        return np.where(_by_hand(progress.beliefs.marginal(skill)) <= self.bits, "known", "")


def _by_hand(p: NDArray[np.float64]) -> NDArray[np.float64]:
    with np.errstate(all="ignore"):
        entropies: NDArray[np.float64] = -(p * np.log2(p)).sum(axis=-1)
    return entropies


@dataclass(frozen=True)
class Odds(EntropyBelow):
    """Divides by a probability that may be zero."""

    def stop(
        self, belief: SkillBelief, asked: Sequence[str] = (), allowed: Sequence[str] = ()
    ) -> str:
        """Stop at large odds."""
        low, *_, high = belief.marginal(belief.bank.skills[-1]).tolist()
        return "known" if max(low / high, high / low) > 9 else ""


@dataclass(frozen=True)
class TwoLevels(EntropyBelow):
    """Takes the second level for the highest in a simulation."""

    def stop(
        self, belief: SkillBelief, asked: Sequence[str] = (), allowed: Sequence[str] = ()
    ) -> str:
        """Stop once all skills have their highest level."""
        best = [belief.marginal(skill)[-1] for skill in belief.bank.skills]
        return "mastered" if min(best) > 0.5 else ""

    def stop_batch(self, progress: Progress) -> NDArray[np.str_]:
        """Stop once all skills have level 1."""
        best = [progress.beliefs.marginal(skill)[:, 1] for skill in progress.bank.skills]
        return np.where(np.min(best, axis=0) > 0.5, "mastered", "")


@pytest.mark.parametrize(
    ("wrong", "promise"),
    [
        (TwoLevels(1.0), "given the reason that he or she is given alone"),
        (ByHand(0.1), "among many, an examinee is given the reason"),
        (Odds(0.1), "it stops or goes on .*ZeroDivisionError|given the reason"),
        (TruthValue(1.5), "its reason is a text"),
        (LaterAlone(1.5), "the reason that he or she is given alone"),
        (FewReasons(1.5), "gives each examinee a reason"),
        (Mutable(1.5), "it cannot be changed"),
        (FirstSkill(0.5), "the order of the skills in the bank does not matter"),
        (ByTheLastItem(3), "a simulated test ends where the live test ends"),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_the_contract_rejects_a_wrong_stopper(wrong: Stopper, promise: str) -> None:
    with pytest.raises(ContractError, match=promise):
        check_stopper(wrong)
