"""Interaction graphs."""

from __future__ import annotations

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.errors import InvalidArgumentError, InvalidModelError, UnknownNameError
from bnmind.junction import InteractionGraph
from bnmind.junction.graphs import bits, measured_order
from tests.graphs import graph_of, graphs


def test_scopes_become_cliques() -> None:
    graph = InteractionGraph.from_scopes(
        {"x": 2, "y": 3, "z": 4, "alone": 5}, [("x", "y"), ("y", "z", "x"), ("z",), ()]
    )
    assert graph.names == ("x", "y", "z", "alone")
    assert graph.sizes == (2, 3, 4, 5)
    assert graph.adjacent == ((1, 2), (0, 2), (0, 1), ())
    assert graph.neighbors == (0b110, 0b101, 0b011, 0)
    assert graph == InteractionGraph(graph.names, graph.sizes, graph.adjacent)
    assert graph.mask(["z", "x"]) == 0b101
    assert graph.vertices == 0b1111
    assert graph.members(0b1001) == ("x", "alone")


def test_sizes_are_exact_beyond_floating_point() -> None:
    graph = graph_of([7] * 100, combinations(range(100), 2))
    assert measured_order(graph, range(100), method="").largest == 7**100


def test_all_faults_are_reported_at_once() -> None:
    with pytest.raises(InvalidModelError) as caught:
        InteractionGraph.from_scopes({"x": 2}, [("x", "nowhere"), ("elsewhere",)])
    assert len(caught.value.problems) == 2
    with pytest.raises(InvalidModelError) as caught:
        InteractionGraph(("x", "y", "y"), (0, 2, 2), ((1,), (0,), (2,)))
    assert len(caught.value.problems) == 3
    with pytest.raises(InvalidModelError, match="neighbor of its neighbors"):
        InteractionGraph(("x", "y"), (2, 2), ((1,), ()))
    with pytest.raises(InvalidModelError, match="ascending"):
        InteractionGraph(("x", "y", "z"), (2, 2, 2), ((2, 1), (0,), (0,)))
    with pytest.raises(InvalidModelError, match="among the other"):
        InteractionGraph(("x", "y"), (2, 2), ((1, 2), (0,)))
    with pytest.raises(InvalidModelError, match="for each of 2 variables"):
        InteractionGraph(("x", "y"), (2,), ((), ()))
    with pytest.raises(InvalidArgumentError, match="at least 1, got "):
        InteractionGraph.from_scopes({"x": 0}, [])
    with pytest.raises(UnknownNameError, match="'z'"):
        graph_of([2], []).mask(["z"])


@given(graphs(), st.integers(0, 255))
def test_components_are_connected_and_apart(graph: InteractionGraph, mask: int) -> None:
    mask &= graph.vertices
    parts = graph.components(mask)
    assert sum(parts) == mask
    for part in parts:
        assert not graph.neighborhood(part) & mask
        grown = part & -part
        for _ in range(graph.n):
            grown |= graph.neighborhood(grown) & mask
        assert grown == part


@given(graphs(), st.integers(0, 255))
def test_subgraph_keeps_names_sizes_and_edges(graph: InteractionGraph, mask: int) -> None:
    mask &= graph.vertices
    part = graph.subgraph(mask)
    assert part.names == graph.members(mask)
    for i, v in enumerate(bits(mask)):
        assert part.sizes[i] == graph.sizes[v]
        assert part.members(part.neighbors[i]) == graph.members(graph.neighbors[v] & mask)
