"""Programs run by compiled code: all small steps of a run are one call."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import PlainWork, compiles, njit, njit_superword
from bnmind._values import Sealed, latest, made, sealed
from bnmind.information import Floats
from bnmind.junction.program.program import (
    WORTH_REUSE,
    Expand,
    LookUp,
    Operation,
    Product,
    Program,
    Scatter,
    Scope,
    Sum,
    reuse_freed_memory,
)
from bnmind.junction.program.sparse_steps import SparseProduct, SparseSum

# --- Products of registers and of their derivatives, compiled -------------------------------------
#
# A program of small steps spends its time between the steps, unless all of them are one call. Here
# a run is a list of *products*. Each is of the form
#
# .. math:: C_{bij} = \sum_s X_{bis} Y_{bsj}
#
# A cell of X has the place x + x(b) + x(i) + x(s). *Tables* of x(b), x(i) and x(s) depend on the
# axes alone; Y and C have such tables, too. So no register is brought into another order.
#
# Products with much arithmetic are computed in *tiles* of four rows i by eight *lanes* j: a vector
# register for each row. The others are loops over their axes. The lanes are written out, and
# indices are unsigned: otherwise the compiler checks for negative indices at each access, and does
# not use vector registers.
#
# References
# ----------
# D. A. Matthews, "High-performance tensor contraction without transposition", SIAM J. Scientific
# Computing 40, 2018, section 4 (tables of places).

Places: TypeAlias = NDArray[np.uint64]

ROWS = 4
"""The rows of a tile."""

LANES = 8
"""The columns of a tile."""

PRODUCT = 15
"""The columns of a product: the arrays of X, Y and C, and their first cells there; whether to add
to C; how to compute it (`_LOOPS`, `_TILES`, `_TERMS`); and where its tables begin. With tiles, six
more columns follow: the numbers of b, i, s and j; the distance of neighbors in s if neighbors in j
are neighbors in Y, and otherwise zero; and whether they are neighbors in C. With loops: the cells
of C and the number of axes. With terms: the cells of C, the number of terms, and that of j."""

_LOOPS, _TILES, _TERMS = 0, 1, 2

Numbers: TypeAlias = tuple[Any, ...]


@njit
def run_products(
    products: Places,
    tables: Places,
    sources: tuple[Floats, ...],
    targets: tuple[Floats, ...],
    buffer: tuple[Floats, Floats],
    bounds: NDArray[np.int64],
    exponents: NDArray[np.int64],
) -> bool:
    """Fill the results of all products, as long as they provably stay in range.

    Parameters
    ----------
    products
        ``(products, PRODUCT)``.
    tables
        For each product in tiles, the tables x(b), y(b), c(b), x(i), c(i), x(s), y(s), y(j) and
        c(j). Those of i and j repeat their last places until the last tile is full. For each
        product in loops, the axes: their sizes, and the distances of neighbors in X, Y and C. For
        each product of listed terms, their places in X, Y and C, and y(j).
    sources, targets
        The arrays of X and Y, and those of C.
    buffer
        ``((ROWS + most s) * LANES,)`` cells for a moment; and the same cells, read-only.
    bounds, exponents
        For each product, as for `_stays_in_range`; none if the numbers are not bounded.
    """
    counters = np.zeros(64, dtype=np.uint64)
    for row in range(products.shape[0]):
        product = products[row]
        x, y, c = sources[product[0]], sources[product[1]], targets[product[2]]
        if len(bounds) > 0 and not _stays_in_range(product, bounds[row], exponents, x, y):
            return False
        if product[7] == _TILES:
            _in_tiles(product, tables, x, y, c, buffer)
        elif product[7] == _TERMS:
            _by_terms(product, tables, x, y, c)
        else:
            _in_loops(product, tables, x, y, c, counters)
    return True


@njit
def _in_tiles(
    product: Places,
    tables: Places,
    x: Floats,
    y: Floats,
    c: Floats,
    buffer: tuple[Floats, Floats],
) -> None:
    """Fill or add to the result of a product, by strips of eight columns."""
    cells, packed = buffer
    lanes, packed_at = np.uint64(8), np.uint64(32)
    on_b, n_b, n_i, n_s = product[8], product[9], product[10], product[11]
    n_j, step = product[12], product[13]
    adds, are_neighbors = product[6] > 0, product[14] > 0
    on_i = on_b + np.uint64(3) * n_b
    on_s = on_i + np.uint64(2) * _whole(n_i, np.uint64(4))
    on_j = on_s + np.uint64(2) * n_s
    rows = on_i, n_i, on_s, n_s
    for b in range(n_b):
        x_at = product[3] + tables[on_b + b]
        y_at = product[4] + tables[on_b + n_b + b]
        c_at = product[5] + tables[on_b + np.uint64(2) * n_b + b]
        for strip in range(_whole(n_j, lanes) // lanes):
            j = strip * lanes
            if j + lanes > n_j and n_j >= lanes and not adds:
                j = n_j - lanes  # some columns twice, rather than part of a tile
            width = min(lanes, n_j - j)
            is_whole = width == lanes and are_neighbors and not adds
            columns = on_j + _whole(n_j, lanes) + j, width, is_whole, adds
            if step > 0 and width == lanes:
                starts = x_at, y_at + tables[on_j + j], c_at, step
                _strip((x, y, c, tables), cells, starts, rows, columns)
            else:
                at = packed_at
                for s in range(n_s):
                    row = y_at + tables[on_s + n_s + s]
                    for lane in range(lanes):
                        cells[at + lane] = y[row + tables[on_j + j + lane]]
                    at += lanes
                starts = x_at, packed_at, c_at, lanes
                _strip((x, packed, c, tables), cells, starts, rows, columns)


@njit
def _whole(count: np.uint64, part: np.uint64) -> np.uint64:
    """Return the least multiple of ``part`` that is not less."""
    return (count + part - np.uint64(1)) // part * part


@njit_superword
def _strip(
    arrays: tuple[Floats, Floats, Floats, Places],
    cells: Floats,
    starts: Numbers,
    rows: Numbers,
    columns: Numbers,
) -> None:
    """Fill or add to eight columns of a product."""
    x, y, c, tables = arrays
    x_at, y_at, c_at, step = starts
    on_i, n_i, on_s, n_s = rows
    on_j, width, is_whole, adds = columns
    i1, i2, i3, i4 = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    i5, i6, i7, lanes = np.uint64(5), np.uint64(6), np.uint64(7), np.uint64(8)
    to_c = on_i + _whole(n_i, i4)
    target = c if is_whole else cells
    for block in range(_whole(n_i, i4) // i4):
        i = i4 * block
        p, q = x_at + tables[on_i + i], x_at + tables[on_i + i + i1]
        r, t = x_at + tables[on_i + i + i2], x_at + tables[on_i + i + i3]
        p0 = p1 = p2 = p3 = p4 = p5 = p6 = p7 = 0.0
        q0 = q1 = q2 = q3 = q4 = q5 = q6 = q7 = 0.0
        r0 = r1 = r2 = r3 = r4 = r5 = r6 = r7 = 0.0
        t0 = t1 = t2 = t3 = t4 = t5 = t6 = t7 = 0.0
        at = y_at
        for s in range(n_s):
            in_x = tables[on_s + s]
            e, f, g, h = x[p + in_x], x[q + in_x], x[r + in_x], x[t + in_x]
            y0, y1, y2, y3 = y[at], y[at + i1], y[at + i2], y[at + i3]
            y4, y5, y6, y7 = y[at + i4], y[at + i5], y[at + i6], y[at + i7]
            p0, p1, p2, p3 = p0 + e * y0, p1 + e * y1, p2 + e * y2, p3 + e * y3
            p4, p5, p6, p7 = p4 + e * y4, p5 + e * y5, p6 + e * y6, p7 + e * y7
            q0, q1, q2, q3 = q0 + f * y0, q1 + f * y1, q2 + f * y2, q3 + f * y3
            q4, q5, q6, q7 = q4 + f * y4, q5 + f * y5, q6 + f * y6, q7 + f * y7
            r0, r1, r2, r3 = r0 + g * y0, r1 + g * y1, r2 + g * y2, r3 + g * y3
            r4, r5, r6, r7 = r4 + g * y4, r5 + g * y5, r6 + g * y6, r7 + g * y7
            t0, t1, t2, t3 = t0 + h * y0, t1 + h * y1, t2 + h * y2, t3 + h * y3
            t4, t5, t6, t7 = t4 + h * y4, t5 + h * y5, t6 + h * y6, t7 + h * y7
            at += step
        p, q, r, t = np.uint64(0), lanes, i2 * lanes, i3 * lanes
        if is_whole:
            first = c_at + tables[on_j]
            p, q = first + tables[to_c + i], first + tables[to_c + i + i1]
            r, t = first + tables[to_c + i + i2], first + tables[to_c + i + i3]
        target[p], target[p + i1], target[p + i2], target[p + i3] = p0, p1, p2, p3
        target[p + i4], target[p + i5], target[p + i6], target[p + i7] = p4, p5, p6, p7
        target[q], target[q + i1], target[q + i2], target[q + i3] = q0, q1, q2, q3
        target[q + i4], target[q + i5], target[q + i6], target[q + i7] = q4, q5, q6, q7
        target[r], target[r + i1], target[r + i2], target[r + i3] = r0, r1, r2, r3
        target[r + i4], target[r + i5], target[r + i6], target[r + i7] = r4, r5, r6, r7
        target[t], target[t + i1], target[t + i2], target[t + i3] = t0, t1, t2, t3
        target[t + i4], target[t + i5], target[t + i6], target[t + i7] = t4, t5, t6, t7
        if not is_whole:
            for row in range(min(i4, n_i - i)):
                first = c_at + tables[to_c + i + row]
                for lane in range(width):
                    cell, value = first + tables[on_j + lane], cells[row * lanes + lane]
                    c[cell] = c[cell] + value if adds else value


@njit
def _by_terms(product: Places, tables: Places, x: Floats, y: Floats, c: Floats) -> None:
    """Fill a result with a list of terms, each for some neighbors j in C."""
    one, two, three = np.uint64(1), np.uint64(2), np.uint64(3)
    in_x, in_y, in_c = product[3], product[4], product[5]
    for cell in range(in_c, in_c + product[9]):
        c[cell] = 0.0
    first, n_terms, n_j = product[8], product[10], product[11]
    on_j = first + three * n_terms
    for term in range(n_terms):
        at = first + three * term
        factor = x[in_x + tables[at]]
        row, cell = in_y + tables[at + one], in_c + tables[at + two]
        for j in range(n_j):
            c[cell + j] += factor * y[row + tables[on_j + j]]


@njit
def _in_loops(
    product: Places, tables: Places, x: Floats, y: Floats, c: Floats, counters: Places
) -> None:
    """Fill or add to the result of a product; its last axis is the inner loop."""
    one, two, three, width = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    in_x, in_y, in_c = product[3], product[4], product[5]
    if product[6] == 0:
        for cell in range(in_c, in_c + product[9]):
            c[cell] = 0.0
    first, outer = product[8], product[10] - one
    inner = first + outer * width
    size = tables[inner]
    on_x, on_y, on_c = tables[inner + one], tables[inner + two], tables[inner + three]
    total = one
    for i in range(outer):
        counters[i] = 0
        total *= tables[first + i * width]
    for _ in range(total):
        if on_c == 0:
            added = 0.0
            for j in range(size):
                added += x[in_x + j * on_x] * y[in_y + j * on_y]
            c[in_c] += added
        else:
            for j in range(size):
                c[in_c + j * on_c] += x[in_x + j * on_x] * y[in_y + j * on_y]
        i = outer
        while i > 0:
            i -= one
            axis = first + i * width
            counters[i] += one
            in_x += tables[axis + one]
            in_y += tables[axis + two]
            in_c += tables[axis + three]
            if counters[i] < tables[axis]:
                break
            counters[i] = 0
            in_x -= tables[axis + one] * tables[axis]
            in_y -= tables[axis + two] * tables[axis]
            in_c -= tables[axis + three] * tables[axis]


_FARTHEST = 1000
"""The exponents of two within which products neither underflow nor overflow."""

_UNKNOWN = 4000
"""An exponent beyond all numbers."""


@njit
def _stays_in_range(
    product: Places, bounds: NDArray[np.int64], exponents: NDArray[np.int64], x: Floats, y: Floats
) -> bool:
    """Return whether no term of a product can underflow or overflow, and note bounds of its result.

    The bounds of a register are those of its operands together. Where they become too wide, the
    numbers of the operands themselves give closer ones.

    Parameters
    ----------
    product
        The product.
    bounds
        The registers of X, Y and C, −1 for the number one; the cells of X and Y; and a bound of the
        binary logarithm of how many terms are summed.
    exponents
        ``(registers, 2)`` bounds of the exponents of the least and the largest number, without
        signs and zeros, of each register. Those of C are filled in.
    x, y
        The arrays of X and Y.
    """
    left, right, result, bits = bounds[0], bounds[1], bounds[2], bounds[5]
    for is_known in (False, True):
        low, high = 0, bits
        if left >= 0:
            low, high = exponents[left, 0], high + exponents[left, 1]
        if right >= 0:
            low, high = low + exponents[right, 0], high + exponents[right, 1]
        if low >= -_FARTHEST and high <= _FARTHEST:
            exponents[result, 0], exponents[result, 1] = low, high
            return True
        if not is_known:
            first = np.int64(product[3])
            if left >= 0:
                exponents[left] = _exponents(x[first : first + bounds[3]])
            first = np.int64(product[4])
            if right >= 0:
                exponents[right] = _exponents(y[first : first + bounds[4]])
    return False


@njit
def _exponents(numbers: Floats) -> NDArray[np.int64]:
    """Return bounds of the exponents of all numbers, without signs and zeros."""
    least, largest = np.inf, 0.0
    for i in range(len(numbers)):
        size = abs(numbers[i])
        if size > largest:
            largest = size
        if 0.0 < size < least:
            least = size
    exponents = np.zeros(2, dtype=np.int64)
    if largest == np.inf:
        exponents[1] = _UNKNOWN
    elif largest > 0.0:
        exponents[0] = math.frexp(least)[1] - 1
        exponents[1] = math.frexp(largest)[1]
    return exponents


# --- Places in an array for parts that are needed only for a while --------------------------------


class ReusedCells:
    """Gives parts of an array away and takes them back, so that a short array is enough.

    Examples
    --------
    >>> cells = ReusedCells()
    >>> cells.take(3), cells.take(2)
    (0, 3)
    >>> cells.give_back(0, 3)
    >>> cells.take(2), cells.take(2), cells.length
    (0, 5, 7)
    """

    def __init__(self) -> None:
        self.length = 0
        """The cells that the array must have."""
        self._starts: list[int] = []
        self._ends: list[int] = []

    def take(self, n: int) -> int:
        """Return the first of ``n`` cells, in the first gap that has so many, or at the end."""
        starts, ends = self._starts, self._ends
        for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
            if end - start >= n:
                starts[place] += n
                if starts[place] == end:
                    del starts[place], ends[place]
                return start
        start = self.length
        if ends and ends[-1] == start:  # the last gap grows
            start = starts.pop()
            ends.pop()
        self.length = start + n
        return start

    def give_back(self, start: int, n: int) -> None:
        """Take cells back, and join them with the gaps beside them."""
        starts, ends = self._starts, self._ends
        end = start + n
        place = bisect_left(starts, start)
        if place < len(starts) and starts[place] == end:
            end = ends[place]
            del starts[place], ends[place]
        if place and ends[place - 1] == start:
            ends[place - 1] = end
        else:
            starts.insert(place, start)
            ends.insert(place, end)


# --- Lists of products, and the way to compute each -----------------------------------------------

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
    register: int = -1
    """The register; −1 for the number one."""


@dataclass(frozen=True, eq=False)
class ProductList(Sealed):
    """A list of products."""

    parts: tuple[tuple[Places, NDArray[np.int64]], ...]
    """The products with their bounds, in parts that are computed in one call."""
    tables: Places
    n_buffered: int
    """The cells of the buffer."""

    def run(
        self,
        sources: tuple[Floats, ...],
        targets: tuple[Floats, ...],
        exponents: NDArray[np.int64] | None = None,
    ) -> bool:
        """Fill the results, from read-only arrays; both may be views of the same memory.

        With ``exponents``, it stops where numbers may leave the range of floating point, and
        returns False.
        """
        cells = np.empty(self.n_buffered)
        buffer = cells, read_only(cells)
        noted = np.empty((0, 2), dtype=np.int64) if exponents is None else exponents
        for part, bounds in self.parts:
            some = bounds[: len(bounds) if len(noted) else 0]
            if not run_products(part, self.tables, sources, targets, buffer, some, noted):
                return False
        return True


class Terms(NamedTuple):
    """The terms of a result that is mostly zero, or takes few numbers of a table."""

    places: NDArray[np.intp]
    """``(terms, 3)`` the places of each term in X, in Y and in C."""
    columns: NDArray[np.intp]
    """``(columns,)`` the distances in Y of numbers for neighbors in C."""


class ProductBuilder:
    """Collects products over variables of some sizes."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._rows: list[tuple[int, ...]] = []
        self._bounds: list[tuple[int, ...]] = []
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
        n_terms = math.prod(sizes) // self._cells(c)
        self._bounds.append(self._bounds_of(x, y, c, n_terms))

    def add_terms(self, x: Term, y: Term, c: Term, terms: Terms, n_cells: int) -> None:
        """Fill the ``n_cells`` cells of C with some terms."""
        places, columns = terms
        self._rows.append(
            (
                *(x.array, y.array, c.array, x.first, y.first, c.first, 0),
                *(_TERMS, self._n_places, n_cells, len(places), len(columns), 0, 0, 0),
            )
        )
        self._bounds.append(self._bounds_of(x, y, c, len(places)))
        self._tables += [places.ravel(), columns]
        self._n_places += places.size + columns.size

    def _cells(self, term: Term) -> int:
        return math.prod([self._sizes[v] for v in term.scope])

    def _bounds_of(self, x: Term, y: Term, c: Term, n_terms: int) -> tuple[int, ...]:
        registers = x.register, y.register, c.register
        return (*registers, self._cells(x), self._cells(y), n_terms.bit_length())

    def build(self) -> ProductList:
        """Return the products."""
        rows = np.array(self._rows, dtype=np.uint64).reshape(-1, PRODUCT)
        most = int(rows[rows[:, 7] == _TILES, 11].max(initial=0))
        tables = np.concatenate([np.empty(0, dtype=np.int64), *self._tables]).astype(np.uint64)
        bounds = np.array(self._bounds, dtype=np.int64).reshape(-1, 6)
        starts = range(0, len(rows), _AT_ONCE)
        parts = [(rows[i : i + _AT_ONCE], bounds[i : i + _AT_ONCE]) for i in starts]
        return ProductList(tuple(parts), tables, (ROWS + most) * LANES)

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


# --- Programs whose registers are parts of one array, for the compiled runs -----------------------

_SMALL_STEP = 500_000
"""The multiplications of a step, on average, below which the compiled run is faster."""

_WORK_OF_A_STEP = 25
"""The operations of a step in NumPy."""

_MOST_CELLS = 2**23
"""The most cells of all registers. A run holds few of them at a time, and the lists of products and
a copy of the tables take about as much as all."""

_work_in_numpy = PlainWork(run_products, if_cached=300_000)
"""The work in NumPy, before the kernels are compiled."""

_FIXED, _VALUES, _ADJOINTS, _ELSEWHERE = 0, 1, 2, -1
"""The arrays that products take: the inputs that are the same in all runs; the other registers of a
run and the number one; and the adjoints of all registers but the inputs. Products fill the second,
the third, or the adjoints of the inputs, which stand in the place of the first. Inputs that no
product takes, such as positions, are in no array."""

_NOTHING = np.empty(0)

_ByPlace = LookUp | Scatter | Expand
"""The steps of functions; their left registers hold positions."""


def should_be_flat(program: Program, n_runs: int, first_runs: int) -> bool:
    """Return whether to run a program by the kernels, and count its work if not.

    Parameters
    ----------
    program
        The program.
    n_runs
        How often it ran before.
    first_runs
        The runs in NumPy that take as long as it takes to list the products.
    """
    if n_runs < first_runs or not has_small_steps(program):
        return False
    work = _WORK_OF_A_STEP * len(program.steps)
    if work < _work_in_numpy.left:
        _work_in_numpy.spend(work)
        return False
    return compiles()


def has_small_steps(program: Program) -> bool:
    """Return whether the steps of a program are so small that the kernels are faster."""
    return program.multiplications <= _SMALL_STEP * len(program.steps)


def has_few_cells(program: Program, max_bytes: int) -> bool:
    """Return whether all registers of a program are few cells, none of them packed."""
    cells = sum(program.held)
    return cells <= _MOST_CELLS and 16 * cells <= max_bytes and not program.listed_bytes


@dataclass(frozen=True, eq=False, kw_only=True)
class FlatProgram(Sealed):
    """The steps of a program as products of parts of arrays.

    Steps that are neither products nor sums are left to NumPy.
    """

    program: Program
    fixed: Floats
    """The inputs that are the same in all runs."""
    changing: tuple[int, ...]
    """The other inputs that are in the array of a run."""
    terms: tuple[Term, ...]
    """The place of each register."""
    shapes: tuple[tuple[int, ...], ...]
    """The shape of each register."""
    n_cells: int
    """The cells of the other registers, and of the number one after them."""
    parts: tuple[ProductList | int, ...]
    """The products, and between them the registers that NumPy fills."""
    exponents: NDArray[np.int64]
    """``(registers, 2)`` bounds of the exponents of the inputs that are the same in all runs."""

    def run(self, inputs: Sequence[Any]) -> FlatRecord:
        """Return the registers of a run."""
        record = self._run(inputs, None)
        assert record is not None  # without a check of its numbers
        return record

    def run_in_range(self, inputs: Sequence[Any]) -> FlatRecord | None:
        """Return the registers of a run; None if any number may have underflowed or overflowed."""
        return self._run(inputs, self.exponents.copy())

    def _run(self, inputs: Sequence[Any], exponents: NDArray[np.int64] | None) -> FlatRecord | None:
        # The products fill all other registers.
        values = np.empty(self.n_cells)
        values[-1] = 1.0
        for register in self.changing:
            first, table = self.terms[register].first, inputs[register]
            values[first : first + table.size] = table.ravel()
        known = read_only(values)
        record = made(FlatRecord, program=self, values=known, inputs=inputs)
        for part in self.parts:
            if isinstance(part, ProductList):
                arrays = (self.fixed, known, known), (_NOTHING, values, _NOTHING)
                if not part.run(*arrays, exponents):
                    return None
                continue
            operation, left, right = self.program.steps[part - self.program.n_inputs]
            result = operation(record[left], record[right])
            at = self.terms[part].first
            values[at : at + result.size] = result.ravel()
        return record

    def places(self, register: int | None) -> NDArray[np.intp] | None:
        """Return the places of the cells of a register in the array of a run.

        None stands for no register, whose only number is one; it is returned for registers that
        are elsewhere.
        """
        if register is None:
            return np.array(self.n_cells - 1)
        array, first = self.terms[register][:2]
        shape = self.shapes[register]
        if array != _VALUES:
            return None
        return np.arange(first, first + math.prod(shape)).reshape(shape)

    def reverse(self, end: int, wanted: Collection[int]) -> _Reverse:
        """Return the backward pass from a register to inputs."""
        key = end, tuple(wanted)
        return latest(self, "_reverse", key, partial(_reverse, self, end, wanted))


@dataclass(frozen=True, eq=False, kw_only=True)
class FlatRecord(Sealed):
    """The registers of a run."""

    program: FlatProgram
    values: Floats
    inputs: Sequence[Any]

    def __getitem__(self, register: int) -> Floats:
        program = self.program
        array, first = program.terms[register][:2]
        if array == _ELSEWHERE:
            values: Floats = self.inputs[register]
            return values
        shape = program.shapes[register]
        cells = program.fixed if array == _FIXED else self.values
        return cells[first : first + math.prod(shape)].reshape(shape)

    def read(self, places: NDArray[np.intp]) -> Floats:
        """Return numbers at places of the array."""
        numbers: Floats = self.values[places]
        return numbers

    def adjoints(
        self, end: int, seed: Floats, wanted: Collection[int]
    ) -> tuple[dict[int, Floats], list[Floats]]:
        """Return the derivatives of a number by input registers, and arrays that hold all of them.

        All are read-only. The parameters and results are those of `backward.adjoints`.
        """
        reverse = self.program.reverse(end, wanted)
        found, others = np.empty(reverse.n_found), np.empty(reverse.n_others)
        start = reverse.start
        if start is None:
            return {}, []
        of_end = others if start.array == _ADJOINTS else found
        of_end[start.first : start.first + seed.size] = seed.ravel()
        reverse.products.run(
            (self.program.fixed, self.values, read_only(others)), (found, _NOTHING, others)
        )
        sealed(found)
        parts = {
            register: found[first:after].reshape(shape)
            for register, first, after, shape in reverse.parts
        }
        return parts, [found]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Reverse(Sealed):
    """A backward pass."""

    products: ProductList
    start: Term | None
    """The adjoint that is given; None if it leads to no wanted input."""
    n_found: int
    """The cells of the adjoints that are found."""
    n_others: int
    """The cells that the other adjoints take, those that are needed at the same time."""
    parts: tuple[tuple[int, int, int, tuple[int, ...]], ...]
    """The inputs on which the number depends; their first cells, the cells after their last ones,
    and their shapes."""


def flat_program(
    program: Program, inputs: Sequence[Any] = (), kept: Collection[int] | None = None
) -> FlatProgram:
    """Return the steps of a program as products of terms.

    Parameters
    ----------
    program
        The program.
    inputs
        The first inputs, as far as they are the same in all runs; otherwise None.
    kept
        The registers that are needed after a run; all by default.
    """
    positions = {left for operation, left, _ in program.steps if isinstance(operation, _ByPlace)}
    used = {register for _, *operands in program.steps for register in operands} - positions
    fixed, changing, terms = [], [], []
    exponents = np.full((len(program.scopes), 2), [-_UNKNOWN, _UNKNOWN])
    n_fixed, cells = 0, ReusedCells()
    for register, scope in enumerate(program.scopes[: program.n_inputs]):
        size = program.cells(register)
        if register not in used:
            terms.append(Term(_ELSEWHERE, 0, scope))
        elif register < len(inputs) and inputs[register] is not None:
            terms.append(Term(_FIXED, n_fixed, scope, register))
            fixed.append(inputs[register].ravel())
            exponents[register] = _exponents(fixed[-1])
            n_fixed += size
        else:
            terms.append(Term(_VALUES, cells.take(size), scope, register))
            changing.append(register)
    for register, spent in enumerate(program.spent, program.n_inputs):
        first = cells.take(program.cells(register))
        terms.append(Term(_VALUES, first, program.scopes[register], register))
        for other in spent:
            if kept is not None and other not in kept and terms[other].array == _VALUES:
                cells.give_back(terms[other].first, program.cells(other))
    if cells.length >= WORTH_REUSE:
        reuse_freed_memory()
    one = Term(_VALUES, cells.length, ())
    shapes = [tuple([program.sizes[v] for v in scope]) for scope in program.scopes]
    builder = ProductBuilder(program.sizes)
    parts: list[ProductList | int] = []
    for number, (operation, left, right) in enumerate(program.steps, program.n_inputs):
        if type(operation) in (Sum, Product):
            # A sum is a product with the number one.
            y = one if isinstance(operation, Sum) else terms[right]
            builder.add(terms[left], y, terms[number], adds=False)
            continue
        positions_of_left = inputs[left] if left < len(inputs) else None
        listed = _terms(operation, positions_of_left, shapes[right])
        if listed is None:
            parts += [builder.build(), number]
            builder = ProductBuilder(program.sizes)
            continue
        x = one if isinstance(operation, _ByPlace) else terms[left]
        y = one if isinstance(operation, Sum) else terms[right]
        builder.add_terms(x, y, terms[number], listed, program.cells(number))
    parts.append(builder.build())
    return FlatProgram(
        program=program,
        fixed=np.concatenate([_NOTHING, *fixed]),
        changing=tuple(changing),
        terms=tuple(terms),
        shapes=tuple(shapes),
        n_cells=cells.length + 1,
        parts=tuple(parts),
        exponents=exponents,
    )


def _terms(operation: Operation, positions: Any, shape: tuple[int, ...]) -> Terms | None:
    """Return the terms of a step, or None if they are not the same in all runs.

    Parameters
    ----------
    operation
        The step, neither a plain product nor a plain sum.
    positions
        The left register of a function's step, if it is the same in all runs.
    shape
        The shape of the right register.
    """
    if isinstance(operation, SparseSum):
        columns = np.zeros(1, dtype=np.intp)
        zeros = np.zeros_like(operation.cells)
        return Terms(np.stack([operation.cells, zeros, operation.places], axis=-1), columns)
    cells: Any = np.arange(math.prod(shape)).reshape(shape)
    if isinstance(operation, SparseProduct):
        if operation.right_axes is not None:
            cells = cells.transpose(operation.right_axes)
        n = operation.right_shape[-1]
        rows = cells.reshape(-1, n)
        x, middles, to = (np.concatenate(some) for some in zip(*operation.passes, strict=True))
        order = np.argsort(to, kind="stable")
        places = np.stack([x, rows[middles, 0], n * to], axis=-1)[order]
        return Terms(places, rows[0] - rows[0, 0])
    if positions is None or not isinstance(operation, LookUp | Scatter):
        return None
    if isinstance(operation, LookUp):
        taken: Any = operation.take(positions, cells, -1).ravel().astype(np.intp)
        to = np.arange(len(taken))
        is_term = taken >= 0
    else:
        taken = operation.rows(positions.shape, cells)
        to = (operation.places(positions)[:, None] - 1) * taken.shape[1]
        is_term = np.broadcast_to(to >= 0, taken.shape)
        to = to + np.arange(taken.shape[1])
    places = np.stack([np.zeros_like(to), taken, to], axis=-1)[is_term]
    return Terms(places, np.zeros(1, dtype=np.intp))


def _reverse(flat: FlatProgram, end: int, wanted: Collection[int]) -> _Reverse:
    """Return the backward pass from a register to inputs."""
    program = flat.program
    n_inputs = program.n_inputs
    leads = [False] * len(flat.terms)
    for register in wanted:
        leads[register] = True
    for number, (_, left, right) in enumerate(program.steps, n_inputs):
        leads[number] = leads[left] or leads[right]
    adjoints: dict[int, Term] = {}
    found, others = ReusedCells(), ReusedCells()

    def adjoint(register: int) -> Term:
        if register not in adjoints:
            array, cells = (_FIXED, found) if register < n_inputs else (_ADJOINTS, others)
            first = cells.take(program.cells(register))
            adjoints[register] = Term(array, first, program.scopes[register])
        return adjoints[register]

    start = adjoint(end) if leads[end] else None
    one = Term(_VALUES, flat.n_cells - 1, ())
    builder = ProductBuilder(program.sizes)
    for number in range(end, n_inputs - 1, -1):
        if number not in adjoints:
            continue
        operation, left, right = program.steps[number - n_inputs]
        pairs = [(left, flat.terms[right]), (right, flat.terms[left])]
        if isinstance(operation, Sum):
            pairs = [(left, one)]
        for register, other in pairs:
            if leads[register]:
                adds = register in adjoints
                builder.add(adjoints[number], other, adjoint(register), adds=adds)
        others.give_back(adjoints[number].first, program.cells(number))
    reached = [register for register in wanted if register in adjoints]
    ends = [adjoints[register].first + program.cells(register) for register in reached]
    return _Reverse(
        products=builder.build(),
        start=start,
        n_found=found.length,
        n_others=others.length,
        parts=tuple(
            [
                (register, adjoints[register].first, after, flat.shapes[register])
                for register, after in zip(reached, ends, strict=True)
            ]
        ),
    )
