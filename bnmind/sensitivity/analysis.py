r"""The sensitivity of a posterior to all entries of the tables, and conclusions explained.

The weight of findings e for a hypothesis h is the logarithm of a likelihood ratio, in bits. It is
the change of the log-odds of the hypothesis:

.. math:: W(h : e) = \log_2 \frac{P(e|h)}{P(e|\bar h)} = \log_2 \frac{O(h|e)}{O(h)}

The weight of a single finding depends on the others. Two numbers describe it: its weight *alone*,
and its weight *given the others*, that is, the log-odds with all findings minus those with the
finding left out.

References
----------
I. J. Good, "Weight of evidence: a brief survey", Bayesian Statistics 2, 1985; D. Madigan, K.
Mosurski and R. G. Almond, "Graphical explanation in belief networks", J. Comput. Graph. Stat. 6,
1997.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, picked
from bnmind._messages import counted, percent
from bnmind._values import Natural, NonNegative, Sealed
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
)
from bnmind.information import Floats
from bnmind.junction.engine import compile_model
from bnmind.junction.evidence import Evidence, Reader
from bnmind.junction.gradient import differentiate
from bnmind.junction.limits import DEFAULT_LIMITS, Limits
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


# --- Conclusions explained: the weights of the findings, and the entries that matter most ---------


@dataclass(frozen=True, kw_only=True)
class FindingWeight:
    """The weight of a finding for a hypothesis, in bits; positive if it supports the hypothesis."""

    finding: str
    """The finding, such as ``wet=yes``."""
    alone: float
    """Its weight if there are no other findings."""
    given_others: float
    """Its weight given all other findings."""
    without: float
    """The posterior probability of the hypothesis without this finding."""


@dataclass(frozen=True, eq=False, kw_only=True)
class WeightOfEvidence(Result, Sealed):
    """The weight of all findings for a hypothesis, and of each of them, in bits."""

    target: Variable
    """The target."""
    state: str
    """The hypothesis is that the target is in this state."""
    prior: float
    """Its probability without findings."""
    posterior: float
    """Its probability given all findings."""
    total: float
    """The weight of all findings together."""
    findings: tuple[FindingWeight, ...]
    """The weight of each finding, the largest given the others first."""

    @property
    def conclusion(self) -> str:
        """The conclusion, such as ``lung=yes``."""
        return f"{self.target.name}={self.state}"

    @checked
    def plot(self, *, title: str = "") -> Figure:
        """Plot the weight of each finding, given the others.

        Parameters
        ----------
        title
            A title above the picture; none if empty.

        Raises
        ------
        InvalidArgumentError
            If there are no findings.
        """
        return draw_explanation(self.findings, (), self.posterior, title)

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each finding: ``finding``, ``alone``, ``given_others``, ``without``."""
        import pandas

        columns = ["finding", "alone", "given_others", "without"]
        return pandas.DataFrame([picked(one, *columns) for one in self.findings], columns=columns)

    def to_dict(self) -> dict[str, Any]:
        """Return the weights as a record for JSON; infinite ones are None."""
        record = picked(self, "state", "prior", "posterior", weight="total")
        columns = ["finding", "given_others", "alone", "without"]
        findings = [picked(one, *columns) for one in self.findings]
        return dict(finite({"target": self.target.name, **record, "findings": findings}))

    def _shown(self) -> Iterator[str | Table]:
        likely = f"{self.conclusion} has the probability {percent(self.posterior)}"
        if not self.findings:
            yield f"{likely} without findings."
            return
        yield f"{likely} given the findings, and {percent(self.prior)} without them."
        if math.isfinite(self.total):
            side = "for" if self.total >= 0 else "against"
            yield f"Together, the findings weigh {abs(self.total):.2f} bits {side} it."
        else:
            yield f"The findings {'prove it' if self.total > 0 else 'rule it out'}."
        yield "\nWeight of each finding, in bits:"
        rows = [
            (one.finding, _bits(one.given_others), _bits(one.alone), percent(one.without))
            for one in self.findings
        ]
        yield Table(("finding", "given the others", "alone", "probability without it"), rows)


@checked
def weight_of_evidence(
    model: Network | FactorModel,
    target: str,
    evidence: Evidence,
    *,
    state: Any = None,
    limits: Limits = DEFAULT_LIMITS,
) -> WeightOfEvidence:
    """Return which findings support the conclusion that a target is in a state.

    Parameters
    ----------
    model
        The model.
    target
        The variable of the conclusion.
    evidence
        The findings: a state or a likelihood of each observed variable.
    state
        The conclusion; by default the most probable state given the evidence.
    limits
        The limits of each computation. There are some for each finding.

    Raises
    ------
    UnknownNameError, ImpossibleEvidenceError, TooLargeError, InvalidArgumentError
        As in `bnmind.junction.Engine.posterior`; and if the target is evidence.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> weights = weight_of_evidence(network, "rain", {"wet": "yes"})
    >>> weights.state, round(weights.total, 3)  # log2(0.9 / 0.1)
    ('yes', 3.17)
    """
    engine, variable = compile_model(model, limits=limits), model.variable(target)
    states, soft = Reader(model).evidence(evidence).in_order()
    findings: dict[str, Any] = {**states, **soft}
    if target in findings:
        raise InvalidArgumentError(f"the target {target} must not be evidence", target)
    after, before = (log_joint(engine, variable, seen) for seen in (findings, {}))
    place = first_largest(after) if state is None else variable.index(state)
    full, empty = _log_odds(after, place), _log_odds(before, place)
    weights = []
    for name, finding in findings.items():
        rest = {other: one for other, one in findings.items() if other != name}
        without, single = (log_joint(engine, variable, seen) for seen in (rest, {name: finding}))
        weights.append(
            FindingWeight(
                finding=f"{name}={finding}" if name in states else f"{name} (likelihood)",
                alone=_difference(_log_odds(single, place), empty),
                given_others=_difference(full, _log_odds(without, place)),
                without=_chance(without, place),
            )
        )
    return WeightOfEvidence(
        target=variable,
        state=variable.states[place],
        prior=_chance(before, place),
        posterior=_chance(after, place),
        total=_difference(full, empty),
        findings=tuple(sorted(weights, key=lambda one: -one.given_others)),
    )


def _log_odds(logs: Floats, place: int) -> float:
    """Return the log-odds of a state, in bits."""
    # Not one minus the probability, which loses digits.
    others = np.logaddexp.reduce(np.delete(logs, place), initial=-np.inf)
    return float(logs[place] - others) / math.log(2)


def _chance(logs: Floats, place: int) -> float:
    """Return the probability of a state."""
    return float(np.exp(logs[place] - np.logaddexp.reduce(logs)))


def _difference(after: float, before: float) -> float:
    """Return the change of log-odds; none between equal certainties."""
    return 0.0 if after == before else after - before


@dataclass(frozen=True, eq=False, kw_only=True)
class ExplainedConclusion(Result, Sealed):
    """What a conclusion depends on, findings and numbers. Created by `explain_conclusion`."""

    weights: WeightOfEvidence
    """The conclusion, and the weight of each finding for it."""
    analysis: SensitivityAnalysis
    """The dependence of the posterior on the tables."""
    change: float
    """The share by which each parameter varies."""
    parameters: int
    """The most parameters that are shown."""

    @property
    def conclusion(self) -> str:
        """The conclusion, such as ``lung=yes``."""
        return self.weights.conclusion

    @property
    def tornado(self) -> pandas.DataFrame:
        """The parameters with the largest influence; see `SensitivityAnalysis.tornado`."""
        spread = Relative(self.change)
        return self.analysis.tornado(self.weights.state, spread=spread, n=self.parameters)

    @property
    def deviations(self) -> pandas.DataFrame | None:
        """The values that keep the conclusion the most probable state; None if it is not."""
        if self.weights.state != self.analysis.conclusion:
            return None
        return self.analysis.deviations(n=self.parameters)

    def plot(self) -> Figure:
        """Plot the weights of the findings above the tornado of the parameters."""
        weights, rows = self.weights, list(self.tornado.itertuples(index=False))
        title = f"{self.conclusion}: {percent(weights.posterior)}"
        return draw_explanation(weights.findings, rows, weights.posterior, title)

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a record for JSON; infinite weights are None."""
        kept = self.deviations
        numbers = {
            "log_evidence": self.analysis.log_evidence,
            "parameters": self.tornado.to_dict("records"),
            "intervals": None if kept is None else kept.to_dict("records"),
        }
        return self.weights.to_dict() | dict(finite(numbers))

    def _shown(self) -> Iterator[str | Table]:
        yield from self.weights._shown()
        found: list[Any] = list(self.tornado.itertuples(index=False))
        if not found:
            yield f"\nNo entry of a table changes the probability of {self.conclusion}."
            return
        change = f"±{100 * self.change:g} %"
        yield f"\nProbability of {self.conclusion} if a parameter changes by {change}:"
        rows = []
        for one in found:
            ends = _percent_of(one.at_low), _percent_of(one.at_high)
            low_or_high = f"{one.low:.4g} or {one.high:.4g}"
            rows.append([one.parameter, f"{one.value:.4g}", low_or_high, *ends])
        yield Table(("parameter", "value", "changes to", "if lower", "if higher"), rows)
        kept = self.deviations
        if kept is None:
            return
        if not len(kept):
            yield f"\nNo single parameter can make another state than {self.conclusion} likelier."
            return
        yield f"\n{self.conclusion} stays the most probable state while a parameter is within:"
        found = list(kept.itertuples(index=False))
        rows = [
            [one.parameter, f"{one.value:.4g}", f"{one.low:.4g}", f"{one.high:.4g}"]
            for one in found
        ]
        yield Table(("parameter", "value", "from", "to"), rows)


@checked
def explain_conclusion(
    model: Network,
    target: str,
    evidence: Evidence,
    *,
    state: Any = None,
    change: NonNegative = 0.1,
    parameters: int = 10,
) -> ExplainedConclusion:
    """Return the findings that support a conclusion, and the numbers that it depends on.

    Parameters
    ----------
    model
        The network.
    target
        The variable of the conclusion.
    evidence
        The findings, as for `weight_of_evidence`.
    state
        The conclusion; by default the most probable state given the evidence.
    change
        The share by which each parameter varies, as for `Relative`.
    parameters
        The most parameters that are shown.

    Raises
    ------
    UnknownNameError, ImpossibleEvidenceError, TooLargeError, InvalidArgumentError
        As in `weight_of_evidence` and `analyze`.

    Examples
    --------
    >>> from bnmind.pgm import TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> explained = explain_conclusion(network, "rain", {"wet": "yes"})
    >>> explained.conclusion, round(explained.weights.total, 2)
    ('rain=yes', 3.17)
    """
    return ExplainedConclusion(
        weights=weight_of_evidence(model, target, evidence, state=state),
        analysis=analyze(model, target, evidence),
        change=change,
        parameters=parameters,
    )


def _bits(weight: float) -> str:
    if math.isinf(weight):
        return "proves it" if weight > 0 else "rules it out"
    return f"{round(weight, 2) + 0.0:+.2f}"  # no negative zero


def _percent_of(probability: float) -> str:
    return "impossible" if math.isnan(probability) else percent(float(probability))
