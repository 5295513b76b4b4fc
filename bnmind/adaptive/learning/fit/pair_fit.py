r"""Fit of pairs of items: observed against expected correlations and log odds ratios.

==================  ======================================================================
symbol              name here
==================  ======================================================================
Z(r), Z(ρ)          Fisher's transformation of the observed and the expected correlation
z_r                 (Z(r) − Z(ρ)) √(N − 3)
l, λ                ln(n₁₁ n₀₀ / (n₁₀ n₀₁)), observed and expected
z_l                 (l − λ) / √(1/n₁₁ + 1/n₁₀ + 1/n₀₁ + 1/n₀₀)
==================  ======================================================================

N counts the examinees who answered both items. A pair misfits if the model lacks a skill that the
two items share, or one of them needs other skills than the Q-matrix says. All probabilities are
corrected for the number of pairs (Holm 1979).

References
----------
J. Chen, J. de la Torre and Z. Zhang, "Relative and absolute fit evaluation in cognitive diagnosis
modeling", J. Educ. Meas. 2013.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.learning.em.e_step_table import placed_sums
from bnmind.adaptive.learning.fit.standard_errors import table_expectation
from bnmind.adaptive.learning.learn import Learned
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["PairFit", "holm", "pair_fit"]


@dataclass(frozen=True, kw_only=True)
class PairFit(Value):
    """The fit of a pair of items with two responses."""

    items: tuple[str, str]
    """The names of the two items."""
    examinees: int
    """The number of examinees who answered both."""
    correlation: float
    """The correlation of the responses, −1 to 1."""
    expected_correlation: float
    """The same under the learned bank."""
    correlation_z: float
    """z_r, the difference of their transforms in standard errors."""
    correlation_p: float
    """Corrected for the number of pairs."""
    log_odds: float
    """l, the natural logarithm of the odds ratio."""
    expected_log_odds: float
    """The same under the learned bank."""
    log_odds_z: float
    """z_l, the difference of both in standard errors."""
    log_odds_p: float
    """Corrected for the number of pairs."""


@checked
def pair_fit(learned: Learned) -> tuple[PairFit, ...]:
    """Return the fit of all pairs of items with two responses, the worst first.

    Parameters
    ----------
    learned
        A bank with the responses from which it was learned, as `bnmind.adaptive.learn` returns it.

    Raises
    ------
    InvalidArgumentError
        If fewer than two items have two responses.
    TooLargeError
        If there are too many profiles for a table over all of them.
    """
    from scipy.stats import norm

    expectation, layout = table_expectation(learned), learned.model.layout
    chances = layout.response_parameters(learned.parameters.items)[expectation.places]
    prior = learned.model.skills.prior(learned.parameters.skills)
    of_class = placed_sums(expectation.classes, prior, chances.shape[1])
    names = [name for block in layout.blocks for name in block.names]
    rows = np.cumsum([0, *(n for _, n in layout.shapes)])
    binary = [number for number, (_, n) in enumerate(layout.shapes) if n == 2]
    if len(binary) < 2:
        raise InvalidArgumentError(
            f"expected at least two items with two responses, got {len(binary)}", len(binary)
        )
    right = chances[rows[binary] + 1]
    codes = learned.responses.codes[:, [layout.columns[number] for number in binary]]
    given = (codes != MISSING).astype(np.float64)
    ones = (codes == 1).astype(np.float64)
    n = given.T @ given
    # Cells (first, second) of the observed and of the expected table of each pair.
    both, first = ones.T @ ones, ones.T @ given
    cells = np.array([n - first - first.T + both, first.T - both, first - both, both])
    p = right @ of_class
    p_both = (right * of_class) @ right.T
    shares = np.array([1 - p[:, None] - p + p_both, p[None] - p_both, p[:, None] - p_both, p_both])
    found = []
    a, b = np.triu_indices(len(binary), 1)
    seen, model = _correlation(cells[:, a, b]), _correlation(shares[:, a, b])
    with np.errstate(divide="ignore", invalid="ignore"):
        by_correlation = (np.arctanh(seen) - np.arctanh(model)) * np.sqrt(n[a, b] - 3)
        odds, expected_odds = _log_odds(cells[:, a, b]), _log_odds(shares[:, a, b])
        by_odds = (odds - expected_odds) / np.sqrt((1 / cells[:, a, b]).sum(axis=0))
    by_odds = np.where(np.isfinite(odds), by_odds, np.nan)
    p_values = [holm(2 * norm.sf(np.abs(z))) for z in (by_correlation, by_odds)]
    place = {name: number for number, name in enumerate(learned.bank.item_names)}
    for k, (i, j) in enumerate(zip(a.tolist(), b.tolist(), strict=True)):
        pair = sorted((names[binary[i]], names[binary[j]]), key=place.__getitem__)
        found.append(
            PairFit(
                items=(pair[0], pair[1]),
                examinees=int(n[i, j]),
                correlation=float(seen[k]),
                expected_correlation=float(model[k]),
                correlation_z=float(by_correlation[k]),
                correlation_p=float(p_values[0][k]),
                log_odds=float(odds[k]),
                expected_log_odds=float(expected_odds[k]),
                log_odds_z=float(by_odds[k]),
                log_odds_p=float(p_values[1][k]),
            )
        )
    return tuple(sorted(found, key=lambda pair: -_size(pair.correlation_z)))


def _size(z: float) -> float:
    """Return |z|, and nothing for pairs without a correlation, which come last."""
    return -1.0 if np.isnan(z) else round(abs(z), 12)


def _correlation(cells: Floats) -> Floats:
    total = cells.sum(axis=0)
    with np.errstate(divide="ignore", invalid="ignore"):
        first, second = (cells[2] + cells[3]) / total, (cells[1] + cells[3]) / total
        spread = np.sqrt(first * (1 - first) * second * (1 - second))
        return np.asarray((cells[3] / total - first * second) / spread)


def _log_odds(cells: Floats) -> Floats:
    return np.asarray(np.log(cells[3]) + np.log(cells[0]) - np.log(cells[1]) - np.log(cells[2]))


def holm(p_values: Floats) -> Floats:
    """Return p-values corrected for their number, by Holm's method; nan stays nan.

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).round(2).tolist()
    [0.03, 0.06, 0.06]
    """
    known = np.flatnonzero(~np.isnan(p_values))
    order = known[np.argsort(p_values[known], kind="stable")]
    left = len(order) - np.arange(len(order))
    corrected = np.full(len(p_values), np.nan)
    corrected[order] = np.minimum(np.maximum.accumulate(p_values[order] * left), 1.0)
    return corrected
