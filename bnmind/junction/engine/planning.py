"""The plans of an engine: each is made when a question first needs it, and then remembered.

A plan serves one kind of question about one choice of targets and of variables with hard and with
soft evidence, in any states. The compilers of rare questions are imported when they are needed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any

from bnmind._messages import one_line
from bnmind.errors import TooLargeError
from bnmind.junction.engine.plan_bytes import plan_bytes
from bnmind.junction.engine.plan_store import PlanStore, Stored
from bnmind.junction.engine.reading import Scopes, Seen
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.compile import compile_plan, interaction_graph
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import Plan
from bnmind.junction.inference.posterior import Posterior
from bnmind.junction.queries.single_query import run_or_restrict
from bnmind.junction.triangulation.greedy import quick_cells
from bnmind.pgm.network import FactorModel, Network

if TYPE_CHECKING:
    from bnmind.junction.branch_and_bound.search import ExplanationSearch
    from bnmind.junction.queries.marginal_map import MarginalMapPlan
    from bnmind.junction.queries.mpe import Explanation, ExplanationPlan
    from bnmind.junction.queries.sampling import SamplingPlan
    from bnmind.junction.slicing.sliced_plan import SlicedPlan

__all__ = ["Planner"]

# --- The question that a plan answers, in one line, as ``P(lung | xray, smoke?)`` -----------------
#
#

_MOST = 4
"""The most names that are shown on each side."""

_LONGEST = 24
"""The most characters of a name."""


def question_text(
    kind: str,
    targets: Sequence[Sequence[str]] | None,
    hard: Sequence[str],
    soft: Sequence[str],
) -> str:
    """Return a question as text, with ``?`` after variables of soft evidence.

    Parameters
    ----------
    kind
        The name of the method that asks.
    targets
        The variables of each target; None for all variables.
    hard, soft
        The variables of the evidence.

    Examples
    --------
    >>> question_text("posterior", [["tub"], ["lung", "smoke"]], ["xray"], ["dysp"])
    'posterior  tub; lung, smoke | xray, dysp?'
    >>> question_text("mpe", None, [], [])
    'mpe  all variables'
    """
    asked = "all variables"
    if targets is not None:
        asked = _some((_some(target, ", ") for target in targets if target), "; ") or "log_evidence"
    given = _some([*hard, *(f"{name}?" for name in soft)], ", ")
    return f"{kind}  {asked}{f' | {given}' if given else ''}"


def _some(names: Iterable[str], comma: str) -> str:
    """Return the first few names, and the number of all names."""
    every = [one_line(name, longest=_LONGEST) for name in names]
    more = f"{comma}… {len(every)} in all" if len(every) > _MOST else ""
    return comma.join(every[:_MOST]) + more


# --- The plans of an engine: each is made when a question first needs it, and then remembered -----
#
#

_SMALL = 1_000
"""The cells for each variable of a model below which one plan explains any evidence. A run takes a
few nanoseconds a cell, and a plan about a tenth of a millisecond a variable."""


class Planner:
    """Makes, remembers and runs plans for a model.

    Parameters
    ----------
    model
        The model.
    order, limits
        As for `bnmind.junction.compile_plan`.
    store
        Where the plans are remembered.
    """

    def __init__(
        self,
        model: Network | FactorModel,
        order: OrderFinder | None,
        limits: Limits,
        store: PlanStore,
    ) -> None:
        self.model = model
        self.order = order
        self.limits = limits
        self.store = store
        self._search: ExplanationSearch | None = None

    def plan(self, scopes: Scopes, seen: Seen) -> Plan:
        """Return the plan for some targets and the variables of the evidence."""
        states, soft = seen.in_order()
        return self.plan_for(scopes, tuple(states), tuple(soft))

    def remembered(self, scopes: Scopes, seen: Seen) -> Plan | None:
        """Return the plan for some targets and the variables of the evidence if there is one."""
        states, soft = seen.in_order()
        plan: Plan | None = self.store.peek(("posterior", scopes, tuple(states), tuple(soft), ()))
        return plan

    def posterior(self, scopes: Scopes, seen: Seen, plan: Plan | None = None) -> Posterior:
        """Return the joint distribution of each target given evidence, by its plan if it is given.

        If the plan exceeds the limits, it is restricted to the states of the evidence. If only its
        memory still exceeds them, it runs in slices.
        """
        states, soft = seen.in_order()
        try:
            return run_or_restrict(plan or self.plan(scopes, seen), states, soft)
        except TooLargeError as refusal:
            whole = refusal

        def make() -> SlicedPlan:
            from bnmind.junction.slicing.beyond_memory import sliced_instead

            return sliced_instead(
                whole,
                self.model,
                known=states,
                soft=soft,
                targets=scopes,
                order=self.order,
                limits=self.limits,
            )

        # Unlike other plans, this one holds the states of the evidence.
        key = ("slices", scopes, tuple(states), tuple(soft))
        slices: SlicedPlan = self._planned(key, make, tuple(states.values()))
        return slices.run(soft)

    def plan_for(self, scopes: Scopes, evidence: tuple[str, ...], soft: tuple[str, ...]) -> Plan:
        """Return the plan for the joint distributions of targets given evidence on variables.

        It may exceed the limits; then only its restrictions can run.
        """

        def make() -> Plan:
            return compile_plan(
                self.model,
                evidence=evidence,
                soft=soft,
                targets=scopes,
                order=self.order,
                limits=replace(self.limits, only_restrictions=True),
            )

        plan: Plan = self._planned(("posterior", scopes, evidence, soft), make)
        return plan

    def explanation(self, seen: Seen) -> Explanation:
        """Return the most probable states of all variables without hard evidence.

        If the tables of a plan do not fit, branch and bound finds them.
        """
        plan, findings = self._explanation_plan(seen)
        if plan is not None:
            try:
                return _hidden(plan.run(findings), seen)
            except TooLargeError:
                # Each case has a plan of its own, and the plan of this case does not fit.
                if plan.plan.by_case is None:
                    raise
        return self._searched(None, findings)

    def best_explanations(self, count: int, seen: Seen) -> tuple[Explanation, ...]:
        """Return the most probable explanations, at most ``count``, in descending order.

        If the tables of a plan do not fit, branch and bound finds them.
        """
        plan, findings = self._explanation_plan(seen)
        if plan is not None:
            try:
                return tuple(_hidden(found, seen) for found in plan.best(count, findings))
            except TooLargeError:
                if plan.plan.by_case is None:
                    raise
        return self._best_searched(None, findings, count)

    def best_maps(self, count: int, names: tuple[str, ...], seen: Seen) -> tuple[Explanation, ...]:
        """Return the most probable joint states of some variables, by branch and bound."""
        states, soft = seen.in_order()
        return self._best_searched(names, {**states, **soft}, count)

    def _searched(self, targets: tuple[str, ...] | None, findings: dict[str, Any]) -> Explanation:
        from bnmind.junction.branch_and_bound.within_limits import searched

        return searched(self._searching(targets), findings)

    def _best_searched(
        self, targets: tuple[str, ...] | None, findings: dict[str, Any], count: int
    ) -> tuple[Explanation, ...]:
        from bnmind.junction.branch_and_bound.within_limits import best_searched

        return best_searched(self._searching(targets), findings, count)

    def _searching(self, targets: tuple[str, ...] | None) -> ExplanationSearch:
        """Return the search for explanations of any evidence."""
        from bnmind.junction.branch_and_bound.search import compile_search

        if targets is not None:
            return compile_search(self.model, targets=targets, order=self.order, limits=self.limits)
        if self._search is None:
            self._search = compile_search(self.model, order=self.order, limits=self.limits)
        return self._search

    def _explanation_plan(self, seen: Seen) -> tuple[ExplanationPlan | None, dict[str, Any]]:
        """Return a plan for explanations and the findings of its run; no plan if it does not fit.

        A small model has one plan for any evidence. A large one has a plan for each choice of
        observed variables, whose states then make the tables smaller. The choice between the two
        depends on the model alone, so that ties are always broken in the same way.
        """
        states, soft = seen.in_order()
        hard, uncertain = tuple(states), tuple(soft)
        if self._is_small:
            hard, uncertain = (), tuple([v.name for v in self.model.variables])
        make = partial(_if_it_fits, partial(self._explaining, hard, uncertain))
        plan: ExplanationPlan | None = self._planned(("mpe", None, hard, uncertain), make)
        return plan, {**states, **soft}

    def _explaining(self, hard: Iterable[str], soft: Iterable[str]) -> ExplanationPlan:
        from bnmind.junction.queries.mpe import compile_explanation

        return compile_explanation(
            self.model, evidence=hard, soft=soft, order=self.order, limits=self.limits
        )

    @cached_property
    def _is_small(self) -> bool:
        """Whether a run with likelihoods of all variables takes less time than a plan."""
        return quick_cells(interaction_graph(self.model)) <= _SMALL * len(self.model.variables)

    def marginal_map(self, names: tuple[str, ...], seen: Seen, max_joint: int) -> Explanation:
        """Return the most probable joint state of some variables.

        If their joint distribution or a plan does not fit, branch and bound finds it.
        """
        states, soft = seen.in_order()

        def make() -> MarginalMapPlan:
            from bnmind.junction.queries.marginal_map import compile_marginal_map

            return compile_marginal_map(
                self.model,
                names,
                evidence=states,
                soft=soft,
                order=self.order,
                limits=self.limits,
                max_joint=max_joint,
            )

        key = ("map", (names,), tuple(states), tuple(soft))
        plan: MarginalMapPlan | None = None
        if self._joint_cells(names) <= max_joint:
            plan = self._planned(key, partial(_if_it_fits, make))
        findings = {**states, **soft}
        if plan is not None:
            return plan.run(findings)
        return self._searched(names, findings)

    def _joint_cells(self, names: Iterable[str]) -> int:
        return math.prod([self.model.variable(name).n_states for name in names])

    def sampling(self, seen: Seen) -> tuple[SamplingPlan, dict[str, Any]]:
        """Return a plan that draws samples, and the findings of its runs."""
        states, soft = seen.in_order()

        def make() -> SamplingPlan:
            from bnmind.junction.queries.sampling import compile_sampling

            return compile_sampling(
                self.model, evidence=states, soft=soft, order=self.order, limits=self.limits
            )

        plan: SamplingPlan = self._planned(("sample", None, tuple(states), tuple(soft)), make)
        return plan, {**states, **soft}

    def _planned(
        self,
        key: tuple[str, Scopes | None, tuple[str, ...], tuple[str, ...]],
        make: Callable[[], Any],
        states: tuple[str, ...] = (),
    ) -> Any:
        """Return the plan of a question, from memory if possible.

        The key is the kind of the question, its targets, and the variables of hard and of soft
        evidence. The states are those of the hard evidence, if the plan holds them.
        """

        def stored() -> Stored:
            plan = make()
            return Stored(plan, plan_bytes(plan), question_text(*key))

        return self.store.get((*key, states), stored)


def _if_it_fits(make: Callable[[], Any]) -> Any:
    """Return a plan, or None if it exceeds the limits."""
    try:
        return make()
    except TooLargeError:
        return None


def _hidden(found: Explanation, seen: Seen) -> Explanation:
    """Return an explanation without the states of the evidence."""
    hidden = {name: state for name, state in found.states.items() if name not in seen.positions}
    return replace(found, states=hidden)
