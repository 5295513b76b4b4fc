"""Programs with their reverse, and their products in compiled code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bnmind._values import Sealed, latest, made, sealed
from bnmind.information import Floats
from bnmind.junction.program.program import Operation, Product, Program, Step, Sum, near_one

# --- Forward runs that keep every register, and the backward pass through their steps -------------
#
# A run of a program computes a number F from its inputs. The *adjoint* of a register is the
# derivative of F by its entries. The adjoint of the last register is given; the pass visits the
# steps in reverse and adds to the adjoints of their operands. A step C = A B gives Ā = C̄ Bᵀ and B̄
# = Aᵀ C̄, so that a pass costs about two runs. Nothing is divided, so that entries of zero have
# their derivatives too.
#
# References
# ----------
# A. Darwiche, "A differential approach to inference in Bayesian networks", J. ACM 50, 2003; J. Park
# and A. Darwiche, "A differential semantics for jointree algorithms", Artificial Intelligence 156,
# 2004; A. Griewank and A. Walther, *Evaluating Derivatives*, 2008, chapter 3.

# --- The steps of a backward pass, prepared once for all runs of a program ------------------------
#
# Each step of the program gets a step in reverse, with the shapes and orders of axes that the
# adjoints of its operands need. Steps that no wanted input leads to are left out. With C̄ the
# adjoint of the result, see `bnmind.junction.derivatives.backward`:
#
# ============  ==========================================
# step          adjoints of the operands
# ============  ==========================================
# C = A B       Ā = C̄ Bᵀ and B̄ = Aᵀ C̄, as matrices
# C = A ∘ B     Ā = Σ C̄ ∘ B and B̄ = Σ C̄ ∘ A
# C = Σ A       Ā = C̄, repeated
# ============  ==========================================

Matrices: TypeAlias = tuple[Floats, Floats]
"""The operands of a matrix product, in its arrangement."""

Shape: TypeAlias = tuple[int, ...]

_LARGE, _FEWER = 2**14, 8
"""The fewest cells of an adjoint that is bounded, and how many times fewer its factors have."""


class _Back(NamedTuple):
    """The way from an arrangement of a register to its own."""

    shape: Shape
    """The shape before the axes are exchanged."""
    axes: Shape | None

    def __call__(self, adjoint: Floats) -> Floats:
        adjoint = adjoint.reshape(self.shape)
        return adjoint if self.axes is None else adjoint.transpose(self.axes)


@dataclass(frozen=True, kw_only=True)
class ReverseStep:
    """A step of a backward pass."""

    number: int
    """The register of the result."""
    left: int
    right: int
    to_left: bool
    """Whether the left register leads to a wanted input."""
    to_right: bool
    bounds_left: bool
    """Whether the left register is an input that no other step takes, and may have a bound."""

    def adjoints(
        self, values: Floats, registers: Sequence[Floats], matrices: Matrices | None
    ) -> tuple[Floats | None, Floats | None]:
        """Return the adjoints of both operands, where they are needed.

        Parameters
        ----------
        values
            The adjoint of the result.
        registers
            All registers.
        matrices
            The operands of a matrix product.
        """
        raise NotImplementedError

    def bound(self, values: Floats, matrices: Matrices | None) -> Floats | None:
        """Return an upper bound of the left adjoint; None if a look at all its cells is as quick.

        If the bound is finite, so are all sums of the adjoint.
        """
        return None


@dataclass(frozen=True, kw_only=True)
class _SumBack(ReverseStep):
    ones: Shape
    """The shape of the operand, with one for the axes that are summed out."""
    shape: Shape

    def adjoints(
        self, values: Floats, registers: Sequence[Floats], matrices: Matrices | None
    ) -> tuple[Floats | None, Floats | None]:
        return np.broadcast_to(values.reshape(self.ones), self.shape), None


@dataclass(frozen=True, kw_only=True)
class _MatrixBack(ReverseStep):
    shape: Shape
    """The shape of the result as matrices."""
    left_back: _Back
    right_back: _Back

    def adjoints(
        self, values: Floats, registers: Sequence[Floats], matrices: Matrices | None
    ) -> tuple[Floats | None, Floats | None]:
        assert matrices is not None  # of a matrix product
        # Both products take these values, which may be a transposed view.
        values = np.ascontiguousarray(values).reshape(self.shape)
        left = right = None
        if self.to_left:
            other = matrices[1].swapaxes(-1, -2)
            # NumPy is slow at matrix products that add nothing.
            left = self.left_back(values * other if self.shape[-1] == 1 else values @ other)
        if self.to_right:
            right = self.right_back(matrices[0].swapaxes(-1, -2) @ values)
        return left, right

    def bound(self, values: Floats, matrices: Matrices | None) -> Floats | None:
        columns = self.shape[-1]
        assert matrices is not None  # of a matrix product
        other = matrices[1]
        cells = values.size // columns * other.shape[-2]
        if cells < _LARGE or cells < _FEWER * (values.size + other.size):
            return None
        most: Floats = np.abs(values).max() * np.abs(other).max() * np.float64(columns)
        return most


class _SummedProduct(NamedTuple):
    """The product of an adjoint and an operand, summed over the axes that the other one lacks."""

    axes: Shape | None
    """The order of the operand's axes in the product."""
    shape: Shape
    """The shape of the operand there."""
    every: Shape
    present: Shape
    """Its axes longer than one."""
    squeezed: Shape
    """Their lengths."""
    kept: Shape
    """The axes of the adjoint that is returned."""
    back: _Back

    def __call__(self, values: Floats, operand: Floats) -> Floats:
        if self.axes is not None:
            operand = operand.transpose(self.axes)
        if len(self.kept) == len(self.every):
            return self.back(values * operand.reshape(self.shape))
        other: Any = operand.reshape(self.squeezed)
        total: Any = np.einsum(values, self.every, other, self.present, self.kept)  # type: ignore[arg-type]
        return self.back(total)


@dataclass(frozen=True, kw_only=True)
class _BroadcastBack(ReverseStep):
    of_left: _SummedProduct
    of_right: _SummedProduct

    def adjoints(
        self, values: Floats, registers: Sequence[Floats], matrices: Matrices | None
    ) -> tuple[Floats | None, Floats | None]:
        values = np.ascontiguousarray(values)
        left = self.of_left(values, registers[self.right]) if self.to_left else None
        right = self.of_right(values, registers[self.left]) if self.to_right else None
        return left, right


def reverse_steps(
    steps: Sequence[Step], shapes: Sequence[Shape], end: int, wanted: Collection[int]
) -> tuple[ReverseStep, ...]:
    """Return the steps of the backward pass from a register to inputs, in their order.

    Parameters
    ----------
    steps
        The steps of the program, all products and sums.
    shapes
        The shape of each register.
    end
        The register whose adjoint is given.
    wanted
        The input registers whose adjoints are asked for.
    """
    n_inputs = len(shapes) - len(steps)
    leads = [False] * len(shapes)
    for register in wanted:
        leads[register] = True
    for number, (_, left, right) in enumerate(steps, n_inputs):
        leads[number] = leads[left] or leads[right]
    uses = Counter([register for step in steps for register in (step.left, step.right)])
    reached = {end}
    found = []
    for number in range(end, n_inputs - 1, -1):
        if number in reached and leads[number]:
            left = steps[number - n_inputs].left
            single = left < n_inputs and uses[left] == 1
            step = _reversed(number, steps[number - n_inputs], shapes, leads, single)
            reached |= {step.left, step.right}
            found.append(step)
    return tuple(found)


def _reversed(
    number: int, step: Step, shapes: Sequence[Shape], leads: Sequence[bool], single: bool
) -> ReverseStep:
    """Return the reverse of a step; ``single`` if its left register is an input of no other."""
    operation, left, right = step
    first, second = shapes[left], shapes[right]
    to: dict[str, Any] = {
        "number": number,
        "left": left,
        "right": right,
        "to_left": leads[left],
        "to_right": leads[right],
        "bounds_left": False,
    }
    if isinstance(operation, Sum):
        ones = [1 if axis in operation.axes else size for axis, size in enumerate(first)]
        return made(_SumBack, **{**to, "to_right": False}, ones=tuple(ones), shape=first)
    assert isinstance(operation, Product)  # as its caller expects
    left_back = _back(first, operation.left_axes)
    right_back = _back(second, operation.right_axes)
    if operation.sums:
        shape = (*operation.left_shape[:-1], operation.right_shape[-1])
        to["bounds_left"] = single
        return made(_MatrixBack, **to, shape=shape, left_back=left_back, right_back=right_back)
    left_shape, right_shape = operation.left_shape, operation.right_shape
    return made(
        _BroadcastBack,
        **to,
        of_left=_summed_product(
            operation, operation.right_axes, right_shape, left_shape, left_back
        ),
        of_right=_summed_product(
            operation, operation.left_axes, left_shape, right_shape, right_back
        ),
    )


def _back(shape: Shape, axes: Shape | None) -> _Back:
    if axes is None:
        return _Back(shape, None)
    inverse = tuple(sorted(range(len(axes)), key=axes.__getitem__))
    return _Back(tuple([shape[axis] for axis in axes]), inverse)


def _summed_product(
    operation: Product, axes: Shape | None, shape: Shape, result: Shape, back: _Back
) -> _SummedProduct:
    """Return the product with an operand of some axes and shape, summed to the shape ``result``."""
    present = tuple([axis for axis, size in enumerate(shape) if size > 1])
    kept = [axis for axis, size in enumerate(result) if size == operation.shape[axis]]
    return _SummedProduct(
        axes=axes,
        shape=shape,
        every=tuple(range(len(operation.shape))),
        present=present,
        squeezed=tuple([shape[axis] for axis in present]),
        kept=tuple(kept),
        back=back,
    )


# --- Forward runs that keep every register, and the backward pass through their steps -------------

_EMPTY = np.empty(0)


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

    def __getitem__(self, register: int) -> Floats:
        return self.registers[register]

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
