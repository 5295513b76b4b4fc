"""Evidence as a mapping from names to findings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from bnmind.junction.inference.evidence import Evidence, by_name, is_missing, is_state, likelihood
from bnmind.pgm.network import FactorModel, Network

__all__ = ["read_findings_of", "split"]


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
