"""Programs run by compiled code: all steps of a run are one call."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

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
    Product,
    Program,
    Scatter,
    Sum,
    reuse_freed_memory,
)

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

_FIXED, _VALUES, _EARLIER, _ELSEWHERE = 0, 1, 2, -1
"""The arrays that products take: the inputs that are the same in all runs; the other registers of a
run and the number one, where all results are; and the registers of an earlier run. Inputs that no
product takes, such as positions, are in no array."""

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
    n_kept: int
    """The cells of the registers that are needed after a run; they are the first ones."""
    parts: tuple[ProductList | int, ...]
    """The products, and between them the registers that NumPy fills."""
    exponents: NDArray[np.int64]
    """``(registers, 2)`` bounds of the exponents of the inputs that are the same in all runs."""

    def run(self, inputs: Sequence[Any], earlier: FlatRecord | None = None) -> FlatRecord:
        """Return the registers of a run, which may take those of an earlier one."""
        record = self._run(inputs, None, _NOTHING if earlier is None else earlier.values)
        assert record is not None  # without a check of its numbers
        return record

    def run_in_range(self, inputs: Sequence[Any]) -> FlatRecord | None:
        """Return the registers of a run; None if any number may have underflowed or overflowed."""
        return self._run(inputs, self.exponents.copy(), _NOTHING)

    def _run(
        self, inputs: Sequence[Any], exponents: NDArray[np.int64] | None, earlier: Floats
    ) -> FlatRecord | None:
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
                if not part.run((self.fixed, known, earlier), values, exponents):
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
    earlier: tuple[FlatProgram, Sequence[int]] | None = None,
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
    earlier
        A program that runs before, and those of its registers that are the first inputs.
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

    if earlier is not None:
        for register, taken in enumerate(earlier[1]):
            array, first, _, _ = earlier[0].terms[taken]
            place = _EARLIER if array == _VALUES else array
            terms[register] = Term(place, first, program.scopes[register], register)
    n_inputs = program.n_inputs
    for register in range(len(terms), n_inputs):
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
    n_kept = cells.length
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
        fixed=np.concatenate([_NOTHING, *fixed]) if earlier is None else earlier[0].fixed,
        changing=tuple(changing),
        terms=tuple([terms[register] for register in range(len(program.scopes))]),
        shapes=tuple(shapes),
        n_cells=cells.length + 1,
        n_kept=n_kept,
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
