r"""Absolute fit by first and second moments of the responses: M₂, RMSEA₂ and SRMSR.

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
A. Maydeu-Olivares and H. Joe, "Limited information goodness-of-fit testing in multidimensional
contingency tables", Psychometrika 2006 (M₂, eq. 9); M. Hansen, L. Cai, S. Monroe and Z. Li,
"Limited-information goodness-of-fit testing of diagnostic classification item response models", Br.
J. Math. Stat. Psychol. 2016; Y. Liu, W. Tian and T. Xin, J. Educ. Behav. Stat. 2016; L. Cai and M.
Hansen, Br. J. Math. Stat. Psychol. 2013 (ordinal items); A. Maydeu-Olivares and H. Joe, Multivar.
Behav. Res. 2014 (RMSEA₂ and its interval).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, picked, text_of
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.learning.em.e_step_table import TableExpectation, placed_sums
from bnmind.adaptive.learning.fit.standard_errors import skill_scores, table_expectation
from bnmind.adaptive.learning.learn import Learned
from bnmind.adaptive.learning.parameters.block import ItemBlock
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats

__all__ = ["MOST_ITEMS", "LimitedInformation", "block_slopes", "limited_information"]

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
    codes = learned.responses.codes[:, list(learned.model.layout.columns)]
    given = codes != MISSING
    pairs = np.array(np.triu_indices(n_items, 1))
    shared = _shared(given, pairs)
    n_of = np.diag(shared)
    if n_of[n_items:].max(initial=0) < 2 <= n_items:
        raise InvalidArgumentError(
            "M2 needs items that the same examinees answered; item_fit does not", len(codes)
        )
    expectation = table_expectation(learned)
    prior = learned.model.skills.prior(learned.parameters.skills)
    of_class = placed_sums(expectation.classes, prior, expectation.places.shape[1])
    means, variances = _moments_of_items(learned, expectation.places)
    moments = _with_products(means, pairs)
    expected = moments @ of_class
    x = np.where(given, codes, 0).astype(np.float64)
    sums = np.concatenate([x.sum(axis=0), (x.T @ x)[pairs[0], pairs[1]]])
    seen = n_of > 0
    observed = np.divide(sums, n_of, out=expected.copy(), where=seen)
    covariance = _covariance(moments, means, variances, of_class, pairs)
    slopes = _slopes(learned, expectation.places, of_class, means, pairs)
    slopes = np.concatenate([slopes, moments @ class_slopes(learned, expectation)], axis=1)
    weights = shared / np.outer(n_of, n_of).clip(min=1.0)
    m2, degrees = _statistic(
        (observed - expected)[seen], (covariance * weights)[np.ix_(seen, seen)], slopes[seen]
    )
    first, square = expected[:n_items], (means**2 + variances) @ of_class
    a, b = pairs
    modeled = _correlations(first[a], first[b], square[a], square[b], expected[n_items:])
    # Those who answered both items: Σ x_a and Σ x_a² of the first, of the second, and Σ x_a x_b.
    of_both = n_of[n_items:].clip(min=1.0)
    of_one, of_square = x.T @ given, (x**2).T @ given
    found = _correlations(
        of_one[a, b] / of_both,
        of_one[b, a] / of_both,
        of_square[a, b] / of_both,
        of_square[b, a] / of_both,
        sums[n_items:] / of_both,
    )
    differences = found - modeled
    known = differences[~np.isnan(differences)]
    srmsr = float(np.sqrt(np.mean(known**2))) if known.size else math.nan
    incomplete = int((~given).any(axis=1).sum())
    fit = _fit(m2, degrees, float(n_of[seen].mean()), srmsr)
    return replace(fit, n_examinees=len(x), n_incomplete=incomplete)


def _shared(given: NDArray[np.bool_], pairs: NDArray[np.intp]) -> Floats:
    """Return how many examinees answered the items of both of two moments."""
    who, counts = np.unique(given, axis=0, return_counts=True)
    both = np.concatenate([who, who[:, pairs[0]] & who[:, pairs[1]]], axis=1).astype(np.float64)
    shared: Floats = (both * counts[:, None]).T @ both
    return shared


def _fit(m2: float, degrees: int, n: float, srmsr: float) -> LimitedInformation:
    from scipy.optimize import brentq
    from scipy.stats import chi2, ncx2

    if degrees <= 0:
        nan = float("nan")
        return LimitedInformation(
            m2=nan,
            degrees=0,
            p_value=nan,
            rmsea2=nan,
            rmsea2_interval=(nan, nan),
            srmsr=srmsr,
            n_examinees=0,
        )

    def bound(share: float) -> float:
        """Return RMSEA₂ with the noncentrality at which P(at most this M₂) is the share."""
        if chi2.cdf(m2, degrees) <= share:
            return 0.0
        top = max(m2, 1.0)
        while ncx2.cdf(m2, degrees, top) > share:
            top *= 2
        found = brentq(lambda value: ncx2.cdf(m2, degrees, value) - share, 1e-9, top)
        return math.sqrt(found / (n * degrees))

    return LimitedInformation(
        m2=m2,
        degrees=degrees,
        p_value=float(chi2.sf(m2, degrees)),
        rmsea2=math.sqrt(max((m2 - degrees) / (n * degrees), 0.0)),
        rmsea2_interval=(bound(0.95), bound(0.05)),
        srmsr=srmsr,
        n_examinees=0,
    )


def _moments_of_items(learned: Learned, places: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """Return the mean and the variance of each item's response, ``(items, classes)``."""
    chances = learned.model.layout.response_parameters(learned.parameters.items)[places]
    means, variances = [], []
    row = 0
    for _, n_responses in learned.model.layout.shapes:
        scores = np.arange(n_responses)
        part = chances[row : row + n_responses]
        mean = scores @ part
        means.append(mean)
        variances.append(scores**2 @ part - mean**2)
        row += n_responses
    return np.array(means), np.array(variances)


def _with_products(means: Floats, pairs: NDArray[np.intp]) -> Floats:
    """Return the means and the products of all pairs of them, ``(moments, classes)``."""
    return np.concatenate([means, means[pairs[0]] * means[pairs[1]]])


def _touched(item: int, n_items: int, pairs: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the moments of an item: its mean at its own place, and its pair with each other."""
    found = np.full(n_items, item, dtype=np.intp)
    for number in np.flatnonzero((pairs == item).any(axis=0)):
        a, b = pairs[:, number]
        found[b if a == item else a] = n_items + number
    return found


def _gradient(item: int, means: Floats) -> Floats:
    """Return the derivative of the moments of `_touched` by the item's mean."""
    gradient = means.copy()
    gradient[item] = 1.0
    return gradient


def _covariance(
    moments: Floats, means: Floats, variances: Floats, of_class: Floats, pairs: NDArray[np.intp]
) -> Floats:
    center = moments - (moments @ of_class)[:, None]
    covariance: Floats = (center * of_class) @ center.T
    for item in range(len(means)):
        at, gradient = _touched(item, len(means), pairs), _gradient(item, means)
        covariance[np.ix_(at, at)] += (gradient * (of_class * variances[item])) @ gradient.T
    both = (variances[pairs[0]] * variances[pairs[1]]) @ of_class
    spot = np.arange(len(means), len(moments))
    covariance[spot, spot] += both
    return covariance


def _slopes(
    learned: Learned,
    places: NDArray[np.intp],
    of_class: Floats,
    means: Floats,
    pairs: NDArray[np.intp],
) -> Floats:
    """Return the derivatives of the moments by the items' parameters, ``(moments, parameters)``."""
    layout = learned.model.layout
    rows = np.cumsum([0, *(n for _, n in layout.shapes)])
    n_items = len(means)
    columns = []
    item = start = 0
    for block, values in zip(layout.blocks, learned.parameters.items, strict=True):
        changes = block_slopes(block, values)
        slopes = np.zeros((n_items + pairs.shape[1], changes.shape[1]))
        for _ in block.names:
            at = places[rows[item] : rows[item + 1]] - start
            scores = np.arange(len(at))
            touched, gradient = _touched(item, n_items, pairs), _gradient(item, means)
            for parameter in np.flatnonzero(np.abs(changes[np.unique(at)]).any(axis=0)):
                in_class = scores @ changes[:, parameter][at]
                slopes[touched, parameter] += gradient @ (of_class * in_class)
            item += 1
        columns.append(slopes)
        start += len(changes)
    return np.concatenate(columns, axis=1)


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


def _correlations(
    first: Floats, second: Floats, first_square: Floats, second_square: Floats, products: Floats
) -> Floats:
    """Return the correlation of each pair from its first and second moments; nan if undefined."""
    spreads = (first_square - first**2).clip(min=0.0) * (second_square - second**2).clip(min=0.0)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray((products - first * second) / np.sqrt(spreads))


# --- Slopes ---------------------------------------------------------------------------------------

_STEP = 1e-6


def block_slopes(block: ItemBlock, values: Floats) -> Floats:
    """Return the derivatives of a block's response probabilities, ``(probabilities, parameters)``.

    They are differences within the limits; parameters with equal limits have none.
    """
    columns = []
    for place, (value, (low, high)) in enumerate(zip(values.tolist(), block.limits, strict=True)):
        step = _STEP * max(1.0, abs(value))
        up, down = values.copy(), values.copy()
        up[place], down[place] = min(value + step, high), max(value - step, low)
        change = block.response_parameters(up) - block.response_parameters(down)
        width = up[place] - down[place]
        columns.append(change.reshape(-1) / width if width > 0 else np.zeros(change.size))
    size = block.response_parameters(values).size
    return np.array(columns).reshape(len(columns), size).T


def class_slopes(learned: Learned, expectation: TableExpectation) -> Floats:
    """Return the derivatives of the classes' probabilities, ``(classes, free parameters)``."""
    skills, tables = learned.model.skills, learned.parameters.skills
    n_classes = expectation.places.shape[1]
    of_class = placed_sums(expectation.classes, skills.prior(tables), n_classes)
    if skills.saturated:
        slopes = np.eye(n_classes)
        slopes[int(of_class.argmax())] -= 1.0
        return np.delete(slopes, int(of_class.argmax()), axis=1)
    # The scores of somebody whose class is known are the slopes of its log-probability.
    scores = skill_scores(learned, expectation, np.eye(n_classes))
    return of_class[:, None] * np.array(scores).reshape(len(scores), n_classes).T
