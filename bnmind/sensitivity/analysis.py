"""The sensitivity analysis of a posterior: its dependence on all entries of the tables at once.

Gradients for learning are the derivatives of the log-likelihood of cases by all entries. That by
a positive entry is its expected count divided by the entry (J. Binder, D. Koller,
S. Russell and K. Kanazawa, "Adaptive probabilistic networks with hidden variables", Machine
Learning 29, 1997). All cases pass through one circuit, whose adjoints are derivatives at entries
of zero, too. Cases whose numbers are too far apart for it, and all cases if it is too large, are
done one by one.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked
from bnmind._messages import counted, each_of
from bnmind._values import Natural, Sealed, Value
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
)
from bnmind.information import Floats
from bnmind.junction.cases.tables import distinct_cases, frame_of, read_table
from bnmind.junction.circuit import Circuit
from bnmind.junction.engine import compile_model
from bnmind.junction.gradient import Gradient, differentiate
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import Evidence, Reader, real_numbers
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.reduction import without_barren
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable
from bnmind.sensitivity.functions import (
    Interval,
    MostProbable,
    Parameter,
    Property,
    Relative,
    SensitivityFunction,
    Spread,
    TwoWayFunction,
    between,
    distances,
    draw_explanation,
    ends_of,
    first_largest,
    intervals,
    log_joint,
    moved,
    quotients,
    table_of,
    with_tables,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


_MOST_CHANGE = 600.0
"""The most that ln P(evidence) may grow by moving two parameters."""

_CORNERS = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0))
"""The extreme values of two parameters of one row."""

_ROUNDING = 1e-12
"""A difference that is smaller is rounding, as is one of a smaller share of its terms."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class SensitivityAnalysis(Sealed):
    """The dependence of a posterior on every entry of the tables that matter.

    `analyze` makes it. It holds the posterior, and the derivatives of P(target, evidence) by all
    entries; the methods only compute with these, except for `two_way`.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> analysis = analyze(network, "rain", {"wet": "yes"})
    >>> analysis
    SensitivityAnalysis(rain: no 0.308  yes 0.692; 4 parameters)
    >>> prior = analysis.function(Parameter("rain", "yes"))
    >>> prior(0.5).round(3).tolist()
    [0.1, 0.9]
    >>> print(analysis.keeping(Parameter("rain", "yes")))
    0.1 to 1
    """

    network: Network
    """The network."""
    target: Variable
    """The target."""
    evidence: Mapping[str, Any]
    """The evidence, without missing findings."""
    posterior: Floats
    """``(states,)`` the posterior of the target."""
    log_evidence: float
    """The natural logarithm of the probability of the evidence."""
    partials: Mapping[str, Floats]
    """For each table that matters an array ``(states of the target, *shape of the table)``: the
    partial derivatives of P(state, evidence) by its entries, divided by P(evidence). Entries that
    contradict the evidence are left out: see `n_parameters`."""
    limits: Limits = DEFAULT_LIMITS
    """The limits of each computation."""

    def __repr__(self) -> str:
        shown = "  ".join(
            f"{state} {p:.3f}" for state, p in zip(self.target.states, self.posterior, strict=True)
        )
        return (
            f"SensitivityAnalysis({self.target.name}: {shown};"
            f" {counted(self.n_parameters, 'parameter')})"
        )

    @property
    def n_parameters(self) -> int:
        """The number of entries on which P(target, evidence) depends if they vary alone."""
        return int(sum(np.any(one != 0, axis=0).sum() for one in self.partials.values()))

    @property
    def conclusion(self) -> str:
        """The most probable state of the target; the first one of several, up to rounding."""
        return self.target.states[first_largest(self.posterior)]

    @checked
    def in_network(self, network: Network) -> SensitivityAnalysis:
        """Return the analysis of the same question in another network of the same structure.

        Parameters
        ----------
        network
            The other network.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence is impossible there.
        """
        return analyze(network, self.target.name, self.evidence, limits=self.limits)

    @checked
    def function(self, parameter: Parameter) -> SensitivityFunction:
        """Return the posterior as a function of a parameter, whose row covaries in proportion.

        Parameters
        ----------
        parameter
            An entry of a table.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            If the network has no such parameter.
        """
        name, place = parameter.variable, parameter.place(self.network)
        entries = table_of(self.network, name).values
        ends, slopes = np.stack([self.posterior] * 2), np.zeros(self.target.n_states)
        if name in self.partials:
            here: Any = (..., *place)
            ends, slopes = (found[here] for found in ends_of(entries, self.partials[name]))
        return SensitivityFunction(
            parameter=parameter,
            value=float(entries[place]),
            target=self.target,
            posterior=self.posterior,
            slopes=slopes,
            ends=ends,
        )

    @checked
    def two_way(self, first: Parameter, second: Parameter) -> TwoWayFunction:
        """Return the posterior as a function of two parameters.

        Their rows covary in proportion. Two parameters of one row leave the rest of the row to the
        others. For parameters of different rows, two more networks are analyzed.

        Parameters
        ----------
        first
            An entry of a table.
        second
            Another entry.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            If the network has no such parameters, they are the same, or they are the only two
            entries of a row.
        CancellationError
            If the evidence is too improbable in the network for floating point.
        """
        places = [one.place(self.network) for one in (first, second)]
        tables = [table_of(self.network, one.variable) for one in (first, second)]
        in_one_row = tables[0] is tables[1] and places[0][1:] == places[1][1:]
        if in_one_row and (places[0] == places[1] or tables[0].variable.n_states < 3):
            raise InvalidArgumentError(
                f"{first} and {second} cannot vary independently of each other"
            )
        if in_one_row:
            ends = [dict(zip(places, corner, strict=True)) for corner in _CORNERS]
            joints = [self._joint(first.variable, moved(tables[0].values, end)) for end in ends]
        else:
            changed = [first.changed(self.network, s) for s in (0.0, 1.0)]
            joints = [joint for network in changed for joint in self._ends_in(network, second)]
        return TwoWayFunction(
            parameters=(first, second),
            values=(float(tables[0].values[places[0]]), float(tables[1].values[places[1]])),
            target=self.target,
            posterior=self.posterior,
            corners=np.stack(joints, axis=1),
        )

    @checked
    def keeping(self, parameter: Parameter, wanted: Property | None = None) -> Interval:
        """Return the values of a parameter that keep a property of the posterior, exactly.

        Parameters
        ----------
        parameter
            The parameter, whose row covaries in proportion.
        wanted
            The property: `MostProbable` by default, `AtLeast`, `AtMost`, or your own `Property`.
        """
        function = self.function(parameter)
        inequalities = (wanted or MostProbable()).inequalities(self.target, self.posterior)
        value = np.array(function.value)
        low, high = intervals(function.slopes, self.posterior, value, inequalities)
        return Interval(float(low), float(high), function.value)

    @checked
    def tornado(
        self, state: Any = None, *, spread: Spread | None = None, n: Natural | None = None
    ) -> pandas.DataFrame:
        """Return the parameters with the largest influence on a posterior probability.

        Parameters
        ----------
        state
            The state of the target; by default its most probable state.
        spread
            How far each parameter varies: `Relative` by default (±10 %), `Absolute`, `Odds`, or any
            function from values to least and largest values.
        n
            The number of parameters; by default all that have any influence and can vary.

        Returns
        -------
        pandas.DataFrame
            A row for each parameter, the largest swing first: its name, its ``value``, the least
            and largest values ``low`` and ``high``, the posteriors ``at_low`` and ``at_high``, the
            ``swing`` (the difference of these), and the ``derivative`` at the value. A parameter
            that only decides whether the evidence is possible is left out: no other value of it
            changes the posterior.
        """
        place = self._place(state)
        limits = spread or Relative()
        parts = []
        for cpd, both, slopes in self._tables():
            low, high = limits(cpd.values)
            derivative = slopes[place] - self.posterior[place] * slopes.sum(axis=0)
            terms = np.abs(slopes[place]) + self.posterior[place] * np.abs(slopes).sum(axis=0)
            at_low, at_high = (
                quotients(between(both, cpd.values, end, self.posterior))[place]
                for end in (low, high)
            )
            numbers = {
                "value": cpd.values,
                "low": low,
                "high": high,
                "at_low": at_low,
                "at_high": at_high,
                "swing": np.abs(at_high - at_low),
                "derivative": derivative,
            }
            parts.append((cpd, numbers, (np.abs(derivative) > _ROUNDING * terms) & (low < high)))
        return _ranked(parts, "swing", n, ascending=False)

    @checked
    def plot(
        self, state: Any = None, *, spread: Spread | None = None, n: Natural = 15, title: str = ""
    ) -> Figure:
        """Plot the parameters with the largest influence as a tornado.

        Parameters
        ----------
        state, spread, n
            As for `tornado`.
        title
            A title above the picture; none if empty.

        Raises
        ------
        InvalidArgumentError
            If no parameter has any influence.
        """
        rows = list(self.tornado(state, spread=spread, n=n).itertuples(index=False))
        posterior = float(self.posterior[self._place(state)])
        return draw_explanation((), rows, posterior, title)

    @checked
    def deviations(
        self, wanted: Property | None = None, *, n: Natural | None = None
    ) -> pandas.DataFrame:
        """Return how far each parameter may change before a property of the posterior is lost.

        Parameters
        ----------
        wanted
            As for `keeping`.
        n
            The number of parameters; by default all that can break the property.

        Returns
        -------
        pandas.DataFrame
            A row for each parameter that can break the property, the least change first: its
            name, its ``value``, the interval from ``low`` to ``high``, and the ``distance`` to the
            nearest end that is not 0 or 1, by `cd_distance`.
        """
        inequalities = (wanted or MostProbable()).inequalities(self.target, self.posterior)
        parts = []
        for cpd, _, slopes in self._tables():
            low, high = intervals(slopes, self.posterior, cpd.values, inequalities)
            ends = [
                np.where(end == border, np.inf, distances(cpd.values, end))
                for end, border in ((low, 0.0), (high, 1.0))
            ]
            numbers = {
                "value": cpd.values,
                "low": low,
                "high": high,
                "distance": np.where(low > high, 0.0, np.minimum(*ends)),
            }
            parts.append((cpd, numbers, (low > 0) | (high < 1)))
        return _ranked(parts, "distance", n, ascending=True)

    def _place(self, state: Any) -> int:
        """Return the position of a state of the target; None is the conclusion."""
        return self.target.index(self.conclusion if state is None else state)

    def _tables(self) -> Iterator[tuple[TabularCPD, Floats, Floats]]:
        """Yield each table that matters, with the `ends_of` all its entries."""
        for name, partials in self.partials.items():
            cpd = table_of(self.network, name)
            yield cpd, *ends_of(cpd.values, partials)

    def _joint(self, name: str, entries: Floats) -> Floats:
        """Return P(state, e) / P(e) with other entries in a table: it is linear in these."""
        if name not in self.partials:
            return self.posterior
        joint: Floats = np.tensordot(self.partials[name], entries, entries.ndim)
        return joint

    def _ends_in(self, network: Network, parameter: Parameter) -> Floats:
        """Return P(state, e) in a network with a parameter at 0 and 1, divided by P(e) in ours."""
        try:
            # If the evidence is possible at either end, it is possible in the middle.
            other = self.in_network(parameter.changed(network, 0.5))
        except ImpossibleEvidenceError:
            return np.zeros((2, len(self.posterior)))
        change = other.log_evidence - self.log_evidence
        if change > _MOST_CHANGE:
            raise CancellationError(
                "the probability of the evidence is too small beside that with other parameters for"
                " floating point"
            )
        ends: Floats = other.function(parameter).ends * np.exp(change)
        return ends


def _ranked(
    parts: Sequence[tuple[TabularCPD, Mapping[str, Floats], Any]],
    by: str,
    n: int | None,
    *,
    ascending: bool,
) -> pandas.DataFrame:
    """Return a row for each entry of tables that matters, sorted by one of its numbers."""
    import pandas

    if not parts:
        return pandas.DataFrame({"parameter": [], by: []})
    frames = [
        pandas.DataFrame({key: numbers[matters] for key, numbers in columns.items()}).set_index(
            np.flatnonzero(matters)
        )
        for _, columns, matters in parts
    ]
    frame = pandas.concat(frames, keys=range(len(parts)))
    frame = frame.sort_values(by, ascending=ascending, kind="stable")[:n]
    # Names take time, so that only the rows of the frame get one.
    names = []
    for table, entry in frame.index:
        cpd = parts[table][0]
        place = np.unravel_index(entry, cpd.values.shape)
        names.append(str(Parameter.at(cpd, tuple(map(int, place)))))
    frame.insert(0, "parameter", names)
    return frame.reset_index(drop=True)


@checked
def analyze(
    network: Network,
    target: str,
    evidence: Evidence | None = None,
    *,
    limits: Limits = DEFAULT_LIMITS,
) -> SensitivityAnalysis:
    """Return how the posterior of a target depends on every entry of the tables.

    Parameters
    ----------
    network
        The network. Entries of tables are its parameters; functional and noisy distributions stay
        as they are.
    target
        The variable of interest.
    evidence
        A state, a likelihood ``{state: weight}`` or a missing value for each observed variable.
    limits
        The limits of the computation.

    Raises
    ------
    UnknownNameError, ImpossibleEvidenceError, TooLargeError, InvalidArgumentError
        As in `bnmind.junction.differentiate`.
    """
    states, soft = Reader(network).evidence(evidence).in_order()
    findings = {**states, **{name: weights.copy() for name, weights in soft.items()}}
    joints = differentiate(network, target, findings, limits=limits, relevant_only=True).joints
    partials = {}
    for i, cpd in enumerate(network.cpds):
        parts = [one for joint in joints if (one := joint.partials[i]) is not None]
        if parts and isinstance(cpd, TabularCPD):
            partials[cpd.variable.name] = np.stack(parts)
    return SensitivityAnalysis(
        network=network,
        target=network.variable(target),
        evidence=findings,
        posterior=np.array([joint.value for joint in joints]),
        log_evidence=joints[0].log_evidence,
        partials=partials,
        limits=limits,
    )


@checked
def log_likelihood_gradient(
    network: Network,
    cases: Any,
    *,
    weights: ArrayLike | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Gradient:
    """Return the log-likelihood of cases and its derivatives by all entries of the tables.

    Parameters
    ----------
    network
        The network.
    cases
        A `pandas.DataFrame` with a row for each case, as for `bnmind.junction.predict`.
    weights
        The weight of each case; 1 by default.
    limits
        The limits of the computation.

    Returns
    -------
    Gradient
        Its value is Σ ln P(case). Functional and noisy distributions have no derivatives; name
        their `to_tabular` for these.

    Raises
    ------
    ImpossibleEvidenceError
        If a case has probability zero. The error names the first one.
    TableError
        If a cell holds no state of its variable, or no column matches a variable.
    InvalidArgumentError
        If the weights are not a number of at least 0 for each case.
    TooLargeError
        If the computation would exceed its limits.

    Examples
    --------
    >>> from bnmind.pgm import Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> gradient = log_likelihood_gradient(network, {"rain": ["no", "no", "yes"]})
    >>> gradient["rain"].round(3).tolist()  # the counts 2 and 1 divided by .8 and .2
    [2.5, 5.0]
    """
    table = read_table(network.variables, frame_of(cases))
    n = len(table)
    given = np.ones(n) if weights is None else real_numbers(weights, "the weights")
    if given.shape != (n,) or not np.all((given >= 0) & np.isfinite(given)):
        raise InvalidArgumentError(
            f"expected a finite weight of at least 0 for {each_of(n, 'case')}", weights
        )
    states = table.states(slice(None))
    distinct = distinct_cases(states)
    sums = np.bincount(distinct.kind, weights=given, minlength=len(distinct.first))
    first = distinct.first[sums > 0]
    rows, counts = states.T[first], sums[sums > 0].astype(np.float64)
    logs, partials = _gradients(network, rows, counts, limits)
    if len(impossible := np.flatnonzero(np.isneginf(logs))):
        place = impossible[0]
        raise ImpossibleEvidenceError(
            f"the case in row {table.frame.index[first[place]]} has probability zero, so that its"
            " logarithm has no derivative",
            _findings(network, rows[place]),
        )
    value = float(counts @ logs)
    return Gradient(model=network, value=value, log_evidence=value, partials=tuple(partials))


def _findings(network: Network, row: Any) -> dict[str, str]:
    """Return the findings of a row of state positions."""
    return {
        v.name: v.states[state]
        for v, state in zip(network.variables, row.tolist(), strict=True)
        if state >= 0
    }


def _gradients(
    network: Network, rows: Any, counts: Floats, limits: Limits
) -> tuple[Floats, list[Floats | None]]:
    """Return ln P of each case, -inf if it is impossible, and the weighted sum of all gradients."""
    partials: list[Floats | None] = [None] * len(network.cpds)
    logs, doubtful = np.empty(len(rows)), np.ones(len(rows), dtype=np.bool_)
    with suppress(TooLargeError):
        partials, answers = Circuit.of(network, limits=limits).gradient(rows, counts)
        logs, doubtful = answers.log_evidence, answers.doubtful
    for number in np.flatnonzero(doubtful).tolist():
        findings = _findings(network, rows[number])
        try:
            own = _gradient_of_case(network, findings, limits)
        except ImpossibleEvidenceError:
            logs[number] = -np.inf
            continue
        logs[number] = own.value
        for place, partial in enumerate(own.partials):
            if partial is not None:
                before = partials[place]
                partials[place] = counts[number] * partial + (0.0 if before is None else before)
    return logs, partials


def _gradient_of_case(network: Network, findings: Mapping[str, str], limits: Limits) -> Gradient:
    """Return ln P of findings with its gradient.

    An expected count keeps all digits, and gives the derivative by a positive entry. If there are
    zeros, nothing is divided; numbers that are too far apart are refused.
    """
    tables = [cpd.values if isinstance(cpd, TabularCPD) else None for cpd in network.cpds]
    if not all(np.all(values > 0) for values in tables if values is not None):
        return differentiate(network, evidence=findings, limits=limits).log_evidence
    families = [[v.name for v in cpd.scope] for cpd in network.cpds]
    plan = compile_plan(network, evidence=[*findings], targets=families, limits=limits)
    answer = plan.run(findings)
    value, pairs = answer.log_evidence, zip(tables, answer.joints, strict=True)
    partials = [None if values is None else np.real(joint) / values for values, joint in pairs]
    return Gradient(model=network, value=value, log_evidence=value, partials=tuple(partials))


# --- Bounds of a posterior if entries of tables are known only within intervals ------------------
#
# If one table is uncertain, the posterior is a quotient of two linear functions of the table, whose
# rows vary in polytopes (their intervals, and the sum one). Dinkelbach's algorithm finds its least
# and largest values exactly: for a guess λ, the table that maximizes P(x, e) − λ P(e) is found
# greedily, and its posterior is the next guess.
#
# If several tables are uncertain, the exact bounds are hard to find. Outer bounds hold for certain:
# each P(x, e) is a sum of products of entries, so that it is at most that with the largest numbers
# of all intervals, and at least that with the smallest ones. (The bounds of Chan and Darwiche, by
# the distance of tables, are never closer: they bound each of these sums by one ratio for each
# table.)
#
# The attained bounds are posteriors of real choices of all tables, found by optimizing one table
# after the other. The exact bounds lie between the attained and the outer ones.
#
# References
# ----------
# W. Dinkelbach, "On nonlinear fractional programming", Management Science 13, 1967; F. G. Cozman,
# "Credal networks", Artificial Intelligence 120, 2000; H. Chan and A. Darwiche, Int. J. Approx.
# Reasoning 38, 2005.

_Range: TypeAlias = tuple[Floats, Floats]
"""The least and the largest entries of a table."""

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
    ranges = {name: _known_range(network, name, pair) for name, pair in intervals.items()}
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


def _known_range(network: Network, name: str, pair: tuple[Any, Any]) -> _Range:
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
