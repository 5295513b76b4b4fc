r"""A conclusion explained: the findings that support it, and the numbers that it depends on.

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
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite, picked
from bnmind._messages import percent
from bnmind._values import NonNegative, Sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.engine import compile_model
from bnmind.junction.inference.evidence import Evidence, Reader
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable
from bnmind.sensitivity.analysis import SensitivityAnalysis, analyze
from bnmind.sensitivity.functions import Relative, draw_explanation, first_largest, log_joint

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


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
