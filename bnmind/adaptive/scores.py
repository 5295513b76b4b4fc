"""Selectors, which choose the next item, by what an item should tell about the skills.

A selector chooses for many examinees at once. A live test is a batch of one examinee. A selector
has no state: the same beliefs, items and random numbers give the same choice. Selectors that score
items derive from `ScoringSelector`. The largest score wins; scores that are equal within a
tolerance go to the first item in the order of the bank.

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
L[d, s]    ``losses``: the loss of decision d if the skills have configuration s
ρ          min_d Σ_s L[d, s] P(s): the risk of deciding now
E ρ        Σ_r min_d Σ_s L[d, s] P(s, X=r): the expected risk after item X
score      Σ over the losses of ρ − E ρ
=========  ==================================================================

References
----------
X. Xu, H.-H. Chang and J. Douglas, "A simulation study to compare CAT strategies for
cognitive diagnosis", AERA 2003; Y. Cheng, "When cognitive diagnosis meets computerized
adaptive testing: CD-CAT", Psychometrika 2009; M. Kaplan, J. de la Torre and J. R.
Barrada, "New item selection methods for cognitive diagnosis computerized adaptive
testing", Appl. Psychol. Meas. 2015.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from annotated_types import Ge, MinLen
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._display import table_html
from bnmind._messages import counted, shown
from bnmind._registry import NAMES, Registrar
from bnmind._values import Distinct, Finite, Must, NonNegative, Value, made, sealed
from bnmind.adaptive.beliefs import MISSING, BatchBelief, SkillBelief
from bnmind.adaptive.estimates import (
    checked_skills,
    response_joints,
)
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.rules import Mask, check_allowed, item_mask
from bnmind.errors import InvalidArgumentError, InvalidModelError, NothingToAskError
from bnmind.information import Floats, information, unchecked_entropy

TOLERANCE = 1e-9
"""The default tolerance: scores closer than this count as equal."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection(Value):
    """A selected item, with the scores that led to it."""

    item: str
    """The item to ask."""
    items: tuple[str, ...]
    """The items that could be selected, in the order of the bank."""
    scores: Floats
    """The score of each item, ``(items,)``; larger is better."""
    tied: tuple[str, ...]
    """The items whose scores equal the best score, in the order of the bank."""
    set_aside: tuple[str, ...] = ()
    """Better items that exposure control withholds for the rest of this test."""

    @property
    def score(self) -> float:
        """The score of the selected item."""
        return float(self.scores[self.items.index(self.item)])


class Selections(NamedTuple):
    """The selected item for each examinee."""

    items: NDArray[np.intp]
    """``(examinees,)`` positions in the bank; `MISSING` where no item was allowed."""
    scores: Floats
    """``(examinees, items)``; −inf where an item was not allowed."""
    tied: Mask
    """``(examinees, items)``, as `Selection.tied`."""
    set_aside: Mask
    """``(examinees, items)``, as `Selection.set_aside`."""


def best_of(scores: Floats, allowed: Mask, tolerance: float) -> Selections:
    """Return the first of the allowed items whose score equals the largest within a tolerance.

    Parameters
    ----------
    scores
        ``(examinees, items)``; −inf for items that are not allowed.
    allowed
        ``(examinees, items)``
    tolerance
        Scores closer than this count as equal.
    """
    # The methods of arrays take longer, which counts for one examinee.
    tied = scores >= np.maximum.reduce(scores, axis=1, keepdims=True) - tolerance
    tied &= allowed
    items = np.where(np.logical_or.reduce(tied, axis=1), tied.argmax(axis=1), MISSING)
    return Selections(items, scores, tied, np.zeros_like(tied))


class CheckedMethods:
    """A base of classes in which each implementation of some methods checks its arguments."""

    _checked: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in cls._checked:
            if name in vars(cls):
                setattr(cls, name, checked_if_it_fails(vars(cls)[name]))


class Selector(CheckedMethods, Value, ABC):
    """A base of all selectors, which choose the next item."""

    _checked = ("batch_scores",)

    @abstractmethod
    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Selections:
        """Return the next item of each examinee; the arguments are those of `select_batch`."""

    @checked_if_it_fails
    def select(
        self,
        belief: SkillBelief,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the item to ask next.

        Parameters
        ----------
        belief
            The belief about the examinee.
        items
            The names of the items that may be asked, in any order.
        rng
            Required by selectors that draw. They draw one number for each item of the bank,
            whichever items may be asked.

        Raises
        ------
        NothingToAskError
            If there are no items.
        UnknownNameError
            If there is no such item.
        """
        if not len(items):
            raise NothingToAskError("there is no item to select from")
        every, allowed = belief.bank.item_names, item_mask(belief.bank, items)[None]
        luck = None if rng is None else rng.random(len(every))[None]
        found = self._choice(belief.batch, allowed, luck)

        def names(mask: Mask) -> tuple[str, ...]:
            return tuple([every[place] for place in mask[0].nonzero()[0].tolist()])

        return made(
            Selection,
            item=every[found.items[0]],
            items=names(allowed),
            scores=sealed(found.scores[allowed]),
            tied=names(found.tied),
            set_aside=names(found.set_aside),
        )

    @checked
    def select_batch(
        self, beliefs: BatchBelief, allowed: Mask, *, luck: ArrayLike | None = None
    ) -> Selections:
        """Return the item to ask each of many examinees next.

        Parameters
        ----------
        beliefs
            The belief about each examinee.
        allowed
            ``(examinees, items)``, a mask of the items that may be asked.
        luck
            ``(examinees, items)`` random numbers in [0, 1), required by selectors that draw.
        """
        check_allowed(allowed, beliefs.codes.shape)
        return self._choice(beliefs, allowed, luck)


@dataclass(frozen=True)
class ScoringSelector(Selector):
    """A base of selectors that select the item with the largest score.

    Parameters
    ----------
    tolerance
        Scores closer than this count as equal.
    """

    tolerance: Annotated[float, Ge(0), Finite] = field(default=TOLERANCE, kw_only=True)

    @abstractmethod
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``; larger is better.

        Parameters
        ----------
        beliefs
            The beliefs about all examinees, with their responses.
        """

    def _open_scores(self, beliefs: BatchBelief, allowed: Mask) -> Floats:
        """Return the scores of the allowed items, ``(examinees, items)``; −inf for others."""
        return np.where(allowed, self.batch_scores(beliefs), -np.inf)

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return the score of each item, ``(items,)``, by the belief about one examinee.

        Parameters
        ----------
        belief
            The belief about the examinee.
        items
            The names of the items to score.
        """
        bank = belief.bank
        found = self._open_scores(belief.batch, item_mask(bank, items)[None])
        scores: Floats = found[0, [bank.position(name) for name in items]]
        return scores

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Selections:
        """Return for each examinee the item with the largest score."""
        scores = self._open_scores(beliefs, allowed)
        found = best_of(scores, allowed, self.tolerance)
        if MISSING in found.items.tolist() and np.isnan(scores).any():
            row, place = np.argwhere(np.isnan(scores))[0].tolist()
            raise InvalidArgumentError(
                f"expected a number as the score of {shown(beliefs.bank.item_names[place])} by"
                f" {type(self).__name__}, got {scores[row, place]:g}",
                float(scores[row, place]),
            )
        return found


selector: Registrar[Selector] = Registrar()
"""Registers a selector: `@selector("gdi", "largest G-DINA discrimination index")`."""


def _masses(beliefs: BatchBelief) -> Floats:
    """Return the masses of all items of the bank, ``(examinees, items, configurations)``."""
    return beliefs.masses(np.arange(len(beliefs.bank.item_names)))


def skill_joints(beliefs: BatchBelief, skills: Sequence[str]) -> Floats:
    """Return P(levels of skills, response), ``(examinees, configurations, items, responses)``."""
    return response_joints(beliefs, skills, beliefs.bank.item_names)


@selector(
    "entropy",
    "most information about all skills, or about some",
    NAMES,
    plain=lambda: MinimalEntropy(),
    given=lambda skills: MinimalEntropy(skills),
)
@dataclass(frozen=True)
class MinimalEntropy(ScoringSelector):
    """Select the item with the smallest expected entropy of the skills after its response.

    The score is the expected information of an item about the skills jointly, in bits,
    computed by `bnmind.information.information`, which also chooses the guesses in
    Mastermind. The expected entropy is the entropy of the belief minus the score.

    Parameters
    ----------
    skills
        The names of target skills, for the information about these jointly; default all
        hidden variables. Information about other skills then counts only through its
        dependence with the target skills.
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

    skills: Annotated[tuple[str, ...], MinLen(1), Distinct] | None = None

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        if self.skills is None:
            return beliefs.information()
        return information_about(skill_joints(beliefs, self.skills))


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


@selector("skills", "most information about each skill alone, summed")
@dataclass(frozen=True)
class SkillEntropy(ScoringSelector):
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

    weights: Annotated[Mapping[str, NonNegative], MinLen(1)] | None = None

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        bank = beliefs.bank
        weights = dict.fromkeys(bank.skills, 1.0) if self.weights is None else self.weights
        total = np.zeros((len(beliefs), len(bank.items)))
        for skill, weight in weights.items():
            checked_skills(bank, [skill])
            if weight:
                total += weight * information_about(skill_joints(beliefs, [skill]))
        return total


@selector("gdi", "largest G-DINA discrimination index")
@dataclass(frozen=True)
class DiscriminationIndex(ScoringSelector):
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


@selector(
    "mpwkl",
    "the same between all profiles, weighted by the belief",
    plain=lambda: KullbackLeibler("mpwkl"),
)
@selector("pwkl", "the same, weighted by the belief", plain=lambda: KullbackLeibler("pwkl"))
@selector("kl", "largest Kullback-Leibler divergence from the most probable profile")
@dataclass(frozen=True)
class KullbackLeibler(ScoringSelector):
    """Select the item that best discriminates profiles, by divergences in bits.

    The score ``"kl"`` is the mean over all profiles of the divergence from the estimated one;
    the belief enters through the estimate alone. The original is a sum in natural logarithms,
    which gives the same order. ``"pwkl"`` weights the profiles by the belief. ``"mpwkl"`` is
    the mean divergence between two profiles drawn from the belief, without an estimate. See
    `LEAST_CHANCE` for small chances.

    Parameters
    ----------
    index
        ``"kl"``, ``"pwkl"`` or ``"mpwkl"``.
    estimate
        The function that estimates the profile; default `most_probable_profile`.
    tolerance
        Scores closer than this count as equal.

    References
    ----------
    KL: Xu, Chang and Douglas, 2003. PWKL: Cheng, 2009. MPWKL: Kaplan, de la Torre and
    Barrada, 2015.
    """

    index: Annotated[str, Must(": kl, pwkl or mpwkl", {"kl", "pwkl", "mpwkl"}.__contains__)] = "kl"
    estimate: ProfileEstimate = most_probable_profile

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        bank, channels = beliefs.bank, floored(beliefs.bank.channels())
        if self.index == "mpwkl":
            return _between(channels, _masses(beliefs))
        profile = _configurations(bank, self.estimate(beliefs))
        if self.index == "pwkl":
            return _from(channels, profile, _masses(beliefs))
        is_configuration = bank.channels().any(axis=-1)
        uniform = is_configuration / is_configuration.sum(axis=-1, keepdims=True)
        return _from(channels, profile, uniform)


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


def _configurations(bank: ItemBank, levels: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the configuration of each item's cause in a profile, ``(…, items)``."""
    place = {name: number for number, name in enumerate(bank.skills)}
    if unfit := sorted({name for cause in bank.causes for name in cause} - set(place)):
        raise InvalidModelError(
            [
                "a divergence from a profile of skills needs items that depend on skills alone,"
                f" got {', '.join(unfit)}"
            ]
        )
    of_causes = np.zeros((*levels.shape[:-1], len(bank.causes)), dtype=np.intp)
    for number, cause in enumerate(bank.causes):
        for name in cause:
            of_causes[..., number] *= bank.variable(name).n_states
            of_causes[..., number] += levels[..., place[name]]
    return of_causes[..., bank.cause_numbers]


@selector("loss", "fewest skills classified wrongly")
@dataclass(frozen=True)
class LossGain(ScoringSelector):
    """Select the item with the largest expected reduction of the loss of the best decisions.

    Often no single response can change a decision. Then all scores are zero, and the first
    item in the bank is selected. `MinimalEntropy` does not have this drawback.

    Parameters
    ----------
    losses
        The losses of the decisions about a skill, or about some skills together, by name or names,
        as ``(decisions, levels)``, finite; of several skills, the levels of the last one change
        fastest. The losses of all decisions are added. By default each skill is classified, and
        a wrong level counts as 1.
    tolerance
        Gains closer than this count as equal.

    References
    ----------
    C. Tatsuoka and T. Ferguson, "Sequential classification on partially ordered sets", J.
    R. Stat. Soc. B 2003, section 3 (expected loss); H. Raiffa and R. Schlaifer, *Applied
    Statistical Decision Theory*, 1961 (value of sample information).

    Examples
    --------
    Passing an examinee without the skill is three times as bad as failing one with it:

    >>> from bnmind.adaptive import ItemBank, start_belief
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> strict = LossGain({"skill_1": [[0, 1], [3, 0]]})
    >>> strict.select(start_belief(bank), bank.item_names).item
    'item_1'
    """

    losses: (
        Annotated[Mapping[str | tuple[str, ...], Annotated[ArrayLike, Finite]], MinLen(1)] | None
    ) = None

    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``.

        Raises
        ------
        InvalidArgumentError
            If a table has not a loss for each decision and each configuration of levels.
        """
        bank = beliefs.bank
        usual = {name: 1.0 - np.eye(bank.variable(name).n_states) for name in bank.skills}
        total = np.zeros((len(beliefs), len(bank.items)))
        for named, table in (usual if self.losses is None else self.losses).items():
            skills = [named] if isinstance(named, str) else named
            joints = skill_joints(beliefs, skills)
            if np.ndim(table) != 2 or np.shape(table)[1] != joints.shape[-3]:
                raise InvalidArgumentError(
                    f"expected losses (decisions, {joints.shape[-3]} configurations of"
                    f" {', '.join(skills)}), got shape {np.shape(table)}",
                    table,
                )
            losses = np.einsum("ds,...sir->...dir", np.asarray(table), joints)
            now, after = losses.sum(axis=-1).min(axis=-2), losses.min(axis=-3).sum(axis=-1)
            total += np.maximum(now - after, 0.0)
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
