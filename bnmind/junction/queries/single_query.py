"""A single query, which compiles a plan and runs it once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bnmind.errors import TooLargeError
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import Findings
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.network import FactorModel, Network

__all__ = ["posterior_by_plan", "run_or_restrict"]


def posterior_by_plan(
    model: Network | FactorModel,
    findings: Findings,
    targets: Iterable[tuple[str, ...]],
    limits: Limits,
) -> Posterior:
    """Return the joint distribution of each target, by a plan that is made for one query.

    Parameters
    ----------
    model
        The model.
    findings
        Valid evidence: states as text, and likelihoods.
    targets
        The names of the variables of each target.
    limits
        The limits of the computation.
    """
    states = {name: finding for name, finding in findings.items() if isinstance(finding, str)}
    soft = {name: finding for name, finding in findings.items() if name not in states}
    plan = compile_plan(
        model,
        evidence=states,
        soft=soft,
        targets=targets,
        limits=replace(limits, only_restrictions=True),
    )
    return run_or_restrict(plan, states, soft)


def run_or_restrict(plan: Plan, states: Findings, soft: Findings) -> Posterior:
    """Return the run of a plan. If the plan is too large, it is restricted to the states first."""
    try:
        return plan.run({**states, **soft})
    except TooLargeError:
        if not states:
            raise
    # The plan for these states may be much smaller.
    return plan.restrict(states).run(soft)
