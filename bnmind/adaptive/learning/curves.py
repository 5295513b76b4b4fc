r"""M-steps of models of one ability, with priors of their parameters.

The priors of slopes and asymptotes, as terms of the M-step.

===============================  =========================================================
prior                            log-density up to a constant
===============================  =========================================================
log-normal (m, s) of a slope a   −ln a − (ln a − m)² / 2s²
beta (α, β) of an asymptote c    (α − 1) ln c + (β − 1) ln(1 − c)
logit-normal (m, s) of it        −(logit c − m)² / 2s², the density of the logit
===============================  =========================================================

The M-step of many curves at once: Fisher scoring within bounds.

==================  =========================================================================
symbol              name here
==================  =========================================================================
x_i                 ``x[i]``: the parameters of item i on the scale of its curve
P_r(c; x)           ``curve.tables(x)``: the chance of response r in configuration c
n_{cr}, n_c         ``counts``: expected numbers of examinees; their sum over the responses
g                   :math:`\sum_{cr} (n_{cr} / P_r) \, ∂P_r/∂x`, plus that of the prior
I                   :math:`\sum_c n_c \sum_r (∂P_r/∂x)(∂P_r/∂x)^T / P_r`, minus the expected
                    curvature of the prior
==================  =========================================================================

The step is I⁻¹ g, computed for all items together. I is the expected information, so the step
always leads up. It is Newton's step if the logarithms of the chances are linear in the
parameters up to a constant, as in the 1PL, 2PL, the partial credit and the nominal model. A
parameter at a bound that it would leave stays there, and one that is near it steps by itself, so
that no other relies on its step. A step that lowers the expected log-likelihood of an item is
halved.

References
----------
The densities are those of R. P. Chalmers, "mirt: a multidimensional item response theory
package for the R environment", J. Stat. Softw. 2012 (``lnorm``, ``expbeta``, and ``norm`` of an
asymptote, which is on the scale of the logit there).

R. D. Bock and M. Aitkin, "Marginal maximum likelihood estimation of item parameters",
Psychometrika 1981 (the M-step by Fisher scoring); D. Bertsekas, "Projected Newton methods for
optimization problems with simple constraints", SIAM J. Control Optim. 1982.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.adaptive.learning.blocks import ItemRule
from bnmind.adaptive.learning.options import Priors
from bnmind.adaptive.response_models.base import (
    LEAST_SLOPE,
    ResponseModel,
    ability_values,
    both_tails,
    parameter_vector,
    softmax,
    with_parameters,
)
from bnmind.adaptive.response_models.curves import (
    Graded,
    GradedResponse,
    Logistic,
    Nominal,
    PartialCredit,
)
from bnmind.information import Floats

_INSIDE = 1e-12


def log_normal_prior(
    values: Floats, mean: float, deviation: float
) -> tuple[Floats, Floats, Floats]:
    """Return log-density, slope and curvature at positive values."""
    log = np.log(values)
    away = (log - mean) / deviation**2
    density = -log - (log - mean) ** 2 / (2 * deviation**2)
    return density, -(1 + away) / values, (1 / deviation**2) / values**2


def beta_prior(values: Floats, alpha: float, beta: float) -> tuple[Floats, Floats, Floats]:
    """Return log-density, slope and curvature at values in (0, 1)."""
    c = np.clip(values, _INSIDE, 1 - _INSIDE)
    a, b = alpha - 1, beta - 1
    return (
        a * np.log(c) + b * np.log1p(-c),
        a / c - b / (1 - c),
        a / c**2 + b / (1 - c) ** 2,
    )


def logit_normal_prior(
    values: Floats, mean: float, deviation: float
) -> tuple[Floats, Floats, Floats]:
    """Return log-density, slope and curvature at values in (0, 1)."""
    c = np.clip(values, _INSIDE, 1 - _INSIDE)
    away = np.log(c) - np.log1p(-c) - mean
    by_c = 1 / (c * (1 - c))
    variance = deviation**2
    return -(away**2) / (2 * variance), -away * by_c / variance, by_c**2 / variance


_ROUNDS = 10
_HALVINGS = 12

_ENOUGH = 1e-9
"""No further round if it is expected to raise the log-likelihood of all items by less."""

_QUADRATIC = 1e-5
"""The next step of Newton's method after one that gains this little gains less than `_ENOUGH`."""

_NEAR = 1e-3
"""The distance of a parameter near a bound."""

_FLOOR = 1e-100
"""The least chance in a ratio, so that no gradient is infinite."""

_RIDGE = 1e-9
"""Added to the diagonal of I, relatively, so that it can be inverted if nothing is observed."""


class Curve(Protocol):
    """The interface of curves: the chances of items of one kind and their derivatives."""

    @property
    def bounds(self) -> Floats:
        """``(items, parameters, 2)``: the least and the largest value of each parameter."""

    def tables(self, x: Floats) -> Floats:
        """Return the chances, ``(items, configurations, responses)``."""

    def derivatives(self, x: Floats) -> Floats:
        """Return their derivatives, ``(items, parameters, configurations, responses)``."""

    def log_prior(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the log-density of the prior of each item, its slopes and curvatures.

        ``(items,)``, ``(items, parameters)`` and ``(items, parameters)``; the curvatures are
        the second derivatives with the other sign, or positive numbers in their place.
        """


def expected_log_likelihood(curve: Curve, x: Floats, counts: Floats) -> Floats:
    """Return what the M-step maximizes, for each item; −inf where x is out of order."""
    return _value_and_chances(curve, x, counts)[0]


def _value_and_chances(curve: Curve, x: Floats, counts: Floats) -> tuple[Floats, Floats]:
    chances = np.maximum(curve.tables(x), _FLOOR)
    value = np.einsum("icr,icr->i", counts, np.log(chances)) + curve.log_prior(x)[0]
    return np.where(np.isnan(value), -np.inf, value), chances


def fisher_scoring(curve: Curve, x: Floats, counts: Floats) -> Floats:
    """Return parameters that raise the expected log-likelihood of each item to its maximum.

    Parameters
    ----------
    curve
        The curves.
    x
        ``(items, parameters)``: the present parameters, within the bounds.
    counts
        ``(items, configurations, responses)``.
    """
    low, high = np.moveaxis(curve.bounds, -1, 0)
    totals = counts.sum(axis=2, keepdims=True)
    value, chances = _value_and_chances(curve, x, counts)
    n_items, n_parameters = x.shape
    diagonal = np.arange(n_parameters)
    for _ in range(_ROUNDS):
        flat = curve.derivatives(x).reshape(n_items, n_parameters, -1)
        _, prior_slope, prior_curvature = curve.log_prior(x)
        gradient = (flat @ (counts / chances).reshape(n_items, -1, 1))[..., 0] + prior_slope
        weighted = flat * np.sqrt(totals / chances).reshape(n_items, 1, -1)
        information = weighted @ weighted.transpose(0, 2, 1)
        information[:, diagonal, diagonal] += prior_curvature
        stuck = ((x <= low) & (gradient <= 0)) | ((x >= high) & (gradient >= 0))
        gradient[stuck] = 0.0
        near = ((x <= low + _NEAR) & (gradient < 0)) | ((x >= high - _NEAR) & (gradient > 0))
        alone = stuck | (near & (low < high))
        information[(alone[:, :, None] | alone[:, None, :]) & ~np.eye(n_parameters, dtype=bool)] = (
            0.0
        )
        information[:, diagonal, diagonal] *= ~stuck
        ridge = _RIDGE * (information[:, diagonal, diagonal].max(axis=1, keepdims=True) + 1e-6)
        information[:, diagonal, diagonal] += np.where(stuck, 1.0, ridge)
        step = np.linalg.solve(information, gradient[..., None])[..., 0]
        promised = float((gradient * step).sum()) / 2
        if promised < _ENOUGH:
            break
        x, value, chances = _climbed(curve, (x, value, chances), step, counts)
        if promised < _QUADRATIC:
            break
    return x


def _climbed(
    curve: Curve, place: tuple[Floats, Floats, Floats], step: Floats, counts: Floats
) -> tuple[Floats, Floats, Floats]:
    """Return the place after a step that is halved where it leads down.

    A place has the parameters, their value, and the chances.
    """
    x, value, chances = place
    low, high = np.moveaxis(curve.bounds, -1, 0)
    length = np.ones((len(x), 1))
    for _ in range(_HALVINGS):
        there = np.clip(x + length * step, low, high)
        reached, then = _value_and_chances(curve, there, counts)
        worse = ~(reached >= value)
        if not worse.any():
            break
        length[worse] /= 2
    there[worse], reached[worse], then[worse] = x[worse], value[worse], chances[worse]
    return there, reached, then


# --- The interface of kinds of curves, and constants that they share ------------------------------
#
#

FLATTEST = 1e-5
"""The least slope of one ability where slopes must be positive."""

STEEPEST = 50.0
"""The largest slope of all curves."""

FARTHEST = 100.0
"""The largest threshold and intercept."""


class CurveKind(Curve, Protocol):
    """The interface of items of one kind with the same parents and number of responses.

    *Values* are slopes, intercepts, thresholds and asymptotes. `inner` turns them into the
    parameters of the M-step, of which those of `GradedCurves` differ.
    """

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the parameters of each item."""

    @property
    def limits(self) -> Floats:
        """``(items, parameters, 2)``: the least and the largest values."""

    def start(self) -> Floats:
        """Return the values of the items' response models, ``(items, parameters)``."""

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return the start with random changes."""

    def inner(self, values: Floats) -> Floats:
        """Return the parameters of the M-step."""

    def values(self, x: Floats) -> Floats:
        """Return the values; the inverse of `inner`."""

    def valid(self, values: Floats) -> bool:
        """Return whether the values are in order."""

    def response_models(self, values: Floats) -> tuple[ResponseModel, ...]:
        """Return the response model of each item."""


def slope_bounds(rule: ItemRule, priors: Priors) -> tuple[float, float]:
    """Return the least and the largest slope of an item with one ability.

    Slopes are positive where their prior or a bound says so.
    """
    positive = rule.bounds.slope[0] >= 0 or priors.slope is not None
    low, high = np.clip(rule.bounds.slope, FLATTEST if positive else -STEEPEST, STEEPEST).tolist()
    return low, high


def within(values: Floats, bounds: Floats) -> Floats:
    """Return values moved into their bounds, ``(…, 2)``."""
    result: Floats = np.clip(values, bounds[..., 0], bounds[..., 1])
    return result


# --- Learning items with a logistic curve of one ability (1PL to 4PL) -----------------------------
#
# =========  ==================================================================
# symbol     name here
# =========  ==================================================================
# a, d       slope, intercept; the difficulty is −d / a
# l, u       the asymptotes, if they are learned
# P(right)   l + (u − l) σ(a θ + d)
# =========  ==================================================================
#
# References
# ----------
# R. D. Bock and M. Aitkin, "Marginal maximum likelihood estimation of item parameters",
# Psychometrika 1981; R. Mislevy, "Bayes modal estimation in item response models", Psychometrika
# 1986 (priors of slopes and asymptotes).


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


# --- Learning partial credit and nominal items, whose log-odds are linear in their parameters -----
#
# ===============  ==============================================================
# symbol           name here
# ===============  ==============================================================
# M_{qrk}          ``_design``: what parameter k adds to the log-weight of
#                  response r at ability θ_q
# P_r(θ_q)         exp(Σ_k M_{qrk} x_k) / Σ_s exp(Σ_k M_{qsk} x_k)
# ∂P_r/∂x_k        P_r (M_{qrk} − Σ_s P_s M_{qsk})
# ===============  ==============================================================
#
# The parameters of a partial credit item are the slope a and the intercepts −a b_r of its
# thresholds b_r. Those of a nominal item are its slopes and intercepts.
#
# References
# ----------
# E. Muraki, "A generalized partial credit model: application of an EM algorithm", Appl.
# Psychol. Meas. 1992; R. D. Bock, "Estimating item parameters and latent ability when
# responses are scored in two or more nominal categories", Psychometrika 1972.


@dataclass(frozen=True, eq=False)
class LogLinearCurves(Sealed):
    """Items with a `PartialCredit` or a `Nominal` model; see `CurveKind`.

    Parameters
    ----------
    rules
        The items, with the same number of responses.
    priors
        Of the slopes of `PartialCredit`; those of `Nominal` may be negative.
    """

    rules: tuple[ItemRule, ...]
    priors: Priors

    @property
    def _nominal(self) -> bool:
        return isinstance(self.rules[0].model, Nominal)

    @cached_property
    def _n_steps(self) -> int:
        return int(self.rules[0].channel.shape[1]) - 1

    @cached_property
    def _design(self) -> Floats:
        """``(abilities, responses, parameters)``."""
        theta, n = ability_values(self.rules[0].parents[0]), self._n_steps
        shape = (len(theta), n + 1, n)
        if self._nominal:
            one = np.eye(n + 1)[:, 1:]
            parts = [theta[:, None, None] * one, np.broadcast_to(one, shape)]
        else:
            score = theta[:, None, None] * np.arange(n + 1)[:, None]
            reached = np.tril(np.ones((n + 1, n)), -1)
            parts = [score, np.broadcast_to(reached, shape)]
        return np.concatenate(parts, axis=2)

    @property
    def names(self) -> tuple[str, ...]:
        """Slopes and intercepts."""
        numbers = range(1, self._n_steps + 1)
        slopes = [f"slope {r}" for r in numbers] if self._nominal else ["slope"]
        return (*slopes, *(f"intercept {r}" for r in numbers))

    @cached_property
    def limits(self) -> Floats:
        """The bounds of slopes and intercepts."""
        later = [(-FARTHEST, FARTHEST)] * self._n_steps
        if self._nominal:
            return np.array([[(-STEEPEST, STEEPEST)] * self._n_steps + later] * len(self.rules))
        return np.array([[slope_bounds(rule, self.priors), *later] for rule in self.rules])

    @cached_property
    def bounds(self) -> Floats:
        """The same."""
        return self.limits

    def start(self) -> Floats:
        """Return the parameters of the models."""
        models = [rule.model for rule in self.rules if rule.model is not None]
        return within(np.array([parameter_vector(model) for model in models]), self.limits)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return the start with other slopes and intercepts."""
        values = self.start()
        change = rng.normal(0, 0.5, values.shape)
        if not self._nominal:
            values[:, 0] *= np.exp(change[:, 0])
            change[:, 0] = 0.0
        return within(values + change, self.limits)

    def inner(self, values: Floats) -> Floats:
        """Return the values."""
        return values

    def values(self, x: Floats) -> Floats:
        """Return the parameters of the M-step."""
        return x

    def tables(self, x: Floats) -> Floats:
        """Return the chances of the responses."""
        design = self._design
        logits = x @ design.reshape(-1, design.shape[2]).T
        return softmax(logits.reshape(len(x), *design.shape[:2]))

    def derivatives(self, x: Floats) -> Floats:
        """Return the derivatives by the parameters of the M-step."""
        chances, design = self.tables(x), self._design
        mean = (chances[:, :, None] @ design)[:, :, 0]  # (items, abilities, parameters)
        away = design[None] - mean[:, :, None]
        return np.moveaxis(chances[..., None] * away, -1, 1)

    def log_prior(self, x: Floats) -> tuple[Floats, Floats, Floats]:
        """Return the terms of the prior of the slopes; see `Curve`."""
        density, slopes, curvatures = np.zeros(len(x)), np.zeros(x.shape), np.zeros(x.shape)
        if self.priors.slope is not None and not self._nominal:
            value, slopes[:, 0], curvatures[:, 0] = log_normal_prior(x[:, 0], *self.priors.slope)
            density += np.where(np.ptp(self.bounds[:, 0], axis=-1) > 0, value, 0.0)
        return density, slopes, curvatures

    def valid(self, values: Floats) -> bool:
        """Return True; any order is possible."""
        return True

    def response_models(self, values: Floats) -> tuple[ResponseModel, ...]:
        """Return the response model of each item."""
        model = self.rules[0].model
        assert isinstance(model, Nominal | PartialCredit)
        return tuple(with_parameters(model, row) for row in values)


# --- Learning graded items: thresholds on a logistic curve of an ability, or of skills' levels ----
#
# ===========  ==================================================================
# symbol       name here
# ===========  ==================================================================
# x_k(c)       ``design``: the ability, or the level of skill k, in configuration c
# a_k          slopes
# t_r          thresholds on the scale of the curve; of `GradedResponse`: a b_r, minus
#              the intercepts, which are its parameters
# P(X ≥ r)     σ(Σ_k a_k x_k(c) − t_r)
# ===========  ==================================================================
#
# The parameters of the M-step are the slopes, the first threshold t_1, and the gaps between
# thresholds.
#
# References
# ----------
# F. Samejima, "Estimation of latent ability using a response pattern of graded scores",
# Psychometrika monograph 17, 1969.


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


# --- Blocks of items whose responses follow curves of the same kind -------------------------------
#
#

CURVES = Graded | Logistic | GradedResponse | PartialCredit | Nominal
"""The response models that a `CurveBlock` learns."""


def kind_of_curve(rule: ItemRule) -> Hashable:
    """Return what items have in common that are learned together."""
    model = rule.model
    more: Hashable = ()
    if isinstance(model, Logistic):
        more = learned_asymptotes(rule)
    elif isinstance(model, Graded):
        more = n_slopes(rule), isinstance(model.slopes, tuple)
    names = tuple([(v.name, v.states) for v in rule.parents])
    return type(model), names, rule.channel.shape[1], more


@dataclass(frozen=True, eq=False)
class CurveBlock(Sealed):
    """Items with curves of the same kind, learned together by Fisher scoring.

    Asymptotes are learned if they are initially above 0 or below 1, or if their bounds
    require it. The bounds of the guess apply to the lower asymptote, those of the slip to the
    upper one. Other curves have no asymptotes.

    Parameters
    ----------
    rules
        The items, see `kind_of_curve`.
    priors
        Of positive slopes and of asymptotes.
    """

    rules: tuple[ItemRule, ...]
    priors: Priors

    @cached_property
    def kind(self) -> CurveKind:
        """The curves."""
        model = self.rules[0].model
        if isinstance(model, Logistic):
            return LogisticCurves(self.rules, self.priors)
        if isinstance(model, Graded | GradedResponse):
            return GradedCurves(self.rules, self.priors)
        return LogLinearCurves(self.rules, self.priors)

    @property
    def names(self) -> tuple[str, ...]:
        """The items."""
        return tuple(rule.name for rule in self.rules)

    @property
    def groups(self) -> tuple[NDArray[np.intp], ...]:
        """A separate group for each configuration."""
        return (np.arange(len(self.rules[0].channel)),) * len(self.rules)

    @property
    def shape(self) -> tuple[int, int]:
        """The number of configurations and of responses."""
        n_configurations, n_responses = self.rules[0].channel.shape
        return n_configurations, n_responses

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Slopes, intercepts, thresholds and asymptotes of each item."""
        return tuple((name, what) for name in self.names for what in self.kind.names)

    @property
    def limits(self) -> Floats:
        """The bounds of all parameters."""
        return self.kind.limits.reshape(-1, 2)

    def _rows(self, values: Floats) -> Floats:
        return values.reshape(len(self.rules), -1)

    def start(self) -> Floats:
        """Return the current parameters of the models."""
        return self.kind.start().reshape(-1)

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return the current parameters with random changes."""
        return self.kind.draw(rng).reshape(-1)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each response in each configuration."""
        return self.kind.tables(self.kind.inner(self._rows(values)))

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return parameters with a larger likelihood of the counts, by Fisher scoring."""
        x = fisher_scoring(self.kind, self.kind.inner(self._rows(values)), counts)
        return self.kind.values(x).reshape(-1)

    def log_prior(self, values: Floats) -> float:
        """Return the logarithm of the prior density of slopes and asymptotes."""
        return float(self.kind.log_prior(self.kind.inner(self._rows(values)))[0].sum())

    def valid(self, values: Floats) -> bool:
        """Return whether thresholds increase and asymptotes are in order."""
        return self.kind.valid(self._rows(values))

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model of each item."""
        return self.kind.response_models(self._rows(values))
