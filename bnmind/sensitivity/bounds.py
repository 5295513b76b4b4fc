"""Bounds of a posterior if entries of tables are known only within intervals.

If one table is uncertain, the posterior is a quotient of two linear functions of the table, whose
rows vary in polytopes (their intervals, and the sum one). Dinkelbach's algorithm finds its least
and largest values exactly: for a guess λ, the table that maximizes P(x, e) − λ P(e) is found
greedily, and its posterior is the next guess.

If several tables are uncertain, the exact bounds are hard to find. Outer bounds hold for certain:
each P(x, e) is a sum of products of entries, so that it is at most that with the largest numbers of
all intervals, and at least that with the smallest ones. (The bounds of Chan and Darwiche, by the
distance of tables, are never closer: they bound each of these sums by one ratio for each table.)

The attained bounds are posteriors of real choices of all tables, found by optimizing one table
after the other. The exact bounds lie between the attained and the outer ones.

References
----------
W. Dinkelbach, "On nonlinear fractional programming", Management Science 13, 1967; F. G. Cozman,
"Credal networks", Artificial Intelligence 120, 2000; H. Chan and A. Darwiche, Int. J. Approx.
Reasoning 38, 2005.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.engine import compile_model
from bnmind.junction.inference.evidence import Evidence, real_numbers
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.reduction import without_barren
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.sensitivity.analysis import SensitivityAnalysis, analyze
from bnmind.sensitivity.functions import log_joint, table_of, with_tables

_Range: TypeAlias = tuple[Floats, Floats]
"""The least and the largest entries of a table."""

_ROUNDING = 1e-12
"""A difference of entries or posteriors that is smaller is rounding."""

_MOST_ROUNDS = 3
"""The passes over all uncertain tables when several are optimized one after the other."""

_MOST_TABLES = 64
"""The most uncertain tables that are optimized for the attained bounds; the others stay."""


@dataclass(frozen=True, kw_only=True)
class PosteriorBounds(Value):
    """The bounds of a posterior probability if entries are known only within intervals."""

    low: float
    """No choice of the entries gives a smaller posterior."""
    high: float
    """No choice of the entries gives a larger posterior."""
    is_exact: bool
    """Whether the bounds are attained: one uncertain table. Otherwise they are outer bounds."""
    attained_low: float
    """The smallest posterior found for a choice of the entries; only the first 64 uncertain tables
    are optimized."""
    attained_high: float
    """The largest posterior found in the same way."""

    def __str__(self) -> str:
        if self.is_exact:
            return f"exactly from {self.low:.4g} to {self.high:.4g}"
        text = f"within {self.low:.4g} to {self.high:.4g}"
        return f"{text}; attained: {self.attained_low:.4g} to {self.attained_high:.4g}"


@checked
def posterior_bounds(
    network: Network,
    target: str,
    state: Any,
    evidence: Evidence | None = None,
    *,
    intervals: Mapping[str, tuple[Any, Any]],
    limits: Limits = DEFAULT_LIMITS,
) -> PosteriorBounds:
    """Return bounds of a posterior if entries of tables are known only within intervals.

    Parameters
    ----------
    network
        The network. Its tables with intervals may be any within these.
    target, state
        The variable and its state.
    evidence
        The findings.
    intervals
        For some variables, the least and the largest entries, as arrays of the shape of the table.
        Each row must contain a distribution. Where both are equal, the entry is known.
    limits
        The limits of the computation.

    Raises
    ------
    InvalidArgumentError
        If the intervals are not valid.
    ImpossibleEvidenceError
        If the evidence is impossible for every choice of the entries.
    UnknownNameError, TooLargeError
        As in `analyze`.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> print(posterior_bounds(network, "rain", "yes", {"wet": "yes"},
    ...                        intervals={"rain": ([0.7, 0.1], [0.9, 0.3])}))
    exactly from 0.5 to 0.7941
    """
    place = network.variable(target).index(state)
    ranges = {name: _checked(network, name, pair) for name, pair in intervals.items()}
    # In the middle, the evidence is possible if any choice makes it so.
    middles = {name: _middle(*pair) for name, pair in ranges.items()}
    analysis = analyze(with_tables(network, middles), target, evidence, limits=limits)
    uncertain = {
        name: (low, high)
        for name, (low, high) in ranges.items()
        if name in analysis.partials and np.any(low < high)
    }
    least, most = (_best(analysis, place, uncertain, sign) for sign in (-1, 1))
    low, high = (least, most) if len(uncertain) < 2 else _outer(analysis, place, uncertain)
    return PosteriorBounds(
        low=min(low, least),
        high=max(high, most),
        is_exact=len(uncertain) < 2,
        attained_low=least,
        attained_high=most,
    )


def greedy_rows(scores: Floats, low: Floats, high: Floats) -> Floats:
    """Return the table within intervals whose rows have the largest expected scores.

    Parameters
    ----------
    scores, low, high
        ``(states, …)`` the scores, the least and the largest probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> greedy_rows(np.array([1.0, 3.0]), np.array([0.25, 0.0]), np.array([1.0, 0.5])).tolist()
    [0.5, 0.5]
    """
    order = np.argsort(-scores, axis=0, kind="stable")
    least = np.take_along_axis(low, order, axis=0)
    room = np.take_along_axis(high, order, axis=0) - least
    left = 1.0 - low.sum(axis=0) - (np.cumsum(room, axis=0) - room)
    table = np.empty(low.shape)
    np.put_along_axis(table, order, least + np.clip(left, 0.0, room), axis=0)
    return table


def _best(
    analysis: SensitivityAnalysis, place: int, ranges: Mapping[str, _Range], sign: int
) -> float:
    """Return the least (sign −1) or largest posterior, by optimizing each table in turn."""
    for _ in range(_MOST_ROUNDS if len(ranges) > 1 else 1):
        before = analysis.posterior[place]
        for name, pair in islice(ranges.items(), _MOST_TABLES):
            table = _best_table(analysis, place, name, pair, sign)
            analysis = analysis.in_network(with_tables(analysis.network, {name: table}))
        if abs(analysis.posterior[place] - before) <= _ROUNDING:
            break
    return float(analysis.posterior[place])


def _best_table(
    analysis: SensitivityAnalysis, place: int, name: str, pair: _Range, sign: int
) -> Floats:
    """Return the table within intervals that is best for the posterior."""
    slopes = analysis.partials[name]
    found, value = table_of(analysis.network, name).values, float(analysis.posterior[place])
    # Each round is strictly better, and there are finitely many corners.
    for _ in range(100):
        scores = sign * (slopes[place] - value * slopes.sum(axis=0))
        candidate = greedy_rows(scores, *pair)
        parts = np.tensordot(slopes, candidate, candidate.ndim)
        total = float(parts.sum())
        better = float(parts[place] / total) if total > 0 else value
        if sign * (better - value) <= 1e-15:
            break
        found, value = candidate, better
    return found


def _outer(
    analysis: SensitivityAnalysis, place: int, ranges: Mapping[str, _Range]
) -> tuple[float, float]:
    """Return guaranteed bounds of the posterior for all choices of the entries."""
    small, large = (_log_joint(analysis, ranges, side) for side in (0, 1))
    return _share(small[place], np.delete(large, place)), _share(
        large[place], np.delete(small, place)
    )


def _log_joint(analysis: SensitivityAnalysis, ranges: Mapping[str, _Range], side: int) -> Floats:
    """Return ln P(target, evidence) with the least or the largest entries of all tables."""
    potentials = without_barren(analysis.network.cpds, {analysis.target.name, *analysis.evidence})
    factors = tuple(
        Factor(cpd.scope, ranges[name][side]) if (name := cpd.scope[0].name) in ranges else cpd
        for cpd in potentials
    )
    engine = compile_model(FactorModel(factors), limits=analysis.limits)
    try:
        return log_joint(engine, analysis.target, analysis.evidence)
    except ImpossibleEvidenceError:
        return np.full(analysis.target.n_states, -np.inf)


def _share(part: float, others: Floats) -> float:
    """Return the share of a part, from the logarithms of the part and of the others.

    It is zero if all are impossible, which no choice of entries attains.
    """
    total = np.logaddexp.reduce(others, initial=part)
    return float(np.exp(part - total)) if part > -math.inf else 0.0


def _checked(network: Network, name: str, pair: tuple[Any, Any]) -> _Range:
    """Return intervals without numbers that the sum of their row excludes."""
    cpd = table_of(network, name)
    low, high = (real_numbers(one, f"the intervals of {name}") for one in pair)
    problem = ""
    if not low.shape == high.shape == cpd.values.shape:
        problem = (
            f"expected intervals of shape {cpd.values.shape} for {name}, got {low.shape} and"
            f" {high.shape}"
        )
    elif not np.all((low >= 0) & (low <= high) & (high <= 1)):
        problem = f"the intervals of {name} must be within 0 and 1, the least number first"
    elif np.any(low.sum(axis=0) > 1 + 1e-9) or np.any(high.sum(axis=0) < 1 - 1e-9):
        problem = f"some row of the intervals of {name} contains no distribution"
    if problem:
        raise InvalidArgumentError(problem, pair)
    least = np.maximum(low, 1 - (high.sum(axis=0) - high))
    most = np.minimum(high, 1 - (low.sum(axis=0) - low))
    low, high = np.minimum(least, most), np.maximum(least, most)
    # Numbers that differ by rounding are known.
    known = high - low < _ROUNDING
    return np.where(known, high, low), high


def _middle(low: Floats, high: Floats) -> Floats:
    """Return a table whose entries lie within intervals, all at the same share of them."""
    total = (high - low).sum(axis=0)
    share = np.divide(1 - low.sum(axis=0), total, out=np.zeros(total.shape), where=total > 0)
    middle = low + np.clip(share, 0.0, 1.0) * (high - low)
    table: Floats = middle / middle.sum(axis=0)
    return table
