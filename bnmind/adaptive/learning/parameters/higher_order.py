r"""Learning how skills depend on one ability: the families of the higher-order distribution.

==================  ======================================================================
symbol              name here
==================  ======================================================================
θ_q                 ``points``
λ_0k, λ_1k          the coefficients: all intercepts, then the slopes, or the one slope
P(step k | θ)       σ(λ_0k + λ_1k θ), a step for each level of a skill but the first
==================  ======================================================================

The M-step is a logistic regression of each step on the ability, weighted with the expected numbers
of examinees.

References
----------
J. de la Torre and J. Douglas, "Higher-order latent trait models for cognitive diagnosis",
Psychometrika 2004.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bnmind.adaptive.items.higher_order import LogisticCPD, table_of_steps
from bnmind.adaptive.learning.parameters.link_newton import ascended
from bnmind.adaptive.learning.parameters.polytope import Polytope
from bnmind.adaptive.response_models.additive.link import LOGIT
from bnmind.adaptive.response_models.base.abilities import ability_values
from bnmind.adaptive.response_models.base.curves import logistic
from bnmind.information import Floats

__all__ = ["LogisticFamilies"]

_STEEPEST = 10.0
_FARTHEST = 15.0
"""The largest slope, and the largest intercept."""


@dataclass(frozen=True, eq=False)
class LogisticFamilies:
    """The distributions of skills given the ability, with logistic curves.

    Parameters
    ----------
    cpds
        The distribution of each skill, by the number of its family.
    """

    cpds: Mapping[int, LogisticCPD]

    @cached_property
    def points(self) -> Floats:
        """The abilities of the grid."""
        return ability_values(next(iter(self.cpds.values())).parents[0])

    @cached_property
    def _steps(self) -> tuple[tuple[int, int], ...]:
        """The family and the level of each step."""
        return tuple(
            (family, level)
            for family, cpd in self.cpds.items()
            for level in range(1, cpd.variable.n_states)
        )

    @cached_property
    def _one_slope(self) -> bool:
        return all(cpd.one_slope for cpd in self.cpds.values())

    @property
    def n_parameters(self) -> int:
        """The number of intercepts and slopes."""
        return int(self._design.shape[1])

    @cached_property
    def _design(self) -> Floats:
        """``(steps × points, coefficients)``."""
        n = len(self._steps)
        intercepts = np.repeat(np.eye(n), len(self.points), axis=0)
        slopes = intercepts * np.tile(self.points, n)[:, None]
        if self._one_slope:
            slopes = slopes.sum(axis=1, keepdims=True)
        return np.concatenate([intercepts, slopes], axis=1)

    @cached_property
    def _polytope(self) -> Polytope:
        n, size = len(self._steps), self.n_parameters
        eye = np.eye(size)
        least = np.where(np.arange(size) < n, -_FARTHEST, 0.0)
        most = np.where(np.arange(size) < n, _FARTHEST, _STEEPEST)
        return Polytope(np.concatenate([eye, -eye]), np.concatenate([least, -most])[None])

    def start(self) -> dict[int, Floats]:
        """Return the initial tables."""
        return self.settled({family: cpd.values for family, cpd in self.cpds.items()})

    def draw(self, rng: np.random.Generator) -> dict[int, Floats]:
        """Return tables of random curves."""
        n = len(self._steps)
        slopes = rng.uniform(0.5, 2.5, self.n_parameters - n)
        return self._tables(np.concatenate([rng.normal(0, 1, n), slopes]))

    def settled(self, tables: Mapping[int, Floats]) -> dict[int, Floats]:
        """Return the logistic curves that are closest to the tables."""
        return self._tables(self._coefficients(tables))

    def maximized(
        self, tables: Mapping[int, Floats], counts: Sequence[Floats]
    ) -> dict[int, Floats]:
        """Return the tables with the largest expected log-likelihood."""
        right = [counts[family][level:].sum(axis=0) for family, level in self._steps]
        wrong = [counts[family][level - 1] for family, level in self._steps]
        both = np.concatenate(right)[None], np.concatenate(wrong)[None]
        start = self._coefficients(tables)[None]
        return self._tables(ascended(LOGIT, self._design, self._polytope, start, both)[0])

    def _tables(self, coefficients: Floats) -> dict[int, Floats]:
        chances = logistic(self._design @ coefficients).reshape(-1, len(self.points))
        rows: dict[int, list[Floats]] = {}
        for (family, _), row in zip(self._steps, chances, strict=True):
            rows.setdefault(family, []).append(row)
        return {family: table_of_steps(np.array(steps)) for family, steps in rows.items()}

    def _coefficients(self, tables: Mapping[int, Floats]) -> Floats:
        """Return the coefficients of tables, by least squares weighted as in the likelihood."""
        tiny = 1e-15
        above = [tables[family][level:].sum(axis=0) for family, level in self._steps]
        below = [tables[family][level - 1] for family, level in self._steps]
        right = np.maximum(np.concatenate(above), tiny)
        wrong = np.maximum(np.concatenate(below), tiny)
        root = np.sqrt(right * wrong) / (right + wrong)
        odds = np.log(right) - np.log(wrong)
        found = np.linalg.lstsq(self._design * root[:, None], odds * root, rcond=None)[0]
        n = len(self._steps)
        intercepts = np.clip(found[:n], -_FARTHEST, _FARTHEST)
        return np.concatenate([intercepts, np.clip(found[n:], 0.0, _STEEPEST)])

    def scores(self, masses: Mapping[int, Floats], tables: Mapping[int, Floats]) -> Floats:
        """Return the gradient of each pattern's log-likelihood, ``(patterns, coefficients)``.

        Parameters
        ----------
        masses
            For each family the posterior of each pattern, ``(patterns, levels, points)``.
        tables
            The tables.
        """
        columns = []
        for family, level in self._steps:
            right = masses[family][:, level:].sum(axis=1)
            wrong = masses[family][:, level - 1]
            above = tables[family][level:].sum(axis=0)
            chance = above / (above + tables[family][level - 1])
            columns.append(right - chance * (right + wrong))
        scores: Floats = np.concatenate(columns, axis=1) @ self._design
        return scores
