"""Beliefs about many examinees by a junction tree over the skills, in one run."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked, checked_if_it_fails, positions
from bnmind._values import CheckedValue, sealed
from bnmind.adaptive.beliefs.batch_belief import (
    MISSING,
    BatchProfiles,
    Responses,
    answers_of,
    checked_answers,
    checked_number,
    checked_responses,
    impossible_rows,
    steps_after,
    steps_of,
)
from bnmind.adaptive.beliefs.cause_index import CauseIndex
from bnmind.adaptive.beliefs.item_information import BatchItemMasses
from bnmind.adaptive.beliefs.response_errors import checked_error_chances
from bnmind.adaptive.beliefs.skill_tree import DEFAULT_TREE_CELLS, SkillTree
from bnmind.adaptive.beliefs.tree_belief import TreeBelief, belief_after, said_of
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError, TooLargeError, UnknownNameError
from bnmind.information import Floats
from bnmind.junction import Plan, compile_plan
from bnmind.pgm import Network

__all__ = ["DEFAULT_JOINT_CELLS", "TreeBatch"]

DEFAULT_JOINT_CELLS = 2**26
"""Cells that all examinees' cliques may have unless the caller says otherwise."""


@dataclass(frozen=True, eq=False)
class TreeBatch(BatchItemMasses, CheckedValue):
    """Beliefs kept as the joints of the cliques of a tree, for every examinee.

    Made by `start` or `of`, and from then on by `update`. See `BatchBelief`.
    """

    tree: SkillTree
    plan: Plan
    """From the responses as soft evidence to the joint of each clique."""
    responses: Responses
    """``(examinees, items)``, read-only."""
    joints: tuple[Floats, ...]
    """The joint of each clique, ``(examinees, *states)``."""
    log_evidence: Floats
    """``(examinees,)``, natural logarithm of the probability of the responses."""
    steps: Responses
    """``(examinees, items)``, after how many others each response came; read-only."""
    error_chances: Floats
    """``(examinees,)``, the chance that each response was an error; see `with_errors`."""

    @classmethod
    @checked
    def start(
        cls, bank: ItemBank, n_examinees: int, *, max_cells: int = DEFAULT_JOINT_CELLS
    ) -> TreeBatch:
        """Return the beliefs before the first response.

        Raises
        ------
        TooLargeError
            If the tree, or all examinees' trees together, would have too many cells.
        """
        checked_number(bank, n_examinees)
        nothing = np.full((n_examinees, len(bank.items)), MISSING, dtype=np.int16)
        return cls.of(bank, nothing, max_cells=max_cells)

    @classmethod
    @checked
    def of(
        cls, bank: ItemBank, responses: ArrayLike, *, max_cells: int = DEFAULT_JOINT_CELLS
    ) -> TreeBatch:
        """Return the beliefs given responses; parameters and errors as for `TableBatch.of`."""
        tree = SkillTree(bank, min(max_cells, DEFAULT_TREE_CELLS))
        checked = checked_responses(bank, responses)
        needed = len(checked) * tree.cells
        if needed > max_cells:
            raise TooLargeError(
                f"expected at most {max_cells:,} examinees times cells of the tree, got"
                f" {needed:,}; take the examinees in parts",
                needed=needed,
                budget=max_cells,
            )
        return _given(tree, checked, steps_of(checked), np.zeros(len(checked)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_given, (self.tree, self.responses, self.steps, self.error_chances))

    def __repr__(self) -> str:
        return f"TreeBatch({len(self)} examinees, {self.tree.cells} cells)"

    def __len__(self) -> int:
        return len(self.responses)

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.tree.bank

    @property
    def _index(self) -> CauseIndex:
        return self.tree.index

    @checked
    def update(self, items: ArrayLike, responses: ArrayLike) -> TreeBatch:
        """Return the beliefs after one more response of each; see `BatchBelief.update`."""
        asked, _, after = checked_answers(self.bank, self.responses, items, responses)
        steps = steps_after(self.steps, asked)
        return _run(self.tree, self.plan, after, steps, self.error_chances)

    @checked
    def with_errors(self, chances: ArrayLike) -> TreeBatch:
        """Return the beliefs with other chances of errors; see `BatchBelief.with_errors`."""
        wanted = np.broadcast_to(checked_error_chances(chances, len(self)), (len(self),)).copy()
        return _run(self.tree, self.plan, self.responses, self.steps, wanted)

    @checked
    def take(self, examinees: ArrayLike) -> TreeBatch:
        """Return the beliefs about some of the examinees, by position or by a mask."""
        rows = positions(examinees, len(self), "examinees")
        responses, steps = self.responses[rows], self.steps[rows]
        joints = tuple(joint[rows] for joint in self.joints)
        log_evidence, chances = self.log_evidence[rows], self.error_chances[rows]
        for array in (responses, steps, chances):
            array.setflags(write=False)
        return TreeBatch(self.tree, self.plan, responses, joints, log_evidence, steps, chances)

    @checked
    def alone(self, examinee: int) -> TreeBelief:
        """Return the belief about one examinee, by position; it takes a run of the tree."""
        positions([examinee], len(self), "examinee")
        answers = answers_of(self.bank, self.responses[examinee], self.steps[examinee])
        return belief_after(self.tree, answers, float(self.error_chances[examinee]))

    @cached_property
    def _row(self) -> Floats:
        return self.tree.marginals(self.joints)

    @cached_property
    def entropy(self) -> Floats:
        """The entropy of all skills jointly, in bits, ``(examinees,)``."""
        return sealed(self.tree.entropy(self.joints, self._row))

    @checked_if_it_fails
    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, ``(examinees, levels)``."""
        names = [v.name for v in self.bank.hidden]
        if skill not in names:
            raise UnknownNameError("skill", skill, names)
        return self.tree.marginal(self.joints, skill)

    def profile(self) -> BatchProfiles:
        """Return each examinee's most probable profile, one examinee after the other."""
        found = []
        for number, row in enumerate(self.responses):
            given = {}
            if len(self.bank.hidden) > len(self.bank.skills):
                answers = answers_of(self.bank, row, self.steps[number])
                chance = float(self.error_chances[number])
                given = {
                    name: said_of(self.tree, clique, answers, chance)[0]
                    for clique, name in enumerate(self.tree.input_names)
                }
            joints = [joint[number] for joint in self.joints]
            found.append(self.tree.profile(joints, given))
        levels = np.array([profile.levels for profile in found], dtype=np.intp)
        return BatchProfiles(
            levels.reshape(len(found), len(self.bank.skills)),
            np.array([profile.probability for profile in found]),
        )


def _given(tree: SkillTree, responses: Responses, steps: Responses, chances: Floats) -> TreeBatch:
    bank = tree.bank
    items = tuple(bank.network.cpd(name) for name in bank.item_names)
    plan = compile_plan(
        Network((*bank.hidden_network().cpds, *items)),
        soft=bank.item_names,
        targets=tree.scopes,
    )
    return _run(tree, plan, responses, steps, chances)


def _run(
    tree: SkillTree, plan: Plan, responses: Responses, steps: Responses, chances: Floats
) -> TreeBatch:
    bank = tree.bank
    # What nobody answered says nothing; one item there must be, to say how many they are.
    asked = np.any(responses != MISSING, axis=0)
    asked[0] = True
    cases = {
        bank.item_names[i]: _evidence(bank, int(i), responses[:, i], chances)
        for i in np.flatnonzero(asked)
    }
    try:
        posterior = plan.run_batch(cases)
    except ImpossibleEvidenceError:
        rows = np.flatnonzero(chances == 0).tolist()
        wrong = [i for i in rows if not _possible(plan, bank, responses[i])]
        raise impossible_rows(bank, responses, wrong) from None
    for array in (responses, chances):
        array.setflags(write=False)
    found = (posterior.joints, posterior.log_evidence)
    return TreeBatch(tree, plan, responses, *found, steps, chances)


def _evidence(
    bank: ItemBank, item: int, responses: Responses, chances: Floats
) -> Responses | Floats:
    """Return the responses to an item, or what they say of the right ones if some may err."""
    if not chances.any():
        return responses
    n_responses = len(bank.responses(bank.item_names[item]))
    is_given = responses[:, None] == np.arange(n_responses)
    weights = (1 - chances[:, None]) * is_given + chances[:, None] / n_responses
    return np.where(responses[:, None] == MISSING, 1.0, weights)


def _possible(plan: Plan, bank: ItemBank, row: Responses) -> bool:
    found = zip(bank.item_names, row.tolist(), strict=True)
    given = {name: bank.responses(name)[r] for name, r in found if r != MISSING}
    return plan.is_possible(given)
