"""Annealing of contraction trees, against their definition and the smallest orders."""

from __future__ import annotations

from functools import reduce
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bnmind._jit import run_plainly
from bnmind.errors import InvalidArgumentError
from bnmind.junction import GivenOrder, InteractionGraph, MinFill, TreeAnnealing
from bnmind.junction.graphs import bits
from bnmind.junction.greedy_order import whole_graph
from bnmind.junction.randomized_order import (
    Tree,
    anneal,
    covering_cliques,
    order_of,
    tables,
    tree_of,
)
from tests.graphs import cost_to_go, graph_of, graphs, is_clique
from tests.modes import examples


def grid(n: int, m: int) -> InteractionGraph:
    """Return a grid of binary variables."""
    across = [(m * i + j, m * i + j + 1) for i in range(n) for j in range(m - 1)]
    down = [(m * i + j, m * i + j + m) for i in range(n - 1) for j in range(m)]
    return graph_of([2] * (n * m), across + down)


def masks_of(tree: Tree) -> list[int]:
    """Return the open vertices of each node as bit masks."""
    rows = [sum(int(word) << 64 * i for i, word in enumerate(row)) for row in tree.open_rows]
    places = tree.places.tolist()
    assert all(row & ~sum(1 << place for place in places) == 0 for row in rows)
    return [sum(1 << v for v, place in enumerate(places) if row >> place & 1) for row in rows]


def below(tree: Tree, node: int) -> list[int]:
    """Return the leaves below a node."""
    if node < tree.n_leaves:
        return [node]
    return [leaf for child in tree.children[node] for leaf in below(tree, int(child))]


def assert_defined(tree: Tree, leaves: list[int], logarithms: tuple[int, ...]) -> None:
    """Raise AssertionError unless all open vertices and costs of a tree follow from its leaves."""
    masks = masks_of(tree)
    assert [tree.logarithms[place >> 6] for place in tree.places] == list(logarithms)
    assert masks[: tree.n_leaves] == leaves
    root = len(masks) - 1
    assert sorted(below(tree, root)) == list(range(tree.n_leaves))
    for node in range(tree.n_leaves, len(masks)):
        inside = set(below(tree, node))
        outside = [leaf for i, leaf in enumerate(leaves) if i not in inside]
        union = reduce(int.__or__, (leaves[i] for i in inside))
        assert masks[node] == union & reduce(int.__or__, outside, 0)
        bag = reduce(int.__or__, (masks[int(child)] for child in tree.children[node]))
        assert tree.costs[node] == sum(logarithms[v] for v in bits(bag))


@given(graphs(least=1))
def test_cliques_cover_all_vertices_and_edges(graph: InteractionGraph) -> None:
    cliques = covering_cliques(graph.neighbors)
    assert all(is_clique(graph, bits(clique)) for clique in cliques)
    assert reduce(int.__or__, cliques) == graph.vertices
    for v, around in enumerate(graph.neighbors):
        assert all(any(c >> v & c >> u & 1 for c in cliques) for u in bits(around))


@settings(max_examples=20)
@given(graphs(least=2), st.randoms(use_true_random=False), st.integers(1, 2**64 - 1))
def test_moves_keep_the_definition_of_the_tree(
    graph: InteractionGraph, random: object, seed: int
) -> None:
    order = list(range(graph.n))
    random.shuffle(order)  # type: ignore[attr-defined]
    core = whole_graph(graph)
    leaves = covering_cliques(graph.neighbors)
    tree = tree_of(core, order)
    assert_defined(tree, leaves, core.logarithms)
    whole = order_of(tree)
    assert sorted(whole) == list(range(graph.n))
    if all(sum(leaf >> v & 1 for leaf in leaves) > 1 for v in order):
        # No vertex is simplicial, as in a core.
        again = GivenOrder(tuple(graph.names[v] for v in whole))(graph).total_size
        assert again <= GivenOrder(tuple(graph.names[v] for v in order))(graph).total_size
    schedule = np.array([4096, 64], dtype=np.int64)
    state = np.array([seed], dtype=np.uint64)
    plain = tree._replace(children=tree.children.copy(), open_rows=tree.open_rows.copy())
    plain = plain._replace(costs=tree.costs.copy())
    if tree.n_leaves > 1:
        plain_state = state.copy()
        anneal(tree, tables(core.fraction), schedule, 50, state)
        run_plainly(anneal, plain, tables(core.fraction), schedule, 50, plain_state)
        assert all(bool(np.all(a == b)) for a, b in zip(tree, plain, strict=True))
        assert state == plain_state
    assert_defined(tree, leaves, core.logarithms)
    assert sorted(order_of(tree)) == list(range(graph.n))


def test_variables_may_all_have_different_numbers_of_states() -> None:
    n = 150
    graph = graph_of([2 + v for v in range(n)], [(v, (v + 1) % n) for v in range(n)])
    core = whole_graph(graph)
    tree = tree_of(core, list(range(n)))
    assert sorted(order_of(tree)) == list(range(n))
    assert tree.logarithms[tree.places >> 6].tolist() == list(core.logarithms)
    found = TreeAnnealing(GivenOrder(graph.names[::2] + graph.names[1::2]), rounds=1)(graph)
    assert sorted(found.variables) == sorted(graph.names)


@settings(max_examples=15)
@given(graphs(least=2))
def test_orders_are_no_larger_than_the_first_and_no_smaller_than_the_best(
    graph: InteractionGraph,
) -> None:
    first = GivenOrder(graph.names)
    found = TreeAnnealing(first, rounds=1)(graph)
    assert cost_to_go(graph)[0] <= found.total_size <= first(graph).total_size


def test_the_order_of_a_grid_is_as_good_as_column_by_column() -> None:
    # Column by column, each clique has 5 variables.
    found = TreeAnnealing(MinFill(), rounds=2)(grid(4, 6))
    assert found.total_size <= MinFill()(grid(4, 6)).total_size
    rows = GivenOrder(tuple(f"v{6 * i + j}" for j in range(6) for i in range(4)))(grid(4, 6))
    assert found.total_size <= rows.total_size


def test_options_out_of_range_are_refused() -> None:
    with pytest.raises(InvalidArgumentError, match=r"rounds to be .* at least 0, got -1"):
        TreeAnnealing(rounds=-1)
    with pytest.raises(InvalidArgumentError, match="seed"):
        TreeAnnealing(seed=-1)


@settings(max_examples=examples(50))
@given(graphs(least=1, most=9), st.randoms(use_true_random=False))
def test_nodes_with_the_fewest_cells_are_joined_first(graph: InteractionGraph, rng: Random) -> None:
    core = whole_graph(graph)
    order = list(range(core.n))
    rng.shuffle(order)
    nodes = [set(bits(mask)) for mask in covering_cliques(core.neighbors)]
    roots = list(range(len(nodes)))
    joined: list[list[int]] = []

    def join(several: list[int]) -> None:
        while len(several) > 1:
            several.sort(key=lambda i: (sum(core.logarithms[u] for u in nodes[i]), i))
            a, b, *rest = several
            joined.append([a, b])
            several = [*rest, len(nodes)]
            roots[:] = [root for root in roots if root not in (a, b)] + [len(nodes)]
            nodes.append(nodes[a] | nodes[b])

    for v in order:
        join([root for root in roots if v in nodes[root]])
        for node in nodes:
            node.discard(v)
    join(list(roots))
    tree = tree_of(core, order)
    assert tree.children[tree.n_leaves :].tolist() == joined
