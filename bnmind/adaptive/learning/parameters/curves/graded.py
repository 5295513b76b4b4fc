r"""Learning graded items: thresholds on a logistic curve of an ability, or of skills' levels.

===========  ==================================================================
symbol       name here
===========  ==================================================================
x_k(c)       ``design``: the ability, or the level of skill k, in configuration c
a_k          slopes
t_r          thresholds on the scale of the curve; of `GradedResponse`: a b_r, minus
             the intercepts, which are its parameters
P(X ≥ r)     σ(Σ_k a_k x_k(c) − t_r)
===========  ==================================================================

The parameters of the M-step are the slopes, the first threshold t_1, and the gaps between
thresholds.

References
----------
F. Samejima, "Estimation of latent ability using a response pattern of graded scores",
Psychometrika monograph 17, 1969.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bnmind._values import Sealed
from bnmind.adaptive.learning.parameters.block import ItemRule
from bnmind.adaptive.learning.parameters.curves.kind import FARTHEST, slope_bounds, within
from bnmind.adaptive.learning.parameters.curves.priors import log_normal_prior
from bnmind.adaptive.learning.parameters.options import Priors
from bnmind.adaptive.response_models.base.abilities import ability_values
from bnmind.adaptive.response_models.base.curves import both_tails
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.base.vector import parameter_vector, with_parameters
from bnmind.adaptive.response_models.graded import Graded
from bnmind.adaptive.response_models.graded_response import GradedResponse
from bnmind.information import Floats

__all__ = ["GradedCurves", "n_slopes"]


def n_slopes(rule: ItemRule) -> int:
    """Return the number of slopes of a graded item."""
    model = rule.model
    if isinstance(model, Graded) and isinstance(model.slopes, tuple):
        return len(model.slopes)
    return 1


@dataclass(frozen=True, eq=False)
class GradedCurves(Sealed):
    """Items with a `Graded` or `GradedResponse` model; see `CurveKind`.

    Parameters
    ----------
    rules
        The items, with the same number of slopes and of responses.
    priors
        Of positive slopes.
    """

    rules: tuple[ItemRule, ...]
    priors: Priors

    @property
    def _of_ability(self) -> bool:
        return isinstance(self.rules[0].model, GradedResponse)

    @property
    def _sign(self) -> float:
        """The sign of a threshold on the scale of the curve among the values."""
        return -1.0 if self._of_ability else 1.0

    @property
    def _n_slopes(self) -> int:
        return n_slopes(self.rules[0])

    @cached_property
    def _n_steps(self) -> int:
        return int(self.rules[0].channel.shape[1]) - 1

    @cached_property
    def _design(self) -> Floats:
        """``(slopes, configurations)``."""
        parents = self.rules[0].parents
        if self._of_ability:
            return ability_values(parents[0])[None]
        levels = np.indices(tuple(v.n_states for v in parents))
        table = levels.reshape(len(parents), -1).astype(np.float64)
        shared = not isinstance(self.rules[0].model.slopes, tuple)  # type: ignore[union-attr]
        return table.sum(axis=0)[None] if shared else table

    @property
    def names(self) -> tuple[str, ...]:
        """Slopes, and thresholds or intercepts."""
        n, parents = self._n_slopes, self.rules[0].parents
        other = "intercept" if self._of_ability else "threshold"
        names = [f"slope of {v.name}" for v in parents] if n > 1 else ["slope"]
        return (*names, *(f"{other} {r}" for r in range(1, self._n_steps + 1)))

    def _limits(self, later: tuple[float, float]) -> Floats:
        """Return bounds of slopes, the first threshold, and others."""
        rows = []
        for rule in self.rules:
            low, high = slope_bounds(rule, self.priors)
            slope = (low, high) if self._of_ability else (max(rule.bounds.slope[0], 0.0), high)
            row = [slope] * self._n_slopes + [(-FARTHEST, FARTHEST)]
            rows.append(row + [later] * (self._n_steps - 1))
        return np.array(rows)

    @cached_property
    def limits(self) -> Floats:
        """The bounds of the values."""
        return self._limits((-FARTHEST, FARTHEST))

    @cached_property
    def bounds(self) -> Floats:
        """The bounds of slopes, first thresholds and gaps."""
        return self._limits((self._gap, FARTHEST))

    @property
    def _gap(self) -> float:
        """The least gap between thresholds on the scale of the curve.

        Halfway between two thresholds with this gap, a response has about the least chance.
        """
        return 4 * self.rules[0].least

    def start(self) -> Floats:
        """Return the parameters of the models."""
        models = [rule.model for rule in self.rules if rule.model is not None]
        return self._apart(np.array([parameter_vector(model) for model in models]))

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return the start with other slopes and thresholds."""
        values, n = self.start(), self._n_slopes
        change = rng.normal(0, 0.5, values.shape)
        slopes = np.where(values[:, :n] < 0, -1, 1) * np.maximum(np.abs(values[:, :n]), 0.1)
        values[:, :n] = slopes * np.exp(change[:, :n])
        sign = self._sign
        values[:, n:] = sign * np.sort(sign * values[:, n:] + change[:, n:], axis=1)
        return self._apart(values)

    def _apart(self, values: Floats) -> Floats:
        """Return values within limits with thresholds at least `_gap` apart."""
        values = within(values, self.limits)
        return self.values(self.inner(values))

    def inner(self, values: Floats) -> Floats:
        """Return slopes, first thresholds and gaps."""
        n = self._n_slopes
        thresholds = self._sign * values[:, n:]
        gaps = np.diff(thresholds, axis=1)
        x = np.concatenate([values[:, :n], thresholds[:, :1], gaps], axis=1)
        return within(x, self.bounds)

    def values(self, x: Floats) -> Floats:
        """Return slopes, and thresholds or intercepts."""
        n = self._n_slopes
        thresholds = self._sign * np.cumsum(x[:, n:], axis=1)
        values: Floats = np.concatenate([x[:, :n], thresholds], axis=1)
        return values

    def _distances(self, x: Floats) -> Floats:
        """``(items, configurations, steps)``."""
        n = self._n_slopes
        distances: Floats = (x[:, :n] @ self._design)[..., None] - np.cumsum(x[:, n:], axis=1)[
            :, None
        ]
        return distances

    def tables(self, x: Floats) -> Floats:
        """Return the chances of the responses."""
        d = self._distances(x)
        above, below = both_tails(d)
        # Subtract the smaller pair of tails, for accuracy.
        between = np.where(
            d[..., :-1] + d[..., 1:] < 0,
            above[..., :-1] - above[..., 1:],
            below[..., 1:] - below[..., :-1],
        )
        return np.concatenate([below[..., :1], np.maximum(between, 0), above[..., -1:]], axis=-1)

    def derivatives(self, x: Floats) -> Floats:
        """Return the derivatives by slopes, first threshold and gaps."""
        above, below = both_tails(self._distances(x))
        weight = above * below
        n_items, n_configurations, n_steps = weight.shape
        by_threshold = np.zeros((n_items, n_steps, n_configurations, n_steps + 1))
        for step in range(n_steps):
            by_threshold[:, step, :, step] = weight[..., step]
            by_threshold[:, step, :, step + 1] = -weight[..., step]
        # A gap moves all thresholds above it.
        later = np.cumsum(by_threshold[:, ::-1], axis=1)[:, ::-1]
        by_slope = -later[:, :1] * self._design[None, :, :, None]
        return np.concatenate([by_slope, later], axis=1)

    def log_prior(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the terms of the prior of positive slopes; see `Curve`."""
        density, slopes, curvatures = np.zeros(len(x)), np.zeros(x.shape), np.zeros(x.shape)
        if self.priors.slope is not None and self._of_ability:
            value, slopes[:, 0], curvatures[:, 0] = log_normal_prior(x[:, 0], *self.priors.slope)
            density += np.where(np.ptp(self.bounds[:, 0], axis=-1) > 0, value, 0.0)
        return density, slopes, curvatures

    def valid(self, values: Floats) -> bool:
        """Return whether the thresholds increase."""
        return bool(np.all(self._sign * np.diff(values[:, self._n_slopes :], axis=1) >= 0))

    def response_models(self, values: Floats) -> tuple[ResponseModel, ...]:
        """Return the response model of each item."""
        model = self.rules[0].model
        assert isinstance(model, Graded | GradedResponse)
        return tuple(with_parameters(model, row) for row in values)
