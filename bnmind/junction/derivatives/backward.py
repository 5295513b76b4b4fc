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

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from bnmind._values import Sealed, latest, made, sealed
from bnmind.information import Floats
from bnmind.junction.derivatives.reverse_steps import Matrices, ReverseStep, reverse_steps
from bnmind.junction.program.program import Operation, Product, Program, Step, Sum, near_one

_EMPTY = np.empty(0)

__all__ = ["Record", "RegisterProgram", "adjoints", "register_program"]


@dataclass(frozen=True, eq=False)
class RegisterProgram(Sealed):
    """A program none of whose steps overwrites a register."""

    steps: tuple[Step, ...]
    """The steps, all products and sums."""
    shapes: tuple[tuple[int, ...], ...]
    """The shape of each register."""
    spent: tuple[tuple[int, ...], ...]
    """For each step, the registers that neither a later step nor the backward pass needs, so that
    later ones take their memory while it is in the cache."""

    def run(self, inputs: Sequence[Floats], *, scaled: bool) -> Record:
        """Return all registers of a run.

        Parameters
        ----------
        inputs
            The first registers.
        scaled
            Whether to divide registers by powers of two, so that their largest entries are near
            one.
        """
        registers: list[Any] = list(inputs)
        matrices: list[Matrices | None] = []
        shifts: list[int] = []
        with np.errstate(under="ignore", over="ignore"):
            if scaled:
                for number, table in enumerate(registers):
                    registers[number], shift = near_one(table)
                    shifts.append(shift)
            for (operation, left, right), spent in zip(self.steps, self.spent, strict=True):
                pair, values = None, registers[left]
                if isinstance(operation, Product) and operation.sums:
                    pair = (
                        _view(values, operation.left_axes, operation.left_shape),
                        _view(registers[right], operation.right_axes, operation.right_shape),
                    )
                    for register in spent:
                        registers[register] = values = _EMPTY
                    values = np.matmul(*pair).reshape(operation.shape)
                else:
                    values = operation(values, registers[right])
                if scaled:
                    values, shift = near_one(values)
                    shifts.append(shift)
                registers.append(values)
                matrices.append(pair)
        return made(
            Record,
            program=self,
            registers=tuple(registers),
            matrices=tuple(matrices),
            shifts=tuple(shifts),
        )

    def reverse(self, end: int, wanted: Collection[int]) -> tuple[ReverseStep, ...]:
        """Return the steps of the backward pass; see `reverse_steps`."""
        key = end, tuple(wanted)
        make = partial(reverse_steps, self.steps, self.shapes, end, wanted)
        return latest(self, "_reverse", key, make)


@dataclass(frozen=True, eq=False)
class Record(Sealed):
    """The registers of a run that are needed; each is a multiple of a power of two."""

    program: RegisterProgram
    registers: tuple[Floats, ...]
    matrices: tuple[Matrices | None, ...]
    """For each matrix product, its operands as matrices; None for other steps. The backward pass
    would otherwise bring the same registers into the same order once more."""
    shifts: tuple[int, ...]
    """The exponents by which each register was divided when it was filled; empty if by none."""

    def register(self, number: int) -> Floats:
        """Return a register."""
        return self.registers[number]

    def adjoints(
        self, end: int, seed: Floats, wanted: Collection[int]
    ) -> tuple[dict[int, Floats], list[Floats]]:
        """Return the derivatives of a number by input registers, and arrays that bound all of them.

        If the arrays are finite, so are the derivatives. All are read-only. The parameters are
        those of `adjoints`.
        """
        found, bounds = adjoints(self, end, seed, wanted)
        found = {i: sealed(part) for i, part in found.items()}
        return found, [bounds.get(i, part) for i, part in found.items()]

    def exponent(self, end: int) -> int:
        """Return the exponent of two by which a register was divided in all."""
        steps = self.program.steps
        n_inputs = len(self.registers) - len(steps)
        powers = list(self.shifts[:n_inputs])
        for (_, left, right), shift in zip(steps, self.shifts[n_inputs:], strict=True):
            powers.append(shift + powers[left] + (powers[right] if right != left else 0))
        return powers[end]


def register_program(program: Program) -> RegisterProgram:
    """Return a program so that no step overwrites a register.

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
    shapes = [tuple([program.sizes[v] for v in scope]) for scope in program.scopes]
    uses = Counter([register for step in steps for register in {step.left, step.right}])
    spent = []
    for operation, left, right in steps:
        gone = []
        if isinstance(operation, Product) and operation.sums:
            # Its matrices are copies of these registers.
            copied = ((left, operation.left_axes), (right, operation.right_axes))
            gone = [r for r, axes in copied if r >= program.n_inputs and axes and uses[r] == 1]
        spent.append(tuple(gone))
    return made(RegisterProgram, steps=tuple(steps), shapes=tuple(shapes), spent=tuple(spent))


def adjoints(
    record: Record, end: int, seed: Floats, wanted: Collection[int]
) -> tuple[dict[int, Floats], dict[int, Floats]]:
    """Return the derivatives of a number by the entries of input registers, and some bounds.

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
    found
        For each of ``wanted`` on which the number depends, the derivatives by its entries.
    bounds
        Upper bounds of those derivatives that are many and have quick ones.
    """
    registers, shifts, matrices = record.registers, record.shifts, record.matrices
    n_inputs = len(registers) - len(matrices)
    known: dict[int, Any] = {end: seed}
    bounds: dict[int, Floats] = {}
    owned: set[int] = set()

    def add(register: int, values: Floats, *, fresh: bool) -> None:
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
        for step in record.program.reverse(end, wanted):
            number = step.number
            values = known.pop(number)
            if shifts and shifts[number]:
                values = np.ldexp(values, -shifts[number])
            operands = matrices[number - n_inputs]
            left, right = step.adjoints(values, registers, operands)
            if left is not None:
                if step.bounds_left and (bound := step.bound(values, operands)) is not None:
                    bounds[step.left] = bound
                add(step.left, left, fresh=left.flags.writeable)
            if right is not None:
                add(step.right, right, fresh=True)
        found = {register: known[register] for register in wanted if register in known}
        if shifts:
            found = {r: np.ldexp(values, -shifts[r]) for r, values in found.items()}
            bounds.clear()
    return found, bounds


def _view(values: Floats, axes: tuple[int, ...] | None, shape: tuple[int, ...]) -> Floats:
    """Return an operand in the arrangement of its product."""
    if axes is not None:
        values = values.transpose(axes)
    return values.reshape(shape)
