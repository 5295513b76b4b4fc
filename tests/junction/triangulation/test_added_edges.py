"""The scores of all vertices of a graph: matrix products against visits to all pairs."""

from itertools import combinations

import numpy as np
import pytest

import bnmind.junction.triangulation.greedy as scored_graph
from bnmind.junction.triangulation.greedy import by_pairs, by_products


def _graph(n: int, density: float, seed: int) -> tuple[list[int], list[int]]:
    rng = np.random.default_rng(seed)
    neighbors = [0] * n
    for a, b in combinations(range(n), 2):
        if rng.random() < density:
            neighbors[a] |= 1 << b
            neighbors[b] |= 1 << a
    return neighbors, rng.integers(1, 9, n).tolist()


def _obvious(neighbors: list[int], values: list[int]) -> tuple[list[int], list[int]]:
    fill, weighted = [], []
    for mask in neighbors:
        around = [u for u in range(len(neighbors)) if mask >> u & 1]
        added = [(u, w) for u, w in combinations(around, 2) if not neighbors[u] >> w & 1]
        fill.append(len(added))
        weighted.append(sum(values[u] * values[w] for u, w in added))
    return fill, weighted


@pytest.mark.parametrize(("n", "density"), [(1, 0.0), (9, 0.5), (20, 0.9), (33, 0.2), (33, 1.0)])
def test_both_ways_equal_the_definition(n: int, density: float) -> None:
    neighbors, values = _graph(n, density, n)
    expected = _obvious(neighbors, values)
    assert by_pairs(neighbors, values) == by_products(neighbors, values) == expected


def test_products_serve_dense_graphs_with_small_numbers_only(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    used = []

    def noted(*graph: object) -> tuple[list[int], list[int]]:
        used.append(graph)
        return [], []

    monkeypatch.setattr(scored_graph, "by_products", noted)
    dense, values = _graph(40, 0.5, 1)
    scored_graph.added_edges(dense, values)
    assert len(used) == 1
    sparse = [1 << (v ^ 1) for v in range(40)]
    assert scored_graph.added_edges(sparse, values) == ([0] * 40, [0] * 40)
    huge = [2**40] * 40
    assert scored_graph.added_edges(dense, huge) == by_pairs(dense, huge)
    assert scored_graph.added_edges([], []) == ([], [])
    assert len(used) == 1
