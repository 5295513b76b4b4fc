"""A belief by a junction tree over the skills, for banks with any number of skills."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._messages import counted
from bnmind._values import ReadOnlyDict, Value
from bnmind.adaptive.beliefs.belief import (
    Profile,
    answers_without,
    checked_response,
    impossible_responses,
    skills_html,
)
from bnmind.adaptive.beliefs.cause_index import CauseIndex
from bnmind.adaptive.beliefs.item_information import ItemMasses
from bnmind.adaptive.beliefs.response_errors import checked_error_chances, likelihood
from bnmind.adaptive.beliefs.skill_tree import DEFAULT_TREE_CELLS, SkillTree
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction import OrderFinder, Posterior

__all__ = ["TreeBelief", "belief_after", "clique_likelihood"]


@dataclass(frozen=True, eq=False)
class TreeBelief(ItemMasses, Value):
    """A belief stored as the joint distribution of each clique of a junction tree.

    Created by `start`, then by `update`; each update is one run of a plan. See
    `SkillBelief`. The order of the responses does not change the result, not even by
    rounding.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> belief = TreeBelief.start(bank).update("item_1", 1)
    >>> belief.marginal("skill_1").round(3).tolist()
    [0.182, 0.818]
    """

    tree: SkillTree
    """The junction tree of the bank, compiled."""
    answers: tuple[tuple[str, int], ...]
    """The items answered and the positions of the responses, in the order of the answers."""
    _: KW_ONLY
    likelihoods: tuple[Floats, ...]
    """For each clique the likelihood of the responses, divided by a power of two."""
    powers: tuple[int, ...]
    """The exponent of two for each clique."""
    posterior: Posterior
    """The answer of the tree's plan."""
    error_chance: float = 0.0
    """The chance that each response was an error; see `with_errors`."""

    @classmethod
    @checked
    def start(
        cls,
        bank: ItemBank,
        *,
        max_cells: int = DEFAULT_TREE_CELLS,
        order: OrderFinder | None = None,
    ) -> TreeBelief:
        """Return the belief before the first response.

        Parameters
        ----------
        bank
            The item bank.
        max_cells
            The limit of cells in all cliques together.
        order
            The method that finds an elimination order.

        Raises
        ------
        TooLargeError
            If the tree has more cells; the message says how many.
        """
        return belief_after(SkillTree(bank, max_cells, order), (), 0.0)

    def __reduce__(self) -> tuple[Any, ...]:
        return (belief_after, (self.tree, self.answers, self.error_chance))

    def __repr__(self) -> str:
        return (
            f"TreeBelief({counted(self.tree.total_size, 'cell')},"
            f" {counted(len(self.answers), 'response')})"
        )

    def _repr_html_(self) -> str:
        """Return the skills as an HTML table, which notebooks display."""
        return skills_html(self, caption=repr(self))

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.tree.bank

    @property
    def _index(self) -> CauseIndex:
        return self.tree.index

    @property
    def responses(self) -> Mapping[str, int]:
        """The position of the response to each item answered, in the order of the answers."""
        return ReadOnlyDict(self.answers)

    @checked_if_it_fails
    def update(self, item: str, response: int | str) -> TreeBelief:
        """Return the belief after one more response; see `SkillBelief.update`."""
        number = checked_response(self.bank, self.responses, item, response)
        return self._changed((*self.answers, (item, number)), item)

    @checked
    def without(self, item: str) -> TreeBelief:
        """Return the belief as if an item had not been answered."""
        return self._changed(answers_without(self.bank, self.answers, item), item)

    @checked
    def with_errors(self, chance: float) -> TreeBelief:
        """Return the belief with another chance of errors; see `SkillBelief.with_errors`."""
        return belief_after(self.tree, self.answers, float(checked_error_chances(chance)))

    def _changed(self, answers: tuple[tuple[str, int], ...], item: str) -> TreeBelief:
        """Return the belief after other answers, which differ in one item."""
        clique = self.tree.homes[self.bank.cause_numbers[self.bank.position(item)]]
        table, power = clique_likelihood(self.tree, clique, answers, self.error_chance)
        likelihoods = (*self.likelihoods[:clique], table, *self.likelihoods[clique + 1 :])
        powers = (*self.powers[:clique], power, *self.powers[clique + 1 :])
        return _run(self.tree, answers, likelihoods, powers, self.error_chance)

    @cached_property
    def log_evidence(self) -> float:
        """Natural logarithm of the probability of all the responses."""
        return self.posterior.log_evidence + sum(self.powers) * math.log(2.0)

    @cached_property
    def _row(self) -> Floats:
        return self.tree.marginals(self._joints)

    @cached_property
    def _joints(self) -> tuple[Floats, ...]:
        return tuple(np.real(joint) for joint in self.posterior.joints)

    @cached_property
    def entropy(self) -> float:
        """The entropy of all skills jointly, in bits; other hidden variables count too."""
        return float(self.tree.entropy(self._joints, self._row))

    @checked_if_it_fails
    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, or of another hidden variable."""
        return self.tree.marginal(self._joints, skill)

    def profile(self) -> Profile:
        """Return the most probable profile of the skills.

        Ties are broken arbitrarily, but always in the same way.
        """
        return self.tree.profile(
            self._joints, dict(zip(self.tree.input_names, self.likelihoods, strict=True))
        )


def clique_likelihood(
    tree: SkillTree, clique: int, answers: Sequence[tuple[str, int]], error_chance: float
) -> tuple[Floats, int]:
    """Return the likelihood of the responses that belong to a clique.

    Returns
    -------
    tuple
        The likelihood as a table over the clique, divided by a power of two so that it does
        not underflow, and the exponent of that power.
    """
    bank = tree.bank
    table, power = np.ones(tree.shapes[clique]), 0
    columns: dict[int, Floats] = {}
    powers: dict[int, int] = {}
    # In the order of the bank, so that the order of the answers does not change the result.
    for place, response in sorted((bank.position(item), number) for item, number in answers):
        cause = int(bank.cause_numbers[place])
        if tree.homes[cause] != clique:
            continue
        column = columns.get(cause, 1.0) * likelihood(
            bank.item_channels[place], response, error_chance
        )
        shift = int(np.frexp(column.max())[1])
        columns[cause] = np.ldexp(column, -shift)
        powers[cause] = powers.get(cause, 0) + shift
    for cause, column in columns.items():
        table = table * tree.spread(cause, column)
        shift = int(np.frexp(table.max())[1])
        table, power = np.ldexp(table, -shift), power + shift + powers[cause]
    return table, power


def _run(
    tree: SkillTree,
    answers: tuple[tuple[str, int], ...],
    likelihoods: tuple[Floats, ...],
    powers: tuple[int, ...],
    error_chance: float,
) -> TreeBelief:
    try:
        posterior = tree.plan.run({}, dict(zip(tree.input_names, likelihoods, strict=True)))
    except ImpossibleEvidenceError:
        raise impossible_responses(tree.bank, dict(answers)) from None
    return TreeBelief(
        tree=tree,
        answers=answers,
        likelihoods=likelihoods,
        powers=powers,
        posterior=posterior,
        error_chance=error_chance,
    )


def belief_after(
    tree: SkillTree, answers: tuple[tuple[str, int], ...], error_chance: float
) -> TreeBelief:
    """Return the belief after some answers, each an error with the given chance."""
    pairs = [
        clique_likelihood(tree, clique, answers, error_chance) for clique in range(len(tree.scopes))
    ]
    tables, powers = tuple(t for t, _ in pairs), tuple(p for _, p in pairs)
    return _run(tree, answers, tables, powers, error_chance)
