"""Beliefs about many examinees by a junction tree over the skills, in one run."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked, checked_if_it_fails, positions
from bnmind._messages import counted
from bnmind._values import Value, sealed
from bnmind.adaptive.beliefs.batch_answers import AnsweredBatch, BatchAnswers, impossible_rows
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchProfiles, Responses
from bnmind.adaptive.beliefs.cause_index import CauseIndex
from bnmind.adaptive.beliefs.skill_tree import DEFAULT_TREE_CELLS, SkillTree
from bnmind.adaptive.beliefs.tree_belief import TreeBelief, belief_after, clique_likelihood
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError, TooLargeError
from bnmind.information import Floats
from bnmind.junction import Plan, compile_plan
from bnmind.pgm import Network

__all__ = ["DEFAULT_JOINT_CELLS", "TreeBatch"]

DEFAULT_JOINT_CELLS = 2**26
"""The default limit of cells in the cliques of all examinees together."""


@dataclass(frozen=True, eq=False)
class TreeBatch(AnsweredBatch, Value):
    """Beliefs stored as the joints of the cliques of a junction tree for every examinee.

    Created by `start` or `of`, then by `update`. See `BatchBelief`.
    """

    tree: SkillTree
    """The junction tree of the bank, compiled."""
    plan: Plan
    """The plan from the responses, as soft evidence, to the joint of each clique."""
    _: KW_ONLY
    joints: tuple[Floats, ...]
    """The joint of each clique, ``(examinees, *states)``."""
    log_evidence: Floats
    """``(examinees,)``, natural logarithm of the probability of the responses."""

    @classmethod
    @checked
    def start(
        cls, bank: ItemBank, n_examinees: int, *, max_cells: int = DEFAULT_JOINT_CELLS
    ) -> TreeBatch:
        """Return the beliefs before the first response.

        Parameters
        ----------
        bank
            The items.
        n_examinees
            The number of examinees, at least 0.
        max_cells
            The most cells that the trees of all examinees may have together.

        Raises
        ------
        TooLargeError
            If the tree, or all examinees' trees together, would have too many cells.
        """
        return _limited(BatchAnswers.none(bank, n_examinees), max_cells)

    @classmethod
    @checked
    def of(
        cls, bank: ItemBank, responses: ArrayLike, *, max_cells: int = DEFAULT_JOINT_CELLS
    ) -> TreeBatch:
        """Return the beliefs given responses; parameters and errors as for `TableBatch.of`.

        Parameters
        ----------
        bank
            The items.
        responses
            ``(examinees, items)``: the number of each response from 0, or `MISSING`.
        max_cells
            The most cells that the trees of all examinees may have together.
        """
        return _limited(BatchAnswers.of(bank, responses), max_cells)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_after_all, (self.answers, self.tree))

    def __repr__(self) -> str:
        return (
            f"TreeBatch({counted(len(self), 'examinee')}, {counted(self.tree.total_size, 'cell')})"
        )

    @property
    def _index(self) -> CauseIndex:
        return self.tree.index

    @checked
    def update(self, items: ArrayLike, responses: ArrayLike) -> TreeBatch:
        """Return the beliefs after one more response of each; see `BatchBelief.update`."""
        pairs = self.answers.checked_pairs(items, responses)
        return _run(self.answers.after(*pairs), self.tree, self.plan)

    @checked
    def with_errors(self, chances: ArrayLike) -> TreeBatch:
        """Return the beliefs with other chances of errors; see `BatchBelief.with_errors`."""
        return _run(self.answers.with_errors(chances), self.tree, self.plan)

    @checked
    def take(self, examinees: ArrayLike) -> TreeBatch:
        """Return the beliefs about some of the examinees, by position or by a mask."""
        rows = positions(examinees, len(self), "examinees")
        return replace(
            self,
            answers=self.answers.take(rows),
            joints=tuple(sealed(joint[rows]) for joint in self.joints),
            log_evidence=sealed(self.log_evidence[rows]),
        )

    @checked
    def alone(self, examinee: int) -> TreeBelief:
        """Return the belief about one examinee, by position; it takes a run of the tree."""
        return belief_after(self.tree, *self.answers.alone(examinee))

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
        return self.tree.marginal(self.joints, skill)

    def profile(self) -> BatchProfiles:
        """Return each examinee's most probable profile, one examinee after the other."""
        profiles = []
        for examinee in range(len(self)):
            likelihoods = {}
            if len(self.bank.hidden) > len(self.bank.skills):
                answers, chance = self.answers.alone(examinee)
                likelihoods = {
                    name: clique_likelihood(self.tree, clique, answers, chance)[0]
                    for clique, name in enumerate(self.tree.input_names)
                }
            joints = [joint[examinee] for joint in self.joints]
            profiles.append(self.tree.profile(joints, likelihoods))
        levels = np.array([profile.levels for profile in profiles], dtype=np.intp)
        return BatchProfiles(
            levels.reshape(len(profiles), len(self.bank.skills)),
            np.array([profile.probability for profile in profiles]),
        )


def _limited(answers: BatchAnswers, max_cells: int) -> TreeBatch:
    """Return the beliefs given all answers, unless their tables would be too large."""
    tree = SkillTree(answers.bank, min(max_cells, DEFAULT_TREE_CELLS))
    needed = len(answers) * tree.total_size
    if needed > max_cells:
        raise TooLargeError(
            f"the trees of {len(answers):,} examinees would have {needed:,} cells together; the"
            f" limit is {max_cells:,}: take the examinees in parts",
            needed=needed,
            budget=max_cells,
        )
    return _after_all(answers, tree)


def _after_all(answers: BatchAnswers, tree: SkillTree) -> TreeBatch:
    bank = tree.bank
    items = tuple(bank.network.cpd(name) for name in bank.item_names)
    plan = compile_plan(
        Network((*bank.hidden_network().cpds, *items)),
        soft=bank.item_names,
        targets=tree.scopes,
    )
    return _run(answers, tree, plan)


def _run(answers: BatchAnswers, tree: SkillTree, plan: Plan) -> TreeBatch:
    bank, responses = answers.bank, answers.responses
    # Items without responses can be left out, but one item is needed for the size of the batch.
    answered = np.any(responses != MISSING, axis=0)
    answered[0] = True
    cases = {
        bank.item_names[i]: _evidence(answers, int(i)) for i in np.flatnonzero(answered).tolist()
    }
    try:
        posterior = plan.run_batch(cases)
    except ImpossibleEvidenceError:
        rows = np.flatnonzero(answers.error_chances == 0).tolist()
        wrong = [i for i in rows if not _is_possible(plan, bank, responses[i])]
        raise impossible_rows(bank, responses, wrong) from None
    return TreeBatch(
        answers, tree, plan, joints=posterior.joints, log_evidence=posterior.log_evidence
    )


def _evidence(answers: BatchAnswers, item: int) -> Responses | Floats:
    """Return the responses to an item, or their likelihoods if some may be errors."""
    codes, chances = answers.responses[:, item], answers.error_chances
    if not chances.any():
        return codes
    n_responses = len(answers.bank.responses(answers.bank.item_names[item]))
    is_given = codes[:, None] == np.arange(n_responses)
    weights = (1 - chances[:, None]) * is_given + chances[:, None] / n_responses
    return np.where(codes[:, None] == MISSING, 1.0, weights)


def _is_possible(plan: Plan, bank: ItemBank, row: Responses) -> bool:
    pairs = zip(bank.item_names, row.tolist(), strict=True)
    return plan.is_possible({name: bank.responses(name)[r] for name, r in pairs if r != MISSING})
