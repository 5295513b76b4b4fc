"""Junction trees."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidModelError
from bnmind.junction import BestOrder, EliminationOrder, GivenOrder, InteractionGraph, JunctionTree
from bnmind.junction.graphs import bits
from tests.graphs import graph_of, graphs, naive_cliques


@given(graphs(most=10), st.data())
def test_it_is_a_junction_tree(graph: InteractionGraph, data: st.DataObject) -> None:
    order = data.draw(st.permutations(range(graph.n)))
    names = tuple(graph.names[v] for v in order)
    tree = JunctionTree.from_order(graph, GivenOrder(names)(graph))

    cliques = [set(clique.variables) for clique in tree.cliques]
    expected = {frozenset(graph.names[v] for v in c) for c in naive_cliques(graph, order)}
    assert {frozenset(clique) for clique in cliques} == expected
    assert len(cliques) == len(expected)
    for v in range(graph.n):
        for u in bits(graph.neighbors[v]):
            assert any({graph.names[v], graph.names[u]} <= clique for clique in cliques)

    # A tree: connected, with one edge less than cliques; also among those that hold a variable.
    assert len(tree.edges) == max(len(cliques) - 1, 0)
    for i, j, separator in tree.edges:
        assert i < j
        assert set(separator) == cliques[i] & cliques[j]
    for name in graph.names:
        holding = {i for i, clique in enumerate(cliques) if name in clique}
        joining = [edge for edge in tree.edges if name in edge.separator]
        assert len(joining) == len(holding) - 1
    reached = {0} if cliques else set()
    for _ in cliques:
        reached |= {j for i, j, _ in tree.edges if i in reached}
        reached |= {i for i, j, _ in tree.edges if j in reached}
    assert reached == set(range(len(cliques)))

    assert tree.total_size == tree.order.total_size
    assert tree.largest == tree.order.largest


def test_parts_that_do_not_touch_are_joined_by_empty_separators() -> None:
    graph = graph_of([2, 2, 3, 3, 5], [(0, 1), (2, 3)])
    tree = JunctionTree.from_order(graph, BestOrder()(graph))
    assert [edge.separator for edge in tree.edges] == [(), ()]
    assert tree.total_size == 4 + 9 + 5


def test_no_variables_no_cliques() -> None:
    graph = graph_of([], [])
    tree = JunctionTree.from_order(graph, BestOrder()(graph))
    assert tree.cliques == ()
    assert tree.edges == ()
    assert tree.total_size == 0
    assert "size  clique" in str(tree)


def test_it_prints_cliques_sizes_and_the_order() -> None:
    graph = graph_of([20, 100, 3, 2], [(0, 1), (1, 2), (2, 3)])
    order = GivenOrder(("v3", "v2", "v0", "v1"))(graph)
    assert str(JunctionTree.from_order(graph, order)) == (
        " size  clique\n"
        "2,000  v0 v1\n"
        "  300  v1 v2\n"
        "    6  v2 v3\n"
        "total size 2,306 (proven smallest), largest clique 2,000, by given order: v3, v2, v0, v1"
    )


def test_the_order_must_be_one_of_the_graph() -> None:
    order = EliminationOrder(("v0", "x"), 1, 1, proven=False, method="made up")
    with pytest.raises(InvalidModelError):
        JunctionTree.from_order(graph_of([2, 2], []), order)
