r"""How far the probabilities of skills are uncertain because the parameters of items are.

=====================  ===================================================================
symbol                 name here
=====================  ===================================================================
p_l                    P(level l of a skill | x): the probability given the answers x
θ_{i,c}                the chance of the response given to item i in configuration c of its
                       parents, with the error chance of the belief
∂p_l / ∂θ_{i,c}        (P(l, c | x) − p_l P(c | x)) / θ_{i,c}
L_k                    the deviations of the table of item i: Σ_k L_k ⊗ L_k is its covariance
Var p_l                Σ_i Σ_k (Σ_c ∂p_l / ∂θ_{i,c} L_{k,c})²
=====================  ===================================================================

This is the delta method: what the probability would be if the parameters were other ones. The
probabilities themselves are those of `ItemBank.averaged`, which already count this uncertainty. The
interval is symmetric on the scale of the logit, so it stays within 0 and 1.

References
----------
J. Yang, M. Hansen and L. Cai, "Characterizing sources of uncertainty in item response theory scale
scores", Educ. Psychol. Meas. 2012; A. Darwiche, "A differential approach to inference in Bayesian
networks", J. ACM 2003 (the derivatives).
"""

from __future__ import annotations

from collections.abc import Mapping
from statistics import NormalDist

import numpy as np

from bnmind._arguments import checked
from bnmind._values import ReadOnlyDict
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.beliefs.response_errors import likelihood
from bnmind.adaptive.beliefs.skill_response_joints import cause_joints
from bnmind.adaptive.items.bank import table_deviations
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["probability_errors", "skill_intervals"]

_INSIDE = 1e-12


@checked
def skill_intervals(
    belief: SkillBelief, *, confidence: float = 0.9
) -> Mapping[str, Mapping[str, tuple[float, float]]]:
    """Return an interval of the probability of each level of each skill, by name.

    The interval shows how much the probability would change with other parameters of the answered
    items, as far as the bank says how sure they are (`Item.certainty`).

    Parameters
    ----------
    belief
        The belief after the answers.
    confidence
        In (0, 1): the probability of the interval, by the normal approximation.

    Raises
    ------
    InvalidArgumentError
        If the confidence is out of range.

    Examples
    --------
    >>> from bnmind.adaptive import Item, ItemBank, TableCertainty, start_belief
    >>> item = Item("a", certainty=TableCertainty([[9, 3], [2, 10]], (0, 1), 20))
    >>> bank = ItemBank.from_qmatrix([[1]], items=[item]).averaged()
    >>> belief = start_belief(bank).update("a", 1)
    >>> belief.marginal("skill_1").round(2).tolist()
    [0.23, 0.77]
    >>> low, high = skill_intervals(belief)["skill_1"]["1"]
    >>> round(low, 2), round(high, 2)
    (0.6, 0.88)
    """
    if not 0 < confidence < 1:
        raise InvalidArgumentError(
            f"expected a confidence between 0 and 1, got {confidence}", confidence
        )
    factor = NormalDist().inv_cdf((1 + confidence) / 2)
    found = {}
    for skill in belief.bank.skills:
        levels = np.clip(belief.marginal(skill), _INSIDE, 1 - _INSIDE)
        logit = np.log(levels) - np.log1p(-levels)
        half = factor * probability_errors(belief, skill) / (levels * (1 - levels))
        ends = 1 / (1 + np.exp(-np.stack([logit - half, logit + half], axis=1)))
        pairs: list[tuple[float, float]] = [(low, high) for low, high in ends.tolist()]
        found[skill] = ReadOnlyDict(zip(belief.bank.variable(skill).states, pairs, strict=True))
    return ReadOnlyDict(found)


def probability_errors(belief: SkillBelief, skill: str) -> Floats:
    """Return the standard deviation of the probability of each level of a skill, ``(levels,)``."""
    bank = belief.bank
    items = [name for name in belief.responses if bank.item(name).certainty is not None]
    variance = np.zeros(bank.variable(skill).n_states)
    if not items:
        return variance
    joints = cause_joints(belief, skill, items)
    for number, name in enumerate(items):
        channel, response = bank.channel(name), belief.responses[name]
        chances = likelihood(channel, response, belief.error_chance)
        joint = joints[:, number, : len(channel)]
        levels = joint.sum(axis=1, keepdims=True)
        # Configurations that the response excludes have no mass.
        slopes = np.divide(
            joint - levels * joint.sum(axis=0), chances, out=np.zeros_like(joint), where=chances > 0
        )
        deviations = table_deviations(bank, name)[:, :, response]
        variance += ((slopes @ deviations.T) ** 2).sum(axis=1)
    errors: Floats = np.sqrt(variance)
    return errors
