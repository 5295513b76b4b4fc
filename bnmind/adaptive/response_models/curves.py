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

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, MinLen
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._values import Bounded, Probability
from bnmind.adaptive.response_models.base import (
    LARGEST,
    Formula,
    FormulaModel,
    Number,
    ResponseModel,
    one_each,
    parameter_vector,
    parent_abilities,
    slope_faults,
    threshold_faults,
    with_parameters,
)
from bnmind.adaptive.response_models.links import (
    CUMULATIVE,
    SOFTMAX,
    Link,
    between_asymptotes,
)
from bnmind.information import Floats
from bnmind.pgm import Variable

_Slope = Annotated[float, Ge(0), Bounded(LARGEST)]


@dataclass(frozen=True)
class Graded(FormulaModel):
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

    _faults = threshold_faults

    @property
    def n_responses(self) -> int:
        """The number of thresholds plus one."""
        return len(self.thresholds) + 1

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the levels, or their sum, less a threshold for each response but the first."""
        one_each("slopes", self.slopes, (item, *parents))
        levels = np.indices([v.n_states for v in parents]).reshape(len(parents), -1).T
        names = [f"slope of {v.name}" for v in parents]
        if not isinstance(self.slopes, tuple):
            levels, names = levels.sum(axis=1, keepdims=True), ["slope"]
        n = len(self.thresholds)
        each = np.broadcast_to(levels[:, None], (len(levels), n, len(names)))
        less = np.broadcast_to(-np.eye(n), (len(levels), n, n))
        return Formula(
            link=CUMULATIVE,
            design=np.concatenate([each, less], axis=2),
            names=(*names, *(f"threshold {r}" for r in range(1, n + 1))),
            roles=("weight",) * len(names) + ("threshold",) * n,
            cells=np.arange(len(levels)),
        )


@dataclass(frozen=True)
class AbilityCurve(FormulaModel):
    """A base of models of one ability: chances of the responses, and how steeply they change."""

    @property
    @abstractmethod
    def link(self) -> Link:
        """How predictors become chances."""

    @property
    @abstractmethod
    def _design(self) -> tuple[Floats, Floats]:
        """What the parameters add to the predictors times the ability, and besides.

        ``(predictors, parameters)`` each.
        """

    @property
    @abstractmethod
    def _names(self) -> tuple[str, ...]:
        """The names of the parameters, which begin with their roles."""

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the curve at each ability."""
        theta = parent_abilities(item, parents)
        times, added = self._design
        return Formula(
            link=self.link,
            design=theta[:, None, None] * times + added,
            names=self._names,
            roles=tuple([name.split()[0] for name in self._names]),
            cells=np.arange(len(theta)),
        )

    def _chances(self, theta: Floats) -> Floats:
        """Return the chance of each response at each ability, ``(abilities, responses)``."""
        return self.link.chances(self._predictors(theta))

    def _slopes(self, theta: Floats) -> Floats:
        """Return the derivatives of the chances by the ability, ``(abilities, responses)``."""
        rates = self._design[0] @ self._numbers
        return np.asarray(rates @ self.link.slopes(self._predictors(theta)))

    def _predictors(self, theta: Floats) -> Floats:
        times, added = self._design
        return np.asarray(theta[..., None] * (times @ self._numbers) + added @ self._numbers)

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

    @property
    def _edges(self) -> tuple[bool, bool]:
        """Whether there is a lower and an upper asymptote, which are learned then."""
        return self.lower > 0, self.upper < 1

    @property
    def link(self) -> Link:
        """The logistic link between the asymptotes."""
        return between_asymptotes(*self._edges)

    @property
    def _numbers(self) -> Floats:
        """Slope, intercept, and the asymptotes that there are."""
        return super()._numbers[[True, True, *self._edges]]

    def _with_numbers(self, numbers: Floats) -> ResponseModel:
        """Return the curve with another slope, intercept, and asymptotes."""
        every = parameter_vector(self)
        every[[True, True, *self._edges]] = numbers
        return with_parameters(self, every)

    @property
    def _design(self) -> tuple[Floats, Floats]:
        """The slope, and the intercept; the asymptotes are predictors of their own."""
        added = np.eye(2 + sum(self._edges))[1:]
        times = np.zeros_like(added)
        times[0, 0] = 1.0
        return times, added

    @property
    def _names(self) -> tuple[str, ...]:
        lower, upper = self._edges
        return ("slope", "intercept", *["lower"] * lower, *["upper"] * upper)


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

    link: ClassVar[Link] = CUMULATIVE

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

    @property
    def _design(self) -> tuple[Floats, Floats]:
        """The slope for each response but the first, and the intercept of each."""
        n = len(self.thresholds)
        return _beside(np.ones((n, 1)), np.eye(n))

    @property
    def _names(self) -> tuple[str, ...]:
        return ("slope", *_numbered("intercept", len(self.thresholds)))


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

    link: ClassVar[Link] = SOFTMAX

    slope: Number
    thresholds: Annotated[tuple[Number, ...], MinLen(1)]

    _per_slope = "thresholds"  # the field that is minus an intercept over the slope

    _faults = slope_faults

    @property
    def n_responses(self) -> int:
        """The number of thresholds plus one."""
        return len(self.thresholds) + 1

    @property
    def _design(self) -> tuple[Floats, Floats]:
        """The slope as often as there are steps to a response, and the intercepts of these."""
        n = len(self.thresholds)
        return _beside(np.arange(1.0, n + 1)[:, None], np.tril(np.ones((n, n))))

    @property
    def _names(self) -> tuple[str, ...]:
        return ("slope", *_numbered("intercept", len(self.thresholds)))


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

    link: ClassVar[Link] = SOFTMAX

    slopes: Annotated[tuple[Number, ...], MinLen(1)]
    intercepts: tuple[Number, ...]

    def _faults(self) -> Iterator[str]:
        if (n := len(self.slopes)) != (m := len(self.intercepts)):
            yield f"expected as many slopes as intercepts, got {n} and {m}"

    @property
    def n_responses(self) -> int:
        """The number of slopes plus one."""
        return len(self.slopes) + 1

    @property
    def _design(self) -> tuple[Floats, Floats]:
        """The slope and the intercept of each response but the first."""
        n = len(self.slopes)
        return _beside(np.eye(n), np.eye(n))

    @property
    def _names(self) -> tuple[str, ...]:
        n = len(self.slopes)
        return (*_numbered("slope", n), *_numbered("intercept", n))

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the curve at each ability; its slopes have no order."""
        n = len(self.slopes)
        roles = ("free",) * n + ("intercept",) * n
        return replace(super()._formula(item, parents), roles=roles)


def _beside(times: Floats, added: Floats) -> tuple[Floats, Floats]:
    """Return the designs of slopes and of intercepts, with columns for both."""
    return (
        np.concatenate([times, np.zeros_like(added)], axis=1),
        np.concatenate([np.zeros_like(times), added], axis=1),
    )


def _numbered(name: str, n: int) -> list[str]:
    return [f"{name} {number}" for number in range(1, n + 1)]
