r"""Predictive checks: observed pairs of items against data sets drawn from the learned bank.

A model that lacks a skill, or relates skills wrongly, misfits the correlations and the log odds
ratios of pairs of items. Data sets are drawn from the learned bank with the same responses
missing, and each statistic is compared with its distribution over them: p is the share of data
sets in which it is at least as large.

References
----------
S. Sinharay, "Assessing fit of cognitive diagnostic models: a case study", Educ. Psychol.
Meas. 2007, and with R. Almond, 2007 (odds ratios of item pairs); A. Maydeu-Olivares,
"Goodness-of-fit assessment of item response theory models", Measurement 2013 (SRMSR).
Parameters are fixed at their learned values, while Sinharay draws them too.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.responses.examinees import Examinees
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["PairStatistics", "PredictiveCheck", "predictive_check"]


@dataclass(frozen=True, eq=False)
class PairStatistics(Value):
    """A statistic for every pair of items."""

    observed: Floats
    """``(pairs,)``, the statistic of the responses."""
    expected: Floats
    """``(pairs,)``, the mean over the drawn data sets."""
    p_values: Floats
    """``(pairs,)``, the share of data sets with at least this statistic; ties count half."""

    @property
    def root_mean_square(self) -> float:
        """The root of the mean square of observed − expected."""
        return float(np.sqrt(np.nanmean((self.observed - self.expected) ** 2)))

    @property
    def share_extreme(self) -> float:
        """The share of pairs with p below 0.025 or above 0.975; 0.05 is expected."""
        p = self.p_values[~np.isnan(self.p_values)]
        return float(np.mean((p < 0.025) | (p > 0.975)))


@dataclass(frozen=True, eq=False, kw_only=True)
class PredictiveCheck(Value):
    """The comparison of responses with data sets drawn from the learned bank."""

    items: tuple[str, ...]
    """The names of the items."""
    pairs: NDArray[np.intp]
    """``(pairs, 2)`` positions of items."""
    correlations: PairStatistics
    """Correlations of responses. Their root mean square is the SRMSR; below 0.05 is good."""
    log_odds: PairStatistics
    """ln(n₁₁ n₀₀ / (n₁₀ n₀₁)) with ½ added to each count; all but the worst response are right."""
    seed: int
    """The seed of the drawn data sets."""
    n_drawn: int
    """The number of data sets drawn."""

    def __repr__(self) -> str:
        return (
            f"PredictiveCheck({counted(self.n_drawn, 'data set')}: SRMSR"
            f" {self.correlations.root_mean_square:.4f}, {self.log_odds.share_extreme:.1%} of"
            " pairs extreme)"
        )

    @cached_property
    def worst_pairs(self) -> tuple[tuple[str, str], ...]:
        """All pairs of items, in order of decreasing deviation of their log-odds."""
        far = -np.abs(self.log_odds.observed - self.log_odds.expected)
        return tuple(
            (self.items[a], self.items[b]) for a, b in self.pairs[np.argsort(far, kind="stable")]
        )


@checked
def predictive_check(learned: Learned, *, n_drawn: int = 100, seed: int = 0) -> PredictiveCheck:
    """Compare all pairs of items with data sets drawn from the learned bank.

    Parameters
    ----------
    learned
        The learned bank, with its responses.
    n_drawn
        The number of data sets to draw, at least 2.
    seed
        At least 0; the same seed draws the same data sets.

    Raises
    ------
    InvalidArgumentError
        If fewer than 2 data sets are to be drawn.
    """
    if not n_drawn >= 2:
        raise InvalidArgumentError(f"expected at least 2 data sets to draw, got {n_drawn}", n_drawn)
    codes = learned.responses.codes.astype(np.int16)
    is_given = codes != MISSING
    pairs = np.argwhere(np.triu(np.ones((codes.shape[1], codes.shape[1])), 1) > 0)
    observed = _statistics(codes, is_given, pairs)
    everyone = Examinees.drawn(learned.bank, n_drawn * len(codes), seed=seed).responses
    drawn = []
    for number in range(n_drawn):
        table = np.where(
            is_given, everyone[number * len(codes) : (number + 1) * len(codes)], MISSING
        )
        drawn.append(_statistics(table, is_given, pairs))
    comparisons = []
    for kind, seen in enumerate(observed):
        values = np.stack([statistics[kind] for statistics in drawn])
        expected = _mean(values)
        p = np.mean((values > seen) + 0.5 * (values == seen), axis=0)
        comparisons.append(PairStatistics(seen, expected, np.where(np.isnan(seen), np.nan, p)))
    return PredictiveCheck(
        items=learned.bank.item_names,
        pairs=pairs,
        correlations=comparisons[0],
        log_odds=comparisons[1],
        seed=seed,
        n_drawn=n_drawn,
    )


def _mean(values: Floats) -> Floats:
    """Return the means of the values that are not nan."""
    known = ~np.isnan(values)
    sums = np.where(known, values, 0.0).sum(axis=0)
    n = known.sum(axis=0)
    means: Floats = np.divide(sums, n, out=np.full(sums.shape, np.nan), where=n > 0)
    return means


def _statistics(
    codes: NDArray[np.signedinteger], is_given: NDArray[np.bool_], pairs: NDArray[np.intp]
) -> tuple[Floats, Floats]:
    """Return the correlation and log-odds of each pair, over examinees who answered both."""
    w = is_given.astype(np.float64)
    x = np.where(is_given, codes, 0).astype(np.float64)
    n, sums, products, squares = w.T @ w, x.T @ w, x.T @ x, (x**2).T @ w
    with np.errstate(divide="ignore", invalid="ignore"):
        mean, other = sums / n, sums.T / n
        variance = squares / n - mean**2
        correlation = (products / n - mean * other) / np.sqrt(variance * (squares.T / n - other**2))
    right = np.where(is_given, codes > 0, False).astype(np.float64)
    both, first = right.T @ right, right.T @ w
    table = [both, first - both, first.T - both, n - first - first.T + both]
    a, b, c, d = (np.log(cell + 0.5) for cell in table)
    i, j = pairs.T
    valid = np.isfinite(correlation[i, j])
    return np.where(valid, correlation[i, j], np.nan), (a - b - c + d)[i, j]
