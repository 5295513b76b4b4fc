"""A belief as a table over all profiles of the skills, updated by Bayes' rule."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._messages import counted
from bnmind._values import ReadOnlyDict, Value, made, sealed
from bnmind.adaptive.beliefs.belief import (
    Profile,
    answers_without,
    checked_response,
    impossible_responses,
    skills_html,
)
from bnmind.adaptive.beliefs.cause_index import CauseIndex
from bnmind.adaptive.beliefs.item_information import ItemMasses
from bnmind.adaptive.beliefs.profile_space import DEFAULT_PROFILES, ProfileSpace
from bnmind.adaptive.beliefs.response_errors import checked_error_chances
from bnmind.adaptive.items.bank import ItemBank
from bnmind.information import Floats, tied_best, unchecked_entropy

__all__ = ["TableBelief"]

_TIE = 1e-12
"""Probabilities of profiles closer than this, relative to the largest, count as equal."""


@dataclass(frozen=True, eq=False)
class TableBelief(ItemMasses, Value):
    """A belief stored as the probability of every profile, for banks with few skills.

    Created by `start`, then by `update`. See `SkillBelief`.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> belief = TableBelief.start(bank).update("item_1", 1)
    >>> belief.marginal("skill_1").round(3).tolist()
    [0.182, 0.818]
    """

    space: ProfileSpace
    """The profiles of the bank."""
    answers: tuple[tuple[str, int], ...]
    """The items answered and the positions of the responses, in the order of the answers."""
    table: Floats
    """The probability of every profile, ``(profiles,)``, read-only."""
    log_evidence: float
    """Natural logarithm of the probability of all the responses."""
    _: KW_ONLY
    error_chance: float = 0.0
    """The chance that each response was an error; see `with_errors`."""

    @classmethod
    @checked
    def start(cls, bank: ItemBank, *, max_profiles: int = DEFAULT_PROFILES) -> TableBelief:
        """Return the belief before the first response.

        Parameters
        ----------
        bank
            The items.
        max_profiles
            The most profiles that the table may have.

        Raises
        ------
        TooLargeError
            If the bank has more profiles than ``max_profiles``.
        """
        space = ProfileSpace(bank, max_profiles)
        return cls(space=space, answers=(), table=space.prior, log_evidence=0.0)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_again, (self.space, self.answers, self.error_chance))

    def __repr__(self) -> str:
        return (
            f"TableBelief({counted(len(self.table), 'profile')},"
            f" {counted(len(self.answers), 'response')})"
        )

    def _repr_html_(self) -> str:
        """Return the skills as an HTML table, which notebooks display."""
        return skills_html(self, caption=repr(self))

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.space.bank

    @property
    def _index(self) -> CauseIndex:
        return self.space.index

    @property
    def responses(self) -> Mapping[str, int]:
        """The position of the response to each item answered, in the order of the answers."""
        return ReadOnlyDict(self.answers)

    @checked_if_it_fails
    def update(self, item: str, response: int | str) -> TableBelief:
        """Return the belief after one more response; see `SkillBelief.update`."""
        bank = self.space.bank
        number = checked_response(bank, dict(self.answers), item, response)
        place = bank.position(item)
        table = self.space.likely(self.table, place, number, self.error_chance)
        # The bank's own name, so that the answers are valid without another check.
        answers = (*self.answers, (bank.item_names[place], number))
        total = float(np.add.reduce(table))
        if not total > 0:
            raise impossible_responses(bank, dict(answers))
        table /= total
        return made(
            TableBelief,
            space=self.space,
            answers=answers,
            table=sealed(table),
            log_evidence=self.log_evidence + math.log(total),
            error_chance=self.error_chance,
        )

    @checked
    def without(self, item: str) -> TableBelief:
        """Return the belief as if an item had not been answered."""
        remaining = answers_without(self.bank, self.answers, item)
        return _again(self.space, remaining, self.error_chance)

    @checked
    def with_errors(self, chance: float) -> TableBelief:
        """Return the belief with another chance of errors; see `SkillBelief.with_errors`."""
        return _again(self.space, self.answers, float(checked_error_chances(chance)))

    @checked_if_it_fails
    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, or of another hidden variable."""
        return self.space.marginal(self.table, skill)

    @cached_property
    def entropy(self) -> float:
        """The entropy of all skills jointly, in bits; other hidden variables count too."""
        return float(unchecked_entropy(self.table))

    def profile(self) -> Profile:
        """Return the most probable profile of the skills; the lowest of equal ones."""
        table = self.space.skills(self.table)
        best = int(tied_best(table, tolerance=_TIE * float(table.max()))[0])
        levels = np.unravel_index(best, self.space.shape[: len(self.bank.skills)])
        return Profile(tuple(int(level) for level in levels), float(table[best]))

    @cached_property
    def _row(self) -> Floats:
        return self.space.sums(self.table)


def _again(
    space: ProfileSpace, answers: tuple[tuple[str, int], ...], error_chance: float
) -> TableBelief:
    belief = TableBelief(
        space=space, answers=(), table=space.prior, log_evidence=0.0, error_chance=error_chance
    )
    for item, number in answers:
        belief = belief.update(item, number)
    return belief
