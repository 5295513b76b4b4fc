"""Every registered distribution of skills keeps the contract, and wrong ones break it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from bnmind.adaptive import (
    SKILL_DISTRIBUTIONS,
    HigherOrder,
    Independent,
    Saturated,
)
from bnmind.adaptive.items.skill_distributions import ProfileDistribution
from bnmind.errors import ContractError, InvalidModelError
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


@dataclass(frozen=True)
class OnlyNumbers:
    """Reads the names of levels as numbers."""

    def cpds(self, skills: Sequence[Variable]) -> tuple[CPD, ...]:
        """Return distributions by the number of a level."""
        levels = [np.array([1.0 + int(state) for state in v.states]) for v in skills]
        return tuple(TabularCPD(v, (), p / p.sum()) for v, p in zip(skills, levels, strict=True))


class _Own:
    """A distribution that is none of bnmind's."""

    def __init__(self, cpd: CPD) -> None:
        self.variable, self.parents, self.to_factor = cpd.variable, cpd.parents, cpd.to_factor


@dataclass(frozen=True)
class OwnKind:
    """Makes distributions that no network takes."""

    def cpds(self, skills: Sequence[Variable]) -> tuple[CPD, ...]:
        """Return objects with the attributes of a distribution."""
        return tuple(_Own(cpd) for cpd in Independent().cpds(skills))  # type: ignore[misc]


@pytest.mark.parametrize(
    ("wrong", "promise"),
    [
        (OnlyNumbers(), "it fits skills of any levels"),
        (OwnKind(), "learning starts with it"),
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


def test_a_skill_may_not_have_the_name_of_the_ability_behind_it() -> None:
    skills = [Variable.of_integers("ability", range(2))]
    with pytest.raises(InvalidModelError, match="rename the skill, or name the ability by"):
        HigherOrder().cpds(skills)
    assert HigherOrder(ability="theta").cpds(skills)
