"""Elimination orders: what they cost, and the greedy ones."""

from __future__ import annotations

import math
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, InvalidModelError
from bnmind.junction import (
    ORDER_FINDERS,
    BestOrder,
    ExactOrder,
    GivenOrder,
    InteractionGraph,
    MinFill,
    MinWeight,
    OrderFinder,
    RandomizedGreedy,
    WeightedMinFill,
)
from bnmind.junction.graphs import elimination, maximal_cliques
from tests.graphs import (
    cost_to_go,
    graph_of,
    graphs,
    large_graph,
    naive_cliques,
    naive_total,
    smallest_by_permutations,
    vomlel_graph,
)

ALL_FINDERS: tuple[OrderFinder, ...] = (
    *(make() for make in ORDER_FINDERS.values()),
    RandomizedGreedy(restarts=5),
)


@given(graphs(), st.data())
def test_cost_is_what_the_definition_says(graph: InteractionGraph, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(graph.n)))
    cliques = maximal_cliques(graph, order)
    assert set(map(frozenset, cliques)) == naive_cliques(graph, order)
    assert len(set(cliques)) == len(cliques)
    found = GivenOrder(tuple(graph.names[v] for v in order))(graph)
    assert found.total_size == naive_total(graph, order)
    sizes = [math.prod(graph.sizes[v] for v in clique) for clique in cliques]
    assert found.largest == max(sizes, default=0)


@given(graphs(most=5))
def test_sets_alone_decide_what_an_elimination_costs(graph: InteractionGraph) -> None:
    # The oracle of the exact search is itself compared with all orders.
    assert cost_to_go(graph)[0] == smallest_by_permutations(graph)


@pytest.mark.parametrize("finder", ALL_FINDERS, ids=lambda finder: type(finder).__name__)
@given(graph=graphs(least_size=1))
def test_every_finder_returns_an_order_with_its_cost(
    finder: OrderFinder, graph: InteractionGraph
) -> None:
    found = finder(graph)
    assert sorted(found.variables) == sorted(graph.names)
    assert found.total_size == GivenOrder(found.variables)(graph).total_size
    assert found == finder(graph)
    assert pickle.loads(pickle.dumps(found)) == found
    if found.proven:
        assert found.total_size == cost_to_go(graph)[0]


@pytest.mark.parametrize("finder", ALL_FINDERS, ids=lambda finder: type(finder).__name__)
def test_chordal_graphs_are_proven_by_any_finder(finder: OrderFinder) -> None:
    chain = graph_of([2, 3, 4, 5, 2], [(0, 1), (1, 2), (0, 2), (2, 3), (3, 4)])
    found = finder(chain)
    assert found.proven
    assert found.total_size == 24 + 20 + 10
    assert finder(graph_of([], [])).total_size == 0
    assert finder(graph_of([3], [])).total_size == 3


def test_greedy_rules_look_at_sizes() -> None:
    # Joining the binary corners is cheaper than joining the large ones, and all rules see it.
    ring = graph_of([2, 9, 2, 9], [(0, 1), (1, 2), (2, 3), (3, 0)])
    for finder in (MinFill(), MinWeight(), WeightedMinFill()):
        found = finder(ring)
        assert found.variables[0] == "v1"
        assert found.total_size == 2 * (2 * 9 * 2)


@pytest.mark.compiled
def test_seeds_differ_and_restarts_help() -> None:
    graph = vomlel_graph(4, 6, stage=2, arc=True)
    assert MinFill()(graph).total_size == 101_854_225
    assert RandomizedGreedy()(graph).total_size < 80_000_000
    graph = large_graph()
    orders = {RandomizedGreedy(restarts=10, seed=seed)(graph).variables for seed in range(4)}
    assert len(orders) > 1


@pytest.mark.compiled
def test_large_graphs_of_any_size() -> None:
    graph = large_graph()
    found = BestOrder()(graph)
    assert sorted(found.variables) == sorted(graph.names)
    assert found.total_size < MinFill()(graph).total_size
    assert not found.proven


def test_given_order_lists_all_faults() -> None:
    graph = graph_of([2, 2, 2], [(0, 1)])
    with pytest.raises(InvalidModelError) as caught:
        GivenOrder(("v0", "v0", "v1", "w"))(graph)
    assert len(caught.value.problems) == 3
    assert "'w'" in str(caught.value)


def test_options_are_checked() -> None:
    with pytest.raises(InvalidArgumentError) as caught:
        RandomizedGreedy(restarts=-1, patience=0)
    assert all(name in str(caught.value) for name in ("restarts to be", "patience to be"))
    with pytest.raises(InvalidArgumentError, match=r"max_sets to be .* of at least 1, got 0"):
        ExactOrder(max_sets=0)
    with pytest.raises(InvalidArgumentError, match=r"max_sets to be .* of at least 1, got 0"):
        BestOrder(max_sets=0)


def test_an_order_tells_its_cost_and_whether_it_is_proven() -> None:
    ring = graph_of([2, 3, 2, 5], [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert str(MinFill()(ring)) == (
        "total size 32 (not proven smallest), largest clique 20, by min-fill: v1, v0, v2, v3"
    )
    assert "(proven smallest)" in str(ExactOrder()(ring))


def test_elimination_cliques_follow_the_order() -> None:
    ring = graph_of([2, 2, 2, 2], [(0, 1), (1, 2), (2, 3), (3, 0)])
    assert elimination(ring, [0, 1, 2, 3]).cliques == ((0, 1, 3), (1, 2, 3), (2, 3), (3,))
