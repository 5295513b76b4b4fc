"""Nested dissection: valid orders, separators that separate, and small ones where we know them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError
from bnmind.junction import InteractionGraph, NestedDissection
from bnmind.junction.graphs.interaction_graph import bits
from bnmind.junction.triangulation.dissection.bisection_kernel import matched, refine
from bnmind.junction.triangulation.dissection.nested_dissection import bisection, separator
from bnmind.junction.triangulation.scored_graph import whole_graph
from tests.graphs import cost_to_go, graph_of, graphs, naive_total
from tests.modes import examples


def grid(n: int, m: int) -> InteractionGraph:
    """Return a grid of binary variables."""
    across = [(m * i + j, m * i + j + 1) for i in range(n) for j in range(m - 1)]
    down = [(m * i + j, m * i + j + m) for i in range(n - 1) for j in range(m)]
    return graph_of([2] * (n * m), across + down)


@settings(max_examples=20)
@given(graphs(), st.integers(1, 3), st.integers(0, 5))
def test_orders_are_valid(graph: InteractionGraph, smallest: int, seed: int) -> None:
    found = NestedDissection(smallest=smallest, seed=seed)(graph)
    place = {name: v for v, name in enumerate(graph.names)}
    assert found.total_size == naive_total(graph, [place[name] for name in found.variables])
    assert found.total_size >= cost_to_go(graph)[0]


@settings(max_examples=20)
@given(graphs(least=2), st.data())
def test_a_separator_is_a_smallest_cover_of_the_cut(
    graph: InteractionGraph, data: st.DataObject
) -> None:
    side = np.array(data.draw(st.lists(st.integers(0, 1), min_size=graph.n, max_size=graph.n)))
    middle = separator(whole_graph(graph), range(graph.n), side)
    cut = [
        (v, u)
        for v, around in enumerate(graph.neighbors)
        for u in bits(around)
        if side[v] < side[u]
    ]
    assert all(middle & set(edge) for edge in cut)
    for mask in range(1 << graph.n):
        cover = set(bits(mask))
        if all(cover & set(edge) for edge in cut):
            assert len(middle) <= len(cover)


def test_a_long_grid_is_divided_across() -> None:
    graph = grid(3, 40)
    side = bisection(whole_graph(graph), range(graph.n), 4, np.random.default_rng(1))
    assert 40 <= side.sum() <= 80
    middle = separator(whole_graph(graph), range(graph.n), side)
    assert len(middle) <= 4
    assert NestedDissection(smallest=12)(graph).total_size < 40 * 3 * 2**6


def test_a_refinement_counts_its_cut_and_keeps_the_balance() -> None:
    # Two triangles, joined by one edge, and mixed sides.
    neighbors = [[1, 2], [0, 2], [0, 1, 3], [2, 4, 5], [3, 5], [3, 4]]
    starts = np.cumsum([0, *map(len, neighbors)])
    arrays = starts, np.concatenate(neighbors), np.ones(starts[-1], dtype=np.int64)
    side = np.array([0, 1, 0, 1, 0, 1])
    assert refine(arrays, np.ones(6, dtype=np.int64), side, 4, 10) == 1
    assert side.tolist() in ([0, 0, 0, 1, 1, 1], [1, 1, 1, 0, 0, 0])
    coarse = matched(*arrays, np.arange(6))
    assert coarse.tolist() == [0, 0, 1, 1, 2, 2]


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"smallest to be .*tries to be .*seed to be"):
        NestedDissection(smallest=0, tries=0, seed=-1)


@settings(max_examples=examples(60))
@given(st.integers(2, 9), st.integers(1, 4), st.integers(0, 10**6))
def test_a_refinement_ends_with_the_sides_of_its_cut(n: int, passes: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights = np.triu(rng.integers(0, 4, (n, n)), 1)
    weights += weights.T
    masses, side = rng.integers(1, 4, n), rng.integers(0, 2, n)
    largest = int(rng.integers(masses.sum() // 2, masses.sum() + 1))
    rows, columns = np.nonzero(weights)
    starts = np.concatenate([[0], np.cumsum(np.count_nonzero(weights, axis=1))])

    def cut_and_excess() -> tuple[int, int]:
        cut = int(weights[np.ix_(side == 0, side == 1)].sum())
        return cut, max(0, int(np.bincount(side, masses, 2).max()) - largest)

    before, excess_before = cut_and_excess()
    found = refine((starts, columns, weights[rows, columns]), masses, side, largest, passes)
    cut, excess = cut_and_excess()
    assert found == cut
    # Less excess is worth any cut.
    assert excess < excess_before or (excess == excess_before and cut <= before)


def test_twenty_tries_find_a_smallest_cut_of_a_small_graph() -> None:
    n = 12
    sides = np.arange(2 ** (n - 1))[:, None] >> np.arange(n) & 1
    sides = sides[(sides.sum(axis=1) >= n // 3) & (sides.sum(axis=1) <= n - n // 3)]
    for seed in range(10):
        rng = np.random.default_rng(seed)
        graph = graph_of(
            [2] * n, [(i, j) for i in range(n) for j in range(i) if rng.random() < 0.35]
        )
        adjacent = np.array([[near >> u & 1 for u in range(n)] for near in graph.neighbors])
        smallest = ((sides @ adjacent) * (1 - sides)).sum(axis=1).min()
        side = bisection(whole_graph(graph), range(n), 20, np.random.default_rng(1))
        assert n // 3 <= side.sum() <= n - n // 3
        assert side @ adjacent @ (1 - side) == smallest
