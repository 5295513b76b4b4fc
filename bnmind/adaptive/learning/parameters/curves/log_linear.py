r"""Learning partial credit and nominal items, whose log-odds are linear in their parameters.

===============  ==============================================================
symbol           name here
===============  ==============================================================
M_{qrk}          ``_design``: what parameter k adds to the log-weight of
                 response r at ability θ_q
P_r(θ_q)         exp(Σ_k M_{qrk} x_k) / Σ_s exp(Σ_k M_{qsk} x_k)
∂P_r/∂x_k        P_r (M_{qrk} − Σ_s P_s M_{qsk})
===============  ==============================================================

The parameters of a partial credit item are the slope a and the intercepts −a b_r of its thresholds
b_r. Those of a nominal item are its slopes and intercepts.

References
----------
E. Muraki, "A generalized partial credit model: application of an EM algorithm", Appl.
Psychol. Meas. 1992; R. D. Bock, "Estimating item parameters and latent ability when
responses are scored in two or more nominal categories", Psychometrika 1972.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bnmind._values import Sealed
from bnmind.adaptive.learning.parameters.block import ItemRule
from bnmind.adaptive.learning.parameters.curves.kind import FARTHEST, STEEPEST, slope_bounds, within
from bnmind.adaptive.learning.parameters.curves.priors import log_normal_prior
from bnmind.adaptive.learning.parameters.options import Priors
from bnmind.adaptive.response_models.base.abilities import ability_values
from bnmind.adaptive.response_models.base.curves import softmax
from bnmind.adaptive.response_models.base.model import ResponseModel
from bnmind.adaptive.response_models.base.vector import parameter_vector, with_parameters
from bnmind.adaptive.response_models.nominal import Nominal
from bnmind.adaptive.response_models.partial_credit import PartialCredit
from bnmind.information import Floats

__all__ = ["LogLinearCurves"]


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
