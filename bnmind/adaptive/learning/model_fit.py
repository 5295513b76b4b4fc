r"""Fit of a learned model: of items, of pairs of items, and of all by limited information.

Fit of items and of pairs of items: observed against expected responses.

==================  ======================================================================
symbol              name here
==================  ======================================================================
O_k, E_k            the observed and the expected share of right responses to the item
                    among examinees with k right responses in total
N_k                 the number of these examinees
S_k(c)              P(k right \| class c), by the recursion of Lord and Wingersky
S-X²                Σ_k N_k (O_k − E_k)² / (E_k (1 − E_k)), neighbors pooled to expected
                    numbers of at least one
RMSD                √Σ_c π_c (n_{c1} / n_c − P_c)², with posterior means π_c, n_c, n_{c1}
==================  ======================================================================

S-X² requires items with two responses, and counts the examinees who answered all items. RMSD
requires neither.

Pairs of items are compared by their correlations and log odds ratios:

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

*Predictive checks* compare pairs of items with data sets drawn from the learned bank. A model that
lacks a skill, or relates skills wrongly, misfits their correlations and log odds ratios. Data sets
are drawn from the learned bank with the same responses missing, and each statistic is compared with
its distribution over them: p is the share of data sets in which it is at least as large.

Absolute fit by first and second moments of the responses: M₂, RMSEA₂ and SRMSR.

==================  ======================================================================
symbol              name here
==================  ======================================================================
κ, p                ``expected``, ``observed``: E X_i and E X_i X_j, all i < j
n_r, n_rs           ``shared``: examinees who answered the items of moment r, of r and s
μ_ic, v_ic          ``means``, ``variances``: of the response to item i in class c
π_c                 ``of_class``: the probability of a class of profiles
Ξ                   ``covariance``: of √N p, if nothing is missing
Δ                   ``slopes``: ∂κ/∂θ, of the parameters of the items and of the skills
M₂                  eᵀ C e with e = p − κ, C = Σ⁻¹ − Σ⁻¹ Δ (Δᵀ Σ⁻¹ Δ)⁻¹ Δᵀ Σ⁻¹ and
                    Σ_rs = Ξ_rs n_rs / (n_r n_s), which is Ξ / N if nothing is missing
d                   ``degrees``: moments − rank Δ
RMSEA₂              √max((M₂ − d) / (N d), 0) with the mean n_r as N
==================  ======================================================================

Responses count by their number (0, 1, …), so that for items with more than two responses M₂ is that
of ordinal data. Given the class, responses are independent; hence

.. math:: Ξ = \mathrm{Cov}_c(μ) + \sum_i E[v_i g_i g_i^⊤] + \mathrm{diag}(E[v_i v_j])

where g_i is the derivative of the moments by μ_i. If responses are missing, each moment is that of
the examinees who answered its items. This is valid if chance alone decides which responses are
missing, as with booklets dealt at random; in an adaptive test the answers decide, too.

References
----------
M. Orlando and D. Thissen, "Likelihood-based item-fit indices for dichotomous item response theory
models", Appl. Psychol. Meas. 2000; F. Lord and M. Wingersky, Appl. Psychol. Meas. 1984; J.
Kunina-Habenicht, A. Rupp and O. Wilhelm, "A practical illustration of multidimensional diagnostic
skills profiling", Stud. Educ. Eval. 2009 (RMSD, there RMSEA); J. Chen, J. de la Torre and Z. Zhang,
"Relative and absolute fit evaluation in cognitive diagnosis modeling", J. Educ. Meas. 2013; S.
Sinharay, "Assessing fit of cognitive diagnostic models: a case study", Educ. Psychol. Meas. 2007,
and with R. Almond, 2007 (odds ratios of item pairs); A. Maydeu-Olivares, "Goodness-of-fit
assessment of item response theory models", Measurement 2013 (SRMSR). Parameters are fixed at their
learned values, while Sinharay draws them too.

A. Maydeu-Olivares and H. Joe, "Limited information goodness-of-fit testing in multidimensional
contingency tables", Psychometrika 2006 (M₂, eq. 9); M. Hansen, L. Cai, S. Monroe and Z. Li,
"Limited-information goodness-of-fit testing of diagnostic classification item response models", Br.
J. Math. Stat. Psychol. 2016; Y. Liu, W. Tian and T. Xin, J. Educ. Behav. Stat. 2016; L. Cai and M.
Hansen, Br. J. Math. Stat. Psychol. 2013 (ordinal items); A. Maydeu-Olivares and H. Joe, Multivar.
Behav. Res. 2014 (RMSEA₂ and its interval).
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, picked, text_of
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.beliefs import MISSING
from bnmind.adaptive.learning.item_tests import Classes, holm, p_of
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.responses import Responses
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats

_FEWEST = 1.0
"""The least expected number of right and of wrong responses in a pooled group."""


@dataclass(frozen=True, kw_only=True)
class ItemFit(Value):
    """The fit of an item."""

    item: str
    """The name of the item."""
    observed: float
    """The share of responses that are not the worst."""
    expected: float
    """The expected share for the examinees who answered."""
    rmsd: float
    """The root mean square deviation of observed from expected shares over classes of profiles;
    below 0.1 is good."""
    s_x2: float
    """The statistic S-X²; nan if undefined."""
    degrees: int
    """The degrees of freedom of S-X²."""
    p_value: float
    """The probability of at least this S-X² if the model is true."""
    n_complete: int = 0
    """The number of examinees who answered all items, from whom S-X² is."""

    def __repr__(self) -> str:
        return (
            f"ItemFit({self.item}: observed {self.observed:.3f}, expected {self.expected:.3f}, RMSD"
            f" {self.rmsd:.3f}, S-X² {self.s_x2:.2f}, df {self.degrees}, p {self.p_value:.3g})"
        )


@checked
def item_fit(learned: Learned) -> tuple[ItemFit, ...]:
    """Return the fit of each item to the responses from which it was learned.

    Parameters
    ----------
    learned
        A bank with the responses from which it was learned, as `bnmind.adaptive.learn` returns it.

    Raises
    ------
    TooLargeError
        If there are too many profiles for a table over all of them.
    """
    classes = Classes.of(learned)
    codes = learned.responses.codes
    codes = codes[(codes != MISSING).all(axis=1)]
    scores = _score_statistics(codes, [item.chances for item in classes.items], classes.of_class)
    fits = []
    for item, (s_x2, n_groups) in zip(classes.items, scores, strict=True):
        right = 1 - item.chances[0]
        counts = item.given * classes.weights[:, None]
        in_class = counts.sum(axis=1) @ classes.posterior
        in_right = counts[:, 1:].sum(axis=1) @ classes.posterior
        share = np.divide(in_right, in_class, out=right.copy(), where=in_class > 1e-9)
        total = float(in_class.sum())
        # Parameters whose bounds are equal are not free.
        own = np.array([name == item.name for name, _ in item.block.parameters], dtype=np.bool_)
        free = own & (item.block.limits[:, 0] < item.block.limits[:, 1])
        degrees = max(n_groups - int(free.sum()), 0)
        fits.append(
            ItemFit(
                item=item.name,
                observed=float(in_right.sum()) / total,
                expected=float(in_class @ right) / total,
                rmsd=float(np.sqrt((in_class / total) @ (share - right) ** 2)),
                s_x2=s_x2 if degrees else math.nan,
                degrees=degrees,
                p_value=float(p_of(s_x2, degrees)),
                n_complete=len(codes),
            )
        )
    return tuple(fits)


def _score_statistics(
    codes: NDArray[np.signedinteger[Any]], chances: Sequence[Floats], of_class: Floats
) -> Iterator[tuple[float, int]]:
    """Yield S-X² and the number of groups for each item; nan and 0 if undefined."""
    n_items = len(chances)
    if any(len(one) != 2 for one in chances) or not len(codes) or n_items < 3:
        yield from [(math.nan, 0)] * n_items
        return
    right, totals, ks = np.array(chances)[:, 1], codes.sum(axis=1), np.arange(1, n_items)
    n = np.bincount(totals, minlength=n_items + 1)[ks].astype(np.float64)
    everyone = (_scores(right) @ of_class)[ks]
    for item, gave in enumerate(codes.T):
        rest = _scores(np.delete(right, item, axis=0)) @ (of_class * right[item])
        expected = np.divide(rest[ks - 1], everyone, out=np.zeros(len(ks)), where=everyone > 0)
        observed = np.bincount(totals[gave == 1], minlength=n_items + 1)[ks]
        yield _pooled_statistic(n, observed.astype(np.float64), expected)


def _scores(right: Floats) -> Floats:
    """Return P(k right | class), ``(scores, classes)``, by Lord and Wingersky's recursion."""
    table = np.ones((1, right.shape[1]))
    for chance in right:
        longer = np.zeros((len(table) + 1, right.shape[1]))
        longer[:-1] += table * (1 - chance)
        longer[1:] += table * chance
        table = longer
    return table


def _pooled_statistic(n: Floats, observed: Floats, expected: Floats) -> tuple[float, int]:
    """Return Σ N (O − E)² / (E (1 − E)) and the number of groups, with small groups pooled."""
    groups = [np.zeros(3)]
    for row in np.stack([n, observed, n * expected], axis=1):
        groups[-1] = groups[-1] + row
        if min(groups[-1][2], groups[-1][0] - groups[-1][2]) >= _FEWEST:
            groups.append(np.zeros(3))
    rest = groups.pop()
    if not groups:
        return 0.0, 0
    groups[-1] = groups[-1] + rest
    size, seen, right = np.array(groups).T
    return float(((seen - right) ** 2 * size / (right * (size - right))).sum()), len(groups)


# --- Pairs of items -------------------------------------------------------------------------------


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
    from scipy.special import ndtr

    classes = Classes.of(learned)
    binary = [place for place, item in enumerate(classes.items) if len(item.chances) == 2]
    if len(binary) < 2:
        raise InvalidArgumentError(
            f"expected at least two items with two responses, got {len(binary)}", len(binary)
        )
    right = np.array([classes.items[place].chances[1] for place in binary])
    codes = learned.responses.codes[:, binary]
    given, of_class = codes != MISSING, classes.of_class
    pairs = np.array(np.triu_indices(len(binary), 1)).T
    a, b = pairs.T
    # Cells (first, second) of the observed and of the expected table of each pair.
    cells = _cells((codes == 1).astype(np.float64), given.astype(np.float64))[:, a, b]
    (first, second), both = (right @ of_class)[pairs.T], right[a] * right[b] @ of_class
    shares = np.array([1 - first - second + both, second - both, first - both, both])
    n, odds, expected_odds = cells.sum(axis=0), _log_odds(cells), _log_odds(shares)
    seen = _observed_correlations(codes, given, pairs)
    model = correlations(first, second, first, second, both)
    with np.errstate(divide="ignore", invalid="ignore"):
        by_correlation = (np.arctanh(seen) - np.arctanh(model)) * np.sqrt(n - 3)
        by_odds = (odds - expected_odds) / np.sqrt((1 / cells).sum(axis=0))
    by_odds = np.where(np.isfinite(odds), by_odds, np.nan)
    columns = {
        "examinees": n.astype(np.intp),
        "correlation": seen,
        "expected_correlation": model,
        "correlation_z": by_correlation,
        "correlation_p": holm(2 * ndtr(-np.abs(by_correlation))),
        "log_odds": odds,
        "expected_log_odds": expected_odds,
        "log_odds_z": by_odds,
        "log_odds_p": holm(2 * ndtr(-np.abs(by_odds))),
    }
    # Pairs without a correlation come last.
    order = np.argsort(-np.nan_to_num(np.abs(by_correlation).round(12), nan=-1.0), kind="stable")
    of_pairs = [*combinations([classes.items[place].name for place in binary], 2)]
    return tuple(
        PairFit(items=of_pairs[place], **{name: x[place].item() for name, x in columns.items()})
        for place in order
    )


def _log_odds(cells: Floats) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(cells[3]) - np.log(cells[2]) - np.log(cells[1]) + np.log(cells[0]))


# --- Predictive checks ----------------------------------------------------------------------------


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
    pairs = np.array(np.triu_indices(codes.shape[1], 1)).T
    seen = _statistics(codes, is_given, pairs)
    everyone = Responses.drawn(learned.bank, n_drawn * len(codes), seed=seed).codes
    drawn = np.array([_statistics(x, is_given, pairs) for x in np.split(everyone, n_drawn)])
    expected = np.ma.masked_invalid(drawn).mean(axis=0).filled(np.nan)
    p = np.where(np.isnan(seen), np.nan, np.mean((drawn > seen) + 0.5 * (drawn == seen), axis=0))
    correlation, log_odds = map(PairStatistics, seen, expected, p)
    return PredictiveCheck(
        items=learned.bank.item_names,
        pairs=pairs,
        correlations=correlation,
        log_odds=log_odds,
        seed=seed,
        n_drawn=n_drawn,
    )


def _statistics(
    codes: NDArray[np.signedinteger], is_given: NDArray[np.bool_], pairs: NDArray[np.intp]
) -> Floats:
    """Return the correlation and log-odds of each pair, over examinees who answered both.

    ``(2, pairs)``.
    """
    right = np.where(is_given, codes > 0, False).astype(np.float64)
    cells = _cells(right, is_given.astype(np.float64))[:, *pairs.T]
    return np.array([_observed_correlations(codes, is_given, pairs), _log_odds(cells + 0.5)])


def _cells(right: Floats, given: Floats) -> Floats:
    """Return how many examinees have both wrong, the second right, the first, and both.

    ``(4, items, items)``, of indicators ``(examinees, items)``.
    """
    n, both, first = given.T @ given, right.T @ right, right.T @ given
    return np.array([n - first - first.T + both, first.T - both, first - both, both])


def _observed_correlations(
    codes: NDArray[np.signedinteger], is_given: NDArray[np.bool_], pairs: NDArray[np.intp]
) -> Floats:
    """Return the correlation of each pair over examinees who answered both; nan if undefined."""
    w = is_given.astype(np.float64)
    x = np.where(is_given, codes, 0).astype(np.float64)
    a, b = pairs.T
    with np.errstate(divide="ignore", invalid="ignore"):
        sums, squares, products = (x.T @ w, (x**2).T @ w, x.T @ x) / (w.T @ w)
    found = correlations(sums[a, b], sums[b, a], squares[a, b], squares[b, a], products[a, b])
    return np.where(np.isfinite(found), found, np.nan)


MOST_ITEMS = 100
"""The most items: their moments have a covariance matrix of 5,050² numbers."""

_SINGULAR = 1e-10
"""Directions with less than this share of the largest variance are left out."""


@dataclass(frozen=True, kw_only=True)
class LimitedInformation(Result, Value):
    """The fit of a learned bank to the first and second moments of the responses."""

    m2: float
    """The statistic M₂; nan if there are no degrees of freedom."""
    degrees: int
    """Its degrees of freedom."""
    p_value: float
    """The probability of at least this M₂ if the model is true."""
    rmsea2: float
    """The root mean square error of approximation; below 0.03 is good, below 0.045 fair."""
    rmsea2_interval: tuple[float, float]
    """Its interval of 90 %."""
    srmsr: float
    """The root mean square of the differences of correlations of items; below 0.05 is good."""
    n_examinees: int
    """The number of examinees."""
    n_incomplete: int = 0
    """The number of examinees with missing responses, who count in the moments of the others."""

    __repr__ = text_of

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a record for JSON."""
        names = ("m2", "degrees", "rmsea2", "rmsea2_interval", "srmsr")
        return dict(finite(picked(self, *names, p="p_value", incomplete="n_incomplete")))

    def _shown(self) -> Iterator[str | Table]:
        if not self.degrees:
            srmsr = "" if math.isnan(self.srmsr) else f" SRMSR {self.srmsr:.3f}."
            yield f"No M2: the parameters determine all means and products of the items.{srmsr}"
            return
        low, high = self.rmsea2_interval
        incomplete = (
            f" {self.n_incomplete:,} of {self.n_examinees:,} examinees have missing responses; each"
            " mean and product is of those who answered its items, and M2 is valid if chance"
            " decides who did."
        )
        yield (
            f"M2 {self.m2:.2f} with {counted(self.degrees, 'degree')} of freedom (means and"
            " products of the items less those that the parameters determine), p"
            f" {self.p_value:.3g}; RMSEA2 {self.rmsea2:.3f} (90 %: {low:.3f} to {high:.3f}), SRMSR"
            f" {self.srmsr:.3f}.{incomplete * bool(self.n_incomplete)}"
        )


@checked
def limited_information(learned: Learned) -> LimitedInformation:
    """Return M₂, RMSEA₂ and SRMSR of a learned bank.

    Parameters
    ----------
    learned
        A bank with the responses from which it was learned, as `bnmind.adaptive.learn` returns it.

    Raises
    ------
    InvalidArgumentError
        If no two items were answered by the same two examinees.
    TooLargeError
        If there are more than 100 items, or too many profiles for a table over all of them.
    """
    n_items = len(learned.bank.items)
    if n_items > MOST_ITEMS:
        raise TooLargeError(
            f"expected at most {MOST_ITEMS} items for M2, got {n_items}; item_fit and"
            " predictive_check have no such limit",
            needed=n_items,
            budget=MOST_ITEMS,
        )
    codes = learned.responses.codes
    given = codes != MISSING
    pairs = np.array(np.triu_indices(n_items, 1))
    shared = _shared(given, pairs)
    n_of = np.diag(shared)
    if n_of[n_items:].max(initial=0) < 2 <= n_items:
        raise InvalidArgumentError(
            "M2 needs items that the same examinees answered; item_fit does not", len(codes)
        )
    classes = Classes.of(learned)
    of_class = classes.of_class
    means, squares = (
        np.array([np.arange(len(item.chances)) ** power @ item.chances for item in classes.items])
        for power in (1, 2)
    )
    moments = np.concatenate([means, means[pairs[0]] * means[pairs[1]]])
    expected = moments @ of_class
    x = np.where(given, codes, 0).astype(np.float64)
    sums = np.concatenate([x.sum(axis=0), (x.T @ x)[pairs[0], pairs[1]]])
    seen = n_of > 0
    observed = np.divide(sums, n_of, out=expected.copy(), where=seen)
    covariance = _covariance(moments, means, squares - means**2, of_class, pairs)
    slopes = np.concatenate(
        [_slopes(classes, means, pairs), moments @ _class_slopes(classes)], axis=1
    )
    weights = shared / np.outer(n_of, n_of).clip(min=1.0)
    m2, degrees = _statistic(
        (observed - expected)[seen], (covariance * weights)[np.ix_(seen, seen)], slopes[seen]
    )
    first, square = expected[:n_items], squares @ of_class
    a, b = pairs
    modeled = correlations(first[a], first[b], square[a], square[b], expected[n_items:])
    differences = _observed_correlations(codes, given, pairs.T) - modeled
    known = differences[~np.isnan(differences)]
    srmsr = float(np.sqrt(np.mean(known**2))) if known.size else math.nan
    rmsea2, interval = _error_of_approximation(m2, degrees, float(n_of[seen].mean()))
    return LimitedInformation(
        m2=m2 if degrees > 0 else math.nan,
        degrees=max(degrees, 0),
        p_value=float(p_of(m2, degrees)),
        rmsea2=rmsea2,
        rmsea2_interval=interval,
        srmsr=srmsr,
        n_examinees=len(x),
        n_incomplete=int((~given).any(axis=1).sum()),
    )


def _shared(given: NDArray[np.bool_], pairs: NDArray[np.intp]) -> Floats:
    """Return how many examinees answered the items of both of two moments."""
    who, counts = np.unique(given, axis=0, return_counts=True)
    both = np.concatenate([who, who[:, pairs[0]] & who[:, pairs[1]]], axis=1).astype(np.float64)
    shared: Floats = (both * counts[:, None]).T @ both
    return shared


def _error_of_approximation(m2: float, degrees: int, n: float) -> tuple[float, Any]:
    """Return RMSEA₂ and its interval; nan without degrees of freedom."""
    from scipy.special import chdtr, chndtrinc

    if degrees <= 0:
        return math.nan, (math.nan, math.nan)
    # The noncentralities at which P(at most this M₂) is a share; with 0 it is chi-squared.
    shares = np.array([0.95, 0.05])
    noncentral = np.where(chdtr(degrees, m2) > shares, chndtrinc(m2, degrees, shares), 0.0)
    interval = np.sqrt(noncentral / (n * degrees))
    return math.sqrt(max((m2 - degrees) / (n * degrees), 0.0)), tuple(interval.tolist())


def _of_items(means: Floats, pairs: NDArray[np.intp]) -> Iterator[tuple[NDArray[np.intp], Floats]]:
    """Yield the moments of each item, and their derivatives by its mean, ``(items, classes)``.

    They are its mean, at its own place, and its product with each other item.
    """
    for item in range(len(means)):
        at, gradient = np.full(len(means), item, dtype=np.intp), means.copy()
        own = np.flatnonzero((pairs == item).any(axis=0))
        at[pairs[:, own].sum(axis=0) - item] = len(means) + own
        gradient[item] = 1.0
        yield at, gradient


def _covariance(
    moments: Floats, means: Floats, variances: Floats, of_class: Floats, pairs: NDArray[np.intp]
) -> Floats:
    center = moments - (moments @ of_class)[:, None]
    covariance: Floats = (center * of_class) @ center.T
    for (at, gradient), variance in zip(_of_items(means, pairs), variances, strict=True):
        covariance[np.ix_(at, at)] += (gradient * (of_class * variance)) @ gradient.T
    both = (variances[pairs[0]] * variances[pairs[1]]) @ of_class
    spot = np.arange(len(means), len(moments))
    covariance[spot, spot] += both
    return covariance


def _slopes(classes: Classes, means: Floats, pairs: NDArray[np.intp]) -> Floats:
    """Return the derivatives of the moments by the items' parameters, ``(moments, parameters)``."""
    slopes = np.zeros((len(means) + pairs.shape[1], classes.n_parameters))
    for item, (at, gradient) in zip(classes.items, _of_items(means, pairs), strict=True):
        of_mean = np.tensordot(np.arange(len(item.chances)), item.slopes, 1)
        slopes[np.ix_(at, item.places)] += gradient @ (classes.of_class[:, None] * of_mean)
    return slopes


def _statistic(errors: Floats, covariance: Floats, slopes: Floats) -> tuple[float, int]:
    """Return M₂ and its degrees of freedom."""
    values, vectors = np.linalg.eigh(covariance)
    kept = values > _SINGULAR * values[-1]
    half = vectors[:, kept].T / np.sqrt(values[kept])[:, None]
    whitened, error = half @ slopes, half @ errors
    left, sizes, _ = np.linalg.svd(whitened, full_matrices=False)
    basis = left[:, sizes > 1e-7 * sizes.max(initial=0.0)]
    rest = error - basis @ (basis.T @ error)
    return float(rest @ rest), int(kept.sum()) - basis.shape[1]


def correlations(
    first: Floats, second: Floats, first_square: Floats, second_square: Floats, products: Floats
) -> Floats:
    """Return the correlation of each pair from its first and second moments; nan if undefined."""
    spreads = (first_square - first**2).clip(min=0.0) * (second_square - second**2).clip(min=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((products - first * second) / np.sqrt(spreads))


def _class_slopes(classes: Classes) -> Floats:
    """Return the derivatives of the classes' probabilities, ``(classes, free parameters)``."""
    of_class, eye = classes.of_class, np.eye(len(classes.of_class))
    if classes.learned.model.skills.saturated:
        largest = int(of_class.argmax())
        return np.delete(eye - eye[:, [largest]], largest, axis=1)
    # The scores of somebody whose class is known are the slopes of its log-probability.
    return of_class[:, None] * classes.skill_scores(eye)
