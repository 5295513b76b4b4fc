"""Searches for elimination orders: cores, passes and climbs, in Python and compiled."""

from __future__ import annotations

import math
from contextlib import AbstractContextManager
from itertools import combinations, permutations
from statistics import median
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind._jit import PlainWork
from bnmind.errors import InvalidArgumentError
from bnmind.junction import (
    GivenOrder,
    InteractionGraph,
    MinFill,
    MinWeight,
    RandomizedGreedy,
    WeightedMinFill,
)
from bnmind.junction import greedy_order as greedy
from bnmind.junction.graphs import (
    bits,
    elimination,
    measured_order,
)
from bnmind.junction.greedy_order import (
    Climb,
    Core,
    Score,
    climbed,
    core_of,
    greedy_pass,
    whole_graph,
)
from bnmind.pgm import Network
from tests.graphs import (
    graph_of,
    graphs,
    is_clique,
    large_graph,
    naive_cliques,
    naive_greedy,
    naive_total,
    smallest_by_permutations,
    vomlel_graph,
)
from tests.modes import examples
from tests.wheel import read_wheel

ANY_GRAPH = graphs(most=12, least_size=1)
PLAIN = (Score.FILL, Score.WEIGHT, Score.WEIGHTED_FILL)
NOISY = tuple(score for score in Score if score not in PLAIN)
ENORMOUS = graph_of([10**40] * 30, [(i, j) for i in range(30) for j in range(i) if (i * j) % 3])


def family_graph(network: Network) -> InteractionGraph:
    return InteractionGraph.from_scopes(
        {v.name: v.n_states for v in network.variables},
        [[v.name for v in cpd.scope] for cpd in network.cpds],
    )


def noise_of(graph: InteractionGraph, seed: int, count: int = 1) -> np.ndarray:
    # Logarithms have 24 binary digits behind the point at most.
    rng = np.random.default_rng(seed)
    return (rng.standard_normal((count, graph.n)) * 2**24).astype(np.int64)


def passed(core: Core, score: Score, noise: np.ndarray, limit: float = math.inf) -> Climb:
    """Return one pass with some noise."""
    if not core.n:
        return greedy_pass(core, score)
    zero = np.zeros(core.n, dtype=np.int64)
    return climbed(core, score, Climb((), limit, zero), noise[None, : core.n], is_large=True)


def in_python(work: float) -> AbstractContextManager[Any]:
    """Let searches do some work in Python, and the rest compiled."""
    # The function stands for a kernel that is never loaded.
    return mock.patch.object(greedy, "_large_work", PlainWork(lambda: None, int(work)))


def shown(climb: Climb) -> tuple[Any, ...]:
    return [*climb.order], climb.total, climb.noise.tolist(), climb.passes, climb.work


@given(ANY_GRAPH)
def test_a_core_has_no_simplicial_vertex(graph: InteractionGraph) -> None:
    first, kept, core = core_of(graph)
    assert sorted([*first, *kept]) == list(range(graph.n))
    for v, around in enumerate(core.neighbors):
        members = list(bits(around))
        assert any(not core.neighbors[a] >> b & 1 for a, b in combinations(members, 2)), v
    rest = graph.subgraph(sum(1 << v for v in kept))
    assert rest.neighbors == core.neighbors
    cliques = elimination(graph, [*first, *kept]).cliques
    for v, clique in zip(first, cliques, strict=False):
        assert is_clique(graph, clique), v


@given(graphs(most=6))
def test_simplicial_vertices_first_are_never_a_mistake(graph: InteractionGraph) -> None:
    first, kept, _ = core_of(graph)
    best = min(naive_total(graph, [*first, *order]) for order in permutations(kept))
    assert best == smallest_by_permutations(graph)


@given(ANY_GRAPH, st.sampled_from(Score), st.integers(0, 99))
def test_a_pass_counts_what_its_order_adds_to_the_simplicial_cliques(
    graph: InteractionGraph, score: Score, seed: int
) -> None:
    first, kept, core = core_of(graph)
    found = passed(core, score, noise_of(graph, seed)[0])
    assert sorted(found.order) == list(range(core.n))
    order = [*first, *(kept[v] for v in found.order)]
    eliminated = elimination(graph, order)
    simplicial = sum(
        math.prod(graph.sizes[v] for v in clique)
        for clique, maximal in list(zip(eliminated.cliques, eliminated.maximal, strict=True))[
            : len(first)
        ]
        if maximal
    )
    assert simplicial + found.total == naive_total(graph, order)


@given(ANY_GRAPH, st.sampled_from(PLAIN))
def test_updated_scores_are_those_computed_again(graph: InteractionGraph, score: Score) -> None:
    found = greedy_pass(whole_graph(graph), score)
    # Once the rest is a clique its order is arbitrary, and the cliques are the same.
    naive = naive_greedy(graph, score.name)
    assert naive_cliques(graph, found.order) == naive_cliques(graph, naive)


@given(ANY_GRAPH, st.sampled_from(Score), st.integers(0, 99), st.floats(0, 1.5))
def test_a_pass_gives_up_only_above_its_limit(
    graph: InteractionGraph, score: Score, seed: int, share: float
) -> None:
    core, noise = whole_graph(graph), noise_of(graph, seed)[0]
    unlimited = passed(core, score, noise)
    limit = share * unlimited.total
    limited = passed(core, score, noise, limit)
    if unlimited.total <= limit:
        assert shown(limited) == shown(unlimited)
    else:
        assert limited.order == ()
        assert limited.work <= unlimited.work


@given(
    ANY_GRAPH,
    st.sampled_from(Score),
    st.floats(0, 5000) | st.just(math.inf),
    st.integers(0, 20_000) | st.just(math.inf),
)
@settings(max_examples=examples(60))
def test_a_search_may_run_in_python_or_start_there(
    graph: InteractionGraph, score: Score, limit: float, most_work: float
) -> None:
    for core in (whole_graph(graph), core_of(graph)[2]):
        if not core.n:
            continue
        steps = noise_of(graph, 2, 8)[:, : core.n]
        start = Climb(list(range(core.n)), limit, noise_of(graph, 1)[0][: core.n])
        found = []
        for work in (0, 20, 700, 3_000, 10**9):
            with in_python(work):
                found.append(shown(climbed(core, score, start, steps, most_work, is_large=True)))
        assert found == [found[0]] * 5


def test_large_graphs_and_enormous_sizes_search_the_same_in_python() -> None:
    for graph in (large_graph(120), vomlel_graph(4, 6, stage=1), ENORMOUS):
        core = core_of(graph)[2]
        for score in Score:
            found = []
            for work in (0, 10**9):
                with in_python(work):
                    found.append(shown(passed(core, score, noise_of(graph, 1)[0])))
            assert found[0] == found[1]
            assert sorted(found[0][0]) == list(range(core.n))


def test_sizes_beyond_floating_point_are_exact_in_the_end() -> None:
    found = RandomizedGreedy()(ENORMOUS)
    order = [ENORMOUS.names.index(name) for name in found.variables]
    assert found.total_size == naive_total(ENORMOUS, order)
    assert found.total_size > 10**300


def test_equal_clique_sizes_have_equal_logarithms() -> None:
    logarithms = whole_graph(graph_of([12, 1, 6, 2, 4, 3], [])).logarithms
    assert len({a + b for a, b in zip(logarithms[::2], logarithms[1::2], strict=True)}) == 1


SIZES = st.one_of(st.integers(1, 8), st.integers(1, 10**7))


@given(st.lists(SIZES, min_size=2, max_size=6))
def test_logarithms_add_up_as_sizes_multiply(sizes: list[int]) -> None:
    core = whole_graph(graph_of([*sizes, sizes[0] * sizes[1]], []))
    if sizes[0] * sizes[1] <= 2**32:  # larger numbers are not factored
        assert core.logarithms[-1] == sum(core.logarithms[:2])


def test_logarithms_are_close_to_those_of_the_sizes() -> None:
    sizes = [*range(1, 200), 2**31 - 1, 2**32, 3**20, 2**32 + 1, 10**9 + 7, 10**30]
    core = whole_graph(graph_of(sizes, []))
    for size, logarithm in zip(sizes, core.logarithms, strict=True):
        # Each of at most 32 prime factors is rounded by a half at most.
        assert abs(logarithm - math.log2(size) * 2**core.fraction) <= 16


@given(ANY_GRAPH)
def test_scores_of_a_pass_fit_61_bits(graph: InteractionGraph) -> None:
    core = whole_graph(graph)
    assert math.comb(core.n, 2) < 2**core.fill_bits
    assert core.fill_bits + max(sum(core.logarithms), 1).bit_length() <= 61
    assert sum(core.values[a] * core.values[b] for a, b in combinations(range(core.n), 2)) < 2**61


@given(graphs(most=10), st.integers(0, 3))
def test_randomized_is_never_worse_than_greedy_on_the_core(
    graph: InteractionGraph, seed: int
) -> None:
    found = RandomizedGreedy(seed=seed)(graph)
    assert found.total_size <= MinFill()(graph).total_size
    assert found.total_size <= WeightedMinFill()(graph).total_size
    first, kept, _ = core_of(graph)
    rest = graph.subgraph(sum(1 << v for v in kept))
    names = [graph.names[v] for v in first] + list(MinWeight()(rest).variables)
    assert found.total_size <= GivenOrder(tuple(names))(graph).total_size


@pytest.mark.compiled
def test_more_effort_looks_further() -> None:
    graph = large_graph()
    sizes = [RandomizedGreedy(effort=effort)(graph).total_size for effort in (0.0, 1.0, 10.0)]
    assert sizes[0] > sizes[1] >= sizes[2]
    assert "(0 passes)" in RandomizedGreedy(effort=0.0)(graph).method
    assert "(7 passes)" in RandomizedGreedy(restarts=7)(graph).method


def test_randomized_search_checks_its_effort() -> None:
    with pytest.raises(InvalidArgumentError, match="effort"):
        RandomizedGreedy(effort=-1.0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "most", "middle"),
    [
        ("link", 30_000_000, 27_000_000),
        ("munin1", 85_000_000, 85_000_000),
        ("barley", 17_200_000, 17_200_000),
        ("mildew", 3_450_000, 3_450_000),
        ("water", 3_300_000, 3_300_000),
        ("diabetes", 10_600_000, 10_600_000),
    ],
)
def test_trees_of_large_networks_are_small_on_every_seed(name: str, most: int, middle: int) -> None:
    # Issue 3 asks this of link; the others are what a prototype reached.
    graph = family_graph(read_wheel(name))
    sizes = [RandomizedGreedy(seed=seed)(graph).total_size for seed in range(5)]
    assert max(sizes) <= most
    assert median(sizes) <= middle


@given(graphs(most=10), st.data())
def test_measured_sizes_are_exact(graph: InteractionGraph, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(graph.n)))
    assert measured_order(graph, order, method="").total_size == naive_total(graph, order)
    found = elimination(graph, order)
    for i, (v, clique, parent) in enumerate(zip(order, found.cliques, found.parents, strict=True)):
        rest = [u for u in order[i + 1 :] if u in clique]
        assert clique == (v, *rest)
        assert parent == (order.index(rest[0]) if rest else -1)
        maximal = not any(set(clique) < set(other) for other in found.cliques)
        assert found.maximal[i] == maximal
