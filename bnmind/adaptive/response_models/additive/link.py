r"""LinkFunction functions: the scale on which the effects of the skills add up.

==================  ======================================================================
symbol              name here
==================  ======================================================================
p                   the chance of a right response
η                   ``predictor``: the sum of the effects, increasing with p
y, w                ``right``, ``wrong``: numbers of responses
l(η)                y ln p(η) + w ln(1 − p(η)), concave in η for every link here
==================  ======================================================================

References
----------
P. McCullagh and J. Nelder, *Generalized Linear Models*, 1989; J. de la Torre, "The generalized
DINA model framework", Psychometrika 2011 (identity, logit and log links).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bnmind.adaptive.response_models.base.curves import logistic
from bnmind.information import Floats

__all__ = ["COMPLEMENTARY", "IDENTITY", "LOG", "LOGIT", "LinkFunction"]

_LEAST = 1e-12
"""The least chance in a denominator."""


@dataclass(frozen=True)
class LinkFunction:
    """A link function and the log-likelihood of responses on its scale."""

    name: str
    of: Callable[[Floats], Floats]
    """η of p."""
    chance: Callable[[Floats], Floats]
    """p of η."""
    slopes: Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]
    """l′(η) and −l″(η), given p, y and w."""

    def log_likelihood(self, predictor: Floats, right: Floats, wrong: Floats) -> Floats:
        """Return l(η) of each cell; responses of probability zero count as very improbable."""
        p = np.clip(self.chance(predictor), _LEAST, 1 - _LEAST)
        result: Floats = right * np.log(p) + wrong * np.log1p(-p)
        return result

    def derivatives(self, predictor: Floats, right: Floats, wrong: Floats) -> tuple[Floats, Floats]:
        """Return l′(η) and −l″(η) of each cell."""
        return self.slopes(np.clip(self.chance(predictor), _LEAST, 1 - _LEAST), right, wrong)


IDENTITY = LinkFunction(
    "identity",
    lambda p: p,
    lambda x: x,
    lambda p, y, w: (y / p - w / (1 - p), y / p**2 + w / (1 - p) ** 2),
)
"""η = p."""

LOGIT = LinkFunction(
    "logit",
    lambda p: np.log(p) - np.log1p(-p),
    logistic,
    lambda p, y, w: (y - (y + w) * p, (y + w) * p * (1 - p)),
)
"""η = ln(p / (1 − p))."""

LOG = LinkFunction(
    "log",
    np.log,
    np.exp,
    lambda p, y, w: (y - w * p / (1 - p), w * p / (1 - p) ** 2),
)
"""η = ln p."""

COMPLEMENTARY = LinkFunction(
    "complementary log",
    lambda p: -np.log1p(-p),
    lambda x: -np.expm1(-x),
    lambda p, y, w: (y * (1 - p) / p - w, y * (1 - p) / p**2),
)
"""η = −ln(1 − p)."""
