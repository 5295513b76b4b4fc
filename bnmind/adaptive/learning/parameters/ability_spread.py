r"""The distribution of an ability of which only the standard deviation is learned.

==================  ==============================================================
symbol              name here
==================  ==============================================================
w_q, θ_q            ``weights``: the initial distribution; ``points``
μ                   the mean of the initial distribution, which stays the center
w_q(κ)              proportional to w_q exp(−κ (θ_q − μ)²)
n_q                 ``counts``: the expected number of examinees at each point
==================  ==============================================================

If w is normal with standard deviation σ, w(κ) is normal with 1/σ² + 2κ in place of 1/σ². The
most likely κ given the counts makes the second moments equal: the mean of (θ − μ)² over w(κ) is
that over the counts.

References
----------
The Rasch and the partial credit model fix the slopes at 1 and learn the variance of the
ability, as in the R packages mirt and TAM.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._values import Sealed
from bnmind.information import Floats

__all__ = ["AbilitySpread"]

_ROUNDS = 60
_CLOSE = 1e-12


@dataclass(frozen=True, eq=False)
class AbilitySpread(Sealed):
    """The distributions that differ from the initial one in their spread.

    Parameters
    ----------
    points
        The abilities, ``(points,)``.
    weights
        The initial distribution, ``(points,)``.
    """

    points: Floats
    weights: Floats

    @property
    def squares(self) -> Floats:
        """The squared distances from the mean of the initial distribution."""
        squares: Floats = (self.points - self.weights @ self.points) ** 2
        return squares

    def most_likely(self, counts: Floats) -> Floats:
        """Return the distribution that makes the counts most likely, by Newton's method."""
        squares = self.squares
        total = float(counts.sum())
        if not total > 0:
            return self.weights
        target = float(counts @ squares) / total
        kappa, step = 0.0, np.inf
        for _ in range(_ROUNDS):
            table = self._tilted(kappa)
            mean = float(table @ squares)
            variance = float(table @ (squares - mean) ** 2)
            if abs(mean - target) <= _CLOSE * max(target, _CLOSE) or not variance > 0:
                break
            # The mean falls as κ rises; far from the solution steps are kept short.
            step = (mean - target) / variance
            bound = 2 * (abs(kappa) + 1 / max(float(squares.max()), _CLOSE) + 0.25)
            kappa += float(np.clip(step, -bound, bound))
        return self._tilted(kappa)

    def _tilted(self, kappa: float) -> Floats:
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights) - kappa * self.squares
        table = np.exp(logs - logs.max())
        result: Floats = table / table.sum()
        return result
