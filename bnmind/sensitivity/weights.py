r"""The weight of evidence: the findings that support a conclusion, and those that speak against it.

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
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from bnmind._arguments import checked
from bnmind._display import frame_html
from bnmind._values import Sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.inference.evidence import Evidence, is_state
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable
from bnmind.sensitivity.ends import first_largest
from bnmind.sensitivity.findings import log_joint, read_findings_of

if TYPE_CHECKING:
    import pandas

__all__ = ["FindingWeight", "WeightOfEvidence", "weight_of_evidence"]


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
class WeightOfEvidence(Sealed):
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

    def _repr_html_(self) -> str:
        """Return the first rows as an HTML table, which notebooks display."""
        about = f"Weight of the findings for {self.target.name}={self.state}, in bits"
        return frame_html(self.to_frame(), caption=about)

    def to_frame(self) -> pandas.DataFrame:
        """Return a row for each finding: ``finding``, ``alone``, ``given_others``, ``without``."""
        import pandas

        columns = ["finding", "alone", "given_others", "without"]
        rows = [[getattr(one, name) for name in columns] for one in self.findings]
        return pandas.DataFrame(rows, columns=columns)


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
        The limits of each computation. There are two for each finding.

    Raises
    ------
    UnknownNameError, ImpossibleEvidenceError, TooLargeError, InvalidArgumentError
        As in `bnmind.junction.compile_plan` and its plan.

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
    variable = model.variable(target)
    findings = read_findings_of(model, evidence)
    if target in findings:
        raise InvalidArgumentError(f"the target {target} must not be evidence", target)
    after = log_joint(model, target, findings, limits)
    place = first_largest(after) if state is None else variable.index(state)
    before = log_joint(model, target, {}, limits)
    full, empty = _log_odds(after, place), _log_odds(before, place)
    weights = []
    for name, finding in findings.items():
        rest = {other: one for other, one in findings.items() if other != name}
        without = log_joint(model, target, rest, limits) if rest else before
        single = log_joint(model, target, {name: finding}, limits) if rest else after
        weights.append(
            FindingWeight(
                finding=finding_text(name, finding),
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


def finding_text(name: str, finding: Any) -> str:
    """Return a finding as text: a state, or that it is uncertain."""
    return f"{name}={finding}" if is_state(finding) else f"{name} (likelihood)"


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
