"""Evidence as a mapping from names to findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bnmind.information import Floats
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import Evidence, by_name, is_missing, is_state, likelihood
from bnmind.junction.inference.limits import Limits
from bnmind.pgm.network import FactorModel, Network

__all__ = ["log_joint", "read_findings_of", "split"]

_LEAST = 1e-290
"""Smaller probabilities may have lost digits."""


def read_findings_of(model: Network | FactorModel, evidence: Evidence | None) -> dict[str, Any]:
    """Return evidence without missing findings, with states as text, likelihoods as arrays.

    Raises
    ------
    UnknownNameError
        If the model has no such variable, or a variable no such state.
    InvalidArgumentError
        If it is not a mapping.
    """
    findings: dict[str, Any] = {}
    for name, finding in by_name(evidence, "the evidence").items():
        v = model.variable(name)
        if not is_missing(finding):
            findings[v.name] = (
                v.states[v.index(finding)] if is_state(finding) else likelihood(v, finding)
            )
    return findings


def split(findings: Mapping[str, Any]) -> tuple[list[str], list[str]]:
    """Return the names of the variables with a state, and of those with a likelihood."""
    hard = [name for name, finding in findings.items() if is_state(finding)]
    return hard, [name for name in findings if name not in hard]


def log_joint(
    model: Network | FactorModel, target: str, findings: Mapping[str, Any], limits: Limits
) -> Floats:
    """Return ln P(target, findings), ``(states,)``; -inf for impossible states.

    Where a posterior probability may have underflowed, each state is evidence in turn. The target
    may have a likelihood.

    Raises
    ------
    ImpossibleEvidenceError
        If the findings are impossible. The error names those that contradict each other.
    """
    hard, soft = split(findings)
    plan = compile_plan(model, evidence=hard, soft=soft, targets=[[target]], limits=limits)
    posterior = plan.run(findings)
    if posterior.joints[0].min() > _LEAST:
        return np.asarray(np.log(posterior.joints[0]) + posterior.log_evidence)
    n = model.variable(target).n_states
    columns = {name: np.array([findings[name]] * n) for name in findings}
    columns[target] = np.diag(findings.get(target, np.ones(n)))
    likely = list(dict.fromkeys([target, *soft]))
    plan = compile_plan(model, evidence=hard, soft=likely, targets=[()], limits=limits)
    return np.asarray(plan.run_batch(columns, allow_impossible=True).log_evidence)
