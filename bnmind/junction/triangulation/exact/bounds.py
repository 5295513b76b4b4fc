"""Compiled lower bounds of the remaining total size, for the exact search.

The bound on one part of a graph is the smallest closed neighborhood of a minor, in cells.
`bnmind.junction.triangulation.exact.search` proves that it is a bound.
"""

from __future__ import annotations

import numpy as np

from bnmind._jit import njit
from bnmind.junction.triangulation.exact.sets import (
    Floats,
    Ints,
    count,
    index,
    product,
    remaining,
    split,
)

__all__ = ["lower_bounds"]

_SETS_AT_ONCE = 2048  # a tenth of a second


@njit
def _widest_minor(rest: int, adjacent: Ints, sizes: Floats, products: Floats) -> float:
    """Return a lower bound on the largest clique of any triangulation; overwrites ``adjacent``.

    For the graph and some of its minors, the function takes the smallest closed neighborhood, in
    cells. It returns the largest of these.
    """
    weights = np.zeros(sizes.size)
    unseen = rest
    while unseen:
        single = unseen & -unseen
        unseen ^= single
        v = index(single)
        weights[v] = product(adjacent[v] | single, products)
    bound = 0.0
    while rest:
        least = np.inf
        v = 0
        unseen = rest
        while unseen:
            single = unseen & -unseen
            unseen ^= single
            u = index(single)
            if weights[u] < least:
                least = weights[u]
                v = u
        bound = max(bound, least)
        if product(rest, products) <= bound:
            break
        v_bit = 1 << v
        around = adjacent[v]
        if around == 0:
            rest ^= v_bit
            continue
        # Contract v into the neighbor whose common neighborhood with v is smallest.
        least = np.inf
        u = 0
        unseen = around
        while unseen:
            single = unseen & -unseen
            unseen ^= single
            w = index(single)
            shared = product(adjacent[w] & around, products)
            if shared < least:
                least = shared
                u = w
        # The merged vertex is the one with fewer states.
        keep = v if sizes[v] <= sizes[u] else u
        gone = u + v - keep
        keep_bit = 1 << keep
        gone_bit = 1 << gone
        rest ^= gone_bit
        merged = (adjacent[keep] | adjacent[gone]) & ~keep_bit & ~gone_bit
        adjacent[keep] = merged
        weights[keep] = product(merged | keep_bit, products)
        while merged:
            single = merged & -merged
            merged ^= single
            w = index(single)
            adjacent[w] = (adjacent[w] & ~gone_bit) | keep_bit
            weights[w] = product(adjacent[w] | single, products)
    return bound


@njit
def _sum_of_bounds(
    rest: int,
    separator: int,
    adjacent: Ints,
    covers: Ints,
    n_covers: int,
    parts: Ints,
    sizes: Floats,
    products: Floats,
) -> float:
    """Return a lower bound of the remaining cost, summed over the parts of a separator."""
    total = 0.0
    inner = np.zeros(adjacent.size, dtype=np.int64)
    for j in range(split(rest, separator, adjacent, parts)):
        side = parts[j]
        unseen = side
        while unseen:
            single = unseen & -unseen
            unseen ^= single
            side |= adjacent[index(single)]
        for v in range(adjacent.size):
            inner[v] = adjacent[v] & side
        bound = _widest_minor(side, inner, sizes, products)
        paid = product(side & separator, products) >= bound
        for i in range(n_covers):
            if covers[i] & parts[j] and product(covers[i], products) >= bound:
                paid = True
        if not paid:
            total += bound
    return total


def lower_bounds(masks: Ints, neighbors: Ints, sizes: Floats, products: Floats) -> Floats:
    """Return, for each eliminated set, a lower bound of the remaining cost.

    Parameters
    ----------
    masks
        (s,) sets of vertices.
    neighbors, sizes, products
        As in `Problem`.

    Returns
    -------
    Floats
        (s,) lower bounds in cells.
    """
    # Python handles Ctrl-C between two calls of compiled code.
    parts = [
        _lower_bounds(masks[start : start + _SETS_AT_ONCE], neighbors, sizes, products)
        for start in range(0, len(masks), _SETS_AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


@njit
def _lower_bounds(masks: Ints, neighbors: Ints, sizes: Floats, products: Floats) -> Floats:
    n = neighbors.size
    full = (1 << n) - 1
    adjacent = np.zeros(n, dtype=np.int64)
    covers = np.zeros(n, dtype=np.int64)
    parts = np.zeros(n, dtype=np.int64)
    bounds = np.zeros(masks.size)
    for s in range(masks.size):
        rest = full & ~masks[s]
        n_covers = remaining(masks[s], neighbors, adjacent, covers)
        best = _sum_of_bounds(rest, 0, adjacent, covers, n_covers, parts, sizes, products)
        # Choose the cover whose removal leaves the smallest largest part.
        smallest = n
        chosen = -1
        for i in range(n_covers):
            n_parts = split(rest, covers[i], adjacent, parts)
            if n_parts > 1:
                largest = 0
                for j in range(n_parts):
                    largest = max(largest, count(parts[j]))
                if largest < smallest:
                    smallest = largest
                    chosen = i
        if chosen >= 0:
            total = _sum_of_bounds(
                rest, covers[chosen], adjacent, covers, n_covers, parts, sizes, products
            )
            best = max(best, total)
        bounds[s] = best
    return bounds
