r"""Learning items with a logistic curve of one ability (1PL to 4PL).

=========  ==================================================================
symbol     name here
=========  ==================================================================
a, d       slope, intercept; the difficulty is −d / a
l, u       the asymptotes, if they are learned
P(right)   l + (u − l) σ(a θ + d)
=========  ==================================================================

References
----------
R. D. Bock and M. Aitkin, "Marginal maximum likelihood estimation of item parameters",
Psychometrika 1981; R. Mislevy, "Bayes modal estimation in item response models", Psychometrika
1986 (priors of slopes and asymptotes).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bnmind._values import Sealed
from bnmind.adaptive.learning.parameters.block import ItemRule
from bnmind.adaptive.learning.parameters.curves.kind import FARTHEST, slope_bounds, within
from bnmind.adaptive.learning.parameters.curves.priors import (
    beta_prior,
    log_normal_prior,
    logit_normal_prior,
)
from bnmind.adaptive.learning.parameters.options import Priors
from bnmind.adaptive.response_models.base.abilities import ability_values
from bnmind.adaptive.response_models.base.curves import both_tails
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.base.vector import LEAST_SLOPE, parameter_vector
from bnmind.adaptive.response_models.logistic import Logistic
from bnmind.information import Floats

__all__ = ["LogisticCurves", "learned_asymptotes"]


def learned_asymptotes(rule: ItemRule) -> tuple[bool, bool]:
    """Return whether the lower and the upper asymptote of an item are learned."""
    model, bounds = rule.model, rule.bounds
    assert isinstance(model, Logistic)
    return model.lower > 0 or bounds.guess[0] > 0, model.upper < 1 or bounds.slip[0] > 0


@dataclass(frozen=True, eq=False)
class LogisticCurves(Sealed):
    """Items with a `Logistic` model that learn the same asymptotes; see `CurveKind`.

    Parameters
    ----------
    rules
        The items.
    priors
        Of slopes and asymptotes.
    """

    rules: tuple[ItemRule, ...]
    priors: Priors

    @cached_property
    def _edges(self) -> tuple[bool, bool]:
        return learned_asymptotes(self.rules[0])

    @cached_property
    def _theta(self) -> Floats:
        return ability_values(self.rules[0].parents[0])

    @property
    def names(self) -> tuple[str, ...]:
        """Slope, intercept, and the asymptotes that are learned."""
        lower, upper = self._edges
        return ("slope", "intercept", *["lower"] * lower, *["upper"] * upper)

    @cached_property
    def limits(self) -> Floats:
        """The bounds of slopes, intercepts and asymptotes."""
        lower, upper = self._edges
        rows = []
        for rule in self.rules:
            (least, most), slip = rule.bounds.guess, rule.bounds.slip
            row = [slope_bounds(rule, self.priors), (-FARTHEST, FARTHEST)]
            row += [(least, most)] * lower + [(1 - slip[1], 1 - slip[0])] * upper
            rows.append(row)
        return np.array(rows)

    @cached_property
    def bounds(self) -> Floats:
        """The same."""
        return self.limits

    def start(self) -> Floats:
        """Return slopes, intercepts and asymptotes of the models."""
        lower, upper = self._edges
        models = [rule.model for rule in self.rules if rule.model is not None]
        rows = np.array([parameter_vector(model) for model in models])
        return within(rows[:, [True, True, lower, upper]], self.limits)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return the start with other slopes and intercepts."""
        values = self.start()
        values[:, 0] *= np.exp(rng.normal(0, 0.5, len(values)))
        values[:, 1] += rng.normal(0, 0.5, len(values))
        return within(values, self.limits)

    def inner(self, values: Floats) -> Floats:
        """Return the values."""
        return values

    def values(self, x: Floats) -> Floats:
        """Return the parameters of the M-step."""
        return x

    def _asymptotes(self, x: Floats) -> tuple[Floats, Floats]:
        """Return the lower and the upper asymptotes, ``(items, 1)`` each."""
        lower, upper = self._edges
        one = np.ones((len(x), 1))
        return x[:, 2:3] if lower else 0 * one, x[:, -1:] if upper else one

    def tables(self, x: Floats) -> Floats:
        """Return the chances; nan where the asymptotes are not in order."""
        right, wrong = both_tails(x[:, :1] * self._theta + x[:, 1:2])
        low, high = self._asymptotes(x)
        if any(self._edges):
            right, wrong = (
                high * right + low * wrong,
                (1 - high) * right + (1 - low) * wrong,
            )
            right[(low >= high)[:, 0]] = np.nan
        return np.stack([wrong, right], axis=-1)

    def derivatives(self, x: Floats) -> Floats:
        """Return the derivatives by slope, intercept and asymptotes."""
        theta = self._theta
        above, below = both_tails(x[:, :1] * theta + x[:, 1:2])
        low, high = self._asymptotes(x)
        by_intercept = (high - low) * above * below
        lower, upper = self._edges
        each = [by_intercept * theta, by_intercept, *[below] * lower, *[above] * upper]
        right = np.stack(each, axis=1)
        return np.stack([-right, right], axis=-1)

    def log_prior(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the terms of the priors of slopes and asymptotes; see `Curve`."""
        density, slopes, curvatures = np.zeros(len(x)), np.zeros(x.shape), np.zeros(x.shape)
        lower, upper = self._edges
        free = np.ptp(self.bounds, axis=-1) > 0
        terms = []
        priors = self.priors
        if priors.slope is not None:
            terms.append((0, log_normal_prior(x[:, 0], *priors.slope)))
        for learned, column, sign, beta, normal in (
            (lower, 2, 1, priors.guess, priors.logit_guess),
            (upper, -1, -1, priors.slip, priors.logit_slip),
        ):
            if not learned:
                continue
            c = x[:, column] if sign > 0 else 1 - x[:, column]
            found = [beta_prior(c, *beta)] if beta != (1.0, 1.0) else []
            found += [logit_normal_prior(c, *normal)] if normal is not None else []
            terms += [(column, (value, sign * slope, more)) for value, slope, more in found]
        for column, (value, slope, more) in terms:
            density += np.where(free[:, column], value, 0.0)
            slopes[:, column] += slope
            curvatures[:, column] += more
        return density, slopes, curvatures

    def valid(self, values: Floats) -> bool:
        """Return whether each lower asymptote is below the upper one."""
        low, high = self._asymptotes(values)
        return bool(np.all(low < high))

    def response_models(self, values: Floats) -> tuple[ResponseModel, ...]:
        """Return the response model of each item."""
        low, high = self._asymptotes(values)
        slopes = np.where(values[:, :1] == 0, LEAST_SLOPE, values[:, :1])
        rows = np.column_stack([slopes, 0.0 - values[:, 1:2] / slopes, low, high])
        return tuple(Logistic(*row) for row in rows.tolist())
