"""What optimal tests are to minimize, and the classes of profiles that no test tells apart.

The profiles of one class have the same chances of all answers. The fraction subtraction data have
256 profiles of eight skills, but 58 classes. A test is thus a problem of `bnmind.questions.trees`,
which knows nothing about tests: the classes are its hidden states, and the items its questions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Protocol

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._registry import NUMBER, Registered, made_by_name
from bnmind._values import Sealed, Value
from bnmind.adaptive.beliefs.estimates import TABLE_PROFILES
from bnmind.adaptive.beliefs.tables import ProfileSpace
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import enemy_pairs
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.questions.trees import (
    ExpectedEntropy,
    ExpectedLoss,
    MissedGoal,
    TreeObjective,
    TreeProblem,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False, kw_only=True)
class ProfileClasses(Sealed):
    """The classes of the profiles of a bank; made by `of`."""

    bank: ItemBank
    prior: Floats
    """``(classes,)``."""
    channels: Floats
    """``(items, classes, responses)``, padded with zeros."""
    number: NDArray[np.intp]
    """``(profiles,)``, the class of each profile of the hidden variables with probability above 0,
    else −1."""
    shares: Floats
    """``(profiles,)``, the probability of each profile within its class."""
    shape: tuple[int, ...]
    """The number of levels of each skill, then of each other hidden variable."""

    @classmethod
    def of(cls, bank: ItemBank) -> ProfileClasses:
        """Return the classes of a bank.

        Raises
        ------
        TooLargeError
            If the bank has more than 65,536 profiles.
        """
        space = ProfileSpace.table(bank, TABLE_PROFILES)
        (profiles,) = space.prior
        possible = np.flatnonzero(profiles > 0)
        states = np.array(np.unravel_index(possible, space.shape))
        number = np.zeros(len(possible), dtype=np.intp)
        rows = []
        for item, channel in enumerate(bank.item_channels):
            axes = [space.place[name] for name in bank.causes[bank.cause_numbers[item]]]
            sizes = tuple(space.shape[axis] for axis in axes)
            rows.append(np.ravel_multi_index(tuple(states[axis] for axis in axes), sizes))
            _, alike = np.unique(channel, axis=0, return_inverse=True)
            # One item after the other, so that the numbers stay small.
            number = number * len(channel) + alike.reshape(-1)[rows[-1]]
            _, first, number = np.unique(number, return_index=True, return_inverse=True)
        width = max(len(bank.responses(name)) for name in bank.item_names)
        channels = np.zeros((len(bank.items), len(first), width))
        for item, channel in enumerate(bank.item_channels):
            channels[item, :, : channel.shape[1]] = channel[rows[item][first]]
        prior = np.asarray(np.bincount(number, profiles[possible]), dtype=np.float64)
        every = np.full(len(profiles), -1, dtype=np.intp)
        every[possible] = number
        shares = np.zeros(len(profiles))
        shares[possible] = profiles[possible] / prior[number]
        return cls(
            bank=bank,
            prior=prior,
            channels=channels,
            number=every,
            shares=shares,
            shape=space.shape,
        )

    def sums(self, values: Floats) -> Floats:
        """Return the sum of a number of each profile over each class, ``(classes,)``."""
        is_possible = self.number >= 0
        summed = np.bincount(
            self.number[is_possible], values[is_possible], minlength=len(self.prior)
        )
        return np.asarray(summed, dtype=np.float64)

    def within(self) -> Floats:
        """Return the entropy of the profile within each class, in bits, ``(classes,)``."""
        logs = np.log2(np.maximum(self.shares, 1e-300))
        return np.maximum(self.sums(-self.shares * logs), 0.0)

    def _skill_profiles(self) -> csr_array:
        """Return the share of each profile of the skills in each class."""
        from scipy.sparse import csr_array

        n_others = int(np.prod(self.shape[len(self.bank.skills) :], dtype=np.intp))
        profiles = np.flatnonzero(self.number >= 0)
        places = (profiles // n_others, self.number[profiles])
        shape = (len(self.number) // n_others, len(self.prior))
        return csr_array((self.shares[profiles], places), shape=shape)

    def profile_gains(self) -> Floats:
        """Return the share of a profile of the skills in each class, ``(choices, classes)``.

        Of the profiles that only one class has, the most probable one is enough.
        """
        table = self._skill_profiles()
        n_classes = np.diff(table.indptr)
        best = np.diag(_largest(table[n_classes == 1]))
        return np.concatenate([best, table[n_classes > 1].toarray()])

    def told(self) -> Floats:
        """Return the results of a test that tells the class, ``(profiles, 3 + skills)``.

        The columns are those of `bnmind.adaptive.trees.evaluation.values_now`.
        """
        profile = _largest(self._skill_profiles())
        skills = [self.level_gains(skill).max(axis=0) for skill in range(len(self.bank.skills))]
        each = np.stack([profile, np.mean(skills, axis=0), self.within(), *skills], axis=1)
        return each[self.number]

    def level_gains(self, skill: int) -> Floats:
        """Return the share of each level of a skill in each class, ``(levels, classes)``."""
        levels = np.unravel_index(np.arange(len(self.number)), self.shape)[skill]
        return np.stack(
            [
                self.sums(np.where(levels == level, self.shares, 0.0))
                for level in range(self.shape[skill])
            ]
        )


def _largest(table: csr_array) -> Floats:
    """Return the largest number of each column, at least 0."""
    largest = np.zeros(table.shape[1])
    np.maximum.at(largest, table.indices, table.data)
    return largest


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


@checked
def search_problem(
    bank: ItemBank, depth: int, *, aim: Aim | None = None, price: float = 0.0
) -> TreeProblem:
    """Return the problem of the best test as the search takes it.

    Parameters
    ----------
    bank
        The item bank. Enemies are kept apart; testlets and content codes are not considered.
    depth
        The largest number of items asked.
    aim
        What the test minimizes; default the expected entropy.
    price
        The price of one unit of the cost of items, in the unit of the aim, at least 0. A test
        ends early where no item is worth its price.

    Raises
    ------
    InvalidArgumentError
        If the depth is less than 1, or the price is negative.
    TooLargeError
        If the bank has more than 65,536 profiles.
    """
    aim = aim or EntropyOfSkills()
    if not 0 <= price < np.inf:
        raise InvalidArgumentError(f"the price must be at least 0, got {price}", price)
    classes = ProfileClasses.of(bank)
    n_items = len(bank.items)
    excludes = np.zeros((n_items, n_items), dtype=bool)
    for first, second in enemy_pairs(bank):
        excludes[first, second] = excludes[second, first] = True
    each = 1.0 if aim.counts_cost and price == 0 else price
    return TreeProblem(
        prior=classes.prior,
        channels=classes.channels,
        objective=aim.objective(classes),
        depth=min(depth, n_items),
        costs=each * np.array([item.cost for item in bank.items]),
        excludes=excludes,
    )
