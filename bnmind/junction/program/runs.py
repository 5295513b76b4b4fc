"""Runs of a program in logarithms, and over many cases at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bnmind.junction.program.program import (
    Expand,
    LookUp,
    Operation,
    PackedStep,
    Product,
    Program,
    Scatter,
    Sum,
    Underflow,
    grids,
    near_one,
)
from bnmind.junction.program.program_inputs import Answer
from bnmind.pgm.factor import Values

# --- Runs of programs on logarithms, which do not underflow ---------------------------------------
#
# With maxima instead of sums, a program finds the most probable configuration. With sums, a run on
# logarithms is ten times slower than on plain numbers and has fewer digits. But it gives the right
# weight to a state with five hundred findings for it and five hundred against it; plain numbers
# underflow, with or without scaling.
#
# ========  ==========================================
# ``add``   algorithm of the run
# ========  ==========================================
# maximum   max-product: the most probable explanation
# logaddexp sum-product: marginals
# ========  ==========================================

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


# --- Programs for many cases at once, with the cases as the last axis -----------------------------
#
# A program is *bound* to a number of cases. Binding allocates the memory of every register
# (registers that are never filled at the same time share memory), and converts each step to a few
# calls of NumPy on these arrays. Running the program for other cases then costs little more than
# the arithmetic. Results that do not depend on the cases are computed when the program is bound.

# --- The steps on functions for many cases at once: see `bnmind.junction.program.program` ---------
#
# Registers that depend on the case have the cases as a last axis.


def function_step(
    operation: LookUp | Scatter | Expand, left: Any, right: Any, moving: tuple[bool, bool]
) -> Callable[[], Any]:
    """Return a function that computes the result of a step for every case.

    Parameters
    ----------
    operation
        The step.
    left, right
        Its registers; at least one depends on the case.
    moving
        Whether each register depends on the case.
    """
    if isinstance(operation, LookUp):
        if not moving[0]:
            return lambda: operation.take(left, right, 0.0, trailing=1)
        return lambda: _looked_up(operation, left, right, moves=moving[1])
    if isinstance(operation, Scatter):
        if not moving[0]:
            return _scattered(operation, left, right)
        return lambda: _scattered_anew(operation, left, right, moves=moving[1])
    states = np.arange(operation.n).reshape(-1, *[1] * left.ndim)
    return lambda: (states == left).astype(np.float64)


def _looked_up(operation: LookUp, positions: Any, right: Any, *, moves: bool) -> Any:
    """Return the rows at positions that depend on the case."""
    n_shared = 1 + len(operation.shared)
    rows = right.transpose((*operation.axes, len(operation.axes)) if moves else operation.axes)
    if operation.partial:
        rows = np.concatenate([rows, np.zeros((1, *rows.shape[1:]))])
    index = [positions, *(g[..., None] for g in grids(positions.shape[:-1], operation.shared))]
    if moves:
        rows = np.moveaxis(rows, -1, n_shared)
        index.append(np.arange(positions.shape[-1]))
    return np.moveaxis(rows[tuple(index)], positions.ndim - 1, -1)


def _scattered(operation: Scatter, positions: Any, right: Any) -> Callable[[], Any]:
    """Return the step for positions that are the same in every case, and so sorted once."""
    places = operation.places(positions)
    order = np.argsort(places, kind="stable")
    destinations, starts = np.unique(places[order], return_index=True)

    def run() -> Any:
        n = right.shape[-1]
        rows = operation.rows(positions.shape, right, n)
        sums = np.zeros((operation.n_places, rows.shape[1]), dtype=rows.dtype)
        sums[destinations] = np.add.reduceat(rows[order], starts, axis=0)
        return sums[1:].reshape(*operation.shape, n)

    return run


def _scattered_anew(operation: Scatter, positions: Any, right: Any, *, moves: bool) -> Any:
    """Return the sums for positions that depend on the case."""
    n = positions.shape[-1]
    shape = positions.shape[:-1]
    columns = operation.view[-1]
    if moves:
        rows = operation.rows(shape, right, n).reshape(-1, columns, n)
    else:
        rows = operation.rows(shape, right)[..., None]
    places = operation.places(positions).reshape(-1, 1, n)
    index = (places * columns + np.arange(columns)[:, None]) * n + np.arange(n)
    rows = np.broadcast_to(rows, index.shape)
    length = operation.n_places * columns * n
    sums: Any = np.bincount(index.ravel(), np.real(rows).ravel(), length)
    if np.iscomplexobj(rows):
        sums = sums + 1j * np.bincount(index.ravel(), rows.imag.ravel(), length)
    return sums[columns * n :].reshape(*operation.shape, n)


# --- Programs for many cases at once, with the cases as the last axis -----------------------------

_Call: TypeAlias = Callable[[], Any]


class _BoundStep(NamedTuple):
    """The calls of a step, its register, and its operands."""

    calls: list[_Call]
    register: int
    operands: tuple[int, ...]


class CaseProgram:
    """A program bound to a number of cases.

    Parameters
    ----------
    program
        The program.
    inputs
        The initial registers. The ``moving`` ones have the cases as their last axis, and are
        filled anew before each run.
    moving
        For every register, whether it depends on the case.
    n
        The number of cases.
    """

    def __init__(
        self,
        program: Program,
        inputs: Sequence[Any],
        moving: Sequence[bool],
        n: int,
    ) -> None:
        self.n = n
        self._moving = moving
        self._free: dict[tuple[int, str], list[Any]] = {}
        self.registers = list(inputs)
        self._n_inputs = len(inputs)
        self._powers: list[int] = [0] * len(inputs)
        """The power of two of each register, without that of each case."""
        self._steps: list[_BoundStep] = []
        blocks: dict[int, Any] = {}
        with Underflow() as watch:
            for number, values in enumerate(inputs):
                if not moving[number]:
                    self.registers[number], self._powers[number] = near_one(values)
            for step, spent in zip(program.steps, program.spent, strict=True):
                register = len(self.registers)
                operation, left, right = step
                operands = (left,) if isinstance(operation, Sum) else (left, right)
                power = sum([self._powers[operand] for operand in operands])
                if not (moving[left] or moving[right]):
                    if isinstance(operation, Product):
                        # Earlier steps read this register in every run.
                        operation = replace(operation, overwrites=False)
                    values = operation(self.registers[left], self.registers[right])
                    values, more = near_one(values)
                    self.registers.append(values)
                    self._powers.append(power + more)
                    continue
                calls, values, blocks[register] = self._bind(operation, left, right)
                self.registers.append(values)
                self._powers.append(power)
                self._steps.append(_BoundStep(calls, register, operands))
                for old in spent:
                    self._give(blocks.pop(old, None))
        self._has_lost = watch.has_lost
        self._calls = [call for step in self._steps for call in step.calls]

    def run(self, *, scaled: bool = False) -> tuple[list[Any], bool]:
        """Fill the registers.

        Parameters
        ----------
        scaled
            Whether to scale the registers, also those that the cases fill.

        Returns
        -------
        powers, has_lost
            The power of two of each register, by case if it is scaled; and whether numbers have
            underflowed.
        """
        powers: list[Any] = list(self._powers)
        with Underflow() as watch:
            if not scaled:
                for call in self._calls:
                    call()
                return powers, watch.has_lost or self._has_lost
            for number, values in enumerate(self.registers[: self._n_inputs]):
                if self._moving[number] and values.dtype.kind not in "iu":
                    powers[number] = _scale(values)
            for calls, register, operands in self._steps:
                for call in calls:
                    call()
                power = sum([powers[operand] for operand in operands])
                powers[register] = power + _scale(self.registers[register])
        return powers, watch.has_lost or self._has_lost

    def _take(self, shape: Sequence[int], kind: Any) -> tuple[Any, Any]:
        """Return an array and its block of memory."""
        length = math.prod(shape)
        waiting = self._free.get((length, kind.char))
        block = waiting.pop() if waiting else np.empty(length, dtype=kind)
        return block.reshape(shape), block

    def _give(self, block: Any) -> None:
        """Release a block of memory for another array."""
        if block is not None:
            self._free.setdefault((len(block), block.dtype.char), []).append(block)

    def _bind(self, operation: Any, left: int, right: int) -> tuple[list[_Call], Any, Any]:
        """Return the calls of a step, its result, and the memory of the result."""
        first, second = self.registers[left], self.registers[right]
        moving = (self._moving[left], self._moving[right])
        if isinstance(operation, Product):
            return self._bind_product(operation, first, second, moving)
        if not isinstance(operation, Sum):
            step = function_step(operation, first, second, moving)
            result = step()
            values, block = self._take(result.shape, result.dtype)
            return [lambda: np.copyto(values, step())], values, block
        shape = [n for axis, n in enumerate(first.shape) if axis not in operation.axes]
        values, block = self._take(shape, first.dtype)
        return [partial(np.add.reduce, first, axis=operation.axes, out=values)], values, block

    def _bind_product(
        self, operation: Product, left: Any, right: Any, moving: tuple[bool, bool]
    ) -> tuple[list[_Call], Any, Any]:
        n = self.n
        result, block = self._take((*operation.shape, n), np.result_type(left, right))
        calls: list[_Call] = []
        lent: list[Any] = []
        cases = (n,) if moving[0] else ()
        order = (operation.left_axes, (*operation.left_shape, *cases))
        first = self._brought(left, order, calls, lent, moves=moving[0])
        shape = operation.right_shape
        if operation.sums and moving == (False, True):
            # One matrix product covers all columns of all cases.
            shape = (*shape[:-1], shape[-1] * n)
        elif moving[1]:
            shape = (*shape, n)
        order = (operation.right_axes, shape)
        second = self._brought(right, order, calls, lent, moves=moving[1])
        if not operation.sums:
            first = first if moving[0] else first[..., None]
            second = second if moving[1] else second[..., None]
            calls.append(partial(np.multiply, first, second, out=result))
        elif moving[0] and moving[1]:
            # (…, rows, summed, cases) and (…, summed, columns, cases)
            first, second = first[..., :, :, None, :], second[..., None, :, :, :]
            *outer, rows, summed = operation.left_shape
            whole = (*outer, rows, operation.right_shape[-1], n)
            product = result.reshape(whole)
            parts = [(first[..., :, k, :, :], second[..., :, k, :, :]) for k in range(summed)]
            calls.append(partial(np.multiply, *parts[0], out=product))
            if summed > 1:
                term, used = self._take(whole, result.dtype)
                lent.append(used)
                for part in parts[1:]:
                    calls.append(partial(np.multiply, *part, out=term))
                    calls.append(partial(np.add, product, term, out=product))
        elif moving[1]:
            whole = result.reshape((*shape[:-2], operation.left_shape[-2], shape[-1]))
            calls.append(partial(np.matmul, first, second, out=whole))
        else:
            # (…, 1, columns, summed) @ (…, rows, summed, cases)
            *outer, rows, _ = operation.left_shape
            turned = np.ascontiguousarray(np.swapaxes(second, -1, -2))[..., None, :, :]
            whole = result.reshape(*outer, rows, operation.right_shape[-1], n)
            calls.append(partial(np.matmul, turned, first, out=whole))
        for used in lent:
            self._give(used)
        return calls, result, block

    def _brought(
        self,
        values: Any,
        order: tuple[tuple[int, ...] | None, tuple[int, ...]],
        calls: list[_Call],
        lent: list[Any],
        *,
        moves: bool,
    ) -> Any:
        """Return a register with its axes in the order of an operation; a copy if they move."""
        axes, whole = order
        if axes is None:
            return values.reshape(whole)
        if not moves:
            return values.transpose(axes).reshape(whole)
        turned = values.transpose((*axes, values.ndim - 1))
        try:
            return np.reshape(turned, whole, copy=False)
        except ValueError:
            copy, block = self._take(turned.shape, values.dtype)
            lent.append(block)
            calls.append(partial(np.copyto, copy, turned))
            return copy.reshape(whole)


def _scale(values: Any) -> Any:
    """Bring the largest number of each case near one; return the powers of two taken out."""
    largest = np.abs(values).max(axis=tuple(range(values.ndim - 1)), initial=0.0)
    shift = np.frexp(largest)[1]
    # In two steps, because 2¹⁰²⁵ overflows.
    half = shift // 2
    values *= np.ldexp(1.0, -half)
    values *= np.ldexp(1.0, half - shift)
    return shift
