"""Lists of products for `bnmind.junction.derivatives.flat_kernel`, and the way to compute each."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.information import Floats
from bnmind.junction.derivatives.flat_kernel import LANES, PRODUCT, ROWS, Places, run_products
from bnmind.junction.program.program import Scope

__all__ = ["ProductBuilder", "Products", "Term", "read_only"]

_AT_ONCE = 2000
"""The products of a call; Ctrl-C is heard between calls."""


class Term(NamedTuple):
    """A part of an array that a product takes or fills: a register, or its adjoint."""

    array: int
    """The position of the array."""
    first: int
    """The first cell."""
    scope: Scope
    """The variables of its axes."""


@dataclass(frozen=True, eq=False)
class Products(Sealed):
    """A list of products."""

    parts: tuple[Places, ...]
    """The products, in parts that are computed in one call."""
    tables: Places
    n_buffered: int
    """The cells of the buffer."""

    def run(self, sources: tuple[Floats, ...], targets: tuple[Floats, ...]) -> None:
        """Fill the results, from read-only arrays; both may be views of the same memory."""
        cells = np.empty(self.n_buffered)
        buffer = cells, read_only(cells)
        for part in self.parts:
            run_products(part, self.tables, sources, targets, buffer)


class ProductBuilder:
    """Collects products over variables of some sizes."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._rows: list[tuple[int, ...]] = []
        self._tables: list[NDArray[np.int64]] = []
        self._n_places = 0
        self._known: dict[object, tuple[bool, tuple[int, ...]]] = {}

    def add(self, x: Term, y: Term, c: Term, *, adds: bool) -> None:
        """Fill C with the sum of X Y over all variables that C lacks, or add the sum to it."""
        number: dict[int, int] = {}
        scopes = [
            tuple([number.setdefault(v, len(number)) for v in term.scope]) for term in (x, y, c)
        ]
        sizes = tuple([self._sizes[v] for v in number])
        key = adds, *scopes, sizes
        if key not in self._known:
            self._known[key] = self._way(_axes(scopes, sizes), adds)
        swaps, columns = self._known[key]
        x, y = (y, x) if swaps else (x, y)
        self._rows.append((x.array, y.array, c.array, x.first, y.first, c.first, adds, *columns))

    def build(self) -> Products:
        """Return the products."""
        rows = np.array(self._rows, dtype=np.uint64).reshape(-1, PRODUCT)
        most = int(rows[rows[:, 7] > 0, 11].max(initial=0))
        tables = np.concatenate([np.empty(0, dtype=np.int64), *self._tables]).astype(np.uint64)
        parts = [rows[i : i + _AT_ONCE] for i in range(0, len(rows), _AT_ONCE)]
        return Products(tuple(parts), tables, (ROWS + most) * LANES)

    def _way(self, axes: Sequence[_Axis], adds: bool) -> tuple[bool, tuple[int, ...]]:
        """Return whether to exchange X and Y, and the last columns of a product."""
        first = self._n_places
        tiles = [_tiles(axes, adds), _tiles([a.exchanged() for a in axes], adds)]
        swaps = tiles[1].cost < tiles[0].cost
        best = tiles[swaps]
        if best.cost < _cost_of_loops(axes):
            columns = best.columns(first)
            table = best.table()
        else:
            swaps = False
            loops = _loops(axes)
            cells = math.prod([axis.size for axis in axes if axis.c])
            columns = (0, first, cells, len(loops), 0, 0, 0, 0)
            table = np.array(loops).ravel()
        self._tables.append(table)
        self._n_places += len(table)
        return swaps, columns


class _Axis(NamedTuple):
    """A variable of a product, and the distance of neighbors in each term; zero where it is not."""

    size: int
    x: int
    y: int
    c: int

    def exchanged(self) -> _Axis:
        return _Axis(self.size, self.y, self.x, self.c)


def _axes(scopes: Sequence[Scope], sizes: Sequence[int]) -> list[_Axis]:
    """Return the axes of a product whose variables are numbered."""
    distances = [[0] * len(sizes) for _ in scopes]
    for scope, of_term in zip(scopes, distances, strict=True):
        distance = 1
        for v in reversed(scope):
            of_term[v] = distance
            distance *= sizes[v]
    axes = zip(sizes, *distances, strict=True)
    return [_Axis(*axis) for axis in axes if axis[0] > 1]


def _cost_of_loops(axes: Sequence[_Axis]) -> float:
    """Return the time of a product in loops, in cycles of a processor, roughly."""
    total = math.prod([axis.size for axis in axes])
    return 20 + 1.3 * total + 8 * total / max([axis.size for axis in axes], default=1)


def _loops(axes: Iterable[_Axis]) -> list[_Axis]:
    """Return the axes of loops: the longest one last, and neighbors joined where they can be."""
    joined: list[_Axis] = []
    for axis in sorted(axes, key=lambda axis: axis.size):
        size = axis.size
        if joined and joined[-1][1:] == (size * axis.x, size * axis.y, size * axis.c):
            joined[-1] = axis._replace(size=joined[-1].size * size)
        else:
            joined.append(axis)
    return joined or [_Axis(1, 0, 0, 0)]


class _Tiles(NamedTuple):
    """A product in tiles: its axes in groups, as in the formula."""

    b: list[_Axis]
    i: list[_Axis]
    s: list[_Axis]
    j: list[_Axis]
    step: int
    """The distance of neighbors in s if neighbors in j are neighbors in Y; otherwise zero."""
    are_neighbors: bool
    """Whether neighbors in j are neighbors in C."""
    cost: float
    """The time, in cycles of a processor, roughly."""

    def columns(self, first: int) -> tuple[int, ...]:
        """Return the last columns of the product, whose tables begin at ``first``."""
        sizes = [_size(group) for group in (self.b, self.i, self.s, self.j)]
        return (1, first, *sizes, self.step, self.are_neighbors)

    def table(self) -> NDArray[np.int64]:
        """Return the tables of places, one after another."""
        b, i, s, j = self.b, self.i, self.s, self.j
        parts = [_places([axis[term] for axis in b], b) for term in (1, 2, 3)]
        parts += [_filled(_places([axis[term] for axis in i], i), ROWS) for term in (1, 3)]
        parts += [_places([axis[term] for axis in s], s) for term in (1, 2)]
        parts += [_filled(_places([axis[term] for axis in j], j), LANES) for term in (2, 3)]
        return np.concatenate(parts)


def _tiles(axes: Sequence[_Axis], adds: bool) -> _Tiles:
    """Return a product in tiles whose lanes are the variables of Y and C."""
    groups: tuple[list[_Axis], ...] = ([], [], [], [])
    for axis in sorted(axes, key=lambda axis: -axis.c):
        groups[2 if not axis.c else 1 if not axis.y else 0 if axis.x else 3].append(axis)
    b, i, s, j = groups
    s.sort(key=lambda axis: -axis.y)
    n_b, n_i, n_s, n_j = map(_size, groups)
    step = 0
    if _distance([axis.y for axis in j], j) == 1:
        step = _distance([axis.y for axis in s], s) if s else 1
    are_neighbors = _distance([axis.c for axis in j], j) == 1
    strips, tiles = -(-n_j // LANES), -(-n_i // ROWS)
    packed = 0 if step and n_j >= LANES else strips
    scattered = 0 if are_neighbors and not adds and n_j >= LANES else strips
    tile = strips * tiles * (8 + 4 * n_s)
    cost = 30 + n_b * (10 + tile + 10 * packed * n_s + 10 * scattered * n_i)
    return _Tiles(b, i, s, j, step, are_neighbors, cost)


def _size(axes: Iterable[_Axis]) -> int:
    return math.prod([axis.size for axis in axes])


def _distance(distances: Sequence[int], axes: Sequence[_Axis]) -> int:
    """Return the distance of neighbors along several axes together; 0 if it is not the same."""
    if not axes:
        return 1
    first = expected = distances[-1]
    for distance, axis in zip(reversed(distances), reversed(axes), strict=True):
        if distance != expected:
            return 0
        expected *= axis.size
    return first


def _places(distances: Sequence[int], axes: Sequence[_Axis]) -> NDArray[np.int64]:
    """Return the places of all combinations of states, the last axis fastest."""
    places = np.zeros(1, dtype=np.int64)
    for distance, axis in zip(distances, axes, strict=True):
        places = (places[:, None] + distance * np.arange(axis.size)).ravel()
    return places


def _filled(places: NDArray[np.int64], part: int) -> NDArray[np.int64]:
    """Return places whose number is a multiple of ``part``, by repeating the last one."""
    return np.concatenate([places, np.repeat(places[-1:], -len(places) % part)])


def read_only(array: Floats) -> Floats:
    """Return a read-only view of an array that itself stays as it is."""
    view = array.view()
    view.setflags(write=False)
    return view
