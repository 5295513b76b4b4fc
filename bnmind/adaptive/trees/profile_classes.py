"""The profiles of a bank in classes: those of one class have the same chances of all answers.

No test tells the profiles of one class apart, so a search needs one hidden state for each class.
The fraction subtraction data have 256 profiles of eight skills, but 58 classes.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.adaptive.beliefs.estimates import TABLE_PROFILES
from bnmind.adaptive.beliefs.tables import ProfileSpace
from bnmind.adaptive.items.bank import ItemBank
from bnmind.information import Floats, unchecked_entropy

__all__ = ["ProfileClasses"]


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
        space = ProfileSpace(bank, TABLE_PROFILES)
        possible = np.flatnonzero(space.prior > 0)
        states = np.array(np.unravel_index(possible, space.shape))
        width = max(len(bank.responses(name)) for name in bank.item_names)
        number = np.zeros(len(possible), dtype=np.intp)
        rows = []
        for item, channel in enumerate(bank.item_channels):
            axes = [space.place[name] for name in bank.causes[bank.cause_numbers[item]]]
            sizes = tuple(space.shape[axis] for axis in axes)
            rows.append(np.ravel_multi_index(tuple(states[axis] for axis in axes), sizes))
            _, alike = np.unique(channel, axis=0, return_inverse=True)
            _, number = np.unique(
                number * len(channel) + alike.reshape(-1)[rows[-1]], return_inverse=True
            )
        _, first, number = np.unique(number, return_index=True, return_inverse=True)
        channels = np.zeros((len(bank.items), len(first), width))
        for item, channel in enumerate(bank.item_channels):
            channels[item, :, : channel.shape[1]] = channel[rows[item][first]]
        prior = np.asarray(np.bincount(number, space.prior[possible]), dtype=np.float64)
        every = np.full(len(space.prior), -1, dtype=np.intp)
        every[possible] = number
        shares = np.zeros(len(space.prior))
        shares[possible] = space.prior[possible] / prior[number]
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

    def profile_gains(self) -> Floats:
        """Return the share of a profile of the skills in each class, ``(choices, classes)``.

        Of the profiles that only one class has, the most probable one is enough.
        """
        n_skills = len(self.bank.skills)
        n_others = int(np.prod(self.shape[n_skills:], dtype=np.intp))
        profiles = np.arange(len(self.number)) // n_others
        is_possible = self.number >= 0
        table = np.zeros((int(profiles[-1]) + 1, len(self.prior)))
        np.add.at(
            table, (profiles[is_possible], self.number[is_possible]), self.shares[is_possible]
        )
        alone = np.count_nonzero(table, axis=1) == 1
        best = np.zeros((len(self.prior), len(self.prior)))
        np.fill_diagonal(best, table[alone].max(axis=0, initial=0.0))
        several = table[~alone & (table > 0).any(axis=1)]
        return np.concatenate([best, several]) if len(several) else best

    def level_gains(self, skill: int) -> Floats:
        """Return the share of each level of a skill in each class, ``(levels, classes)``."""
        levels = np.unravel_index(np.arange(len(self.number)), self.shape)[skill]
        return np.stack(
            [
                self.sums(np.where(levels == level, self.shares, 0.0))
                for level in range(self.shape[skill])
            ]
        )

    def entropy(self) -> float:
        """Return the entropy of all profiles before the test, in bits."""
        return float(unchecked_entropy(self.prior) + self.prior @ self.within())
