"""The sets that the search for a smallest tree visits: symmetries, bounds and expansions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import comb, log2
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.errors import TooLargeError
from bnmind.junction.graphs import InteractionGraph, bits

# --- Interchangeable blocks of vertices, of which a search needs only one arrangement -------------
#
# A class is a set of disjoint blocks, each a tuple of vertices, such that exchanging any
# two blocks, vertex by vertex, changes neither the graph nor the sizes. In Mastermind the
# colors are such blocks, and so are the pegs.
#
# Soundness. The search keeps a class only if it has verified that the exchange of its first block
# with each other block is an automorphism. These exchanges generate all permutations of the blocks
# (exchanging blocks i and j means exchanging 1 and i, 1 and j, and 1 and i again), so every
# permutation of the blocks of a class is an automorphism. Classes are disjoint, so their
# permutations combine freely. Properties that depend only on the graph, such as the cost of
# completing an elimination, are therefore the same for a set of vertices and for its images.
# `canonical` returns the same image for all of them.

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


# --- Compiled operations on sets of vertices as bit masks in int64, and on graphs of such masks ---
#
# A graph has at most 62 vertices, so that there is room for a sign and a carry. Sizes of tables
# are float64, exact below 2^53.

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

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
def index(single: int) -> int:
    """Return the number of the only bit of a mask."""
    return int((single - 1).bit_count())


@njit
def product(mask: int, products: Floats) -> float:
    """Return the product of the sizes of the vertices of a mask."""
    result = 1.0
    byte = 0
    while mask:
        result *= products[byte, mask & 255]
        mask >>= 8
        byte += 1
    return result


@njit
def reached(mask: int, adjacent: Ints) -> int:
    """Return all neighbors of the vertices of a mask."""
    around = 0
    while mask:
        single = mask & -mask
        mask ^= single
        around |= adjacent[index(single)]
    return around


@njit
def split(rest: int, adjacent: Ints, parts: Ints) -> int:
    """Fill in the components of the graph on some vertices; return their number."""
    n_parts = 0
    while rest:
        part = frontier = rest & -rest
        while frontier:
            frontier = reached(frontier, adjacent) & rest & ~part
            part |= frontier
        rest &= ~part
        parts[n_parts] = part
        n_parts += 1
    return n_parts


@njit
def remaining(eliminated: int, neighbors: Ints, adjacent: Ints, covers: Ints) -> int:
    """Fill in the graph after an elimination; return the number of components eliminated.

    ``adjacent[v]`` becomes the neighbors of each remaining vertex v, ``covers[i]`` the
    neighborhood of the i-th component.
    """
    n = neighbors.size
    rest = ((1 << n) - 1) & ~eliminated
    for v in range(n):
        adjacent[v] = neighbors[v] & rest
    n_covers = split(eliminated, neighbors, covers)
    for i in range(n_covers):
        cover = members = reached(covers[i], neighbors) & rest
        covers[i] = cover
        while members:
            single = members & -members
            members ^= single
            adjacent[index(single)] |= cover & ~single
    return n_covers


# --- Compiled lower bounds of the remaining total size, for the exact search ----------------------
#
# The bound on one part of a graph is the smallest closed neighborhood of a minor, in cells.
# `bnmind.junction.triangulation.exact_order` proves that it is a bound.

_SETS_AT_ONCE = 2048  # a tenth of a second


@njit
def _widest_minor(rest: int, adjacent: Ints, graph: Problem) -> float:
    """Return a lower bound on the largest clique of any triangulation; overwrites ``adjacent``.

    For the graph and some of its minors, the function takes the smallest closed neighborhood, in
    cells. It returns the largest of these.
    """
    sizes, products = graph.sizes, graph.products
    weights = np.zeros(sizes.size)
    unseen = rest
    while unseen:
        single = unseen & -unseen
        unseen ^= single
        v = index(single)
        weights[v] = product(adjacent[v] | single, products)
    bound = 0.0
    while rest:
        least = np.inf
        v = 0
        unseen = rest
        while unseen:
            single = unseen & -unseen
            unseen ^= single
            u = index(single)
            if weights[u] < least:
                least = weights[u]
                v = u
        bound = max(bound, least)
        if product(rest, products) <= bound:
            break
        v_bit = 1 << v
        around = adjacent[v]
        if around == 0:
            rest ^= v_bit
            continue
        # Contract v into the neighbor whose common neighborhood with v is smallest.
        least = np.inf
        u = 0
        unseen = around
        while unseen:
            single = unseen & -unseen
            unseen ^= single
            w = index(single)
            shared = product(adjacent[w] & around, products)
            if shared < least:
                least = shared
                u = w
        # The merged vertex is the one with fewer states.
        keep = v if sizes[v] <= sizes[u] else u
        gone = u + v - keep
        keep_bit = 1 << keep
        gone_bit = 1 << gone
        rest ^= gone_bit
        merged = (adjacent[keep] | adjacent[gone]) & ~keep_bit & ~gone_bit
        adjacent[keep] = merged
        weights[keep] = product(merged | keep_bit, products)
        while merged:
            single = merged & -merged
            merged ^= single
            w = index(single)
            adjacent[w] = (adjacent[w] & ~gone_bit) | keep_bit
            weights[w] = product(adjacent[w] | single, products)
    return bound


@njit
def _sum_of_bounds(
    rest: int,
    separator: int,
    adjacent: Ints,
    covers: Ints,
    parts: Ints,
    graph: Problem,
) -> float:
    """Return a lower bound of the remaining cost, summed over the parts of a separator."""
    products = graph.products
    total = 0.0
    inner = np.zeros(adjacent.size, dtype=np.int64)
    for j in range(split(rest & ~separator, adjacent, parts)):
        side = parts[j] | reached(parts[j], adjacent)
        for v in range(adjacent.size):
            inner[v] = adjacent[v] & side
        bound = _widest_minor(side, inner, graph)
        paid = product(side & separator, products) >= bound
        for cover in covers:
            if cover & parts[j] and product(cover, products) >= bound:
                paid = True
        if not paid:
            total += bound
    return total


def lower_bounds(masks: Ints, graph: Problem) -> Floats:
    """Return, for each of some eliminated sets, a lower bound of the remaining cost in cells."""
    # Python handles Ctrl-C between two calls of compiled code.
    starts = range(0, len(masks), _SETS_AT_ONCE)
    parts = [_lower_bounds(masks[start : start + _SETS_AT_ONCE], graph) for start in starts]
    return np.concatenate(parts) if parts else np.zeros(0)


@njit
def _lower_bounds(masks: Ints, graph: Problem) -> Floats:
    neighbors = graph.neighbors
    n = neighbors.size
    full = (1 << n) - 1
    adjacent = np.zeros(n, dtype=np.int64)
    covers = np.zeros(n, dtype=np.int64)
    parts = np.zeros(n, dtype=np.int64)
    bounds = np.zeros(masks.size)
    for s in range(masks.size):
        rest = full & ~masks[s]
        n_covers = remaining(masks[s], neighbors, adjacent, covers)
        best = _sum_of_bounds(rest, 0, adjacent, covers[:n_covers], parts, graph)
        # Choose the cover whose removal leaves the smallest largest part.
        smallest = n
        chosen = -1
        for i in range(n_covers):
            n_parts = split(rest & ~covers[i], adjacent, parts)
            if n_parts > 1:
                largest = max([part.bit_count() for part in parts[:n_parts]])
                if largest < smallest:
                    smallest = largest
                    chosen = i
        if chosen >= 0:
            separator = covers[chosen]
            total = _sum_of_bounds(rest, separator, adjacent, covers[:n_covers], parts, graph)
            best = max(best, total)
        bounds[s] = best
    return bounds


# --- The compiled part of the exact search for elimination orders, which expands one level --------
#
# Sets of vertices are bit masks in int64, so a graph has at most `MOST_VERTICES` vertices;
# sizes are float64, exact below 2^53. Vertices are numbered so that the blocks of each class
# of `bnmind.junction.triangulation.exact_sets` are runs of bits: class c has
# ``counts[c]`` blocks of ``widths[c]`` bits, starting at bit ``starts[c]``. The algorithm and its
# proof are in `bnmind.junction.triangulation.exact_order`.


@njit
def _canonical(mask: int, graph: Problem, patterns: Ints) -> int:
    """Return the image of a set whose blocks are sorted, the largest pattern first."""
    starts, widths, counts = graph.starts, graph.widths, graph.counts
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
    around = members = adjacent[v]
    while members:
        single = members & -members
        members ^= single
        if around & ~single & ~adjacent[index(single)]:
            return False
    return True


@njit
def _candidates(rest: int, adjacent: Ints, covers: Ints, parts: Ints) -> int:
    """Return the vertices to try next: a simplicial vertex, or one side of a cover."""
    unseen = rest
    while unseen:
        single = unseen & -unseen
        unseen ^= single
        if _is_simplicial(index(single), adjacent):
            return single
    smallest = rest
    least = rest.bit_count()
    for cover in covers:
        for j in range(split(rest & ~cover, adjacent, parts)):
            members = parts[j].bit_count()
            if members < least:
                least = members
                smallest = parts[j]
    return smallest


@njit
def _one_of_each_kind(tried: int, eliminated: int, graph: Problem) -> int:
    """Omit vertices whose block has the same pattern as the block before it, which is tried."""
    starts, widths, counts = graph.starts, graph.widths, graph.counts
    result = tried
    for c in range(starts.size):
        width = widths[c]
        low = (1 << width) - 1
        for b in range(1, counts[c]):
            shift = starts[c] + b * width
            if eliminated >> shift & low == eliminated >> (shift - width) & low:
                result &= ~((tried >> (shift - width) & low) << shift)
    return result


def expand(masks: Ints, costs: Floats, graph: Problem, cutoff: float) -> tuple[Ints, Floats, Ints]:
    """Return the sets with one more vertex, each once, in its canonical image.

    Parameters
    ----------
    masks, costs
        (s,) the sets of this level and the cost of the cheapest path to each.
    graph
        The graph.
    cutoff
        Sets that cost this or more are omitted.

    Returns
    -------
    masks, costs, parents
        (t,) sets, costs, and positions in this level of the predecessors on the cheapest paths.
    """
    found = []
    for start in range(0, len(masks), _SETS_AT_ONCE):
        at_once = slice(start, start + _SETS_AT_ONCE)
        images, paid, parents = successors(masks[at_once], costs[at_once], graph, cutoff)
        found.append(_each_once(images, paid, parents + start))
    return _each_once(*map(np.concatenate, zip(*found, strict=True)))


def _each_once(images: Ints, costs: Floats, parents: Ints) -> tuple[Ints, Floats, Ints]:
    """Return each set once, with the first of its cheapest predecessors."""
    order = np.lexsort((costs, images))
    images = images[order]
    order = order[np.diff(images, prepend=-1) != 0]
    return np.unique(images), costs[order], parents[order]


@njit
def successors(
    masks: Ints, costs: Floats, graph: Problem, cutoff: float
) -> tuple[Ints, Floats, Ints]:
    """Return the sets with one more vertex, their costs, and positions of their predecessors."""
    neighbors, products = graph.neighbors, graph.products
    n = neighbors.size
    full = (1 << n) - 1
    adjacent = np.zeros(n, dtype=np.int64)
    covers = np.zeros(n, dtype=np.int64)
    parts = np.zeros(n, dtype=np.int64)
    patterns = np.zeros(n, dtype=np.int64)
    images = np.zeros(masks.size * n, dtype=np.int64)
    paid = np.zeros(masks.size * n)
    parents = np.zeros(masks.size * n, dtype=np.int64)
    n_images = 0
    for s in range(masks.size):
        eliminated = masks[s]
        n_covers = remaining(eliminated, neighbors, adjacent, covers)
        tried = _candidates(full & ~eliminated, adjacent, covers[:n_covers], parts)
        tried = _one_of_each_kind(tried, eliminated, graph)
        while tried:
            single = tried & -tried
            tried ^= single
            clique = adjacent[index(single)] | single
            cost = costs[s]
            if not np.any(covers[:n_covers] == clique):
                cost += product(clique, products)
            if cost < cutoff:
                images[n_images] = _canonical(eliminated | single, graph, patterns)
                paid[n_images] = cost
                parents[n_images] = s
                n_images += 1
    return images[:n_images], paid[:n_images], parents[:n_images]
