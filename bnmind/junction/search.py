"""Most probable explanations by branch and bound, where exact elimination is too large."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Count, Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.evidence import Evidence, Reader, by_name, likelihood, read_findings
from bnmind.junction.forms import small_tables
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.plan import Plan, attempt, compile_plan, impossible, minimal_conflict
from bnmind.junction.randomized_order import RandomizedGreedy, TreeAnnealing
from bnmind.junction.search_bounds import Ints, Level, LogTables, Orders, SearchProblem, log_tables
from bnmind.junction.search_kernel import (
    DONE,
    LEAF,
    SearchArrays,
    changed_values,
    dive,
    exact_value,
    fill_all_bounds,
    raise_least,
    run_search,
    search_arrays,
    solved_states,
    upper_bound,
)
from bnmind.junction.walk import Explanation, check_count, in_order
from bnmind.pgm.network import FactorModel, Network, Potential
from bnmind.pgm.variable import Variable

# --- The results of searches: the best configurations known, and a bound for all others -----------


@dataclass(frozen=True, kw_only=True)
class BestExplanations(Value):
    """The most probable configurations that a search knows, and an upper bound for all others."""

    explanations: tuple[Explanation, ...]
    """Different configurations in descending order. Equally probable ones stand in the order of the
    states of the variables."""
    upper_bound: float
    """No other configuration has a larger log-probability, up to a relative rounding error of
    1e-9; −inf if no other configuration is possible."""
    nodes: int
    """The number of nodes visited so far."""
    is_proven: bool
    """Whether no other configuration is more probable than these, and there are as many as asked
    for, or all that are possible."""

    @property
    def states(self) -> Mapping[str, str]:
        """The states of the most probable one known; empty if none is known."""
        return self.explanations[0].states if self.explanations else {}

    @property
    def log_probability(self) -> float:
        """Natural logarithm of the joint probability of these states and the evidence.

        For a product of factors, of the product; −inf if no configuration is known.
        """
        return self.explanations[0].log_probability if self.explanations else -math.inf

    @property
    def n_proven(self) -> int:
        """The number of the first explanations that no other configuration exceeds."""
        if self.is_proven:
            return len(self.explanations)
        least = self.upper_bound - TOLERANCE * max(1.0, abs(self.upper_bound))
        return sum(found.log_probability >= least for found in self.explanations)

    @property
    def gap(self) -> float:
        """How much the log-probability of another configuration may exceed the last of these.

        It is zero if they are proven, and infinite if none is known.
        """
        if self.is_proven:
            return 0.0
        if not self.explanations:
            return math.inf
        return max(0.0, self.upper_bound - self.explanations[-1].log_probability)

    def proven(self) -> tuple[Explanation, ...]:
        """Return the explanations if they are proven.

        Raises
        ------
        TooLargeError
            If the search ended without a proof. The error says what is known.
        """
        if self.is_proven:
            return self.explanations
        raise TooLargeError(
            f"the search visited {counted(self.nodes, 'node')} without a proof, and found"
            f" {counted(len(self.explanations), 'explanation')}, of which {self.n_proven} are"
            " proven; other configurations may have log-probabilities up to"
            f" {self.upper_bound:.6g}. Search longer, allow more memory, ask for fewer, or observe"
            " more variables.",
            needed=self.nodes + 1,
            budget=self.nodes,
        )


# --- A search in progress: dives, branch and bound, and the division of the rest ------------------
#
# The first search finds the best configuration. For more of them, the rest of the configurations is
# divided into parts around the best one: a part has its states before a node, and other states at
# the node. The part with the largest bound is searched and divided next, until no bound exceeds the
# last of the configurations known.
#
# References
# ----------
# E. L. Lawler, "A procedure for computing the K best solutions to discrete optimization problems
# and its application to the shortest path problem", Management Science 18 (1972).

TOLERANCE = 1e-11
"""The relative difference of logarithms below which a configuration is not better."""

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

Evaluator = Callable[[NDArray[np.int64]], float]
"""Maps positions of all variables to the logarithm of the sum over the summed ones."""


class _Part(NamedTuple):
    """The configurations with some states before a node, and other states at the node."""

    negative_bound: float
    """Parts are ordered by it; no configuration of the part has a larger value."""
    number: int
    states: Ints
    node: int
    """Node 0 stands for all configurations."""
    excluded: tuple[int, ...]
    """The states that the node does not have."""


class Progress:
    """A search for the best configurations in progress, which changes in place.

    Parameters
    ----------
    problem
        The problem.
    cache_bytes
        The limit for the bytes of cached values.
    evaluate
        Computes the value of a configuration of the maximized variables.
    count
        The number of configurations.
    """

    def __init__(
        self,
        problem: SearchProblem,
        cache_bytes: int,
        evaluate: Evaluator | None = None,
        count: int = 1,
    ) -> None:
        self.problem = problem
        self.cache_bytes = cache_bytes
        self.evaluate = evaluate
        self.nodes = 0
        self.number = -1
        self._level: tuple[Level, SearchArrays] | None = None
        self._left = 0.0
        self._rng = np.random.default_rng(0)
        self._count = count
        self._best: list[tuple[float, bytes]] = []
        self._known: set[bytes] = set()
        self._parts: list[_Part] = []
        self._n_parts = 0
        self._part: _Part | None = None
        self._is_first = problem.tables.constant > -math.inf
        self._first_bound = math.inf

    @property
    def is_done(self) -> bool:
        """Whether no other configuration has a larger value than the last one."""
        return not self._is_first and self._part is None and self._open_bound() == -math.inf

    @property
    def bound(self) -> float:
        """No other configuration than the best ones has a larger value."""
        if self._is_first:
            return self._first_bound
        bound = max(self._threshold, self._open_bound())
        if self._part is None:
            return bound
        level, arrays = self._now
        return max(bound, min(-self._part.negative_bound, upper_bound(level.tree, arrays)))

    @property
    def value(self) -> float:
        """The largest value known; −inf for none."""
        return max(self._best)[0] if self._best else -math.inf

    def found(self) -> list[tuple[float, NDArray[np.int64]]]:
        """Return the values and positions of the best configurations, in descending order."""
        best = sorted(self._best, key=lambda each: (-each[0], each[1]))
        return [(value, np.frombuffer(key, dtype=np.int64)) for value, key in best]

    def advance(self, max_nodes: int) -> None:
        """Visit at most so many nodes; before that, start a level if it is time to."""
        if not self.is_done and self._left < 1:
            self._start_level()
        end = self.nodes + max_nodes
        while not self.is_done and self._left >= 1 and self.nodes < end:
            self._search(int(min(end - self.nodes, self._left)))

    @property
    def _now(self) -> tuple[Level, SearchArrays]:
        """The level, which must have started, and the state of its search."""
        assert self._level is not None
        return self._level

    def _start_level(self) -> None:
        before = None if self._level is None else self._level[0].tree.variables
        self._level = None  # before others take memory
        self.number += 1
        level = self.problem.level(self.number)
        self._left = level.most_nodes
        # The value of a leaf that is evaluated stands in no cache.
        cache_bytes = 0 if level.evaluates else self.cache_bytes
        self._level = level, search_arrays(level.tree, cache_bytes, self._left)
        if self._is_first:
            self._first_bound = min(self._first_bound, float(level.tree.constant[0]))
            if level.evaluates and not self._best:
                self._offer_explanation()
            self._dive(_DIVES, 0)
            self._open(_Part(-math.inf, 0, np.zeros(len(level.tree.sizes), np.int64), 0, ()))
            self._end_first()
        elif before is None or not np.array_equal(before, level.tree.variables):
            self._parts, self._part = [], None
            self._divide_all()
        elif self._part is not None:
            heapq.heappush(self._parts, self._part)
            self._part = None

    def _search(self, max_nodes: int) -> None:
        """Search in a part until a leaf must be evaluated, or for some nodes."""
        part = self._part or self._open(heapq.heappop(self._parts))
        level, arrays = self._now
        tolerance = self._tolerance
        reason, visited = run_search(level.tree, arrays, max_nodes, tolerance, level.evaluates)
        if reason == LEAF:
            visited += LEAF_NODES
            value = self._offer(arrays.states)
            arrays.returned[0] = value - exact_value(level.tree, arrays.states)
            raise_least(level.tree, arrays, self._threshold)
        before, self.nodes = self.nodes // _NODES_OF_DIVES, self.nodes + visited
        self._left -= visited
        if reason == DONE:
            self._part = None
            is_better = arrays.best[0] > arrays.least[0]
            if is_better:
                states = solved_states(level.tree, arrays, tolerance)
                value = self._offer(states)
            if self._is_first:
                self._first_bound = self.value
            elif is_better:
                self._divide(part, states, value)
        elif self._is_first:
            if (rounds := self.nodes // _NODES_OF_DIVES) > before:
                self._dive(_FEW_DIVES, rounds * _FEW_DIVES)
                raise_least(level.tree, arrays, self.value)
            self._first_bound = min(self._first_bound, upper_bound(level.tree, arrays))
        self._end_first()

    def _end_first(self) -> None:
        """Go on after the best configuration if no other one can be better."""
        if self._is_first and self.value >= self._first_bound - self._tolerance:
            self._is_first, self._part = False, None
            if self._count > 1 and self._best:
                self._divide_all()

    def _dive(self, number: int, start: int) -> None:
        """Make some dives, from the one with number ``start``."""
        level, _ = self._now
        tree = level.tree
        states = np.zeros(len(tree.sizes), dtype=np.int64)
        is_open = np.repeat(tree.is_open, tree.sizes)
        best = -math.inf
        for each in range(start, start + number):
            noise = self._rng.gumbel(size=len(is_open))
            extra = _NOISES[each % len(_NOISES)] * noise
            if self._best:
                near = tree.choice_starts[:-1] + self._nodes_at(self.found()[0][1])
                extra[near] += _PREFERENCES[each % len(_PREFERENCES)]
            value = dive(tree, states, np.where(is_open, extra, 0.0))
            # Where leaves must be evaluated, the value of a dive is only a bound.
            best = self.value if level.evaluates else max(best, self.value)
            if value > best + self._tolerance:
                best = value
                self._offer(states)

    def _offer_explanation(self) -> None:
        """Start a marginal MAP from the most probable explanation, as far as that is known soon."""
        summed = self.problem.is_summed
        problem = replace(self.problem, is_summed=(False,) * len(summed), orders={})
        joint = Progress(problem, 0)
        while not joint.is_done and joint.number < 1:
            joint.advance(_NODES_OF_DIVES)
        if found := joint.found():
            self._offer(self._nodes_at(found[0][1]))

    def _open(self, part: _Part) -> _Part:
        """Start the search in a part, and return it."""
        level, arrays = self._now
        tree, node = level.tree, part.node
        starts = tree.choice_starts
        arrays.barred[:] = 0.0
        arrays.barred[: starts[node]] = -math.inf
        arrays.barred[starts[:node] + part.states[:node]] = 0.0
        arrays.barred[starts[node] + np.array(part.excluded, dtype=np.int64)] = -math.inf
        arrays.control[:] = 0
        arrays.control[4] = node  # subtrees below the node are those of all parts
        arrays.least[0] = self._threshold
        self._part = part
        return part

    def _divide_all(self) -> None:
        """Divide all configurations but the best."""
        value, positions = self.found()[0]
        states = self._nodes_at(positions)
        self._divide(_Part(-math.inf, 0, states, 0, ()), states, value)

    def _divide(self, part: _Part, states: Ints, value: float) -> None:
        """Divide a part but for its best configuration."""
        level, arrays = self._now
        tree = level.tree
        if not level.evaluates:
            self._offer_neighbors(states, value)
        arrays.states[:], arrays.barred[:] = states, 0.0
        fill_all_bounds(tree, arrays)
        bounds = arrays.upper.copy()
        starts = tree.choice_starts
        chosen = bounds[starts[:-1] + states]
        # The value of a subtree is the sum over its nodes.
        sums = np.concatenate([[0.0], np.cumsum(chosen)])
        without = sums[-1] - (sums[tree.ends] - sums[:-1])
        bounds[starts[:-1] + states] = -math.inf
        bounds[starts[part.node] + np.array(part.excluded, dtype=np.int64)] = -math.inf
        largest = without + np.maximum.reduceat(bounds, starts[:-1])
        smallest = self._threshold + self._tolerance
        for node in range(max(1, part.node), len(tree.sizes)):
            bound = min(float(largest[node]), value)
            if bound > smallest:
                self._n_parts += 1
                excluded = (*(part.excluded if node == part.node else ()), int(states[node]))
                heapq.heappush(self._parts, _Part(-bound, self._n_parts, states, node, excluded))

    def _offer_neighbors(self, states: Ints, value: float) -> None:
        """Offer the best configurations that differ in a single state."""
        tree = self._now[0].tree
        starts = tree.choice_starts[:-1]
        node_of = np.repeat(np.arange(len(tree.sizes)), tree.sizes)
        changes = changed_values(tree, states)
        changes[starts + states] = -math.inf
        for choice in np.argsort(-changes, kind="stable")[: self._count].tolist():
            if value + changes[choice] <= self._threshold:
                return
            node = int(node_of[choice])
            other = states.copy()
            other[node] = choice - starts[node]
            self._offer(other, value + float(changes[choice]))

    def _offer(self, states: Ints, value: float | None = None) -> float:
        """Take a configuration of the nodes if it is among the best ones; return its value."""
        positions = np.zeros(len(self.problem.tables.sizes), dtype=np.int64)
        positions[self._now[0].tree.variables] = states[1:]
        value = self._value(states, positions) if value is None else value
        key = positions.tobytes()
        if value > self._threshold and key not in self._known:
            self._known.add(key)
            heapq.heappush(self._best, (value, key))
            if len(self._best) > (1 if self._is_first else self._count):
                self._known.discard(heapq.heappop(self._best)[1])
        return value

    def _value(self, states: Ints, positions: Ints) -> float:
        """Return the value of a configuration, by the states of nodes and the positions of all."""
        level, _ = self._now
        if level.evaluates:
            assert self.evaluate is not None
            return self.evaluate(positions)
        if any(self.problem.is_summed):
            return float(exact_value(level.tree, states))
        return self.problem.tables.value(positions.tolist())

    def _nodes_at(self, positions: NDArray[np.int64]) -> Ints:
        """Return the states of the nodes at positions of all variables."""
        return np.append(0, positions[self._now[0].tree.variables])

    @property
    def _tolerance(self) -> float:
        """The difference below which a configuration is not better."""
        scale = abs(self._first_bound if self._is_first else self.value)
        return TOLERANCE * max(1.0, scale) if math.isfinite(scale) else 0.0

    @property
    def _threshold(self) -> float:
        """The value that other configurations must exceed."""
        is_full = len(self._best) == (1 if self._is_first else self._count)
        return self._best[0][0] if is_full else -math.inf

    def _open_bound(self) -> float:
        """Return the largest bound of the parts to be searched; −inf if none matters."""
        bound = -self._parts[0].negative_bound if self._parts else -math.inf
        return bound if bound > self._threshold + self._tolerance else -math.inf


# --- Searches that can be stopped, and the results they know in between ---------------------------
#
# Branch and bound needs no table of the joint distribution, and works where the tables of an exact
# elimination do not fit in memory. At any time, it knows the best configuration found so far and an
# upper bound for all others. The search is complete when the two meet (for marginal MAP:
# R. Marinescu, R. Dechter and A. Ihler, "AND/OR search for marginal MAP", UAI, 2014).

_STEP = 20_000
"""The nodes between two looks at the clock and at Ctrl-C: about a tenth of a second."""

_MOST_SHARED = 64
"""The most sets of evidence variables whose orders and plans are kept."""

_Pattern = tuple[frozenset[str], frozenset[str]]


@dataclass
class _Shared:
    """What searches with evidence on the same variables share."""

    orders: Orders = field(default_factory=dict)
    plan: Plan | None = None


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class ExplanationSearch(Value):
    """A search for the most probable states of variables, given the evidence of one case.

    `compile_search` makes searches. `run` searches until there is a proof.
    """

    model: Network | FactorModel
    """The model."""
    evidence: Mapping[str, Any]
    """The findings."""
    targets: tuple[str, ...] | None = None
    """The explained variables; None for all that have no state in the evidence."""
    order: OrderFinder | None = None
    """The finder of the elimination order; the default one if None."""
    limits: Limits = DEFAULT_LIMITS
    """The limits of memory and of work."""

    def __post_init__(self) -> None:
        super().__post_init__()
        variables = [self.model.variable(name) for name in self.evidence]
        self._set(evidence=read_findings(self.evidence, (), variables))
        if self.targets is not None:
            observed = _split(self.evidence)[0]
            Reader(self.model).names(self.targets, "a marginal MAP", observed)

    def __repr__(self) -> str:
        return (
            f"ExplanationSearch({len(self.variables):,} of {len(self.model.variables):,} variables"
            f" | {counted(len(self.evidence), 'finding')})"
        )

    @cached_property
    def variables(self) -> tuple[Variable, ...]:
        """The explained variables."""
        if self.targets is not None:
            return tuple([self.model.variable(name) for name in self.targets])
        hard, _ = _split(self.evidence)
        return tuple([v for v in self.model.variables if v.name not in hard])

    @checked
    def run(
        self,
        *,
        max_nodes: int | None = None,
        seconds: float | None = None,
        until: Callable[[BestExplanations], bool] | None = None,
    ) -> BestExplanations:
        """Return the best configuration at the end of the search.

        Without limits, the search ends with a proof. Ctrl-C ends it with what is known; the result
        then says that it is not proven.

        Parameters
        ----------
        max_nodes
            The most nodes to visit.
        seconds
            The time after which the search ends, at the next of its steps.
        until
            Is called with the best configuration about ten times a second, and ends the search by
            returning True.

        Raises
        ------
        TooLargeError
            If a table of the model does not fit, or for a marginal MAP, if the probability of the
            evidence and all targets takes too long to compute.
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        return self.best(1, max_nodes=max_nodes, seconds=seconds, until=until)

    @checked
    def best(
        self,
        count: Count,
        *,
        max_nodes: int | None = None,
        seconds: float | None = None,
        until: Callable[[BestExplanations], bool] | None = None,
    ) -> BestExplanations:
        """Return the most probable configurations at the end of a search, in descending order.

        Without limits, the search ends with a proof. Otherwise `BestExplanations.gap` says how much
        more probable another configuration may be.

        Parameters
        ----------
        count
            The number of configurations. The result has fewer if fewer are possible or known.
        max_nodes, seconds, until
            As in `run`.

        Raises
        ------
        InvalidArgumentError
            If ``count`` is less than 1.
        TooLargeError
            If there are too many states to return.
        ImpossibleEvidenceError
            If the evidence has probability zero.
        """
        count = min(count, check_count(count, self.variables))
        progress = Progress(self._problem, self.limits.max_bytes // 8, self._evaluate, count)
        end = math.inf if seconds is None else time.monotonic() + seconds
        try:
            while not progress.is_done and time.monotonic() < end:
                left = _STEP if max_nodes is None else min(_STEP, max_nodes - progress.nodes)
                if left < 1:
                    break
                progress.advance(left)
                if until is not None and until(self._known(progress)):
                    break
        except KeyboardInterrupt:
            if not progress.found():
                raise
        return self._known(progress)

    @checked
    def given(self, case: Evidence) -> ExplanationSearch:
        """Return the search under more evidence, which shares the preparation of the model.

        Searches with findings on the same variables also share the elimination order and, for a
        marginal MAP, the plan of its sums.

        Parameters
        ----------
        case
            The findings besides those of this search.

        Raises
        ------
        InvalidArgumentError
            If a finding is invalid, is about a variable of this search's evidence, or is the state
            of a target.
        UnknownNameError
            If there is no such variable or state.
        """
        findings = by_name(case, "a case")
        twice = [name for name in findings if name in self.evidence]
        if twice:
            raise InvalidArgumentError(
                f"{twice[0]} is evidence of the search already, and of a case too", twice[0]
            )
        search = replace(self, evidence={**self.evidence, **findings})
        search.__dict__.update(_potentials=self._potentials, _memory=self._memory)
        return search

    def _known(self, progress: Progress) -> BestExplanations:
        """Return the best configurations so far.

        Raises
        ------
        ImpossibleEvidenceError
            If the search is complete and found none.
        """
        best = progress.found()
        if progress.is_done and not best:
            raise self._refusal()
        rows = np.array([self._explained_at(at) for _, at in best], dtype=np.intp)
        values = np.array([value for value, _ in best])
        return BestExplanations(
            explanations=tuple(
                [
                    Explanation(self._named(rows[i].tolist()), float(values[i]))
                    for i in (in_order(rows.T, values) if best else ())
                ]
            ),
            upper_bound=progress.bound,
            nodes=progress.nodes,
            is_proven=progress.is_done,
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

    @cached_property
    def _tables(self) -> LogTables:
        return self._tables_under(self.evidence)

    @cached_property
    def _problem(self) -> SearchProblem:
        """The tables, and which variables are summed out."""
        explained = {v.name for v in self.variables}
        summed = [
            self.targets is not None and v.name not in explained for v in self._tables.variables
        ]
        return SearchProblem(
            tables=self._tables,
            is_summed=tuple(summed),
            finder=self.order or RandomizedGreedy(),
            max_cells=self.limits.max_bytes // 32,
            thorough=TreeAnnealing() if self.order is None else None,
            orders=self._shared.orders,
        )

    @cached_property
    def _memory(self) -> Callable[[_Pattern], _Shared]:
        return lru_cache(_MOST_SHARED)(lambda pattern: _Shared())

    @cached_property
    def _shared(self) -> _Shared:
        hard, soft = _split(self.evidence)
        return self._memory((frozenset(hard), frozenset(soft)))

    def _explained_at(self, positions: NDArray[np.int64]) -> list[int]:
        """Return the states of the explained variables at positions of all variables."""
        states = self._tables.states
        return [int(states[i][positions[i]]) for i in self._explained]

    def _named(self, states: Sequence[int]) -> dict[str, str]:
        """Return the names of states of the explained variables."""
        return {v.name: v.states[state] for v, state in zip(self.variables, states, strict=True)}

    @cached_property
    def _explained(self) -> list[int]:
        """The numbers of the explained variables."""
        numbers = {v.name: i for i, v in enumerate(self._tables.variables)}
        return [numbers[v.name] for v in self.variables]

    @cached_property
    def _evaluate(self) -> Evaluator | None:
        """The function that sums over the other variables, given the explained ones."""
        if self.targets is None:
            return None
        hard, soft = _split(self.evidence)
        with np.errstate(divide="ignore"):
            # Sums of logarithms, because a product could be too small for a float.
            likelihoods = [soft.pop(v.name, np.ones(v.n_states)) for v in self.variables]
            pairs = zip(self.variables, likelihoods, strict=True)
            logs = [np.log(likelihood(v, finding)) for v, finding in pairs]
        shared = self._shared
        if shared.plan is None:
            shared.plan = compile_plan(
                self.model,
                evidence=[*hard, *self.targets],
                soft=list(soft),
                targets=[()],
                order=self.order,
                limits=self.limits,
            )
        plan = shared.plan

        def evaluate(positions: NDArray[np.int64]) -> float:
            at = self._explained_at(positions)
            findings = {**hard, **self._named(at), **soft}
            posterior = attempt(plan, findings)
            if posterior is None:
                return -math.inf
            factors = [float(own[state]) for own, state in zip(logs, at, strict=True)]
            return math.fsum([posterior.log_evidence, *factors])

        return evaluate

    def _refusal(self) -> ImpossibleEvidenceError:
        """Return the error for evidence of probability zero, with findings that contradict."""

        def is_possible(names: frozenset[str]) -> bool:
            part = {name: self.evidence[name] for name in names}
            return self._tables_under(part).constant > -math.inf

        names = tuple(self.evidence)
        # All are named if only the search found the contradiction.
        if not is_possible(frozenset(names)):
            names = minimal_conflict(names, is_possible)
        return impossible({name: self.evidence[name] for name in names})


@checked
def compile_search(
    model: Network | FactorModel,
    evidence: Evidence | None = None,
    targets: Iterable[str] | None = None,
    *,
    order: OrderFinder | None = None,
    limits: Limits = DEFAULT_LIMITS,
) -> ExplanationSearch:
    """Return a search for a proven most probable explanation, or a proven marginal MAP.

    Use it where `compile_explanation` or a joint distribution would need too much memory.

    Parameters
    ----------
    model
        A network, or a product of non-negative factors.
    evidence
        As for `bnmind.posterior`.
    targets
        The variables to explain, with all others summed out (marginal MAP). By default all
        variables without a state in the evidence.
    order
        The search for an elimination order, as in `compile_plan`.
    limits
        The search takes at most about ``max_bytes``. ``max_multiplications`` limits the sums at
        the leaves of a marginal MAP.

    Raises
    ------
    UnknownNameError, InvalidArgumentError
        As in `compile_marginal_map`.

    Examples
    --------
    >>> from bnmind.pgm import Factor
    >>> a, b = Variable("a", ("no", "yes")), Variable("b", ("no", "yes"))
    >>> model = FactorModel((Factor((a, b), [[1.0, 2.0], [4.0, 3.0]]),))
    >>> found = compile_search(model).run()
    >>> dict(found.states), found.is_proven, round(found.log_probability, 3)
    ({'a': 'yes', 'b': 'no'}, True, 1.386)
    """
    return ExplanationSearch(
        model=model,
        evidence=by_name(evidence, "the evidence"),
        targets=None if targets is None else tuple(targets),
        order=order,
        limits=limits,
    )


def _split(evidence: Mapping[str, Any]) -> tuple[dict[str, str], dict[str, Floats]]:
    """Return the states of the evidence, and the likelihoods."""
    hard = {name: finding for name, finding in evidence.items() if isinstance(finding, str)}
    soft = {name: finding for name, finding in evidence.items() if name not in hard}
    return hard, soft


# --- Searches whose effort is limited like that of a plan -----------------------------------------

_MULTIPLICATIONS_OF_NODE = 2**11
"""The multiplications of a plan that take about as long as a node of a search."""


def best_searched(
    search: ExplanationSearch, findings: Mapping[str, Any], count: int = 1
) -> tuple[Explanation, ...]:
    """Return the most probable explanations or marginal MAPs by a search within its limits.

    They are in descending order, and fewer than ``count`` if fewer are possible.

    Parameters
    ----------
    search
        A search for any evidence. Calls with findings on the same variables share preparations.
    findings
        The evidence.
    count
        The number of explanations.

    Raises
    ------
    TooLargeError
        If there is no proof within the limits.
    ImpossibleEvidenceError
        If the evidence has probability zero.
    """
    allowed = search.limits.max_multiplications
    most = allowed // _MULTIPLICATIONS_OF_NODE
    if not most:
        raise TooLargeError(
            f"a search takes as long as {_MULTIPLICATIONS_OF_NODE:,} multiplications or more;"
            f" allowed are max_multiplications={allowed:,}",
            needed=_MULTIPLICATIONS_OF_NODE,
            budget=allowed,
        )
    return search.given(findings).best(count, max_nodes=most).proven()
