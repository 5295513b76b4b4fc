"""Forward runs that keep every register, and the backward pass through their steps.

A run of a program computes a number F from its inputs. The *adjoint* of a register is the
derivative of F by its entries. The adjoint of the last register is given; the pass visits the steps
in reverse and adds to the adjoints of their operands. A step C = A B gives Ā = C̄ Bᵀ and B̄ = Aᵀ C̄,
so that a pass costs about two runs. Nothing is divided, so that entries of zero have their
derivatives too.

References
----------
A. Darwiche, "A differential approach to inference in Bayesian networks", J. ACM 50, 2003;
J. Park and A. Darwiche, "A differential semantics for jointree algorithms", Artificial Intelligence
156, 2004; A. Griewank and A. Walther, *Evaluating Derivatives*, 2008, chapter 3.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from bnmind._values import Sealed, made, sealed
from bnmind.information import Floats
from bnmind.junction.program.program import Operation, Product, Program, Step, Sum, near_one

__all__ = ["Record", "adjoints", "recorded", "with_all_registers"]


@dataclass(frozen=True, eq=False)
class Record(Sealed):
    """The registers of a run; each is a multiple of a power of two."""

    steps: tuple[Step, ...]
    registers: tuple[Floats, ...]
    shifts: tuple[int, ...]
    """The exponents by which each register was divided when it was filled; empty if by none."""
    operands: tuple[tuple[Floats, Floats] | None, ...]
    """For each matrix product, its operands as matrices; None for other steps. The backward pass
    would otherwise bring the same registers into the same order once more."""

    def register(self, number: int) -> Floats:
        """Return a register."""
        return self.registers[number]

    def adjoints(
        self, end: int, seed: Floats, wanted: Collection[int]
    ) -> tuple[dict[int, Floats], list[Floats]]:
        """Return the derivatives of a number by input registers, and arrays that hold all of them.

        All are read-only. The parameters are those of `adjoints`.
        """
        found = {i: sealed(part) for i, part in adjoints(self, end, seed, wanted).items()}
        return found, list(found.values())

    def exponent(self, end: int) -> int:
        """Return the exponent of two by which a register was divided in all."""
        n_inputs = len(self.registers) - len(self.steps)
        powers = list(self.shifts[:n_inputs])
        for (_, left, right), shift in zip(self.steps, self.shifts[n_inputs:], strict=True):
            powers.append(shift + powers[left] + (powers[right] if right != left else 0))
        return powers[end]


def with_all_registers(program: Program) -> tuple[Step, ...]:
    """Return the steps of a program so that none overwrites a register.

    All steps must be products and sums.
    """
    plain: dict[int, Operation] = {}
    steps = []
    for operation, left, right in program.steps:
        assert isinstance(operation, Product | Sum)  # the caller expands functions
        if isinstance(operation, Product) and operation.overwrites:
            if id(operation) not in plain:
                plain[id(operation)] = made(Product, **{**vars(operation), "overwrites": False})
            operation = plain[id(operation)]
        steps.append(Step(operation, left, right))
    return tuple(steps)


def recorded(steps: tuple[Step, ...], inputs: Sequence[Floats], *, scaled: bool) -> Record:
    """Return all registers of a run.

    Parameters
    ----------
    steps
        The steps, from `with_all_registers`.
    inputs
        The first registers.
    scaled
        Whether to divide registers by powers of two, so that their largest entries are near one.
    """
    registers: list[Any] = list(inputs)
    operands: list[tuple[Floats, Floats] | None] = []

    def result(operation: Operation, left: Floats, right: Floats) -> Any:
        if not isinstance(operation, Product) or not operation.sums:
            operands.append(None)
            return operation(left, right)
        first = _view(left, operation.left_axes, operation.left_shape)
        second = _view(right, operation.right_axes, operation.right_shape)
        operands.append((first, second))
        return np.matmul(first, second).reshape(operation.shape)

    shifts: list[int] = []
    with np.errstate(under="ignore", over="ignore"):
        if scaled:
            for number, table in enumerate(registers):
                registers[number], shift = near_one(table)
                shifts.append(shift)
        for operation, left, right in steps:
            values = result(operation, registers[left], registers[right])
            if scaled:
                values, shift = near_one(values)
                shifts.append(shift)
            registers.append(values)
    return made(
        Record,
        steps=steps,
        registers=tuple(registers),
        shifts=tuple(shifts),
        operands=tuple(operands),
    )


def adjoints(record: Record, end: int, seed: Floats, wanted: Collection[int]) -> dict[int, Floats]:
    """Return the derivatives of a number by the entries of input registers.

    Parameters
    ----------
    record
        The registers of a run.
    end
        The register that the number depends on.
    seed
        The derivatives of the number by the entries of that register, as it is recorded.
    wanted
        The input registers.

    Returns
    -------
    dict
        For each of ``wanted`` on which the number depends, the derivatives by its entries.
    """
    steps, registers, shifts = record.steps, record.registers, record.shifts
    n_inputs = len(registers) - len(steps)
    leads = [False] * len(registers)
    for register in wanted:
        leads[register] = True
    for number, (_, left, right) in enumerate(steps, n_inputs):
        leads[number] = leads[left] or leads[right]
    known: dict[int, Any] = {end: seed}
    owned: set[int] = set()

    def add(register: int, values: Any, *, fresh: bool) -> None:
        before = known.get(register)
        if before is None:
            known[register] = values
            if fresh:
                owned.add(register)
        elif register in owned:
            before += values
        else:
            known[register] = before + values
            owned.add(register)

    with np.errstate(under="ignore", over="ignore", invalid="ignore"):
        for number in range(len(registers) - 1, n_inputs - 1, -1):
            values = known.pop(number, None)
            if values is None or not leads[number]:
                continue
            operation, left, right = steps[number - n_inputs]
            if shifts and shifts[number]:
                values = np.ldexp(values, -shifts[number])
            if isinstance(operation, Sum):
                add(left, _spread(operation, registers[left].shape, values), fresh=False)
                continue
            assert isinstance(operation, Product)
            first, second = registers[left], registers[right]
            matrices = record.operands[number - n_inputs]
            # Both adjoints take these values, which may be a transposed view.
            values = np.ascontiguousarray(values)
            if matrices is None:
                if leads[left]:
                    add(left, _of_left(operation, first, second, values), fresh=True)
                if leads[right]:
                    add(right, _of_right(operation, first, second, values), fresh=True)
                continue
            rows, columns = matrices
            values = values.reshape(*rows.shape[:-1], columns.shape[-1])
            if leads[left]:
                # NumPy is slow at matrix products that add nothing.
                alone = columns.shape[-1] == 1
                other = columns.swapaxes(-1, -2)
                adjoint = values * other if alone else values @ other
                add(left, _returned(adjoint, first, operation.left_axes), fresh=True)
            if leads[right]:
                adjoint = rows.swapaxes(-1, -2) @ values
                add(right, _returned(adjoint, second, operation.right_axes), fresh=True)
        found = {register: known[register] for register in wanted if register in known}
        if shifts:
            found = {r: np.ldexp(values, -shifts[r]) for r, values in found.items()}
    return found


def _spread(operation: Sum, shape: tuple[int, ...], values: Floats) -> Floats:
    """Return the adjoint of the operand of a sum."""
    ones = [1 if axis in operation.axes else size for axis, size in enumerate(shape)]
    return np.broadcast_to(values.reshape(ones), shape)


def _of_left(operation: Product, left: Floats, right: Floats, values: Floats) -> Floats:
    """Return the adjoint of the left operand of a product without sums."""
    other = _view(right, operation.right_axes, operation.right_shape)
    adjoint = _summed_product(values, other, operation.left_shape)
    return _returned(adjoint, left, operation.left_axes)


def _of_right(operation: Product, left: Floats, right: Floats, values: Floats) -> Floats:
    """Return the adjoint of the right operand of a product without sums."""
    other = _view(left, operation.left_axes, operation.left_shape)
    adjoint = _summed_product(values, other, operation.right_shape)
    return _returned(adjoint, right, operation.right_axes)


def _view(values: Floats, axes: tuple[int, ...] | None, shape: tuple[int, ...]) -> Floats:
    """Return an operand in the arrangement of its product."""
    if axes is not None:
        values = values.transpose(axes)
    return values.reshape(shape)


def _summed_product(values: Floats, other: Floats, shape: tuple[int, ...]) -> Floats:
    """Return ``values * other`` summed over the axes of length one of ``shape``."""
    kept = [axis for axis, size in enumerate(shape) if size == values.shape[axis]]
    if len(kept) == values.ndim:
        product: Floats = values * other
        return product
    # Axes of length one do not take part.
    present = [axis for axis, size in enumerate(other.shape) if size > 1]
    squeezed = other.reshape([other.shape[axis] for axis in present])
    every: Any = range(values.ndim)
    total: Any = np.einsum(values, every, squeezed, present, kept)  # type: ignore[arg-type]
    summed: Floats = total.reshape(shape)
    return summed


def _returned(adjoint: Floats, operand: Floats, axes: tuple[int, ...] | None) -> Floats:
    """Return an adjoint in the arrangement of the operand."""
    if axes is None:
        return adjoint.reshape(operand.shape)
    shape = operand.shape
    return adjoint.reshape([shape[a] for a in axes]).transpose(_inverse(axes))


@lru_cache(maxsize=4096)
def _inverse(axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the order of axes that undoes another one."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))
