"""The most probable configurations, in descending order, by partition and branch and bound.

After the best configuration of a *part* of all configurations is found, the rest of the part is
divided: for each node of the tree, the configurations that agree with the best one before the node
and differ from it there. The bounds of the tree give a bound for each of these parts, and the part
with the largest bound is searched next. The search ends when no bound exceeds the last of the
configurations asked for. Values of subtrees that no part restricts are cached for all parts.

References
----------
E. L. Lawler, "A procedure for computing the K best solutions to discrete optimization problems and
its application to the shortest path problem", Management Science 18 (1972); D. Nilsson, "An
efficient algorithm for finding the M most probable configurations in probabilistic expert systems",
Statistics and Computing 8 (1998).
"""

from __future__ import annotations

import heapq
import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind.junction.branch_and_bound.dives_kernel import exact_value
from bnmind.junction.branch_and_bound.node_values import NodeValues
from bnmind.junction.branch_and_bound.problem import Level
from bnmind.junction.branch_and_bound.progress import (
    CELLS_OF_NODE,
    LEAF_NODES,
    TOLERANCE,
    Progress,
)
from bnmind.junction.branch_and_bound.search_kernel import DONE, LEAF, SearchArrays, run_search
from bnmind.junction.branch_and_bound.search_state import (
    grown,
    raise_least,
    search_arrays,
    solved_states,
    upper_bound,
)
from bnmind.junction.branch_and_bound.search_tree import Ints, TreeArrays

__all__ = ["BestProgress"]


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
