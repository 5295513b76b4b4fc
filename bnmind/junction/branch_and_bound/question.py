"""The question of a search: its model, evidence and targets, as tables of logarithms."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import listed
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.branch_and_bound.log_tables import LogTables, log_tables
from bnmind.junction.branch_and_bound.problem import SearchProblem
from bnmind.junction.branch_and_bound.progress import Evaluator
from bnmind.junction.graphs.elimination_order import OrderFinder
from bnmind.junction.inference.answering import Answering
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import likelihood, read_findings
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.minimal_conflict import impossible, minimal_conflict
from bnmind.junction.inference.plan import Plan
from bnmind.junction.reduction.parent_divorcing import small_tables
from bnmind.junction.triangulation.annealing.tree_annealing import TreeAnnealing
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

__all__ = ["SearchQuestion", "check_targets", "findings_of"]

_MOST_SHARED = 64
"""The most sets of evidence variables whose orders and plans are kept."""


class _Shared(NamedTuple):
    order: tuple[int, ...]
    thorough_order: tuple[int, ...]
    plan: Plan | None


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchQuestion(Value):
    """A question, whose tables, elimination order and plan are made when they are first needed."""

    model: Network | FactorModel
    evidence: Mapping[str, Any]
    """The findings."""
    targets: tuple[str, ...] | None
    """The explained variables; None for all that have no state in the evidence."""
    order: OrderFinder | None
    limits: Limits

    def under(self, evidence: Mapping[str, Any]) -> SearchQuestion:
        """Return the question under other evidence, which shares the tables of the model.

        Questions with evidence on the same variables share the elimination order and the plan.
        """
        question = replace(self, evidence=evidence)
        question.__dict__.update(_potentials=self._potentials, _shared=self._shared)
        return question

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The explained variables."""
        if self.targets is not None:
            return tuple([self.model.variable(name) for name in self.targets])
        hard = {name for name, finding in self.evidence.items() if isinstance(finding, str)}
        return tuple([v for v in self.model.variables if v.name not in hard])

    @cached_property
    def tables(self) -> LogTables:
        """The tables under the evidence."""
        return self._tables_under(self.evidence)

    @cached_property
    def problem(self) -> SearchProblem:
        """The tables, and which variables are summed out."""
        explained = {v.name for v in self.variables}
        summed = [
            self.targets is not None and v.name not in explained for v in self.tables.variables
        ]
        shared = self._shared.get(self.pattern)
        return SearchProblem(
            tables=self.tables,
            is_summed=tuple(summed),
            finder=self.order or RandomizedGreedy(),
            max_cells=self.limits.max_bytes // 32,
            thorough=TreeAnnealing() if self.order is None else None,
            known_order=() if shared is None else shared.order,
            known_thorough_order=() if shared is None else shared.thorough_order,
        )

    @cached_property
    def findings(self) -> tuple[tuple[str, str | tuple[float, ...]], ...]:
        """The evidence as a value: the state or the weights of each variable, by name."""
        hard, soft = _split(self.evidence)
        found: dict[str, str | tuple[float, ...]] = {**hard}
        for name, finding in soft.items():
            found[name] = tuple(likelihood(self.model.variable(name), finding).tolist())
        return tuple(sorted(found.items()))

    @cached_property
    def pattern(self) -> tuple[frozenset[str], frozenset[str]]:
        """The variables whose states are known, and those with weights."""
        hard, soft = _split(self.evidence)
        return frozenset(hard), frozenset(soft)

    def states_at(self, positions: NDArray[np.int64]) -> dict[str, str]:
        """Return the states of the explained variables at positions of all variables."""
        at = self.explained_at(positions)
        return {v.name: v.states[state] for v, state in zip(self.variables, at, strict=True)}

    def explained_at(self, positions: NDArray[np.int64]) -> list[int]:
        """Return the states of the explained variables, by number."""
        tables, number = self.tables, self._numbers
        at = [number[v.name] for v in self.variables]
        return [int(tables.states[i][positions[i]]) for i in at]

    def refusal(self) -> ImpossibleEvidenceError:
        """Return the error for evidence of probability zero, with findings that contradict."""
        return impossible({name: self.evidence[name] for name in self._conflict()})

    @cached_property
    def evaluate(self) -> Evaluator | None:
        """Return the function that sums over the other variables, given the explained ones."""
        if self.targets is None:
            return None
        hard, soft = _split(self.evidence)
        plan, variables = self._plan, self.variables
        answering = Answering(plan.compiled)
        weights = {v.name: likelihood(v, soft[v.name]) for v in variables if v.name in soft}
        rest = {name: finding for name, finding in soft.items() if name not in self.targets}

        def evaluate(positions: NDArray[np.int64]) -> float:
            at = {
                v.name: state
                for v, state in zip(variables, self.explained_at(positions), strict=True)
            }
            states = {v.name: v.states[at[v.name]] for v in variables}
            factors = [float(weight[at[name]]) for name, weight in weights.items()]
            if not all(factors):
                return -math.inf
            # Their product could be too small for a float.
            log_factor = math.fsum(map(math.log, factors))
            findings = {**hard, **states, **rest}
            try:
                # A search for findings that contradict each other would take long.
                posterior = plan.run(findings) if plan.by_case else answering.attempt(findings)
            except ImpossibleEvidenceError:
                posterior = None
            return -math.inf if posterior is None else posterior.log_evidence + log_factor

        return evaluate

    @cached_property
    def _numbers(self) -> dict[str, int]:
        return {v.name: i for i, v in enumerate(self.tables.variables)}

    @cached_property
    def _shared(self) -> dict[Any, _Shared]:
        """The orders and plans made so far, by the variables of the evidence."""
        return {}

    def remember(self) -> None:
        """Keep the order and the plan for other questions with evidence on the same variables."""
        if self.pattern not in self._shared and len(self._shared) < _MOST_SHARED:
            plan = None if self.targets is None else self._plan
            # Only if the search came so far.
            thorough = self.problem.__dict__.get("thorough_order", ())
            self._shared[self.pattern] = _Shared(self.problem.order, thorough, plan)

    @cached_property
    def _plan(self) -> Plan:
        """The plan for the probability of the evidence and the explained states."""
        assert self.targets is not None
        shared = self._shared.get(self.pattern)
        if shared is not None and shared.plan is not None:
            return shared.plan
        hard, soft = _split(self.evidence)
        return compile_plan(
            self.model,
            evidence=[*hard, *self.targets],
            soft=[name for name in soft if name not in self.targets],
            targets=[()],
            order=self.order,
            limits=self.limits,
        )

    @cached_property
    def _potentials(self) -> tuple[Potential, ...]:
        """The tables of the model; functions of many parents are split into chains."""
        potentials = small_tables(
            self.model.potentials,
            [v.name for v in self.model.variables],
            sums_only=False,
            max_cells=self.limits.table_cells,
        )
        return tuple(potentials)

    def _tables_under(self, evidence: Mapping[str, Any]) -> LogTables:
        hard, soft = _split(evidence)
        variables = {v.name: v for v in self.model.variables}
        variables.update({v.name: v for potential in self._potentials for v in potential.scope})
        return log_tables(
            self._potentials,
            tuple(variables.values()),
            {name: variables[name].index(state) for name, state in hard.items()},
            {name: likelihood(variables[name], finding) for name, finding in soft.items()},
        )

    def _conflict(self) -> tuple[str, ...]:
        """Return findings that contradict each other; all if only the search found that out."""

        def is_possible(names: frozenset[str]) -> bool:
            part = {name: self.evidence[name] for name in names}
            return self._tables_under(part).constant > -math.inf

        names = tuple(self.evidence)
        if is_possible(frozenset(names)):
            return names
        return minimal_conflict(names, is_possible)


def _split(evidence: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Floats]]:
    """Return the states of the evidence, and the likelihoods."""
    hard = {name: finding for name, finding in evidence.items() if isinstance(finding, str)}
    soft = {name: finding for name, finding in evidence.items() if name not in hard}
    return hard, soft


def findings_of(model: Network | FactorModel, evidence: Mapping[str, Any]) -> dict[str, Any]:
    """Return the states and likelihoods of evidence; raise an error if they are not valid."""
    return read_findings(evidence, (), [model.variable(name) for name in evidence])


def check_targets(
    model: Network | FactorModel, targets: tuple[str, ...] | None, findings: Mapping[str, Any]
) -> None:
    """Raise an error if the targets are not valid beside some findings."""
    if targets is None:
        return
    problems = [
        f"{model.variable(name).name} cannot be both explained and evidence"
        for name in targets
        if isinstance(findings.get(name), str)
    ]
    if not targets:
        problems.append("there must be at least one variable to explain")
    problems += [f"{n} is explained twice" for n in dict.fromkeys(targets) if targets.count(n) > 1]
    if problems:
        raise InvalidArgumentError(listed(problems), tuple(problems))
