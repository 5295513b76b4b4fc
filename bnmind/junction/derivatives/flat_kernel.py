"""Forward and backward runs of a program in one array, compiled.

Programs of many small steps spend their time between the steps. Here a step is a loop over the
variables of its operands: with L, R and C the operands and the result, it adds L[l] R[r] to C[c],
and backward C̄[c] R[r] to L̄[l] and C̄[c] L[l] to R̄[r]. See `bnmind.junction.derivatives.backward`
for the twin in NumPy, which is faster for large steps.
"""

from __future__ import annotations

from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats

__all__ = ["AXIS", "STEP", "run_backward", "run_forward"]

Ints: TypeAlias = NDArray[np.int64]

STEP = 6
"""The columns of the steps: the first cells of the left operand, of the right operand and of the
result; the cells of the result; the first axis, and the number of axes."""

AXIS = 4
"""The columns of the axes: the size, and the strides in both operands and in the result."""


@njit
def run_forward(steps: Ints, axes: Ints, values: Floats) -> None:
    """Fill the results of all steps.

    Parameters
    ----------
    steps, axes
        ``(steps, STEP)`` and ``(axes, AXIS)``; the last axis of a step is its inner loop.
    values
        ``(cells,)`` all registers; the inputs are filled.
    """
    counters = np.zeros(64, dtype=np.int64)
    for s in range(steps.shape[0]):
        left, right, out = steps[s, 0], steps[s, 1], steps[s, 2]
        first, n = steps[s, 4], steps[s, 5]
        for cell in range(out, out + steps[s, 3]):
            values[cell] = 0.0
        inner = first + n - 1
        size, on_left, on_right, on_out = (
            axes[inner, 0],
            axes[inner, 1],
            axes[inner, 2],
            axes[inner, 3],
        )
        total = 1
        for i in range(n - 1):
            counters[i] = 0
            total *= axes[first + i, 0]
        for _ in range(total):
            if on_out == 0:
                added = 0.0
                for j in range(size):
                    added += values[left + j * on_left] * values[right + j * on_right]
                values[out] += added
            else:
                for j in range(size):
                    values[out + j * on_out] += (
                        values[left + j * on_left] * values[right + j * on_right]
                    )
            i = n - 2
            while i >= 0:
                row = first + i
                counters[i] += 1
                left += axes[row, 1]
                right += axes[row, 2]
                out += axes[row, 3]
                if counters[i] < axes[row, 0]:
                    break
                counters[i] = 0
                left -= axes[row, 1] * axes[row, 0]
                right -= axes[row, 2] * axes[row, 0]
                out -= axes[row, 3] * axes[row, 0]
                i -= 1


@njit
def run_backward(steps: Ints, axes: Ints, values: Floats, adjoints: Floats) -> None:
    """Add to the adjoints of the operands of all steps, in reverse.

    Parameters
    ----------
    steps, axes, values
        As after `run_forward`.
    adjoints
        ``(cells,)`` the adjoints of all registers: those of the last one, and zeros.
    """
    counters = np.zeros(64, dtype=np.int64)
    for s in range(steps.shape[0] - 1, -1, -1):
        left, right, out = steps[s, 0], steps[s, 1], steps[s, 2]
        first, n = steps[s, 4], steps[s, 5]
        inner = first + n - 1
        size, on_left, on_right, on_out = (
            axes[inner, 0],
            axes[inner, 1],
            axes[inner, 2],
            axes[inner, 3],
        )
        total = 1
        for i in range(n - 1):
            counters[i] = 0
            total *= axes[first + i, 0]
        for _ in range(total):
            for j in range(size):
                adjoint = adjoints[out + j * on_out]
                on_l, on_r = left + j * on_left, right + j * on_right
                adjoints[on_l] += adjoint * values[on_r]
                adjoints[on_r] += adjoint * values[on_l]
            i = n - 2
            while i >= 0:
                row = first + i
                counters[i] += 1
                left += axes[row, 1]
                right += axes[row, 2]
                out += axes[row, 3]
                if counters[i] < axes[row, 0]:
                    break
                counters[i] = 0
                left -= axes[row, 1] * axes[row, 0]
                right -= axes[row, 2] * axes[row, 0]
                out -= axes[row, 3] * axes[row, 0]
                i -= 1
