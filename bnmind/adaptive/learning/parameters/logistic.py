r"""Learning items with logistic curves: graded models, and models of one ability.

=======================  ===================================================================
symbol                   name here
=======================  ===================================================================
x_k(c)                   ``design``: the level of parent k, or the ability, in configuration c
a_k, t_r                 ``slopes``, ``thresholds``
d_r(c)                   Σ_k a_k x_k(c) − t_r
P(X ≥ r | c)             σ(d_r(c)) = 1 / (1 + exp(−d_r(c)))
l, u                     the asymptotes: P(right) = l + (u − l) σ(d_1)
=======================  ===================================================================

The expected log-likelihood, Σ_c Σ_r n_{cr} log P(r | c), is maximized by L-BFGS-B with its
gradient; slopes and gaps between thresholds are at least zero.

References
----------
R. D. Bock and M. Aitkin, "Marginal maximum likelihood estimation of item parameters",
Psychometrika 1981; R. Byrd, P. Lu, J. Nocedal and C. Zhu, "A limited memory algorithm for
bound constrained optimization", SIAM J. Sci. Comput. 1995.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bnmind.adaptive.learning.parameters.block import RuleBlock
from bnmind.adaptive.response_models.base import ResponseModel
from bnmind.adaptive.response_models.base.abilities import ability_values
from bnmind.adaptive.response_models.base.curves import graded, logistic
from bnmind.adaptive.response_models.graded import Graded
from bnmind.adaptive.response_models.graded_response import GradedResponse
from bnmind.adaptive.response_models.logistic import Logistic
from bnmind.information import Floats

__all__ = ["CurveBlock"]

_FLOOR = 1e-12
"""The least chance in the objective, so that no gradient is infinite."""

_CLIMB = 10
"""Steps of L-BFGS-B in one step of EM."""

_FLATTEST, _STEEPEST = 1e-3, 50.0
_FARTHEST = 100.0


@dataclass(frozen=True, eq=False)
class CurveBlock(RuleBlock):
    """An item with a `Graded`, `Logistic` or `GradedResponse` model.

    Asymptotes are learned if they are initially above 0 or below 1, or if their bounds
    require it. The bounds of the guess apply to the lower asymptote, those of the slip to the
    upper one. `Graded` has no asymptotes. Priors do not apply.

    Parameters
    ----------
    rule
        The item.
    """

    @property
    def _model(self) -> Graded | Logistic | GradedResponse:
        assert isinstance(self.rule.model, Graded | Logistic | GradedResponse)
        return self.rule.model

    @property
    def _design(self) -> Floats:
        """``(slopes, configurations)``."""
        model = self._model
        if not isinstance(model, Graded):
            return np.asarray(ability_values(self.rule.parents[0]), dtype=np.float64)[None]
        levels = np.indices(tuple(v.n_states for v in self.rule.parents))
        table = levels.reshape(len(self.rule.parents), -1).astype(np.float64)
        return table if np.ndim(model.slopes) else table.sum(axis=0)[None]

    @property
    def _edges(self) -> tuple[bool, bool]:
        """Whether the lower and the upper asymptote are learned."""
        model = self._model
        if isinstance(model, Logistic):
            bounds = self.rule.bounds
            return model.lower > 0 or bounds.guess[0] > 0, model.upper < 1 or bounds.slip[0] > 0
        return False, False

    @property
    def _n_slopes(self) -> int:
        model = self._model
        return len(model.slopes) if isinstance(model, Graded) and np.ndim(model.slopes) else 1  # type: ignore[arg-type]

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """Slopes, thresholds or difficulties, and asymptotes."""
        n = self._n_slopes
        many = n > 1
        names = [f"slope of {v.name}" if many else "slope" for v in self.rule.parents[:n]]
        n_steps = self.shape[1] - 1
        if isinstance(self._model, Logistic):
            names.append("difficulty")
        else:
            names += [f"threshold {r}" for r in range(1, n_steps + 1)]
        lower, upper = self._edges
        names += ["lower"] * lower + ["upper"] * upper
        return tuple((self.rule.name, what) for what in names)

    @property
    def limits(self) -> Floats:
        """The bounds of slopes, thresholds and asymptotes."""
        model = self._model
        least = 0.0 if isinstance(model, Graded) else _FLATTEST
        lowest, highest = np.clip(self.rule.bounds.slope, least, _STEEPEST).tolist()
        bounds = [(lowest, highest)] * self._n_slopes
        bounds += [(-_FARTHEST, _FARTHEST)] * (self.shape[1] - 1)
        lower, upper = self._edges
        slip = self.rule.bounds.slip
        bounds += [self.rule.bounds.guess] * lower + [(1 - slip[1], 1 - slip[0])] * upper
        return np.array(bounds)

    def start(self) -> Floats:
        """Return the current parameters of the model."""
        model = self._model
        if isinstance(model, Graded):
            values = [*np.atleast_1d(np.asarray(model.slopes, dtype=np.float64)), *model.thresholds]
        elif isinstance(model, GradedResponse):
            values = [model.slope, *model.thresholds]
        else:
            lower, upper = self._edges
            values = [model.slope, model.difficulty, *[model.lower] * lower, *[model.upper] * upper]
        clipped = np.clip(np.array(values, dtype=np.float64), *self.limits.T)
        return self._apart(clipped)

    @property
    def _gap(self) -> float:
        """The least gap between thresholds on the scale of d, so that no response vanishes.

        Halfway between two thresholds with this gap, a response has about the least chance.
        """
        return 4 * self.rule.least

    def _apart(self, values: Floats) -> Floats:
        """Return parameters with thresholds at least `_gap` apart."""
        n, n_steps = self._n_slopes, self.shape[1] - 1
        gap = self._gap if isinstance(self._model, Graded) else self._gap / values[0]
        steps = np.arange(n_steps) * gap
        values[n : n + n_steps] = np.maximum.accumulate(values[n : n + n_steps] - steps) + steps
        return values

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return the current parameters of the model with random changes."""
        values = self.start()
        n, n_steps = self._n_slopes, self.shape[1] - 1
        values[:n] = np.maximum(values[:n], 0.1) * np.exp(rng.normal(0, 0.5, n))
        values[n : n + n_steps] = np.sort(values[n : n + n_steps] + rng.normal(0, 0.5, n_steps))
        return self._apart(np.clip(values, *self.limits.T))

    def _inner(self, values: Floats) -> tuple[Floats, Floats, float, float]:
        """Return slopes, thresholds on the scale of d, and asymptotes."""
        n, n_steps = self._n_slopes, self.shape[1] - 1
        slopes, thresholds = values[:n], values[n : n + n_steps]
        if not isinstance(self._model, Graded):
            thresholds = thresholds * slopes[0]
        rest = values[n + n_steps :].tolist()
        lower, upper = self._edges
        low = rest[0] if lower else 0.0
        high = rest[-1] if upper else 1.0
        return slopes, thresholds, low, high

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each response in each configuration."""
        slopes, thresholds, low, high = self._inner(values)
        distances = (slopes @ self._design)[None] - thresholds[:, None]
        table = graded(distances)
        if self.shape[1] == 2:
            wrong, right = table
            table = np.stack([(1 - high) * right + (1 - low) * wrong, high * right + low * wrong])
        return table.T[None]

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return parameters with a larger likelihood of the counts, by L-BFGS-B."""
        from scipy.optimize import minimize

        slopes, thresholds, low, high = self._inner(values)
        lower, upper = self._edges
        gaps = np.diff(thresholds)
        start = np.array([*slopes, thresholds[0], *gaps, *[low] * lower, *[high] * upper])
        n, n_steps = len(slopes), len(thresholds)
        n_counts = counts[0].T
        scale = max(float(n_counts.sum()), 1.0)
        design = self._design

        def objective(x: Floats) -> tuple[float, Floats]:
            at = np.cumsum(x[n : n + n_steps])
            lo = x[n + n_steps] if lower else 0.0
            up = x[-1] if upper else 1.0
            d = (x[:n] @ design)[None] - at[:, None]
            table = graded(d)
            slope_at = logistic(d) * logistic(-d)
            share = table[1] if n_steps == 1 else None
            if share is not None:
                table = np.stack([1 - lo - (up - lo) * share, lo + (up - lo) * share])
            table = np.maximum(table, _FLOOR)
            rates = n_counts / table
            value = float((n_counts * np.log(table)).sum())
            change = rates[1:] - rates[:-1]
            by_d = change * slope_at * (up - lo)
            gradient = [*(by_d.sum(axis=0) @ design.T), *(-np.cumsum(by_d.sum(axis=1)[::-1])[::-1])]
            if share is not None:
                gradient += [float((change[0] * (1 - share)).sum())] * lower
                gradient += [float((change[0] * share).sum())] * upper
            return -value / scale, -np.array(gradient) / scale

        limits = self.limits
        bounds = [tuple(pair) for pair in limits[:n]]
        bounds += [(-_FARTHEST, _FARTHEST)] + [(self._gap, _FARTHEST)] * (n_steps - 1)
        bounds += [tuple(pair) for pair in limits[n + n_steps :]]
        optimum = minimize(
            objective,
            start,
            jac=True,
            method="L-BFGS-B",
            bounds=bounds,
            options={"maxiter": _CLIMB, "ftol": 1e-15, "gtol": 1e-9},
        )
        best = np.asarray(optimum.x, dtype=np.float64)
        at = np.cumsum(best[n : n + n_steps])
        if not isinstance(self._model, Graded):
            at = at / best[0]
        reached = np.concatenate([best[:n], at, best[n + n_steps :]])
        return (
            reached if self._expected(reached, counts) >= self._expected(values, counts) else values
        )

    def _expected(self, values: Floats, counts: Floats) -> float:
        """Return the expected log-likelihood."""
        with np.errstate(divide="ignore", invalid="ignore"):
            logs = np.log(self.response_parameters(values))
            return float(np.where(counts > 0, counts * logs, 0.0).sum())

    def log_prior(self, values: Floats) -> float:
        """Return 0."""
        return 0.0

    def valid(self, values: Floats) -> bool:
        """Return whether the thresholds increase and the asymptotes are in order."""
        n, n_steps = self._n_slopes, self.shape[1] - 1
        _, _, low, high = self._inner(values)
        return bool(np.all(np.diff(values[n : n + n_steps]) >= 0)) and low < high

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model."""
        n, n_steps = self._n_slopes, self.shape[1] - 1
        slopes = values[:n].tolist()
        thresholds = tuple(values[n : n + n_steps].tolist())
        model = self._model
        if isinstance(model, Graded):
            shared = not np.ndim(model.slopes)
            return (Graded(slopes[0] if shared else tuple(slopes), thresholds),)
        if isinstance(model, GradedResponse):
            return (GradedResponse(slopes[0], thresholds),)
        _, _, low, high = self._inner(values)
        assert math.isfinite(low)
        return (Logistic(slopes[0], thresholds[0], low, high),)
