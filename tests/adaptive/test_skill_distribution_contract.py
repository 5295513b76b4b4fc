"""The contract that every registered distribution of skills keeps, and wrong ones that break it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pytest

from bnmind.adaptive import SKILL_DISTRIBUTIONS, Independent, ProfileDistribution, Saturated
from bnmind.pgm import CPD, TabularCPD, Variable
from tests.registries import check_value, examples_of, registry_faults, rejected

SKILLS = tuple(Variable.of_integers(name, range(n)) for name, n in (("a", 2), ("b", 3), ("c", 2)))


def check_distribution(distribution: ProfileDistribution) -> None:
    """Raise AssertionError unless a distribution of skills keeps the contract."""
    check_value(distribution)
    for skills in (SKILLS, SKILLS[:1], SKILLS[::-1]):
        cpds = distribution.cpds(skills)
        own = tuple(cpd.variable for cpd in cpds if cpd.variable not in skills)
        known = (*own, *skills)
        assert [cpd.variable for cpd in cpds] == list(known), "its own variables, then the skills"
        for number, cpd in enumerate(cpds):
            assert set(cpd.parents) <= set(known[:number]), "parents before children"
        joint = np.ones(())
        for cpd in cpds:
            factor = cpd.to_factor()
            axes = [[v.name for v in known].index(v.name) for v in factor.scope]
            shape = [v.n_states if i in axes else 1 for i, v in enumerate(known)]
            values = np.real(factor.values).transpose(np.argsort(axes))
            joint = joint * values.reshape(shape)
        assert joint.sum() == pytest.approx(1, abs=1e-12)
        assert np.all(joint > 0), "every profile is possible before learning"


@pytest.mark.parametrize("name", SKILL_DISTRIBUTIONS)
def test_a_registered_distribution_keeps_the_contract(name: str) -> None:
    for distribution in examples_of("distribution", SKILL_DISTRIBUTIONS, name):
        check_distribution(distribution)


def test_the_registry_keeps_the_contract() -> None:
    assert registry_faults(SKILL_DISTRIBUTIONS) == []


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


@pytest.mark.parametrize(
    "wrong", [Backwards(), Certain(), Mutable()], ids=lambda wrong: type(wrong).__name__
)
def test_the_contract_rejects_a_wrong_distribution(wrong: ProfileDistribution) -> None:
    assert not rejected(lambda: check_distribution(Saturated()))
    assert rejected(lambda: check_distribution(wrong))
