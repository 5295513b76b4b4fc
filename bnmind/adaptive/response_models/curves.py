"""Curves of an ability, or of the sum of levels: graded, 1PL to 4PL, partial credit, nominal.

The graded model: a logistic curve of a weighted sum of the levels of the skills.

P(X ≥ r) = 1 / (1 + exp(−(Σ_k a_k·level_k − b_r))), with a the ``slopes`` and b the
``thresholds``.

The logistic models of item response theory, with one to four parameters (1PL to 4PL).

=======  ================================================================
symbol   name here
=======  ================================================================
θ        the ability; a variable whose states are numbers
a        ``slope``, the discrimination
b        ``difficulty``
c, d     ``lower``, ``upper``: the asymptotes
P(θ)     c + (d − c) / (1 + exp(−a (θ − b))): the logistic curve, D = 1
I(θ)     a² (P − c)² (d − P)² / ((d − c)² P (1 − P)), Fisher's information
=======  ================================================================

The generalized partial credit model: steps from each response to the next.

=========  ======================================================================
symbol     name here
=========  ======================================================================
θ          the ability; a variable whose states are numbers
a          ``slope``, the discrimination
b_r        ``thresholds``: the ability at which responses r − 1 and r are equally
           probable; in any order
P(X = r)   exp(Σ_{s ≤ r} a (θ − b_s)) / Σ_q exp(Σ_{s ≤ q} a (θ − b_s))
=========  ======================================================================

The nominal response model: responses without an order, such as wrong alternatives.

=========  ===================================================================
symbol     name here
=========  ===================================================================
θ          the ability; a variable whose states are numbers
a_r, c_r   ``slopes`` and ``intercepts``, those of the first response being 0
P(X = r)   exp(a_r θ + c_r) / Σ_q exp(a_q θ + c_q)
=========  ===================================================================

References
----------
F. Samejima, "Estimation of latent ability using a response pattern of graded scores",
Psychometrika monograph 17, 1969.

A. Birnbaum in F. Lord and M. Novick, *Statistical Theories of Mental Test Scores*, 1968
(1–3PL); M. Barton and F. Lord, ETS RR-81-20, 1981 (4PL); D. Magis, "A note on the item
information function of the four-parameter logistic model", Appl. Psychol. Meas. 2013.

E. Muraki, "A generalized partial credit model: application of an EM algorithm", Appl.
Psychol. Meas. 1992, eq. 3, with D = 1; with equal slopes, G. Masters, "A Rasch model for
partial credit scoring", Psychometrika 1982.

R. D. Bock, "Estimating item parameters and latent ability when responses are scored in two
or more nominal categories", Psychometrika 1972. Deviation: the parameters of the first
response are 0, as in the R package mirt; Bock lets them sum to 0.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, MinLen
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._values import Bounded, Probability, Value
from bnmind.adaptive.response_models.base import (
    LARGEST,
    Number,
    check_item,
    one_each,
    parameter_vector,
    parent_abilities,
    refuse_large,
    slope_faults,
    table,
    threshold_faults,
)
from bnmind.adaptive.response_models.links import (
    CUMULATIVE,
    LOGIT,
    SOFTMAX,
    Link,
    between,
    binary,
)
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import TabularCPD, Variable

_Slope = Annotated[float, Ge(0), Bounded(LARGEST)]


@dataclass(frozen=True)
class Graded(Value):
    """Graded responses to a weighted sum of the skills' levels, by a logistic curve.

    With one threshold and skills of two levels it is the compensatory model (C-RUM).

    Parameters
    ----------
    slopes
        The weight of a level of each skill, at least zero; or one number for all skills.
    thresholds
        The threshold of each response but the first, increasing.
    """

    slopes: _Slope | tuple[_Slope, ...]
    thresholds: tuple[Number, ...]

    _error = InvalidModelError

    _faults = threshold_faults

    @property
    def n_responses(self) -> int:
        """The number of thresholds plus one."""
        return len(self.thresholds) + 1

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents."""
        check_item(item, self.n_responses)
        refuse_large(item, parents)
        slopes = np.array(one_each("slopes", self.slopes, (item, *parents)))
        levels = np.indices([v.n_states for v in parents]).reshape(len(parents), -1)
        predictors = (slopes @ levels)[:, None] - np.array(self.thresholds)
        return table(item, parents, CUMULATIVE.chances(predictors).T)


@dataclass(frozen=True)
class AbilityCurve(Value, ABC):
    """A base of models of one ability: chances of the responses, and how steeply they change."""

    link: ClassVar[Link]
    _error = InvalidModelError

    @property
    @abstractmethod
    def n_responses(self) -> int:
        """The number of responses."""

    @abstractmethod
    def _design(self, theta: Floats) -> Floats:
        """Return what the parameters add to the predictors at each ability; see `design_of`."""

    def _chances(self, theta: Floats) -> Floats:
        """Return the chance of each response at each ability, ``(abilities, responses)``."""
        return self.link.chances(self._predictors(theta))

    def _slopes(self, theta: Floats) -> Floats:
        """Return the derivatives of the chances by the ability, ``(abilities, responses)``."""
        rates = self._predictors(np.array(1.0)) - self._predictors(np.array(0.0))
        return np.asarray(rates @ self.link.slopes(self._predictors(theta)))

    def _predictors(self, theta: Floats) -> Floats:
        design = design_of(self, theta)
        return np.asarray(design @ parameter_vector(self)[: design.shape[-1]])

    @checked
    def probabilities(self, abilities: ArrayLike) -> Floats:
        """Return the chance of each response at each ability, ``(abilities, responses)``.

        Parameters
        ----------
        abilities
            Abilities on the scale of the item's difficulty, an array of any shape; each is any
            finite number.
        """
        return self._chances(np.asarray(abilities, dtype=np.float64))

    @checked
    def fisher_information(self, abilities: ArrayLike) -> Floats:
        """Return Fisher's information at each ability, ``(abilities,)``.

        Parameters
        ----------
        abilities
            Abilities on the scale of the item's difficulty, an array of any shape; each is any
            finite number.
        """
        theta = np.asarray(abilities, dtype=np.float64)
        chances = self._chances(theta)
        # An impossible response adds nothing.
        zeros = np.zeros_like(chances)
        ratios = np.divide(self._slopes(theta) ** 2, chances, out=zeros, where=chances > 0)
        return np.asarray(ratios.sum(axis=-1))

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given an ability, whose states are numbers."""
        check_item(item, self.n_responses)
        theta = parent_abilities(item, parents)
        return TabularCPD(item, tuple(parents), self._chances(theta).T)


@dataclass(frozen=True)
class Logistic(AbilityCurve):
    """An item with two responses that follows a logistic curve of one to four parameters.

    Parameters
    ----------
    slope
        The discrimination a, not 0. If it is negative, the chance falls with the ability.
    difficulty
        The ability b at the middle of the curve.
    lower, upper
        The asymptotes c and d: the probabilities of a right response at very low and very
        high abilities, in [0, 1].
    """

    link = binary(LOGIT)

    slope: Number = 1.0
    difficulty: Number = 0.0
    lower: Probability = 0.0
    upper: Probability = 1.0

    _per_slope = "difficulty"  # the field that is minus an intercept over the slope

    def _faults(self) -> Iterator[str]:
        yield from slope_faults(self)
        if not self.lower < self.upper:
            yield f"expected asymptotes with lower < upper, got {self.lower} and {self.upper}"

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    def _design(self, theta: Floats) -> Floats:
        """Return the abilities and ones."""
        return np.stack([theta, np.ones(theta.shape)], axis=-1)[..., None, :]

    def _chances(self, theta: Floats) -> Floats:
        return between(self.lower, self.upper, super()._chances(theta))

    def _slopes(self, theta: Floats) -> Floats:
        return (self.upper - self.lower) * super()._slopes(theta)


@dataclass(frozen=True)
class GradedResponse(AbilityCurve):
    """Graded responses to one ability, with a threshold for each response (Samejima).

    Parameters
    ----------
    slope
        The discrimination, not 0. If it is negative, high responses are those of low abilities.
    thresholds
        For each response but the first, the ability at which that response or a better
        one has probability 1/2; increasing, or decreasing if the slope is negative.
    """

    link = CUMULATIVE

    slope: Number
    thresholds: tuple[Number, ...]

    _per_slope = "thresholds"  # the field that is minus an intercept over the slope

    def _faults(self) -> Iterator[str]:
        yield from threshold_faults(self, falls=self.slope < 0)
        yield from slope_faults(self)

    @property
    def n_responses(self) -> int:
        """The number of thresholds plus one."""
        return len(self.thresholds) + 1

    def _design(self, theta: Floats) -> Floats:
        """Return the ability for each response but the first, and which one it is."""
        n = len(self.thresholds)
        return _with_ability(theta, np.ones((n, 1)), np.eye(n))


@dataclass(frozen=True)
class PartialCredit(AbilityCurve):
    """The generalized partial credit model (GPCM) of one ability.

    With the same slope for all items it is the partial credit model (PCM), and with two
    responses the 2PL.

    Parameters
    ----------
    slope
        The discrimination, not 0. If it is negative, high responses are those of low abilities.
    thresholds
        For each response but the first, the ability at which that response and the one
        before it are equally probable; in any order.

    Examples
    --------
    >>> PartialCredit(1.0, (-1.0, 1.0)).probabilities([1.0])[0].round(3).tolist()
    [0.063, 0.468, 0.468]
    """

    link = SOFTMAX

    slope: Number
    thresholds: Annotated[tuple[Number, ...], MinLen(1)]

    _per_slope = "thresholds"  # the field that is minus an intercept over the slope

    _faults = slope_faults

    @property
    def n_responses(self) -> int:
        """The number of thresholds plus one."""
        return len(self.thresholds) + 1

    def _design(self, theta: Floats) -> Floats:
        """Return the ability as often as there are steps to a response, and these steps."""
        n = len(self.thresholds)
        return _with_ability(theta, np.arange(1.0, n + 1)[:, None], np.tril(np.ones((n, n))))


@dataclass(frozen=True)
class Nominal(AbilityCurve):
    """The nominal response model (Bock) of one ability.

    Parameters
    ----------
    slopes
        For each response but the first, how steeply its chance rises against that of the
        first response; of any sign. The response with the largest slope is the best one.
    intercepts
        For each response but the first, the logarithm of its chance over that of the first
        response at ability 0.

    Examples
    --------
    >>> Nominal((1.0, 2.0), (0.5, 0.0)).probabilities([0.0])[0].round(3).tolist()
    [0.274, 0.452, 0.274]
    """

    link = SOFTMAX

    slopes: Annotated[tuple[Number, ...], MinLen(1)]
    intercepts: tuple[Number, ...]

    def _faults(self) -> Iterator[str]:
        if (n := len(self.slopes)) != (m := len(self.intercepts)):
            yield f"expected as many slopes as intercepts, got {n} and {m}"

    @property
    def n_responses(self) -> int:
        """The number of slopes plus one."""
        return len(self.slopes) + 1

    def _design(self, theta: Floats) -> Floats:
        """Return the ability for each response but the first, and which one it is."""
        n = len(self.slopes)
        return _with_ability(theta, np.eye(n), np.eye(n))


def _with_ability(theta: Floats, times: Floats, added: Floats) -> Floats:
    """Return multiples of an ability beside constants, ``(abilities, predictors, parameters)``."""
    constants = np.broadcast_to(added, (*theta.shape, *added.shape))
    return np.concatenate([theta[..., None, None] * times, constants], axis=-1)


def design_of(curve: AbilityCurve, theta: Floats) -> Floats:
    """Return what slopes and intercepts add to the predictors of a curve at each ability.

    ``(abilities, predictors, parameters)``, without asymptotes.
    """
    return curve._design(theta)
