"""Plans that eliminate every variable, with a separate plan for each case if necessary.

A noisy-or that is observed as false is a product of a factor for each parent; otherwise it makes
its parents dependent (see `bnmind.junction.reduction.no_effects`). A plan for the explanation or
the samples of a single case may therefore be small even if a plan for arbitrary evidence is too
large.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bnmind._values import Value
from bnmind.errors import TooLargeError
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.compile import compile_by_case
from bnmind.junction.inference.compiled_query import CompiledQuery
from bnmind.junction.inference.evidence import Findings, is_state
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.queries.backward_walk import compile_elimination
from bnmind.junction.reduction.no_effects import without_effects
from bnmind.junction.reduction.parent_divorcing import small_tables
from bnmind.pgm.network import Potential
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum

__all__ = ["Elimination"]


@dataclass(frozen=True, eq=False)
class Elimination(Value):
    """A query that eliminates all variables of a model, and its evidence variables."""

    potentials: tuple[Potential, ...]
    """The tables of the model."""
    names: tuple[str, ...]
    """Names that are not available for auxiliary variables."""
    sums_only: bool
    """Whether variables are summed out instead of maximized."""
    evidence: tuple[str, ...]
    soft: tuple[str, ...]
    order: OrderFinder | None
    """As in `compile_plan`, as are the evidence and the limits."""
    limits: Limits

    def plan(self) -> Plan:
        """Return a plan for any evidence, or one that makes a plan for each case.

        Raises
        ------
        TooLargeError
            If the plan exceeds its limits, and a plan for a single case would not be smaller.
        """
        try:
            return Plan(self._compiled(self.potentials))
        except TooLargeError as fault:
            if not self._depends_on_case():
                raise
            compiled = compile_by_case(
                self.potentials,
                evidence=self.evidence,
                soft=self.soft,
                order=self.order,
                limits=self.limits,
                cells=fault.needed,
            )
            return Plan(compiled)

    def for_case(self, plan: Plan, evidence: Findings) -> Plan:
        """Return the plan for given evidence, which its runs still take.

        This is ``plan`` itself, if it serves any evidence.
        """
        if plan.by_case is None:
            return plan
        variables = {v.name: v for potential in self.potentials for v in potential.scope}
        known = {name: state for name, state in evidence.items() if is_state(state)}
        domains = {
            name: (v.index(known[name]),) if name in known else tuple(range(v.n_states))
            for name, v in variables.items()
        }
        return Plan(self._compiled(without_effects(self.potentials, domains)))

    def _compiled(self, potentials: Sequence[Potential]) -> CompiledQuery:
        most = self.limits.table_cells
        return compile_elimination(
            small_tables(potentials, self.names, sums_only=self.sums_only, max_cells=most),
            evidence=self.evidence,
            soft=self.soft,
            order=self.order,
            limits=self.limits,
        )

    def _depends_on_case(self) -> bool:
        """Return whether a noisy extremum of several parents may be observed."""
        told_of = {*self.evidence, *self.soft}
        return any(
            isinstance(p, NoisyMaximum | NoisyMinimum)
            and p.variable.name in told_of
            and len(p.parents) > 1
            for p in self.potentials
        )
