r"""Unidimensional item response theory as a bank: one latent ability on a grid.

=======  ================================================================
symbol   name here
=======  ================================================================
θ        the ability; a variable whose states are numbers
a        ``slope``, the discrimination
b        ``difficulty``; ``thresholds`` of graded items
c, d     ``lower``, ``upper``: the asymptotes
P(θ)     c + (d − c) / (1 + exp(−a (θ − b))): the logistic curve, D = 1
I(θ)     Σ_r P_r'(θ)² / P_r(θ), Fisher's information; with two responses
         a² (P − c)² (d − P)² / ((d − c)² P (1 − P))
=======  ================================================================

The order (a, b, c, d) and D = 1 are those of catsim, whose item arrays run here.

References
----------
A. Birnbaum in F. Lord and M. Novick, *Statistical Theories of Mental Test Scores*, 1968
(1–3PL); M. Barton and F. Lord, ETS RR-81-20, 1981 (4PL); F. Samejima, Psychometrika
monograph 17, 1969 (graded response); R. D. Bock and M. Aitkin, "Marginal maximum
likelihood estimation of item parameters", Psychometrika 1981 (quadrature); D. Magis, "A
note on the item information function of the four-parameter logistic model", Appl.
Psychol. Meas. 2013.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import check_fields, checked
from bnmind._messages import many, shown
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.items.item import Item
from bnmind.adaptive.items.response_models import Gate, graded, logistic
from bnmind.adaptive.items.response_parameters import LARGEST, increasing, make_plain, refuse
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import Network, TabularCPD, Variable

__all__ = [
    "AbilityGrid",
    "GradedResponse",
    "Logistic",
    "ability_values",
    "irt_bank",
    "logistic_items",
]

ABILITY = "ability"
"""The name of the latent variable, unless another one is given."""


@dataclass(frozen=True)
class Logistic:
    """An item with two responses that follows a logistic curve of one to four parameters.

    Parameters
    ----------
    slope
        The discrimination a, positive.
    difficulty
        The ability b at the middle of the curve.
    lower, upper
        The chances c and d of a right response far below and far above, in [0, 1].
    """

    slope: float = 1.0
    difficulty: float = 0.0
    lower: float = 0.0
    upper: float = 1.0

    def __post_init__(self) -> None:
        check_fields(self)
        refuse(make_plain(self, one=("slope", "difficulty", "lower", "upper")))
        problems = []
        if self.slope <= 0:
            problems.append(f"expected a positive slope, got {self.slope}")
        if not 0 <= self.lower < self.upper <= 1:
            problems.append(
                f"expected asymptotes 0 <= lower < upper <= 1, got {self.lower} and {self.upper}"
            )
        refuse(problems)

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    @checked
    def probabilities(self, abilities: ArrayLike) -> Floats:
        """Return the chance of each response at each ability, ``(abilities, 2)``."""
        theta = np.asarray(abilities, dtype=np.float64)
        wrong, right = graded((self.slope * (theta - self.difficulty))[None])
        # Nothing is taken from 1, so that both tails keep their digits.
        high = self.upper * right + self.lower * wrong
        low = (1 - self.upper) * right + (1 - self.lower) * wrong
        return np.stack([low, high], axis=-1)

    @checked
    def fisher_information(self, abilities: ArrayLike) -> Floats:
        """Return Fisher's information at each ability, ``(abilities,)``."""
        theta = np.asarray(abilities, dtype=np.float64)
        wrong, right = graded((self.slope * (theta - self.difficulty))[None])
        slope = (self.upper - self.lower) * self.slope * wrong * right
        chances = self.probabilities(theta)
        return _fisher(np.stack([-slope, slope], axis=-1), chances)

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given a variable whose states are numbers."""
        theta = _abilities(item, parents)
        return TabularCPD(item, tuple(parents), self.probabilities(theta).T)


@dataclass(frozen=True)
class GradedResponse:
    """An item with graded responses, each reached at a threshold of its own (Samejima).

    Parameters
    ----------
    slope
        The discrimination, positive.
    thresholds
        The abilities at which each response but the first becomes as likely as not,
        increasing.
    """

    slope: float
    thresholds: tuple[float, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        refuse(make_plain(self, one=("slope",), many=("thresholds",)))
        problems = increasing(self.thresholds)
        if self.slope <= 0:
            problems.append(f"expected a positive slope, got {self.slope}")
        refuse(problems)

    @property
    def n_responses(self) -> int:
        """One more than thresholds."""
        return len(self.thresholds) + 1

    @checked
    def probabilities(self, abilities: ArrayLike) -> Floats:
        """Return the chance of each response at each ability, ``(abilities, responses)``."""
        return np.moveaxis(graded(self._distances(abilities)), 0, -1)

    @checked
    def fisher_information(self, abilities: ArrayLike) -> Floats:
        """Return Fisher's information at each ability, ``(abilities,)``."""
        distances = self._distances(abilities)
        falls = self.slope * logistic(distances) * logistic(-distances)
        edge = np.zeros_like(falls[:1])
        slopes = np.concatenate([edge, falls]) - np.concatenate([falls, edge])
        return _fisher(np.moveaxis(slopes, 0, -1), self.probabilities(abilities))

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given a variable whose states are numbers."""
        theta = _abilities(item, parents)
        return TabularCPD(item, tuple(parents), self.probabilities(theta).T)

    def _distances(self, abilities: ArrayLike) -> Floats:
        theta = np.asarray(abilities, dtype=np.float64)
        thresholds = np.asarray(self.thresholds).reshape(-1, *(1,) * theta.ndim)
        distances: Floats = self.slope * (theta[None] - thresholds)
        return distances


_MOST_POINTS = 10**6
_LARGEST = 1e150
"""Whose square is a number still."""


@dataclass(frozen=True)
class AbilityGrid:
    """Abilities that stand for all of them, and how probable each is beforehand.

    Parameters
    ----------
    points
        Increasing abilities, at least two.
    weights
        Their probabilities, summing to one within 1e-6.
    """

    points: tuple[float, ...]
    weights: tuple[float, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        points, weights = np.asarray(self.points), np.asarray(self.weights)
        problems = []
        if points.ndim != 1 or len(points) < 2 or not np.all(np.diff(points) > 0):
            problems.append("expected at least two increasing abilities")
        if weights.shape != points.shape or not np.all(weights >= 0):
            problems.append(f"expected {points.size} probabilities of abilities")
        elif abs(weights.sum() - 1) > 1e-6:
            problems.append(f"expected probabilities that sum to one, got {weights.sum()}")
        if problems:
            raise InvalidModelError(problems)
        object.__setattr__(self, "points", tuple(points.astype(float).tolist()))
        object.__setattr__(self, "weights", tuple(weights.astype(float).tolist()))

    @classmethod
    @checked
    def normal(
        cls, mean: float = 0.0, deviation: float = 1.0, *, n_points: int = 81, reach: float = 5.0
    ) -> AbilityGrid:
        """Return a grid for a normal distribution: equal steps, weights as its density.

        Parameters
        ----------
        mean, deviation
            Of the normal distribution.
        n_points
            The number of abilities.
        reach
            How far the grid goes to each side, in standard deviations.
        """
        finite = all(abs(x) < _LARGEST for x in (mean, deviation, reach))
        if not (finite and deviation > 0 and 1 < n_points <= _MOST_POINTS and reach > 0):
            raise InvalidModelError(
                [
                    "expected a positive deviation and reach and at least 2 points, at most"
                    f" {_MOST_POINTS:,} (n_points), got {deviation}, {reach} and {many(n_points)}"
                ]
            )
        steps = np.linspace(-float(reach), float(reach), n_points)
        density = np.exp(-(steps**2) / 2)
        return cls(tuple(mean + deviation * steps), tuple(density / density.sum()))

    @checked
    def network(self, name: str = ABILITY) -> Network:
        """Return the network of the ability alone, its states being the numbers as text."""
        variable = Variable(name, tuple(f"{point:.12g}" for point in self.points))
        return Network((TabularCPD(variable, (), np.array(self.weights)),))


@checked
def logistic_items(parameters: ArrayLike) -> tuple[Logistic, ...]:
    """Return the items of an array of parameters, as catsim has them.

    Parameters
    ----------
    parameters
        ``(items, 2 to 5)``: discrimination a, difficulty b, and as far as given
        pseudo-guessing c and upper asymptote d. A fifth column, catsim's exposure rates,
        is left aside.

    Raises
    ------
    InvalidModelError
        If the shape is another or a parameter is out of range; it names the row.

    Examples
    --------
    >>> logistic_items([[1.2, -0.5], [0.8, 1.0]])[1]
    Logistic(slope=0.8, difficulty=1.0, lower=0.0, upper=1.0)
    """
    try:
        table = np.asarray(parameters, dtype=np.float64)
    except ValueError as fault:
        raise InvalidModelError([f"expected a table of numbers, got another ({fault})"]) from None
    if table.ndim != 2 or not 2 <= table.shape[1] <= 5:
        raise InvalidModelError(
            [f"expected 2 to 5 parameters for each item, got an array of shape {table.shape}"]
        )
    items, problems = [], []
    for number, row in enumerate(table[:, :4].tolist()):
        try:
            items.append(Logistic(*row))
        except InvalidModelError as fault:
            problems += [f"{problem}, in row {number + 1}" for problem in fault.problems]
    if problems:
        raise InvalidModelError(problems)
    return tuple(items)


@checked
def irt_bank(
    gates: Sequence[Gate],
    grid: AbilityGrid | None = None,
    *,
    items: Sequence[Item | str] | None = None,
    ability: str = ABILITY,
    title: str = "",
    source: str = "",
) -> ItemBank:
    """Return the bank of items that measure one ability.

    Parameters
    ----------
    gates
        For each item its curve: `Logistic`, `GradedResponse`, or yours.
    grid
        The abilities; `AbilityGrid.normal` unless given.
    items
        The items or their names, in the order of the gates.
    ability
        The name of the latent variable.
    title, source
        As for the bank itself.

    Examples
    --------
    >>> bank = irt_bank(logistic_items([[1.2, -0.5], [0.8, 1.0]]))
    >>> bank.channel("item_1").shape
    (81, 2)
    """
    needs = np.ones((len(gates), 1), dtype=np.intp)
    network = (grid or AbilityGrid.normal()).network(ability)
    return ItemBank.from_gates(
        needs, gates, skills=network, items=items, skill_names=[ability], title=title, source=source
    )


def ability_values(variable: Variable) -> Floats:
    """Return the numbers that the states of a latent ability are, ``(states,)``.

    Raises
    ------
    InvalidModelError
        If they are no numbers.
    """
    try:
        values = np.array([float(state) for state in variable.states])
    except ValueError:
        values = np.array([math.nan])
    if not np.all(np.abs(values) <= LARGEST):
        raise InvalidModelError(
            [f"expected numbers as states of {variable.name}, got {shown(variable.states)}"]
        )
    return values


def _abilities(item: Variable, parents: Sequence[Variable]) -> Floats:
    if len(parents) != 1:
        raise InvalidModelError(
            [f"expected one ability that {item.name} depends on, got {len(parents)} variables"]
        )
    return ability_values(parents[0])


def _fisher(slopes: Floats, chances: Floats) -> Floats:
    """Return Σ_r P_r'² / P_r; a response that is impossible tells nothing."""
    ratio = np.divide(slopes**2, chances, out=np.zeros_like(chances), where=chances > 0)
    result: Floats = ratio.sum(axis=-1)
    return result
