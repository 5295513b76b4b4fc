"""A program run for many cases at once: the steps, with the cases as a last axis.

Registers are as large as the cache, so that fresh memory for each would cost more than
the arithmetic. They are taken from a workspace and given back when they are spent.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from bnmind.junction.program import LookUp, Product, Program, Sum

__all__ = ["Workspace", "run_cases"]


class Workspace:
    """Blocks of memory for registers, by their length and kind of number."""

    def __init__(self) -> None:
        self._free: dict[tuple[int, str], list[Any]] = {}
        self._lent: dict[int, Any] = {}

    def take(self, shape: Sequence[int], kind: Any) -> Any:
        """Return an array of a shape, its content arbitrary."""
        length = math.prod(shape)
        waiting = self._free.get((length, kind.char))
        block = waiting.pop() if waiting else np.empty(length, dtype=kind)
        array = block.reshape(shape)
        self._lent[id(array)] = (array, block)
        return array

    def give(self, array: Any) -> None:
        """Take an array back, if it was taken from here."""
        _, block = self._lent.pop(id(array), (None, None))
        if block is not None:
            self._free.setdefault((len(block), block.dtype.char), []).append(block)


def run_cases(
    program: Program,
    inputs: Sequence[Any],
    moving: Sequence[bool],
    space: Workspace,
    *,
    scaled: bool,
) -> tuple[list[Any], list[Any]]:
    """Return the registers after the last step, and the powers of two that they are multiples of.

    Registers that are ``moving`` have the cases as a last axis. Those that are left filled
    are to be given back to the workspace.
    """
    registers = list(inputs)
    powers: list[Any] = [0] * len(registers) if scaled else []
    empty = np.empty(0)
    for (operation, left, right), spent in zip(program.steps, program.spent, strict=True):
        first, second = registers[left], registers[right]
        moves = moving[left] or moving[right]
        if not moves:
            values = operation(first, second)
        elif isinstance(operation, Sum):
            shape = [n for axis, n in enumerate(first.shape) if axis not in operation.axes]
            values = space.take(shape, first.dtype)
            np.add.reduce(first, axis=operation.axes, out=values)
        elif isinstance(operation, LookUp):
            values = _look_up(operation, first, second, (moving[left], moving[right]))
        else:
            values = _product(operation, first, second, (moving[left], moving[right]), space)
        registers.append(values)
        if scaled:
            power = powers[left] + (0 if isinstance(operation, Sum) else powers[right])
            around = tuple(range(values.ndim - 1)) if moves else None
            largest = np.abs(values).max(axis=around, initial=0.0)
            shift = np.frexp(largest)[1]
            if moves:
                values *= np.ldexp(1.0, -shift)
            else:
                registers[-1] = values * np.ldexp(1.0, -shift)
            powers.append(power + shift)
        for register in spent:
            space.give(registers[register])
            registers[register] = empty
    return registers, powers


def _product(
    operation: Product, left: Any, right: Any, moving: tuple[bool, bool], space: Workspace
) -> Any:
    n = (left if moving[0] else right).shape[-1]
    result = space.take((*operation.shape, n), np.result_type(left, right))
    first, one = _brought(left, operation.left_axes, operation.left_shape, moving[0], space)
    second, two = _brought(right, operation.right_axes, operation.right_shape, moving[1], space)
    if not operation.sums:
        if not moving[0]:
            first = first[..., None]
        if not moving[1]:
            second = second[..., None]
        np.multiply(first, second, out=result)
    elif moving[0] and moving[1]:
        # (…, rows, summed, cases) and (…, summed, columns, cases)
        first, second = first[..., :, :, None, :], second[..., None, :, :, :]
        *outer, rows, summed = operation.left_shape
        shape = (*outer, rows, operation.right_shape[-1], n)
        product = result.reshape(shape)
        np.multiply(first[..., :, 0, :, :], second[..., :, 0, :, :], out=product)
        term = space.take(shape, result.dtype)
        for k in range(1, summed):
            np.multiply(first[..., :, k, :, :], second[..., :, k, :, :], out=term)
            np.add(product, term, out=product)
        space.give(term)
    elif moving[1]:
        *outer, summed, columns = operation.right_shape
        rows = operation.left_shape[-2]
        np.matmul(
            first,
            second.reshape(*outer, summed, columns * n),
            out=result.reshape(*outer, rows, columns * n),
        )
    else:
        # (…, 1, columns, summed) @ (…, rows, summed, cases)
        *outer, rows, _ = operation.left_shape
        np.matmul(
            np.swapaxes(second, -1, -2)[..., None, :, :],
            first,
            out=result.reshape(*outer, rows, operation.right_shape[-1], n),
        )
    space.give(one)
    space.give(two)
    return result


def _look_up(operation: LookUp, positions: Any, rows: Any, moving: tuple[bool, bool]) -> Any:
    ordered = rows.transpose((*operation.axes, rows.ndim - 1) if moving[1] else operation.axes)
    if not moving[0]:
        return ordered.take(positions, axis=0)
    n = positions.shape[-1]
    found = (
        np.moveaxis(ordered, -1, 1)[positions, np.arange(n)] if moving[1] else ordered[positions]
    )
    return np.ascontiguousarray(np.moveaxis(found, positions.ndim - 1, -1))


def _brought(
    values: Any,
    axes: tuple[int, ...] | None,
    shape: tuple[int, ...],
    moves: bool,
    space: Workspace,
) -> tuple[Any, Any]:
    """Return a register as an operation wants its axes, and the copy to be given back, if any."""
    whole = (*shape, values.shape[-1]) if moves else shape
    if axes is None:
        return values.reshape(whole), None
    if not moves:
        return values.transpose(axes).reshape(whole), None
    turned = values.transpose((*axes, values.ndim - 1))
    try:
        return np.reshape(turned, whole, copy=False), None
    except ValueError:
        pass
    copy = space.take(turned.shape, values.dtype)
    np.copyto(copy, turned)
    return copy.reshape(whole), copy
