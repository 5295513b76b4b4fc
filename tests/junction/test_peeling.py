"""Large graphs: light vertices are eliminated before a search looks at the rest."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.junction import InteractionGraph, RandomizedGreedy
from bnmind.junction.graphs import elimination
from bnmind.junction.greedy_order import Core, Score, core_of, greedy_pass, peeled
from bnmind.junction.randomized_order import started
from tests.graphs import graph_of, graphs, naive_total

NO_LIMIT = 10**9


def naive_peeled(
    graph: InteractionGraph, weights: Sequence[int], most: int, heaviest: int
) -> tuple[list[int], set[frozenset[int]]]:
    """Compute every weight anew before each step."""
    around = {v: set(members) for v, members in enumerate(graph.adjacent)}
    order: list[int] = []
    covered = set()
    limit = 0
    while around:
        weight = {v: weights[v] + sum(weights[u] for u in around[v]) for v in around}
        v = min(weight, key=lambda v: (weight[v], v))
        if weight[v] > heaviest or (len(around) <= most and weight[v] > limit):
            break
        limit = max(limit, weight[v])
        order.append(v)
        members = around.pop(v)
        covered.add(frozenset(members))
        for u in members:
            around[u] = (around[u] | members) - {u, v}
    return order, covered


def peeled_core(graph: InteractionGraph, most: int) -> tuple[list[int], list[int], Core]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bnmind.junction.greedy_order.MOST_SEARCHED", most)
        return core_of(graph)


def cycle(n: int, size: int = 2) -> InteractionGraph:
    return graph_of([size] * n, [(i, (i + 1) % n) for i in range(n)])


@given(graphs(most=12), st.integers(0, 12), st.integers(0, 40))
def test_the_lightest_vertex_goes_first(graph: InteractionGraph, most: int, heaviest: int) -> None:
    around = [set(members) for members in graph.adjacent]
    found = peeled(around, graph.sizes, range(graph.n), most=most, heaviest=heaviest)
    assert found == naive_peeled(graph, graph.sizes, most, heaviest)


@given(graphs(most=12, least_size=1), st.integers(0, 12), st.sampled_from(Score))
def test_the_sizes_of_a_peeled_order_are_counted_once(
    graph: InteractionGraph, most: int, score: Score
) -> None:
    first, kept, core = peeled_core(graph, most)
    assert sorted([*first, *kept]) == list(range(graph.n))
    found = greedy_pass(core, score)
    order = [*first, *(kept[v] for v in found.order)]
    made = elimination(graph, order)
    before = sum(
        math.prod(graph.sizes[v] for v in clique)
        for clique, maximal in list(zip(made.cliques, made.maximal, strict=True))[: len(first)]
        if maximal
    )
    assert before + found.total == naive_total(graph, order)


def test_a_graph_of_the_usual_size_is_searched_whole() -> None:
    assert core_of(cycle(200))[2].n == 200


def test_a_long_cycle_is_eliminated_to_its_end() -> None:
    graph = cycle(5_000)
    first, kept, _ = core_of(graph)
    assert (len(first), kept) == (5_000, [])
    start = started(graph)
    order, work = start.order(graph), start.found.work
    assert order is not None
    assert (order.largest, order.total_size, work) == (8, 8 * 4_998, 0)
    assert RandomizedGreedy()(graph).total_size == 8 * 4_998


def test_what_is_left_of_a_large_graph_is_searched() -> None:
    rng = np.random.default_rng(0)
    n = 300
    edges = [(i, int(j)) for i in range(1, n) for j in rng.integers(max(0, i - 10), i, 2)]
    graph = graph_of(rng.integers(2, 5, n), edges)
    _, kept, core = peeled_core(graph, 50)
    assert 0 < core.n == len(kept) <= 50
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("bnmind.junction.greedy_order.MOST_SEARCHED", 50)
        found = RandomizedGreedy()(graph)
    assert found.total_size == naive_total(graph, [graph.names.index(v) for v in found.variables])
    assert found.total_size < 30 * RandomizedGreedy()(graph).total_size


def test_vertices_of_enormous_cliques_are_not_eliminated_unsearched() -> None:
    graph = cycle(30, size=10**20)
    assert peeled_core(graph, 5)[2].n == 30
    around = [set(members) for members in graph.adjacent]
    assert peeled(around, [1] * 30, range(30), most=5, heaviest=2) == ([], set())
    assert len(peeled(around, [1] * 30, range(30), most=5, heaviest=NO_LIMIT)[0]) == 30
