"""Searches for explanations in progress: problems, levels, and the best configurations known."""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.junction.graphs import OrderFinder
from bnmind.junction.search_bounds import (
    Bounds,
    Division,
    LogTable,
    LogTables,
    bounds_of,
    constrained_order,
    divide,
    shifted_tables,
)
from bnmind.junction.search_kernel import (
    DONE,
    LEAF,
    Ints,
    SearchArrays,
    SearchTree,
    TreeArrays,
    changed_values,
    dive,
    exact_value,
    fill_all_bounds,
    raise_least,
    run_search,
    search_arrays,
    search_tree,
    solved_states,
    upper_bound,
)

# --- The problem of a search, and its bounds at levels of growing memory --------------------------

_FIRST_CELLS = 2**14
_GROWTH = 2**5
"""The cells of all tables at the first level, and their growth from level to level."""

_THOROUGH = 2
"""The first level whose search takes so long that a longer search for an order pays."""


class Level(NamedTuple):
    """Bounds in limited memory, and the tree of a search with them."""

    bounds: Bounds
    tree: SearchTree
    is_last: bool
    """Whether no level has more memory."""
    next_cells: int
    """The limit for the cells of the next level."""
    evaluates: bool
    """Whether the sums over the summed variables must be computed at each leaf."""


Orders: TypeAlias = dict[bool, tuple[tuple[int, ...], int]]
"""Orders of elimination and their sizes, after a short and after a longer search."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchProblem:
    """A sum of tables, to be maximized over some variables and summed over the others."""

    tables: LogTables
    is_summed: tuple[bool, ...]
    """For each variable, whether the exponentials are summed over its states."""
    finder: OrderFinder
    max_cells: int
    """The most cells of all tables of the bounds."""
    thorough: OrderFinder | None = None
    """The search for the order of the levels with more memory; None for the same order."""
    orders: Orders = field(default_factory=dict)
    """The orders found so far, which problems with evidence on the same variables share."""

    @cached_property
    def shifted(self) -> tuple[LogTable, ...]:
        """Tables with the same sum and tighter bounds."""
        if any(self.is_summed):
            return self.tables.tables
        return shifted_tables(self.tables.tables, self.tables.sizes)

    def _order(self, *, is_thorough: bool) -> tuple[tuple[int, ...], int]:
        """Return an order of the variables that are not certain, and its size."""
        sizes = self.tables.sizes
        free = {v for v, size in enumerate(sizes) if size > 1}
        order, size = self.orders.get(is_thorough, ((), 0))
        if not free <= set(order):
            finder = self.thorough if is_thorough and self.thorough else self.finder
            scopes = [table.scope for table in self.shifted]
            order, size = constrained_order(scopes, sizes, self.is_summed, finder)
            if is_thorough:
                short, short_size = self._order(is_thorough=False)
                order, size = (order, size) if size < short_size else (short, short_size)
            self.orders[is_thorough] = order, size
        return tuple([v for v in order if v in free]), size

    def level(self, number: int, *, is_whole: bool = False) -> Level:
        """Return the bounds and the tree of a level.

        A whole tree has a node for each variable that is not summed out, with a table of its own
        that can exclude states.
        """
        goals = [min(_FIRST_CELLS * _GROWTH**k, self.max_cells) for k in (number, number + 1)]
        sizes = self.tables.sizes
        is_thorough = number >= _THOROUGH and self.thorough is not None
        order, _ = self._order(is_thorough=is_thorough)
        division = _largest_division(
            [table.scope for table in self.shifted], sizes, order, goals[0]
        )
        bounds = bounds_of(self.shifted, division, sizes, self.is_summed)
        tree = search_tree(bounds, sizes, self.is_summed, self.tables.constant, is_whole=is_whole)
        is_last = goals[0] >= self.max_cells or not division.divided
        evaluates = any(self.is_summed[v] for v in division.divided)
        return Level(bounds, tree, is_last, goals[1], evaluates)


def _largest_division(
    scopes: Sequence[tuple[int, ...]], sizes: Sequence[int], order: Sequence[int], max_cells: int
) -> Division:
    """Return the division with the largest mini-buckets whose tables fit."""

    def division(exponent: int) -> Division:
        return divide(scopes, sizes, order, 2**exponent)

    fits, low, high = division(0), 0, max(1, max_cells.bit_length())
    while high - low > 1:
        middle = (low + high) // 2
        found = division(middle)
        if found.cells + 2 * found.largest > max_cells:
            high = middle
        else:
            fits, low = found, middle
            if not fits.divided:
                break
    return fits


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
            self.arrays = search_arrays(tree, self.value, self.cache_bytes, self.left)

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

    def value_of(self, level: Level, states: Ints, positions: NDArray[np.int64]) -> float:
        """Return the value of a configuration, by the states of nodes and the positions of all."""
        if level.evaluates:
            assert self.evaluate is not None
            return self.evaluate(positions)
        if any(self.problem.is_summed):
            return float(exact_value(level.tree.arrays, states))
        return self.problem.tables.value(positions.tolist())

    def _offer(self, states: NDArray[np.int64]) -> float:
        """Take a configuration of the nodes if it is the best one known; return its value."""
        assert self.level is not None
        positions = self._completed(states)
        return self._offer_positions(positions, self.value_of(self.level, states, positions))

    def _offer_positions(self, positions: NDArray[np.int64], value: float) -> float:
        if value > self.value:
            self.value, self.positions = value, positions
        return value

    def _offer_explanation(self) -> None:
        """Start a marginal MAP from the most probable explanation, as far as that is known soon."""
        summed = self.problem.is_summed
        problem = replace(self.problem, is_summed=(False,) * len(summed), orders={})
        joint = Progress(problem, 0)
        while not joint.is_done and joint.number < 1:
            joint.advance(_NODES_OF_DIVES)
        if joint.positions is not None:
            assert self.evaluate is not None
            self._offer_positions(joint.positions, self.evaluate(joint.positions))

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
        cache_bytes = 0 if level.evaluates else self.first.cache_bytes
        self._arrays: SearchArrays = search_arrays(tree, -math.inf, cache_bytes, self.left)
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
        self._arrays.states[:] = states
        fill_all_bounds(tree, self._arrays)
        bounds = self._arrays.upper.copy()
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
        starts = tree.choice_starts[:-1]
        node_of = np.repeat(np.arange(len(tree.sizes)), tree.sizes)
        changes = changed_values(tree, states)
        changes[starts + states] = -math.inf
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
        return self.first.value_of(self.level, states, self._positions(states))

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
