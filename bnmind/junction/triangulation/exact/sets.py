"""Compiled operations on sets of vertices as bit masks in int64, and on graphs of such masks.

A graph has at most 62 vertices, so that there is room for a sign and a carry. Sizes of tables
are float64, exact below 2^53.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit

__all__ = ["Floats", "Ints", "count", "index", "product", "remaining", "split"]

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]

# 2 generates the non-zero residues of the prime 67, so powers of two have distinct residues.
_EXPONENT = np.zeros(67, dtype=np.int64)
for _bit in range(66):
    _EXPONENT[(1 << _bit) % 67] = _bit


@njit
def index(single: int) -> int:
    """Return the number of the only bit of a mask."""
    return int(_EXPONENT[single % 67])


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
def count(mask: int) -> int:
    """Return the number of bits of a mask."""
    members = 0
    while mask:
        mask &= mask - 1
        members += 1
    return members


@njit
def split(rest: int, separator: int, adjacent: Ints, parts: Ints) -> int:
    """Fill in the components of the remaining graph without a separator; return their number."""
    n_parts = 0
    unassigned = rest & ~separator
    while unassigned:
        part = unassigned & -unassigned
        frontier = part
        while frontier:
            single = frontier & -frontier
            frontier ^= single
            new = adjacent[index(single)] & unassigned & ~part
            part |= new
            frontier |= new
        unassigned &= ~part
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
    full = (1 << n) - 1
    rest = full & ~eliminated
    for v in range(n):
        adjacent[v] = neighbors[v] & rest
    n_covers = 0
    unassigned = eliminated
    while unassigned:
        component = unassigned & -unassigned
        frontier = component
        around = 0
        while frontier:
            single = frontier & -frontier
            frontier ^= single
            reached = neighbors[index(single)]
            around |= reached
            new = reached & eliminated & ~component
            component |= new
            frontier |= new
        unassigned &= ~component
        cover = around & rest
        covers[n_covers] = cover
        n_covers += 1
        members = cover
        while members:
            single = members & -members
            members ^= single
            adjacent[index(single)] |= cover & ~single
    return n_covers
