r"""Skills that depend on one ability: the higher-order distribution.

==================  ======================================================================
symbol              name here
==================  ======================================================================
θ                   the ability, standard normal, on a grid
λ_0k, λ_1k          ``intercepts``, ``slopes``
P(α_k = 1 | θ)      σ(λ_0k + λ_1k θ) = 1 / (1 + exp(−λ_0k − λ_1k θ))
==================  ======================================================================

A skill of more than two levels is a series of such steps: σ(λ_0kr + λ_1kr θ) is the probability of
at least level r, given at least level r − 1.

References
----------
J. de la Torre and J. Douglas, "Higher-order latent trait models for cognitive diagnosis",
Psychometrika 2004.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge, Le

from bnmind._arguments import checked
from bnmind._messages import shown
from bnmind._values import Finite, NonNegative, Value
from bnmind.adaptive.response_models.base.curves import logistic
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import CPD, TabularCPD, Variable

__all__ = ["AbilityCPD", "HigherOrder", "LogisticCPD", "table_of_steps"]

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
    ability: str = "ability"
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
