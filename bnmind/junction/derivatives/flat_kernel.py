r"""Products of registers and of their derivatives, compiled.

A program of small steps spends its time between the steps, unless all of them are one call. Here a
run is a list of *products*. Each is of the form

.. math:: C_{bij} = \sum_s X_{bis} Y_{bsj}

A cell of X has the place x + x(b) + x(i) + x(s). *Tables* of x(b), x(i) and x(s) depend on the axes
alone; Y and C have such tables, too. So no register is brought into another order.

Products with much arithmetic are computed in *tiles* of four rows i by eight *lanes* j: a vector
register for each row. The others are loops over their axes. The lanes are written out, and indices
are unsigned: otherwise the compiler checks for negative indices at each access, and does not use
vector registers.

References
----------
D. A. Matthews, "High-performance tensor contraction without transposition", SIAM J. Scientific
Computing 40, 2018, section 4 (tables of places).
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit, njit_superword
from bnmind.information import Floats

__all__ = ["LANES", "PRODUCT", "ROWS", "Places", "run_products"]

Places: TypeAlias = NDArray[np.uint64]

ROWS = 4
"""The rows of a tile."""

LANES = 8
"""The columns of a tile."""

PRODUCT = 15
"""The columns of a product: the arrays of X, Y and C, and their first cells there; whether to add
to C; whether to compute in tiles; and where its tables begin. With tiles, six more columns follow:
the numbers of b, i, s and j; the distance of neighbors in s if neighbors in j are neighbors in Y,
and otherwise zero; and whether they are neighbors in C. With loops: the cells of C and the number
of axes."""

Numbers: TypeAlias = tuple[Any, ...]


@njit
def run_products(
    products: Places,
    tables: Places,
    sources: tuple[Floats, ...],
    targets: tuple[Floats, ...],
    buffer: tuple[Floats, Floats],
) -> None:
    """Fill the results of all products.

    Parameters
    ----------
    products
        ``(products, PRODUCT)``.
    tables
        For each product in tiles, the tables x(b), y(b), c(b), x(i), c(i), x(s), y(s), y(j) and
        c(j). Those of i and j repeat their last places until the last tile is full. For each
        product in loops, the axes: their sizes, and the distances of neighbors in X, Y and C.
    sources, targets
        The arrays of X and Y, and those of C.
    buffer
        ``((ROWS + most s) * LANES,)`` cells for a moment; and the same cells, read-only.
    """
    counters = np.zeros(64, dtype=np.uint64)
    for row in range(products.shape[0]):
        product = products[row]
        x, y, c = sources[product[0]], sources[product[1]], targets[product[2]]
        if product[7] > 0:
            _in_tiles(product, tables, x, y, c, buffer)
        else:
            _in_loops(product, tables, x, y, c, counters)


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
