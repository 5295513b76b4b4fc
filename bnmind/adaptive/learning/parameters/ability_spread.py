r"""The distribution of an ability of which the standard deviation, or the mean too, is learned.

==================  ==============================================================
symbol              name here
==================  ==============================================================
w_q, θ_q            ``weights``: the initial distribution; ``points``
μ                   the mean of the initial distribution
w_q(λ, κ)           proportional to w_q exp(λ (θ_q − μ) − κ (θ_q − μ)²)
n_q                 ``counts``: the expected number of examinees at each point
==================  ==============================================================

If w is normal with standard deviation σ, w(λ, κ) is normal with 1/σ² + 2κ in place of 1/σ². The
most likely λ and κ given the counts make the moments equal: the means of θ − μ and (θ − μ)² over
w(λ, κ) are those over the counts. If only the deviation is learned, λ is 0, and the mean of a
symmetric distribution stays.

References
----------
The Rasch and the partial credit model fix the slopes at 1 and learn the variance of the ability,
as in the R packages mirt and TAM. With several groups the mean and the variance of each but the
first are learned: R. Bock and M. Zimowski, "Multiple group IRT", in *Handbook of Modern Item
Response Theory*, 1997.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._values import Sealed
from bnmind.information import Floats

__all__ = ["AbilitySpread"]

_ROUNDS = 100
_UNSEEN = 1e-13
"""The change of the logarithm of the likelihood that its rounding errors hide."""


@dataclass(frozen=True, eq=False)
class AbilitySpread(Sealed):
    """The distributions that differ from the initial one in their spread, or in their mean too.

    Parameters
    ----------
    points
        The abilities, ``(points,)``.
    weights
        The initial distribution, ``(points,)``.
    moved
        Whether the mean is learned too.
    """

    points: Floats
    weights: Floats
    moved: bool = False

    @property
    def statistics(self) -> Floats:
        """The squared distances from the initial mean, after the distances if the mean is learned.

        ``(parameters, points)``.
        """
        away = self.points - self.weights @ self.points
        return np.array([away, away**2] if self.moved else [away**2])

    def most_likely(self, counts: Floats) -> Floats:
        """Return the distribution that makes the counts most likely, by Newton's method."""
        statistics, total = self.statistics, float(counts.sum())
        if not total > 0:
            return self.weights
        with np.errstate(divide="ignore"):
            logs = np.log(self.weights)
        target = statistics @ counts / total
        natural = np.zeros(len(statistics))
        table, loss = _tilted(logs, natural @ statistics)
        for _ in range(_ROUNDS):
            mean = statistics @ table
            slope = target - mean
            apart = statistics - mean[:, None]
            step = np.linalg.lstsq((apart * table) @ apart.T, slope, rcond=1e-14)[0]
            old = loss - natural @ target
            last = float(slope @ step) <= _UNSEEN * (1 + abs(old))
            # The likelihood is concave: halve the step until it grows. The last step, which doubles
            # the digits, changes it by less than its rounding error.
            for _ in range(_ROUNDS):
                nearer = natural + step
                found, new = _tilted(logs, nearer @ statistics)
                if last or new - nearer @ target <= old:
                    break
                step = step / 2
            else:
                break
            natural, table, loss = nearer, found, new
            if last:
                break
        return table


def _tilted(logs: Floats, by: Floats) -> tuple[Floats, float]:
    """Return weights times exp(by), normalized, and the logarithm of their sum before that."""
    logs = logs + by
    top = float(logs.max())
    table = np.exp(logs - top)
    total = float(table.sum())
    result: Floats = table / total
    return result, top + float(np.log(total))
