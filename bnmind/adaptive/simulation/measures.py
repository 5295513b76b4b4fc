r"""Measures of a simulated test, taken after every answer.

==============  ==================================================================
symbol          name here
==============  ==================================================================
P(X=r | e)      ``Moment.predicted``: the response r to item X given the answers e;
                for an answered item, as if it were asked again
x               ``Moment.responses``: the examinee's answer, asked or not
½ Σ_r (P−[r=x])²  `BRIER_SCORE`; with two responses (P(X=1) − x)²
ln P(X=x | e)   `LOG_SCORE`
==============  ==================================================================

References
----------
G. Brier, "Verification of forecasts expressed in terms of probability", Mon. Weather Rev.
1950; I. J. Good, "Rational decisions", J. R. Stat. Soc. B 1952 (the logarithmic score); H.
Huebner and C. Wang, "A note on comparing examinee classification methods for cognitive
diagnosis models", Educ. Psychol. Meas. 2011 (patterns and attributes).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_shape, checked, number_array
from bnmind._values import Value, sealed
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, BatchProfiles, Responses
from bnmind.adaptive.beliefs.estimates import ability_deviation, expected_ability
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.models import GradedResponse, Logistic
from bnmind.adaptive.responses.responses import Levels
from bnmind.information import Floats

_TIE = 1e-12
"""Probabilities closer than this count as equal."""


def _predicted(beliefs: BatchBelief) -> Floats:
    """Return the probability of each response to all items, ``(examinees, items, responses)``.

    Items of one cause are predicted together, which is several times as fast as one by one.
    """
    bank = beliefs.bank
    width = max(channel.shape[1] for channel in bank.item_channels)
    predicted = np.zeros((len(beliefs), len(bank.items), width))
    for number in range(len(bank.causes)):
        items = np.flatnonzero(bank.cause_numbers == number)
        channels = bank.channels([bank.item_names[i] for i in items])
        masses = beliefs.masses(items[:1])[:, 0]
        predicted[:, items, : channels.shape[2]] = np.tensordot(masses, channels, axes=(1, 1))
    return predicted


@dataclass(frozen=True, eq=False, kw_only=True)
class Moment(Value):
    """The state of some tests between two questions, as input to measures."""

    beliefs: BatchBelief
    """The belief about each examinee."""
    responses: Responses
    """``(examinees, items)``, the answers to all items, asked or not; `MISSING` if unknown."""
    asked: NDArray[np.bool_]
    """``(examinees, items)``, a mask of the items asked."""
    levels: Levels
    """``(examinees, skills)``, the true levels; `MISSING` where unknown."""
    abilities: Floats
    """``(examinees,)``, the true abilities; NaN where unknown."""

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.beliefs.bank

    @cached_property
    def predicted(self) -> Floats:
        """The probability of each response, ``(examinees, items, responses)``."""
        return sealed(_predicted(self.beliefs))

    @cached_property
    def chances(self) -> Floats:
        """The predicted probability of each answer, ``(examinees, items)``."""
        numbers = np.maximum(self.responses, 0).astype(np.intp)[..., None]
        return sealed(np.take_along_axis(self.predicted, numbers, axis=2)[..., 0])

    @cached_property
    def hits(self) -> NDArray[np.bool_]:
        """Whether the most probable response is the answer; ties go to the better response."""
        predicted = self.predicted
        if predicted.shape[2] == 2:
            best = (predicted[..., 1] >= 0.5 - _TIE).astype(np.intp)
        else:
            near = predicted >= predicted.max(axis=2, keepdims=True) - _TIE
            best = predicted.shape[2] - 1 - np.argmax(near[..., ::-1], axis=2)
        return sealed(best == self.responses)

    @cached_property
    def classified(self) -> Levels:
        """The most probable level of each skill, ``(examinees, skills)``."""
        widths = [self.bank.variable(skill).n_states for skill in self.bank.skills]
        parts = np.split(self.marginals, np.cumsum(widths)[:-1], axis=1)
        return sealed(np.stack([part.argmax(axis=1) for part in parts], axis=1))

    @cached_property
    def marginals(self) -> Floats:
        """The probability of each level of each skill, ``(examinees, levels of all skills)``."""
        parts = [self.beliefs.marginal(skill) for skill in self.bank.skills]
        return sealed(np.concatenate(parts, axis=1))

    @cached_property
    def profile(self) -> BatchProfiles:
        """The most probable profile of each examinee."""
        return self.beliefs.profile()

    @checked
    def mean_of_answers(
        self, values: Floats | NDArray[np.bool_], among: NDArray[np.bool_] | None = None
    ) -> Floats:
        """Return for each examinee the mean of values over the answers; NaN without answers.

        Parameters
        ----------
        values
            ``(examinees, items)``.
        among
            ``(examinees, items)``, a mask of the items to include; default all.
        """
        is_included = self.responses != MISSING
        counted = number_array(values, "values")
        check_shape(counted, "values", is_included.shape)
        if among is not None:
            check_shape(among, "among", is_included.shape)
            is_included = is_included & among
        return _share(np.where(is_included, counted, 0.0).sum(axis=1), is_included.sum(axis=1))


@dataclass(frozen=True)
class Measure(Value):
    """A measure of each test, taken after each answer.

    Parameters
    ----------
    name
        The name of the column in data frames.
    function
        A function of a `Moment` that returns a number for each examinee, ``(examinees,)``;
        NaN where undefined. With several workers it must be possible to pickle it.
    label
        The label in plots; if empty, the name.
    of_answers
        Whether it is a mean over the answers of an examinee. Means over examinees are then
        weighted by the number of answers, so that they are means over all answers.
    is_share
        Whether it is within 0 and 1, as shares and probabilities are. Confidence bands of its means
        then are, too.
    """

    name: str
    function: Callable[[Moment], Floats]
    label: str = ""
    of_answers: bool = field(default=False, kw_only=True)
    is_share: bool = field(default=False, kw_only=True)


def _share(parts: NDArray[Any], wholes: NDArray[Any]) -> Floats:
    shares = np.full(len(wholes), np.nan)
    np.divide(parts, wholes, out=shares, where=wholes > 0)
    return shares


def _accuracy(moment: Moment) -> Floats:
    return moment.mean_of_answers(moment.hits)


def _unasked_accuracy(moment: Moment) -> Floats:
    return moment.mean_of_answers(moment.hits, ~moment.asked)


def _brier(moment: Moment) -> Floats:
    if moment.predicted.shape[2] == 2:
        return moment.mean_of_answers((1 - moment.chances) ** 2)
    squares = (moment.predicted**2).sum(axis=2)
    return moment.mean_of_answers((squares - 2 * moment.chances + 1) / 2)


def _log_score(moment: Moment) -> Floats:
    with np.errstate(divide="ignore"):
        return moment.mean_of_answers(np.log(moment.chances))


def _entropy(moment: Moment) -> Floats:
    return moment.beliefs.entropy


def _profile_probability(moment: Moment) -> Floats:
    return moment.profile.probabilities


def _pattern(moment: Moment) -> Floats:
    known = np.all(moment.levels != MISSING, axis=1)
    if not known.any():
        return np.full(len(known), np.nan)
    right = np.all(moment.profile.levels == moment.levels, axis=1)
    return np.where(known, right, np.nan)


def _attributes(moment: Moment) -> Floats:
    known = moment.levels != MISSING
    right = (moment.classified == moment.levels) & known
    return _share(right.sum(axis=1), known.sum(axis=1))


def _ability(moment: Moment) -> Floats:
    return expected_ability(moment.beliefs)


def _deviation(moment: Moment) -> Floats:
    return ability_deviation(moment.beliefs)


def _ability_error(moment: Moment) -> Floats:
    return _ability(moment) - moment.abilities


def _squared_error(moment: Moment) -> Floats:
    return _ability_error(moment) ** 2


ACCURACY = Measure("accuracy", _accuracy, "answers predicted, all", of_answers=True, is_share=True)
"""The share of all answers, including asked items, that are predicted by P(X | e) ≥ ½."""
UNASKED_ACCURACY = Measure(
    "unasked_accuracy", _unasked_accuracy, "answers predicted, not asked", is_share=True
)
"""The share of the answers to items not asked yet that are predicted correctly."""
BRIER_SCORE = Measure("brier_score", _brier, "Brier score", of_answers=True, is_share=True)
"""The mean Brier score over all answers; 0 is perfect."""
LOG_SCORE = Measure("log_score", _log_score, "log score, natural", of_answers=True)
"""The mean natural logarithm of the probability of the answers; 0 is perfect."""
ENTROPY = Measure("entropy", _entropy, "entropy of the skills, bits")
"""The entropy of all skills jointly, in bits."""
PROFILE_PROBABILITY = Measure(
    "profile_probability",
    _profile_probability,
    "probability of the most probable profile",
    is_share=True,
)
"""The probability of the most probable profile."""
PATTERN_ACCURACY = Measure("pattern_accuracy", _pattern, "profiles classified right", is_share=True)
"""Whether the most probable profile is the true profile."""
ATTRIBUTE_ACCURACY = Measure(
    "attribute_accuracy", _attributes, "skills classified right", is_share=True
)
"""The share of skills whose most probable level is the true level."""
ABILITY = Measure("ability", _ability, "ability expected")
"""The mean of the belief about the ability of an IRT bank."""
ABILITY_DEVIATION = Measure("ability_deviation", _deviation, "standard deviation of the ability")
"""The standard deviation of the belief about the ability."""
ABILITY_ERROR = Measure("ability_error", _ability_error, "bias of the ability expected")
"""The expected ability minus the true ability; the mean is the bias."""
ABILITY_SQUARED_ERROR = Measure(
    "ability_squared_error", _squared_error, "mean squared error of the ability"
)
"""The square of `ABILITY_ERROR`."""


@checked
def default_measures(bank: ItemBank, *, truth: bool) -> tuple[Measure, ...]:
    """Return the default measures of a simulation.

    Parameters
    ----------
    bank
        The bank. The measures are those of abilities for IRT banks, else of profiles.
    truth
        Whether the true levels are known.
    """
    answers = (ACCURACY, BRIER_SCORE, LOG_SCORE, ENTROPY)
    if len(bank.skills) == 1 and all(
        isinstance(item.gate, Logistic | GradedResponse) for item in bank.items
    ):
        errors = (ABILITY_ERROR, ABILITY_SQUARED_ERROR) if truth else ()
        return (*answers, ABILITY, ABILITY_DEVIATION, *errors)
    return (*answers, PATTERN_ACCURACY, ATTRIBUTE_ACCURACY) if truth else answers
