"""The exact search against dynamic programming over all sets, and all orders."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind.junction import BestOrder, ExactOrder, InteractionGraph, MinWeight
from bnmind.junction.exact_order import (
    MOST_VERTICES,
    interchangeable_blocks,
    search,
)
from tests.graphs import (
    cost_to_go,
    graph_of,
    graphs,
    naive_total,
    smallest_by_permutations,
    symmetric_graphs,
)
from tests.modes import examples

ANY_GRAPH = st.one_of(graphs(most=9), symmetric_graphs())


@settings(max_examples=examples(30))
@given(st.one_of(graphs(most=6), graphs(most=6, least=6)))
def test_smallest_of_all_orders(graph: InteractionGraph) -> None:
    found = ExactOrder()(graph)
    assert found.proven
    assert found.total_size == smallest_by_permutations(graph)


@given(ANY_GRAPH)
def test_smallest_by_dynamic_programming(graph: InteractionGraph) -> None:
    found = ExactOrder()(graph)
    assert found.proven
    assert found.total_size == cost_to_go(graph)[0]


def test_a_clique_beside_a_simplicial_vertex_is_counted_once() -> None:
    # A triangle whose sides are paths of four, and a vertex adjacent to its corners: the triangle
    # is a clique of every small triangulation of the rest, and lies in the clique of the vertex.
    corners = [(0, 1), (1, 2), (2, 0)]
    paths = [(0, 3), (3, 4), (4, 1), (1, 5), (5, 6), (6, 2), (2, 7), (7, 8), (8, 0)]
    graph = graph_of([3] * 10, [*corners, *paths, (9, 0), (9, 1), (9, 2)])
    found = ExactOrder()(graph)
    assert found.proven
    assert found.total_size == cost_to_go(graph)[0] == 3**4 + 6 * 3**3


def test_parts_of_a_graph_are_searched_one_by_one() -> None:
    # More vertices than the search of a single part could hold.
    rings = [(9 * i + v, 9 * i + (v + 1) % 9) for i in range(8) for v in range(9)]
    leaves = [(9 * i, 72 + i) for i in range(8)]
    found = ExactOrder()(graph_of([2] * 80, [*rings, *leaves]))
    assert found.proven
    assert found.total_size == 8 * (7 * 2**3 + 2**2)


@settings(max_examples=examples(10))
@given(graphs(most=12, least=11))
def test_smallest_by_dynamic_programming_on_twelve_vertices(graph: InteractionGraph) -> None:
    assert ExactOrder()(graph).total_size == cost_to_go(graph)[0]


@given(ANY_GRAPH)
def test_a_wide_search_finds_the_smallest(graph: InteractionGraph) -> None:
    # Straight on the graph: also where it has clique separators or falls into parts.
    classes = interchangeable_blocks(graph)
    smallest = cost_to_go(graph)[0]
    above = smallest + 1
    found = search(graph, classes, cutoff=above, width=10**6, max_sets=10**6)
    assert found.complete
    assert found.order is not None
    assert naive_total(graph, found.order) == smallest
    found = search(graph, classes, cutoff=smallest, width=10**6, max_sets=10**6)
    assert found.complete
    assert found.order is None or not graph.n


@given(ANY_GRAPH, st.integers(1, 5), st.integers(1, 200))
def test_a_narrow_search_proves_nothing_wrong(
    graph: InteractionGraph, width: int, max_sets: int
) -> None:
    classes = interchangeable_blocks(graph)
    smallest = cost_to_go(graph)[0]
    cutoff = smallest + 50
    found = search(graph, classes, cutoff=cutoff, width=width, max_sets=max_sets)
    if found.order is not None:
        total = naive_total(graph, found.order)
        assert smallest <= total < cutoff
        assert not found.complete or total == smallest
    else:
        assert not found.complete


def random_graph(seed: int, n: int, degree: float) -> InteractionGraph:
    rng = np.random.default_rng(seed)
    edges = rng.integers(n, size=(int(n * degree / 2), 2)).tolist()
    return graph_of(rng.integers(2, 6, size=n).tolist(), [(a, b) for a, b in edges if a != b])


@pytest.mark.parametrize(("seed", "max_sets"), [(0, 90), (4, 90), (12, 30)])
def test_fewer_sets_than_pairs_of_variables_improve_an_order(seed: int, max_sets: int) -> None:
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 5, 10).tolist()
    graph = graph_of(sizes, [(i, j) for i in range(10) for j in range(i) if rng.random() < 0.4])
    found = ExactOrder(max_sets=max_sets, start=MinWeight())(graph)
    assert found.total_size < MinWeight()(graph).total_size
    assert found.total_size >= cost_to_go(graph)[0]


@pytest.mark.compiled
@pytest.mark.parametrize("seed", range(3))
def test_a_budget_of_sets_bounds_the_search(seed: int) -> None:
    graph = random_graph(seed, 24, 4)
    poor = ExactOrder(max_sets=50)(graph)
    good = ExactOrder()(graph)
    assert good.proven
    assert good.total_size <= poor.total_size
    assert not poor.proven or poor.total_size == good.total_size
    # The start does not matter to what is proven.
    assert ExactOrder(start=MinWeight())(graph).total_size == good.total_size


@pytest.mark.compiled
def test_graphs_of_forty_vertices_improve_on_greedy() -> None:
    graph = random_graph(0, 40, 3)
    found = BestOrder(max_sets=40_000)(graph)
    assert found.total_size <= 5_600
    assert found.method == ("exact search" if found.proven else "bounded search")


@pytest.mark.compiled
def test_more_vertices_than_bits() -> None:
    n = MOST_VERTICES + 8
    ring = graph_of([3] * n, [(v, (v + 1) % n) for v in range(n)])
    found = ExactOrder()(ring)
    assert found.total_size == 27 * (n - 2)
    just = graph_of([2] * MOST_VERTICES, [(v, (v + 1) % 62) for v in range(62)])
    found = ExactOrder(max_sets=20_000)(just)
    assert found.total_size == 8 * 60


def test_sizes_beyond_floating_point_are_not_called_proven() -> None:
    graph = random_graph(1, 18, 5)
    large = InteractionGraph(graph.names, (10**6,) * graph.n, graph.adjacent)
    found = ExactOrder()(large)
    assert found.total_size > 2**53
    assert not found.proven
    huge = InteractionGraph(graph.names, (10**90,) * graph.n, graph.adjacent)
    assert ExactOrder()(huge).total_size > 10**300


@given(graphs(most=7, least_size=1))
def test_single_states_cost_nothing_and_break_nothing(graph: InteractionGraph) -> None:
    found = ExactOrder()(graph)
    assert found.proven or 1 in graph.sizes
    if found.proven:
        assert found.total_size == cost_to_go(graph)[0]


def test_small_graphs_compile_nothing() -> None:
    program = """
import sys
from bnmind.junction import BestOrder, InteractionGraph
ring = [(f"v{i}", f"v{(i + 1) % 9}") for i in range(9)]
tree = [(f"v{i}", f"w{i}") for i in range(9)]
sizes = {f"{letter}{i}": 2 for letter in "vw" for i in range(9)}
assert BestOrder()(InteractionGraph.from_scopes(sizes, ring + tree)).proven
from tests.graphs import vomlel_graph
assert BestOrder()(vomlel_graph(4, 6, stage=2, arc=True)).total_size == 61_835_025
assert BestOrder()(vomlel_graph(4, 6, stage=3)).total_size == 214_775
assert "numba" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", program], check=True, cwd=Path(__file__).parents[2])
