r"""What is measured after every answer of a simulated test.

==============  ==================================================================
symbol          name here
==============  ==================================================================
P(X=r | e)      ``Moment.predicted``: the response r to item X given the answers e;
                of an item already answered, as if it were asked anew
x               ``Moment.responses``: what the examinee answers, asked or not
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
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_fields, check_shape, checked, number_array
from bnmind._values import CheckedValue, Sealed, sealed
from bnmind.adaptive.beliefs.ability_estimates import ability_deviation, expected_ability
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief, Responses
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.response_models.graded_response import GradedResponse
from bnmind.adaptive.response_models.logistic import Logistic
from bnmind.adaptive.responses.examinees import Levels
from bnmind.information import Floats

__all__ = [
    "ABILITY",
    "ABILITY_DEVIATION",
    "ABILITY_ERROR",
    "ABILITY_SQUARED_ERROR",
    "ACCURACY",
    "ATTRIBUTE_ACCURACY",
    "BRIER_SCORE",
    "ENTROPY",
    "LOG_SCORE",
    "PATTERN_ACCURACY",
    "PROFILE_PROBABILITY",
    "UNASKED_ACCURACY",
    "Measure",
    "Moment",
    "Predictor",
    "default_measures",
]

_TIE = 1e-12
"""Probabilities closer than this count as equal."""


@dataclass(frozen=True, eq=False)
class Predictor(Sealed):
    """Predicts all responses to all items; items of one cause go together."""

    groups: tuple[tuple[NDArray[np.intp], Floats], ...]
    """Items of one cause, and their channels side by side, ``(configurations, …)``."""
    shape: tuple[int, int]
    """The numbers of items and of responses, the most that an item has."""

    @classmethod
    def of(cls, bank: ItemBank) -> Predictor:
        """Return the predictor of a bank."""
        width = max(len(bank.responses(name)) for name in bank.item_names)
        groups = []
        for number in range(len(bank.causes)):
            items = np.flatnonzero(bank.cause_numbers == number)
            parts = [bank.channel(bank.item_names[i]) for i in items]
            padded = [np.pad(part, ((0, 0), (0, width - part.shape[1]))) for part in parts]
            groups.append((items, np.concatenate(padded, axis=1)))
        return cls(tuple(groups), (len(bank.items), width))

    def __call__(self, beliefs: BatchBelief) -> Floats:
        """Return the probability of each response, ``(examinees, items, responses)``."""
        found = np.empty((len(beliefs), *self.shape))
        for items, channels in self.groups:
            masses = beliefs.masses(items[:1])[:, 0]
            found[:, items] = (masses @ channels).reshape(len(masses), len(items), -1)
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class Moment(CheckedValue):
    """The tests of some examinees between two questions: all that a measure is told."""

    beliefs: BatchBelief
    """What is known of each."""
    responses: Responses
    """``(examinees, items)``, all that they answer, asked or not; `MISSING` if not known."""
    asked: NDArray[np.bool_]
    """``(examinees, items)``, which items were asked."""
    levels: Levels
    """``(examinees, skills)``, the true levels; `MISSING` where not known."""
    abilities: Floats
    """``(examinees,)``, the true abilities; NaN where not known."""
    predictor: Predictor

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.beliefs.bank

    @cached_property
    def predicted(self) -> Floats:
        """The probability of each response, ``(examinees, items, responses)``."""
        return sealed(self.predictor(self.beliefs))

    @cached_property
    def chances(self) -> Floats:
        """The probability of what was answered, ``(examinees, items)``."""
        given = np.maximum(self.responses, 0).astype(np.intp)[..., None]
        found: Floats = np.take_along_axis(self.predicted, given, axis=2)[..., 0]
        return sealed(found)

    @cached_property
    def hits(self) -> NDArray[np.bool_]:
        """Whether the most probable response is the one given; the better of equal ones."""
        predicted = self.predicted
        if predicted.shape[2] == 2:
            best = (predicted[..., 1] >= 0.5 - _TIE).astype(np.intp)
        else:
            near = predicted >= predicted.max(axis=2, keepdims=True) - _TIE
            best = predicted.shape[2] - 1 - np.argmax(near[..., ::-1], axis=2)
        hits: NDArray[np.bool_] = best == self.responses
        return sealed(hits)

    @cached_property
    def classified(self) -> Levels:
        """The most probable level of each skill, ``(examinees, skills)``."""
        skills = self.bank.skills
        best = [self.beliefs.marginal(skill).argmax(axis=1) for skill in skills]
        return sealed(np.stack(best, axis=1))

    @checked
    def mean_of_answers(
        self, values: Floats | NDArray[np.bool_], among: NDArray[np.bool_] | None = None
    ) -> Floats:
        """Return for each examinee the mean of values over the answers; NaN if there are none.

        Parameters
        ----------
        values
            ``(examinees, items)``.
        among
            The items that count; all unless given.
        """
        there = self.responses != MISSING
        counted = number_array(values, "values")
        check_shape(counted, "values", there.shape)
        if among is not None:
            check_shape(among, "among", there.shape)
            there = there & among
        return _share(np.where(there, counted, 0.0).sum(axis=1), there.sum(axis=1))


@dataclass(frozen=True)
class Measure:
    """What is measured of each test after each answer.

    Parameters
    ----------
    name
        The name of its column.
    function
        From a `Moment` to a number for each examinee, ``(examinees,)``; NaN where there
        is none. With several workers it must be one that can be pickled.
    label
        What it is in words, for plots; the name unless given.
    of_answers
        Whether it is a mean over an examinee's answers; means over examinees then count each
        answer once, so that they are means over all answers.
    """

    name: str
    function: Callable[[Moment], Floats]
    label: str = ""
    of_answers: bool = False

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "label", self.label or self.name)


def _share(parts: NDArray[Any], wholes: NDArray[Any]) -> Floats:
    found = np.full(len(wholes), np.nan)
    np.divide(parts, wholes, out=found, where=wholes > 0)
    return found


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
    return moment.beliefs.profile().probabilities


def _pattern(moment: Moment) -> Floats:
    known = np.all(moment.levels != MISSING, axis=1)
    if not known.any():
        return np.full(len(known), np.nan)
    right = np.all(moment.beliefs.profile().levels == moment.levels, axis=1)
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


ACCURACY = Measure("accuracy", _accuracy, "answers predicted, all", True)
"""The share of all answers, those asked included, that P(X | e) ≥ ½ predicts."""
UNASKED_ACCURACY = Measure(
    "unasked_accuracy", _unasked_accuracy, "answers predicted, not asked", False
)
"""The same of the items not asked yet."""
BRIER_SCORE = Measure("brier_score", _brier, "Brier score", True)
"""The mean over all answers; 0 is perfect."""
LOG_SCORE = Measure("log_score", _log_score, "log score, natural", True)
"""The mean natural logarithm of the probability of what was answered; 0 is perfect."""
ENTROPY = Measure("entropy", _entropy, "entropy of the skills, bits")
"""Of all skills jointly."""
PROFILE_PROBABILITY = Measure(
    "profile_probability", _profile_probability, "probability of the most probable profile"
)
"""How sure the test is of the whole profile."""
PATTERN_ACCURACY = Measure("pattern_accuracy", _pattern, "profiles classified right")
"""Whether the most probable profile is the true one."""
ATTRIBUTE_ACCURACY = Measure("attribute_accuracy", _attributes, "skills classified right")
"""The share of the skills whose most probable level is the true one."""
ABILITY = Measure("ability", _ability, "ability expected")
"""The mean of the belief about the ability of an IRT bank."""
ABILITY_DEVIATION = Measure("ability_deviation", _deviation, "standard deviation of the ability")
"""The standard deviation of that belief."""
ABILITY_ERROR = Measure("ability_error", _ability_error, "bias of the ability expected")
"""The ability expected less the true one; its mean is the bias."""
ABILITY_SQUARED_ERROR = Measure(
    "ability_squared_error", _squared_error, "mean squared error of the ability"
)
"""The square of that."""


@checked
def default_measures(bank: ItemBank, *, truth: bool) -> tuple[Measure, ...]:
    """Return what is measured unless the caller says otherwise.

    Parameters
    ----------
    bank
        The bank; on one of IRT items abilities are measured, on others profiles.
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
