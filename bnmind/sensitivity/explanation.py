"""A conclusion explained: the findings that support it, and the numbers that it depends on."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from bnmind._arguments import checked
from bnmind._display import Result, Table, finite
from bnmind._messages import percent
from bnmind._values import Sealed
from bnmind.junction.inference.evidence import Evidence
from bnmind.pgm.network import Network
from bnmind.sensitivity.analysis import SensitivityAnalysis, analyze
from bnmind.sensitivity.drawing import plot_explanation
from bnmind.sensitivity.spreads import Relative
from bnmind.sensitivity.weights import WeightOfEvidence, weight_of_evidence

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

__all__ = ["ExplainedConclusion", "explain_conclusion"]


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
        return f"{self.weights.target.name}={self.weights.state}"

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
        tornado = self.tornado
        title = f"{self.conclusion}: {percent(self.weights.posterior)}"
        return plot_explanation(self.weights, tornado, title=title, n=max(1, len(tornado)))

    def to_dict(self) -> dict[str, Any]:
        """Return the explanation as a record for JSON; infinite weights are None."""
        kept = self.deviations
        record = {
            "target": self.weights.target.name,
            "state": self.weights.state,
            "prior": self.weights.prior,
            "posterior": self.weights.posterior,
            "log_evidence": self.analysis.log_evidence,
            "weight": self.weights.total,
            "findings": [
                {
                    "finding": one.finding,
                    "given_others": one.given_others,
                    "alone": one.alone,
                    "without": one.without,
                }
                for one in self.weights.findings
            ],
            "parameters": self.tornado.to_dict("records"),
            "intervals": None if kept is None else kept.to_dict("records"),
        }
        return dict(finite(record))

    def _shown(self) -> Iterator[str | Table]:
        yield from self._weights_shown()
        yield from self._parameters_shown()

    def _weights_shown(self) -> Iterator[str | Table]:
        """Yield the conclusion and the weights of the findings."""
        weights = self.weights
        likely = f"{self.conclusion} has the probability {percent(weights.posterior)}"
        if not weights.findings:
            yield f"{likely} without findings."
            return
        yield f"{likely} given the findings, and {percent(weights.prior)} without them."
        if math.isfinite(weights.total):
            side = "for" if weights.total >= 0 else "against"
            yield f"Together, the findings weigh {abs(weights.total):.2f} bits {side} it."
        else:
            yield f"The findings {'prove it' if weights.total > 0 else 'rule it out'}."
        yield "\nWeight of each finding, in bits:"
        yield Table(
            ("finding", "given the others", "alone", "probability without it"),
            [
                (one.finding, _bits(one.given_others), _bits(one.alone), percent(one.without))
                for one in weights.findings
            ],
        )

    def _parameters_shown(self) -> Iterator[str | Table]:
        """Yield the tornado, and the intervals that keep the conclusion."""
        rows: Any = list(self.tornado.itertuples(index=False))
        if not rows:
            yield f"\nNo entry of a table changes the probability of {self.conclusion}."
            return
        change = f"±{100 * self.change:g} %"
        yield f"\nProbability of {self.conclusion} if a parameter changes by {change}:"
        yield Table(
            ("parameter", "value", "changes to", "if lower", "if higher"),
            [
                (
                    str(row.parameter),
                    f"{row.value:.4g}",
                    f"{row.low:.4g} or {row.high:.4g}",
                    _chance(row.at_low),
                    _chance(row.at_high),
                )
                for row in rows
            ],
        )
        kept = self.deviations
        if kept is None:
            return
        if not len(kept):
            yield f"\nNo single parameter can make another state than {self.conclusion} likelier."
            return
        yield (f"\n{self.conclusion} stays the most probable state while a parameter is within:")
        rows = kept.itertuples(index=False)
        yield Table(
            ("parameter", "value", "from", "to"),
            [
                (str(row.parameter), f"{row.value:.4g}", f"{row.low:.4g}", f"{row.high:.4g}")
                for row in rows
            ],
        )


@checked
def explain_conclusion(
    model: Network,
    target: str,
    evidence: Evidence,
    *,
    state: Any = None,
    change: float = 0.1,
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
    Relative(change)  # raises before long work if it is no share
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


def _chance(probability: float) -> str:
    return "impossible" if math.isnan(probability) else percent(float(probability))
