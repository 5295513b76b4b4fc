"""Marginal MAP: the most probable configuration of some variables, with the others summed out.

The joint distribution of the variables is the target of a plan, and its largest cell is the result.
This is exact, but only suitable for small sets of variables. The problem is harder than the most
probable explanation (NP^PP-complete), because sums and maxima do not commute.

References
----------
J. D. Park and A. Darwiche, "Complexity results and approximation strategies for MAP
explanations", Journal of Artificial Intelligence Research 21 (2004).
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import listed
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import Evidence
from bnmind.junction.inference.limits import DEFAULT_JOINT_CELLS, DEFAULT_LIMITS, Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.queries.backward_walk import told
from bnmind.junction.queries.mpe import Explanation
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

__all__ = ["MarginalMapPlan", "compile_marginal_map"]


@dataclass(frozen=True, eq=False, repr=False)
class MarginalMapPlan(Value):
    """A compiled search for the most probable states of some variables.

    `compile_marginal_map` makes such plans.
    """

    plan: Plan
    """Its one target is the joint of the variables."""

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The explained variables."""
        return self.plan.targets[0]

    def __repr__(self) -> str:
        names = ", ".join(v.name for v in self.variables)
        return f"MarginalMapPlan({names}{told(self.plan)})"

    def __str__(self) -> str:
        return str(self.plan)

    def run(self, evidence: Evidence | None = None) -> Explanation:
        """Return the most probable configuration of the variables given the evidence.

        Of equally probable configurations (up to rounding), the method returns the first in the
        order of the variables and their states.

        Parameters
        ----------
        evidence
            As for `Plan.run`, whose errors it raises.
        """
        posterior = self.plan.run(evidence)
        joint = posterior.joints[0]
        best = np.unravel_index(int(joint.argmax()), joint.shape)
        log_probability = posterior.log_evidence + math.log(joint[best])
        states = {v.name: v.states[int(i)] for v, i in zip(self.variables, best, strict=True)}
        return Explanation(states, log_probability)


@checked
def compile_marginal_map(
    model: Network | FactorModel,
    variables: Iterable[str],
    *,
    evidence: Iterable[str] = (),
    soft: Iterable[str] = (),
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
    max_joint: int = DEFAULT_JOINT_CELLS,
) -> MarginalMapPlan:
    """Return a plan for the most probable states of a small set of variables.

    Parameters
    ----------
    model
        A network, or a product of factors.
    variables
        The variables to explain, without evidence variables.
    evidence, soft, order, limits
        As in `compile_plan`.
    max_joint
        Most cells of the joint of ``variables``.

    Raises
    ------
    TooLargeError
        If the joint of ``variables`` has more than ``max_joint`` cells, or a run would exceed
        the limits.
    InvalidArgumentError
        If ``variables`` is empty, or contains a variable twice or an evidence variable.
    UnknownNameError
        If a variable is not in the model.

    Examples
    --------
    Each cause alone is more probably absent than present, but one of them must be present.

    >>> from bnmind.pgm import TabularCPD, noisy_or
    >>> flu, cold, fever = (Variable(name, ("no", "yes")) for name in ("flu", "cold", "fever"))
    >>> network = Network((TabularCPD(flu, (), [0.9, 0.1]), TabularCPD(cold, (), [0.8, 0.2]),
    ...                    noisy_or(fever, (flu, cold), [0.9, 0.3])))
    >>> plan = compile_marginal_map(network, ["flu", "cold"], evidence=["fever"])
    >>> dict(plan.run({"fever": "yes"}).states)
    {'flu': 'yes', 'cold': 'no'}
    """
    explained = [model.variable(name) for name in variables]
    observed = list(evidence)
    problems = [
        f"{v.name} cannot be both explained and evidence" for v in explained if v.name in observed
    ]
    if not explained:
        problems.append("there must be at least one variable to explain")
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
    cells = math.prod(v.n_states for v in explained)
    if cells > max_joint:
        raise TooLargeError(
            f"expected a joint of at most {max_joint:,} cells, got {cells:,} for"
            f" {', '.join(v.name for v in explained)}",
            needed=cells,
            budget=max_joint,
        )
    plan = compile_plan(
        model,
        evidence=observed,
        soft=soft,
        targets=[[v.name for v in explained]],
        order=order,
        limits=limits,
    )
    return MarginalMapPlan(plan)
