"""The compiled part of the exact search for elimination orders, which expands one level.

Sets of vertices are bit masks in int64, so a graph has at most `MOST_VERTICES` vertices;
sizes are float64, exact below 2^53. Vertices are numbered so that the blocks of each class
of `bnmind.junction.triangulation.interchangeable_blocks` are runs of bits: class c has
``counts[c]`` blocks of ``widths[c]`` bits, starting at bit ``starts[c]``. The algorithm and its
proof are in `bnmind.junction.triangulation.exact.search`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bnmind._jit import njit
from bnmind.errors import TooLargeError
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.triangulation.exact.sets import (
    Floats,
    Ints,
    count,
    index,
    product,
    remaining,
    split,
)
from bnmind.junction.triangulation.interchangeable_blocks import BlockClass

__all__ = ["MOST_VERTICES", "Problem", "expand", "problem"]

MOST_VERTICES = 62
"""The most vertices of a graph whose sets fit 64 bits, with room for a sign and a carry."""


class Problem(NamedTuple):
    """A graph as arrays."""

    neighbors: Ints
    """(n,) the neighbors of each vertex, as bit masks."""
    sizes: Floats
    """(n,) numbers of states."""
    products: Floats
    """(8, 256) product of the sizes of the vertices of each byte of a bit mask."""
    starts: Ints
    """First bit of each class of blocks."""
    widths: Ints
    """Number of bits of a block of each class."""
    counts: Ints
    """Number of blocks of each class."""


def problem(graph: InteractionGraph, classes: Sequence[BlockClass]) -> Problem:
    """Return a graph as arrays; blocks must be in the order that the module describes.

    Raises
    ------
    TooLargeError
        If the graph has more than `MOST_VERTICES` vertices.
    """
    if graph.n > MOST_VERTICES:
        raise TooLargeError(
            f"expected a graph of at most {MOST_VERTICES} vertices, got {graph.n}",
            needed=graph.n,
            budget=MOST_VERTICES,
        )
    products = np.ones((8, 256))
    for v, size in enumerate(graph.sizes):
        products[v // 8, np.arange(256) >> v % 8 & 1 == 1] *= size
    return Problem(
        np.array(graph.neighbors, dtype=np.int64),
        np.array(graph.sizes, dtype=np.float64),
        products,
        np.array([cls.blocks[0][0] for cls in classes], dtype=np.int64),
        np.array([len(cls.blocks[0]) for cls in classes], dtype=np.int64),
        np.array([len(cls.blocks) for cls in classes], dtype=np.int64),
    )


@njit
def _canonical(mask: int, starts: Ints, widths: Ints, counts: Ints, patterns: Ints) -> int:
    """Return the image of a set whose blocks are sorted, the largest pattern first."""
    for c in range(starts.size):
        width = widths[c]
        low = (1 << width) - 1
        shift = starts[c]
        for b in range(counts[c]):
            pattern = mask >> shift & low
            shift += width
            i = b
            while i > 0 and patterns[i - 1] < pattern:
                patterns[i] = patterns[i - 1]
                i -= 1
            patterns[i] = pattern
        mask &= ~(((1 << (width * counts[c])) - 1) << starts[c])
        shift = starts[c]
        for b in range(counts[c]):
            mask |= patterns[b] << shift
            shift += width
    return mask


@njit
def _is_simplicial(v: int, adjacent: Ints) -> bool:
    """Return whether the neighbors of a vertex are a clique."""
    around = adjacent[v]
    members = around
    while members:
        single = members & -members
        members ^= single
        if around & ~single & ~adjacent[index(single)]:
            return False
    return True


@njit
def _candidates(rest: int, adjacent: Ints, covers: Ints, n_covers: int, parts: Ints) -> int:
    """Return the vertices to try next: a simplicial vertex, or one side of a cover."""
    unseen = rest
    while unseen:
        single = unseen & -unseen
        unseen ^= single
        if _is_simplicial(index(single), adjacent):
            return single
    smallest = rest
    least = count(rest)
    for i in range(n_covers):
        for j in range(split(rest, covers[i], adjacent, parts)):
            members = count(parts[j])
            if members < least:
                least = members
                smallest = parts[j]
    return smallest


@njit
def _one_of_each_kind(tried: int, eliminated: int, starts: Ints, widths: Ints, counts: Ints) -> int:
    """Omit vertices whose block has the same pattern as the block before it, which is tried."""
    result = tried
    for c in range(starts.size):
        width = widths[c]
        low = (1 << width) - 1
        for b in range(1, counts[c]):
            shift = starts[c] + b * width
            if eliminated >> shift & low == eliminated >> (shift - width) & low:
                result &= ~((tried >> (shift - width) & low) << shift)
    return result


@njit
def expand(
    masks: Ints,
    costs: Floats,
    neighbors: Ints,
    products: Floats,
    starts: Ints,
    widths: Ints,
    counts: Ints,
    cutoff: float,
) -> tuple[Ints, Floats, Ints]:
    """Return the sets with one more vertex, each once, in its canonical image.

    Parameters
    ----------
    masks, costs
        (s,) the sets of this level and the cost of the cheapest path to each.
    neighbors, products, starts, widths, counts
        As in `Problem`.
    cutoff
        Sets that cost this or more are omitted.

    Returns
    -------
    masks, costs, parents
        (t,) sets, costs, and positions in this level of the predecessors on the cheapest paths,
        in the order in which the search first reached the sets.
    """
    n = neighbors.size
    full = (1 << n) - 1
    adjacent = np.zeros(n, dtype=np.int64)
    covers = np.zeros(n, dtype=np.int64)
    parts = np.zeros(n, dtype=np.int64)
    patterns = np.zeros(n, dtype=np.int64)
    room = 1024
    images = np.zeros(room, dtype=np.int64)
    paid = np.zeros(room, dtype=np.float64)
    parents = np.zeros(room, dtype=np.int64)
    n_images = 0
    # A hash table with open addressing: indices into `images`, -1 where free; at most half full.
    slots = np.full(2 * room, -1, dtype=np.int64)
    for s in range(masks.size):
        eliminated = masks[s]
        n_covers = remaining(eliminated, neighbors, adjacent, covers)
        tried = _candidates(full & ~eliminated, adjacent, covers, n_covers, parts)
        tried = _one_of_each_kind(tried, eliminated, starts, widths, counts)
        while tried:
            single = tried & -tried
            tried ^= single
            clique = adjacent[index(single)] | single
            cost = costs[s]
            maximal = True
            for i in range(n_covers):
                if covers[i] == clique:
                    maximal = False
            if maximal:
                cost += product(clique, products)
            if cost >= cutoff:
                continue
            image = _canonical(eliminated | single, starts, widths, counts, patterns)
            slot = (image * 0x1E3779B97F4A7C15) >> 24 & (slots.size - 1)
            while slots[slot] >= 0 and images[slots[slot]] != image:
                slot = (slot + 1) & (slots.size - 1)
            place = slots[slot]
            if place >= 0:
                if cost < paid[place]:
                    paid[place] = cost
                    parents[place] = s
                continue
            if n_images == room:
                room *= 2
                images = np.append(images, np.zeros_like(images))
                paid = np.append(paid, np.zeros_like(paid))
                parents = np.append(parents, np.zeros_like(parents))
                slots = np.full(2 * room, -1, dtype=np.int64)
                for i in range(n_images):
                    slot = (images[i] * 0x1E3779B97F4A7C15) >> 24 & (slots.size - 1)
                    while slots[slot] >= 0:
                        slot = (slot + 1) & (slots.size - 1)
                    slots[slot] = i
                slot = (image * 0x1E3779B97F4A7C15) >> 24 & (slots.size - 1)
                while slots[slot] >= 0:
                    slot = (slot + 1) & (slots.size - 1)
            slots[slot] = n_images
            images[n_images] = image
            paid[n_images] = cost
            parents[n_images] = s
            n_images += 1
    return images[:n_images].copy(), paid[:n_images].copy(), parents[:n_images].copy()
