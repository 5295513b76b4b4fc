"""Most probable explanations by branch and bound, where exact elimination is too large."""

from __future__ import annotations

import heapq
import math
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Value
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.junction.explanations import Explanation, check_count, in_order
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.inference.evidence import Evidence, by_name
from bnmind.junction.inference.limits import DEFAULT_LIMITS, Limits
from bnmind.junction.search_kernel import (
    DONE,
    LEAF,
    SearchArrays,
    exact_value,
    grown,
    raise_least,
    run_search,
    search_arrays,
    solved_states,
    upper_bound,
)
from bnmind.junction.search_problem import Ints, Level, TreeArrays
from bnmind.junction.search_question import (
    CELLS_OF_NODE,
    LEAF_NODES,
    TOLERANCE,
    Progress,
    SearchQuestion,
    check_targets,
    findings_of,
)
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

# --- The results of searches: the best configurations known, and a bound for all others -----------

_TOLERANCE = 1e-11


@dataclass(frozen=True, kw_only=True)
class BoundedExplanation(Value):
    """The best configuration that a search knows, and an upper bound for all others."""

    states: Mapping[str, str]
    """The state of every explained variable; empty if no possible configuration is known yet."""
    log_probability: float
    """Natural logarithm of the joint probability of these states and the evidence (for a product of
    factors, of the product); −inf if no configuration is known."""
    upper_bound: float
    """No configuration has a larger logarithm, up to a relative rounding error of 1e-9."""
    nodes: int
    """The number of nodes visited so far."""
    is_proven: bool
    """Whether no configuration is more probable."""

    @property
    def gap(self) -> float:
        """The difference between the upper bound and the best configuration; zero if proven."""
        if self.is_proven:
            return 0.0
        return self.upper_bound - self.log_probability

    def proven(self) -> Explanation:
        """Return the explanation if it is proven.

        Raises
        ------
        TooLargeError
            If the search ended without a proof. The error says what is known.
        """
        if self.is_proven:
            return Explanation(self.states, self.log_probability)
        raise TooLargeError(
            f"the search visited {self.nodes:,} nodes without a proof: the best configuration has"
            f" the log-probability {self.log_probability:.6g}, and others may reach"
            f" {self.upper_bound:.6g}. Search longer, allow more memory, or observe more"
            " variables.",
            needed=self.nodes + 1,
            budget=self.nodes,
        )


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
    def n_proven(self) -> int:
        """The number of the first explanations that no other configuration exceeds."""
        if self.is_proven:
            return len(self.explanations)
        least = self.upper_bound - _TOLERANCE * max(1.0, abs(self.upper_bound))
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
            f"the search visited {counted(self.nodes, 'node')} and found"
            f" {counted(len(self.explanations), 'explanation')}, of which {self.n_proven} are"
            " proven; other configurations may have log-probabilities up to"
            f" {self.upper_bound:.6g}. Search longer, allow more memory, ask for fewer, or observe"
            " more variables.",
            needed=self.nodes + 1,
            budget=self.nodes,
        )


# --- Searches for proven most probable explanations and marginal MAP, which can be stopped --------
#
# Branch and bound needs no table of the joint distribution, and works where the tables of an exact
# elimination do not fit in memory. At any time, it knows the best configuration found so far and an
# upper bound for all others. The search is complete when the two meet.
#
# References
# ----------
# R. Marinescu and R. Dechter, "AND/OR branch-and-bound search for combinatorial optimization in
# graphical models", Artificial Intelligence 173 (2009); R. Marinescu, R. Dechter and A. Ihler,
# "AND/OR search for marginal MAP", UAI (2014).

# --- Bounds and values of all states of all nodes beside one configuration, in array operations ---


class NodeValues:
    """The bounds and values of the states of all nodes of a tree, given all other states.

    Parameters
    ----------
    tree
        The tree; its cells may change afterwards.
    """

    def __init__(self, tree: TreeArrays) -> None:
        self.tree = tree
        self._table_of = np.repeat(np.arange(len(tree.firsts)), np.diff(tree.scope_starts))
        self._bucket = _Sums(tree, tree.bucket_starts, tree.bucket, np.ones_like(tree.bucket))
        self._uses = _Sums(tree, tree.use_starts, tree.uses, tree.use_strides)
        self._owner = np.repeat(np.arange(len(tree.sizes)), np.diff(tree.own_starts))

    def bounds(self, states: Ints) -> Floats:
        """Return the bounds of all states relative to those of the nodes, as the search computes.

        Their sum over the nodes of a subtree, in the states of the configuration, is the value of
        the subtree relative to its bound; over all nodes it is the value of the configuration.

        Parameters
        ----------
        states
            A possible configuration of the nodes.
        """
        tree, cells = self.tree, self._cells_at(states)
        own = tree.cells[cells[tree.own]]
        base = -_added(self._owner, own, len(tree.sizes))
        base[0] += tree.constant[0]
        return self._bucket.at(states, cells) + np.repeat(base, tree.sizes)

    def exact(self, states: Ints) -> Floats:
        """Return the sum of the exact tables of each node, for all its states."""
        return self._uses.at(states, self._cells_at(states))

    def _cells_at(self, states: Ints) -> Ints:
        """Return the cell of each table in a configuration."""
        tree = self.tree
        steps = np.concatenate([[0], np.cumsum(tree.strides * states[tree.scopes])])
        cells: Ints = tree.firsts + steps[tree.scope_starts[1:]] - steps[tree.scope_starts[:-1]]
        return cells


class _Sums:
    """Sums of tables of each node for all its states."""

    def __init__(self, tree: TreeArrays, starts: Ints, tables: Ints, strides: Ints) -> None:
        self.tree = tree
        self.tables = tables
        self.strides = strides
        self.nodes = np.repeat(np.arange(len(tree.sizes)), np.diff(starts))
        sizes = tree.sizes[self.nodes]
        self.sizes = sizes
        state = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
        self.steps = np.repeat(strides, sizes) * state
        self.choices = np.repeat(tree.choice_starts[self.nodes], sizes) + state

    def at(self, states: Ints, cells: Ints) -> Floats:
        """Return the sums; ``cells`` are those of all tables in the configuration."""
        first = cells[self.tables] - self.strides * states[self.nodes]
        values = self.tree.cells[np.repeat(first, self.sizes) + self.steps]
        n_choices = int(self.tree.choice_starts[-1])
        return _added(self.choices, values, n_choices)


def _added(places: Ints, values: Floats, size: int) -> Floats:
    """Return the sums of the values at each place."""
    # Without any value, the result of NumPy would be whole numbers.
    sums: Floats = np.bincount(places, weights=values, minlength=size).astype(np.float64)
    return sums


# --- The most probable configurations, in descending order, by partition and branch and bound -----


class _Part(NamedTuple):
    """The configurations with some states before a node, and other states at the node."""

    negative_bound: float
    """Parts are ordered by it."""
    number: int
    states: Ints
    node: int
    excluded: tuple[int, ...]
    """The states that the node does not have."""

    @property
    def bound(self) -> float:
        """No configuration of the part has a larger value."""
        return -self.negative_bound


class BestProgress:
    """A search for several configurations in progress, which changes in place.

    Parameters
    ----------
    first
        A search for the best configuration.
    count
        The number of configurations.
    """

    def __init__(self, first: Progress, count: int) -> None:
        self.first = first
        self.count = count
        self.searched = 0
        self.left = 0.0
        self.number = -1
        self.level: Level | None = None
        self._best: list[tuple[float, bytes]] = []
        self._known: set[bytes] = set()
        self._parts: list[_Part] = []
        self._n_parts = 0
        self._part: _Part | None = None
        self._is_started = False

    @property
    def nodes(self) -> int:
        """The number of nodes visited so far."""
        return self.first.nodes + self.searched

    @property
    def has_found(self) -> bool:
        """Whether a configuration is known."""
        return self.first.has_found

    @property
    def is_done(self) -> bool:
        """Whether no other configuration has a larger value than the last one."""
        if not self.first.is_done or self.first.positions is None or self.count == 1:
            return self.first.is_done
        return self._is_started and self._part is None and self._open_bound() == -math.inf

    @property
    def bound(self) -> float:
        """No other configuration than the best ones has a larger value."""
        if not self.first.is_done:
            return self.first.bound
        if self.count == 1 or not self._is_started:
            return self.first.value
        return max(self._threshold, self._open_bound(), self._current_bound())

    def found(self) -> list[tuple[float, NDArray[np.int64]]]:
        """Return the values and positions of the best configurations, in descending order."""
        if not self._is_started:
            positions = self.first.positions
            return [] if positions is None else [(self.first.value, positions)]
        best = sorted(self._best, key=lambda each: (-each[0], each[1]))
        return [(value, np.frombuffer(key, dtype=np.int64)) for value, key in best]

    def advance(self, max_nodes: int) -> None:
        """Visit at most so many nodes; before that, start a level if it is time to."""
        if not self.first.is_done:
            self.first.advance(max_nodes)
        elif not self._is_started or self.left < 1:
            self._start_level()
        end = self.nodes + max_nodes
        while self._is_started and not self.is_done and self.left >= 1 and self.nodes < end:
            self._search(int(min(end - self.nodes, self.left)))

    def _start_level(self) -> None:
        before = self.level
        self.number = self.first.number if before is None else self.number + 1
        self.number = max(0, self.number)
        self.level = level = self.first.problem.level(self.number, is_whole=True)
        self.left = math.inf if level.is_last else level.next_cells / CELLS_OF_NODE
        tree = level.tree.arrays
        # The value of a leaf that is evaluated stands in no cache.
        self._cache_bytes = 0 if level.evaluates else self.first.cache_bytes
        self._arrays: SearchArrays = search_arrays(tree, -math.inf, self._cache_bytes)
        self._node_values = NodeValues(tree)
        self._gates = _gates(tree, level.tree.first_gate)
        if self._part is not None:
            heapq.heappush(self._parts, self._part)
            self._part = None
        if before is None or before.tree.variables != level.tree.variables:
            self._parts = []
            assert self.first.positions is not None
            states = np.zeros(len(tree.sizes), dtype=np.int64)
            states[1:] = self.first.positions[list(level.tree.variables)]
            root = _Part(-math.inf, 0, states, 0, ())
            self._take(root, states, self.first.value)
        self._is_started = True

    def _search(self, max_nodes: int) -> None:
        """Search in a part until a leaf must be evaluated, or for some nodes."""
        assert self.level is not None
        if self._part is None:
            self._open_part(heapq.heappop(self._parts))
        self._arrays = grown(self._arrays, self._cache_bytes)
        part, arrays, tree = self._part, self._arrays, self._tree
        assert part is not None
        reason, visited = run_search(tree, arrays, max_nodes, self._tolerance, self.level.evaluates)
        if reason == LEAF:
            visited += LEAF_NODES
            value = self._value(arrays.states)
            arrays.returned[0] = value - exact_value(tree, arrays.states)
            self._offer(arrays.states, value)
            raise_least(tree, arrays, self._threshold)
        self.searched += visited
        self.left -= visited
        if reason == DONE:
            self._part = None
            if arrays.best[0] > arrays.least[0]:
                states = solved_states(tree, arrays, self._tolerance)
                self._gates[:] = 0.0
                self._take(part, states, self._value(states))

    def _open_part(self, part: _Part) -> None:
        """Start the search in a part."""
        assert self.level is not None
        tree, gates, node = self.level.tree.arrays, self._gates, part.node
        starts = tree.choice_starts - 1
        gates[:] = 0.0
        gates[: starts[node]] = -math.inf
        gates[starts[1:node] + part.states[1:node]] = 0.0
        gates[starts[node] + np.array(part.excluded, dtype=np.int64)] = -math.inf
        # Subtrees below the node are those of all parts.
        is_cached = tree.is_cached.copy()
        is_cached[: node + 1] = 0
        self._tree = tree._replace(is_cached=is_cached)
        self._arrays.control[:] = 0
        self._arrays.least[0] = self._threshold
        self._part = part

    def _take(self, part: _Part, states: Ints, value: float) -> None:
        """Take the best configuration of a part, and divide the rest. All gates must be open."""
        assert self.level is not None
        tree = self.level.tree.arrays
        self._offer(states, value)
        if not self.level.evaluates:
            self._offer_neighbors(states, value)
        bounds = self._node_values.bounds(states)
        starts = tree.choice_starts
        chosen = bounds[starts[:-1] + states]
        # The value of a subtree is the sum over its nodes.
        sums = np.concatenate([[0.0], np.cumsum(chosen)])
        without = sums[-1] - (sums[tree.ends] - sums[:-1])
        bounds[starts[:-1] + states] = -math.inf
        bounds[starts[part.node] + np.array(part.excluded, dtype=np.int64)] = -math.inf
        largest = without + np.maximum.reduceat(bounds, starts[:-1])
        smallest = self._threshold + self._tolerance
        states = states.copy()
        for node in range(max(1, part.node), len(tree.sizes)):
            bound = min(float(largest[node]), value)
            if bound > smallest:
                self._n_parts += 1
                excluded = (*(part.excluded if node == part.node else ()), int(states[node]))
                heapq.heappush(self._parts, _Part(-bound, self._n_parts, states, node, excluded))

    def _offer_neighbors(self, states: Ints, value: float) -> None:
        """Offer the best configurations that differ in a single state."""
        assert self.level is not None
        tree = self.level.tree.arrays
        values = self._node_values.exact(states)
        starts = tree.choice_starts[:-1]
        node_of = np.repeat(np.arange(len(tree.sizes)), tree.sizes)
        changes = values - values[starts + states][node_of]
        changes[starts + states] = -math.inf
        changes[0] = -math.inf
        for choice in np.argsort(-changes, kind="stable")[: self.count].tolist():
            if value + changes[choice] <= self._threshold:
                return
            node = int(node_of[choice])
            other = states.copy()
            other[node] = choice - starts[node]
            self._offer(other, value + float(changes[choice]))

    def _offer(self, states: Ints, value: float) -> None:
        """Take a configuration of the nodes if it is among the best ones."""
        key = self._positions(states).tobytes()
        if key in self._known or not value > self._threshold:
            return
        self._known.add(key)
        if len(self._best) < self.count:
            heapq.heappush(self._best, (value, key))
        else:
            _, dropped = heapq.heapreplace(self._best, (value, key))
            self._known.discard(dropped)

    def _value(self, states: Ints) -> float:
        assert self.level is not None
        first = self.first
        if self.level.evaluates:
            assert first.evaluate is not None
            return first.evaluate(self._positions(states))
        if any(first.problem.is_summed):
            return float(exact_value(self.level.tree.arrays, states))
        return first.problem.tables.value(self._positions(states).tolist())

    def _positions(self, states: Ints) -> NDArray[np.int64]:
        """Return the positions of all variables; summed ones have the first."""
        assert self.level is not None
        positions = np.zeros(len(self.first.problem.tables.sizes), dtype=np.int64)
        positions[list(self.level.tree.variables)] = states[1:]
        return positions

    @property
    def _tolerance(self) -> float:
        return TOLERANCE * max(1.0, abs(self.first.value))

    @property
    def _threshold(self) -> float:
        """The value that other configurations must exceed."""
        return self._best[0][0] if len(self._best) == self.count else -math.inf

    def _open_bound(self) -> float:
        """Return the largest bound of the parts to be searched; −inf if none matters."""
        bound = self._parts[0].bound if self._parts else -math.inf
        return bound if bound > self._threshold + self._tolerance else -math.inf

    def _current_bound(self) -> float:
        if self._part is None:
            return -math.inf
        return min(self._part.bound, upper_bound(self._tree, self._arrays))


def _gates(tree: TreeArrays, first: int) -> NDArray[np.float64]:
    """Return a view of the tables that exclude states, one cell for each state of nodes from 1."""
    start = int(tree.firsts[first]) if first < len(tree.firsts) else len(tree.cells) - 1
    return tree.cells[start : start + int(tree.choice_starts[-1]) - 1]


# --- Runs of searches until a limit, and the results they know in between -------------------------

_STEP = 20_000
"""The nodes between two looks at the clock and at Ctrl-C: about a tenth of a second."""


class _Progress(Protocol):
    @property
    def is_done(self) -> bool: ...
    @property
    def has_found(self) -> bool: ...
    @property
    def nodes(self) -> int: ...
    def advance(self, max_nodes: int) -> None: ...


_Kind = TypeVar("_Kind", bound=_Progress)
_Known = TypeVar("_Known")


def run_until(
    progress: _Kind,
    result: Callable[[_Kind], _Known],
    max_nodes: int | None,
    seconds: float | None,
    until: Callable[[_Known], bool] | None,
) -> _Known:
    """Return what a search knows when it is complete, at the first of the limits, or at Ctrl-C."""
    end = math.inf if seconds is None else time.monotonic() + seconds
    try:
        while not progress.is_done and time.monotonic() < end:
            left = _STEP if max_nodes is None else min(_STEP, max_nodes - progress.nodes)
            if left < 1:
                break
            progress.advance(left)
            if until is not None and until(result(progress)):
                break
    except KeyboardInterrupt:
        if not progress.has_found:
            raise
    return result(progress)


def known(question: SearchQuestion, progress: Progress) -> BoundedExplanation:
    """Return the best configuration so far.

    Raises
    ------
    ImpossibleEvidenceError
        If the search is complete and found none.
    """
    positions = progress.positions
    if progress.is_done and positions is None:
        raise question.refusal()
    return BoundedExplanation(
        states={} if positions is None else question.states_at(positions),
        log_probability=progress.value,
        upper_bound=progress.bound,
        nodes=progress.nodes,
        is_proven=progress.is_done,
    )


def best_known(question: SearchQuestion, progress: BestProgress) -> BestExplanations:
    """Return the best configurations so far; raise errors as `known` does."""
    best = progress.found()
    if progress.is_done and not best:
        raise question.refusal()
    if best:
        rows = np.array([question.explained_at(at) for _, at in best], dtype=np.intp)
        order = in_order(rows.T, np.array([value for value, _ in best]))
        best = [best[i] for i in order]
    explanations = [Explanation(question.states_at(at), value) for value, at in best]
    return BestExplanations(
        explanations=tuple(explanations),
        upper_bound=progress.bound,
        nodes=progress.nodes,
        is_proven=progress.is_done,
    )


# --- Searches for proven most probable explanations and marginal MAP, which can be stopped --------


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

    def __repr__(self) -> str:
        return (
            f"ExplanationSearch({len(self.variables):,} of {len(self.model.variables):,} variables"
            f" | {counted(len(self.evidence), 'finding')})"
        )

    @property
    def variables(self) -> tuple[Variable, ...]:
        """The explained variables."""
        return self._question.variables

    @checked
    def run(
        self,
        *,
        max_nodes: int | None = None,
        seconds: float | None = None,
        until: Callable[[BoundedExplanation], bool] | None = None,
    ) -> BoundedExplanation:
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
        progress = self._progress()
        found = run_until(progress, partial(known, self._question), max_nodes, seconds, until)
        self._question.remember()
        return found

    @checked
    def best(
        self,
        count: int,
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
        possible = check_count(count, self.variables)
        progress = BestProgress(self._progress(), min(count, possible))
        return run_until(progress, partial(best_known, self._question), max_nodes, seconds, until)

    @checked
    def run_cases(
        self,
        cases: Iterable[Evidence],
        *,
        max_nodes: int | None = None,
        seconds: float | None = None,
        until: Callable[[BoundedExplanation], bool] | None = None,
    ) -> tuple[BoundedExplanation, ...]:
        """Return the best configuration for each of several cases.

        The tables of the model are prepared once. Cases with findings on the same variables share
        the elimination order and, for a marginal MAP, the plan of its sums. Equal cases are
        searched once.

        Parameters
        ----------
        cases
            The findings of each case, besides those of this search. Cases may observe different
            variables.
        max_nodes, seconds, until
            As in `run`, for each case.

        Returns
        -------
        tuple of BoundedExplanation
            In the order of the cases. An impossible case has no states, and is proven to have the
            log-probability −inf.

        Raises
        ------
        InvalidArgumentError
            If a finding is invalid, is about a variable of this search's evidence, or is the state
            of a target.
        UnknownNameError
            If there is no such variable or state.
        """
        asked = [self.given(case) for case in cases]
        found: dict[Any, BoundedExplanation] = {}
        for search in asked:
            key = search._question.findings
            if key not in found:
                try:
                    found[key] = search.run(max_nodes=max_nodes, seconds=seconds, until=until)
                except ImpossibleEvidenceError:
                    found[key] = _NOTHING
        return tuple([found[search._question.findings] for search in asked])

    @checked
    def given(self, case: Evidence) -> ExplanationSearch:
        """Return the search under more evidence, which shares the preparation of the model.

        Parameters
        ----------
        case
            The findings besides those of this search.

        Raises
        ------
        InvalidArgumentError, UnknownNameError
            As for `run_cases`.
        """
        findings = findings_of(self.model, by_name(case, "a case"))
        twice = [name for name in findings if name in self.evidence]
        if twice:
            raise InvalidArgumentError(
                f"{twice[0]} is evidence of the search already, and of a case too", twice[0]
            )
        check_targets(self.model, self.targets, findings)
        evidence = {**self.evidence, **findings}
        search = replace(self, evidence=evidence)
        search.__dict__["_question"] = self._question.under(evidence)
        return search

    def _progress(self) -> Progress:
        question = self._question
        return Progress(question.problem, self.limits.max_bytes // 8, question.evaluate)

    @cached_property
    def _question(self) -> SearchQuestion:
        return SearchQuestion(
            model=self.model,
            evidence=self.evidence,
            targets=self.targets,
            order=self.order,
            limits=self.limits,
        )


_NOTHING = BoundedExplanation(
    states={}, log_probability=-math.inf, upper_bound=-math.inf, nodes=0, is_proven=True
)
"""The result for an impossible case."""


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

    Use it where `compile_explanation` and `compile_marginal_map` would need too much memory.

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
    findings = findings_of(model, by_name(evidence, "the evidence"))
    names = None if targets is None else tuple(targets)
    check_targets(model, names, findings)
    return ExplanationSearch(
        model=model, evidence=findings, targets=names, order=order, limits=limits
    )


# --- Searches whose effort is limited like that of a plan -----------------------------------------

_MULTIPLICATIONS_OF_NODE = 2**11
"""The multiplications of a plan that take about as long as a node of a search."""


def searched(search: ExplanationSearch, findings: Mapping[str, Any]) -> Explanation:
    """Return the most probable explanation or marginal MAP by a search within its limits.

    Parameters
    ----------
    search
        A search for any evidence. Calls with findings on the same variables share preparations.
    findings
        The evidence.

    Raises
    ------
    TooLargeError
        If there is no proof within the limits.
    ImpossibleEvidenceError
        If the evidence has probability zero.
    """
    return search.given(findings).run(max_nodes=_most_nodes(search.limits)).proven()


def best_searched(
    search: ExplanationSearch, findings: Mapping[str, Any], count: int
) -> tuple[Explanation, ...]:
    """Return the most probable explanations, at most ``count``, in descending order.

    The other parameters and the errors are those of `searched`.
    """
    return search.given(findings).best(count, max_nodes=_most_nodes(search.limits)).proven()


def _most_nodes(limits: Limits) -> int:
    """Return the number of nodes that limits allow."""
    most = limits.max_multiplications // _MULTIPLICATIONS_OF_NODE
    if not most:
        raise TooLargeError(
            f"a search takes as long as {_MULTIPLICATIONS_OF_NODE:,} multiplications or more;"
            f" allowed are max_multiplications={limits.max_multiplications:,}",
            needed=_MULTIPLICATIONS_OF_NODE,
            budget=limits.max_multiplications,
        )
    return most
