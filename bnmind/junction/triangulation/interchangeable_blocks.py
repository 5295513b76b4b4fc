"""Interchangeable blocks of vertices, of which a search needs only one arrangement.

A class is a set of disjoint blocks, each a tuple of vertices, such that exchanging any
two blocks, vertex by vertex, changes neither the graph nor the sizes. In Mastermind the
colors are such blocks, and so are the pegs.

Soundness. The search keeps a class only if it has verified that the exchange of its first block
with each other block is an automorphism. These exchanges generate all permutations of the blocks
(exchanging blocks i and j means exchanging 1 and i, 1 and j, and 1 and i again), so every
permutation of the blocks of a class is an automorphism. Classes are disjoint, so their permutations
combine freely. Properties that depend only on the graph, such as the cost of completing an
elimination, are therefore the same for a set of vertices and for its images. `canonical` returns
the same image for all of them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log2

from bnmind.junction.graphs.interaction_graph import InteractionGraph, bits

__all__ = ["BlockClass", "canonical", "interchangeable_blocks", "n_canonical_sets"]

_MOST_STEPS = 20_000
"""The limit for the steps of the search for exchanges."""


@dataclass(frozen=True)
class BlockClass:
    """Blocks of vertices of which any two can be exchanged."""

    blocks: tuple[tuple[int, ...], ...]
    """At least two disjoint blocks of one length; an exchange swaps their k-th vertices."""

    @property
    def gain(self) -> float:
        """The binary logarithm of the factor by which the class reduces the sets of vertices."""
        width, count = len(self.blocks[0]), len(self.blocks)
        return width * count - log2(comb(2**width + count - 1, count))


def canonical(mask: int, classes: Sequence[BlockClass]) -> int:
    """Return the image of a set with sorted blocks, as a bit mask."""
    for cls in classes:
        patterns = sorted(
            (sum((mask >> v & 1) << k for k, v in enumerate(block)) for block in cls.blocks),
            reverse=True,
        )
        for block, pattern in zip(cls.blocks, patterns, strict=True):
            for k, v in enumerate(block):
                mask = mask | 1 << v if pattern >> k & 1 else mask & ~(1 << v)
    return mask


def n_canonical_sets(n: int, classes: Sequence[BlockClass]) -> int:
    """Return the number of sets of n vertices, where all images of a set count as one."""
    count = 1
    for cls in classes:
        width, blocks = len(cls.blocks[0]), len(cls.blocks)
        count *= comb(2**width + blocks - 1, blocks)
        n -= width * blocks
    return count << n


def interchangeable_blocks(graph: InteractionGraph) -> tuple[BlockClass, ...]:
    """Return disjoint classes of interchangeable blocks, the most useful first.

    The search is greedy and its work is bounded, so it may miss some classes. Graphs also have
    symmetries of other kinds.
    """
    colors = _refined_colors(graph)
    free = graph.vertices
    search = _Exchanges(graph, colors, _MOST_STEPS)
    classes: list[BlockClass] = []
    while True:
        best: BlockClass | None = None
        tried: set[int] = set()
        for u in bits(free):
            # One vertex of each color suffices: the others give the same class or a part of it.
            if colors[u] in tried:
                continue
            tried.add(colors[u])
            cls = search.class_of(u, free)
            if cls is not None and (best is None or cls.gain > best.gain):
                best = cls
        if best is None:
            return tuple(classes)
        classes.append(best)
        for block in best.blocks:
            for v in block:
                free &= ~(1 << v)


def _refined_colors(graph: InteractionGraph) -> list[int]:
    """Return a color for each vertex; vertices of different colors cannot be exchanged."""
    colors = list(graph.sizes)
    while True:
        signatures = [
            (colors[v], tuple(sorted(colors[u] for u in bits(graph.neighbors[v]))))
            for v in range(graph.n)
        ]
        names = {signature: i for i, signature in enumerate(sorted(set(signatures)))}
        refined = [names[signature] for signature in signatures]
        if len(names) == len(set(colors)):
            return refined
        colors = refined


class _Exchanges:
    """The search for exchanges of two vertices that move few others; counts its steps."""

    def __init__(self, graph: InteractionGraph, colors: Sequence[int], steps: int) -> None:
        self.graph = graph
        self.colors = colors
        self.steps = steps

    def class_of(self, u: int, free: int) -> BlockClass | None:
        """Return the class of the block of u among the free vertices, None if it is alone."""
        base: tuple[int, ...] = ()
        blocks: list[tuple[int, ...]] = []
        covered = 1 << u
        for v in bits(free & ~(1 << u)):
            if self.colors[v] != self.colors[u] or covered >> v & 1:
                continue
            image = self.exchange(u, v, free)
            if image is None or not self._is_automorphism(image):
                continue
            if not base:
                # The half that u is in: the pairs were grown from (u, v), u's side first.
                base = tuple(image)[::2]
                blocks.append(base)
                covered |= sum(1 << w for w in base)
            block = tuple(image.get(w, w) for w in base)
            mask = sum(1 << w for w in block)
            if len(image) == 2 * len(base) and not mask & covered:
                blocks.append(block)
                covered |= mask
        return BlockClass(tuple(blocks)) if len(blocks) > 1 else None

    def exchange(self, u: int, v: int, free: int) -> dict[int, int] | None:
        """Return the exchange of u and v that moves the fewest others, in pairs, or None."""
        for most_pairs in range(1, free.bit_count() // 2 + 1):
            deeper = [False]
            image = self._grow({u: v, v: u}, free & ~(1 << u | 1 << v), most_pairs - 1, deeper)
            if image is not None or not deeper[0] or self.steps <= 0:
                return image
        return None

    def _grow(
        self, image: dict[int, int], free: int, pairs_left: int, deeper: list[bool]
    ) -> dict[int, int] | None:
        self.steps -= 1
        if self.steps <= 0:
            return None
        neighbors = self.graph.neighbors
        moved = sum(1 << w for w in image)
        pairs = list(image.items())[::2]
        # A vertex adjacent to only one half of a pair must move.
        for p, q in pairs:
            uneven = (neighbors[p] ^ neighbors[q]) & ~moved
            if uneven:
                x = next(bits(uneven & neighbors[p] or uneven))
                break
        else:
            return image
        if not free >> x & 1:
            return None
        if not pairs_left:
            deeper[0] = True
            return None
        seen_from_p = neighbors[x] >> p & 1
        for y in bits(free & ~(1 << x)):
            if self.colors[y] == self.colors[x] and all(
                neighbors[x] >> a & 1 == neighbors[y] >> b & 1
                and neighbors[x] >> b & 1 == neighbors[y] >> a & 1
                for a, b in pairs
            ):
                first, second = (x, y) if seen_from_p else (y, x)
                grown = self._grow(
                    {**image, first: second, second: first},
                    free & ~(1 << x | 1 << y),
                    pairs_left - 1,
                    deeper,
                )
                if grown is not None:
                    return grown
        return None

    def _is_automorphism(self, image: dict[int, int]) -> bool:
        graph = self.graph
        for v, w in image.items():
            mapped = sum(1 << image.get(u, u) for u in bits(graph.neighbors[v]))
            if mapped != graph.neighbors[w] or graph.sizes[v] != graph.sizes[w]:
                return False
        return True
