"""The compiled part of the exact search for elimination orders: one level at a time.

Sets of vertices are bit masks in int64, so a graph has at most `MOST_VERTICES` vertices;
sizes are float64, exact below 2^53. Vertices are numbered so that the blocks of each class
of `bnmind.junction.symmetry` are runs of bits: class c has ``counts[c]`` blocks of
``widths[c]`` bits from bit ``starts[c]`` on. What is computed, and why it is right, is
said in `bnmind.junction.exact_order`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.errors import TooLargeError
from bnmind.junction.graph import InteractionGraph
from bnmind.junction.symmetry import BlockClass

__all__ = ["MOST_VERTICES", "Problem", "expand", "lower_bounds", "problem"]

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

MOST_VERTICES = 62
"""The largest graph whose sets of vertices fit, with room for a sign and a carry."""

_SETS_AT_ONCE = 2048  # a tenth of a second

# 2 generates the non-zero residues of the prime 67, so the residues of powers tell them apart.
_EXPONENT = np.zeros(67, dtype=np.int64)
for _bit in range(66):
    _EXPONENT[(1 << _bit) % 67] = _bit


class Problem(NamedTuple):
    """A graph as arrays."""

    neighbors: Ints
    """(n,) bit masks."""
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
    """Return a graph as arrays; blocks must lie as the module says.

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
def _index(single: int) -> int:
    """Return the number of the only bit of a mask."""
    return int(_EXPONENT[single % 67])


@njit
def _product(mask: int, products: Floats) -> float:
    """Return the product of the sizes of the vertices of a mask."""
    result = 1.0
    byte = 0
    while mask:
        result *= products[byte, mask & 255]
        mask >>= 8
        byte += 1
    return result


@njit
def _remaining(eliminated: int, neighbors: Ints, adjacent: Ints, covers: Ints) -> int:
    """Fill in the graph after an elimination; return the number of components eliminated.

    ``adjacent[v]`` becomes the neighbors of each remaining vertex v, ``covers[i]`` the
    neighborhood of the i-th component.
    """
    n = neighbors.size
    full = (1 << n) - 1
    rest = full & ~eliminated
    for v in range(n):
        adjacent[v] = neighbors[v] & rest
    n_covers = 0
    left = eliminated
    while left:
        component = left & -left
        frontier = component
        around = 0
        while frontier:
            single = frontier & -frontier
            frontier ^= single
            reached = neighbors[_index(single)]
            around |= reached
            new = reached & eliminated & ~component
            component |= new
            frontier |= new
        left &= ~component
        cover = around & rest
        covers[n_covers] = cover
        n_covers += 1
        members = cover
        while members:
            single = members & -members
            members ^= single
            adjacent[_index(single)] |= cover & ~single
    return n_covers


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
def _split(rest: int, separator: int, adjacent: Ints, parts: Ints) -> int:
    """Fill in the components of the remaining graph without a separator; return how many."""
    n_parts = 0
    left = rest & ~separator
    while left:
        part = left & -left
        frontier = part
        while frontier:
            single = frontier & -frontier
            frontier ^= single
            new = adjacent[_index(single)] & left & ~part
            part |= new
            frontier |= new
        left &= ~part
        parts[n_parts] = part
        n_parts += 1
    return n_parts


@njit
def _count(mask: int) -> int:
    """Return the number of members of a set."""
    members = 0
    while mask:
        mask &= mask - 1
        members += 1
    return members


@njit
def _is_simplicial(v: int, adjacent: Ints) -> bool:
    """Tell whether the neighbors of a vertex are a clique."""
    around = adjacent[v]
    members = around
    while members:
        single = members & -members
        members ^= single
        if around & ~single & ~adjacent[_index(single)]:
            return False
    return True


@njit
def _candidates(rest: int, adjacent: Ints, covers: Ints, n_covers: int, parts: Ints) -> int:
    """Return the vertices to be tried next: a simplicial one, or one side of a cover."""
    left = rest
    while left:
        single = left & -left
        left ^= single
        if _is_simplicial(_index(single), adjacent):
            return single
    smallest = rest
    least = _count(rest)
    for i in range(n_covers):
        for j in range(_split(rest, covers[i], adjacent, parts)):
            members = _count(parts[j])
            if members < least:
                least = members
                smallest = parts[j]
    return smallest


@njit
def _one_of_each_kind(tried: int, eliminated: int, starts: Ints, widths: Ints, counts: Ints) -> int:
    """Leave out vertices whose block is eliminated as far as the block before it, also tried."""
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
        (s,) the sets of this level and what the cheapest way to each has cost.
    neighbors, products, starts, widths, counts
        As in `Problem`.
    cutoff
        Sets that cost this or more are left out.

    Returns
    -------
    masks, costs, parents
        (t,) sets, costs, and positions in this level that the cheapest way comes from; in
        the order in which the sets were first met.
    """
    n = neighbors.size
    full = (1 << n) - 1
    adjacent = np.zeros(n, dtype=np.int64)
    covers = np.zeros(n, dtype=np.int64)
    parts = np.zeros(n, dtype=np.int64)
    patterns = np.zeros(n, dtype=np.int64)
    room = 1024
    found = np.zeros(room, dtype=np.int64)
    paid = np.zeros(room, dtype=np.float64)
    parents = np.zeros(room, dtype=np.int64)
    n_found = 0
    # Open addressing: places in `found`, -1 where free; at most half full.
    slots = np.full(2 * room, -1, dtype=np.int64)
    for s in range(masks.size):
        eliminated = masks[s]
        n_covers = _remaining(eliminated, neighbors, adjacent, covers)
        tried = _candidates(full & ~eliminated, adjacent, covers, n_covers, parts)
        tried = _one_of_each_kind(tried, eliminated, starts, widths, counts)
        while tried:
            single = tried & -tried
            tried ^= single
            clique = adjacent[_index(single)] | single
            cost = costs[s]
            maximal = True
            for i in range(n_covers):
                if covers[i] == clique:
                    maximal = False
            if maximal:
                cost += _product(clique, products)
            if cost >= cutoff:
                continue
            image = _canonical(eliminated | single, starts, widths, counts, patterns)
            slot = (image * 0x1E3779B97F4A7C15) >> 24 & (slots.size - 1)
            while slots[slot] >= 0 and found[slots[slot]] != image:
                slot = (slot + 1) & (slots.size - 1)
            place = slots[slot]
            if place >= 0:
                if cost < paid[place]:
                    paid[place] = cost
                    parents[place] = s
                continue
            if n_found == room:
                room *= 2
                found = np.append(found, np.zeros_like(found))
                paid = np.append(paid, np.zeros_like(paid))
                parents = np.append(parents, np.zeros_like(parents))
                slots = np.full(2 * room, -1, dtype=np.int64)
                for i in range(n_found):
                    slot = (found[i] * 0x1E3779B97F4A7C15) >> 24 & (slots.size - 1)
                    while slots[slot] >= 0:
                        slot = (slot + 1) & (slots.size - 1)
                    slots[slot] = i
                slot = (image * 0x1E3779B97F4A7C15) >> 24 & (slots.size - 1)
                while slots[slot] >= 0:
                    slot = (slot + 1) & (slots.size - 1)
            slots[slot] = n_found
            found[n_found] = image
            paid[n_found] = cost
            parents[n_found] = s
            n_found += 1
    return found[:n_found].copy(), paid[:n_found].copy(), parents[:n_found].copy()


@njit
def _widest_minor(rest: int, adjacent: Ints, sizes: Floats, products: Floats) -> float:
    """Return a lower bound on the largest clique of any triangulation; spoils ``adjacent``.

    The largest, over the graph and some of its minors, of the smallest closed
    neighborhood, in cells.
    """
    weights = np.zeros(sizes.size)
    left = rest
    while left:
        single = left & -left
        left ^= single
        v = _index(single)
        weights[v] = _product(adjacent[v] | single, products)
    bound = 0.0
    while rest:
        least = np.inf
        v = 0
        left = rest
        while left:
            single = left & -left
            left ^= single
            u = _index(single)
            if weights[u] < least:
                least = weights[u]
                v = u
        bound = max(bound, least)
        if _product(rest, products) <= bound:
            break
        v_bit = 1 << v
        around = adjacent[v]
        if around == 0:
            rest ^= v_bit
            continue
        # Contract v into the neighbor with which it shares least.
        least = np.inf
        u = 0
        left = around
        while left:
            single = left & -left
            left ^= single
            w = _index(single)
            shared = _product(adjacent[w] & around, products)
            if shared < least:
                least = shared
                u = w
        # The merged vertex keeps the smaller of the two sizes, and with it the name.
        keep = v if sizes[v] <= sizes[u] else u
        gone = u + v - keep
        keep_bit = 1 << keep
        gone_bit = 1 << gone
        rest ^= gone_bit
        merged = (adjacent[keep] | adjacent[gone]) & ~keep_bit & ~gone_bit
        adjacent[keep] = merged
        weights[keep] = _product(merged | keep_bit, products)
        while merged:
            single = merged & -merged
            merged ^= single
            w = _index(single)
            adjacent[w] = (adjacent[w] & ~gone_bit) | keep_bit
            weights[w] = _product(adjacent[w] | single, products)
    return bound


@njit
def _sum_of_bounds(
    rest: int,
    separator: int,
    adjacent: Ints,
    covers: Ints,
    n_covers: int,
    parts: Ints,
    sizes: Floats,
    products: Floats,
) -> float:
    """Return a lower bound on what is to be paid, summed over the parts beside a separator."""
    total = 0.0
    inner = np.zeros(adjacent.size, dtype=np.int64)
    for j in range(_split(rest, separator, adjacent, parts)):
        side = parts[j]
        left = side
        while left:
            single = left & -left
            left ^= single
            side |= adjacent[_index(single)]
        for v in range(adjacent.size):
            inner[v] = adjacent[v] & side
        bound = _widest_minor(side, inner, sizes, products)
        paid = _product(side & separator, products) >= bound
        for i in range(n_covers):
            if covers[i] & parts[j] and _product(covers[i], products) >= bound:
                paid = True
        if not paid:
            total += bound
    return total


def lower_bounds(masks: Ints, neighbors: Ints, sizes: Floats, products: Floats) -> Floats:
    """Return for each set at least what is still to be paid once it is eliminated.

    Parameters
    ----------
    masks
        (s,) sets of vertices.
    neighbors, sizes, products
        As in `Problem`.

    Returns
    -------
    Floats
        (s,) lower bounds in cells.
    """
    # Python hears Ctrl-C between two calls of compiled code.
    parts = [
        _lower_bounds(masks[start : start + _SETS_AT_ONCE], neighbors, sizes, products)
        for start in range(0, len(masks), _SETS_AT_ONCE)
    ]
    return np.concatenate(parts) if parts else np.zeros(0)


@njit
def _lower_bounds(masks: Ints, neighbors: Ints, sizes: Floats, products: Floats) -> Floats:
    n = neighbors.size
    full = (1 << n) - 1
    adjacent = np.zeros(n, dtype=np.int64)
    covers = np.zeros(n, dtype=np.int64)
    parts = np.zeros(n, dtype=np.int64)
    bounds = np.zeros(masks.size)
    for s in range(masks.size):
        rest = full & ~masks[s]
        n_covers = _remaining(masks[s], neighbors, adjacent, covers)
        best = _sum_of_bounds(rest, 0, adjacent, covers, n_covers, parts, sizes, products)
        # Of the covers, the one whose removal leaves the smallest largest part.
        smallest = n
        chosen = -1
        for i in range(n_covers):
            n_parts = _split(rest, covers[i], adjacent, parts)
            if n_parts > 1:
                largest = 0
                for j in range(n_parts):
                    largest = max(largest, _count(parts[j]))
                if largest < smallest:
                    smallest = largest
                    chosen = i
        if chosen >= 0:
            total = _sum_of_bounds(
                rest, covers[chosen], adjacent, covers, n_covers, parts, sizes, products
            )
            best = max(best, total)
        bounds[s] = best
    return bounds
