"""The exact search against dynamic programming over all sets, and all orders."""

from __future__ import annotations

import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bnmind.junction.triangulation.exact_order as exact_order
from bnmind._jit import run_plainly
from bnmind.junction import BestOrder, ExactOrder, InteractionGraph, MinWeight
from bnmind.junction.triangulation.exact_order import (
    _arranged,
    replayed_order,
    search,
)
from bnmind.junction.triangulation.exact_sets import (
    MOST_VERTICES,
    _canonical,
    canonical,
    expand,
    lower_bounds,
    problem,
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


@settings(max_examples=examples(10))
@given(graphs(most=12, least=11))
def test_smallest_by_dynamic_programming_on_twelve_vertices(graph: InteractionGraph) -> None:
    assert ExactOrder()(graph).total_size == cost_to_go(graph)[0]


@given(ANY_GRAPH)
def test_a_wide_search_finds_the_smallest(graph: InteractionGraph) -> None:
    # Straight on the graph: also where it has clique separators or falls into parts.
    arranged, classes = _arranged(graph)
    smallest = cost_to_go(graph)[0]
    above = smallest + 1
    found = search(arranged, classes, cutoff=above, width=10**6, max_sets=10**6)
    assert found.complete
    assert found.path is not None
    order = replayed_order(arranged, classes, found.path)
    assert naive_total(arranged, order) == smallest
    found = search(arranged, classes, cutoff=smallest, width=10**6, max_sets=10**6)
    assert found.complete
    assert found.path is None or not graph.n


@settings(max_examples=examples(15))
@given(graphs(most=7))
def test_the_search_in_python_is_the_compiled_one(graph: InteractionGraph) -> None:
    arranged, classes = _arranged(graph)
    above = cost_to_go(graph)[0] + 20
    one = partial(search, arranged, classes, cutoff=above, width=20, max_sets=100)
    assert run_plainly(one) == one()


@given(ANY_GRAPH)
def test_lower_bounds_are_never_more_than_what_is_to_be_paid(graph: InteractionGraph) -> None:
    arrays = problem(graph, ())
    masks = np.arange(graph.vertices + 1, dtype=np.int64)
    bounds = lower_bounds(masks, arrays)
    assert np.all(bounds <= np.array(cost_to_go(graph), dtype=np.float64))


@given(symmetric_graphs(), st.data())
def test_the_two_canonical_forms_agree(graph: InteractionGraph, data: st.DataObject) -> None:
    # One vertex alone is eliminated: what `expand` returns is canonical in Python's eyes too.
    arranged, classes = _arranged(graph)
    arrays = problem(arranged, classes)
    start = canonical(data.draw(st.integers(0, graph.vertices)), classes)
    masks, _, parents = expand(
        np.array([start], dtype=np.int64),
        np.zeros(1),
        arrays,
        1e18,
    )
    assert not parents.any()
    assert len(set(masks.tolist())) == len(masks)
    following = {canonical(start | 1 << v, classes) for v in range(graph.n) if not start >> v & 1}
    assert set(masks.tolist()) <= following
    assert len(masks) > 0 or start == graph.vertices


def test_patterns_of_four_blocks_are_sorted_alike() -> None:
    # Four equal paths of two vertices hang on one vertex.
    edges = [(0, 1), (1, 2), (0, 3), (3, 4), (0, 5), (5, 6), (0, 7), (7, 8)]
    graph, classes = _arranged(graph_of([2] * 9, edges))
    assert [len(cls.blocks) for cls in classes] == [4]
    arrays = problem(graph, classes)
    room = np.zeros(4, dtype=np.int64)
    for mask in range(graph.vertices + 1):
        assert run_plainly(_canonical, int(mask), arrays, room) == canonical(mask, classes)


@given(ANY_GRAPH, st.integers(1, 5), st.integers(1, 200))
def test_a_narrow_search_proves_nothing_wrong(
    graph: InteractionGraph, width: int, max_sets: int
) -> None:
    arranged, classes = _arranged(graph)
    smallest = cost_to_go(graph)[0]
    cutoff = smallest + 50
    found = search(arranged, classes, cutoff=cutoff, width=width, max_sets=max_sets)
    if found.path is not None:
        total = naive_total(arranged, replayed_order(arranged, classes, found.path))
        assert smallest <= total < cutoff
        assert not found.complete or total == smallest
    else:
        assert not found.complete


def random_graph(seed: int, n: int, degree: float) -> InteractionGraph:
    rng = np.random.default_rng(seed)
    edges = rng.integers(n, size=(int(n * degree / 2), 2)).tolist()
    return graph_of(rng.integers(2, 6, size=n).tolist(), [(a, b) for a, b in edges if a != b])


@pytest.mark.parametrize(("seed", "max_sets"), [(0, 60), (4, 60), (5, 90)])
def test_fewer_sets_than_pairs_of_variables_improve_an_order(
    seed: int, max_sets: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exact_order, "_MANY_SETS", 0)  # at once by layers of sets
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
