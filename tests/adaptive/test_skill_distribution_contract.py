"""Every registered distribution of skills keeps the contract, and wrong ones break it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from bnmind.adaptive import SKILL_DISTRIBUTIONS, Independent, ProfileDistribution, Saturated
from bnmind.errors import ContractError
from bnmind.pgm import CPD, TabularCPD, Variable
from bnmind.testing import check_skill_distribution


@pytest.mark.parametrize("name", SKILL_DISTRIBUTIONS)
def test_a_registered_distribution_keeps_the_contract(name: str) -> None:
    check_skill_distribution(name)


@dataclass(frozen=True)
class Backwards:
    """Gives the skills in another order."""

    def cpds(self, skills: Sequence[Variable]) -> tuple[CPD, ...]:
        """Return the distributions, the last first."""
        return Independent().cpds(skills)[::-1]


@dataclass(frozen=True)
class Certain:
    """Excludes profiles that learning could then never find."""

    def cpds(self, skills: Sequence[Variable]) -> tuple[CPD, ...]:
        """Return distributions in which everybody has the lowest level."""
        return tuple(TabularCPD(v, (), np.eye(v.n_states)[0]) for v in skills)


@dataclass
class Mutable:
    """Can be changed after construction."""

    strength: float = 1.0

    def cpds(self, skills: Sequence[Variable]) -> tuple[CPD, ...]:
        """Return the saturated distribution."""
        return Saturated().cpds(skills)


@dataclass(frozen=True)
class ByName:
    """Treats a skill by its name."""

    def cpds(self, skills: Sequence[Variable]) -> tuple[CPD, ...]:
        """Return distributions in which the skill a is rare."""
        made = Independent().cpds(skills)
        rare = [TabularCPD(v, (), np.array([0.9, 0.1])) for v in skills[:1] if v.name == "a"]
        return (*rare, *made[len(rare) :])


@pytest.mark.parametrize(
    ("wrong", "promise"),
    [
        (Backwards(), "the skills in their order"),
        (Certain(), "every profile is possible"),
        (Mutable(), "it cannot be changed"),
        (ByName(), "names of the skills do not matter"),
    ],
    ids=lambda wrong: type(wrong).__name__,
)
def test_the_contract_rejects_a_wrong_distribution(
    wrong: ProfileDistribution, promise: str
) -> None:
    with pytest.raises(ContractError, match=promise):
        check_skill_distribution(wrong)
