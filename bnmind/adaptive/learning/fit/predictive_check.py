r"""Predictive checks: whether examinees drawn from the model look like those it is learned from.

For every pair of items, the correlation of the responses and the logarithm of the odds
ratio are what a model that misses a skill, or ties skills wrongly, gets wrong. Data sets
are drawn from the learned bank, with the same responses missing, and each statistic is
compared with its distribution over them: p is the share in which it is at least as large.

References
----------
S. Sinharay, "Assessing fit of cognitive diagnostic models: a case study", Educ. Psychol.
Meas. 2007, and with R. Almond, 2007 (odds ratios of item pairs); A. Maydeu-Olivares,
"Goodness-of-fit assessment of item response theory models", Measurement 2013 (SRMSR).
Parameters are held at what was learned, where Sinharay draws them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import CheckedValue
from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.responses.examinees import Examinees
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["PairStatistics", "PredictiveCheck", "predictive_check"]


@dataclass(frozen=True, eq=False)
class PairStatistics(CheckedValue):
    """A statistic of every pair of items."""

    observed: Floats
    """``(pairs,)``, of the responses learned from."""
    expected: Floats
    """``(pairs,)``, the mean over the data sets drawn."""
    p_values: Floats
    """``(pairs,)``, the share of the data sets in which it is at least as large; ties half."""

    @property
    def root_mean_square(self) -> float:
        """The root of the mean square of observed − expected."""
        return float(np.sqrt(np.nanmean((self.observed - self.expected) ** 2)))

    @property
    def share_extreme(self) -> float:
        """The share of pairs with p below 0.025 or above 0.975; 0.05 is to be expected."""
        p = self.p_values[~np.isnan(self.p_values)]
        return float(np.mean((p < 0.025) | (p > 0.975)))


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictiveCheck(CheckedValue):
    """How the responses compare with data sets drawn from what was learned."""

    items: tuple[str, ...]
    pairs: NDArray[np.intp]
    """``(pairs, 2)`` positions of items."""
    correlations: PairStatistics
    """Of the responses to two items; with the root mean square SRMSR, below 0.05 if good."""
    log_odds: PairStatistics
    """ln(n₁₁ n₀₀ / (n₁₀ n₀₁)) with ½ added to each, right being any but the worst."""
    seed: int
    n_drawn: int

    def __repr__(self) -> str:
        return (
            f"PredictiveCheck({self.n_drawn} data sets: SRMSR"
            f" {self.correlations.root_mean_square:.4f}, {self.log_odds.share_extreme:.1%} of"
            " pairs extreme)"
        )

    @cached_property
    def worst_pairs(self) -> tuple[tuple[str, str], ...]:
        """The pairs of items, the one farthest from what is expected of its log-odds first."""
        far = -np.abs(self.log_odds.observed - self.log_odds.expected)
        return tuple(
            (self.items[a], self.items[b]) for a, b in self.pairs[np.argsort(far, kind="stable")]
        )


@checked
def predictive_check(learned: Learned, *, n_drawn: int = 100, seed: int = 0) -> PredictiveCheck:
    """Return how item pairs compare with data sets drawn from what was learned.

    Parameters
    ----------
    learned
        What was learned, with its responses.
    n_drawn
        How many data sets are drawn, at least 2.
    seed
        Of all that is drawn.
    """
    if not n_drawn >= 2:
        raise InvalidArgumentError(f"expected at least 2 data sets to draw, got {n_drawn}", n_drawn)
    codes = learned.responses.codes.astype(np.int16)
    there = codes != MISSING
    pairs = np.argwhere(np.triu(np.ones((codes.shape[1], codes.shape[1])), 1) > 0)
    observed = _statistics(codes, there, pairs)
    everyone = Examinees.drawn(learned.bank, n_drawn * len(codes), seed=seed).responses
    drawn = []
    for number in range(n_drawn):
        table = np.where(there, everyone[number * len(codes) : (number + 1) * len(codes)], MISSING)
        drawn.append(_statistics(table, there, pairs))
    made = []
    for kind, seen in enumerate(observed):
        values = np.stack([statistics[kind] for statistics in drawn])
        expected = _mean(values)
        p = np.mean((values > seen) + 0.5 * (values == seen), axis=0)
        made.append(PairStatistics(seen, expected, np.where(np.isnan(seen), np.nan, p)))
    return PredictiveCheck(
        items=learned.bank.item_names,
        pairs=pairs,
        correlations=made[0],
        log_odds=made[1],
        seed=seed,
        n_drawn=n_drawn,
    )


def _mean(values: Floats) -> Floats:
    """Return the means, but for what is nan."""
    known = ~np.isnan(values)
    sums = np.where(known, values, 0.0).sum(axis=0)
    n = known.sum(axis=0)
    found: Floats = np.divide(sums, n, out=np.full(sums.shape, np.nan), where=n > 0)
    return found


def _statistics(
    codes: NDArray[np.signedinteger], there: NDArray[np.bool_], pairs: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Return correlation and log-odds of each pair, among those who answered both."""
    w = there.astype(np.float64)
    x = np.where(there, codes, 0).astype(np.float64)
    n, sums, products, squares = w.T @ w, x.T @ w, x.T @ x, (x**2).T @ w
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, other = sums / n, sums.T / n
        variance = squares / n - mean**2
        correlation = (products / n - mean * other) / np.sqrt(variance * (squares.T / n - other**2))
    right = np.where(there, codes > 0, False).astype(np.float64)
    both, first = right.T @ right, right.T @ w
    table = [both, first - both, first.T - both, n - first - first.T + both]
    a, b, c, d = (np.log(cell + 0.5) for cell in table)
    i, j = pairs.T
    valid = np.isfinite(correlation[i, j])
    return np.where(valid, correlation[i, j], np.nan), (a - b - c + d)[i, j]
