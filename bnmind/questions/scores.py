r"""Scores of questions: their information, weighed against their costs.

=========  ==================================================================
symbol     name here
=========  ==================================================================
I(x)       ``information``, in bits
c(x)       ``costs``, in any unit, at least 0
α          ``alpha``: the bits that one unit of cost must pay for
=========  ==================================================================
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind._registry import NUMBER, Registered
from bnmind._values import NonNegative, ReadOnlyDict, Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = [
    "QUESTION_SCORES",
    "InformationLessCost",
    "InformationOnly",
    "InformationPerCost",
    "QuestionScore",
]


class QuestionScore(Protocol):
    """A score by which questions are ranked; the largest comes first."""

    def scores(self, information: Floats, costs: Floats) -> Floats:
        """Return the score of each question, ``(questions,)``.

        Parameters
        ----------
        information
            ``(questions,)``, in bits.
        costs
            ``(questions,)``, at least 0.
        """
        ...


@dataclass(frozen=True)
class InformationOnly:
    """The information in bits, whatever the question costs; the default.

    Examples
    --------
    >>> InformationOnly().scores(np.array([0.5, 0.2]), np.array([10.0, 1.0])).tolist()
    [0.5, 0.2]
    """

    @checked_if_it_fails
    def scores(self, information: Floats, costs: Floats) -> Floats:
        """Return the information."""
        return information + 0.0 * costs


@dataclass(frozen=True)
class InformationPerCost:
    """The bits for each unit of cost. Every question must have a cost above 0.

    Examples
    --------
    >>> InformationPerCost().scores(np.array([0.5, 0.2]), np.array([10.0, 1.0])).tolist()
    [0.05, 0.2]
    """

    @checked_if_it_fails
    def scores(self, information: Floats, costs: Floats) -> Floats:
        """Return the information divided by the costs.

        Raises
        ------
        InvalidArgumentError
            If a cost is not positive.
        """
        if not np.all(costs > 0):
            raise InvalidArgumentError(
                "the information per cost needs a cost above 0 for every question, got"
                f" {float(np.min(costs)):g}; give each question a cost, or use"
                " InformationLessCost",
                costs,
            )
        ratio: Floats = information / costs
        return ratio


@dataclass(frozen=True)
class InformationLessCost(Value):
    """The information in bits minus α times the cost, as in the diagnosis of GeNIe.

    Parameters
    ----------
    alpha
        The bits for one unit of cost, at least 0.

    References
    ----------
    GeNIe Modeler, *Support for diagnosis: cost of observation* (the "entropy/cost ratio").

    Examples
    --------
    >>> InformationLessCost(0.25).scores(np.array([0.5, 0.2]), np.array([1.0, 0.0])).tolist()
    [0.25, 0.2]
    """

    alpha: NonNegative

    @checked_if_it_fails
    def scores(self, information: Floats, costs: Floats) -> Floats:
        """Return the information minus α times the costs."""
        return information - self.alpha * costs


QUESTION_SCORES: Mapping[str, Registered[QuestionScore]] = ReadOnlyDict(
    {
        "information": Registered("the information in bits", InformationOnly),
        "per-cost": Registered("the information for each unit of cost", InformationPerCost),
        "less-cost": Registered(
            "the information minus this times the cost", None, NUMBER, InformationLessCost
        ),
    }
)
"""The scores by name."""
