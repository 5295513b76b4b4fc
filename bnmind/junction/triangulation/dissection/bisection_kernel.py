"""Bisection of a graph by moves of single vertices, compiled.

References
----------
C. M. Fiduccia, R. M. Mattheyses, "A linear-time heuristic for improving network partitions", 19th
Design Automation Conference (1982), 175-181.
"""

from __future__ import annotations

import numpy as np

from bnmind._jit import njit
from bnmind.junction.triangulation.greedy_arrays import Ints

__all__ = ["matched", "refine"]


@njit
def matched(starts: Ints, ends: Ints, weights: Ints, order: Ints) -> Ints:
    """Return the coarse vertex of each vertex: heavy edges are contracted, each vertex once.

    Parameters
    ----------
    starts, ends, weights
        The neighbors of vertex v and the weights of these edges are at places ``starts[v]`` to
        ``starts[v + 1]``.
    order
        All vertices, in the order in which they choose a partner.
    """
    n = order.size
    coarse = np.full(n, -1, dtype=np.int64)
    count = 0
    for i in range(n):
        v = order[i]
        if coarse[v] >= 0:
            continue
        partner = v
        heaviest = 0
        for k in range(starts[v], starts[v + 1]):
            u = ends[k]
            if coarse[u] < 0 and weights[k] > heaviest and u != v:
                heaviest = weights[k]
                partner = u
        coarse[v] = count
        coarse[partner] = count
        count += 1
    return coarse


@njit
def refine(
    graph: tuple[Ints, Ints, Ints], masses: Ints, side: Ints, largest: int, passes: int
) -> int:
    """Move vertices between two sides so that fewer edges are cut; return the weight of the cut.

    Each pass moves every vertex once, the best first, and keeps the best beginning of its moves.

    Parameters
    ----------
    graph
        As for `matched`.
    masses
        The weight of each vertex.
    side
        0 or 1 for each vertex; changed.
    largest
        The most weight of a side.
    passes
        The most passes.
    """
    starts, ends, weights = graph
    n = side.size
    gains = np.zeros(n, dtype=np.int64)
    moves = np.zeros(n, dtype=np.int64)
    mass = np.zeros(2, dtype=np.int64)
    cut = 0
    for v in range(n):
        mass[side[v]] += masses[v]
        for k in range(starts[v], starts[v + 1]):
            if side[ends[k]] != side[v]:
                cut += weights[k]
    cut //= 2
    for _ in range(passes):
        is_moved = np.zeros(n, dtype=np.bool_)
        for v in range(n):
            gains[v] = 0
            for k in range(starts[v], starts[v + 1]):
                gains[v] += weights[k] if side[ends[k]] != side[v] else -weights[k]
        first_cut = cut
        best_cut = cut
        best_excess = max(0, max(mass[0], mass[1]) - largest)
        n_moves = 0
        n_kept = 0
        while n_moves < n:
            best = -1
            excess = max(mass[0], mass[1]) > largest
            for v in range(n):
                if is_moved[v]:
                    continue
                other = 1 - side[v]
                if mass[other] + masses[v] > largest and not (excess and mass[side[v]] > largest):
                    continue
                if best < 0 or gains[v] > gains[best]:
                    best = v
            if best < 0:
                break
            v = best
            mass[side[v]] -= masses[v]
            side[v] = 1 - side[v]
            mass[side[v]] += masses[v]
            cut -= gains[v]
            is_moved[v] = True
            moves[n_moves] = v
            n_moves += 1
            for k in range(starts[v], starts[v + 1]):
                u = ends[k]
                gains[u] += -2 * weights[k] if side[u] == side[v] else 2 * weights[k]
            over = max(0, max(mass[0], mass[1]) - largest)
            if over < best_excess or (over == best_excess and cut < best_cut):
                best_cut = cut
                best_excess = over
                n_kept = n_moves
        for i in range(n_kept, n_moves):
            v = moves[i]
            mass[side[v]] -= masses[v]
            side[v] = 1 - side[v]
            mass[side[v]] += masses[v]
        cut = best_cut
        if cut >= first_cut:
            break
    return cut
