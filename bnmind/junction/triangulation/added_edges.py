"""The number and the weight of the edges that the elimination of each vertex would add.

The elimination of v adds an edge for each pair of its neighbors that are not adjacent. Sparse
graphs are visited pair by pair. In a dense graph, matrix products are faster: with the adjacency
matrix A, the values x on the diagonal of X, and u and w among the neighbors of v,

    Σ_u<w x_u x_w [u and w not adjacent] = ((Σ_u x_u)² − Σ_u x_u² − (A X A X A)_vv) / 2

All numbers are whole and below 2⁵³, so the product is exact.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

__all__ = ["added_edges", "by_pairs", "by_products"]

_MOST_VERTICES = 2_048
"""The most vertices of a graph whose adjacency matrix is written out."""

_OF_A_PAIR = 400
"""The multiplications of a matrix product that take as long as a visit to a pair."""


def added_edges(neighbors: Sequence[int], values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the number of edges that each elimination adds, and the sum of their weights.

    Parameters
    ----------
    neighbors
        The neighbors of each vertex, as bit masks.
    values
        The value of each vertex. An edge weighs the product of the values of its ends.
    """
    n = len(neighbors)
    if n <= _MOST_VERTICES:
        pairs = sum([mask.bit_count() ** 2 for mask in neighbors])
        is_exact = (n * max(values, default=0)) ** 2 < 2**53
        if is_exact and _OF_A_PAIR * pairs > n**3:
            return by_products(neighbors, values)
    return by_pairs(neighbors, values)


def by_pairs(neighbors: Sequence[int], values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the results of `added_edges` by a visit to each pair."""
    fill, weighted_fill = [], []
    for mask in neighbors:
        count = weighted = 0
        while mask:
            low = mask & -mask
            mask ^= low
            u = low.bit_length() - 1
            # Each pair once: the later end is among those left.
            missing = mask & ~neighbors[u]
            if missing:
                count += missing.bit_count()
                total = 0
                while missing:
                    low = missing & -missing
                    total += values[low.bit_length() - 1]
                    missing ^= low
                weighted += values[u] * total
        fill.append(count)
        weighted_fill.append(weighted)
    return fill, weighted_fill


def by_products(neighbors: Sequence[int], values: Sequence[int]) -> tuple[list[int], list[int]]:
    """Return the results of `added_edges` by matrix products."""
    n = len(neighbors)
    n_bytes = -(-n // 8)
    raw = b"".join([mask.to_bytes(n_bytes, "little") for mask in neighbors])
    bits = np.frombuffer(raw, dtype=np.uint8).reshape(n, n_bytes)
    adjacency = np.unpackbits(bits, axis=1, bitorder="little")[:, :n].astype(np.float64)
    results = []
    for x in (np.ones(n), np.array(values, dtype=np.float64)):
        weighed = adjacency * x
        adjacent = ((weighed @ adjacency) * weighed).sum(axis=1)
        doubled = weighed.sum(axis=1) ** 2 - (weighed * x).sum(axis=1) - adjacent
        results.append((doubled.astype(np.int64) // 2).tolist())
    return results[0], results[1]
