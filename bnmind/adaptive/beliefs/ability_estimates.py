"""Estimates of the ability of an IRT bank, for one examinee or many.

Each function takes a belief and returns an array of shape ``()`` for one examinee and
``(examinees,)`` for a batch. The resolution of the estimates is that of the grid.

References
----------
R. D. Bock and R. Mislevy, "Adaptive EAP estimation of ability in a microcomputer
environment", Appl. Psychol. Meas. 1982.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.response_models.base import ability_values
from bnmind.errors import InvalidModelError
from bnmind.information import Floats

__all__ = [
    "AbilityEstimate",
    "ability_deviation",
    "ability_of",
    "expected_ability",
    "has_ability",
    "most_likely_ability",
    "most_probable_ability",
]

AbilityEstimate: TypeAlias = Callable[[SkillBelief | BatchBelief], Floats]
"""A function from a belief to an ability, or from a batch to abilities."""


def ability_of(bank: ItemBank) -> str:
    """Return the name of the one skill of an IRT bank.

    Raises
    ------
    InvalidModelError
        If the bank has more than one skill.
    """
    if len(bank.skills) != 1:
        raise InvalidModelError(
            [f"this needs a bank of one ability; the bank has {counted(len(bank.skills), 'skill')}"]
        )
    return bank.skills[0]


def has_ability(bank: ItemBank) -> bool:
    """Return whether the only hidden variable is an ability on a grid.

    >>> from bnmind.adaptive import Logistic, irt_bank
    >>> has_ability(irt_bank([Logistic()])), has_ability(ItemBank.from_qmatrix([[1]]))
    (True, False)
    """
    if len(bank.hidden) != 1:
        return False
    try:
        values = np.array([float(state) for state in bank.hidden[0].states])
    except ValueError:
        return False
    return not np.array_equal(values, np.arange(len(values)))


@checked
def expected_ability(belief: SkillBelief | BatchBelief) -> Floats:
    """Return the mean of the belief about the ability (EAP).

    Parameters
    ----------
    belief
        Beliefs about one ability; of a batch, one for each examinee.
    """
    weights, points = _weights(belief)
    mean: Floats = np.asarray(weights @ points)
    return mean


@checked
def ability_deviation(belief: SkillBelief | BatchBelief) -> Floats:
    """Return the standard deviation of the belief about the ability.

    Parameters
    ----------
    belief
        Beliefs about one ability; of a batch, one for each examinee.
    """
    weights, points = _weights(belief)
    from_mean = points - np.asarray(weights @ points)[..., None]
    deviation: Floats = np.sqrt((weights * from_mean**2).sum(axis=-1))
    return deviation


@checked
def most_probable_ability(belief: SkillBelief | BatchBelief) -> Floats:
    """Return the most probable point of the grid (MAP).

    Parameters
    ----------
    belief
        Beliefs about one ability; of a batch, one for each examinee.
    """
    weights, points = _weights(belief)
    return np.asarray(points[np.argmax(weights, axis=-1)])


@checked
def most_likely_ability(belief: SkillBelief | BatchBelief) -> Floats:
    """Return the point of the grid that makes the responses most likely (ML).

    Before any response all points are equally likely, and the first is returned. A point
    of prior probability zero is never returned.

    Parameters
    ----------
    belief
        Beliefs about one ability; of a batch, one for each examinee.
    """
    weights, points = _weights(belief)
    prior = belief.bank.network.cpd(ability_of(belief.bank)).to_factor().values.real
    likelihood = np.divide(weights, prior, out=np.zeros_like(weights), where=prior > 0)
    # Equal likelihoods may differ by rounding.
    near = likelihood >= likelihood.max(axis=-1, keepdims=True) * (1 - 1e-12)
    return np.asarray(points[np.argmax(near, axis=-1)])


def _weights(belief: SkillBelief | BatchBelief) -> tuple[Floats, Floats]:
    name = ability_of(belief.bank)
    return belief.marginal(name), ability_values(belief.bank.variable(name))
