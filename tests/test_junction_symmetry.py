"""Interchangeable blocks."""

from __future__ import annotations

from itertools import permutations

from hypothesis import given
from hypothesis import strategies as st

from bnmind.junction.graph import InteractionGraph, bits
from bnmind.junction.symmetry import (
    BlockClass,
    canonical,
    interchangeable_blocks,
    n_canonical_sets,
)
from tests.graphs import cost_to_go, graph_of, graphs, symmetric_graphs, vomlel_graph


def images(mask: int, cls: BlockClass) -> set[int]:
    """Return all images of a set under permutations of the blocks of a class."""
    found = set()
    fixed = mask & ~sum(1 << v for block in cls.blocks for v in block)
    for order in permutations(cls.blocks):
        image = fixed
        for block, target in zip(cls.blocks, order, strict=True):
            for v, w in zip(block, target, strict=True):
                image |= (mask >> v & 1) << w
        found.add(image)
    return found


@given(st.one_of(graphs(), symmetric_graphs()))
def test_any_permutation_of_blocks_keeps_the_graph(graph: InteractionGraph) -> None:
    classes = interchangeable_blocks(graph)
    members = [v for cls in classes for block in cls.blocks for v in block]
    assert len(set(members)) == len(members)
    for cls in classes:
        for order in list(permutations(cls.blocks))[:120]:
            image = list(range(graph.n))
            for block, target in zip(cls.blocks, order, strict=True):
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
    chosen = set()
    for mask in range(graph.vertices + 1):
        image = canonical(mask, classes)
        chosen.add(image)
        assert canonical(image, classes) == image
        assert to_go[image] == to_go[mask]
    assert len(chosen) == n_canonical_sets(graph.n, classes)


def test_images_of_a_set_share_one_canonical_set() -> None:
    graph = vomlel_graph(3, 2, stage=2)
    classes = interchangeable_blocks(graph)
    for mask in range(0, graph.vertices + 1, 37):
        for cls in classes:
            assert {canonical(image, classes) for image in images(mask, cls)} == {
                canonical(mask, classes)
            }


def test_blocks_of_mastermind_are_colors_and_pegs() -> None:
    graph = vomlel_graph(4, 6, stage=1, arc=True)
    classes = interchangeable_blocks(graph)
    blocks = [{frozenset(graph.names[v] for v in block) for block in cls.blocks} for cls in classes]
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
    assert star == (BlockClass(((1,), (2,), (3,))),)
