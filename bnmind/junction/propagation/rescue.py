"""Answers to cases whose numbers are too small for the kernel."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.limits import Limits
from bnmind.junction.propagation.runs import Cases
from bnmind.pgm.network import FactorModel, Network

__all__ = ["rescued"]


def rescued(
    model: Network | FactorModel,
    cases: Cases,
    case: int,
    targets: Sequence[Sequence[str]],
    *,
    limits: Limits,
) -> tuple[list[Floats | None], float]:
    """Return joint distributions in one case from a plan of its own, which keeps all digits.

    Parameters
    ----------
    model
        The model.
    cases, case
        The cases, and the number of the case.
    targets
        The variables of each joint distribution.
    limits
        The limits of the plan.

    Returns
    -------
    joints, log_evidence
        An array for each target, and the natural logarithm of the probability of the evidence;
        None for each target and −inf if the case is impossible.

    Raises
    ------
    TooLargeError
        If the plan exceeds the limits.
    """
    states = {
        v.name: int(cases.findings[case, i])
        for i, v in enumerate(model.variables)
        if cases.findings[case, i] >= 0
    }
    findings: dict[str, Any] = {}
    soft = []
    for i, v in enumerate(model.variables):
        weights = cases.likelihood(case, i, v.n_states)
        if v.name in states:
            findings[v.name] = v.states[states[v.name]]
        if weights is not None:
            soft.append((v, weights))
    hidden = [tuple(name for name in target if name not in states) for target in targets]
    asked = list(dict.fromkeys(hidden))
    scale = 0.0
    uncertain = []
    for v, weights in soft:
        if v.name in states:
            factor = float(weights[states[v.name]])
            if factor == 0.0:
                return [None] * len(targets), -math.inf
            scale += math.log(factor)
        else:
            uncertain.append(v.name)
            findings[v.name] = weights
    plan = compile_plan(model, evidence=list(states), soft=uncertain, targets=asked, limits=limits)
    try:
        posterior = plan.run(findings)
    except ImpossibleEvidenceError:
        return [None] * len(targets), -math.inf
    tables = dict(zip(asked, posterior.joints, strict=True))
    joints: list[Floats | None] = []
    sizes = {v.name: v.n_states for v in model.variables}
    for target, rest in zip(targets, hidden, strict=True):
        joint = np.zeros([sizes[name] for name in target])
        joint[tuple(states.get(name, slice(None)) for name in target)] = tables[rest]
        joints.append(joint)
    return joints, float(posterior.log_evidence) + scale
