"""Learning items with a response model of the user's own, numerically.

The parameters maximize the expected log-likelihood within their limits by L-BFGS-B with finite
differences; by the simplex method if that does not raise it, as near an edge where the model is
invalid. They change only if the objective grows, so no step of EM lowers the likelihood.

References
----------
R. Byrd, P. Lu, J. Nocedal and C. Zhu, "A limited memory algorithm for bound constrained
optimization", SIAM J. Sci. Comput. 1995; J. Nelder and R. Mead, "A simplex method for function
minimization", Comput. J. 1965.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any

import numpy as np

from bnmind.adaptive.learning.parameters.block import RuleBlock
from bnmind.adaptive.learning.parameters.options import kept_off
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.parametric import ParametricModel
from bnmind.errors import InvalidModelError
from bnmind.information import Floats

__all__ = ["ParametricBlock"]

_SEARCHES: tuple[tuple[Any, Any], ...] = (
    ("L-BFGS-B", {"maxiter": 20, "ftol": 1e-14, "gtol": 1e-8}),
    ("Nelder-Mead", {"maxiter": 100}),
)
"""The methods of one step of EM, of which the second helps the first."""


@dataclass(frozen=True, eq=False)
class ParametricBlock(RuleBlock):
    """An item with a `ParametricModel`.

    Bounds, priors and monotonicity do not apply; the model has limits of its own. Parameters
    with limits in [0, 1] stay `ItemRule.least` away from 0 and 1.

    Parameters
    ----------
    rule
        The item.
    """

    @property
    def _model(self) -> ParametricModel:
        assert isinstance(self.rule.model, ParametricModel)
        return self.rule.model

    @property
    def _entries(self) -> list[tuple[str, int | None]]:
        """Each number among the parameters: its field, and its place in a tuple."""
        entries: list[tuple[str, int | None]] = []
        for name, value in self._model.parameters.items():
            entries += [(name, n) for n in range(len(value))] if np.ndim(value) else [(name, None)]  # type: ignore[arg-type]
        return entries

    @property
    def parameters(self) -> tuple[tuple[str, str], ...]:
        """The parameters of the model, those of a tuple numbered from 1."""
        return tuple(
            (self.rule.name, name if place is None else f"{name} {place + 1}")
            for name, place in self._entries
        )

    @property
    def limits(self) -> Floats:
        """The limits of the model; probabilities are kept off 0 and 1."""
        limits = []
        for name, _ in self._entries:
            low, high = self._model.limits_of(name)
            inside = low >= 0 and high <= 1
            limits.append(kept_off((low, high), self.rule.least) if inside else (low, high))
        return np.array(limits, dtype=np.float64).reshape(-1, 2)

    def start(self) -> Floats:
        """Return the current parameters of the model."""
        values = [np.atleast_1d(value) for value in self._model.parameters.values()]
        current: Floats = np.clip(np.concatenate([*values, np.zeros(0)]), *self.limits.T)
        return current

    def draw(self, rng: np.random.Generator) -> Floats:
        """Return random parameters, uniform within finite limits, else near the current ones."""
        low, high = self.limits.T
        current = self.start()
        bounded = np.isfinite(low) & np.isfinite(high)
        near = current + rng.normal(0, 0.5, len(current)) * np.maximum(np.abs(current), 1.0)
        within = np.where(bounded, low, 0.0), np.where(bounded, high, 1.0)
        uniform = rng.uniform(*within)
        return np.clip(np.where(bounded, uniform, near), low, high)

    def _with(self, values: Floats) -> ParametricModel:
        changed: dict[str, Any] = {}
        for (name, place), value in zip(self._entries, values.tolist(), strict=True):
            changed[name] = value if place is None else (*changed.get(name, ()), value)
        return dataclasses.replace(self._model, **changed)

    def response_parameters(self, values: Floats) -> Floats:
        """Return the probability of each response in each configuration."""
        channel = self._with(values).channel([v.n_states for v in self.rule.parents])
        return channel[None]

    def _expected(self, values: Floats, counts: Floats) -> float:
        """Return the expected log-likelihood; minus infinity where the model is invalid."""
        try:
            chances = self.response_parameters(values)
        except (InvalidModelError, ArithmeticError, ValueError):
            return -np.inf
        with np.errstate(divide="ignore", invalid="ignore"):
            return float(np.where(counts > 0, counts * np.log(chances), 0.0).sum())

    def maximize(self, values: Floats, counts: Floats) -> Floats:
        """Return parameters with a larger expected log-likelihood."""
        from scipy.optimize import minimize

        if not len(values):
            return values
        before = self._expected(values, counts)
        scale = max(float(counts.sum()), 1.0)
        worst = min(before, 0.0) / scale - 1e3  # stands for minus infinity

        def objective(x: Floats) -> float:
            return -max(self._expected(x, counts) / scale, worst)

        for method, options in _SEARCHES:
            found = minimize(
                objective,
                values,
                method=method,
                bounds=[tuple(pair) for pair in self.limits],
                options=options,
            )
            best = np.clip(np.asarray(found.x, dtype=np.float64), *self.limits.T)
            if self._expected(best, counts) > before:
                return best
        return values

    def log_prior(self, values: Floats) -> float:
        """Return 0."""
        return 0.0

    def valid(self, values: Floats) -> bool:
        """Return whether the model accepts the parameters."""
        try:
            self.response_parameters(values)
        except (InvalidModelError, ArithmeticError, ValueError):
            return False
        return True

    def response_models(self, values: Floats) -> tuple[ResponseModel | None, ...]:
        """Return the response model."""
        return (self._with(values),)
