"""Runs of programs: by compiled code, in logarithms, and over many cases at once."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import PlainWork, compiles
from bnmind._values import Sealed, made
from bnmind.information import Floats
from bnmind.junction.program.products import (
    UNKNOWN,
    ProductBuilder,
    ProductList,
    Term,
    exponents_of,
    read_only,
    run_products,
)
from bnmind.junction.program.program import (
    WORTH_REUSE,
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
    reuse_freed_memory,
)
from bnmind.junction.reduction import Answer
from bnmind.pgm.factor import Values

# --- Places in an array for parts that are needed only for a while --------------------------------


class ReusedCells:
    """Gives parts of an array away and takes them back, so that a short array is enough.

    Examples
    --------
    >>> cells = ReusedCells()
    >>> cells.take(3), cells.take(2)
    (0, 3)
    >>> cells.give_back(0, 3)
    >>> cells.take(2), cells.take(2), cells.length
    (0, 5, 7)
    """

    def __init__(self) -> None:
        self.length = 0
        """The cells that the array must have."""
        self._starts: list[int] = []
        self._ends: list[int] = []

    def take(self, n: int) -> int:
        """Return the first of ``n`` cells, in the first gap that has so many, or at the end."""
        starts, ends = self._starts, self._ends
        for place, (start, end) in enumerate(zip(starts, ends, strict=True)):
            if end - start >= n:
                starts[place] += n
                if starts[place] == end:
                    del starts[place], ends[place]
                return start
        start = self.length
        if ends and ends[-1] == start:  # the last gap grows
            start = starts.pop()
            ends.pop()
        self.length = start + n
        return start

    def give_back(self, start: int, n: int) -> None:
        """Take cells back, and join them with the gaps beside them."""
        starts, ends = self._starts, self._ends
        end = start + n
        place = bisect_left(starts, start)
        if place < len(starts) and starts[place] == end:
            end = ends[place]
            del starts[place], ends[place]
        if place and ends[place - 1] == start:
            ends[place - 1] = end
        else:
            starts.insert(place, start)
            ends.insert(place, end)


# --- Programs whose registers are parts of one array, for the compiled runs -----------------------

_SMALL_STEP = 500_000
"""The multiplications of a step, on average, below which the compiled run is faster."""

_WORK_OF_A_STEP = 25
"""The operations of a step in NumPy."""

_MOST_CELLS = 2**23
"""The most cells of all registers. A run holds few of them at a time, and the lists of products and
a copy of the tables take about as much as all."""

_work_in_numpy = PlainWork(run_products, if_cached=300_000)
"""The work in NumPy, before the kernels are compiled."""

_FIXED, _VALUES, _ELSEWHERE = 0, 1, -1
"""The arrays that products take: the inputs that are the same in all runs; and the other registers
of a run and the number one, where all results are. Inputs that no product takes, such as positions,
are in no array."""

_NOTHING = read_only(np.empty(0))

_ByPlace = LookUp | Scatter | Expand
"""The steps of functions; their left registers hold positions."""


def should_be_flat(program: Program, n_runs: int, first_runs: int) -> bool:
    """Return whether to run a program by the kernels, and count its work if not.

    Parameters
    ----------
    program
        The program.
    n_runs
        How often it ran before.
    first_runs
        The runs in NumPy that take as long as it takes to list the products.
    """
    if n_runs < first_runs or not has_small_steps(program):
        return False
    work = _WORK_OF_A_STEP * len(program.steps)
    if work < _work_in_numpy.left:
        _work_in_numpy.spend(work)
        return False
    return compiles()


def has_small_steps(program: Program) -> bool:
    """Return whether the steps of a program are so small that the kernels are faster."""
    return program.multiplications <= _SMALL_STEP * len(program.steps)


def has_few_cells(program: Program, max_bytes: int) -> bool:
    """Return whether all registers of a program are few cells, none of them packed."""
    cells = sum(program.held)
    return cells <= _MOST_CELLS and 16 * cells <= max_bytes and not program.listed_bytes


@dataclass(frozen=True, eq=False, kw_only=True)
class FlatProgram(Sealed):
    """The steps of a program as products of parts of arrays.

    Steps that are neither products nor sums are left to NumPy.
    """

    program: Program
    fixed: Floats
    """The inputs that are the same in all runs."""
    changing: tuple[int, ...]
    """The other inputs that are in the array of a run."""
    terms: tuple[Term, ...]
    """The place of each register."""
    shapes: tuple[tuple[int, ...], ...]
    """The shape of each register."""
    n_cells: int
    """The cells of the other registers, and of the number one after them."""
    parts: tuple[ProductList | int, ...]
    """The products, and between them the registers that NumPy fills."""
    exponents: NDArray[np.int64]
    """``(registers, 2)`` bounds of the exponents of the inputs that are the same in all runs."""

    def run_in_range(self, inputs: Sequence[Any]) -> FlatRecord | None:
        """Return the registers of a run; None if any number may have underflowed or overflowed."""
        exponents = self.exponents.copy()
        # The products fill all other registers.
        values = np.empty(self.n_cells)
        values[-1] = 1.0
        for register in self.changing:
            first, table = self.terms[register].first, inputs[register]
            values[first : first + table.size] = table.ravel()
        known = read_only(values)
        record = made(FlatRecord, program=self, values=known, inputs=inputs)
        for part in self.parts:
            if isinstance(part, ProductList):
                if not part.run((self.fixed, known), values, exponents):
                    return None
                continue
            operation, left, right = self.program.steps[part - self.program.n_inputs]
            result = operation(record[left], record[right])
            at = self.terms[part].first
            values[at : at + result.size] = result.ravel()
        return record

    def places(self, register: int | None) -> NDArray[np.intp] | None:
        """Return the places of the cells of a register in the array of a run.

        None stands for no register, whose only number is one; it is returned for registers that
        are elsewhere.
        """
        if register is None:
            return np.array(self.n_cells - 1)
        array, first = self.terms[register][:2]
        shape = self.shapes[register]
        if array != _VALUES:
            return None
        return np.arange(first, first + math.prod(shape)).reshape(shape)


@dataclass(frozen=True, eq=False, kw_only=True)
class FlatRecord(Sealed):
    """The registers of a run."""

    program: FlatProgram
    values: Floats
    inputs: Sequence[Any]

    def __getitem__(self, register: int) -> Floats:
        program = self.program
        array, first = program.terms[register][:2]
        if array == _ELSEWHERE:
            values: Floats = self.inputs[register]
            return values
        shape = program.shapes[register]
        cells = program.fixed if array == _FIXED else self.values
        return cells[first : first + math.prod(shape)].reshape(shape)


def flat_program(
    program: Program,
    inputs: Sequence[Any] = (),
    kept: Collection[int] | None = None,
) -> FlatProgram:
    """Return the steps of a program as products of terms.

    Parameters
    ----------
    program
        The program.
    inputs
        The first inputs, as far as they are the same in all runs; otherwise None.
    kept
        The registers that are needed after a run; all by default.
    """
    positions = {left for operation, left, _ in program.steps if isinstance(operation, _ByPlace)}
    used = {register for _, *operands in program.steps for register in operands} - positions
    used |= set(kept or ())
    fixed, changing = [], []
    n_fixed, cells = 0, ReusedCells()
    exponents = np.full((len(program.scopes), 2), [-UNKNOWN, UNKNOWN])
    terms: dict[int, Term] = {}

    def take(register: int) -> None:
        first = cells.take(program.cells(register))
        terms[register] = Term(_VALUES, first, program.scopes[register], register)

    n_inputs = program.n_inputs
    for register in range(n_inputs):
        if register not in used:
            terms[register] = Term(_ELSEWHERE, 0, program.scopes[register])
        elif register < len(inputs) and inputs[register] is not None:
            terms[register] = Term(_FIXED, n_fixed, program.scopes[register], register)
            fixed.append(inputs[register].ravel())
            exponents[register] = exponents_of(fixed[-1])
            n_fixed += program.cells(register)
        else:
            changing.append(register)
    for register in range(n_inputs, len(program.scopes)) if kept is None else sorted(kept):
        if register >= n_inputs or register in changing:
            take(register)
    for register in changing:
        if register not in terms:
            take(register)
    for register, spent in enumerate(program.spent, n_inputs):
        if register not in terms:
            take(register)
        for other in spent:
            if kept is not None and other not in kept and terms[other].array == _VALUES:
                cells.give_back(terms[other].first, program.cells(other))
    if cells.length >= WORTH_REUSE:
        reuse_freed_memory()
    one = Term(_VALUES, cells.length, ())
    shapes = [tuple([program.sizes[v] for v in scope]) for scope in program.scopes]
    builder = ProductBuilder(program.sizes)
    parts: list[ProductList | int] = []
    for number, (operation, left, right) in enumerate(program.steps, n_inputs):
        if isinstance(operation, Sum | Product):
            # A sum is a product with the number one.
            y = one if isinstance(operation, Sum) else terms[right]
            builder.add(terms[left], y, terms[number])
            continue
        positions_of_left = inputs[left] if left < len(inputs) else None
        listed = _terms(operation, positions_of_left, shapes[right])
        if listed is None:
            parts += [builder.build(), number]
            builder = ProductBuilder(program.sizes)
            continue
        builder.add_terms(one, terms[right], terms[number], listed, program.cells(number))
    parts.append(builder.build())
    return FlatProgram(
        program=program,
        fixed=np.concatenate([_NOTHING, *fixed]),
        changing=tuple(changing),
        terms=tuple([terms[register] for register in range(len(program.scopes))]),
        shapes=tuple(shapes),
        n_cells=cells.length + 1,
        parts=tuple(parts),
        exponents=exponents,
    )


def _terms(operation: Operation, positions: Any, shape: tuple[int, ...]) -> NDArray[np.intp] | None:
    """Return the terms ``(terms, 2)`` of a function's step; None if they depend on the run.

    They are places in the right register and in the result.

    Parameters
    ----------
    operation
        The step, neither a product nor a sum.
    positions
        The left register of a function's step, if it is the same in all runs.
    shape
        The shape of the right register.
    """
    if positions is None or not isinstance(operation, LookUp | Scatter):
        return None
    cells: Any = np.arange(math.prod(shape)).reshape(shape)
    if isinstance(operation, LookUp):
        taken: Any = operation.take(positions, cells, -1).ravel().astype(np.intp)
        to = np.arange(len(taken))
        is_term = taken >= 0
    else:
        taken = operation.rows(positions.shape, cells)
        to = (operation.places(positions)[:, None] - 1) * taken.shape[1]
        is_term = np.broadcast_to(to >= 0, taken.shape)
        to = to + np.arange(taken.shape[1])
    terms: NDArray[np.intp] = np.stack([taken, to], axis=-1)[is_term]
    return terms


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
