"""Nested dissection, a search for elimination orders by small separators.

A multilevel bisection divides the graph into two sides: heavy edges are contracted until few
vertices are left, these are divided, and the division is refined while the contractions are undone.
A smallest set of vertices that covers the cut edges separates the sides. It is eliminated last,
after the sides, which are divided in the same way. Parts of few vertices are ordered greedily.

References
----------
A. George, "Nested dissection of a regular finite element mesh", SIAM Journal on Numerical Analysis
10 (1973), 345-363.
G. Karypis, V. Kumar, "A fast and high quality multilevel scheme for partitioning irregular graphs",
SIAM Journal on Scientific Computing 20 (1998), 359-392.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Count, Natural, Value
from bnmind.junction.graphs.elimination_order import EliminationOrder, measured_order
from bnmind.junction.graphs.interaction_graph import InteractionGraph, bits
from bnmind.junction.triangulation.dissection.bisection_kernel import matched, refine
from bnmind.junction.triangulation.greedy_arrays import Ints
from bnmind.junction.triangulation.scored_graph import Core, core_of

__all__ = ["NestedDissection", "bisection", "separator"]

_COARSEST = 30
"""The number of vertices at which the contraction of edges ends."""

_PASSES = 8
"""The most passes of a refinement."""


@dataclass(frozen=True)
class NestedDissection(Value):
    """Orders that eliminate small separators last; equal seeds give equal orders.

    Examples
    --------
    >>> ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2, "d": 5}, ring)
    >>> NestedDissection()(graph).total_size
    32
    """

    smallest: Count = 40
    """The most variables of a part that is not divided."""
    tries: Count = 4
    """The number of first divisions of each part, of which the best is refined."""
    seed: Natural = 0
    """The seed of the divisions."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order, with its sizes."""
        first, core_vertices, core = core_of(graph)
        rng = np.random.default_rng(self.seed)
        blocks: list[list[int]] = []
        waiting = [list(range(core.n))]
        while waiting:
            part = waiting.pop()
            if len(part) <= self.smallest:
                blocks.append(part)
                continue
            side = bisection(core, part, self.tries, rng)
            middle = separator(core, part, side)
            sides = [
                [v for v, s in zip(part, side, strict=True) if s == k and v not in middle]
                for k in (0, 1)
            ]
            if not all(sides):
                blocks.append(part)
                continue
            # Blocks are collected from the last to the first.
            blocks.append(sorted(middle))
            waiting += sides
        order = [*first, *(core_vertices[v] for v in _greedy(core, blocks[::-1]))]
        return measured_order(graph, order, method="nested dissection")


def _matrix(core: Core, part: Sequence[int]) -> Any:
    """Return the adjacency matrix of a part of a core; entries are weights of edges."""
    from scipy.sparse import csr_array

    place = {v: i for i, v in enumerate(part)}
    inside = sum([1 << v for v in part])
    rows, columns = [], []
    for v, i in place.items():
        near = [place[u] for u in bits(core.neighbors[v] & inside)]
        rows += [i] * len(near)
        columns += near
    ones = np.ones(len(rows), dtype=np.int64)
    return csr_array((ones, (rows, columns)), shape=(len(part), len(part)))


def bisection(core: Core, part: Sequence[int], tries: int, rng: np.random.Generator) -> Ints:
    """Return a side, 0 or 1, for each vertex of a part, such that few edges are cut."""
    from scipy.sparse import csr_array

    levels = [(_matrix(core, part), np.array([core.logarithms[v] for v in part], dtype=np.int64))]
    maps: list[Ints] = []
    while levels[-1][0].shape[0] > _COARSEST:
        matrix, masses = levels[-1]
        n = matrix.shape[0]
        coarse = matched(*_arrays(matrix), rng.permutation(n))
        n_coarse = int(coarse.max()) + 1
        if n_coarse > 0.95 * n:
            break
        join = csr_array((np.ones(n, dtype=np.int64), (coarse, np.arange(n))), shape=(n_coarse, n))
        smaller = (join @ matrix @ join.T).tocsr()
        smaller.setdiag(0)
        smaller.eliminate_zeros()
        maps.append(coarse)
        levels.append((smaller, np.bincount(coarse, weights=masses).astype(np.int64)))
    matrix, masses = levels[-1]
    # A third to two thirds on each side.
    largest = int(masses.sum()) * 2 // 3
    best: tuple[int, Ints] | None = None
    for _ in range(tries):
        side = (rng.random(matrix.shape[0]) < 0.5).astype(np.int64)
        cut = refine(_arrays(matrix), masses, side, largest, 4 * _PASSES)
        if best is None or cut < best[0]:
            best = cut, side
    assert best is not None
    side = best[1]
    for (matrix, masses), coarse in zip(levels[-2::-1], maps[::-1], strict=True):
        side = side[coarse]
        refine(_arrays(matrix), masses, side, largest, _PASSES)
    return side


def _arrays(matrix: Any) -> tuple[Ints, Ints, Ints]:
    matrix.sort_indices()
    return (
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int64),
        matrix.data.astype(np.int64),
    )


def separator(core: Core, part: Sequence[int], side: Ints) -> frozenset[int]:
    """Return a smallest set of vertices that covers all edges between two sides of a part.

    It follows from a largest matching of the cut edges by König's theorem.
    """
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import maximum_bipartite_matching

    left = [v for v, s in zip(part, side, strict=True) if s == 0]
    right = {v: i for i, v in enumerate(u for u, s in zip(part, side, strict=True) if s == 1)}
    across = sum([1 << v for v in right])
    near = [[right[u] for u in bits(core.neighbors[v] & across)] for v in left]
    rows = [i for i, ends in enumerate(near) for _ in ends]
    columns = [j for ends in near for j in ends]
    if not rows:
        return frozenset()
    cut = csr_array((np.ones(len(rows), dtype=np.int8), (rows, columns)), (len(left), len(right)))
    partner = maximum_bipartite_matching(cut, perm_type="row")  # of each vertex on the right
    matched_left = set(partner[partner >= 0].tolist())
    # Alternating paths from the vertices on the left without a partner.
    reached = [i for i in range(len(left)) if i not in matched_left]
    seen_left, seen_right = set(reached), set[int]()
    while reached:
        for j in near[reached.pop()]:
            if j not in seen_right:
                seen_right.add(j)
                i = int(partner[j])
                if i >= 0 and i not in seen_left:
                    seen_left.add(i)
                    reached.append(i)
    names = list(right)
    covering = [left[i] for i in range(len(left)) if i not in seen_left and near[i]]
    return frozenset([*covering, *(names[j] for j in seen_right)])


def _greedy(core: Core, blocks: Sequence[Sequence[int]]) -> list[int]:
    """Return an order of blocks, one after the other, each by the smallest cliques first."""
    around = [set(bits(mask)) for mask in core.neighbors]
    logarithms = core.logarithms
    order = []
    for block in blocks:
        left = set(block)
        weights = {v: logarithms[v] + sum([logarithms[u] for u in around[v]]) for v in left}
        while left:
            v = min(left, key=lambda u: (weights[u], u))
            left.remove(v)
            order.append(v)
            members = around[v]
            for u in members:
                around[u] |= members
                around[u] -= {u, v}
            for u in members & left:
                weights[u] = logarithms[u] + sum([logarithms[w] for w in around[u]])
    return order
