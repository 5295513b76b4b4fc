"""Depth-first AND/OR branch and bound, compiled, which can be interrupted and continued.

All values of a subtree are relative to its bound, the sum of the tables that its mini-buckets give.
So the bound of every subtree is zero, and its value is negative, or zero where the bound is exact.

=================  ============================================================================
array              content, for each node on the path from the top to the current node
=================  ============================================================================
least              only values above this number matter
best               the largest value found so far
failed             the largest bound of the states that failed so far
totals             the bound of the current state, with the values of the subtrees searched so far
=================  ============================================================================

A finished node returns its exact value if it is above ``least``, and an upper bound otherwise. Both
are cached.

References
----------
R. Marinescu and R. Dechter, "AND/OR branch-and-bound search for combinatorial optimization in
graphical models", Artificial Intelligence 173 (2009), algorithm AOBB with context-based caching;
S. de Givry, T. Schiex and G. Verfaillie, "Exploiting tree decomposition and soft local consistency
in weighted CSP", AAAI (2006), for the bounds of unfinished subproblems.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.junction.branch_and_bound.search_tree import Ints, TreeArrays

__all__ = [
    "DONE",
    "ENTER",
    "LEAF",
    "NEXT",
    "PAUSED",
    "RETURN",
    "VALUED",
    "SearchArrays",
    "cached_value",
    "first_places",
    "run_search",
    "table_start",
]

ENTER = 0
"""The next thing to do: enter the current node."""

NEXT = 1
"""The next thing to do: try the next state of the current node."""

RETURN = 2
"""The next thing to do: return a value from the current node."""

VALUED = 3
"""The next thing to do: take the value of a leaf that the caller evaluated."""

DONE = 0
"""Why a run ended: the search is complete."""

PAUSED = 1
"""Why a run ended: it visited as many nodes as it may."""

LEAF = 2
"""Why a run ended: a leaf must be evaluated."""

_PROBES = 4
"""The number of places of the cache where a value may stand."""

_GOLDEN = 0x9E3779B97F4A7C15
_MIX = 0xBF58476D1CE4E5B9


class SearchArrays(NamedTuple):
    """The state of a search."""

    states: Ints
    """The state of each node on the current path."""
    least: Floats
    best: Floats
    failed: Floats
    totals: Floats
    positions: Ints
    """How many states of each node were tried."""
    ordered: Ints
    """The states of each node, the most promising first."""
    upper: Floats
    """Their bounds."""
    child_at: Ints
    """Which subtree of the current state is searched."""
    solution: Ints
    """The best states of each subtree; −1 where a value came from the cache."""
    control: Ints
    """The current node, what to do next, the top of the search, and whether a returned value is
    exact."""
    returned: Floats
    """The value that a subtree returned, or of a leaf."""
    cache_keys: Ints
    """Configurations of contexts; the places are a power of two."""
    cache_nodes: Ints
    cache_values: Floats
    cache_is_exact: NDArray[np.int8]


@njit
def _context_key(tree: TreeArrays, states: Ints, node: int) -> int:
    key = 0
    for at in range(tree.context_starts[node], tree.context_starts[node + 1]):
        key += tree.context_strides[at] * states[tree.context[at]]
    return key


@njit
def _place(node: int, key: int, size: int) -> np.int64:
    mixed = np.uint64(key) * np.uint64(_GOLDEN) + np.uint64(node)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(_MIX)
    mixed = (mixed ^ (mixed >> np.uint64(29))) & np.uint64(size - 1)
    return np.int64(mixed)


def first_places(nodes: Ints, keys: Ints, size: int) -> Ints:
    """Return the places of the cache where a search looks first, as `_place` computes them."""
    mixed = keys.astype(np.uint64) * np.uint64(_GOLDEN) + nodes.astype(np.uint64)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(_MIX)
    mixed = (mixed ^ (mixed >> np.uint64(29))) & np.uint64(size - 1)
    return mixed.astype(np.int64)


@njit
def cached_value(tree: TreeArrays, arrays: SearchArrays, node: int) -> int | np.int64:
    """Return where the value of a subtree in its context stands in the cache; −1 if nowhere."""
    if not tree.is_cached[node] or arrays.cache_keys.size == 0:
        return -1
    key = _context_key(tree, arrays.states, node)
    size = arrays.cache_keys.size
    place = _place(node, key, size)
    for _ in range(_PROBES):
        if arrays.cache_nodes[place] == node and arrays.cache_keys[place] == key:
            return place
        place = (place + 1) & (size - 1)
    return -1


@njit
def _remember(
    tree: TreeArrays, arrays: SearchArrays, node: int, value: float, is_exact: bool
) -> None:
    size = arrays.cache_keys.size
    if not tree.is_cached[node] or size == 0:
        return
    key = _context_key(tree, arrays.states, node)
    first = _place(node, key, size)
    place = first
    chosen = first
    for _ in range(_PROBES):
        if arrays.cache_nodes[place] == node and arrays.cache_keys[place] == key:
            chosen = place
            break
        if arrays.cache_nodes[place] < 0 <= arrays.cache_nodes[chosen]:
            chosen = place
        place = (place + 1) & (size - 1)
    arrays.cache_nodes[chosen] = node
    arrays.cache_keys[chosen] = key
    arrays.cache_values[chosen] = value
    arrays.cache_is_exact[chosen] = is_exact


@njit
def table_start(tree: TreeArrays, states: Ints, table: int, skipped: int) -> int:
    """Return the cell of a table at the current states, without the last ``skipped`` axes."""
    cell: int = tree.firsts[table]
    for at in range(tree.scope_starts[table], tree.scope_starts[table + 1] - skipped):
        cell += tree.strides[at] * states[tree.scopes[at]]
    return cell


@njit
def _fill_bounds(tree: TreeArrays, arrays: SearchArrays, node: int) -> None:
    """Compute the bounds of the states of a node, and order the states by them."""
    start = tree.choice_starts[node]
    size = tree.sizes[node]
    base = tree.constant[0] if node == 0 else 0.0
    for at in range(tree.own_starts[node], tree.own_starts[node + 1]):
        base -= tree.cells[table_start(tree, arrays.states, tree.own[at], 0)]
    for x in range(size):
        arrays.upper[start + x] = base
    for at in range(tree.bucket_starts[node], tree.bucket_starts[node + 1]):
        cell = table_start(tree, arrays.states, tree.bucket[at], 1)
        for x in range(size):
            arrays.upper[start + x] += tree.cells[cell + x]
    # Insertion sort; equal bounds keep the order of the states.
    for x in range(size):
        bound = arrays.upper[start + x]
        at = x
        while at > 0 and arrays.upper[start + arrays.ordered[start + at - 1]] < bound:
            arrays.ordered[start + at] = arrays.ordered[start + at - 1]
            at -= 1
        arrays.ordered[start + at] = x


@njit
def _keep_solution(tree: TreeArrays, arrays: SearchArrays, node: int) -> None:
    """Copy the best states of the subtrees of a node to those of the node."""
    start = tree.solution_starts[node]
    arrays.solution[start] = arrays.states[node]
    for at in range(tree.child_starts[node], tree.child_starts[node + 1]):
        child = tree.children[at]
        source = tree.solution_starts[child]
        to = start + child - node
        for i in range(tree.ends[child] - child):
            arrays.solution[to + i] = arrays.solution[source + i]


@njit
def _take_leaf(
    tree: TreeArrays, arrays: SearchArrays, node: int, value: float, tolerance: float
) -> None:
    """Take the value of a leaf, relative to its bound."""
    arrays.totals[node] += value
    total = arrays.totals[node]
    if total > max(arrays.least[node], arrays.best[node]) + tolerance:
        arrays.best[node] = total
        arrays.solution[tree.solution_starts[node]] = arrays.states[node]
    else:
        arrays.failed[node] = max(arrays.failed[node], total)


@njit
def _take_value(
    tree: TreeArrays,
    arrays: SearchArrays,
    node: int,
    value: float,
    is_exact: bool,
    tolerance: float,
) -> tuple[int, int]:
    """Take the value of a subtree at its parent; return the next node, and what to do there."""
    parent = tree.parents[node]
    threshold = max(arrays.least[parent], arrays.best[parent])
    arrays.totals[parent] += value
    total = arrays.totals[parent]
    if not is_exact or total <= threshold + tolerance:
        arrays.failed[parent] = max(arrays.failed[parent], total)
        return parent, NEXT
    arrays.child_at[parent] += 1
    at = arrays.child_at[parent]
    if at < tree.child_starts[parent + 1]:
        child = tree.children[at]
        arrays.least[child] = threshold - total
        return child, ENTER
    arrays.best[parent] = total
    _keep_solution(tree, arrays, parent)
    return parent, NEXT


@njit
def run_search(
    tree: TreeArrays,
    arrays: SearchArrays,
    most_nodes: int,
    tolerance: float,
    evaluates: bool,
) -> tuple[int, int]:
    """Continue a search.

    Parameters
    ----------
    tree, arrays
        The tree and the state of the search, which changes.
    most_nodes
        The number of nodes to visit.
    tolerance
        Values above the best one by no more than this are not searched for.
    evaluates
        Whether the caller evaluates the leaves.

    Returns
    -------
    reason, visited
        `DONE`, `PAUSED` or `LEAF`, and the number of nodes visited.
    """
    control = arrays.control
    node, phase, top = control[0], control[1], control[2]
    is_exact = control[3] != 0
    value = arrays.returned[0]
    visited = 0
    reason = -1
    while reason < 0:
        if phase == ENTER:
            if visited >= most_nodes:
                reason = PAUSED
                continue
            visited += 1
            place = cached_value(tree, arrays, node) if node != top else -1
            if place >= 0:
                is_exact = arrays.cache_is_exact[place] != 0
                value = arrays.cache_values[place]
                if is_exact or value <= arrays.least[node] + tolerance:
                    start = tree.solution_starts[node]
                    for i in range(tree.ends[node] - node):
                        arrays.solution[start + i] = -1
                    phase = RETURN
                    continue
            _fill_bounds(tree, arrays, node)
            arrays.best[node] = -np.inf
            arrays.failed[node] = -np.inf
            arrays.positions[node] = 0
            phase = NEXT
        elif phase == NEXT:
            threshold = max(arrays.least[node], arrays.best[node])
            start = tree.choice_starts[node]
            bound = -np.inf
            x = -1
            if arrays.positions[node] < tree.sizes[node]:
                x = arrays.ordered[start + arrays.positions[node]]
                bound = arrays.upper[start + x]
            if bound <= threshold + tolerance:
                is_exact = arrays.best[node] > arrays.least[node]
                value = arrays.best[node] if is_exact else max(arrays.failed[node], bound)
                _remember(tree, arrays, node, value, is_exact)
                phase = RETURN
                continue
            arrays.positions[node] += 1
            arrays.states[node] = x
            arrays.totals[node] = bound
            first = tree.child_starts[node]
            if first < tree.child_starts[node + 1]:
                arrays.child_at[node] = first
                child = tree.children[first]
                arrays.least[child] = threshold - bound
                node = child
                phase = ENTER
            elif evaluates:
                phase = VALUED
                reason = LEAF
            else:
                arrays.best[node] = bound
                arrays.solution[tree.solution_starts[node]] = x
        elif phase == VALUED:
            _take_leaf(tree, arrays, node, value, tolerance)
            phase = NEXT
        else:
            if node == top:
                reason = DONE
                continue
            node, phase = _take_value(tree, arrays, node, value, is_exact, tolerance)
    control[0], control[1], control[3] = node, phase, is_exact
    arrays.returned[0] = value
    return reason, visited
