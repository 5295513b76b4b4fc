"""The sensitivity analysis of a posterior: its dependence on all entries of the tables at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._values import ReadOnlyDict, Sealed
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.derivatives.gradient import covarying
from bnmind.junction.derivatives.plan import compile_derivatives
from bnmind.junction.graphs.elimination_order import GivenOrder, OrderFinder
from bnmind.junction.inference.evidence import Evidence, is_state
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.pgm.network import Network
from bnmind.pgm.tabular import TabularCPD
from bnmind.pgm.variable import Variable
from bnmind.sensitivity.findings import read_findings_of, split
from bnmind.sensitivity.functions import SensitivityFunction, TwoWayFunction, quotients
from bnmind.sensitivity.parameters import Parameter, distances, row_of, table_of, with_row
from bnmind.sensitivity.properties import Interval, MostProbable, Property, interval, intervals
from bnmind.sensitivity.ranking import frame_of, ranked
from bnmind.sensitivity.spreads import Relative, Spread

if TYPE_CHECKING:
    import pandas

__all__ = ["SensitivityAnalysis", "analyze"]


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

    def __repr__(self) -> str:
        shown = "  ".join(
            f"{state} {p:.3f}" for state, p in zip(self.target.states, self.posterior, strict=True)
        )
        return f"SensitivityAnalysis({self.target.name}: {shown}; {self.n_parameters:,} parameters)"

    @property
    def n_parameters(self) -> int:
        """The number of entries on which P(target, evidence) depends if they vary alone."""
        return int(sum(np.any(one != 0, axis=0).sum() for one in self.partials.values()))

    @property
    def conclusion(self) -> str:
        """The most probable state of the target; the first one of several."""
        return self.target.states[int(np.argmax(self.posterior))]

    @checked
    def function(self, parameter: Parameter) -> SensitivityFunction:
        """Return the posterior as a function of a parameter, whose row covaries in proportion.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            If the network has no such parameter.
        """
        place = parameter.place(self.network)
        value = float(table_of(self.network, parameter.variable).values[place])
        effects: Any = self._effects(parameter.variable)
        slopes = effects[(slice(None), *place)]
        return SensitivityFunction(
            parameter=parameter,
            value=value,
            target=self.target,
            slopes=np.array(slopes),
            constants=self.posterior - slopes * value,
        )

    @checked
    def two_way(self, first: Parameter, second: Parameter) -> TwoWayFunction:
        """Return the posterior as a function of two parameters.

        Their rows covary in proportion. Two parameters of one row leave the rest of the row to the
        others. For parameters of different tables, the network is analyzed once more.

        Raises
        ------
        UnknownNameError, InvalidArgumentError
            If the network has no such parameters, they are the same, or they are the only two
            entries of a row.
        """
        one, two = self.function(first), self.function(second)
        places = first.place(self.network), second.place(self.network)
        same_table = first.variable == second.variable
        if same_table and places[0][1:] == places[1][1:]:
            return self._in_one_row(one, two)
        both = np.zeros(len(self.posterior))
        if not same_table and np.any(one.slopes) and np.any(two.slopes):
            # The slope of the second, with the first far from its value.
            far = 0.0 if one.value > 0.5 else 1.0
            moved = self._moved_slopes(first, far, second)
            both = (moved - two.slopes) / (far - one.value)
        s, t = one.value, two.value
        along_s, along_t = one.slopes - both * t, two.slopes - both * s
        rest = self.posterior - both * s * t - along_s * s - along_t * t
        return TwoWayFunction(
            parameters=(first, second),
            values=(s, t),
            target=self.target,
            coefficients=np.stack([both, along_s, along_t, rest], axis=1),
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
        return interval(self.function(parameter), wanted or MostProbable())

    @checked
    def tornado(
        self, state: Any = None, *, spread: Spread | None = None, n: int | None = None
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
            The number of parameters; all that have any influence by default.

        Returns
        -------
        pandas.DataFrame
            A row for each parameter, the largest swing first: its name, its ``value``, the least
            and largest values ``low`` and ``high``, the posteriors ``at_low`` and ``at_high``, the
            ``swing`` (the difference of these), and the ``derivative`` at the value. Posteriors
            are NaN where the evidence is impossible.
        """
        place = self.target.index(self.conclusion if state is None else state)
        limits = spread or Relative()
        parts = []
        for cpd, effects in self._tables():
            low, high = limits(cpd.values)
            derivative = effects[place] - self.posterior[place] * effects.sum(axis=0)
            ends = [self._posteriors(effects, end - cpd.values)[place] for end in (low, high)]
            numbers = {
                "value": cpd.values,
                "low": low,
                "high": high,
                "at_low": ends[0],
                "at_high": ends[1],
                "swing": np.abs(ends[1] - ends[0]),
                "derivative": derivative,
            }
            parts.append(ranked(cpd, numbers, derivative != 0))
        return frame_of(parts, by="swing", descending=True, n=n)

    @checked
    def deviations(
        self, wanted: Property | None = None, *, n: int | None = None
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
        for cpd, effects in self._tables():
            low, high = intervals(effects, self.posterior, cpd.values, inequalities)
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
            parts.append(ranked(cpd, numbers, (low > 0) | (high < 1)))
        return frame_of(parts, by="distance", descending=False, n=n)

    def _tables(self) -> Iterator[tuple[TabularCPD, Floats]]:
        """Yield each table that matters with the effects of its entries."""
        for name in self.partials:
            yield table_of(self.network, name), self._effects(name)

    def _effects(self, name: str) -> Floats:
        """Return the derivatives of P(state, e) / P(e) along rows that covary in proportion."""
        entries = table_of(self.network, name).values
        if name not in self.partials:
            return np.zeros((len(self.posterior), *entries.shape))
        return np.stack([covarying(entries, one) for one in self.partials[name]])

    def _posteriors(self, effects: Floats, steps: Floats) -> Floats:
        """Return the posteriors after a step of each entry, ``(states, *table)``."""
        ones = (1,) * steps.ndim
        return quotients(self.posterior.reshape(-1, *ones) + effects * steps)

    def _in_one_row(self, one: SensitivityFunction, two: SensitivityFunction) -> TwoWayFunction:
        """Return the function of two entries of one row, which is linear over linear."""
        cpd = table_of(self.network, one.parameter.variable)
        place, other = one.parameter.place(self.network), two.parameter.place(self.network)
        row = row_of(cpd.values, place)
        rest = [i for i in range(len(row)) if i not in (place[0], other[0])]
        if place[0] == other[0] or not rest:
            raise InvalidArgumentError(
                f"{one.parameter} and {two.parameter} cannot vary independently of each other"
            )
        weights = row[rest]
        total = float(weights.sum())
        weights = weights / total if total > 0 else np.full(len(rest), 1 / len(rest))
        everything: Any = self.partials.get(one.parameter.variable)
        n_states = len(self.posterior)
        row_partials = (
            np.zeros((n_states, len(row)))
            if everything is None
            else everything[(slice(None), slice(None), *place[1:])]
        )
        left = row_partials[:, rest] @ weights
        along_s, along_t = row_partials[:, place[0]] - left, row_partials[:, other[0]] - left
        constant = self.posterior - along_s * one.value - along_t * two.value
        return TwoWayFunction(
            parameters=(one.parameter, two.parameter),
            values=(one.value, two.value),
            target=self.target,
            coefficients=np.stack([np.zeros(n_states), along_s, along_t, constant], axis=1),
        )

    def _moved_slopes(self, first: Parameter, value: float, second: Parameter) -> Floats:
        """Return the slopes of P(x, e) by a parameter in the network with another one moved.

        They are divided by P(e) in this network, without the move.
        """
        # P(x, e) is linear in the second parameter.
        network = with_row(self.network, first, value)
        ends = [_scaled_joint(with_row(network, second, end), self) for end in (0.0, 1.0)]
        return ends[1] - ends[0]


def _scaled_joint(network: Network, analysis: SensitivityAnalysis) -> Floats:
    """Return P(target, evidence) in a network, divided by P(evidence) in that of an analysis."""
    hard, soft = split(analysis.evidence)
    plan = compile_derivatives(
        network,
        target=analysis.target.name,
        evidence=hard,
        soft=soft,
        order=_kept(analysis.order),
        relevant_only=True,
    )
    try:
        posterior, log_evidence = plan.probabilities(analysis.evidence)
    except ImpossibleEvidenceError:
        return np.zeros(len(analysis.posterior))
    joint: Floats = posterior * np.exp(log_evidence - analysis.log_evidence)
    return joint


def _kept(order: tuple[str, ...]) -> OrderFinder | None:
    return GivenOrder(order) if order else None


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
        The search for an elimination order; by default `bnmind.junction.RandomizedGreedy`.
    limits
        The limits of the computation.

    Raises
    ------
    UnknownNameError, ImpossibleEvidenceError, TooLargeError, InvalidArgumentError
        As in `bnmind.junction.compile_derivatives` and its plan.
    """
    findings = read_findings_of(network, evidence)
    if target in findings and is_state(findings[target]):
        raise InvalidArgumentError(f"the target {target} is known: it must not be evidence", target)
    hard, soft = split(findings)
    plan = compile_derivatives(
        network,
        target=target,
        evidence=hard,
        soft=soft,
        order=order,
        limits=limits,
        relevant_only=True,
    )
    joints = plan.joints(findings)
    partials = {}
    for i, cpd in enumerate(network.cpds):
        parts = [joint.partials[i] for joint in joints]
        if isinstance(cpd, TabularCPD) and parts[0] is not None:
            partials[cpd.variable.name] = np.stack([part for part in parts if part is not None])
    return SensitivityAnalysis(
        network=network,
        target=network.variable(target),
        evidence=ReadOnlyDict(findings),
        posterior=np.array([joint.value for joint in joints]),
        log_evidence=joints[0].log_evidence,
        partials=partials,
        order=plan.tree.order.variables,
    )
