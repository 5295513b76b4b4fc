"""Tables over all profiles of a bank's hidden variables, and their marginals."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bnmind._values import ReadOnlyDict
from bnmind.adaptive.beliefs.cause_index import CauseIndex
from bnmind.adaptive.beliefs.marginal_sums import SubsetSums
from bnmind.adaptive.beliefs.response_errors import likelihood
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import TooLargeError, UnknownNameError
from bnmind.information import Floats

__all__ = ["DEFAULT_PROFILES", "ProfileSpace", "n_profiles"]

DEFAULT_PROFILES = 2**22
"""The default limit of profiles in a table."""


def n_profiles(bank: ItemBank) -> int:
    """Return the number of configurations of all hidden variables of a bank."""
    return math.prod(v.n_states for v in bank.hidden)


@dataclass(frozen=True, eq=False)
class ProfileSpace:
    """The layout of tables over the profiles of a bank; further axes of a table come first.

    Parameters
    ----------
    bank
        The item bank.
    max_profiles
        The limit of configurations of the hidden variables.

    Raises
    ------
    TooLargeError
        If there are more. No table is allocated.
    """

    bank: ItemBank
    max_profiles: int = DEFAULT_PROFILES

    def __post_init__(self) -> None:
        needed = n_profiles(self.bank)
        if needed > self.max_profiles:
            raise TooLargeError(
                f"the {len(self.bank.hidden)} hidden variables have {needed:,} profiles; the limit"
                f" of a table is {self.max_profiles:,}: use a belief by a junction tree",
                needed=needed,
                budget=self.max_profiles,
            )

    def __reduce__(self) -> tuple[Any, ...]:
        return (ProfileSpace, (self.bank, self.max_profiles))

    @cached_property
    def shape(self) -> tuple[int, ...]:
        """The number of states of each hidden variable: the skills, then the others."""
        return tuple(v.n_states for v in self.bank.hidden)

    @cached_property
    def place(self) -> Mapping[str, int]:
        """The axis of each hidden variable."""
        return ReadOnlyDict({v.name: axis for axis, v in enumerate(self.bank.hidden)})

    @cached_property
    def prior(self) -> Floats:
        """The probability of every profile before any response, ``(profiles,)``."""
        table = np.ones(self.shape)
        for cpd in self.bank.hidden_network().cpds:
            factor = cpd.to_factor()
            names = sorted(factor.names, key=self.place.__getitem__)
            values = np.real(factor.transpose(names).values)
            wide = [1] * len(self.shape)
            for name, size in zip(names, values.shape, strict=True):
                wide[self.place[name]] = size
            table = table * values.reshape(wide)
        flat: Floats = table.reshape(-1)
        flat = flat / flat.sum()
        flat.setflags(write=False)
        return flat

    @cached_property
    def sums(self) -> SubsetSums:
        """The sums of a table to the masses of all parent configurations."""
        return SubsetSums.compile(
            self.shape, [[self.place[name] for name in cause] for cause in self.bank.causes]
        )

    @cached_property
    def index(self) -> CauseIndex:
        """The places of each item's masses in the sums."""
        return CauseIndex.of(self.bank, self.sums.starts)

    @cached_property
    def views(self) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], ...]:
        """For each cause the shape to view a table in, and that of a factor to multiply by."""
        shapes = []
        for cause in self.bank.causes:
            axes = {self.place[name] for name in cause}
            view: list[int] = []
            factor: list[int] = []
            merges = False
            for axis, size in enumerate(self.shape):
                if axis not in axes and merges:
                    view[-1] *= size
                    continue
                merges = axis not in axes
                view.append(size)
                factor.append(1 if merges else size)
            shapes.append((tuple(view), tuple(factor)))
        return tuple(shapes)

    def likely(self, table: Floats, item: int, response: int, error_chance: float = 0.0) -> Floats:
        """Return a table ``(…, profiles)`` times the likelihood of a response to an item."""
        view, factor = self.views[self.bank.cause_numbers[item]]
        column = likelihood(self.bank.item_channels[item], response, error_chance)
        front = table.shape[:-1]
        product: Floats = (table.reshape(*front, *view) * column.reshape(factor)).reshape(
            table.shape
        )
        return product

    def marginal(self, table: Floats, name: str) -> Floats:
        """Return the distribution of a hidden variable, ``(…, states)``."""
        if name not in self.place:
            raise UnknownNameError("skill", name, self.place)
        axis = self.place[name]
        before, after = math.prod(self.shape[:axis]), math.prod(self.shape[axis + 1 :])
        view = table.reshape(*table.shape[:-1], before, self.shape[axis], after)
        summed: Floats = view.sum(axis=(-3, -1))
        return summed

    def skills(self, table: Floats) -> Floats:
        """Return the distribution over the profiles of the skills alone, ``(…, profiles)``."""
        n = math.prod(self.shape[: len(self.bank.skills)])
        if n == table.shape[-1]:
            return table
        summed: Floats = table.reshape(*table.shape[:-1], n, table.shape[-1] // n).sum(axis=-1)
        return summed
