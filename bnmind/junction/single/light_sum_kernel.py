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
    n_eliminated = steps.cells.size - 1
    width = steps.order.size + 1
    sizes = np.empty(width, np.int64)
    strides = np.empty(width, np.int64)
    axes = np.empty(width, np.int64)
    room = np.empty((3, width), np.int64)
    product = work.product
    exponent = 0
    lost = False
    for place in range(n_eliminated + 1):
        d = _shape(net, steps, place, sizes, axes)
        cells = int(steps.cells[place])
        first, last = steps.bucket_starts[place], steps.bucket_starts[place + 1]
        if first == last:
            for cell in range(cells):
                product[cell] = 1.0
        for i in range(first, last):
            factor = steps.buckets[i]
            start = _locate(net, case, steps, factor, axes, strides[:d])
            values = net.tables if factor < net.n_states.size else work.read
            largest, has_lost = _multiply(
                product, values, start, sizes[:d], strides[:d], room, (i == first, careful)
            )
            lost = lost or has_lost
            if largest > 0 and not _SMALL < largest < _LARGE:
                exponent += _scale(product, cells, largest)
        if place < n_eliminated:
            size = sizes[d - 1]
            out = steps.message_starts[place]
            cell = 0
            for k in range(cells // size):
                total = 0.0
                for _ in range(size):
                    total += product[cell]
                    cell += 1
                work.messages[out + k] = total
    total = 0.0
    for cell in range(int(steps.cells[n_eliminated])):
        total += product[cell]
    return total, exponent, lost


@njit
def _shape(net: LightArrays, steps: Steps, place: int, sizes: Ints, axes: Ints) -> int:
    """Write the axes of the clique of a place: their sizes, and the axis of each place.

    Returns the number of axes.
    """
    n_eliminated = steps.cells.size - 1
    d = 0
    if place < n_eliminated:
        for i in range(steps.scope_starts[place], steps.scope_starts[place + 1]):
            axes[steps.scopes[i]] = d
            sizes[d] = net.n_states[steps.order[steps.scopes[i]]]
            d += 1
        axes[place] = d
        sizes[d] = net.n_states[steps.order[place]]
        return d + 1
    for target in range(n_eliminated, steps.order.size):
        axes[target] = d
        sizes[d] = net.n_states[steps.order[target]]
        d += 1
    return d


@njit
def _locate(
    net: LightArrays, case: Case, steps: Steps, factor: int, axes: Ints, strides: Ints
) -> int:
    """Write the strides of a factor along the axes of a clique; return its first cell."""
    n = net.n_states.size
    for axis in range(strides.size):
        strides[axis] = 0
    stride = 1
    if factor >= 2 * n:
        place = factor - 2 * n
        for i in range(steps.scope_starts[place + 1] - 1, steps.scope_starts[place] - 1, -1):
            other = steps.scopes[i]
            strides[axes[other]] = stride
            stride *= net.n_states[steps.order[other]]
        return int(steps.message_starts[place])
    if factor >= n:
        strides[axes[steps.places[factor - n]]] = 1
        return int(case.soft[factor - n])
    start = net.table_starts[factor]
    first = net.starts[factor]
    for i in range(net.starts[factor + 1] - 1, first - 2, -1):
        v = factor if i < first else net.parents[i]
        if case.states[v] >= 0:
            start += stride * case.states[v]
        else:
            strides[axes[steps.places[v]]] = stride
        stride *= net.n_states[v]
    return int(start)


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
