"""A search in progress: dives for good configurations, and branch and bound, level by level."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.junction.branch_and_bound.dives_kernel import dive, exact_value
from bnmind.junction.branch_and_bound.problem import Level, SearchProblem
from bnmind.junction.branch_and_bound.search_kernel import (
    DONE,
    LEAF,
    SearchArrays,
    run_search,
)
from bnmind.junction.branch_and_bound.search_state import (
    grown,
    raise_least,
    search_arrays,
    solved_states,
    upper_bound,
)

__all__ = ["CELLS_OF_NODE", "LEAF_NODES", "TOLERANCE", "Evaluator", "Progress"]

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
