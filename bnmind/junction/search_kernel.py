"""Branch and bound in compiled code: its steps, its dives to good solutions, and its state."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.junction.search_bounds import Ints, TreeArrays

# --- Depth-first AND/OR branch and bound, compiled, which can be interrupted and continued --------
#
# All values of a subtree are relative to its bound, the sum of the tables that its mini-buckets
# give. So the bound of every subtree is zero, and its value is negative, or zero where the bound is
# exact.
#
# =================  ============================================================================
# array              content, for each node on the path from the top to the current node
# =================  ============================================================================
# least              only values above this number matter
# best               the largest value found so far
# failed             the largest bound of the states that failed so far
# totals             the bound of the current state, with the values of the subtrees searched so far
# =================  ============================================================================
#
# A finished node returns its exact value if it is above ``least``, and an upper bound otherwise.
# Both are cached. A value has one place in the cache, and replaces another one that stands there.
#
# References
# ----------
# R. Marinescu and R. Dechter, "AND/OR branch-and-bound search for combinatorial optimization in
# graphical models", Artificial Intelligence 173 (2009), algorithm AOBB with context-based caching;
# S. de Givry, T. Schiex and G. Verfaillie, "Exploiting tree decomposition and soft local
# consistency in weighted CSP", AAAI (2006), for the bounds of unfinished subproblems.

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
    solution: Ints
    """The best states of each subtree; the first is −1 where it was not searched."""
    control: Ints
    """The current node, what to do next, the top of the search, and whether a returned value is
    exact."""
    returned: Floats
    """The value that a subtree returned, or of a leaf."""
    barred: Floats
    """Zero, or −inf for a state that the search leaves out."""
    is_open: Ints
    is_cached: Ints
    """Which nodes are searched, and whose values are cached."""
    cache_keys: Ints
    """Configurations of contexts; the places are a power of two."""
    cache_nodes: Ints
    """Node 0, which is never cached, marks a place that is free."""
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


@njit
def cached_value(tree: TreeArrays, arrays: SearchArrays, node: int) -> int | np.int64:
    """Return where the value of a subtree in its context stands in the cache; −1 if nowhere."""
    if not arrays.is_cached[node] or arrays.cache_keys.size == 0:
        return -1
    key = _context_key(tree, arrays.states, node)
    place = _place(node, key, arrays.cache_keys.size)
    if arrays.cache_nodes[place] == node and arrays.cache_keys[place] == key:
        return place
    return -1


@njit
def _remember(
    tree: TreeArrays, arrays: SearchArrays, node: int, value: float, is_exact: bool
) -> None:
    if not arrays.is_cached[node] or arrays.cache_keys.size == 0:
        return
    key = _context_key(tree, arrays.states, node)
    place = _place(node, key, arrays.cache_keys.size)
    arrays.cache_nodes[place] = node
    arrays.cache_keys[place] = key
    arrays.cache_values[place] = value
    arrays.cache_is_exact[place] = is_exact


@njit
def table_start(tree: TreeArrays, states: Ints, table: int, skipped: int) -> int:
    """Return the cell of a table at the current states, without the last ``skipped`` axes."""
    cell: int = tree.firsts[table]
    for at in range(tree.scopes_starts[table], tree.scopes_starts[table + 1] - skipped):
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
        arrays.upper[start + x] = base + arrays.barred[start + x]
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
def fill_all_bounds(tree: TreeArrays, arrays: SearchArrays) -> None:
    """Compute the bounds of the states of all nodes beside the current states of the others.

    The sum of the bounds of the current states over a subtree is its value, relative to its bound.
    """
    for node in range(tree.sizes.size):
        _fill_bounds(tree, arrays, node)


@njit
def _keep_solution(tree: TreeArrays, arrays: SearchArrays, node: int) -> None:
    """Copy the best states of the subtrees of a node to those of the node."""
    start = tree.solution_starts[node]
    arrays.solution[start] = arrays.states[node]
    child = node + 1
    while child < tree.ends[node]:
        source = tree.solution_starts[child]
        to = start + child - node
        for i in range(tree.ends[child] - child):
            arrays.solution[to + i] = arrays.solution[source + i]
        child = tree.ends[child]


@njit
def _take_value(
    tree: TreeArrays,
    arrays: SearchArrays,
    node: int,
    child: int,
    value: float,
    is_exact: bool,
    tolerance: float,
) -> tuple[int, int]:
    """Take the value of a subtree or of a leaf; return the next node, and what to do there.

    ``child`` is the next child, or the end of the subtree of the node.
    """
    threshold = max(arrays.least[node], arrays.best[node])
    arrays.totals[node] += value
    total = arrays.totals[node]
    if not is_exact or total <= threshold + tolerance:
        arrays.failed[node] = max(arrays.failed[node], total)
        return node, NEXT
    if child < tree.ends[node]:
        arrays.least[child] = threshold - total
        return child, ENTER
    arrays.best[node] = total
    _keep_solution(tree, arrays, node)
    return node, NEXT


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
            if node != top and not arrays.is_open[node]:
                value, is_exact = 0.0, True
                arrays.solution[tree.solution_starts[node]] = -1
                phase = RETURN
                continue
            if visited >= most_nodes:
                reason = PAUSED
                continue
            visited += 1
            place = cached_value(tree, arrays, node) if node != top else -1
            if place >= 0:
                is_exact = arrays.cache_is_exact[place] != 0
                value = arrays.cache_values[place]
                if is_exact or value <= arrays.least[node] + tolerance:
                    arrays.solution[tree.solution_starts[node]] = -1
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
            if node + 1 < tree.ends[node]:
                node += 1
                arrays.least[node] = threshold - bound
                phase = ENTER
            elif evaluates:
                is_exact = True
                phase = VALUED
                reason = LEAF
            else:
                arrays.best[node] = bound
                arrays.solution[tree.solution_starts[node]] = x
        elif phase == RETURN and node == top:
            reason = DONE
        else:
            child = tree.ends[node]
            if phase == RETURN:
                node = tree.parents[node]
            node, phase = _take_value(tree, arrays, node, child, value, is_exact, tolerance)
    control[0], control[1], control[3] = node, phase, is_exact
    arrays.returned[0] = value
    return reason, visited


# --- Good configurations for the start of a search: dives along the bounds, and local search ------
#
# A dive assigns the nodes from the top, each in the state with the best bound plus noise. A hill
# climb then changes single states as long as that raises the value. Dives may prefer the states of
# the best configuration known, so that they stay near it.
#
# References
# ----------
# K. Kask and R. Dechter, "Mini-bucket heuristics for improved search", UAI (1999): greedy and
# stochastic use of mini-bucket bounds.

_MOST_ROUNDS = 50
"""The most rounds of a hill climb."""


@njit
def exact_value(tree: TreeArrays, states: Ints) -> float:
    """Return the sum of the exact tables in a configuration."""
    total: float = tree.constant[1]
    for table in range(tree.firsts.size):
        if tree.is_exact[table]:
            total += tree.cells[table_start(tree, states, table, 0)]
    return total


@njit
def dive(tree: TreeArrays, states: Ints, extra: Floats) -> float:
    """Fill in the states of all nodes; return the value of the configuration, −inf if impossible.

    Parameters
    ----------
    tree
        The tree.
    states
        The states of the nodes, to be filled in.
    extra
        What is added to the bound of each state of each node.
    """
    scores = np.empty(tree.sizes.max())
    for node in range(tree.sizes.size):
        size = tree.sizes[node]
        for x in range(size):
            scores[x] = extra[tree.choice_starts[node] + x]
        for at in range(tree.bucket_starts[node], tree.bucket_starts[node + 1]):
            cell = table_start(tree, states, tree.bucket[at], 1)
            for x in range(size):
                scores[x] += tree.cells[cell + x]
        states[node] = np.argmax(scores[:size])
        if scores[states[node]] == -np.inf:
            return -np.inf
    _climb(tree, states, scores)
    return exact_value(tree, states)


@njit
def _fill_exact(tree: TreeArrays, states: Ints, node: int, scores: Floats) -> None:
    """Compute the sums of the exact tables of a node for its states, given the other nodes."""
    size = tree.sizes[node]
    for x in range(size):
        scores[x] = 0.0
    for at in range(tree.uses_starts[node], tree.uses_starts[node + 1]):
        stride = tree.use_strides[at]
        cell = table_start(tree, states, tree.uses[at], 0) - stride * states[node]
        for x in range(size):
            scores[x] += tree.cells[cell + stride * x]


@njit
def changed_values(tree: TreeArrays, states: Ints) -> Floats:
    """Return by how much the value changes with the state of one node, for all states of nodes."""
    changes = np.zeros(tree.choice_starts[-1])
    for node in range(tree.sizes.size):
        own = changes[tree.choice_starts[node] : tree.choice_starts[node + 1]]
        _fill_exact(tree, states, node, own)
        own -= own[states[node]]
    return changes


@njit
def _climb(tree: TreeArrays, states: Ints, scores: Floats) -> None:
    """Change single states as long as that raises the value."""
    for _ in range(_MOST_ROUNDS):
        has_moved = False
        for node in range(1, tree.sizes.size):
            size = tree.sizes[node]
            before = states[node]
            _fill_exact(tree, states, node, scores)
            best = before
            for x in range(size):
                # By an explicit margin, so that rounding errors do not move states to and fro.
                if scores[x] > scores[best] + 1e-12 * (1.0 + abs(scores[best])):
                    best = x
            if best != before:
                states[node] = best
                has_moved = True
        if not has_moved:
            return


# --- The state of a search, its bound, and the reading of its result ------------------------------

_BYTES_OF_PLACE = 25
"""The bytes of a place of the cache."""

_MOST_PLACES = 2**22
"""The most places of the cache."""


def search_arrays(tree: TreeArrays, cache_bytes: int, most_nodes: float) -> SearchArrays:
    """Return the state of a search that starts.

    Parameters
    ----------
    tree
        The tree.
    cache_bytes
        The limit for the bytes of the cache.
    most_nodes
        The number of nodes that the search visits at most; a cache of twice as many places serves.
    """
    n = len(tree.sizes)
    most = int(min(_MOST_PLACES, cache_bytes // _BYTES_OF_PLACE, 2 * most_nodes))
    # A power of two, or none. The memory of places that are never used is never taken.
    places = 1 << (most.bit_length() - 1) if most > 0 and tree.is_cached.any() else 0
    return SearchArrays(
        states=np.zeros(n, dtype=np.int64),
        least=np.full(n, -np.inf),
        best=np.full(n, -np.inf),
        failed=np.full(n, -np.inf),
        totals=np.zeros(n),
        positions=np.zeros(n, dtype=np.int64),
        ordered=np.zeros(int(tree.choice_starts[-1]), dtype=np.int64),
        upper=np.zeros(int(tree.choice_starts[-1])),
        solution=np.full(int(tree.solution_starts[-1]), -1, dtype=np.int64),
        control=np.zeros(4, dtype=np.int64),
        barred=np.zeros(int(tree.choice_starts[-1])),
        is_open=tree.is_open.copy(),
        is_cached=tree.is_cached.copy(),
        returned=np.zeros(1),
        cache_keys=np.zeros(places, dtype=np.int64),
        cache_nodes=np.zeros(places, dtype=np.int64),
        cache_values=np.zeros(places),
        cache_is_exact=np.zeros(places, dtype=np.int8),
    )


def _path(tree: TreeArrays, arrays: SearchArrays) -> list[int]:
    """Return the nodes from the top of a search to the current one."""
    node, top = int(arrays.control[0]), int(arrays.control[2])
    path = [node]
    while node != top:
        node = int(tree.parents[node])
        path.append(node)
    return path[::-1]


def upper_bound(tree: TreeArrays, arrays: SearchArrays) -> float:
    """Return an upper bound of the value of all configurations, in the middle of a search."""
    bound = 0.0
    path = _path(tree, arrays)
    for depth, node in enumerate(reversed(path)):
        is_entering = depth == 0 and arrays.control[1] == ENTER
        if is_entering:
            if node == 0:
                bound = float(tree.constant[0])
            continue
        start, at = int(tree.choice_starts[node]), int(arrays.positions[node])
        options = [float(arrays.best[node]), float(arrays.failed[node])]
        if at < tree.sizes[node]:
            options.append(float(arrays.upper[start + arrays.ordered[start + at]]))
        if depth > 0:
            options.append(float(arrays.totals[node]) + min(0.0, bound))
        elif arrays.control[1] != NEXT:
            options.append(float(arrays.totals[node]))
        bound = max(options)
    return bound


def raise_least(tree: TreeArrays, arrays: SearchArrays, least: float) -> None:
    """Raise the value above which configurations matter, for all nodes of the current path."""
    path = _path(tree, arrays)
    arrays.least[path[0]] = max(float(arrays.least[path[0]]), least)
    for node, child in itertools.pairwise(path):
        threshold = max(float(arrays.least[node]), float(arrays.best[node]))
        needed = threshold - float(arrays.totals[node])
        arrays.least[child] = max(float(arrays.least[child]), needed)


def solved_states(tree: TreeArrays, arrays: SearchArrays, tolerance: float) -> Ints:
    """Return the states of all nodes in the best configuration of a search that found one.

    Where the value of a subtree came from the cache, the subtree is searched again.
    """
    n = len(tree.sizes)
    states = arrays.solution[:n].copy()
    node = 0
    while (node := _filled_to(tree, arrays, states, node)) < n:
        place = cached_value(tree, arrays, node)
        least = float(arrays.cache_values[place]) - 4 * tolerance if place >= 0 else -np.inf
        for each in (least, -np.inf):
            arrays.least[node] = each
            arrays.control[:] = (node, ENTER, node, 0)
            reason, _ = run_search(tree, arrays, np.iinfo(np.int64).max, tolerance, False)
            assert reason == DONE
            if arrays.best[node] > -np.inf:
                break
        start, end = int(tree.solution_starts[node]), int(tree.ends[node])
        states[node:end] = arrays.solution[start : start + end - node]
    return states


@njit
def _filled_to(tree: TreeArrays, arrays: SearchArrays, states: Ints, node: int) -> int:
    """Fill in the states of subtrees with exact bounds from a node on; return the next open gap."""
    while node < states.size:
        if states[node] < 0:
            if arrays.is_open[node]:
                break
            for at in range(node, tree.ends[node]):
                _fill_bounds(tree, arrays, at)
                states[at] = arrays.ordered[tree.choice_starts[at]]
                arrays.states[at] = states[at]
            node = tree.ends[node] - 1
        arrays.states[node] = states[node]
        node += 1
    return node
