"""The sums of one query: bucket after bucket, products over a clique, summed over one variable.

References
----------
R. Dechter, "Bucket elimination: a unifying framework for reasoning", Artificial Intelligence 113
(1999), 41-85.

Numbers far from one are multiplied by a power of two, which loses nothing, and the exponents are
added up.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from bnmind._jit import njit
from bnmind.junction.single.light_order_kernel import Case, Floats, Ints, LightArrays, Steps

__all__ = ["Work", "sums_of"]

_LARGE = 2.0**64
_SMALL = 2.0**-64
"""Numbers outside of these are scaled."""

_TINY = 2.0**-1000
"""Products below it may have lost digits."""


class Work(NamedTuple):
    """The memory of a run."""

    messages: Floats
    """The likelihoods, then the messages."""
    read: Floats
    """The same memory, read-only."""
    product: Floats
    """Room for the product over the largest clique."""


@njit
def sums_of(
    net: LightArrays, case: Case, steps: Steps, work: Work, careful: bool
) -> tuple[float, int, bool]:
    """Compute the joint of the targets in the first cells of ``work.product``.

    Parameters
    ----------
    net, case, steps
        The network, the query and its plan.
    work
        The memory of the run.
    careful
        Whether to look for products that underflow.

    Returns
    -------
    total : float
        The sum of the joint.
    exponent : int
        The joint must be multiplied by two to this power.
    lost : bool
        Whether products may have underflowed; False unless ``careful``.
    """
    # Reading arrays from tuples once is much faster than passing the tuples to functions.
    n_states, states, soft, tables = net.n_states, case.states, case.soft, net.tables
    starts, parents, table_starts = net.starts, net.parents, net.table_starts
    order, places, scope_starts, scopes = steps[:4]
    bucket_starts, buckets, message_starts, all_cells = steps[4:8]
    messages, read, product = work
    n, n_eliminated = n_states.size, all_cells.size - 1
    sizes = np.empty(order.size + 1, np.int64)
    strides = np.empty(order.size + 1, np.int64)
    axes = np.empty(order.size + 1, np.int64)
    room = np.empty((3, order.size + 1), np.int64)
    exponent = 0
    lost = False
    for place in range(n_eliminated + 1):
        # The axes of the clique: its other variables, then its own; in the end the targets.
        d = 0
        if place < n_eliminated:
            for i in range(scope_starts[place], scope_starts[place + 1]):
                axes[scopes[i]] = d
                sizes[d] = n_states[order[scopes[i]]]
                d += 1
        for other in range(place, place + 1 if place < n_eliminated else order.size):
            axes[other] = d
            sizes[d] = n_states[order[other]]
            d += 1
        cells = int(all_cells[place])
        first, last = bucket_starts[place], bucket_starts[place + 1]
        if first == last:
            _fill(product, cells)
        for i in range(first, last):
            factor = buckets[i]
            for axis in range(d):
                strides[axis] = 0
            stride = 1
            if factor >= 2 * n:
                sender = factor - 2 * n
                start = message_starts[sender]
                for j in range(scope_starts[sender + 1] - 1, scope_starts[sender] - 1, -1):
                    strides[axes[scopes[j]]] = stride
                    stride *= n_states[order[scopes[j]]]
            elif factor >= n:
                start = soft[factor - n]
                strides[axes[places[factor - n]]] = 1
            else:
                start = table_starts[factor]
                for j in range(starts[factor + 1] - 1, starts[factor] - 2, -1):
                    v = factor if j < starts[factor] else parents[j]
                    if states[v] >= 0:
                        start += stride * states[v]
                    else:
                        strides[axes[places[v]]] = stride
                    stride *= n_states[v]
            values = tables if factor < n else read
            largest, has_lost = _multiply(
                product, values, start, sizes[:d], strides[:d], room, (i == first, careful)
            )
            lost = lost or has_lost
            if largest > 0 and not _SMALL < largest < _LARGE:
                exponent += _scale(product, cells, largest)
        if place < n_eliminated:
            _sum_last(product, cells, sizes[d - 1], messages, message_starts[place])
    total = 0.0
    for cell in range(int(all_cells[n_eliminated])):
        total += product[cell]
    return total, exponent, lost


@njit
def _fill(product: Floats, cells: int) -> None:
    """Set the first numbers to one."""
    for cell in range(cells):
        product[cell] = 1.0


@njit
def _sum_last(product: Floats, cells: int, size: int, messages: Floats, out: int) -> None:
    """Write the sums over the last axis, of ``size`` states, to messages from ``out`` on."""
    cell = 0
    for k in range(cells // size):
        total = 0.0
        for _ in range(size):
            total += product[cell]
            cell += 1
        messages[out + k] = total


@njit
def _multiply(
    product: Floats,
    values: Floats,
    start: int,
    sizes: Ints,
    strides: Ints,
    room: Ints,
    how: tuple[bool, bool],
) -> tuple[float, bool]:
    """Multiply a product by a factor, or set it to the factor; return the largest number.

    Parameters
    ----------
    product
        The product, with the last axis varying fastest.
    values, start
        The numbers of the factor, and its first cell.
    sizes, strides
        The size of each axis of the product, and the stride of the factor along it.
    room
        ``(3, axes + 1)`` scratch memory.
    how
        Whether the factor is the first, and whether to look for products that underflow.

    Returns
    -------
    tuple
        The largest number of the product, and whether numbers may have been lost.
    """
    is_first, careful = how
    # Neighboring axes are one axis where the factor permits it.
    counts, steps, at = room[0], room[1], room[2]
    d = 0
    counts[0] = 1
    steps[0] = 0
    at[0] = 0
    for axis in range(sizes.size):
        if sizes[axis] == 1:
            continue
        if counts[d] == 1 or steps[d] == strides[axis] * sizes[axis]:
            counts[d] *= sizes[axis]
        else:
            d += 1
            counts[d] = sizes[axis]
            at[d] = 0
        steps[d] = strides[axis]
    length, step = counts[d], steps[d]
    largest = 0.0
    lost = False
    cell = 0
    place = start
    while True:
        if is_first:
            for k in range(length):
                x = values[place + k * step]
                product[cell + k] = x
                largest = max(largest, x)
        elif careful:
            for k in range(length):
                x = product[cell + k] * values[place + k * step]
                lost = lost or (
                    x < _TINY and product[cell + k] != 0 and values[place + k * step] != 0
                )
                product[cell + k] = x
                largest = max(largest, x)
        else:
            for k in range(length):
                x = product[cell + k] * values[place + k * step]
                product[cell + k] = x
                largest = max(largest, x)
        cell += length
        axis = d - 1
        while axis >= 0:
            at[axis] += 1
            place += steps[axis]
            if at[axis] < counts[axis]:
                break
            place -= steps[axis] * counts[axis]
            at[axis] = 0
            axis -= 1
        if axis < 0:
            return largest, lost


@njit
def _scale(numbers: Floats, cells: int, largest: float) -> int:
    """Divide the first numbers by a power of two near the largest; return its exponent."""
    _, exponent = math.frexp(largest)
    # Two steps, because the power itself may be out of range.
    half = exponent // 2
    first, second = 2.0**-half, 2.0 ** (half - exponent)
    for cell in range(cells):
        numbers[cell] = numbers[cell] * first * second
    return exponent
