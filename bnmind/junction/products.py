"""Products of registers, many in one call of compiled code."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit, njit_superword
from bnmind._values import Sealed
from bnmind.information import Floats
from bnmind.junction.program import Scope

# --- Products of registers, compiled -------------------------------------
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

PRODUCT = 13
"""The columns of a product: the arrays of X and Y; the first cells of X, Y and C; how to compute it
(`_LOOPS`, `_TILES`, `_TERMS`); and where its tables begin. With tiles, six more columns follow: the
numbers of b, i, s and j; the distance of neighbors in s if neighbors in j are neighbors in Y, and
otherwise zero; and whether they are neighbors in C. With loops: the cells of C and the number of
axes. With terms: the cells of C and the number of terms."""

_LOOPS, _TILES, _TERMS, NUMBERS = 0, 1, 2, 3

Numbers: TypeAlias = tuple[Any, ...]


@njit
def run_products(
    products: Places,
    tables: Places,
    sources: tuple[Floats, ...],
    c: Floats,
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
        each product of listed terms, their places in Y and C.
    sources, c
        The arrays of X and Y, and that of C.
    buffer
        ``((ROWS + most s) * LANES,)`` cells for a moment; and the same cells, read-only.
    bounds, exponents
        For each product, as for `_stays_in_range`.
    """
    counters = np.zeros(64, dtype=np.uint64)
    for row in range(products.shape[0]):
        product = products[row]
        x, y = sources[product[0]], sources[product[1]]
        if not _stays_in_range(product, bounds[row], exponents, x, y):
            return False
        if product[5] == _TILES:
            in_tiles(product, tables, x, y, c, buffer)
        elif product[5] == _TERMS:
            _by_terms(product, tables, x, y, c)
        else:
            in_loops(product, tables, x, y, c, counters)
    return True


@njit
def in_tiles(
    product: Places,
    tables: Places,
    x: Floats,
    y: Floats,
    c: Floats,
    buffer: tuple[Floats, Floats],
) -> None:
    """Fill the result of a product, by strips of eight columns."""
    cells, packed = buffer
    lanes, packed_at = np.uint64(8), np.uint64(32)
    on_b, n_b, n_i, n_s = product[6], product[7], product[8], product[9]
    n_j, step = product[10], product[11]
    are_neighbors = product[12] > 0
    on_i = on_b + np.uint64(3) * n_b
    on_s = on_i + np.uint64(2) * _whole(n_i, np.uint64(4))
    on_j = on_s + np.uint64(2) * n_s
    rows = on_i, n_i, on_s, n_s
    for b in range(n_b):
        x_at = product[2] + tables[on_b + b]
        y_at = product[3] + tables[on_b + n_b + b]
        c_at = product[4] + tables[on_b + np.uint64(2) * n_b + b]
        for strip in range(_whole(n_j, lanes) // lanes):
            j = strip * lanes
            if j + lanes > n_j and n_j >= lanes:
                j = n_j - lanes  # some columns twice, rather than part of a tile
            width = min(lanes, n_j - j)
            is_whole = width == lanes and are_neighbors
            columns = on_j + _whole(n_j, lanes) + j, width, is_whole
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
    """Fill eight columns of a product."""
    x, y, c, tables = arrays
    x_at, y_at, c_at, step = starts
    on_i, n_i, on_s, n_s = rows
    on_j, width, is_whole = columns
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
                    c[first + tables[on_j + lane]] = cells[row * lanes + lane]


@njit
def _by_terms(product: Places, tables: Places, x: Floats, y: Floats, c: Floats) -> None:
    """Fill a result with a list of numbers of Y, which a number of X multiplies."""
    factor, in_y, in_c = x[product[2]], product[3], product[4]
    for cell in range(in_c, in_c + product[7]):
        c[cell] = 0.0
    at = product[6]
    for _ in range(product[8]):
        c[in_c + tables[at + np.uint64(1)]] += factor * y[in_y + tables[at]]
        at += np.uint64(2)


@njit
def in_loops(
    product: Places, tables: Places, x: Floats, y: Floats, c: Floats, counters: Places
) -> None:
    """Fill the result of a product; its last axis is the inner loop."""
    one, two, three, width = np.uint64(1), np.uint64(2), np.uint64(3), np.uint64(4)
    in_x, in_y, in_c = product[2], product[3], product[4]
    for cell in range(in_c, in_c + product[7]):
        c[cell] = 0.0
    first, outer = product[6], product[8] - one
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

UNKNOWN = 4000
"""An exponent beyond all numbers."""


@njit
def _stays_in_range(
    product: Places, bounds: NDArray[np.int64], exponents: NDArray[np.int64], x: Floats, y: Floats
) -> bool:
    """Return whether no term of a product can underflow or overflow, and note bounds of its result.

    The bounds of a register are those of its operands together. Where they become too wide, the
    numbers of the operands themselves give closer ones, first those of operands without bounds.

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
    for attempt in range(3):
        low, high = 0, bits
        if left >= 0:
            low, high = exponents[left, 0], high + exponents[left, 1]
        if right >= 0:
            low, high = low + exponents[right, 0], high + exponents[right, 1]
        if low >= -_FARTHEST and high <= _FARTHEST:
            exponents[result, 0], exponents[result, 1] = low, high
            return True
        if left >= 0 and (attempt == 1 or exponents[left, 1] == UNKNOWN):
            first = np.int64(product[2])
            exponents[left] = exponents_of(x[first : first + bounds[3]])
        if right >= 0 and (attempt == 1 or exponents[right, 1] == UNKNOWN):
            first = np.int64(product[3])
            exponents[right] = exponents_of(y[first : first + bounds[4]])
    return False


@njit
def exponents_of(numbers: Floats) -> NDArray[np.int64]:
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
        exponents[1] = UNKNOWN
    elif largest > 0.0:
        exponents[0] = math.frexp(least)[1] - 1
        exponents[1] = math.frexp(largest)[1]
    return exponents


# --- The way to compute a product, and its tables of places ---------------------------------------

AXIS = 5
"""The columns of an axis: its size; the distances of neighbors in X, Y and C, zero where a term
lacks it; and its group in tiles, where b, i, s and j are 0, 1, 2 and 3."""

_SIZE, _X, _Y, _C, _GROUP = range(AXIS)


_LEAST_OF_TILES = 48
"""The cost of the smallest product in tiles."""


@njit
def arrange(axes: NDArray[np.int64], row: Places, most: int) -> Any:
    """Choose the way to compute a product; return the number of its places.

    Parameters
    ----------
    axes
        ``(axes + 1, AXIS)`` the variables of the product, of sizes above one, and zero after them.
        They are sorted.
    row
        The product. The first two columns become whether to exchange X and Y, and the cells of C;
        those of the way are filled.
    most
        The most places of tables for tiles.
    """
    n, total, cells, longest = 0, 1, 1, 1
    while axes[n, _SIZE] > 0:
        size = axes[n, _SIZE]
        total *= size
        longest = max(longest, size)
        if axes[n, _C] > 0:
            cells *= size
        n += 1
    row[0], row[1], row[5], row[7], row[8] = 0, cells, _LOOPS, cells, max(n, 1)
    if n == 0:
        row[5] = NUMBERS
        return 4
    best, way = _cost_of_loops(total, longest), 0
    for swap in range(2 if best > _LEAST_OF_TILES else 0):
        cost = _tiles(axes, n, swap, row, most)
        if cost < best:
            best, way = cost, swap + 1
    if way > 0:
        _tiles(axes, n, way - 1, row, most)
        row[0], row[5] = way - 1, _TILES
        n_i, n_j = _whole(row[8], np.uint64(ROWS)), _whole(row[10], np.uint64(LANES))
        return np.int64(3 * row[7] + 2 * (n_i + row[9] + n_j))
    row[5], row[7], row[8] = _LOOPS, cells, n
    _sort_axes(axes, n, _Y)
    last = n - 1
    for k in range(n):
        if axes[k, _SIZE] == longest:
            last = k
    for k in range(last, n - 1):
        for column in range(AXIS):
            axes[k, column], axes[k + 1, column] = axes[k + 1, column], axes[k, column]
    return 4 * n


@njit
def _cost_of_loops(total: int, longest: int) -> float:
    """Return the time of a product in loops, in cycles of a processor, roughly."""
    return 20 + 1.3 * total + 8 * total / longest


@njit
def _sort_axes(axes: NDArray[np.int64], n: int, y: int) -> None:
    """Sort axes by their distances in C and then in Y, large ones first."""
    for i in range(1, n):
        k = i
        while k > 0 and (
            axes[k - 1, _C] < axes[k, _C]
            or (axes[k - 1, _C] == axes[k, _C] and axes[k - 1, y] < axes[k, y])
        ):
            for column in range(AXIS):
                axes[k, column], axes[k - 1, column] = axes[k - 1, column], axes[k, column]
            k -= 1


@njit
def _tiles(axes: NDArray[np.int64], n: int, swap: int, row: Places, most: int) -> float:
    """Describe a product in tiles whose lanes are the variables of Y and C; return its cost.

    The cost is the time in cycles of a processor, roughly.
    """
    x, y = (_Y, _X) if swap else (_X, _Y)
    _sort_axes(axes, n, y)
    n_b = n_i = n_s = n_j = 1
    for k in range(n):
        size = axes[k, _SIZE]
        if axes[k, _C] == 0:
            axes[k, _GROUP] = 2
            n_s *= size
        elif axes[k, y] == 0:
            axes[k, _GROUP] = 1
            n_i *= size
        elif axes[k, x] > 0:
            axes[k, _GROUP] = 0
            n_b *= size
        else:
            axes[k, _GROUP] = 3
            n_j *= size
    step = _distance(axes, n, 2, y) if _distance(axes, n, 3, y) == 1 else 0
    are_neighbors = _distance(axes, n, 3, _C) == 1
    row[7], row[8], row[9], row[10], row[11], row[12] = n_b, n_i, n_s, n_j, step, are_neighbors
    strips, tiles = -(-n_j // LANES), -(-n_i // ROWS)
    if 3 * n_b + 2 * (ROWS * tiles + n_s + LANES * strips) > most:
        return math.inf
    packed = 0 if step > 0 and n_j >= LANES else strips
    scattered = 0 if are_neighbors and n_j >= LANES else strips
    tile = strips * tiles * (8 + 4 * n_s)
    return 30.0 + n_b * (10.0 + tile + 10 * packed * n_s + 10 * scattered * n_i)


@njit
def _distance(axes: NDArray[np.int64], n: int, group: int, column: int) -> int:
    """Return the distance of neighbors along a group together; 0 if it is not the same."""
    first, expected = 1, -1
    for k in range(n - 1, -1, -1):
        if axes[k, _GROUP] == group:
            if expected < 0:
                first = expected = axes[k, column]
            elif axes[k, column] != expected:
                return 0
            expected *= axes[k, _SIZE]
    return first


@njit
def fill_places(axes: NDArray[np.int64], row: Places, tables: Places) -> None:
    """Fill the tables of a product that `arrange` described, from its column 6 on."""
    at: Any = np.int64(row[6])
    if row[5] == _TILES:
        x, y = (_Y, _X) if row[0] > 0 else (_X, _Y)
        for group, column in (
            (0, x),
            (0, y),
            (0, _C),
            (1, x),
            (1, _C),
            (2, x),
            (2, y),
            (3, y),
            (3, _C),
        ):
            part = 1 if group in (0, 2) else ROWS if group == 1 else LANES
            n_places: Any = np.int64(row[7 + group])
            at = _fill(axes, group, column, tables, at, -(-n_places // part) * part)
        return
    # Neighboring axes of loops are joined where they can be.
    n, k = 0, 0
    while axes[k, _SIZE] > 0:
        size = axes[k, _SIZE]
        joins = n > 0
        last = at + 4 * (n - 1)
        for column in range(1, 4):
            joins = joins and np.int64(tables[last + column]) == size * axes[k, column]
        if joins:
            tables[last] *= np.uint64(size)
        else:
            last = at + 4 * n
            tables[last] = size
            n += 1
        for column in range(1, 4):
            tables[last + column] = axes[k, column]
        k += 1
    if n == 0:
        tables[at] = 1
        for column in range(1, 4):
            tables[at + column] = 0
        n = 1
    row[8] = n


@njit
def _fill(axes: NDArray[np.int64], group: int, column: int, tables: Places, at: int, n: int) -> int:
    """Fill the places of all states of a group, the last one again up to ``n``; return the end."""
    tables[at] = 0
    filled, k = 1, 0
    while axes[k, _SIZE] > 0:
        if axes[k, _GROUP] == group:
            size = axes[k, _SIZE]
            for place in range(filled - 1, -1, -1):
                for state in range(size - 1, -1, -1):
                    further = np.uint64(state * axes[k, column])
                    tables[at + place * size + state] = tables[at + place] + further
            filled *= size
        k += 1
    for place in range(filled, n):
        tables[at + place] = tables[at + filled - 1]
    return at + n


# --- Lists of products, and the way to compute each -----------------------------------------------

_AT_ONCE = 2000
"""The products of a call; Ctrl-C is heard between calls."""


class Term(NamedTuple):
    """A part of an array that a product takes or fills: a register."""

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
        self, sources: tuple[Floats, ...], results: Floats, exponents: NDArray[np.int64]
    ) -> bool:
        """Fill the results, from read-only arrays; these may be views of the same memory.

        It stops where numbers may leave the range of floating point, and returns False.
        """
        cells = np.empty(self.n_buffered)
        buffer = cells, read_only(cells)
        for part, bounds in self.parts:
            if not run_products(part, self.tables, sources, results, buffer, bounds, exponents):
                return False
        return True


class ProductBuilder:
    """Collects products over variables of some sizes."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._most = 2**24
        self._rows: list[tuple[int, ...]] = []
        self._bounds: list[tuple[int, ...]] = []
        self._tables: list[NDArray[Any]] = []
        self._n_places = 0
        self._known: dict[object, tuple[bool, tuple[int, ...]]] = {}

    def add(self, x: Term, y: Term, c: Term) -> None:
        """Fill C with the sum of X Y over all variables that C lacks."""
        number: dict[int, int] = {}
        scopes = [
            tuple([number.setdefault(v, len(number)) for v in term.scope]) for term in (x, y, c)
        ]
        sizes = tuple([self._sizes[v] for v in number])
        key = *scopes, sizes
        if key not in self._known:
            self._known[key] = self._way(scopes, sizes)
        swaps, columns = self._known[key]
        x, y = (y, x) if swaps else (x, y)
        self._rows.append((x.array, y.array, x.first, y.first, c.first, *columns))
        n_terms = math.prod(sizes) // self._cells(c)
        self._bounds.append(self._bounds_of(x, y, c, n_terms))

    def add_terms(self, x: Term, y: Term, c: Term, terms: NDArray[np.intp], n_cells: int) -> None:
        """Fill the ``n_cells`` cells of C with ``(terms, 2)`` numbers of Y, which x multiplies.

        The columns of ``terms`` are the places in Y and in C.
        """
        self._rows.append(
            (
                *(x.array, y.array, x.first, y.first, c.first),
                *(_TERMS, self._n_places, n_cells, len(terms), 0, 0, 0, 0),
            )
        )
        self._bounds.append(self._bounds_of(x, y, c, len(terms)))
        self._tables.append(terms.ravel())
        self._n_places += terms.size

    def _cells(self, term: Term) -> int:
        return math.prod([self._sizes[v] for v in term.scope])

    def _bounds_of(self, x: Term, y: Term, c: Term, n_terms: int) -> tuple[int, ...]:
        registers = x.register, y.register, c.register
        return (*registers, self._cells(x), self._cells(y), n_terms.bit_length())

    def build(self) -> ProductList:
        """Return the products."""
        rows = np.array(self._rows, dtype=np.uint64).reshape(-1, PRODUCT)
        most = int(rows[rows[:, 5] == _TILES, 9].max(initial=0))
        nothing = np.empty(0, dtype=np.uint64)
        tables = np.concatenate([nothing, *self._tables], dtype=np.uint64, casting="unsafe")
        bounds = np.array(self._bounds, dtype=np.int64).reshape(-1, 6)
        starts = range(0, len(rows), _AT_ONCE)
        parts = [(rows[i : i + _AT_ONCE], bounds[i : i + _AT_ONCE]) for i in starts]
        return ProductList(tuple(parts), tables, (ROWS + most) * LANES)

    def _way(self, scopes: Sequence[Scope], sizes: Sequence[int]) -> tuple[bool, tuple[int, ...]]:
        """Return whether to exchange X and Y, and the last columns of a product."""
        axes = np.zeros((len(sizes) + 1, AXIS), dtype=np.int64)
        axes[:-1, 0] = sizes
        for column, scope in enumerate(scopes, 1):
            distance = 1
            for v in reversed(scope):
                axes[v, column] = distance
                distance *= sizes[v]
        axes[:-1] = axes[np.argsort(axes[:-1, 0] == 1, kind="stable")]
        n = sum([size > 1 for size in sizes])
        axes[n] = 0
        row = np.zeros(PRODUCT, dtype=np.uint64)
        table = np.zeros(arrange(axes, row, self._most), dtype=np.uint64)
        fill_places(axes, row, table)
        row[6] = self._n_places
        self._tables.append(table)
        self._n_places += len(table)
        return bool(row[0]), tuple(row[5:].tolist())


def read_only(array: Floats) -> Floats:
    """Return a read-only view of an array that itself stays as it is."""
    view = array.view()
    view.setflags(write=False)
    return view
