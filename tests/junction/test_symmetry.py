"""Interchangeable blocks."""

from __future__ import annotations

from itertools import permutations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from bnmind.junction import InteractionGraph
from bnmind.junction.exact_order import (
    Blocks,
    canonical,
    interchangeable_blocks,
)
from bnmind.junction.graphs import bits
from tests.graphs import cost_to_go, graph_of, graphs, symmetric_graphs, vomlel_graph


def images(mask: int, blocks: Blocks) -> set[int]:
    """Return all images of a set under permutations of the blocks of a class."""
    found = set()
    fixed = mask & ~sum(1 << v for block in blocks for v in block)
    for order in permutations(blocks):
        image = fixed
        for block, target in zip(blocks, order, strict=True):
            for v, w in zip(block, target, strict=True):
                image |= (mask >> v & 1) << w
        found.add(image)
    return found


@given(st.one_of(graphs(), symmetric_graphs()))
def test_any_permutation_of_blocks_keeps_the_graph(graph: InteractionGraph) -> None:
    classes = interchangeable_blocks(graph)
    members = [v for blocks in classes for block in blocks for v in block]
    assert len(set(members)) == len(members)
    for blocks in classes:
        assert len(blocks) > 1
        for order in list(permutations(blocks))[:120]:
            image = list(range(graph.n))
            for block, target in zip(blocks, order, strict=True):
                for v, w in zip(block, target, strict=True):
                    image[v] = w
            for v in range(graph.n):
                assert graph.sizes[image[v]] == graph.sizes[v]
                mapped = sum(1 << image[u] for u in bits(graph.neighbors[v]))
                assert graph.neighbors[image[v]] == mapped


@given(symmetric_graphs())
def test_canonical_sets_stand_for_their_images(graph: InteractionGraph) -> None:
    classes = interchangeable_blocks(graph)
    to_go = cost_to_go(graph)
    masks = np.arange(graph.vertices + 1, dtype=np.int64)
    chosen = canonical(masks, classes)
    assert np.array_equal(canonical(chosen, classes), chosen)
    assert [to_go[image] for image in chosen] == to_go
    seen = set()
    for mask, image in zip(masks.tolist(), chosen.tolist(), strict=True):
        blocks = [sorted([mask >> v & 1 for v in b] for b in each) for each in classes]
        moved = sum(1 << v for each in classes for block in each for v in block)
        seen.add((mask & ~moved, str(blocks), image))
    # One image for each fixed part and patterns of blocks.
    assert len(seen) == len({entry[:2] for entry in seen}) == len(set(chosen.tolist()))


def test_images_of_a_set_share_one_canonical_set() -> None:
    graph = vomlel_graph(3, 2, stage=2)
    classes = interchangeable_blocks(graph)
    for mask in range(0, graph.vertices + 1, 37):
        for blocks in classes:
            several = np.array([mask, *images(mask, blocks)])
            assert len(set(canonical(several, classes).tolist())) == 1


def test_blocks_of_mastermind_are_colors_and_pegs() -> None:
    graph = vomlel_graph(4, 6, stage=1, arc=True)
    classes = interchangeable_blocks(graph)
    blocks = [{frozenset(graph.names[v] for v in block) for block in each} for each in classes]
    assert blocks == [
        {frozenset((f"C{i}", f"G{i}", f"M{i}")) for i in range(1, 7)},
        {frozenset((f"H{j}", f"P{j}", f"T{j}")) for j in range(1, 5)},
    ]


def test_nothing_is_found_where_there_is_nothing() -> None:
    assert interchangeable_blocks(graph_of([], [])) == ()
    path = graph_of([2, 3, 4, 5], [(0, 1), (1, 2), (2, 3)])
    assert interchangeable_blocks(path) == ()
    # Sizes break the symmetry of a star; equal sizes make its leaves one class.
    assert interchangeable_blocks(graph_of([2, 3, 4], [(0, 1), (0, 2)])) == ()
    star = interchangeable_blocks(graph_of([2, 3, 3, 3], [(0, 1), (0, 2), (0, 3)]))
    assert star == (((1,), (2,), (3,)),)


def test_partners_of_a_block_have_the_same_number_of_states() -> None:
    # Two hubs with three leaves each. From every vertex, the first leaf that is adjacent to the
    # right hub has the wrong size, so that sizes must decide between the leaves.
    edges = [(0, 2), (0, 3), (0, 6), (1, 4), (1, 5), (1, 7)]
    graph = graph_of([5, 5, 3, 2, 4, 2, 4, 3], edges)
    (found,) = interchangeable_blocks(graph)
    pairs = set(zip(*found, strict=True))
    assert {frozenset(pair) for pair in pairs} == {
        frozenset(pair) for pair in [(0, 1), (2, 7), (3, 5), (4, 6)]
    }


def test_vertices_are_exchanged_only_if_neighbors_and_sizes_agree() -> None:
    assert interchangeable_blocks(graph_of([2, 2, 3], [(0, 2), (1, 2)])) == (((0,), (1,)),)
    assert interchangeable_blocks(graph_of([2, 3, 3], [(0, 2), (1, 2)])) == ()
    assert interchangeable_blocks(graph_of([2, 2, 3], [(0, 2)])) == ()
    # All vertices of this graph look alike at a distance, but no exchange of two is found.
    triangles = [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3)]
    prism = graph_of([2] * 6, [*triangles, (0, 3), (1, 4), (2, 5)])
    assert all(len(blocks) > 1 for blocks in interchangeable_blocks(prism))


def test_the_ends_of_a_path_are_exchanged_with_their_neighbors() -> None:
    path = graph_of([2, 2, 2, 2], [(0, 1), (1, 2), (2, 3)])
    assert interchangeable_blocks(path) == (((0, 1), (3, 2)),)


def test_equal_trees_are_exchanged_as_wholes() -> None:
    """Two paths of three vertices and two single ones, in mixed order."""
    graph = graph_of([2] * 8, [(1, 7), (1, 6), (2, 4), (2, 0)])
    classes = interchangeable_blocks(graph)
    blocks = [{frozenset(block) for block in each} for each in classes]
    assert blocks == [
        {frozenset((1, 6, 7)), frozenset((0, 2, 4))},
        {frozenset({3}), frozenset({5})},
    ]
