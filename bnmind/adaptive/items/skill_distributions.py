"""Distributions of the skills: independent, saturated, hierarchies, higher order, own networks.

Skills that depend on one ability: the higher-order distribution.

==================  ======================================================================
symbol              name here
==================  ======================================================================
θ                   the ability, standard normal, on a grid
λ_0k, λ_1k          ``intercepts``, ``slopes``
P(α_k = 1 | θ)      σ(λ_0k + λ_1k θ) = 1 / (1 + exp(−λ_0k − λ_1k θ))
==================  ======================================================================

A skill of more than two levels is a series of such steps: σ(λ_0kr + λ_1kr θ) is the probability of
at least level r, given at least level r − 1.

Prior distributions of skills.

A *profile* is one level of each skill. Each class here makes the conditional distributions of
the skills, parents before children, for the network of a bank. A distribution that refers to no
skill by name is registered in `SKILL_DISTRIBUTIONS`, which the command line uses.

References
----------
J. de la Torre and J. Douglas, "Higher-order latent trait models for cognitive diagnosis",
Psychometrika 2004.

R. D. Bock and M. Aitkin, "Marginal maximum likelihood estimation of item parameters",
Psychometrika 1981 (quadrature).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from graphlib import CycleError, TopologicalSorter
from itertools import pairwise
from types import MappingProxyType
from typing import Annotated, Any, Protocol

import numpy as np
from annotated_types import Ge, Gt, Le, MinLen
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._messages import each_of, shown
from bnmind._registry import Argument, Registered
from bnmind._values import Bounded, Finite, NonNegative, Value
from bnmind.adaptive.formulas import logistic
from bnmind.errors import InvalidArgumentError, InvalidModelError, TooLargeError
from bnmind.information import Floats
from bnmind.pgm import CPD, Network, TabularCPD, Variable

ABILITY = "ability"
"""The default name of one ability behind the skills, or in place of them."""

_REACH = 4.0
"""The ends of the grid of abilities, in standard deviations."""
_Number = Annotated[float, Finite]


@dataclass(frozen=True, eq=False)
class AbilityCPD(TabularCPD):
    """The distribution of the ability, which learning leaves as it is."""


@dataclass(frozen=True, eq=False)
class LogisticCPD(TabularCPD):
    """The distribution of a skill given the ability, which learning keeps logistic.

    Parameters
    ----------
    one_slope
        Whether all such skills have the same slope.
    """

    one_slope: bool = field(default=False, kw_only=True)


@dataclass(frozen=True, eq=False)
class HigherOrder(Value):
    """Skills that are independent of each other given one ability.

    The ability is a hidden variable of the bank, with a standard normal distribution on a grid.
    `learn` estimates the intercept and the slope of each skill. Files store tables: a bank that
    was read from a file is learned with free tables given the ability.

    Parameters
    ----------
    intercepts, slopes
        A number for all skills, or one for each; slopes are at least 0.
    one_slope
        Whether the learned slopes of all skills are the same.
    ability
        The name of the hidden variable.
    n_points
        The number of points of the grid, from −4 to 4.

    Examples
    --------
    >>> skills = [Variable.of_integers(name, range(2)) for name in "ab"]
    >>> theta, a, b = HigherOrder(n_points=3).cpds(skills)
    >>> theta.variable.states, a.values[1].round(3).tolist()
    (('-4', '0', '4'), [0.018, 0.5, 0.982])
    """

    intercepts: _Number | Sequence[_Number] = 0.0
    slopes: NonNegative | Sequence[NonNegative] = 1.0
    one_slope: bool = field(default=False, kw_only=True)
    ability: str = ABILITY
    n_points: Annotated[int, Ge(2), Le(1000)] = 15

    _error = InvalidModelError

    @checked
    def cpds(self, skills: Sequence[Variable]) -> tuple[CPD, ...]:
        """Return the distribution of the ability, then of each skill given the ability.

        Raises
        ------
        InvalidModelError
            If a skill has the name of the ability.
        """
        if self.ability in [skill.name for skill in skills]:
            raise InvalidModelError(
                [
                    f"the ability behind the skills is called {shown(self.ability)}, as one of the"
                    " skills is; rename the skill, or name the ability by HigherOrder(ability=…)"
                ]
            )
        points = np.linspace(-_REACH, _REACH, self.n_points)
        weights = np.exp(-(points**2) / 2)
        theta = Variable(self.ability, tuple(f"{point:.12g}" for point in points))
        cpds: list[CPD] = [AbilityCPD(theta, (), weights / weights.sum())]
        each = [
            self._each(name, values, len(skills))
            for name, values in (("intercepts", self.intercepts), ("slopes", self.slopes))
        ]
        for skill, intercept, slope in zip(skills, *each, strict=True):
            steps = np.tile(logistic(intercept + slope * points), (skill.n_states - 1, 1))
            table = table_of_steps(steps)
            cpds.append(LogisticCPD(skill, (theta,), table, one_slope=self.one_slope))
        return tuple(cpds)

    @staticmethod
    def _each(name: str, values: float | Sequence[float], n: int) -> list[float]:
        numbers = np.asarray(values, dtype=np.float64)
        if numbers.ndim and numbers.shape != (n,):
            raise InvalidModelError([f"expected {n} {name}, one for each skill, got {values}"])
        each: list[float] = np.broadcast_to(numbers, (n,)).tolist()
        return each


def table_of_steps(steps: Floats) -> Floats:
    """Return the probability of each level, ``(levels, …)``, from those of the steps."""
    ones = np.ones((1, *steps.shape[1:]))
    reached = np.cumprod(np.concatenate([ones, steps]), axis=0)
    table: Floats = reached * np.concatenate([1 - steps, ones])
    return table


BANK_PRIOR = "bank"
"""The name of the distribution in the bank."""

UNIFORM_PRIOR = "uniform"
"""The name of the uniform distribution."""

MAX_PROFILES = 2**16
"""The limit of profiles in a saturated distribution; 12 skills have 4096."""


class ProfileDistribution(Protocol):
    """The interface of distributions over the profiles of skills."""

    def cpds(self, skills: Sequence[Variable]) -> tuple[CPD, ...]:
        """Return the conditional distributions of the skills.

        Parameters
        ----------
        skills
            The skills, in the order of the bank; the states of each are its levels, the lowest
            first.

        Raises
        ------
        InvalidModelError
            If the distribution does not fit these skills.
        """


@dataclass(frozen=True, eq=False)
class Independent(Value):
    """Independent skills.

    Parameters
    ----------
    mastery
        For skills with two levels, the probability of having the skill: one number for
        all, or one for each. For more levels, a sequence for each skill: the distribution
        over its levels. Default all levels equally probable.
    """

    mastery: float | Sequence[float] | Sequence[Sequence[float]] | None = None

    @checked
    def cpds(self, skills: Sequence[Variable]) -> tuple[CPD, ...]:
        """Return the distribution of each skill."""
        rows = _level_rows(self.mastery, skills)
        return tuple(TabularCPD(v, (), row) for v, row in zip(skills, rows, strict=True))


@dataclass(frozen=True, eq=False)
class Saturated(Value):
    """An arbitrary distribution over all profiles: each skill depends on all skills before it.

    Parameters
    ----------
    probabilities
        ``(profiles,)`` with the levels of the last skill changing fastest, or an array
        with an axis for each skill; must sum to one within 1e-6. Default uniform.

    Examples
    --------
    >>> skills = [Variable.of_integers(name, range(2)) for name in "ab"]
    >>> prior = Saturated([0.4, 0.1, 0.2, 0.3])
    >>> [cpd.values.round(2).tolist() for cpd in prior.cpds(skills)]
    [[0.5, 0.5], [[0.8, 0.4], [0.2, 0.6]]]
    """

    probabilities: Annotated[ArrayLike, Ge(0), Finite] | None = None

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        if self.probabilities is not None and abs((p := np.sum(self.probabilities)) - 1) > 1e-6:
            yield f"the probabilities of the profiles must sum to one, got {p}"

    @checked
    def cpds(self, skills: Sequence[Variable]) -> tuple[CPD, ...]:
        """Return the distribution of each skill given those before it.

        Raises
        ------
        InvalidModelError
            If there is not one probability for each profile.
        TooLargeError
            If there are more than `MAX_PROFILES` profiles.
        """
        shape = tuple(v.n_states for v in skills)
        needed = math.prod(shape)
        if needed > MAX_PROFILES:
            raise TooLargeError(
                f"expected at most {MAX_PROFILES:,} profiles of a saturated distribution,"
                f" got {needed:,} of {len(skills)} skills",
                needed=needed,
                budget=MAX_PROFILES,
            )
        if self.probabilities is None:
            joint = np.full(shape, 1 / needed)
        else:
            joint = np.asarray(self.probabilities, dtype=np.float64)
            if joint.size != needed:
                raise InvalidModelError(
                    [f"expected {needed} probabilities of profiles, got {joint.size}"]
                )
            joint = joint.reshape(shape)
        cpds = []
        for number, skill in enumerate(skills):
            upto = joint.sum(axis=tuple(range(number + 1, len(shape))))
            before = upto.sum(axis=-1, keepdims=True)
            # Rows of impossible configurations are arbitrary.
            rows = np.divide(
                upto, before, out=np.full(upto.shape, 1 / skill.n_states), where=before > 0
            )
            cpds.append(TabularCPD(skill, tuple(skills[:number]), np.moveaxis(rows, -1, 0)))
        return tuple(cpds)


@dataclass(frozen=True, eq=False)
class Hierarchy(Value):
    """Skills with prerequisites: nobody has a skill without its prerequisites.

    Parameters
    ----------
    prerequisites
        For each skill its prerequisites; skills not named have none.
    mastery
        As for `Independent`, given all prerequisites; without them the lowest level is
        certain. A prerequisite is satisfied from its second level on.
    saturated
        Whether the profiles that the prerequisites allow have an arbitrary distribution, as in
        the R packages CDM and GDINA, first uniform. By default a skill depends on its
        prerequisites alone.

    References
    ----------
    J. Leighton, M. Gierl and S. Hunka, "The attribute hierarchy method for cognitive
    assessment", J. Educ. Meas. 2004.

    Examples
    --------
    >>> skills = [Variable.of_integers(name, range(2)) for name in ("count", "add")]
    >>> add = Hierarchy({"add": ("count",)}, mastery=0.6).cpds(skills)[1]
    >>> add.to_factor().values[1].tolist()  # the chance to add, without and with counting
    [0.0, 0.6]
    """

    prerequisites: Mapping[str, Sequence[str]] = field(default_factory=dict)
    mastery: float | Sequence[float] | Sequence[Sequence[float]] | None = None
    saturated: bool = field(default=False, kw_only=True)

    @checked
    def cpds(self, skills: Sequence[Variable]) -> tuple[CPD, ...]:
        """Return the distribution of each skill given its prerequisites.

        Raises
        ------
        InvalidModelError
            If a prerequisite is unknown, or they have a cycle.
        TooLargeError
            If it is saturated and there are more than `MAX_PROFILES` profiles.
        """
        by_name = self._check(skills)
        if self.saturated:
            if math.prod(v.n_states for v in skills) > MAX_PROFILES:
                return Saturated().cpds(skills)  # raises
            allowed = self._allowed(skills)
            return Saturated(allowed / allowed.sum()).cpds(skills)
        cpds: list[CPD] = []
        for skill, row in zip(skills, _level_rows(self.mastery, skills), strict=True):
            parents = tuple(by_name[name] for name in self.prerequisites.get(skill.name, ()))
            shape = (skill.n_states, *(v.n_states for v in parents))
            values = np.zeros(shape)
            values[0] = 1.0
            values[(slice(None), *(slice(1, None) for _ in parents))] = row.reshape(
                -1, *(1,) * len(parents)
            )
            cpds.append(TabularCPD(skill, parents, values))
        return tuple(cpds)

    def _allowed(self, skills: Sequence[Variable]) -> Floats:
        """Return 1 for each profile with all prerequisites, else 0, an axis for each skill."""
        place = {v.name: axis for axis, v in enumerate(skills)}
        levels = np.indices(tuple(v.n_states for v in skills))
        allowed = np.ones(levels.shape[1:], dtype=bool)
        for name, needed in self.prerequisites.items():
            for other in needed:
                allowed &= (levels[place[name]] == 0) | (levels[place[other]] > 0)
        return allowed.astype(np.float64)

    def _check(self, skills: Sequence[Variable]) -> dict[str, Variable]:
        by_name = {v.name: v for v in skills}
        problems = [
            f"{name} in the hierarchy is not one of the skills {', '.join(by_name)}"
            for name in sorted({*self.prerequisites, *_flat(self.prerequisites)} - set(by_name))
        ]
        try:
            TopologicalSorter(self.prerequisites).prepare()
        except CycleError as fault:
            problems.append(f"the prerequisites have a cycle: {' → '.join(fault.args[1])}")
        if problems:
            raise InvalidModelError(problems)
        return by_name


def _one_slope(text: str) -> bool:
    if text.upper() not in ("1PL", "2PL"):
        raise InvalidArgumentError(f"expected 1PL or 2PL, got {shown(text)}", text)
    return text.upper() == "1PL"


SKILL_DISTRIBUTIONS: Mapping[str, Registered[ProfileDistribution]] = MappingProxyType(
    {
        "saturated": Registered("any distribution over the profiles", Saturated),
        "independent": Registered("each skill by itself", Independent),
        "higher-order": Registered(
            "each skill a logistic curve of one ability (1PL: with one slope)",
            HigherOrder,
            Argument("1PL|2PL", "1PL or 2PL", _one_slope, "1PL"),
            lambda one_slope: HigherOrder(one_slope=one_slope),
        ),
    }
)
"""The distributions of skills that a name selects, for learning."""


def _flat(prerequisites: Mapping[str, Sequence[str]]) -> set[str]:
    return {name for needed in prerequisites.values() for name in needed}


def _level_rows(mastery: Any, skills: Sequence[Variable]) -> list[Floats]:
    """Return the distribution over the levels of each skill."""
    if mastery is None:
        return [np.full(v.n_states, 1 / v.n_states) for v in skills]
    each = [mastery] * len(skills) if isinstance(mastery, int | float) else list(mastery)
    if len(each) != len(skills):
        raise InvalidModelError(
            [f"expected a chance for {each_of(len(skills), 'skill')}, got {len(each)}"]
        )
    rows, problems = [], []
    for skill, chances in zip(skills, each, strict=True):
        row = np.array(
            [1 - chances, chances] if np.ndim(chances) == 0 else chances, dtype=np.float64
        )
        if row.shape != (skill.n_states,):
            problems.append(
                f"expected chances of {skill.n_states} levels of {skill.name}, got {chances}"
            )
        elif not np.all((row >= 0) & (row <= 1)):
            problems.append(f"expected chances in [0, 1] for {skill.name}, got {chances}")
        rows.append(row)
    if problems:
        raise InvalidModelError(problems)
    return rows


# --- One ability on a grid, as in unidimensional item response theory -----------------------------

_SMALL = Bounded(1e150)
"""Numbers whose squares do not overflow."""


@dataclass(frozen=True)
class AbilityGrid(Value):
    """A grid of abilities with their prior probabilities.

    Parameters
    ----------
    points
        Increasing abilities, at least two.
    weights
        Their probabilities, summing to one within 1e-6.
    """

    points: Annotated[tuple[float, ...], MinLen(2)]
    weights: tuple[Annotated[float, Ge(0)], ...]

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        if not all(low < high for low, high in pairwise(self.points)):
            yield "expected increasing abilities"
        if len(self.weights) != len(self.points) or abs(sum(self.weights) - 1) > 1e-6:
            told = f"{len(self.weights)} of the sum {sum(self.weights):.9g}"
            yield f"expected {len(self.points)} probabilities that sum to one, got {told}"

    @classmethod
    @checked
    def normal(
        cls,
        mean: Annotated[float, _SMALL] = 0.0,
        deviation: Annotated[float, Gt(0), _SMALL] = 1.0,
        *,
        n_points: Annotated[int, Ge(2), Le(10**6)] = 81,
        reach: Annotated[float, Gt(0), _SMALL] = 5.0,
    ) -> AbilityGrid:
        """Return an evenly spaced grid, weighted by the density of a normal distribution.

        Parameters
        ----------
        mean, deviation
            The mean and the standard deviation of the normal distribution.
        n_points
            The number of abilities.
        reach
            The distance from the mean to each end of the grid, in standard deviations.

        Raises
        ------
        InvalidArgumentError
            If a number is not finite, the deviation or the reach is not positive, or there are
            fewer than 2 points or too many.
        """
        steps = np.linspace(-float(reach), float(reach), n_points)
        density = np.exp(-(steps**2) / 2)
        return cls(tuple(mean + deviation * steps), tuple(density / density.sum()))

    @checked
    def network(self, name: str = ABILITY) -> Network:
        """Return the network of the ability alone; its states are the numbers as text.

        Parameters
        ----------
        name
            The name of the ability.
        """
        variable = Variable(name, tuple(f"{point:.12g}" for point in self.points))
        return Network((TabularCPD(variable, (), np.array(self.weights)),))
