"""Runs of programs: by compiled code, in long runs, in logarithms, and over many cases at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import PlainWork, compiles
from bnmind._values import Sealed, made
from bnmind.information import Floats
from bnmind.junction.contraction import Products
from bnmind.junction.products import (
    UNKNOWN,
    ProductBuilder,
    ProductList,
    Term,
    exponents_of,
    read_only,
    run_products,
)
from bnmind.junction.program import (
    WORTH_REUSE,
    Expand,
    LookUp,
    Operation,
    Product,
    Program,
    Scatter,
    Scope,
    Step,
    Sum,
    near_one,
    noted_underflow,
    reuse_freed_memory,
)
from bnmind.pgm.factor import Values

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
    """Return whether all registers of a program are few cells."""
    cells = sum(program.held)
    return cells <= _MOST_CELLS and 16 * cells <= max_bytes


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
    used = {r for _, *operands in program.steps for r in operands} - positions | set(kept or ())
    fixed, changing = [], []
    n_fixed = length = 0
    # The first cells of registers that are not needed any more, by their number of cells.
    gaps: dict[int, list[int]] = {}
    exponents = np.full((len(program.scopes), 2), [-UNKNOWN, UNKNOWN])
    terms: dict[int, Term] = {}

    def take(register: int) -> None:
        nonlocal length
        n = program.cells(register)
        first = gaps[n].pop() if gaps.get(n) else length
        length = max(length, first + n)
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
    for register in [r for r in changing if r not in terms]:
        take(register)
    for register, spent in enumerate(program.spent, n_inputs):
        if register not in terms:
            take(register)
        for other in spent:
            if kept is not None and other not in kept and terms[other].array == _VALUES:
                gaps.setdefault(program.cells(other), []).append(terms[other].first)
    if length >= WORTH_REUSE:
        reuse_freed_memory()
    one = Term(_VALUES, length, ())
    shapes = [tuple([program.sizes[v] for v in scope]) for scope in program.scopes]
    builder = ProductBuilder(program.sizes)
    parts: list[ProductList | int] = []
    for number, (operation, left, right) in enumerate(program.steps, n_inputs):
        if isinstance(operation, Sum | Product):
            # A sum is a product with the number one.
            y = one if isinstance(operation, Sum) else terms[right]
            builder.add(terms[left], y, terms[number])
            continue
        listed = _terms(operation, inputs[left] if left < len(inputs) else None, shapes[right])
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
        n_cells=length + 1,
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


# --- The terms of steps on tables with many zeros -------------------------------------------------
#
# The zeros of the tables of a model are known before any run, and so are the zeros that they cause
# in products and sums. The cells of a product that may be other than zero are those of its operands
# that agree on the variables that both have (a join of the two lists).

_Cells = NDArray[np.int64]
"""The cells of a register that may be other than zero: positions in the whole table, ascending."""


def joined_terms(
    scopes: tuple[Scope, Scope | None, Scope],
    sizes: Sequence[int],
    operands: tuple[_Cells, _Cells],
) -> tuple[_Cells, _Cells | None, _Cells]:
    """Return the terms of a step, and the cell that each is added to.

    Parameters
    ----------
    scopes
        Those of the operands and of the result; a sum has no right operand.
    sizes
        The number of states of every variable.
    operands
        The cells of the operands that may be other than zero.
    """
    left, right, scope = scopes
    first, second = operands
    if right is None:
        to = _numbered(first, left, scope, sizes)
        return np.arange(len(first)), None, to
    shared = tuple(v for v in left if v in right)
    keys = _numbered(second, right, shared, sizes)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    wanted = _numbered(first, left, shared, sizes)
    begin = np.searchsorted(keys, wanted, side="left")
    counts = np.searchsorted(keys, wanted, side="right") - begin
    on_left = np.repeat(np.arange(len(first)), counts)
    ends = np.cumsum(counts)
    on_right = order[np.arange(len(on_left)) + np.repeat(begin - (ends - counts), counts)]
    more = tuple(v if v not in left else -1 for v in scope)
    to = _numbered(first, left, scope, sizes)[on_left]
    to += _numbered(second, right, more, sizes, scope)[on_right]
    return on_left, on_right, to


def _numbered(
    cells: _Cells, scope: Scope, wanted: Scope, sizes: Sequence[int], radix: Scope | None = None
) -> _Cells:
    """Return the position of cells of a table in the table over other variables.

    Variables of ``wanted`` that the table lacks count as zero. The axes of the other table are
    those of ``radix`` if ``wanted`` names −1 for some.
    """
    strides, stride = {}, 1
    for v in reversed(scope):
        strides[v] = stride
        stride *= sizes[v]
    result = np.zeros(len(cells), dtype=np.int64)
    step = 1
    for v, axis in zip(reversed(wanted), reversed(radix or wanted), strict=True):
        if v in strides:
            result += cells // strides[v] % sizes[v] * step
        step *= sizes[axis]
    return result


# --- The order of the axes of large registers: their numbers are read and written in long runs ----
#
# A product with a small table takes a large register in the order: shared variables that stay,
# summed variables, all others. If its axes are in any other order, they are copied into this one,
# two numbers at a time in the worst case, which takes far longer than the product. Here, the first
# axes of a large register are those that the next steps take, so that a copy has long runs or is
# not necessary. The small table comes first in a product, so that the others are the last axes
# again.

_LARGE = 2**14
"""The fewest cells of a large register."""


def with_long_runs(program: Program) -> Program:
    """Return a program whose large registers have their axes in a better order.

    The inputs keep their order, and so do the registers of steps that are neither dense products
    nor dense sums.
    """
    if max(program.held, default=0) < _LARGE:
        return program
    orders = _orders(program)
    products = Products(program.sizes)
    scopes = list(program.scopes[: program.n_inputs])
    steps = []
    for register, (operation, left, right) in enumerate(program.steps, program.n_inputs):
        scope, order = program.scopes[register], orders[register]
        first, second = scopes[left], scopes[right]
        if isinstance(operation, Sum):
            out = tuple([axis for axis, v in enumerate(first) if v not in scope])
            operation, scope = Sum(out, operation.cost), tuple([v for v in first if v in scope])
        elif isinstance(operation, Product) and not operation.sums:
            overwrites = operation.overwrites
            operation, scope = products.broadcast(first, second)
            operation = replace(operation, overwrites=overwrites)
        elif isinstance(operation, Product):
            if order is not None and program.cells(left) > program.cells(right):
                left, right, first, second = right, left, second, first
            operation, scope = products.arranged(first, second, order or scope)
        scopes.append(scope)
        steps.append(Step(operation, left, right))
    return replace(program, steps=tuple(steps), scopes=tuple(scopes))


def _orders(program: Program) -> list[Scope | None]:
    """Return the best order of the axes of each register; None if it must keep its order."""
    orders: list[Scope | None] = list(program.scopes)
    costs = [0] * len(orders)

    def want(register: int, first: Sequence[int], then: Sequence[int], cost: int) -> None:
        """Ask for an order for a step of a cost; the costliest step gets it."""
        if orders[register] is not None and cost > costs[register]:
            scope = program.scopes[register]
            rest = [v for v in then if v in scope and v not in first]
            orders[register], costs[register] = (*first, *rest), cost

    for register in range(len(program.scopes) - 1, program.n_inputs - 1, -1):
        operation, left, right = program.steps[register - program.n_inputs]
        order = orders[register]
        if not isinstance(operation, Product | Sum):
            orders[register] = orders[left] = orders[right] = None
        elif isinstance(operation, Product) and operation.sums:
            large = max(left, right, key=program.cells)
            if program.cells(large) < _LARGE:
                orders[register] = None
            scope, other = program.scopes[large], program.scopes[left + right - large]
            kept = program.scopes[register]
            first = [v for v in order or kept if v in scope and v in other]
            first += [v for v in scope if v not in kept]
            want(large, first, order or kept, operation.cost)
        elif order is None:
            # The result has the order of its operands.
            orders[left] = orders[right] = None
        else:
            gone = [v for v in program.scopes[left] if v not in order]
            want(left, gone, order, operation.cost)
    return orders


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
    left, right = operation.arranged(left, right)
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
# A register that depends on the case has the cases as its last axis, so operations read contiguous
# numbers. The other registers are filled once, before the first run. A product with sums is a
# matrix product if one of its operands is the same for all cases.


def moving_registers(program: Program, inputs: Sequence[bool]) -> list[bool]:
    """Return whether each register depends on the case, given the inputs that do."""
    moving = list(inputs)
    for _, left, right in program.steps:
        moving.append(moving[left] or moving[right])
    return moving


class CaseProgram:
    """A program for many cases at once.

    Parameters
    ----------
    program
        The program.
    inputs
        The initial registers; None for those that depend on the case.
    """

    def __init__(self, program: Program, inputs: Sequence[Any]) -> None:
        self.program = program
        self.moving = moving_registers(program, [table is None for table in inputs])
        self._constants: list[Any] = [None] * len(self.moving)
        """The other registers, as multiples of powers of two."""
        self._powers: list[Any] = [0] * len(self.moving)
        self._has_lost = self._fill(self._constants, self._powers, inputs, near_one)

    def run(
        self, tables: Sequence[Any], n: int, *, scaled: bool = False
    ) -> tuple[list[Any], list[Any], bool]:
        """Return the registers after a run; those that no later step needs are empty.

        Parameters
        ----------
        tables
            The initial registers that depend on the case, with the cases as the last axis; the
            others are not read.
        n
            The number of cases.
        scaled
            Whether powers of two keep every register of every case near one.

        Returns
        -------
        registers, powers, has_lost
            The registers as multiples of powers of two, by case if they are scaled; and whether
            numbers have underflowed.
        """
        registers, powers = list(self._constants), list(self._powers)
        scale = _scaled if scaled else lambda values: (values, 0)
        with self.program.threads(n):
            has_lost = self._fill(registers, powers, tables, scale, n)
        return registers, powers, has_lost or self._has_lost

    def _fill(
        self,
        registers: list[Any],
        powers: list[Any],
        inputs: Sequence[Any],
        scale: Callable[[Any], tuple[Any, Any]],
        n: int | None = None,
    ) -> bool:
        """Fill the registers that depend on the case, or without cases the others.

        Return whether numbers have underflowed.
        """
        empty = np.empty(0)
        with noted_underflow() as lost:
            for number, moves in enumerate(self.moving):
                if moves == (n is None):
                    continue
                if (step := number - len(inputs)) < 0:
                    values, power = inputs[number], 0
                else:
                    operation, left, right = self.program.steps[step]
                    both = self.moving[left], self.moving[right]
                    values = _of_cases(operation, registers[left], registers[right], both, n)
                    power = powers[left] + (0 if isinstance(operation, Sum) else powers[right])
                registers[number], more = scale(values)
                powers[number] = power + more
                # Each run reads the registers without cases.
                for register in self.program.spent[step] if moves and step >= 0 else ():
                    registers[register] = empty
        return bool(lost)


def _of_cases(operation: Operation, left: Any, right: Any, moves: tuple[bool, bool], n: Any) -> Any:
    """Return the result of a step for all cases; ``moves`` tells which operands have cases."""
    if isinstance(operation, Expand) or moves == (False, False):
        if isinstance(operation, Product):
            operation = replace(operation, overwrites=False)
        return operation(left, right)
    if isinstance(operation, Sum):
        return np.add.reduce(left, axis=operation.axes)
    if isinstance(operation, Product):
        first = _arranged(left, operation.left_axes, operation.left_shape, moves[0])
        second = _arranged(right, operation.right_axes, operation.right_shape, moves[1])
        if not operation.sums:
            return first * second
        if moves == (True, True):
            product = np.einsum("...ijz,...jkz->...ikz", first, second)
        elif moves[0]:
            # (…, 1, columns, summed) @ (…, rows, summed, cases)
            product = np.matmul(np.swapaxes(second[..., 0], -1, -2)[..., None, :, :], first)
        else:
            # One matrix product covers all columns of all cases.
            product = np.matmul(first[..., 0], second.reshape(*second.shape[:-2], -1))
        return product.reshape(*operation.shape, n)
    step, axis = operation.of_cases(moves, left.ndim, right.ndim, n)
    return np.ascontiguousarray(np.moveaxis(step(left, right), axis, -1))


def _arranged(
    values: Any, axes: tuple[int, ...] | None, shape: tuple[int, ...], moves: bool
) -> Any:
    """Return a register with its axes in the order of a product, and an axis of cases."""
    if axes is not None:
        values = values.transpose((*axes, -1) if moves else axes)
    return values.reshape(*shape, values.shape[-1] if moves else 1)


def _scaled(values: Any) -> tuple[Any, Any]:
    """Bring the largest number of each case near one; return the powers of two taken out."""
    if values.dtype.kind in "iu":
        return values, 0
    largest = np.abs(values).max(axis=tuple(range(values.ndim - 1)), initial=0.0)
    shift = np.frexp(largest)[1]
    # In two steps, because 2¹⁰²⁵ overflows.
    half = shift // 2
    return values * np.ldexp(1.0, -half) * np.ldexp(1.0, half - shift), shift
