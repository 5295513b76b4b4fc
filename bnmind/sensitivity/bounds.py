"""Bounds of a posterior if entries of tables are known only within intervals.

If one row is uncertain, the posterior is a quotient of two linear functions of the row, and the row
varies in a polytope (its intervals, and the sum one). Dinkelbach's algorithm finds its least and
largest values exactly: for a guess λ, the row that maximizes P(x, e) − λ P(e) is found greedily,
and its posterior is the next guess.

If several rows are uncertain, the exact bounds are hard to find. Two outer bounds hold for certain,
and the better one is taken:

* Each P(x, e) is a sum of products of entries. It is at most that with the largest numbers of all
  intervals, and at least that with the smallest ones.
* The odds of x change at most by the factor exp(D), where D sums the largest logarithmic ratio
  minus the smallest one of the entries of each uncertain table (Chan & Darwiche 2005).

The attained bounds are posteriors of real choices of all rows, found by optimizing one row after
the other. The exact bounds lie between the attained and the outer ones.

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
from typing import Any, NamedTuple

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import listed
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.derivatives.compile import compile_derivatives
from bnmind.junction.derivatives.plan import DerivativePlan
from bnmind.junction.graphs import GivenOrder
from bnmind.junction.inference.evidence import Evidence, is_state, real_numbers
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.reduction import without_barren
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.sensitivity.functions import log_joint, other_rows, read_findings_of, split, table_of

_ROUNDING = 1e-15
"""A rest of a row that is smaller is rounding."""

_MOST_ROUNDS = 3
"""The passes over all uncertain rows when several rows are optimized one after the other."""

_MOST_ROWS = 64
"""The most uncertain rows that are optimized for the attained bounds; the others stay."""


@dataclass(frozen=True, kw_only=True)
class PosteriorBounds(Value):
    """The bounds of a posterior probability if entries are known only within intervals."""

    low: float
    """No choice of the entries gives a smaller posterior."""
    high: float
    """No choice of the entries gives a larger posterior."""
    is_exact: bool
    """Whether the bounds are attained: one uncertain row. Otherwise they are outer bounds."""
    attained_low: float
    """The smallest posterior found for a choice of the entries; only the first 64 uncertain rows
    are optimized."""
    attained_high: float
    """The largest posterior found in the same way."""

    def __str__(self) -> str:
        if self.is_exact:
            return f"exactly from {self.low:.4g} to {self.high:.4g}"
        text = f"within {self.low:.4g} to {self.high:.4g}"
        return f"{text}; attained: {self.attained_low:.4g} to {self.attained_high:.4g}"


class _Row(NamedTuple):
    """An uncertain row of a table."""

    name: str
    place: tuple[int, ...]
    low: Floats
    high: Floats


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
        The network. Rows outside of their intervals are moved into them first.
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
        If the evidence is impossible in the network and in the middle of the intervals.
    UnknownNameError, TooLargeError
        As in `analyze`.

    Examples
    --------
    >>> from bnmind.pgm import Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> print(posterior_bounds(network, "rain", "yes", {"wet": "yes"},
    ...                        intervals={"rain": ([0.7, 0.1], [0.9, 0.3])}))
    exactly from 0.5 to 0.7941
    """
    place = network.variable(target).index(state)
    findings = read_findings_of(network, evidence)
    if target in findings and is_state(findings[target]):
        raise InvalidArgumentError(f"the target {target} is known: it must not be evidence", target)
    ranges = {name: _checked(network, name, pair) for name, pair in intervals.items()}
    start = _inside(network, ranges)
    needed = {target, *findings}
    relevant = {
        cpd.variable.name
        for cpd in without_barren(network.cpds, needed)
        if not isinstance(cpd, Factor)
    }
    rows = [row for name, pair in ranges.items() if name in relevant for row in _rows(name, *pair)]
    search = _Search(start, (target, place), findings, limits)
    if rows and not search.is_possible():
        # A choice inside of the intervals may make it possible.
        start = _inside(_middle(network, ranges), ranges)
        search = _Search(start, (target, place), findings, limits)
    if not rows:
        value = search.posterior(start)
        return PosteriorBounds(
            low=value, high=value, is_exact=True, attained_low=value, attained_high=value
        )
    attained = [search.best(rows, sign) for sign in (-1, 1)]
    if len(rows) == 1:
        return PosteriorBounds(
            low=attained[0],
            high=attained[1],
            is_exact=True,
            attained_low=attained[0],
            attained_high=attained[1],
        )
    used = {name: pair for name, pair in ranges.items() if name in relevant}
    low, high = search.outer(used)
    return PosteriorBounds(
        low=min(low, attained[0]),
        high=max(high, attained[1]),
        is_exact=False,
        attained_low=attained[0],
        attained_high=attained[1],
    )


def greedy_row(scores: Floats, low: Floats, high: Floats) -> Floats:
    """Return the distribution within intervals with the largest expected score.

    Parameters
    ----------
    scores, low, high
        ``(states,)`` the scores, the least and the largest probabilities.

    Examples
    --------
    >>> import numpy as np
    >>> greedy_row(np.array([1.0, 3.0]), np.array([0.25, 0.0]), np.array([1.0, 0.5])).tolist()
    [0.5, 0.5]
    """
    row = low.astype(np.float64)
    left = 1.0 - float(low.sum())
    for i in np.argsort(-scores, kind="stable").tolist():
        if left <= _ROUNDING:
            break
        more = min(left, float(high[i] - low[i]))
        row[i] += max(more, 0.0)
        left -= max(more, 0.0)
    return row


class _Search:
    """The posterior of networks of one structure, and the search for its extremes."""

    def __init__(
        self,
        network: Network,
        asked: tuple[str, int],
        findings: Mapping[str, Any],
        limits: Limits,
    ) -> None:
        self.network = network
        self.target, self.place = asked
        self.findings = findings
        self.limits = limits
        self.order: tuple[str, ...] = ()

    def plan(self, model: Network | FactorModel) -> DerivativePlan:
        """Return the plan of a model of the structure."""
        hard, soft = split(self.findings)
        plan = compile_derivatives(
            model,
            target=self.target,
            evidence=hard,
            soft=soft,
            order=GivenOrder(self.order) if self.order else None,
            limits=self.limits,
            relevant_only=True,
        )
        self.order = plan.tree.order.variables
        return plan

    def posterior(self, network: Network) -> float:
        """Return the posterior in a network."""
        return float(self.plan(network).probabilities(self.findings)[0][self.place])

    def is_possible(self) -> bool:
        """Return whether the evidence is possible in the network."""
        try:
            self.posterior(self.network)
        except ImpossibleEvidenceError:
            return False
        return True

    def best(self, rows: list[_Row], sign: int) -> float:
        """Return the least (sign −1) or largest posterior found by optimizing each row in turn."""
        network, value = self.network, self.posterior(self.network)
        for _ in range(_MOST_ROUNDS if len(rows) > 1 else 1):
            before = value
            for row in rows[:_MOST_ROWS]:
                network, value = self._with_best_row(network, row, sign)
            if abs(value - before) <= 1e-12:
                break
        return value

    def _with_best_row(self, network: Network, row: _Row, sign: int) -> tuple[Network, float]:
        """Return the network with the row that is best for the posterior, and the posterior."""
        gradients = self.plan(network).joints(self.findings)
        number = next(i for i, cpd in enumerate(network.cpds) if cpd.variable.name == row.name)
        cpd = table_of(network, row.name)
        at: Any = (slice(None), *row.place)
        now = cpd.values[at]
        posterior = np.array([gradient.value for gradient in gradients])
        slopes, constants = np.zeros((len(gradients), len(now))), posterior
        parts = [one for gradient in gradients if (one := gradient.partials[number]) is not None]
        if parts:
            partials: Any = np.stack(parts)
            slopes = partials[(slice(None), *at)]
            # Not the posterior minus the part of the row, which leaves a rest in place of zero.
            constants = other_rows(cpd.values, partials, [(0, *row.place)])
        found, value = now, float(posterior[self.place])
        # Each round is strictly better, and there are finitely many corners.
        for _ in range(100):
            scores = sign * (slopes[self.place] - value * slopes.sum(axis=0))
            candidate = greedy_row(scores, row.low, row.high)
            joint = slopes @ candidate + constants
            total = float(joint.sum())
            better = float(joint[self.place] / total) if total > 0 else value
            if sign * (better - value) <= 1e-15:
                break
            found, value = candidate, better
        table = cpd.values.copy()
        table[at] = found
        other = TabularCPD(cpd.variable, cpd.parents, table)
        return Network(tuple(other if one is cpd else one for one in network.cpds)), value

    def outer(self, ranges: Mapping[str, tuple[Floats, Floats]]) -> tuple[float, float]:
        """Return guaranteed bounds of the posterior for all choices of the entries."""
        small, large = (self._log_joint(self._model(ranges, side)) for side in (0, 1))
        here = self.posterior(self.network)
        rest = [i for i in range(len(small)) if i != self.place]
        low = _share(float(small[self.place]), _log_sum(large[rest]))
        high = _share(float(large[self.place]), _log_sum(small[rest]))
        distance = sum(
            _distance(table_of(self.network, name).values, *pair) for name, pair in ranges.items()
        )
        if 0 < here < 1 and math.isfinite(distance):
            log_odds = math.log(here) - math.log1p(-here)
            low = max(low, _share(log_odds - distance, 0.0))
            high = min(high, _share(log_odds + distance, 0.0))
        return low, high

    def _model(self, ranges: Mapping[str, tuple[Floats, Floats]], side: int) -> FactorModel:
        """Return the model with the least or the largest entries in place of all tables."""
        relevant = without_barren(self.network.cpds, {self.target, *self.findings})
        factors: list[Any] = []
        for cpd in relevant:
            if not isinstance(cpd, Factor) and cpd.variable.name in ranges:
                factors.append(Factor(cpd.scope, ranges[cpd.variable.name][side]))
            else:
                factors.append(cpd)
        return FactorModel(tuple(factors))

    def _log_joint(self, model: FactorModel) -> Floats:
        """Return ln P(target, evidence) of a model whose rows need not sum to one."""
        try:
            return log_joint(model, self.target, self.findings, self.limits)
        except ImpossibleEvidenceError:
            return np.full(self.network.variable(self.target).n_states, -np.inf)


def _log_sum(logarithms: Floats) -> float:
    """Return the logarithm of a sum."""
    return float(np.logaddexp.reduce(logarithms, initial=-np.inf))


def _share(part: float, rest: float) -> float:
    """Return the share of a part, from the logarithms of the part and of the rest.

    It is zero if both are impossible, which no choice of entries attains.
    """
    if part == -math.inf:
        return 0.0
    return 1 / (1 + math.exp(rest - part)) if rest - part < 700 else 0.0


def _distance(entries: Floats, low: Floats, high: Floats) -> float:
    """Return the largest distance of Chan and Darwiche from a table to one within intervals."""
    with np.errstate(divide="ignore", invalid="ignore"):
        up = np.where(entries > 0, np.log(high) - np.log(entries), np.where(high > 0, np.inf, 0))
        down = np.where(entries > 0, np.log(low) - np.log(entries), 0.0)
    return float(up.max(initial=0.0) - down.min(initial=0.0))


def _rows(name: str, low: Floats, high: Floats) -> list[_Row]:
    """Return the rows of a table in which some entry is uncertain."""
    uncertain = np.any(high - low > 0, axis=0)
    rows = []
    for at in np.argwhere(uncertain):
        place = tuple(at.tolist())
        row: Any = (slice(None), *place)
        rows.append(_Row(name, place, low[row], high[row]))
    return rows


def _checked(network: Network, name: str, pair: tuple[Any, Any]) -> tuple[Floats, Floats]:
    """Return intervals without numbers that the sum of their row excludes."""
    cpd = table_of(network, name)
    low, high = (real_numbers(one, f"the intervals of {name}") for one in pair)
    problems = [
        f"expected intervals of shape {cpd.values.shape} for {name}, got {one.shape}"
        for one in (low, high)
        if one.shape != cpd.values.shape
    ]
    if not problems:
        if not np.all((low >= 0) & (low <= high) & (high <= 1)):
            problems.append(
                f"the intervals of {name} must be within 0 and 1, the least number first"
            )
        elif np.any(low.sum(axis=0) > 1 + 1e-9) or np.any(high.sum(axis=0) < 1 - 1e-9):
            problems.append(f"some row of the intervals of {name} contains no distribution")
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
    least = np.maximum(low, 1 - (high.sum(axis=0) - high))
    most = np.minimum(high, 1 - (low.sum(axis=0) - low))
    low, high = np.minimum(least, most), np.maximum(least, most)
    # Numbers that differ by rounding are known.
    known = high - low < 1e-12
    return np.where(known, high, low), high


def _middle(network: Network, ranges: Mapping[str, tuple[Floats, Floats]]) -> Network:
    """Return the network with the middle of all intervals, scaled so that rows sum to one."""
    cpds: list[Any] = []
    for cpd in network.cpds:
        if cpd.variable.name in ranges and isinstance(cpd, TabularCPD):
            table = np.add(*ranges[cpd.variable.name])
            cpd = TabularCPD(cpd.variable, cpd.parents, table / table.sum(axis=0))
        cpds.append(cpd)
    return Network(tuple(cpds))


def _inside(network: Network, ranges: Mapping[str, tuple[Floats, Floats]]) -> Network:
    """Return the network with rows outside of their intervals moved into them."""
    cpds: list[Any] = []
    for cpd in network.cpds:
        if cpd.variable.name not in ranges or not isinstance(cpd, TabularCPD):
            cpds.append(cpd)
            continue
        low, high = ranges[cpd.variable.name]
        table = np.clip(cpd.values, low, high)
        # Between the least and the largest entries there is a point with the sum one.
        excess = table.sum(axis=0) - 1
        room = np.where(excess > 0, table - low, high - table)
        total = room.sum(axis=0)
        share = np.divide(excess, total, out=np.zeros(excess.shape), where=total > 0)
        table = table - np.abs(share) * np.sign(excess) * room
        table = np.clip(table, 0.0, 1.0)
        cpds.append(TabularCPD(cpd.variable, cpd.parents, table / table.sum(axis=0)))
    return Network(tuple(cpds))
