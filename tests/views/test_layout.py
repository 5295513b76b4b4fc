"""Layers, crossings, positions: a drawing keeps its promises, and equals obvious twins."""

from __future__ import annotations

from itertools import combinations, pairwise, permutations, product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bnmind.views import Layout, lay_out
from bnmind.views.layout import (
    assign_layers,
    count_crossings,
    isotonic,
    place_items,
    reduce_crossings,
)

Graph = tuple[int, list[tuple[int, int]]]


@st.composite
def graphs(draw: st.DrawFn, max_nodes: int = 14, *, connected: bool = False) -> Graph:
    """Acyclic graphs whose nodes come in any order, with fans and long arcs."""
    n = draw(st.integers(1, max_nodes))
    order = draw(st.permutations(range(n)))
    arcs: set[tuple[int, int]] = set()
    if connected:
        arcs |= {(draw(st.integers(0, head - 1)), head) for head in range(1, n)}
    if n > 1:
        pairs = st.tuples(st.integers(0, n - 1), st.integers(0, n - 1))
        chosen = draw(st.lists(pairs, max_size=2 * n))
        arcs |= {(min(pair), max(pair)) for pair in chosen if pair[0] != pair[1]}
    return n, sorted((order[tail], order[head]) for tail, head in arcs)


def length(layers: list[int], arcs: list[tuple[int, int]]) -> int:
    return sum(layers[head] - layers[tail] for tail, head in arcs)


@given(graphs(30, connected=True))
def test_arcs_go_down(graph: Graph) -> None:
    n, arcs = graph
    layers = assign_layers(n, arcs)
    assert all(layers[tail] < layers[head] for tail, head in arcs)
    assert min(layers) == 0


@given(graphs(6, connected=True))
def test_the_arcs_are_as_short_as_can_be(graph: Graph) -> None:
    n, arcs = graph
    best = min(
        length(list(layers), arcs)
        for layers in product(range(n), repeat=n)
        if all(layers[tail] < layers[head] for tail, head in arcs)
    )
    assert length(assign_layers(n, arcs), arcs) == best


@st.composite
def layered(draw: st.DrawFn) -> tuple[list[list[int]], list[list[int]]]:
    """Items in up to four layers, and their links to the next."""
    sizes = draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    items = iter(range(sum(sizes)))
    layers = [[next(items) for _ in range(size)] for size in sizes]
    down: list[list[int]] = [[] for _ in range(sum(sizes))]
    for upper, lower in pairwise(layers):
        for item in upper:
            down[item] = sorted(draw(st.sets(st.sampled_from(lower))))
    return layers, down


def crossings_one_by_one(layers: list[list[int]], down: list[list[int]]) -> int:
    found = 0
    for upper, lower in pairwise(layers):
        links = [(upper.index(a), lower.index(b)) for a in upper for b in down[a]]
        found += sum((a - c) * (b - d) < 0 for (a, b), (c, d) in combinations(links, 2))
    return found


@given(layered())
def test_crossings_are_those_counted_one_by_one(
    case: tuple[list[list[int]], list[list[int]]],
) -> None:
    layers, down = case
    assert count_crossings(layers, down) == crossings_one_by_one(layers, down)
    ordered = reduce_crossings(layers, down)
    assert [sorted(layer) for layer in ordered] == [sorted(layer) for layer in layers]
    assert count_crossings(ordered, down) <= count_crossings(layers, down)


def test_a_planar_tangle_is_drawn_without_crossings() -> None:
    down = [[5], [4], [3], [8], [7], [6], [], [], []]
    ordered = reduce_crossings([[0, 1, 2], [3, 4, 5], [6, 7, 8]], down)
    assert count_crossings(ordered, down) == 0


@given(st.lists(st.tuples(st.integers(-5, 5), st.integers(1, 4)), min_size=1, max_size=6))
def test_isotonic_regression_is_the_best_of_all_poolings(pairs: list[tuple[int, int]]) -> None:
    wanted, weights = (np.array(column, dtype=float) for column in zip(*pairs, strict=True))

    def loss(x: np.ndarray[tuple[int, ...], np.dtype[np.float64]]) -> float:
        return float((weights * (x - wanted) ** 2).sum())

    found = np.array(isotonic(wanted.tolist(), weights.tolist()))
    assert np.all(np.diff(found) >= -1e-12)
    poolings = []
    for cuts in product([False, True], repeat=len(pairs) - 1):
        blocks = np.split(np.arange(len(pairs)), np.flatnonzero(cuts) + 1)
        x = np.concatenate(
            [np.full(len(b), np.average(wanted[b], weights=weights[b])) for b in blocks]
        )
        if np.all(np.diff(x) >= 0):
            poolings.append(loss(x))
    assert loss(found) == pytest.approx(min(poolings), abs=1e-9)


def test_a_child_is_centered_below_its_parents() -> None:
    links = [{2: 1.0}, {2: 1.0}, {0: 1.0, 1: 1.0}]
    x = place_items([[0, 1], [2]], [10.0, 10.0, 10.0], links, gaps=[1.0] * 3, sweeps=8)
    assert x[1] - x[0] >= 12.0 - 1e-9
    assert x[2] == pytest.approx((x[0] + x[1]) / 2)


def drawn(graph: Graph, seed: int = 0) -> tuple[list[tuple[float, float]], Layout]:
    n, arcs = graph
    rng = np.random.default_rng(seed)
    sizes = [(float(w), float(h)) for w, h in rng.integers(20, 200, (n, 2))]
    return sizes, lay_out(sizes, arcs)


def assert_sound(graph: Graph, sizes: list[tuple[float, float]], layout: Layout) -> None:
    _, arcs = graph
    slack = 1e-6
    boxes = [
        (x, y, x + width, y + height)
        for (x, y), (width, height) in zip(layout.corners, sizes, strict=True)
    ]
    for left, top, right, bottom in boxes:
        assert -slack <= left < right <= layout.width + slack
        assert -slack <= top < bottom <= layout.height + slack
    for one, two in combinations(boxes, 2):
        apart_x = one[2] + 5 <= two[0] + slack or two[2] + 5 <= one[0] + slack
        apart_y = one[3] + 5 <= two[1] + slack or two[3] + 5 <= one[1] + slack
        assert apart_x or apart_y
    for (tail, head), route in zip(arcs, layout.routes, strict=True):
        assert layout.layers[tail] < layout.layers[head]
        assert boxes[tail][0] <= route[0][0] <= boxes[tail][2]
        assert boxes[head][0] <= route[-1][0] <= boxes[head][2]
        assert route[0][1] == pytest.approx(boxes[tail][3])
        assert route[-1][2] == pytest.approx(boxes[head][1])
        heights = [y for _, start, end in route for y in (start, end)]
        assert heights == sorted(heights)
        for x, start, end in route[1:-1]:
            assert -slack <= x <= layout.width + slack
            for left, top, right, bottom in boxes:
                assert not (left < x < right and start < bottom and top < end)
        # Bends lie between layers, where no box of the same part is.
        for (_, _, start), (_, end, _) in pairwise(route):
            assert end >= start


@given(graphs(), st.integers(0, 5))
def test_boxes_do_not_overlap_and_arcs_avoid_them(graph: Graph, seed: int) -> None:
    sizes, layout = drawn(graph, seed)
    assert_sound(graph, sizes, layout)
    assert lay_out(sizes, graph[1]) == layout


@pytest.mark.parametrize(("n_leaves", "rows"), [(3, 1), (12, 2), (60, 3)])
def test_a_wide_fan_is_split_so_that_it_is_not_too_wide(n_leaves: int, rows: int) -> None:
    graph = (n_leaves + 1, [(0, leaf) for leaf in range(1, n_leaves + 1)])
    sizes = [(140.0, 60.0)] * (n_leaves + 1)
    layout = lay_out(sizes, graph[1])
    assert_sound(graph, sizes, layout)
    assert max(layout.layers) == rows


def test_components_without_arcs_fill_rows() -> None:
    layout = lay_out([(100.0, 50.0)] * 40, [])
    assert layout.width / layout.height == pytest.approx(1.7, abs=0.6)


@pytest.mark.slow
@given(graphs(80), st.integers(0, 5))
def test_layouts_of_large_graphs_are_valid(graph: Graph, seed: int) -> None:
    sizes, layout = drawn(graph, seed)
    assert_sound(graph, sizes, layout)


def test_layers_of_three_nodes_do_not_depend_on_their_order() -> None:
    for order in permutations(range(3)):
        a, b, c = order
        layers = lay_out([(10.0, 10.0)] * 3, [(a, b), (b, c), (a, c)]).layers
        assert [layers[node] for node in order] == [0, 1, 2]
