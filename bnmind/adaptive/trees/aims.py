"""What an optimal test minimizes: the registry of aims."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Protocol

from annotated_types import Gt, Le

from bnmind._arguments import checked
from bnmind._registry import NUMBER, Registered, made_by_name
from bnmind._values import Value
from bnmind.adaptive.trees.profile_classes import ProfileClasses
from bnmind.questions.trees import ExpectedEntropy, ExpectedLoss, MissedGoal, TreeObjective

__all__ = [
    "AIMS",
    "Aim",
    "CostOfCertainty",
    "EntropyOfSkills",
    "ProfileLoss",
    "SkillLoss",
    "aim_by_name",
]


class Aim(Protocol):
    """The interface of aims."""

    @property
    def unit(self) -> str:
        """The unit of values, in a word."""

    @property
    def counts_cost(self) -> bool:
        """Whether items cost what the bank says even if no price is given."""

    def objective(self, classes: ProfileClasses) -> TreeObjective:
        """Return what the ends of a test cost.

        Parameters
        ----------
        classes
            The classes of the profiles of a bank: profiles that no item tells apart are one
            class.
        """


@dataclass(frozen=True)
class EntropyOfSkills:
    """The expected entropy of all skills jointly at the end of the test, in bits."""

    unit: str = field(default="bits", init=False, repr=False)
    counts_cost: bool = field(default=False, init=False, repr=False)

    @checked
    def objective(self, classes: ProfileClasses) -> TreeObjective:
        """Return what the ends of a test cost."""
        return ExpectedEntropy(classes.within())


@dataclass(frozen=True)
class ProfileLoss:
    """The probability that the most probable profile at the end is wrong."""

    unit: str = field(default="wrong profiles", init=False, repr=False)
    counts_cost: bool = field(default=False, init=False, repr=False)

    @checked
    def objective(self, classes: ProfileClasses) -> TreeObjective:
        """Return what the ends of a test cost."""
        return ExpectedLoss((classes.profile_gains(),))


@dataclass(frozen=True)
class SkillLoss:
    """The expected share of skills whose most probable level at the end is wrong."""

    unit: str = field(default="wrong skills", init=False, repr=False)
    counts_cost: bool = field(default=False, init=False, repr=False)

    @checked
    def objective(self, classes: ProfileClasses) -> TreeObjective:
        """Return what the ends of a test cost."""
        return ExpectedLoss(
            tuple(classes.level_gains(skill) for skill in range(len(classes.bank.skills)))
        )


@dataclass(frozen=True)
class CostOfCertainty(Value):
    """The expected cost of a test that goes on until one profile is probable enough.

    Parameters
    ----------
    probability
        The probability of the profile to reach, in (0, 1].
    penalty
        What a test costs in addition if it ends without, above 0; default 100.
    """

    probability: Annotated[float, Gt(0), Le(1)]
    penalty: Annotated[float, Gt(0)] = 100.0
    unit: str = field(default="cost", init=False, repr=False)
    counts_cost: bool = field(default=True, init=False, repr=False)

    @checked
    def objective(self, classes: ProfileClasses) -> TreeObjective:
        """Return what the ends of a test cost."""
        return MissedGoal(classes.profile_gains(), self.probability, self.penalty)


AIMS: Mapping[str, Registered[Aim]] = MappingProxyType(
    {
        "entropy": Registered("the entropy of all skills, in bits", EntropyOfSkills),
        "profile": Registered("the probability of a wrong profile", ProfileLoss),
        "skills": Registered("the share of skills classified wrongly", SkillLoss),
        "cost": Registered(
            "the cost until one profile is this probable", None, NUMBER, CostOfCertainty
        ),
    }
)
"""The aim of each name."""


@checked
def aim_by_name(text: str) -> Aim:
    """Return the aim that a text names, such as ``entropy`` or ``cost:0.9``.

    Parameters
    ----------
    text
        The name, and perhaps an argument after a colon.

    Raises
    ------
    UnknownNameError
        If no aim has the name.
    InvalidArgumentError
        If the argument is missing, or does not belong there.
    """
    return made_by_name("aim", AIMS, text)
