"""Selectors by what an item should tell about the skills, and items ranked by it.

Minimal expected entropy of all skills:

=============================  =====================================================
name in the literature         meaning here
=============================  =====================================================
minimal expected (Shannon)     EH = H(belief) − score, so the minimum of EH is the maximum
entropy                        of the score
mutual information             the score
expected information gain      the score
Jensen–Shannon divergence      of the response distributions of all profiles, weighted
(JSD)                          by the belief: the score
weighted/generalized           the same for two response categories
Shannon entropy of Xu et al.
=============================  =====================================================

Minimal expected entropy of some of the skills, together or one by one:

=========  ==================================================================
symbol     name here
=========  ==================================================================
S_T        the target skills jointly
I(X; S_T)  H(X) − Σ_s P(s) H(X | S_T = s): the same formula with the targets'
           configurations as causes, P(X | s) as the channel
=========  ==================================================================

The G-DINA discrimination index:

=========  ==================================================================
symbol     name here
=========  ==================================================================
α*_lj      a configuration of the item's cause
π(α*_lj)   its mass given the responses so far
P̄_j        Σ_l π(α*_lj) P(X_j=1 | α*_lj)
ς²_j       Σ_l π(α*_lj) [P(X_j=1 | α*_lj) − P̄_j]²
=========  ==================================================================

The Kullback–Leibler divergence between response distributions of profiles:

=========  ==================================================================
symbol     name here
=========  ==================================================================
α_c        a profile; only the configuration c of the item's cause matters
α̂          ``estimate``, the estimated profile
P(x|α_c)   ``channel[c, x]``, at least `LEAST_CHANCE`; see `floored`
π(α_c)     ``masses[c]``, given the responses so far
KL(d, c)   Σ_x P(x|d) log₂ (P(x|d) / P(x|c)), in bits
KL         Σ_c KL(α̂, α_c) / number of profiles: Xu, Chang and Douglas
PWKL       Σ_c π(α_c) KL(α̂, α_c): Cheng
MPWKL      Σ_d Σ_c π(α_d) π(α_c) KL(α_d, α_c): Kaplan et al.
=========  ==================================================================

No table of pairs is needed: Σ_c m_c KL(d, c) = −H(N_d) − Σ_x N[d, x] Σ_c m_c log₂ N[c, x].
By definition the divergence is infinite if a response is possible for one profile and impossible
for the other. Such an item would be selected before all others, however uninformative, and
several such items would be tied. Therefore probabilities below `LEAST_CHANCE` count as
`LEAST_CHANCE`.

Decisions about skills, and the items that reduce their expected loss most:

=========  ==================================================================
symbol     name here
=========  ==================================================================
L[d, s]    ``Loss.table``: the loss of decision d if the skills have configuration s
ρ          min_d Σ_s L[d, s] P(s): the risk of deciding now
E ρ        Σ_r min_d Σ_s L[d, s] P(s, X=r): the expected risk after item X
score      Σ over the losses of ρ − E ρ
=========  ==================================================================

Maximal Fisher information at an estimated ability:

=========  ==================================================================
symbol     name here
=========  ==================================================================
θ̂          ``estimate(belief)``
I_j(θ̂)     ``fisher_information``; with two responses
           a² (P − c)² (d − P)² / ((d − c)² P (1 − P)), as in catsim
=========  ==================================================================

Minimal expected posterior variance (MEPV) of the ability:

==============  ==================================================================
symbol          name here
==============  ==================================================================
θ               the ability, a point of the grid
p(θ, x)         ``joints``: the ability and the response to an item, given the answers
E Var(θ | X)    Var(θ) − score, so the largest score has the smallest expected variance
Var(E(θ | X))   the score: Σ_x p(x) (E(θ | x) − E θ)²
==============  ==================================================================

The a-stratified method, for items with logistic curves:

==========  ==================================================================
symbol      name here
==========  ==================================================================
a_i, b_i    the slope and the difficulty of item i
θ̂           ``estimate(belief)``
==========  ==================================================================

The items are divided into K ``strata`` by their slopes, the flattest first, and the test into K
stages. In stage k, the item of stratum k whose difficulty is nearest to θ̂ is asked.

References
----------
X. Xu, H.-H. Chang and J. Douglas, "A simulation study to compare CAT strategies for
cognitive diagnosis", AERA 2003; Y. Cheng, "When cognitive diagnosis meets computerized
adaptive testing: CD-CAT", Psychometrika 2009; M. Kaplan, J. de la Torre and J. R.
Barrada, "New item selection methods for cognitive diagnosis computerized adaptive
testing", Appl. Psychol. Meas. 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, TypeAlias

import numpy as np
from annotated_types import Ge, MinLen
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._display import table_html
from bnmind._messages import counted, shown
from bnmind._registry import NAMES
from bnmind._values import Count, Distinct, Finite, Value
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, SkillBelief
from bnmind.adaptive.beliefs.estimates import (
    AbilityEstimate,
    ability_of,
    checked_skills,
    expected_ability,
    response_joints,
)
from bnmind.adaptive.formulas import ability_values
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.models import GradedResponse, Logistic
from bnmind.adaptive.selection.selector import (
    LENGTH,
    QuestionBelief,
    ScoringSelector,
    selector,
)
from bnmind.errors import InvalidArgumentError, InvalidModelError, NothingToAskError
from bnmind.information import Floats, information, unchecked_entropy


def _masses(beliefs: BatchBelief) -> Floats:
    """Return the masses of all items of the bank, ``(examinees, items, configurations)``."""
    return beliefs.masses(np.arange(len(beliefs.bank.item_names)))


def _joints(beliefs: BatchBelief, skills: Sequence[str]) -> Floats:
    """Return P(levels of skills, response), ``(examinees, configurations, items, responses)``."""
    return response_joints(beliefs, skills, beliefs.bank.item_names)


@selector(
    "entropy",
    "most information about all skills, or about some",
    NAMES,
    plain=lambda: MinimalEntropy(),
    given=lambda skills: TargetEntropy(skills),
)
@dataclass(frozen=True)
class MinimalEntropy(ScoringSelector[QuestionBelief]):
    """Select the item with the smallest expected entropy of all skills after its response.

    The score is the expected information of an item about all skills jointly, in bits,
    computed by `bnmind.information.information`, which also chooses the guesses in
    Mastermind. The expected entropy is the entropy of the belief minus the score.

    Parameters
    ----------
    tolerance
        Information closer than this, in bits, counts as equal.

    References
    ----------
    J. Vomlel, "Bayesian networks in educational testing", 2004; C. Tatsuoka and T.
    Ferguson, "Sequential classification on partially ordered sets", J. R. Stat. Soc. B
    2003; X. Xu, H.-H. Chang and J. Douglas, "A simulation study to compare CAT strategies
    for cognitive diagnosis", AERA 2003 (the Shannon entropy procedure).

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> selection = MinimalEntropy().select(start_belief(bank), bank.item_names)
    >>> selection.item, selection.scores.round(3).tolist()
    ('item_1', [0.397, 0.296])
    """

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        return beliefs.information()


_Weight = Annotated[float, Ge(0), Finite]


def information_about(joints: Floats) -> Floats:
    """Return the information of items about skills, from their joint distributions.

    Parameters
    ----------
    joints
        ``(…, configurations, items, responses)``, as `response_joints` returns.

    Returns
    -------
    Floats
        ``(…, items)``, in bits.
    """
    by_item = np.moveaxis(joints, -3, -2)
    masses = by_item.sum(axis=-1)
    is_possible = masses[..., None] > 0
    channel = np.divide(by_item, masses[..., None], out=np.zeros_like(by_item), where=is_possible)
    return information(masses, channel)


@dataclass(frozen=True)
class TargetEntropy(ScoringSelector[SkillBelief]):
    """Select the item with the most expected information about some skills jointly.

    The score is in bits. Information about other skills counts only through its dependence
    with the target skills. See `MinimalEntropy` for the source.

    Parameters
    ----------
    skills
        The names of the target skills.
    tolerance
        Information closer than this, in bits, counts as equal.
    """

    skills: Annotated[tuple[str, ...], MinLen(1), Distinct]

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        return information_about(_joints(beliefs, self.skills))


@selector("skills", "most information about each skill alone, summed")
@dataclass(frozen=True)
class SkillEntropy(ScoringSelector[SkillBelief]):
    """Select the item with the smallest expected sum of the entropies of single skills.

    The score is Σ_k w_k I(X; S_k), in bits: each skill counts separately, whatever their
    dependence.

    Parameters
    ----------
    weights
        The weight of each skill, at least 0; default 1 for all skills.
    tolerance
        Scores closer than this count as equal.
    """

    weights: Annotated[Mapping[str, _Weight], MinLen(1)] | None = None

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        bank = beliefs.bank
        weights = dict.fromkeys(bank.skills, 1.0) if self.weights is None else self.weights
        total = np.zeros((len(beliefs), len(bank.items)))
        for skill, weight in weights.items():
            checked_skills(bank, [skill])
            if weight:
                total += weight * information_about(_joints(beliefs, [skill]))
        return total


@selector("gdi", "largest G-DINA discrimination index")
@dataclass(frozen=True)
class DiscriminationIndex(ScoringSelector[QuestionBelief]):
    """Select the item with the largest G-DINA discrimination index (GDI).

    The score is the variance of the probability of a right response over the
    configurations of the required skills, weighted by the belief. For items with more than
    two responses it is half the sum of the variances of all responses, which is the same
    for two responses.

    Parameters
    ----------
    tolerance
        Scores closer than this count as equal.

    References
    ----------
    M. Kaplan, J. de la Torre and J. R. Barrada, "New item selection methods for cognitive
    diagnosis computerized adaptive testing", Appl. Psychol. Meas. 2015.
    """

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        channels, masses = beliefs.bank.channels(), _masses(beliefs)[..., None, :]
        variances = np.matmul(masses, (channels - np.matmul(masses, channels)) ** 2)
        index: Floats = variances[..., 0, :].sum(axis=-1) / 2
        return index


LEAST_CHANCE = 1e-4
"""The least probability of a response in a divergence, so that no divergence is infinite."""

ProfileEstimate: TypeAlias = Callable[[SkillBelief | BatchBelief], NDArray[np.intp]]
"""A function from a belief to levels ``(skills,)``, or a batch to ``(examinees, skills)``."""


def most_probable_profile(belief: SkillBelief | BatchBelief) -> NDArray[np.intp]:
    """Return the levels of the most probable profile of a `belief`, ``(…, skills)``."""
    return np.asarray(belief.profile().levels, dtype=np.intp)


@selector("kl", "largest Kullback-Leibler divergence from the most probable profile")
@dataclass(frozen=True)
class KullbackLeibler(ScoringSelector[SkillBelief]):
    """Select the item that best discriminates the estimated profile from all others (KL).

    The score is the mean over all profiles of the divergence from the estimated one, in
    bits; the belief enters through the estimate alone. The original is a sum in natural
    logarithms, which gives the same order. See `LEAST_CHANCE` for small chances.

    Parameters
    ----------
    estimate
        The function that estimates the profile; default `most_probable_profile`.
    tolerance
        Scores closer than this count as equal.

    References
    ----------
    Xu, Chang and Douglas, 2003.
    """

    estimate: ProfileEstimate = most_probable_profile

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        bank = beliefs.bank
        channels = floored(bank.channels())
        profile = _configurations(bank, self.estimate(beliefs))
        return _from(channels, profile, _uniform(bank, channels.shape[1]))


@selector("pwkl", "the same, weighted by the belief")
@dataclass(frozen=True)
class PosteriorWeightedKL(ScoringSelector[SkillBelief]):
    """Select the item that best discriminates the estimated profile from probable ones (PWKL).

    The score is the mean over the profiles, weighted by the belief, of the divergence
    from the estimated one, in bits. See `LEAST_CHANCE` for small chances.

    Parameters
    ----------
    estimate
        The function that estimates the profile; default `most_probable_profile`.
    tolerance
        Scores closer than this count as equal.

    References
    ----------
    Cheng, 2009.
    """

    estimate: ProfileEstimate = most_probable_profile

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        bank = beliefs.bank
        profile = _configurations(bank, self.estimate(beliefs))
        return _from(floored(bank.channels()), profile, _masses(beliefs))


@selector("mpwkl", "the same between all profiles, weighted by the belief")
@dataclass(frozen=True)
class ModifiedPosteriorWeightedKL(ScoringSelector[QuestionBelief]):
    """Select the item that best discriminates probable profiles from each other (MPWKL).

    The score is the mean divergence between two profiles drawn from the belief, in bits.
    No estimate is needed. See `LEAST_CHANCE` for small chances.

    Parameters
    ----------
    tolerance
        Scores closer than this count as equal.

    References
    ----------
    Kaplan, de la Torre and Barrada, 2015.
    """

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        return _between(floored(beliefs.bank.channels()), _masses(beliefs))


def floored(channels: Floats) -> Floats:
    """Return channels in which no chance is below `LEAST_CHANCE`, the rows summing to one.

    Responses that an item does not have, or that have probability 0 in all configurations,
    keep the probability 0.

    Parameters
    ----------
    channels
        ``(items, configurations, responses)``.
    """
    is_given = channels.max(axis=-2, keepdims=True, initial=0.0) > 0
    least = np.where(is_given, np.maximum(channels, LEAST_CHANCE), 0.0)
    rows: Floats = least / least.sum(axis=-1, keepdims=True)
    return rows


def _mean_logs(channels: Floats, masses: Floats) -> Floats:
    """Return Σ_c m_c log₂ N[c, x], ``(…, items, responses)``; 0 for responses never given."""
    logs = np.log2(np.where(channels > 0, channels, 1.0))
    means: Floats = np.matmul(masses[..., None, :], logs)[..., 0, :]
    return means


def _from(channels: Floats, profile: NDArray[np.intp], masses: Floats) -> Floats:
    """Return Σ_c m_c KL(here, c) for each item, ``(…, items)``."""
    row = channels[np.arange(len(channels)), profile]
    gained = (row * _mean_logs(channels, masses)).sum(axis=-1)
    means: Floats = np.maximum(-unchecked_entropy(row) - gained, 0.0)
    return means


def _between(channels: Floats, masses: Floats) -> Floats:
    """Return Σ_d Σ_c m_d m_c KL(d, c) for each item, ``(…, items)``."""
    lost = np.einsum("...c,...c->...", masses, unchecked_entropy(channels))
    responses = np.matmul(masses[..., None, :], channels)[..., 0, :]
    means: Floats = np.maximum(-lost - (responses * _mean_logs(channels, masses)).sum(axis=-1), 0.0)
    return means


def _uniform(bank: ItemBank, width: int) -> Floats:
    sizes = np.array([bank.n_configurations(bank.cause(name)) for name in bank.item_names])[:, None]
    return np.where(np.arange(width) < sizes, 1 / sizes, 0.0)


def _configurations(bank: ItemBank, levels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the configuration of each item's cause in a profile, ``(…, items)``."""
    items = bank.item_names
    place = {name: number for number, name in enumerate(bank.skills)}
    unfit = sorted({v for name in items for v in bank.cause(name)} - set(place))
    if unfit:
        raise InvalidModelError(
            [
                "a divergence from a profile of skills needs items that depend on skills alone,"
                f" got {', '.join(unfit)}"
            ]
        )
    configurations = np.empty((*levels.shape[:-1], len(items)), dtype=np.intp)
    for number, name in enumerate(items):
        cause = bank.cause(name)
        sizes = tuple(bank.variable(v).n_states for v in cause)
        configurations[..., number] = np.ravel_multi_index(
            tuple(levels[..., place[v]] for v in cause), sizes
        )
    return configurations


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


@selector("fisher", "largest Fisher information at the expected ability")
@dataclass(frozen=True)
class MaximalFisher(ScoringSelector[SkillBelief]):
    """Select the item with the largest Fisher information at the estimated ability.

    With the same estimate it selects the same items as catsim's ``MaxInfoSelector``, except
    that ties go to the first item.

    Parameters
    ----------
    estimate
        The function that estimates the ability: `expected_ability` (default),
        `most_probable_ability`, or a function of your own.
    tolerance
        Information closer than this counts as equal.

    References
    ----------
    F. Lord, *Applications of Item Response Theory to Practical Testing Problems*, 1980;
    the formula for four parameters from D. Magis, "A note on the item information function
    of the four-parameter logistic model", Appl. Psychol. Meas. 2013.

    Examples
    --------
    >>> from bnmind.adaptive import irt_bank, logistic_items, start_belief
    >>> bank = irt_bank(logistic_items([[1.2, -0.5], [0.8, 1.0], [1.1, 0.1]]))
    >>> MaximalFisher().select(start_belief(bank), bank.item_names).item
    'item_1'
    """

    estimate: AbilityEstimate = expected_ability

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        return fisher_information(beliefs.bank, beliefs.bank.item_names, self.estimate(beliefs))


@selector("mepv", "smallest expected variance of the ability")
@dataclass(frozen=True)
class MinimalPosteriorVariance(ScoringSelector[SkillBelief]):
    """Select the item with the smallest expected variance of the ability after its response.

    The score is the expected reduction of the variance of the belief, in squared units of the
    ability. The bank has one ability whose states are numbers, such as that of `irt_bank`.

    Parameters
    ----------
    tolerance
        Scores closer than this count as equal.

    References
    ----------
    W. van der Linden, "Bayesian item selection criteria for adaptive testing", Psychometrika
    1998, eq. 12 (minimum expected posterior variance); R. Owen, "A Bayesian sequential
    procedure for quantal response in the context of adaptive mental testing", JASA 1975.

    Examples
    --------
    >>> from bnmind.adaptive import irt_bank, logistic_items, start_belief
    >>> bank = irt_bank(logistic_items([[1.2, -0.5], [0.8, 1.0], [1.1, 0.1]]))
    >>> found = MinimalPosteriorVariance().select(start_belief(bank), bank.item_names)
    >>> found.item, found.scores.round(3).tolist()
    ('item_1', [0.209, 0.111, 0.194])
    """

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        bank = beliefs.bank
        ability = ability_of(bank)
        joints, points = _joints(beliefs, [ability]), ability_values(bank.variable(ability))
        masses = joints.sum(axis=-3)
        sums = np.tensordot(joints, points, axes=(-3, 0))
        squares = np.divide(sums**2, masses, out=np.zeros_like(sums), where=masses > 0)
        # Var(E(θ | X))
        reduction: Floats = squares.sum(axis=-1) - sums.sum(axis=-1) ** 2
        return np.maximum(reduction, 0.0)


_FAR = 1e6
"""Added to the distance of an item for each stratum between its own and that of the stage."""


@selector("a-stratified", "flat curves first, steep ones last, difficulty near the ability", LENGTH)
@dataclass(frozen=True)
class AStratified(ScoringSelector[SkillBelief]):
    """Ask flat items first and steep items last, each with a difficulty near the ability.

    Steep items are kept for the end of the test, when the ability is known better, so items
    are used more evenly. If no item of the stage's stratum may be asked, an item of the
    nearest stratum is. Answers are counted to find the stage.

    Parameters
    ----------
    length
        The number of items in the test, at least 1. The stages have equal lengths.
    strata
        The number of strata, at least 1.
    blocked
        Whether to divide the items by their difficulty into blocks first, and each block by
        slope, so that the difficulties of all strata are alike (b-blocking).
    estimate
        The function that estimates the ability.
    tolerance
        Distances closer than this count as equal.

    References
    ----------
    H.-H. Chang and Z. Ying, "a-Stratified multistage computerized adaptive testing", Appl.
    Psychol. Meas. 1999; H.-H. Chang, J. Qian and Z. Ying, "a-Stratified multistage computerized
    adaptive testing with b blocking", 2001.
    """

    length: Count
    strata: Count = 4
    blocked: bool = field(default=False, kw_only=True)
    estimate: AbilityEstimate = expected_ability

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        slopes, difficulties = _curves(beliefs.bank)
        stratum = _strata(slopes, difficulties, self.strata, blocked=self.blocked)
        n_answered = (beliefs.responses != MISSING).sum(axis=1)
        stage = np.minimum(n_answered * self.strata // self.length, self.strata - 1)
        away = np.abs(stratum - stage[:, None])
        abilities = np.asarray(self.estimate(beliefs))
        distances: Floats = np.abs(difficulties - abilities[:, None]) + _FAR * away
        return -distances


def _curves(bank: ItemBank) -> tuple[Floats, Floats]:
    """Return the size of the slope and the difficulty of each item, ``(items,)``."""
    ability_of(bank)
    pairs, wrong = [], []
    for item in bank.items:
        if isinstance(item.gate, Logistic):
            pairs.append((abs(item.gate.slope), item.gate.difficulty))
        elif isinstance(item.gate, GradedResponse):
            pairs.append((abs(item.gate.slope), float(np.mean(item.gate.thresholds))))
        else:
            wrong.append(item.name)
    if wrong:
        raise InvalidModelError(
            [f"items with a slope and a difficulty are needed, not {', '.join(wrong[:5])}"]
        )
    slopes, difficulties = np.array(pairs, dtype=np.float64).T
    return slopes, difficulties


def _strata(
    slopes: Floats, difficulties: Floats, strata: int, *, blocked: bool
) -> NDArray[np.intp]:
    """Return the stratum of each item, from 0 for the flattest, ``(items,)``."""
    n = len(slopes)
    order = np.argsort(difficulties, kind="stable") if blocked else np.arange(n)
    size = strata if blocked else n
    result = np.empty(n, dtype=np.intp)
    for start in range(0, n, size):
        block = order[start : start + size]
        inside = block[np.argsort(slopes[block], kind="stable")]
        result[inside] = np.arange(len(inside)) * strata // len(inside)
    return result


@dataclass(frozen=True, eq=False)
class Loss(Value):
    """The losses of decisions about some skills.

    Parameters
    ----------
    skills
        The skills that a decision is about.
    table
        ``(decisions, configurations)``, finite; the levels of the last skill change fastest.

    Examples
    --------
    Passing an examinee without the skill is three times as bad as failing one with it:

    >>> Loss(("borrow",), [[0, 1], [3, 0]])
    Loss(borrow: 2 decisions)
    """

    skills: Annotated[tuple[str, ...], MinLen(1), Distinct]
    table: Annotated[ArrayLike, Finite]

    def _faults(self) -> Iterator[str]:
        if len(shape := np.shape(self.table)) != 2 or not shape[0]:
            yield f"expected losses (decisions, configurations), got shape {shape}"

    def __repr__(self) -> str:
        return f"Loss({', '.join(self.skills)}: {counted(len(np.asarray(self.table)), 'decision')})"

    @classmethod
    @checked
    def zero_one(cls, bank: ItemBank, skills: Sequence[str]) -> Loss:
        """Return the loss that is 0 if the decision names all levels correctly, else 1.

        Parameters
        ----------
        bank
            The item bank.
        skills
            The names of the skills.
        """
        return cls(tuple(skills), 1.0 - np.eye(checked_skills(bank, skills)))

    @classmethod
    @checked
    def each_skill(cls, bank: ItemBank) -> tuple[Loss, ...]:
        """Return a zero-one loss for each skill: the number of skills classified wrongly.

        Parameters
        ----------
        bank
            The item bank.
        """
        return tuple(cls.zero_one(bank, [skill]) for skill in bank.skills)

    @checked
    def risk(self, belief: SkillBelief) -> float:
        """Return the expected loss of the best decision now.

        Parameters
        ----------
        belief
            The belief.
        """
        first = belief.bank.item_names[:1]
        joint = self._checked(response_joints(belief, self.skills, first))
        return float((np.asarray(self.table) @ joint[:, 0].sum(axis=-1)).min())

    @checked
    def gains(self, joints: Floats) -> Floats:
        """Return the expected reduction of the risk by each item.

        Parameters
        ----------
        joints
            ``(…, configurations, items, responses)``, as `response_joints` returns.

        Returns
        -------
        Floats
            ``(…, items)``, never negative.
        """
        joints = self._checked(joints)
        losses = np.einsum("ds,...sir->...dir", np.asarray(self.table), joints)
        now = losses.sum(axis=-1).min(axis=-2)
        after = losses.min(axis=-3).sum(axis=-1)
        gains: Floats = np.maximum(now - after, 0.0)
        return gains

    def _checked(self, joints: Floats) -> Floats:
        if not (isinstance(joints, np.ndarray) and joints.ndim >= 3):
            raise InvalidArgumentError(
                "expected joints as an array (…, configurations, items, responses), got"
                f" {shown(joints)}",
                joints,
            )
        n_configurations, width = joints.shape[-3], np.asarray(self.table).shape[1]
        if n_configurations != width:
            raise InvalidArgumentError(
                f"expected losses for {n_configurations} configurations of"
                f" {', '.join(self.skills)}, got {width}",
                width,
            )
        return joints


@selector("loss", "fewest skills classified wrongly")
@dataclass(frozen=True)
class LossGain(ScoringSelector[SkillBelief]):
    """Select the item with the largest expected reduction of the loss of the best decisions.

    Often no single response can change a decision. Then all scores are zero, and the first
    item in the bank is selected. `MinimalEntropy` does not have this drawback.

    Parameters
    ----------
    losses
        The losses of the decisions, which are added. Default a zero-one loss for each
        skill, see `Loss.each_skill`.
    tolerance
        Gains closer than this count as equal.

    References
    ----------
    C. Tatsuoka and T. Ferguson, "Sequential classification on partially ordered sets", J.
    R. Stat. Soc. B 2003, section 3 (expected loss); H. Raiffa and R. Schlaifer, *Applied
    Statistical Decision Theory*, 1961 (value of sample information).
    """

    losses: Annotated[tuple[Loss, ...], MinLen(1)] | None = None

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        losses = Loss.each_skill(beliefs.bank) if self.losses is None else self.losses
        gains = [loss.gains(_joints(beliefs, loss.skills)) for loss in losses]
        total: Floats = np.sum(gains, axis=0)
        return total


@dataclass(frozen=True, kw_only=True)
class RankedItem(Value):
    """The expected information of an item."""

    item: str
    """The name of the item."""
    information: float
    """The expected information about all skills jointly, in bits."""
    expected_entropy: float
    """The expected entropy of all skills after the response, in bits."""
    by_skill: Mapping[str, float]
    """The expected information about each skill alone, in bits.

    The sum may be larger than the information about all skills, if skills are dependent, or
    smaller, if only a combination of skills matters.
    """
    skill: str
    """The skill with the largest expected information; the first of equal ones."""
    predicted: Mapping[str, float]
    """The probability of each response."""
    allowed: bool = True
    """Whether it may be asked next."""


class Ranking(tuple[RankedItem, ...]):
    """Ranked items, the best first: a tuple that notebooks display as a table."""

    __slots__ = ()

    def _repr_html_(self) -> str:
        rows = [
            (row.item, f"{row.information:.4g}", f"{row.expected_entropy:.4g}", row.skill)
            for row in self
        ]
        heads = ("item", "information in bits", "expected entropy", "most about")
        return table_html(
            heads, rows, caption=f"{counted(len(self), 'item')} by expected information"
        )


@checked
def rank_items(belief: SkillBelief, items: Sequence[str]) -> tuple[RankedItem, ...]:
    """Return items by expected information, the largest first; ties in bank order.

    Parameters
    ----------
    belief
        The belief about the examinee.
    items
        Items not answered yet.

    Raises
    ------
    NothingToAskError
        If there are no items.

    Examples
    --------
    >>> from bnmind.adaptive import ItemBank, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> best = rank_items(start_belief(bank), bank.item_names)[0]
    >>> best.item, best.skill, round(best.information, 3)
    ('item_1', 'skill_1', 0.397)
    """
    bank = belief.bank
    if not len(items):
        raise NothingToAskError("there is no item to rank")
    ordered = tuple(sorted(items, key=bank.position))
    whole = belief.information(ordered)
    alone = len(bank.hidden) == 1
    about = {
        skill: whole if alone else information_about(response_joints(belief, [skill], ordered))
        for skill in bank.skills
    }
    rows = []
    for number, name in enumerate(ordered):
        by_skill = {skill: float(values[number]) for skill, values in about.items()}
        most = max(by_skill.values())
        predicted = zip(bank.responses(name), belief.predict(name).tolist(), strict=True)
        rows.append(
            RankedItem(
                item=name,
                information=float(whole[number]),
                expected_entropy=max(0.0, belief.entropy - float(whole[number])),
                by_skill=by_skill,
                skill=next(skill for skill, value in by_skill.items() if value >= most - 1e-9),
                predicted=dict(predicted),
            )
        )
    # Nine digits decide, so that rounding does not; ties keep their order.
    return Ranking(sorted(rows, key=lambda row: -round(row.information, 9)))
