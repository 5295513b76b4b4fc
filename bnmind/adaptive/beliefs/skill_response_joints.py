"""The joint distribution of some skills and the response to an item.

It gives the information of an item about these skills, and the expected loss after a response.
A table over all profiles is summed for each configuration of the skills separately; a tree is
run once for each.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product

import numpy as np

from bnmind._arguments import checked
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.cause_index import CauseIndex
from bnmind.adaptive.beliefs.profile_space import ProfileSpace
from bnmind.adaptive.beliefs.table_batch import TableBatch
from bnmind.adaptive.beliefs.table_belief import TableBelief
from bnmind.adaptive.beliefs.tree_batch import TreeBatch
from bnmind.adaptive.beliefs.tree_belief import TreeBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats

__all__ = [
    "MAX_CONFIGURATIONS",
    "batch_response_joints",
    "cause_joints",
    "checked_skills",
    "response_joints",
]

MAX_CONFIGURATIONS = 2**12
"""The limit of configurations of the skills."""


def checked_skills(bank: ItemBank, skills: Sequence[str]) -> int:
    """Return the number of configurations of some skills.

    Raises
    ------
    UnknownNameError
        If one is not a skill of the bank.
    TooLargeError
        If there are more than `MAX_CONFIGURATIONS`.
    """
    for name in skills:
        if name not in bank.skills:
            raise UnknownNameError("skill", name, bank.skills)
    needed = bank.n_configurations(skills)
    if needed > MAX_CONFIGURATIONS:
        raise TooLargeError(
            f"the {len(skills)} skills have {needed:,} configurations together; the limit is"
            f" {MAX_CONFIGURATIONS:,}",
            needed=needed,
            budget=MAX_CONFIGURATIONS,
        )
    return needed


@checked
def response_joints(belief: SkillBelief, skills: Sequence[str], items: Sequence[str]) -> Floats:
    """Return P(levels of some skills, response to an item), given the responses so far.

    Parameters
    ----------
    belief
        A belief by table or by tree.
    skills
        The skills; the levels of the last one change fastest.
    items
        Items not answered yet.

    Returns
    -------
    Floats
        ``(configurations, items, responses)``; each item's cells sum to one.

    Raises
    ------
    InvalidArgumentError
        If the belief is neither a `TableBelief` nor a `TreeBelief`.
    """
    bank = belief.bank
    checked_skills(bank, skills)
    channels = bank.channels(items)
    positions = [bank.position(name) for name in items]
    if isinstance(belief, TableBelief):
        space = belief.space
        rows: Iterator[Floats] = _table_rows(space, belief.table, skills)
        index = space.index
    elif isinstance(belief, TreeBelief):
        rows, index = _tree_rows(belief, skills), belief.tree.index
    else:
        raise InvalidArgumentError(
            f"expected a TableBelief or a TreeBelief, got {type(belief).__name__}",
        )
    return np.stack([_responses(index, row, positions, channels) for row in rows])


def cause_joints(belief: SkillBelief, skill: str, items: Sequence[str]) -> Floats:
    """Return P(level of a skill, parent configuration of an item), given the responses so far.

    The shape is ``(levels, items, configurations)``; see `SkillBelief.masses`.
    """
    positions = [belief.bank.position(name) for name in items]
    if isinstance(belief, TableBelief):
        rows = _table_rows(belief.space, belief.table, [skill])
        index = belief.space.index
    elif isinstance(belief, TreeBelief):
        rows, index = _tree_rows(belief, [skill]), belief.tree.index
    else:
        raise InvalidArgumentError(
            f"expected a TableBelief or a TreeBelief, got {type(belief).__name__}",
        )
    return np.stack([index.masses(row, positions) for row in rows])


def batch_response_joints(beliefs: BatchBelief, skills: Sequence[str]) -> Floats:
    """Return `response_joints` for every item of the bank and many examinees.

    Returns
    -------
    Floats
        ``(examinees, configurations, items, responses)``. With a tree the examinees are
        computed one by one.
    """
    bank = beliefs.bank
    checked_skills(bank, skills)
    if isinstance(beliefs, TableBatch):
        space, channels = beliefs.space, bank.channels()
        positions = list(range(len(bank.items)))
        joints = [
            _responses(space.index, row, positions, channels)
            for row in _table_rows(space, beliefs.table, skills)
        ]
        return np.stack(joints, axis=1)
    if isinstance(beliefs, TreeBatch):
        each = [beliefs.alone(number) for number in range(len(beliefs))]
        return np.stack([response_joints(belief, skills, bank.item_names) for belief in each])
    raise InvalidArgumentError(
        f"expected a TableBatch or a TreeBatch, got {type(beliefs).__name__}",
    )


def _responses(
    index: CauseIndex, row: Floats, positions: Sequence[int], channels: Floats
) -> Floats:
    joint: Floats = np.matmul(index.masses(row, positions)[..., None, :], channels)[..., 0, :]
    return joint


def _table_rows(space: ProfileSpace, table: Floats, skills: Sequence[str]) -> Iterator[Floats]:
    """Yield the masses of all parent configurations for each configuration of the skills."""
    places = [space.place[name] for name in skills]
    sizes = [space.shape[axis] for axis in places]
    number = np.zeros((1,) * len(space.shape), dtype=np.intp)
    for axis, size in zip(places, sizes, strict=True):
        wide = [size if other == axis else 1 for other in range(len(space.shape))]
        number = number * size + np.arange(size).reshape(wide)
    labels = np.broadcast_to(number, space.shape).reshape(-1)
    for configuration in range(math.prod(sizes)):
        yield space.sums(np.where(labels == configuration, table, 0.0))


def _tree_rows(belief: TreeBelief, skills: Sequence[str]) -> Iterator[Floats]:
    tree = belief.tree
    sizes = [belief.bank.variable(name).n_states for name in skills]
    homes = [tree.home([name]) for name in skills]
    zeros: Floats | None = None
    for levels in product(*map(range, sizes)):
        likelihoods = list(belief.likelihoods)
        for name, level, home in zip(skills, levels, homes, strict=True):
            axis, size = tree.scopes[home].index(name), tree.bank.variable(name).n_states
            wide = [size if other == axis else 1 for other in range(len(tree.scopes[home]))]
            likelihoods[home] = likelihoods[home] * (np.arange(size) == level).reshape(wide)
        try:
            posterior = tree.plan.run({}, dict(zip(tree.input_names, likelihoods, strict=True)))
        except ImpossibleEvidenceError:
            if zeros is None:
                zeros = np.zeros_like(
                    tree.marginals([np.real(joint) for joint in belief.posterior.joints])
                )
            yield zeros
            continue
        weight = math.exp(posterior.log_evidence - belief.posterior.log_evidence)
        yield weight * tree.marginals([np.real(joint) for joint in posterior.joints])
