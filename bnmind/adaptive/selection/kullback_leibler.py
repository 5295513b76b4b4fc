r"""Selectors by the Kullback–Leibler divergence between response distributions of profiles.

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

References
----------
X. Xu, H.-H. Chang and J. Douglas, "A simulation study to compare CAT strategies for
cognitive diagnosis", AERA 2003; Y. Cheng, "When cognitive diagnosis meets computerized
adaptive testing: CD-CAT", Psychometrika 2009; M. Kaplan, J. de la Torre and J. R.
Barrada, "New item selection methods for cognitive diagnosis computerized adaptive
testing", Appl. Psychol. Meas. 2015.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked_if_it_fails
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.selector import (
    TOLERANCE,
    QuestionBelief,
    ScoringSelector,
)
from bnmind.errors import InvalidModelError
from bnmind.information import Floats, unchecked_entropy

__all__ = [
    "LEAST_CHANCE",
    "KullbackLeibler",
    "ModifiedPosteriorWeightedKL",
    "PosteriorWeightedKL",
    "ProfileEstimate",
    "floored",
    "most_probable_profile",
]

LEAST_CHANCE = 1e-4
"""The least probability of a response in a divergence, so that no divergence is infinite."""

ProfileEstimate: TypeAlias = Callable[[SkillBelief | BatchBelief], NDArray[np.intp]]
"""A function from a belief to levels ``(skills,)``, or a batch to ``(examinees, skills)``."""


def most_probable_profile(belief: SkillBelief | BatchBelief) -> NDArray[np.intp]:
    """Return the levels of the most probable profile of a `belief`, ``(…, skills)``."""
    return np.asarray(belief.profile().levels, dtype=np.intp)


@dataclass(frozen=True)
class KullbackLeibler(ScoringSelector[SkillBelief]):
    """Select the item that best discriminates the estimated profile from all others (KL).

    The score is the mean over all profiles of the divergence from the estimated one, in
    bits; the belief enters through the estimate alone. The original is a sum in natural
    logarithms, which gives the same order. Chances of responses below `LEAST_CHANCE`
    (1e-4) count as `LEAST_CHANCE`, so that no score is infinite.

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
    tolerance: float = TOLERANCE

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return the mean divergence for each item, in bits."""
        bank = belief.bank
        channels = floored(bank.channels(items))
        profile = _configurations(bank, self.estimate(belief), items)
        return _from(channels, profile, _uniform(bank, items, channels.shape[1]))

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the mean divergence for each item, ``(examinees, items)``."""
        bank = beliefs.bank
        channels = floored(bank.channels())
        profile = _configurations(bank, self.estimate(beliefs), bank.item_names)
        return _from(channels, profile, _uniform(bank, bank.item_names, channels.shape[1]))


@dataclass(frozen=True)
class PosteriorWeightedKL(ScoringSelector[SkillBelief]):
    """Select the item that best discriminates the estimated profile from probable ones (PWKL).

    The score is the mean over the profiles, weighted by the belief, of the divergence
    from the estimated one, in bits. Chances of responses below `LEAST_CHANCE` (1e-4) count as
    `LEAST_CHANCE`, so that no score is infinite.

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
    tolerance: float = TOLERANCE

    @checked_if_it_fails
    def scores(self, belief: SkillBelief, items: Sequence[str]) -> Floats:
        """Return the weighted divergence for each item, in bits."""
        bank = belief.bank
        profile = _configurations(bank, self.estimate(belief), items)
        return _from(floored(bank.channels(items)), profile, belief.masses(items))

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the weighted divergence for each item, ``(examinees, items)``."""
        bank = beliefs.bank
        profile = _configurations(bank, self.estimate(beliefs), bank.item_names)
        return _from(floored(bank.channels()), profile, beliefs.masses(np.arange(len(bank.items))))


@dataclass(frozen=True)
class ModifiedPosteriorWeightedKL(ScoringSelector[QuestionBelief]):
    """Select the item that best discriminates probable profiles from each other (MPWKL).

    The score is the mean divergence between two profiles drawn from the belief, in bits.
    No estimate is needed. Chances of responses below `LEAST_CHANCE` (1e-4) count as
    `LEAST_CHANCE`, so that no score is infinite.

    Parameters
    ----------
    tolerance
        Scores closer than this count as equal.

    References
    ----------
    Kaplan, de la Torre and Barrada, 2015.
    """

    tolerance: float = TOLERANCE

    @checked_if_it_fails
    def scores(self, belief: QuestionBelief, items: Sequence[str]) -> Floats:
        """Return the mean divergence for each item, in bits."""
        return _between(floored(belief.bank.channels(items)), belief.masses(items))

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the mean divergence for each item, ``(examinees, items)``."""
        items = np.arange(len(beliefs.bank.items))
        return _between(floored(beliefs.bank.channels()), beliefs.masses(items))


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


def _expected(responses: Floats, logs: Floats) -> Floats:
    """Return Σ_x P(x) log₂ …."""
    result: Floats = (responses * logs).sum(axis=-1)
    return result


def _from(channels: Floats, profile: NDArray[np.intp], masses: Floats) -> Floats:
    """Return Σ_c m_c KL(here, c) for each item, ``(…, items)``."""
    row = channels[np.arange(len(channels)), profile]
    means: Floats = np.maximum(
        -unchecked_entropy(row) - _expected(row, _mean_logs(channels, masses)), 0.0
    )
    return means


def _between(channels: Floats, masses: Floats) -> Floats:
    """Return Σ_d Σ_c m_d m_c KL(d, c) for each item, ``(…, items)``."""
    lost = np.einsum("...c,...c->...", masses, unchecked_entropy(channels))
    responses = np.matmul(masses[..., None, :], channels)[..., 0, :]
    means: Floats = np.maximum(-lost - _expected(responses, _mean_logs(channels, masses)), 0.0)
    return means


def _uniform(bank: ItemBank, items: Sequence[str], width: int) -> Floats:
    sizes = np.array([bank.n_configurations(bank.cause(name)) for name in items])[:, None]
    return np.where(np.arange(width) < sizes, 1 / sizes, 0.0)


def _configurations(
    bank: ItemBank, levels: NDArray[np.intp], items: Sequence[str]
) -> NDArray[np.intp]:
    """Return the configuration of each item's cause in a profile, ``(…, items)``."""
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
