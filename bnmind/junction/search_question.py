"""Questions for explanations: what is searched, and how far a search has come."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._messages import listed
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.forms import small_tables
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.inference.compile import compile_plan
from bnmind.junction.inference.evidence import likelihood, read_findings
from bnmind.junction.inference.limits import Limits
from bnmind.junction.inference.plan import Answering, Plan, impossible, minimal_conflict
from bnmind.junction.search_bounds import LogTables, log_tables
from bnmind.junction.search_kernel import (
    DONE,
    LEAF,
    SearchArrays,
    dive,
    exact_value,
    grown,
    raise_least,
    run_search,
    search_arrays,
    solved_states,
    upper_bound,
)
from bnmind.junction.search_problem import Level, SearchProblem
from bnmind.junction.triangulation.annealing import TreeAnnealing
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

# --- A search in progress: dives for good configurations, and branch and bound, level by level ----

TOLERANCE = 1e-11
"""The relative difference of logarithms below which a configuration is not better."""

CELLS_OF_NODE = 16
"""The search at a level ends after a node for this number of cells of the next level."""

LEAF_NODES = 1_000
"""The number of nodes that the evaluation of a leaf counts for."""

_DIVES = 60
"""The dives at the start of each level."""

_NODES_OF_DIVES = 2**14
"""The number of nodes after which there are more dives, a few at a time."""

_FEW_DIVES = 8

_NOISES = (0.0, 0.03, 0.1, 0.3, 1.0, 2.0)
_PREFERENCES = (0.0, 0.5, 2.0, 4.0, 8.0)
"""The scales of the noise of dives, and the bounds that preferred states gain, in turn."""

_SEED = 88172645463325252

Evaluator = Callable[[NDArray[np.int64]], float]
"""Maps positions of all variables to the logarithm of the sum over the summed ones."""


class Progress:
    """A search in progress, which changes in place.

    Parameters
    ----------
    problem
        The problem.
    cache_bytes
        The limit for the bytes of cached values.
    evaluate
        Computes the value of a configuration of the maximized variables.
    """

    def __init__(
        self, problem: SearchProblem, cache_bytes: int, evaluate: Evaluator | None = None
    ) -> None:
        self.problem = problem
        self.cache_bytes = cache_bytes
        self.evaluate = evaluate
        self.positions: NDArray[np.int64] | None = None
        self.value = -math.inf
        self.bound = math.inf
        self.nodes = 0
        self.number = -1
        self.left = 0.0
        self.arrays: SearchArrays | None = None
        self.level: Level | None = None
        self.is_done = problem.tables.constant == -math.inf
        if self.is_done:
            self.bound = -math.inf

    @property
    def tolerance(self) -> float:
        """The difference below which a configuration is not better."""
        return TOLERANCE * max(1.0, abs(self.bound)) if math.isfinite(self.bound) else 0.0

    @property
    def has_found(self) -> bool:
        """Whether a configuration is known."""
        return self.positions is not None

    def advance(self, max_nodes: int) -> None:
        """Visit at most so many nodes; before that, start a level if it is time to."""
        if not self.is_done and (self.arrays is None or self.left < 1):
            self._start_level()
        end = self.nodes + max_nodes
        while not self.is_done and self.left >= 1 and self.nodes < end:
            self._search(end - self.nodes)

    def _search(self, max_nodes: int) -> None:
        """Search until a leaf must be evaluated, or for some nodes."""
        assert self.arrays is not None
        assert self.level is not None
        tree = self.level.tree.arrays
        most = int(min(max_nodes, self.left))
        self.arrays = grown(self.arrays, self.cache_bytes)
        reason, visited = run_search(tree, self.arrays, most, self.tolerance, self.level.evaluates)
        spent = visited
        if reason == LEAF:
            spent += LEAF_NODES
            states = self.arrays.states
            self.arrays.returned[0] = self._offer(states) - exact_value(tree, states)
        rounds = (self.nodes + spent) // _NODES_OF_DIVES
        has_dives = rounds > self.nodes // _NODES_OF_DIVES
        self.nodes += spent
        self.left -= spent
        if reason == DONE:
            if not self.level.evaluates and self.arrays.best[0] > self.arrays.least[0]:
                self._offer(solved_states(tree, self.arrays, self.tolerance))
            self.bound = self.value
            self.is_done = True
            return
        if has_dives:
            before = self.value
            self._dive(_FEW_DIVES, rounds * _FEW_DIVES)
            if self.value > before:
                raise_least(tree, self.arrays, self.value)
        self.bound = min(self.bound, upper_bound(tree, self.arrays))
        self._finish_if_equal()

    def _start_level(self) -> None:
        self.level = self.arrays = None
        self.number += 1
        self.level = level = self.problem.level(self.number)
        tree = level.tree.arrays
        self.bound = min(self.bound, float(tree.constant[0]))
        self.left = math.inf if level.is_last else level.next_cells / CELLS_OF_NODE
        if level.evaluates and self.positions is None:
            self._offer_explanation()
        self._dive(_DIVES, 0)
        self._finish_if_equal()
        if not self.is_done:
            self.arrays = search_arrays(tree, self.value, self.cache_bytes)

    def _dive(self, number: int, start: int) -> None:
        """Make some dives, from the one with number ``start``."""
        assert self.level is not None
        tree = self.level.tree.arrays
        states = np.zeros(len(tree.sizes), dtype=np.int64)
        scores = np.zeros(int(tree.sizes.max()))
        seed = np.array([_SEED + 2 * start], dtype=np.uint64)
        best = -math.inf
        for each in range(start, start + number):
            near = np.full(len(tree.sizes), -1, dtype=np.int64)
            if self.positions is not None:
                near[1:] = self.positions[list(self.level.tree.variables)]
            weights = [_NOISES[each % len(_NOISES)], _PREFERENCES[each % len(_PREFERENCES)]]
            value = dive(tree, states, near, np.array(weights), seed, scores)
            # Where leaves must be evaluated, the value of a dive is only a bound.
            best = self.value if self.level.evaluates else max(best, self.value)
            if value > best + self.tolerance:
                best = value
                self._offer(states)

    def _offer(self, states: NDArray[np.int64]) -> float:
        """Take a configuration of the nodes if it is the best one known; return its value."""
        assert self.level is not None
        positions = self._completed(states)
        if self.level.evaluates:
            return self._offer_positions(positions)
        if any(self.problem.is_summed):
            value = exact_value(self.level.tree.arrays, states)
        else:
            value = self.problem.tables.value(positions.tolist())
        if value > self.value:
            self.value, self.positions = value, positions
        return value

    def _offer_positions(self, positions: NDArray[np.int64]) -> float:
        """Take a configuration of the maximized variables if it is the best; return its value."""
        assert self.evaluate is not None
        value = self.evaluate(positions)
        if value > self.value:
            self.value, self.positions = value, positions
        return value

    def _offer_explanation(self) -> None:
        """Start a marginal MAP from the most probable explanation, as far as that is known soon."""
        summed = self.problem.is_summed
        joint = Progress(replace(self.problem, is_summed=(False,) * len(summed)), 0)
        while not joint.is_done and joint.number < 1:
            joint.advance(_NODES_OF_DIVES)
        if joint.positions is not None:
            self._offer_positions(joint.positions)

    def _completed(self, states: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the positions of all variables: those of the nodes, and the best of the rest.

        Summed variables have any position.
        """
        assert self.level is not None
        bounds, tree = self.level.bounds, self.level.tree
        sizes, is_summed = self.problem.tables.sizes, self.problem.is_summed
        positions = np.zeros(len(sizes), dtype=np.int64)
        known = dict(zip(tree.variables, states[1:].tolist(), strict=True))
        positions[list(known)] = list(known.values())
        division = bounds.division
        for v, parts in zip(reversed(division.order), reversed(division.parts), strict=True):
            if v in known or is_summed[v]:
                continue
            scores: Floats = np.zeros(sizes[v])
            for message in (bounds.messages[f] for part in parts for f in part):
                scores = scores + message.values[tuple(positions[list(message.scope[:-1])])]
            positions[v] = int(np.argmax(scores))
        return positions

    def _finish_if_equal(self) -> None:
        if self.value >= self.bound - self.tolerance:
            self.bound, self.is_done = self.value, True


# --- The question of a search: its model, evidence and targets, as tables of logarithms -----------

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
