"""Branch and bound in compiled code: its steps, its dives to good solutions, and its state."""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.junction.search_bounds import Ints, Places, TreeArrays

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
    upper: Floats
    """The bounds of the states of each node; −inf for those that were tried."""
    solution: Ints
    """The best states of each subtree; the first is −1 where it was not searched."""
    control: Ints
    """The current node, what to do next, the top of the search, whether a returned value is exact,
    and the last node that the part of the search holds apart from others: nodes up to it are
    searched even if they are not open, and their values are not cached."""
    returned: Floats
    """The value that a subtree returned, or of a leaf."""
    barred: Floats
    """Zero, or −inf for a state that the search leaves out."""
    cache_keys: Ints
    """Configurations of contexts; the places are a power of two."""
    cache_nodes: Ints
    """Node 0, which is never cached, marks a place that is free."""
    cache_values: Floats
    cache_is_exact: NDArray[np.int8]


@njit
def place_in(places: Places, states: Ints, number: int, skipped: int) -> int:
    """Return a place at the current states, without the last ``skipped`` axes."""
    place: int = places.firsts[number]
    for at in range(places.starts[number], places.starts[number + 1] - skipped):
        place += places.strides[at] * states[places.nodes[at]]
    return place


@njit
def _place(node: int, key: int, size: int) -> np.int64:
    mixed = np.uint64(key) * np.uint64(_GOLDEN) + np.uint64(node)
    mixed = (mixed ^ (mixed >> np.uint64(31))) * np.uint64(_MIX)
    mixed = (mixed ^ (mixed >> np.uint64(29))) & np.uint64(size - 1)
    return np.int64(mixed)


@njit
def _cached_value(tree: TreeArrays, arrays: SearchArrays, node: int) -> int | np.int64:
    """Return where the value of a subtree in its context stands in the cache; −1 if nowhere."""
    if not tree.is_cached[node] or node <= arrays.control[4] or arrays.cache_keys.size == 0:
        return -1
    key = place_in(tree.contexts, arrays.states, node, 0)
    place = _place(node, key, arrays.cache_keys.size)
    if arrays.cache_nodes[place] == node and arrays.cache_keys[place] == key:
        return place
    return -1


@njit
def _remember(
    tree: TreeArrays, arrays: SearchArrays, node: int, value: float, is_exact: bool
) -> None:
    if not tree.is_cached[node] or node <= arrays.control[4] or arrays.cache_keys.size == 0:
        return
    key = place_in(tree.contexts, arrays.states, node, 0)
    place = _place(node, key, arrays.cache_keys.size)
    arrays.cache_nodes[place] = node
    arrays.cache_keys[place] = key
    arrays.cache_values[place] = value
    arrays.cache_is_exact[place] = is_exact


@njit
def _fill_bounds(tree: TreeArrays, arrays: SearchArrays, node: int) -> None:
    """Compute the bounds of the states of a node."""
    start = tree.choice_starts[node]
    size = tree.sizes[node]
    base = tree.constant[0] if node == 0 else 0.0
    for at in range(tree.own.starts[node], tree.own.starts[node + 1]):
        base -= tree.cells[place_in(tree.tables, arrays.states, tree.own.items[at], 0)]
    for x in range(size):
        arrays.upper[start + x] = base + arrays.barred[start + x]
    for at in range(tree.bucket.starts[node], tree.bucket.starts[node + 1]):
        cell = place_in(tree.tables, arrays.states, tree.bucket.items[at], 1)
        for x in range(size):
            arrays.upper[start + x] += tree.cells[cell + x]


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
            if node != top and not tree.is_open[node] and node > control[4]:
                value, is_exact = 0.0, True
                arrays.solution[tree.solution_starts[node]] = -1
                phase = RETURN
                continue
            if visited >= most_nodes:
                reason = PAUSED
                continue
            visited += 1
            place = _cached_value(tree, arrays, node) if node != top else -1
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
            phase = NEXT
        elif phase == NEXT:
            threshold = max(arrays.least[node], arrays.best[node])
            start = tree.choice_starts[node]
            x = 0
            for other in range(1, tree.sizes[node]):
                if arrays.upper[start + other] > arrays.upper[start + x]:
                    x = other
            bound = arrays.upper[start + x]
            if bound <= threshold + tolerance:
                is_exact = arrays.best[node] > arrays.least[node]
                value = arrays.best[node] if is_exact else max(arrays.failed[node], bound)
                _remember(tree, arrays, node, value, is_exact)
                phase = RETURN
                continue
            arrays.upper[start + x] = -np.inf
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


# --- Good configurations for the start of a search: dives along the bounds, and near ones ---------
#
# A dive assigns the nodes from the top, each in the state with the best bound plus noise. Dives may
# prefer the states of the best configuration known, so that they stay near it.
#
# References
# ----------
# K. Kask and R. Dechter, "Mini-bucket heuristics for improved search", UAI (1999): greedy and
# stochastic use of mini-bucket bounds.


@njit
def exact_value(tree: TreeArrays, states: Ints) -> float:
    """Return the sum of the exact tables in a configuration."""
    total: float = tree.constant[1]
    for table in range(tree.tables.firsts.size):
        if tree.is_exact[table]:
            total += tree.cells[place_in(tree.tables, states, table, 0)]
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
        for at in range(tree.bucket.starts[node], tree.bucket.starts[node + 1]):
            cell = place_in(tree.tables, states, tree.bucket.items[at], 1)
            for x in range(size):
                scores[x] += tree.cells[cell + x]
        states[node] = np.argmax(scores[:size])
        if scores[states[node]] == -np.inf:
            return -np.inf
    return exact_value(tree, states)


@njit
def changed_values(tree: TreeArrays, states: Ints) -> Floats:
    """Return by how much the value changes with the state of one node, for all states of nodes."""
    changes = np.zeros(tree.choice_starts[-1])
    for table in range(tree.tables.firsts.size):
        if tree.is_exact[table]:
            cell = place_in(tree.tables, states, table, 0)
            for at in range(tree.tables.starts[table], tree.tables.starts[table + 1]):
                node, stride = tree.tables.nodes[at], tree.tables.strides[at]
                for x in range(tree.sizes[node]):
                    other = cell + stride * (x - states[node])
                    changes[tree.choice_starts[node] + x] += tree.cells[other]
    for node in range(tree.sizes.size):
        own = changes[tree.choice_starts[node] : tree.choice_starts[node + 1]]
        own -= own[states[node]]
    return changes


# --- The state of a search, its bound, and the reading of its result ------------------------------

_BYTES_OF_PLACE = 25
"""The bytes of a place of the cache."""

_MOST_PLACES = 2**22
"""The most places of the cache."""

_ALL_NODES = np.iinfo(np.int64).max
"""No limit for the nodes of a search."""


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
        upper=np.zeros(int(tree.choice_starts[-1])),
        solution=np.full(int(tree.solution_starts[-1]), -1, dtype=np.int64),
        control=np.zeros(5, dtype=np.int64),
        barred=np.zeros(int(tree.choice_starts[-1])),
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
    phase = arrays.control[1]
    bound = 0.0
    for depth, node in enumerate(reversed(_path(tree, arrays))):
        if depth > 0 or phase != ENTER:
            start, end = tree.choice_starts[node : node + 2]
            options = [arrays.best[node], arrays.failed[node], *arrays.upper[start:end]]
            if depth > 0 or phase != NEXT:
                options.append(arrays.totals[node] + min(0.0, bound))
            bound = float(max(options))
        elif node == 0:
            bound = float(tree.constant[0])
    return bound


def raise_least(tree: TreeArrays, arrays: SearchArrays, least: float) -> None:
    """Raise the value above which configurations matter, for all nodes of the current path."""
    path = _path(tree, arrays)
    arrays.least[path[0]] = max(float(arrays.least[path[0]]), least)
    for node, child in itertools.pairwise(path):
        threshold = max(float(arrays.least[node]), float(arrays.best[node]))
        needed = threshold - float(arrays.totals[node])
        arrays.least[child] = max(float(arrays.least[child]), needed)


@njit
def solved_states(tree: TreeArrays, arrays: SearchArrays, tolerance: float) -> Ints:
    """Return the states of all nodes in the best configuration of a search that found one.

    Where the value of a subtree came from its bound or from the cache, it is searched again.
    """
    states = arrays.solution[: tree.sizes.size].copy()
    for node in range(states.size):
        if states[node] < 0:
            place = _cached_value(tree, arrays, node)
            least = arrays.cache_values[place] - 4 * tolerance if place >= 0 else -np.inf
            for each in (least, -np.inf):
                arrays.least[node] = each
                arrays.control[:4] = np.array([node, ENTER, node, 0])
                run_search(tree, arrays, _ALL_NODES, tolerance, False)
                if arrays.best[node] > -np.inf:
                    break
            start, end = tree.solution_starts[node], tree.ends[node]
            states[node:end] = arrays.solution[start : start + end - node]
        arrays.states[node] = states[node]
    return states
