"""The state of a search, its bound, and the reading of its result."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from bnmind.junction.branch_and_bound.search_kernel import (
    DONE,
    ENTER,
    NEXT,
    SearchArrays,
    cached_value,
    first_places,
    run_search,
)
from bnmind.junction.branch_and_bound.search_tree import Ints, TreeArrays

__all__ = ["grown", "raise_least", "search_arrays", "solved_states", "upper_bound"]

BYTES_OF_PLACE = 25
"""The bytes of a place of the cache."""

_FIRST_PLACES = 2**15
_GROWTH = 8
_MOST_PLACES = 2**22
"""The places of the cache at first, their growth when half of them are in use, and the most."""


def search_arrays(tree: TreeArrays, least: float, cache_bytes: int) -> SearchArrays:
    """Return the state of a search that starts.

    Parameters
    ----------
    tree
        The tree.
    least
        Only configurations with a value above this number matter.
    cache_bytes
        The limit for the bytes of the cache.
    """
    n = len(tree.sizes)
    places = min(_FIRST_PLACES, _most_places(cache_bytes)) if tree.is_cached.any() else 0
    arrays = SearchArrays(
        states=np.zeros(n, dtype=np.int64),
        least=np.full(n, -np.inf),
        best=np.full(n, -np.inf),
        failed=np.full(n, -np.inf),
        totals=np.zeros(n),
        positions=np.zeros(n, dtype=np.int64),
        ordered=np.zeros(int(tree.choice_starts[-1]), dtype=np.int64),
        upper=np.zeros(int(tree.choice_starts[-1])),
        child_at=np.zeros(n, dtype=np.int64),
        solution=np.full(int(tree.solution_starts[-1]), -1, dtype=np.int64),
        control=np.zeros(4, dtype=np.int64),
        returned=np.zeros(1),
        **_empty_cache(places),
    )
    arrays.least[0] = least
    return arrays


def _most_places(cache_bytes: int) -> int:
    """Return the most places of a cache, a power of two or 0."""
    places = min(_MOST_PLACES, cache_bytes // BYTES_OF_PLACE)
    return 1 << (places.bit_length() - 1) if places > 0 else 0


def _empty_cache(places: int) -> dict[str, Any]:
    return {
        "cache_keys": np.zeros(places, dtype=np.int64),
        "cache_nodes": np.full(places, -1, dtype=np.int64),
        "cache_values": np.zeros(places),
        "cache_is_exact": np.zeros(places, dtype=np.int8),
    }


def grown(arrays: SearchArrays, cache_bytes: int) -> SearchArrays:
    """Return the state of a search with a larger cache if half of its places are in use."""
    places = min(len(arrays.cache_nodes) * _GROWTH, _most_places(cache_bytes))
    if places <= len(arrays.cache_nodes):
        return arrays
    used = np.flatnonzero(arrays.cache_nodes >= 0)
    if 2 * len(used) < len(arrays.cache_nodes):
        return arrays
    cache = _empty_cache(places)
    at = first_places(arrays.cache_nodes[used], arrays.cache_keys[used], places)
    # Of several values for a place, the cache keeps one.
    at, chosen = np.unique(at, return_index=True)
    for name, values in cache.items():
        values[at] = getattr(arrays, name)[used[chosen]]
    return arrays._replace(**cache)


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
    while True:
        unknown = np.flatnonzero(states < 0)
        if not len(unknown):
            return states
        node = int(unknown[0])
        arrays.states[:node] = states[:node]
        place = cached_value(tree, arrays, node)
        least = float(arrays.cache_values[place]) - 4 * tolerance if place >= 0 else -np.inf
        for each in (least, -np.inf):
            arrays.least[node] = each
            arrays.control[:] = (node, ENTER, node, 0)
            reason, _ = run_search(tree, arrays, np.iinfo(np.int64).max, tolerance, False)
            assert reason == DONE
            if arrays.best[node] > -np.inf:
                break
        start = int(tree.solution_starts[node])
        end = int(tree.ends[node])
        states[node:end] = arrays.solution[start : start + end - node]
