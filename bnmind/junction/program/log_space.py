"""Runs of programs on logarithms, which do not underflow.

With maxima instead of sums, a program finds the most probable configuration. With sums, a run on
logarithms is ten times slower than on plain numbers and has fewer digits. But it gives the right
weight to a state with five hundred findings for it and five hundred against it; plain numbers
underflow, with or without scaling.

========  ==========================================
``add``   algorithm of the run
========  ==========================================
maximum   max-product: the most probable explanation
logaddexp sum-product: marginals
========  ==========================================
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bnmind.junction.program.packed import PackedStep
from bnmind.junction.program.program import Expand, LookUp, Operation, Program, Scatter, Sum
from bnmind.junction.program.program_inputs import Answer
from bnmind.pgm.factor import Values

__all__ = ["joints_by_logarithms", "logarithms", "run_logarithms"]

_BLOCK = 2**15
"""The number of cells of products that are added at a time; they fit the cache."""


def logarithms(registers: Sequence[Values], n_tables: int) -> list[Values]:
    """Return the logarithms of the tables, which come first, and the unchanged positions."""
    with np.errstate(divide="ignore"):
        logs = [
            values if values.dtype.kind in "iu" else np.log(values)
            for values in registers[:n_tables]
        ]
    return logs + list(registers[n_tables:])


def run_logarithms(program: Program, logs: Sequence[Values], add: np.ufunc) -> list[Values]:
    """Return the registers of a run on logarithms.

    Parameters
    ----------
    program
        The program.
    logs
        The initial registers, see `logarithms`.
    add
        The operation in place of the sum: `numpy.maximum`, or `numpy.logaddexp` for the
        logarithm of the sum.
    """
    registers = list(logs)
    empty = np.empty(0)
    for (operation, left, right), spent in zip(program.steps, program.spent, strict=True):
        registers.append(_apply(operation, registers[left], registers[right], add))
        for register in spent:
            registers[register] = empty
    return registers


def joints_by_logarithms(
    program: Program, answers: Sequence[Answer], logs: Sequence[Values]
) -> tuple[list[Values], float]:
    """Return the normalized joint of each answer, and the logarithm of the sum of the first.

    The logarithm is minus infinity if a joint is zero everywhere.
    """
    filled = run_logarithms(program, logs, np.logaddexp)
    joints, totals = [], []
    for answer in answers:
        log_joint = np.zeros(answer.shape) if answer.register is None else answer.read(filled)
        total = float(np.logaddexp.reduce(log_joint.ravel()))
        joint = np.exp(log_joint - total) if total > -np.inf else np.zeros(answer.shape)
        joints.append(joint / max(float(joint.sum()), 0.5))
        totals.append(total)
    return joints, totals[0] if min(totals) > -np.inf else -math.inf


def _apply(operation: Operation, left: Values, right: Values, add: np.ufunc) -> Values:
    if isinstance(operation, Sum):
        total: Any = left
        for axis in sorted(operation.axes, reverse=True):
            total = add.reduce(total, axis=axis)
        summed: Values = total
        return summed
    if isinstance(operation, LookUp):
        return operation.take(left, right, -np.inf)
    if isinstance(operation, Scatter):
        return operation.reduced(left, right, add, -np.inf)
    if isinstance(operation, Expand):
        with np.errstate(divide="ignore"):
            return np.log(operation(left, right))
    if isinstance(operation, PackedStep):
        return operation.of_logarithms(left, right, add)
    if operation.left_axes is not None:
        left = left.transpose(operation.left_axes)
    left = left.reshape(operation.left_shape)
    if operation.right_axes is not None:
        right = right.transpose(operation.right_axes)
    right = right.reshape(operation.right_shape)
    if not operation.sums:
        return left + right
    # Batch, rows, summed, columns: a few of the summed at a time.
    left, right = left[..., :, :, None], right[..., None, :, :]
    n_summed = left.shape[-2]
    block = max(1, _BLOCK // math.prod(operation.shape))
    best = add.reduce(left[..., :block, :] + right[..., :block, :], axis=-2)
    for start in range(block, n_summed, block):
        part = (..., slice(start, start + block), slice(None))
        add(best, add.reduce(left[part] + right[part], axis=-2), out=best)
    product: Values = best.reshape(operation.shape)
    return product
