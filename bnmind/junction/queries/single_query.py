"""A single query, which compiles a plan and runs it once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from bnmind._arguments import checked
from bnmind.errors import TooLargeError
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import Evidence, by_name, read_findings
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.network import FactorModel, Network

__all__ = ["posterior"]


@checked
def posterior(
    model: Network | FactorModel,
    evidence: Evidence | None = None,
    targets: Iterable[str | Iterable[str]] | None = None,
    *,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> Posterior:
    """Return the distributions of variables given evidence.

    For many cases, compile a plan once with `compile_plan`.

    Parameters
    ----------
    model
        A network, or a product of factors.
    evidence
        A state for each observed variable, or a likelihood ``{state: weight}`` where the
        observation is uncertain. None and NaN mean that nothing was observed. A mapping or a
        `pandas.Series`.
    targets
        The variables of interest, by name; a tuple of names for a joint distribution. By default
        every variable without a state in the evidence.
    order
        The search for an elimination order; by default `RandomizedGreedy`.
    limits
        The limits of the computation, as in `compile_plan`.

    Raises
    ------
    UnknownNameError
        If the model has no such variable, or the variable no such state.
    ImpossibleEvidenceError
        If the evidence has probability zero. The error names findings that contradict each other.
    TooLargeError
        If the computation would exceed its limits. The error is raised before the computation.
    InvalidArgumentError
        If the evidence or the targets are not valid.
    CancellationError
        As in `Plan.run`.

    Examples
    --------
    >>> from bnmind.pgm import Network, TabularCPD, Variable
    >>> rain, wet = Variable("rain", ("no", "yes")), Variable("wet", ("no", "yes"))
    >>> network = Network((TabularCPD(rain, (), [0.8, 0.2]),
    ...                    TabularCPD(wet, (rain,), [[0.9, 0.1], [0.1, 0.9]])))
    >>> posterior(network, {"wet": "yes"})
    Posterior(1 target, log_evidence=-1.34707)
    rain  no 0.308  yes 0.692
    >>> round(posterior(network, targets=[("wet", "rain")])["wet", "rain"]["yes", "no"], 3)
    0.08
    """
    evidence_by_name = by_name(evidence, "the evidence")
    findings = read_findings(
        evidence_by_name, (), [model.variable(name) for name in evidence_by_name]
    )
    states = {name: finding for name, finding in findings.items() if isinstance(finding, str)}
    plan = compile_plan(
        model,
        evidence=states,
        soft=[name for name in findings if name not in states],
        targets=None if targets is None else _scopes(targets),
        order=order,
        limits=replace(limits, only_restrictions=True),
    )
    try:
        return plan.run(findings)
    except TooLargeError:
        if not states:
            raise
    # The plan restricted to the states of the evidence may be much smaller.
    rest = {name: finding for name, finding in findings.items() if name not in states}
    return plan.restrict(states).run(rest)


def _scopes(targets: Iterable[str | Iterable[str]]) -> list[tuple[str, ...]]:
    """Return the variables of each target."""
    return [(target,) if isinstance(target, str) else tuple(target) for target in targets]
