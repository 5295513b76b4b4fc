"""The sensitivity analysis of a posterior: its dependence on all entries of the tables at once.

Gradients for learning are the derivatives of the log-likelihood of cases by all entries. That by
a positive entry is its expected count divided by the entry (J. Binder, D. Koller,
S. Russell and K. Kanazawa, "Adaptive probabilistic networks with hidden variables", Machine
Learning 29, 1997). All cases pass through one circuit, whose adjoints are derivatives at entries
of zero, too. Cases whose numbers are too small for it, and all cases if it is too large, have plans
for what they observe.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked
from bnmind._messages import counted, each_of
from bnmind._values import Natural, Sealed
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
    TooLargeError,
)
from bnmind.information import Floats
from bnmind.junction.cases.tables import distinct_cases, frame_of, read_table
from bnmind.junction.circuit import Circuit
from bnmind.junction.engine_planning import Reader
from bnmind.junction.gradient import Gradient, compile_derivatives
from bnmind.junction.graphs import GivenOrder, OrderFinder
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import Evidence, real_numbers
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.pgm.network import Network
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
    ends_of,
    first_largest,
    intervals,
    moved,
    quotients,
    table_of,
)
from bnmind.sensitivity.pictures import draw_explanation

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


_MOST_CHANGE = 600.0
"""The most that ln P(evidence) may grow by moving two parameters."""

_CORNERS = ((0.0, 0.0), (0.0, 1.0), (1.0, 0.0), (1.0, 1.0))
"""The extreme values of two parameters."""

_ROUNDING = 1e-12
"""A difference that is smaller than this share of its terms is rounding."""


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
    order: tuple[str, ...] = field(default=())
    """The elimination order of the computation."""
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
        order = GivenOrder(self.order) if self.order else None
        return analyze(network, self.target.name, self.evidence, order=order, limits=self.limits)

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
        others. For parameters of different tables, two more networks are analyzed.

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
        in_one_table = tables[0] is tables[1]
        in_one_row = in_one_table and places[0][1:] == places[1][1:]
        if in_one_row and (places[0] == places[1] or tables[0].variable.n_states < 3):
            raise InvalidArgumentError(
                f"{first} and {second} cannot vary independently of each other"
            )
        if in_one_table:
            corners = ((0.0, 0.0), (1.0, 0.0), (0.0, 1.0)) if in_one_row else _CORNERS
            ends = [dict(zip(places, corner, strict=True)) for corner in corners]
            joints = [self._joint(first.variable, moved(tables[0].values, end)) for end in ends]
        else:
            moved_first = [first.changed(self.network, s) for s in (0.0, 1.0)]
            joints = [joint for network in moved_first for joint in self._ends_in(network, second)]
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
                "matters": (np.abs(derivative) > _ROUNDING * terms) & (low < high),
            }
            parts.append((cpd, numbers))
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
                "matters": (low > 0) | (high < 1),
            }
            parts.append((cpd, numbers))
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
    parts: Sequence[tuple[TabularCPD, Mapping[str, NDArray[Any]]]],
    by: str,
    n: int | None,
    *,
    ascending: bool,
) -> pandas.DataFrame:
    """Return a row for each entry of tables that matters, sorted by one of its numbers."""
    import pandas

    if not parts:
        return pandas.DataFrame({"parameter": [], by: []})
    frame = pandas.DataFrame(
        {key: np.concatenate([own[key].ravel() for _, own in parts]) for key in parts[0][1]}
    )
    chosen = frame[frame.pop("matters")].sort_values(by, ascending=ascending, kind="stable")[:n]
    starts = np.cumsum([0, *[cpd.values.size for cpd, _ in parts]])
    names = []
    # Names take time, so that only the rows of the frame get one.
    for entry in chosen.index.tolist():
        owner = int(np.searchsorted(starts, entry, side="right")) - 1
        cpd = parts[owner][0]
        place = np.unravel_index(entry - starts[owner], cpd.values.shape)
        names.append(str(Parameter.at(cpd, tuple(map(int, place)))))
    chosen.insert(0, "parameter", names)
    return chosen.reset_index(drop=True)


@checked
def analyze(
    network: Network,
    target: str,
    evidence: Evidence | None = None,
    *,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> SensitivityAnalysis:
    """Return how the posterior of a target depends on every entry of the tables.

    It takes one forward and as many backward passes as the target has states.

    Parameters
    ----------
    network
        The network. Entries of tables are its parameters; functional and noisy distributions stay
        as they are.
    target
        The variable of interest.
    evidence
        A state, a likelihood ``{state: weight}`` or a missing value for each observed variable.
    order
        The search for an elimination order; by default `bnmind.junction.Portfolio`.
    limits
        The limits of the computation.

    Raises
    ------
    UnknownNameError, ImpossibleEvidenceError, TooLargeError, InvalidArgumentError
        As in `bnmind.junction.compile_derivatives` and its plan.
    """
    states, soft = Reader(network).evidence(evidence).in_order()
    findings = {**states, **{name: weights.copy() for name, weights in soft.items()}}
    plan = compile_derivatives(
        network,
        target=target,
        evidence=states,
        soft=soft,
        order=order,
        limits=limits,
        relevant_only=True,
    )
    joints = plan.joints(findings)
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
        order=plan.compiled.trees[0].order.variables,
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
        Its value is Σ ln P(case). Functional distributions have no derivatives, nor have noisy ones
        if all entries of the tables are positive; name their `to_tabular` for these.

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
    # Cases with the same observed variables come together, and have one plan.
    planned = lru_cache(maxsize=1)(lambda observed: _planned(network, observed, limits))
    for number in sorted(np.flatnonzero(doubtful), key=lambda i: (rows[i] < 0).tolist()):
        findings = _findings(network, rows[number])
        try:
            own = planned(tuple(findings))(findings)
        except ImpossibleEvidenceError:
            logs[number] = -np.inf
            continue
        logs[number] = own.value
        for place, partial in enumerate(own.partials):
            if partial is not None:
                before = partials[place]
                partials[place] = counts[number] * partial + (0.0 if before is None else before)
    return logs, partials


def _planned(
    network: Network, observed: Sequence[str], limits: Limits
) -> Callable[[Mapping[str, str]], Gradient]:
    """Return a function of findings that returns their ln P with its gradient.

    An expected count keeps all digits, and gives the derivative by a positive entry. If there are
    zeros, a backward pass divides nothing; it refuses numbers that are too far apart.
    """
    tables = [cpd.values if isinstance(cpd, TabularCPD) else None for cpd in network.cpds]
    if not all(np.all(values > 0) for values in tables if values is not None):
        return compile_derivatives(network, evidence=observed, limits=limits).log_evidence
    families = [[v.name for v in cpd.scope] for cpd in network.cpds]
    plan = compile_plan(network, evidence=observed, targets=families, limits=limits)

    def by_counts(findings: Mapping[str, str]) -> Gradient:
        answer = plan.run(findings)
        value, pairs = answer.log_evidence, zip(tables, answer.joints, strict=True)
        partials = [None if values is None else np.real(joint) / values for values, joint in pairs]
        return Gradient(model=network, value=value, log_evidence=value, partials=tuple(partials))

    return by_counts
