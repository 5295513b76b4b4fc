r"""Learning items with curves of an ability: 1PL to 4PL, graded, partial credit, nominal.

What the parameters add
-----------------------
The predictors of an item are its *design* times its parameters:

===========  ==================================================================================
symbol       name here
===========  ==================================================================================
θ_q, x_k(c)  the ability; the level of skill k, or the sum of all, in configuration c
a_k          slopes
d_r          intercepts: minus a threshold of `Graded`, or of the others a times one
l, u         the asymptotes of `Logistic`, if they are learned
1PL–4PL      P(right) = l + (u − l) σ(a θ + d)
graded       P(X ≥ r) = σ(Σ_k a_k x_k(c) + d_r), with d_1 ≥ d_2 ≥ …
log-linear   P(X = r) = exp(η_r) / Σ_s exp(η_s), η_0 = 0, with partial credit
             η_r = r a θ + d_1 + … + d_r and nominal η_r = a_r θ + d_r
===========  ==================================================================================

The priors
----------
===============================  =========================================================
prior                            log-density up to a constant
===============================  =========================================================
log-normal (m, s) of a slope a   −ln a − (ln a − m)² / 2s²
beta (α, β) of an asymptote c    (α − 1) ln c + (β − 1) ln(1 − c)
logit-normal (m, s) of it        −(logit c − m)² / 2s², the density of the logit
===============================  =========================================================

References
----------
The densities are those of R. P. Chalmers, "mirt: a multidimensional item response theory
package for the R environment", J. Stat. Softw. 2012 (``lnorm``, ``expbeta``, and ``norm`` of an
asymptote, which is on the scale of the logit there). R. D. Bock and M. Aitkin, "Marginal maximum
likelihood estimation of item parameters", Psychometrika 1981; R. Mislevy, "Bayes modal estimation
in item response models", Psychometrika 1986 (priors of slopes and asymptotes); F. Samejima,
"Estimation of latent ability using a response pattern of graded scores", Psychometrika monograph
17, 1969; E. Muraki, "A generalized partial credit model", Appl. Psychol. Meas. 1992; R. D. Bock,
"Estimating item parameters and latent ability when responses are scored in two or more nominal
categories", Psychometrika 1972.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bnmind._values import sealed
from bnmind.adaptive.learning.blocks import FormBlock, ItemRule
from bnmind.adaptive.learning.forms import Densities, Form, Polytope
from bnmind.adaptive.learning.options import Priors
from bnmind.adaptive.response_models.base import (
    ResponseModel,
    ability_values,
    parameter_vector,
    with_parameters,
)
from bnmind.adaptive.response_models.curves import (
    AbilityCurve,
    Graded,
    GradedResponse,
    Logistic,
    Nominal,
    PartialCredit,
    design_of,
)
from bnmind.information import Floats

_INSIDE = 1e-12


def log_normal_prior(values: Floats, mean: float, deviation: float) -> Densities:
    """Return log-density, slope and curvature at positive values."""
    log = np.log(values)
    away = (log - mean) / deviation**2
    density = -log - (log - mean) ** 2 / (2 * deviation**2)
    return density, -(1 + away) / values, (1 / deviation**2) / values**2


def beta_prior(values: Floats, alpha: float, beta: float) -> Densities:
    """Return log-density, slope and curvature at values in (0, 1)."""
    c = np.clip(values, _INSIDE, 1 - _INSIDE)
    a, b = alpha - 1, beta - 1
    return (
        a * np.log(c) + b * np.log1p(-c),
        a / c - b / (1 - c),
        a / c**2 + b / (1 - c) ** 2,
    )


def logit_normal_prior(values: Floats, mean: float, deviation: float) -> Densities:
    """Return log-density, slope and curvature at values in (0, 1)."""
    c = np.clip(values, _INSIDE, 1 - _INSIDE)
    away = np.log(c) - np.log1p(-c) - mean
    by_c = 1 / (c * (1 - c))
    variance = deviation**2
    return -(away**2) / (2 * variance), -away * by_c / variance, by_c**2 / variance


FLATTEST = 1e-5
"""The least slope of one ability where slopes must be positive."""

STEEPEST = 50.0
"""The largest slope of all curves."""

FARTHEST = 100.0
"""The largest threshold and intercept."""

_GAP = 1e-9
"""The least gap of thresholds, more than a polytope tolerates."""

_APART = 1e-6
"""The least distance of two asymptotes."""

CURVES = Graded | Logistic | GradedResponse | PartialCredit | Nominal
"""The response models that a `CurveBlock` learns."""


def slope_bounds(rule: ItemRule, priors: Priors) -> tuple[float, float]:
    """Return the least and the largest slope of an item with one ability.

    Slopes are positive where their prior or a bound says so.
    """
    positive = rule.bounds.slope[0] >= 0 or priors.slope is not None
    low, high = np.clip(rule.bounds.slope, FLATTEST if positive else -STEEPEST, STEEPEST).tolist()
    return low, high


def learned_asymptotes(rule: ItemRule) -> tuple[bool, bool]:
    """Return whether the lower and the upper asymptote of an item are learned."""
    model, bounds = rule.model, rule.bounds
    assert isinstance(model, Logistic)
    return model.lower > 0 or bounds.guess[0] > 0, model.upper < 1 or bounds.slip[0] > 0


def kind_of_curve(rule: ItemRule) -> Hashable:
    """Return what items have in common that are learned together."""
    model = rule.model
    more: Hashable = ()
    if isinstance(model, Logistic):
        more = learned_asymptotes(rule)
    elif isinstance(model, Graded):
        more = np.shape(model.slopes)
    names = tuple([(v.name, v.states) for v in rule.parents])
    return type(model), names, rule.channel.shape[1], more


def curve_block(rules: tuple[ItemRule, ...], priors: Priors) -> CurveBlock:
    """Return the block of items that have the same `kind_of_curve`."""
    model = rules[0].model
    if isinstance(model, Logistic):
        return LogisticBlock(rules, priors)
    if isinstance(model, Graded | GradedResponse):
        return GradedBlock(rules, priors)
    return LogLinearBlock(rules, priors)


@dataclass(frozen=True, eq=False)
class CurveBlock(FormBlock):
    """A base of blocks whose items have curves of the same kind.

    Parameters
    ----------
    rules
        The items, of the same `kind_of_curve`.
    priors
        Of positive slopes and of asymptotes.
    """

    @property
    @abstractmethod
    def curve_names(self) -> tuple[str, ...]:
        """The names of the parameters of each item."""

    @property
    @abstractmethod
    def bounds(self) -> Floats:
        """``(items, parameters, 2)``: the least and the largest values."""

    @abstractmethod
    def _changed(self, values: Floats, change: Floats) -> Floats:
        """Return values ``(items, parameters)`` with random changes."""

    @property
    def _n_steps(self) -> int:
        return self.shape[1] - 1

    @property
    def _design(self) -> Floats:
        """``(configurations, predictors, parameters)``, without asymptotes."""
        model = self.rules[0].model
        assert isinstance(model, AbilityCurve)
        return design_of(model, ability_values(self.rules[0].parents[0]))

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Slopes, intercepts, thresholds and asymptotes of each item."""
        return tuple((name, what) for name in self.names for what in self.curve_names)

    @property
    def limits(self) -> Floats:
        """The bounds of all parameters."""
        return self.bounds.reshape(-1, 2)

    def _numbers(self) -> Floats:
        """Return the numbers of the models, a row each."""
        return np.array([parameter_vector(r.model) for r in self.rules if r.model is not None])

    def _within(self, values: Floats) -> Floats:
        return self.inside(np.clip(values, *np.moveaxis(self.bounds, -1, 0)))

    def start(self) -> Floats:
        """Return the current parameters of the models."""
        return self._within(self._numbers())

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return the current parameters with random changes."""
        start = self.points(self.start())
        return self._within(self._changed(start, rng.normal(0, 0.5, start.shape)))

    def _prior(self, x: Floats) -> list[tuple[int, Densities]]:
        """Return the column of each prior, and its densities."""
        of_slope = self.priors.slope
        return [] if of_slope is None else [(0, log_normal_prior(x[:, 0], *of_slope))]

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model of each item."""
        models = [rule.model for rule in self.rules if rule.model is not None]
        rows = self._rows(values)
        return tuple(with_parameters(model, row) for model, row in zip(models, rows, strict=True))

    def _rows(self, values: Floats) -> Floats:
        """Return the numbers of the models, a row each."""
        return self.points(values)


@dataclass(frozen=True, eq=False)
class LogisticBlock(CurveBlock):
    """Items with a `Logistic` model that learn the same asymptotes.

    Asymptotes are learned if they are initially above 0 or below 1, or if their bounds require it.
    The bounds of the guess apply to the lower asymptote, those of the slip to the upper one.
    """

    @cached_property
    def _edges(self) -> tuple[bool, bool]:
        return learned_asymptotes(self.rules[0])

    @property
    def curve_names(self) -> tuple[str, ...]:
        """Slope, intercept, and the asymptotes that are learned."""
        lower, upper = self._edges
        return ("slope", "intercept", *["lower"] * lower, *["upper"] * upper)

    @cached_property
    def bounds(self) -> Floats:
        """Of slopes, intercepts and asymptotes."""
        lower, upper = self._edges
        rows = []
        for rule in self.rules:
            low, high = rule.bounds.slip
            edges = [rule.bounds.guess] * lower + [(1 - high, 1 - low)] * upper
            rows.append([slope_bounds(rule, self.priors), (-FARTHEST, FARTHEST), *edges])
        return sealed(np.array(rows))

    @cached_property
    def form(self) -> Form:
        """The curves."""
        apart = np.array([[0.0, 0.0, -1.0, 1.0]]) if all(self._edges) else None
        polytope = Polytope.of(self.bounds, apart, _APART)
        return Form(Logistic.link, self._design, polytope, edges=self._edges, prior=self._prior)

    def _numbers(self) -> Floats:
        return super()._numbers()[:, [True, True, *self._edges]]

    def _changed(self, values: Floats, change: Floats) -> Floats:
        values[:, 0] *= np.exp(change[:, 0])
        values[:, 1] += change[:, 1]
        return values

    def _prior(self, x: Floats) -> list[tuple[int, Densities]]:
        terms, priors = super()._prior(x), self.priors
        sides = [(2, 1, priors.guess, priors.logit_guess)] * self._edges[0]
        sides += [(-1, -1, priors.slip, priors.logit_slip)] * self._edges[1]
        for column, sign, beta, normal in sides:
            c = x[:, column] if sign > 0 else 1 - x[:, column]
            found = [beta_prior(c, *beta)] if beta != (1.0, 1.0) else []
            found += [logit_normal_prior(c, *normal)] if normal is not None else []
            terms += [(column, (value, sign * slope, more)) for value, slope, more in found]
        return terms

    def _rows(self, values: Floats) -> Floats:
        x = self.points(values)
        return np.concatenate([x[:, :2], *self.form.asymptotes(x)], axis=1)


@dataclass(frozen=True, eq=False)
class LogLinearBlock(CurveBlock):
    """Items with a `PartialCredit` or a `Nominal` model, and as many responses."""

    @property
    def _nominal(self) -> bool:
        return isinstance(self.rules[0].model, Nominal)

    @property
    def curve_names(self) -> tuple[str, ...]:
        """Slopes and intercepts."""
        numbers = range(1, self._n_steps + 1)
        slopes = [f"slope {r}" for r in numbers] if self._nominal else ["slope"]
        return (*slopes, *(f"intercept {r}" for r in numbers))

    @cached_property
    def bounds(self) -> Floats:
        """Of slopes and intercepts; the slopes of `Nominal` may be negative."""
        n, nominal = self._n_steps, self._nominal
        free = [(-STEEPEST, STEEPEST)] * n
        slopes = [free if nominal else [slope_bounds(rule, self.priors)] for rule in self.rules]
        return np.array([[*own, *[(-FARTHEST, FARTHEST)] * n] for own in slopes])

    @cached_property
    def form(self) -> Form:
        """The curves."""
        return Form(PartialCredit.link, self._design, Polytope.of(self.bounds), prior=self._prior)

    def _changed(self, values: Floats, change: Floats) -> Floats:
        if not self._nominal:
            values[:, 0] *= np.exp(change[:, 0])
            change[:, 0] = 0.0
        return values + change

    def _prior(self, x: Floats) -> list[tuple[int, Densities]]:
        return [] if self._nominal else super()._prior(x)


@dataclass(frozen=True, eq=False)
class GradedBlock(CurveBlock):
    """Items with a `Graded` or `GradedResponse` model, and as many slopes and responses.

    The parameters of `Graded` are thresholds; those of `GradedResponse` are intercepts.
    """

    @property
    def _of_ability(self) -> bool:
        return isinstance(self.rules[0].model, GradedResponse)

    @property
    def _sign(self) -> float:
        """What a threshold or an intercept adds to the predictor for each unit."""
        return 1.0 if self._of_ability else -1.0

    @property
    def _n_slopes(self) -> int:
        return int(np.size(getattr(self.rules[0].model, "slopes", 0.0)))

    @property
    def curve_names(self) -> tuple[str, ...]:
        """Slopes, and thresholds or intercepts."""
        n, parents = self._n_slopes, self.rules[0].parents
        other = "intercept" if self._of_ability else "threshold"
        names = [f"slope of {v.name}" for v in parents] if n > 1 else ["slope"]
        return (*names, *(f"{other} {r}" for r in range(1, self._n_steps + 1)))

    @cached_property
    def bounds(self) -> Floats:
        """Of slopes, and of thresholds or intercepts."""
        rows = []
        for rule in self.rules:
            low, high = slope_bounds(rule, self.priors)
            slope = (low if self._of_ability else max(rule.bounds.slope[0], 0.0), high)
            rows.append([slope] * self._n_slopes + [(-FARTHEST, FARTHEST)] * self._n_steps)
        return np.array(rows)

    @cached_property
    def form(self) -> Form:
        """The curves.

        Halfway between two thresholds with the least gap, a response has about the least chance.
        """
        n, m = self._n_steps, self._n_slopes
        falls = -self._sign * np.diff(np.eye(m + n)[m:], axis=0)
        gap = max(4 * self.rules[0].least, _GAP)
        polytope = Polytope.of(self.bounds, falls, gap)
        return Form(GradedResponse.link, self._design, polytope, prior=self._prior)

    @property
    def _design(self) -> Floats:
        if self._of_ability:
            return super()._design
        parents, n, m = self.rules[0].parents, self._n_steps, self._n_slopes
        sizes = tuple([v.n_states for v in parents])
        levels = np.indices(sizes).reshape(len(parents), -1).T.astype(np.float64)
        if m < len(parents):
            levels = levels.sum(axis=1, keepdims=True)
        of_levels = np.broadcast_to(levels[:, None], (len(levels), n, m))
        return np.concatenate([of_levels, np.broadcast_to(-np.eye(n), (len(levels), n, n))], axis=2)

    def _changed(self, values: Floats, change: Floats) -> Floats:
        n, sign = self._n_slopes, -self._sign
        slopes = np.where(values[:, :n] < 0, -1, 1) * np.maximum(np.abs(values[:, :n]), 0.1)
        later = sign * np.sort(sign * values[:, n:] + change[:, n:], axis=1)
        return np.concatenate([slopes * np.exp(change[:, :n]), later], axis=1)

    def _prior(self, x: Floats) -> list[tuple[int, Densities]]:
        return super()._prior(x) if self._of_ability else []
