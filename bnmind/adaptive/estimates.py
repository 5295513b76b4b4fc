r"""The default beliefs of a bank, and what a belief says about abilities, answers and skills.

Estimates of the ability of an IRT bank take a belief and return an array of shape ``()`` for one
examinee and ``(examinees,)`` for a batch. Their resolution is that of the grid.

Person fit, the probability of each answer given all others:

=============  ==============================================================
symbol         name here
=============  ==============================================================
P(x | others)  the chance of response x to an item, given the responses to
               all other items
p_value        Σ P(x | others) over the responses x that are no more probable
               than the one given: the probability of an answer at least as
               surprising
=============  ==============================================================

P(c | all) ∝ P(c | others) N[c, x], so P(c | others) follows from the belief after all
responses by division. Where a response excludes a configuration, or nearly so, the belief is
computed without that response instead.

How far the probabilities of skills are uncertain because the parameters of items are:

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
R. D. Bock and R. Mislevy, "Adaptive EAP estimation of ability in a microcomputer
environment", Appl. Psychol. Meas. 1982; J. Yang, M. Hansen and L. Cai, "Characterizing sources of
uncertainty in item response theory scale scores", Educ. Psychol. Meas. 2012; A. Darwiche, "A
differential approach to inference in Bayesian networks", J. ACM 2003 (the derivatives).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from statistics import NormalDist
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Natural, ReadOnlyDict, Value, remembered
from bnmind.adaptive.belief_tables import DEFAULT_TREE_CELLS, ProfileSpace, n_profiles
from bnmind.adaptive.beliefs import (
    MISSING,
    BatchBelief,
    SkillBelief,
    batch_given,
    checked_responses,
    likelihood,
    updated_batch_anyway,
)
from bnmind.adaptive.formulas import ability_values
from bnmind.adaptive.items.bank import HasBank, ItemBank, bank_of, table_deviations
from bnmind.adaptive.models import Logistic
from bnmind.errors import (
    ImpossibleEvidenceError,
    InvalidArgumentError,
    InvalidModelError,
    TooLargeError,
    UnknownNameError,
)
from bnmind.information import Floats

TABLE_PROFILES = 2**16
"""The number of profiles up to which a table is used: that of 16 skills with two levels."""


DEFAULT_CELLS = 2**26
"""The default limit of cells in the tables of all examinees together."""


def _space(
    bank: ItemBank, n_examinees: int, max_profiles: int | None, max_cells: int
) -> ProfileSpace:
    """Return the space of beliefs about examinees, which is compiled once for each bank."""
    if n_profiles(bank) <= (TABLE_PROFILES if max_profiles is None else max_profiles):
        space = remembered(bank, "_table", lambda: ProfileSpace.table(bank))
    else:
        most = min(max_cells, DEFAULT_TREE_CELLS)
        space = remembered(bank, f"_tree_{most}", lambda: ProfileSpace.tree(bank, most))
    if (needed := n_examinees * space.n_cells) > max_cells:
        raise TooLargeError(
            f"the tables of {n_examinees:,} examinees would have {needed:,} cells together; the"
            f" limit is {max_cells:,}: take the examinees in parts",
            needed=needed,
            budget=max_cells,
        )
    return space


@checked
def start_belief(
    bank: ItemBank | HasBank,
    *,
    max_profiles: int | None = None,
    max_cells: int = DEFAULT_CELLS,
) -> SkillBelief:
    """Return the belief about an examinee who has answered nothing.

    It is a table over all profiles if they are few, else a junction tree. Both are exact.

    Parameters
    ----------
    bank
        The item bank, or what `learn` returns.
    max_profiles
        The most profiles of a table; default `TABLE_PROFILES`.
    max_cells
        The most cells of a junction tree.

    Raises
    ------
    TooLargeError
        If the tree is too large; the message says how large it would be.
    """
    space = _space(bank_of(bank), 0, max_profiles, max_cells)
    nothing = np.full(len(space.bank.items), MISSING, dtype=np.int16)
    return SkillBelief(
        space, joints=space.prior, log_evidence=0.0, error_chance=0.0, codes=nothing, ranks=nothing
    )


@checked
def start_beliefs(
    bank: ItemBank,
    n_examinees: Natural,
    *,
    max_profiles: int | None = None,
    max_cells: int = DEFAULT_CELLS,
) -> BatchBelief:
    """Return the beliefs about examinees who have answered nothing; see `start_belief`.

    Parameters
    ----------
    bank
        The item bank.
    n_examinees
        The number of examinees.
    max_profiles
        The most profiles of a table; default `TABLE_PROFILES`.
    max_cells
        The most cells of the tables of all examinees together.

    Raises
    ------
    TooLargeError
        If the tables of all examinees would be too large.
    """
    space = _space(bank, n_examinees, max_profiles, max_cells)
    nothing = np.full((n_examinees, len(bank.items)), MISSING, dtype=np.int16)
    return batch_given(space, nothing)


@checked
def beliefs_given(
    bank: ItemBank,
    responses: ArrayLike,
    *,
    max_profiles: int | None = None,
    max_cells: int = DEFAULT_CELLS,
) -> BatchBelief:
    """Return the beliefs given responses ``(examinees, items)``; −1 where there is none.

    Parameters
    ----------
    bank
        The item bank.
    responses
        ``(examinees, items)``, positions of responses in the order of the bank; −1 for none.
    max_profiles, max_cells
        As for `start_beliefs`.

    Raises
    ------
    InvalidArgumentError
        If a response is out of range; the message names row and item.
    ImpossibleEvidenceError
        If an examinee's responses have probability zero.
    TooLargeError
        If the tables of all examinees would be too large.
    """
    codes = checked_responses(bank, responses)
    return batch_given(_space(bank, len(codes), max_profiles, max_cells), codes)


def beliefs_given_anyway(bank: ItemBank, codes: NDArray[np.signedinteger[Any]]) -> BatchBelief:
    """Return the beliefs given responses, also impossible ones; see `updated_batch_anyway`."""
    try:
        return beliefs_given(bank, codes)
    except ImpossibleEvidenceError:
        beliefs = start_beliefs(bank, len(codes))
    for item, answers in enumerate(codes.T.astype(np.intp)):
        beliefs = updated_batch_anyway(beliefs, np.where(answers < 0, MISSING, item), answers)
    return beliefs


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


def fisher_information(bank: ItemBank, items: Sequence[str], abilities: ArrayLike) -> Floats:
    """Return Fisher's information of items at abilities, ``(…, items)``.

    Raises
    ------
    InvalidModelError
        If an item has no curve, as those of `irt_bank` have.
    """
    from scipy.special import expit

    ability_of(bank)
    theta = np.asarray(abilities, dtype=np.float64)[..., None]
    models: list[Any] = [bank.item(name).gate for name in items]
    values = np.empty((*theta.shape[:-1], len(models)))
    logistic = [number for number, model in enumerate(models) if isinstance(model, Logistic)]
    if logistic:
        parameters = [model for model in models if isinstance(model, Logistic)]
        a, b, c, d = np.array([(g.slope, g.difficulty, g.lower, g.upper) for g in parameters]).T
        distance = a * (theta - b)
        high, low = expit(distance), expit(-distance)  # both tails keep their digits
        slope = (d - c) * a * high * low
        right, wrong = c * low + d * high, (1 - c) * low + (1 - d) * high
        product = right * wrong
        values[..., logistic] = np.divide(
            slope**2, product, out=np.zeros_like(product), where=product > 0
        )
    for number, (name, model) in enumerate(zip(items, models, strict=True)):
        if isinstance(model, Logistic):
            continue
        if not hasattr(model, "fisher_information"):
            raise InvalidModelError([f"item {name} has no response model with Fisher information"])
        values[..., number] = model.fisher_information(theta[..., 0])
    return values


_LEAST = 1e-6
"""Likelihoods below this are not divided by."""

_TIE = 1e-9
"""Probabilities closer than this, relative to that of the response, count as equal."""


@dataclass(frozen=True)
class AnswerFit(Value):
    """How surprising one answer is, given all other answers."""

    item: str
    """The name of the item."""
    response: str
    """The response given."""
    probability: float
    """The probability of this response, given all other answers."""
    p_value: float
    """The probability of an answer at least as surprising; small if the answer does not fit."""


def predicted_by_others(belief: SkillBelief, item: str) -> Floats:
    """Return the probability of each response to an answered item, given the other answers.

    Raises
    ------
    InvalidArgumentError
        If the item was not answered.
    """
    bank = belief.bank
    if item not in belief.responses:
        bank.position(item)  # raises if there is no such item
        raise InvalidArgumentError(f"{item} was not answered", item)
    channel = bank.channel(item)
    chances = likelihood(channel, belief.responses[item], belief.error_chance)
    if chances.min() < _LEAST:
        return belief.without(item).predict(item)
    before = belief.masses([item])[0][: len(channel)] / chances
    predicted: Floats = (before / before.sum()) @ channel
    return predicted


@checked
def person_fit(belief: SkillBelief, items: Sequence[str] | None = None) -> tuple[AnswerFit, ...]:
    """Return how surprising each answer is, given all other answers.

    Parameters
    ----------
    belief
        The belief after all answers.
    items
        Answered items; default all of them, in the order of the answers.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank, start_belief
    >>> bank = ItemBank.from_qmatrix([[1]] * 5, guess=0.2, slip=0.1)
    >>> belief = start_belief(bank)
    >>> for item, response in zip(bank.item_names, (1, 1, 0, 1, 1)):
    ...     belief = belief.update(item, response)
    >>> [round(answer.p_value, 2) for answer in person_fit(belief)]
    [1.0, 1.0, 0.1, 1.0, 1.0]
    """
    bank = belief.bank
    fits = []
    for item in belief.responses if items is None else items:
        predicted = predicted_by_others(belief, item)
        number = belief.responses[item]
        own = float(predicted[number])
        # Relative to the sum, so that a certain answer has the p-value 1 exactly.
        tail = float(predicted[predicted <= own * (1 + _TIE)].sum() / predicted.sum())
        fits.append(AnswerFit(item, bank.responses(item)[number], own, tail))
    return tuple(fits)


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
def response_joints(
    belief: SkillBelief | BatchBelief, skills: Sequence[str], items: Sequence[str]
) -> Floats:
    """Return P(levels of some skills, response to an item), given the responses so far.

    Parameters
    ----------
    belief
        The belief about one examinee, or about many.
    skills
        The skills; the levels of the last one change fastest.
    items
        Items not answered yet.

    Returns
    -------
    Floats
        ``(…, configurations, items, responses)``; each item's cells sum to one.
    """
    checked_skills(belief.bank, skills)
    channels = belief.bank.channels(items)
    joints = [
        np.matmul(masses[..., None, :], channels)[..., 0, :]
        for masses in _masses_with(belief, skills, items)
    ]
    return np.stack(joints, axis=-3)


def _masses_with(
    belief: SkillBelief | BatchBelief, skills: Sequence[str], items: Sequence[str]
) -> Iterator[Floats]:
    """Yield `SkillBelief.masses` together with each configuration of some skills."""
    space, places = belief.space, [belief.bank.position(name) for name in items]
    views = [space.variable_view(name) for name in skills]
    for levels in product(*[range(view.n_cells) for _, view in views]):
        joints, touched = list(belief.joints), {0}
        for level, (home, view) in zip(levels, views, strict=True):
            joints[home] = view.times(joints[home], np.eye(view.n_cells)[level])
            touched.add(home)
        space.distribute(joints, space.collect(joints, belief.joints, touched))
        yield space.masses(space.row(joints), places)


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
    joints = np.stack([*_masses_with(belief, [skill], items)])
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
