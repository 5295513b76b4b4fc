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

from bnmind.junction.graphs import OrderFinder
from bnmind.junction.search_bounds import (
    Division,
    LogTable,
    LogTables,
    bounds_of,
    constrained_order,
    divide,
    shifted_tables,
)
from bnmind.junction.search_tree import (
    DONE,
    LEAF,
    Ints,
    SearchArrays,
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
    """A tree with bounds in limited memory."""

    tree: TreeArrays
    variables: Ints
    """The variable of each node from node 1."""
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

    def level(self, number: int) -> Level:
        """Return the bounds and the tree of a level."""
        goals = [min(_FIRST_CELLS * _GROWTH**k, self.max_cells) for k in (number, number + 1)]
        sizes = self.tables.sizes
        is_thorough = number >= _THOROUGH and self.thorough is not None
        order, _ = self._order(is_thorough=is_thorough)
        division = _largest_division(
            [table.scope for table in self.shifted], sizes, order, goals[0]
        )
        bounds = bounds_of(self.shifted, division, sizes, self.is_summed)
        tree, variables = search_tree(bounds, sizes, self.is_summed, self.tables.constant)
        is_last = goals[0] >= self.max_cells or not division.divided
        evaluates = any(self.is_summed[v] for v in division.divided)
        return Level(tree, variables, is_last, goals[1], evaluates)


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
        return max(self._threshold, self._open_bound(), self._current_bound())

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
        before = None if self._level is None else self._level[0].variables
        self._level = None  # before others take memory
        self.number += 1
        level = self.problem.level(self.number)
        self._left = math.inf if level.is_last else level.next_cells / CELLS_OF_NODE
        # The value of a leaf that is evaluated stands in no cache.
        cache_bytes = 0 if level.evaluates else self.cache_bytes
        self._level = level, search_arrays(level.tree, cache_bytes, self._left)
        if self._is_first:
            self._first_bound = min(self._first_bound, float(level.tree.constant[0]))
            if level.evaluates and not self._best:
                self._offer_explanation()
            self._dive(_DIVES, 0)
            self._open(_Part(-math.inf, 0, np.zeros(len(level.tree.sizes), np.int64), 0, ()))
            self._end_first_if_equal()
        elif before is None or not np.array_equal(before, level.variables):
            self._parts, self._part = [], None
            self._divide_all()
        elif self._part is not None:
            heapq.heappush(self._parts, self._part)
            self._part = None

    def _search(self, max_nodes: int) -> None:
        """Search in a part until a leaf must be evaluated, or for some nodes."""
        if self._part is None:
            self._open(heapq.heappop(self._parts))
        level, arrays = self._now
        part = self._part
        assert part is not None
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
                self._end_first()
            elif is_better:
                self._divide(part, states, value)
        elif self._is_first:
            if (rounds := self.nodes // _NODES_OF_DIVES) > before:
                self._dive(_FEW_DIVES, rounds * _FEW_DIVES)
                raise_least(level.tree, arrays, self.value)
            self._first_bound = min(self._first_bound, upper_bound(level.tree, arrays))
            self._end_first_if_equal()

    def _end_first_if_equal(self) -> None:
        if self.value >= self._first_bound - self._tolerance:
            self._end_first()

    def _end_first(self) -> None:
        """Go on after the best configuration."""
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
                near = tree.choice_starts[1:-1] + self._nodes_at(self.found()[0][1])
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
            states = np.array([0, *self._nodes_at(found[0][1])])
            self._offer(states)

    def _open(self, part: _Part) -> None:
        """Start the search in a part."""
        level, arrays = self._now
        tree, node = level.tree, part.node
        starts = tree.choice_starts
        arrays.barred[:] = 0.0
        arrays.barred[: starts[node]] = -math.inf
        arrays.barred[starts[:node] + part.states[:node]] = 0.0
        arrays.barred[starts[node] + np.array(part.excluded, dtype=np.int64)] = -math.inf
        # Subtrees below the node are those of all parts.
        arrays.is_cached[:], arrays.is_open[:] = tree.is_cached, tree.is_open
        arrays.is_cached[: node + 1], arrays.is_open[: node + 1] = 0, 1
        arrays.control[:] = 0
        arrays.least[0] = self._threshold
        self._part = part

    def _divide_all(self) -> None:
        """Divide all configurations but the best."""
        value, positions = self.found()[0]
        states = np.array([0, *self._nodes_at(positions)])
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
        positions[self._now[0].variables] = states[1:]
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
        """Return the states of the nodes from node 1 at positions of all variables."""
        return positions[self._now[0].variables]

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

    def _current_bound(self) -> float:
        if self._part is None:
            return -math.inf
        level, arrays = self._now
        return min(-self._part.negative_bound, upper_bound(level.tree, arrays))
