"""Plans for derivatives, which are compiled once and run for any evidence."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from bnmind._arguments import checked
from bnmind._messages import counted
from bnmind._values import Sealed, latest, made, sealed
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
)
from bnmind.information import Floats
from bnmind.junction.derivatives.gradient import Gradient, InputTable, are_finite
from bnmind.junction.graphs import JunctionTree
from bnmind.junction.inference.evidence import Evidence, likelihood, read_findings
from bnmind.junction.program.compiled_run import (
    FlatProgram,
    FlatRecord,
    flat_program,
    has_small_steps,
    should_be_flat,
)
from bnmind.junction.program.program import Operation, Product, Program, Step, Sum, near_one
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

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
# adjoint of the result, see above:
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


# --- Plans for derivatives, which are compiled once and run for any evidence ----------------------

_LEAST, _MOST = 1e-200, 1e200
"""Totals outside of these bounds are computed again with scaled registers."""

_FIRST_RUNS = 2
"""The first runs of a plan are in NumPy."""

_PASSES = 3
"""The multiplications of a run with its backward pass, in runs."""


@dataclass(frozen=True, eq=False, kw_only=True, repr=False)
class DerivativePlan(Sealed):
    """A compiled program that computes a probability and its derivatives by all table entries.

    `compile_derivatives` makes these plans. Each method runs the program forward, and then backward
    once for each gradient.
    """

    model: Network | FactorModel
    """The model."""
    evidence: tuple[Variable, ...]
    """The variables whose states each run takes."""
    soft: tuple[Variable, ...]
    """The variables for which each run takes a state, a likelihood, or nothing."""
    target: Variable | None
    """The variable whose posterior is differentiated; None if only that of the evidence is."""
    relevant_only: bool
    """Whether tables that cannot matter are left out."""
    tree: JunctionTree
    """The junction tree."""
    tables: tuple[InputTable, ...]
    """The tables of the model; the tables of soft evidence follow them in the program."""
    program: Program
    """The contractions of a run."""
    end: int | None
    """The register of the target's joint with the evidence; None if there is no contraction."""

    def __repr__(self) -> str:
        about = f"P({self.target.name} | evidence)" if self.target else "P(evidence)"
        entries = sum(table.values.size for table in self.tables if table.potential is not None)
        return (
            f"DerivativePlan({about} by {entries:,} entries,"
            f" {counted(self.tree.total_size, 'cell')})"
        )

    @property
    def total_size(self) -> int:
        """The sum of the sizes of the cliques, in cells."""
        return self.tree.total_size

    @property
    def multiplications(self) -> int:
        """Multiplications of a run and a backward pass, roughly."""
        return _PASSES * self.program.multiplications

    @property
    def memory(self) -> int:
        """The predicted bytes of a run: all registers, and about as much for their derivatives.

        The operands of matrix products are kept in two orders of their axes, if these differ.
        Compiled runs have tables of places instead, which take less than all registers.
        """
        cells = self.program.held
        matrices = 0
        for operation, left, right in self.program.steps:
            if isinstance(operation, Product) and operation.sums:
                matrices += cells[left] if operation.left_axes is not None else 0
                matrices += cells[right] if operation.right_axes is not None else 0
        if has_small_steps(self.program):
            matrices = max(matrices, sum(cells))
        entries = sum(table.values.size for table in self.tables)
        return 8 * (2 * sum(cells) + matrices + 2 * entries)

    @checked
    def probabilities(self, evidence: Evidence | None = None) -> tuple[Floats, float]:
        """Return the posterior of the target ``(states,)``, and ln P(evidence).

        There is no backward pass. The parameters and errors are those of `log_evidence`.
        """
        run = self._run(evidence)
        return np.array(run.posterior), run.log_evidence

    @checked
    def log_evidence(self, evidence: Evidence | None = None) -> Gradient:
        """Return ln P(evidence) and its derivative by each entry.

        Parameters
        ----------
        evidence
            A state for each evidence variable of the plan. For a soft variable, a state, a
            likelihood ``{state: weight}``, or nothing.

        Raises
        ------
        ImpossibleEvidenceError
            If the evidence has probability zero.
        CancellationError
            If numbers of the run, or the derivatives, exceed the range of floating point.
        InvalidArgumentError, UnknownNameError
            If the evidence is not that of the plan.
        """
        run = self._run(evidence)
        return self._gradient(run, np.ones(run.posterior.shape), run.log_evidence)

    @checked
    def posterior(self, state: Any, evidence: Evidence | None = None) -> Gradient:
        """Return P(target = state | evidence) and its derivative by each entry.

        The parameters and errors are those of `log_evidence`; ``state`` is a state of the target.
        One backward pass differentiates the ratio P(state, evidence) / P(evidence).
        """
        place = self._target.index(state)
        run = self._run(evidence)
        value = float(run.posterior[place])
        weights = np.full(run.posterior.shape, -value)
        weights[place] += 1.0
        return self._gradient(run, weights, value)

    @checked
    def expectation(self, scores: Any, evidence: Evidence | None = None) -> Gradient:
        """Return the expected score of the target given the evidence, and its derivatives.

        Parameters
        ----------
        scores
            ``(states,)`` a number for each state of the target.
        evidence
            As for `log_evidence`.

        Raises
        ------
        InvalidArgumentError
            If there is not one finite score for each state of the target.
        """
        given = np.asarray(scores, dtype=np.float64)
        if given.shape != (self._target.n_states,) or not np.all(np.isfinite(given)):
            raise InvalidArgumentError(
                f"expected {self._target.n_states} finite scores, one for each state of"
                f" {self._target.name}, got {scores!r}",
                scores,
            )
        run = self._run(evidence)
        value = float(given @ run.posterior)
        return self._gradient(run, given - value, value)

    @checked
    def joints(self, evidence: Evidence | None = None) -> tuple[Gradient, ...]:
        """Return P(target, evidence) / P(evidence) for each state, with P(evidence) held fixed.

        The values are the posterior. The derivatives are those of P(state, evidence) alone, divided
        by P(evidence); their sum over the states is the gradient of `log_evidence`. Sensitivity
        functions are made of them. There is one backward pass for each state.

        Parameters
        ----------
        evidence
            The evidence, as for `posterior`; none by default.
        """
        n_states = self._target.n_states
        run = self._run(evidence)
        return tuple(
            [
                self._gradient(run, np.eye(n_states)[state], float(run.posterior[state]))
                for state in range(n_states)
            ]
        )

    @property
    def _target(self) -> Variable:
        if self.target is None:
            raise InvalidArgumentError(
                "this plan has no target; pass target=... to compile_derivatives"
            )
        return self.target

    def _child(self, number: int) -> str:
        """Return the name of a table."""
        potential = self.model.potentials[number]
        names = [v.name for v in potential.scope]
        return ", ".join(names if isinstance(potential, Factor) else names[:1])

    @cached_property
    def _registers(self) -> RegisterProgram:
        return register_program(self.program)

    @cached_property
    def _differentiated(self) -> tuple[int, ...]:
        """The tables whose entries have derivatives."""
        return tuple([i for i, table in enumerate(self.tables) if table.potential is not None])

    @cached_property
    def _numbers(self) -> tuple[int, ...]:
        """The tables without hidden variables."""
        return tuple([i for i, table in enumerate(self.tables) if not table.hidden])

    @cached_property
    def _runs(self) -> count[int]:
        """Counts the runs, which affects only the time of the next one."""
        return count()

    @cached_property
    def _flat(self) -> FlatProgram:
        tables = [None if table.observed else table.values for table in self.tables]
        return flat_program(self.program, tables)

    def _run(self, evidence: Evidence | None) -> _Run:
        """Return the forward run."""
        findings = read_findings(evidence, self.evidence, self.soft)
        at = {v.name: v.index(findings[v.name]) for v in self.evidence}
        inputs = [table.reduced(at) for table in self.tables]
        for v in self.soft:
            finding = findings.get(v.name)
            inputs.append(np.ones(v.n_states) if finding is None else likelihood(v, finding))
        numbers = [float(inputs[i]) for i in self._numbers]
        if min(numbers, default=1.0) > 0:
            log = sum([math.log(number) for number in numbers])
            for scaled in (False, True):
                run = self._forward(inputs, at, log, scaled=scaled)
                if run is not None:
                    return run
        shown = ", ".join(f"{name}={finding}" for name, finding in findings.items())
        if min(numbers, default=1.0) > 0 and self._is_possible(inputs):
            raise CancellationError(
                "the probabilities in a run are too far apart for floating point, so that their"
                f" derivatives have no correct digits; the evidence is {shown}"
            )
        raise ImpossibleEvidenceError(
            f"expected evidence of positive probability, got zero for {shown or 'the model'}",
            findings,
        )

    def _forward(
        self, inputs: Sequence[Floats], at: Mapping[str, int], log: float, *, scaled: bool
    ) -> _Run | None:
        """Return a forward run; None if numbers become too large or too small.

        The tables without hidden variables have a product with the logarithm ``log``.
        """
        record: Record | FlatRecord
        if not scaled and should_be_flat(self.program, next(self._runs), _FIRST_RUNS):
            record = self._flat.run(inputs)
        else:
            record = self._registers.run(inputs, scaled=scaled)
        if self.end is None:
            ending = np.ones((self.target.n_states,) if self.target else ())
        else:
            ending = record[self.end]
        total = float(np.add.reduce(ending, axis=None))
        if not (total > 0 if scaled else _LEAST < total < _MOST) or not math.isfinite(total):
            return None
        log_evidence = math.log(total) + log
        if isinstance(record, Record) and scaled and self.end is not None:
            log_evidence += math.log(2.0) * record.exponent(self.end)
        # Runs are made often, and only the plan sees them.
        return made(
            _Run,
            record=record,
            at=at,
            inputs=tuple(inputs),
            posterior=ending / total,
            total=total,
            log_evidence=log_evidence,
        )

    def _is_possible(self, inputs: Sequence[Floats]) -> bool:
        """Return whether the support of the tables allows the evidence, without their sizes."""
        # Zero or one in place of each number; sums are cut back to one.
        registers: list[Any] = [(table > 0).astype(np.float64) for table in inputs]
        for operation, left, right in self._registers.steps:
            registers.append(np.minimum(operation(registers[left], registers[right]), 1.0))
        return self.end is None or bool(registers[self.end].any())

    def _gradient(self, run: _Run, weights: Floats, value: float) -> Gradient:
        """Return the gradient of Σ w(x) P(x, e) / P(e), with P(e) held fixed."""
        found: dict[int, Floats] = {}
        cells: list[Floats] = []
        used = self._differentiated
        if self.end is not None:
            found, cells = run.record.adjoints(self.end, np.asarray(weights / run.total), used)
        # A table without hidden variables is a factor of every term.
        constant = float(weights.dot(run.posterior))
        for i in self._numbers:
            found[i] = sealed(np.asarray(constant / float(run.inputs[i])))
            cells.append(found[i])
        if not are_finite(cells):
            self._check_finite(found)
        partials: list[Floats | None] = [None] * len(self.model.potentials)
        for i in used:
            table = self.tables[i]
            assert table.potential is not None  # as chosen there
            partials[table.potential] = table.lifted(found.get(i), run.at)
        return made(
            Gradient,
            model=self.model,
            value=value,
            log_evidence=run.log_evidence,
            partials=tuple(partials),
        )

    def _check_finite(self, found: Mapping[int, Floats]) -> None:
        """Raise `CancellationError` if any derivative is not a number."""
        for i in self._differentiated:
            number = self.tables[i].potential
            if number is not None and i in found and not are_finite([found[i]]):
                raise CancellationError(
                    f"the derivatives by the table of {self._child(number)} are too large for"
                    " floating point: another entry makes the evidence far more probable"
                )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Run(Sealed):
    """A forward run."""

    record: Record | FlatRecord
    at: Mapping[str, int]
    inputs: tuple[Floats, ...]
    posterior: Floats
    """The distribution of the target; the number one if there is none."""
    total: float
    """The sum of the last register, as it is recorded."""
    log_evidence: float
