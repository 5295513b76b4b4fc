"""Programs run by compiled code: all steps of a run are one call."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import PlainWork, compiles
from bnmind._values import Sealed, latest, made, sealed
from bnmind.information import Floats
from bnmind.junction.program.products import (
    UNKNOWN,
    ProductBuilder,
    ProductList,
    Term,
    Terms,
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
from bnmind.junction.program.sparse_steps import SparseProduct, SparseSum

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

_FIXED, _VALUES, _ADJOINTS, _ELSEWHERE = 0, 1, 2, -1
"""The arrays that products take: the inputs that are the same in all runs; the other registers of a
run and the number one; and the adjoints of all registers but the inputs. Products fill the second,
the third, or the adjoints of the inputs, which stand in the place of the first. Inputs that no
product takes, such as positions, are in no array."""

_NOTHING = np.empty(0)

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

    def run(self, inputs: Sequence[Any]) -> FlatRecord:
        """Return the registers of a run."""
        record = self._run(inputs, None)
        assert record is not None  # without a check of its numbers
        return record

    def run_in_range(self, inputs: Sequence[Any]) -> FlatRecord | None:
        """Return the registers of a run; None if any number may have underflowed or overflowed."""
        return self._run(inputs, self.exponents.copy())

    def _run(self, inputs: Sequence[Any], exponents: NDArray[np.int64] | None) -> FlatRecord | None:
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
                arrays = (self.fixed, known, known), (_NOTHING, values, _NOTHING)
                if not part.run(*arrays, exponents):
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

    def reverse(self, end: int, wanted: Collection[int]) -> _Reverse:
        """Return the backward pass from a register to inputs."""
        key = end, tuple(wanted)
        return latest(self, "_reverse", key, partial(_reverse, self, end, wanted))


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

    def adjoints(
        self, end: int, seed: Floats, wanted: Collection[int]
    ) -> tuple[dict[int, Floats], list[Floats]]:
        """Return the derivatives of a number by input registers, and arrays that hold all of them.

        All are read-only.

        Parameters
        ----------
        end
            The register that the number depends on.
        seed
            The derivatives of the number by the entries of that register.
        wanted
            The input registers.
        """
        reverse = self.program.reverse(end, wanted)
        found, others = np.empty(reverse.n_found), np.empty(reverse.n_others)
        start = reverse.start
        if start is None:
            return {}, []
        of_end = others if start.array == _ADJOINTS else found
        of_end[start.first : start.first + seed.size] = seed.ravel()
        reverse.products.run(
            (self.program.fixed, self.values, read_only(others)), (found, _NOTHING, others)
        )
        sealed(found)
        parts = {
            register: found[first:after].reshape(shape)
            for register, first, after, shape in reverse.parts
        }
        return parts, [found]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Reverse(Sealed):
    """A backward pass."""

    products: ProductList
    start: Term | None
    """The adjoint that is given; None if it leads to no wanted input."""
    n_found: int
    """The cells of the adjoints that are found."""
    n_others: int
    """The cells that the other adjoints take, those that are needed at the same time."""
    parts: tuple[tuple[int, int, int, tuple[int, ...]], ...]
    """The inputs on which the number depends; their first cells, the cells after their last ones,
    and their shapes."""


def flat_program(
    program: Program, inputs: Sequence[Any] = (), kept: Collection[int] | None = None
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
    fixed, changing, terms = [], [], []
    exponents = np.full((len(program.scopes), 2), [-UNKNOWN, UNKNOWN])
    n_fixed, cells = 0, ReusedCells()
    for register, scope in enumerate(program.scopes[: program.n_inputs]):
        size = program.cells(register)
        if register not in used:
            terms.append(Term(_ELSEWHERE, 0, scope))
        elif register < len(inputs) and inputs[register] is not None:
            terms.append(Term(_FIXED, n_fixed, scope, register))
            fixed.append(inputs[register].ravel())
            exponents[register] = exponents_of(fixed[-1])
            n_fixed += size
        else:
            terms.append(Term(_VALUES, cells.take(size), scope, register))
            changing.append(register)
    for register, spent in enumerate(program.spent, program.n_inputs):
        first = cells.take(program.cells(register))
        terms.append(Term(_VALUES, first, program.scopes[register], register))
        for other in spent:
            if kept is not None and other not in kept and terms[other].array == _VALUES:
                cells.give_back(terms[other].first, program.cells(other))
    if cells.length >= WORTH_REUSE:
        reuse_freed_memory()
    one = Term(_VALUES, cells.length, ())
    shapes = [tuple([program.sizes[v] for v in scope]) for scope in program.scopes]
    builder = ProductBuilder(program.sizes)
    parts: list[ProductList | int] = []
    for number, (operation, left, right) in enumerate(program.steps, program.n_inputs):
        if type(operation) in (Sum, Product):
            # A sum is a product with the number one.
            y = one if isinstance(operation, Sum) else terms[right]
            builder.add(terms[left], y, terms[number], adds=False)
            continue
        positions_of_left = inputs[left] if left < len(inputs) else None
        listed = _terms(operation, positions_of_left, shapes[right])
        if listed is None:
            parts += [builder.build(), number]
            builder = ProductBuilder(program.sizes)
            continue
        x = one if isinstance(operation, _ByPlace) else terms[left]
        y = one if isinstance(operation, Sum) else terms[right]
        builder.add_terms(x, y, terms[number], listed, program.cells(number))
    parts.append(builder.build())
    return FlatProgram(
        program=program,
        fixed=np.concatenate([_NOTHING, *fixed]),
        changing=tuple(changing),
        terms=tuple(terms),
        shapes=tuple(shapes),
        n_cells=cells.length + 1,
        parts=tuple(parts),
        exponents=exponents,
    )


def _terms(operation: Operation, positions: Any, shape: tuple[int, ...]) -> Terms | None:
    """Return the terms of a step, or None if they are not the same in all runs.

    Parameters
    ----------
    operation
        The step, neither a plain product nor a plain sum.
    positions
        The left register of a function's step, if it is the same in all runs.
    shape
        The shape of the right register.
    """
    if isinstance(operation, SparseSum):
        columns = np.zeros(1, dtype=np.intp)
        zeros = np.zeros_like(operation.cells)
        return Terms(np.stack([operation.cells, zeros, operation.places], axis=-1), columns)
    cells: Any = np.arange(math.prod(shape)).reshape(shape)
    if isinstance(operation, SparseProduct):
        if operation.right_axes is not None:
            cells = cells.transpose(operation.right_axes)
        n = operation.right_shape[-1]
        rows = cells.reshape(-1, n)
        x, middles, to = (np.concatenate(some) for some in zip(*operation.passes, strict=True))
        order = np.argsort(to, kind="stable")
        places = np.stack([x, rows[middles, 0], n * to], axis=-1)[order]
        return Terms(places, rows[0] - rows[0, 0])
    if positions is None or not isinstance(operation, LookUp | Scatter):
        return None
    if isinstance(operation, LookUp):
        taken: Any = operation.take(positions, cells, -1).ravel().astype(np.intp)
        to = np.arange(len(taken))
        is_term = taken >= 0
    else:
        taken = operation.rows(positions.shape, cells)
        to = (operation.places(positions)[:, None] - 1) * taken.shape[1]
        is_term = np.broadcast_to(to >= 0, taken.shape)
        to = to + np.arange(taken.shape[1])
    places = np.stack([np.zeros_like(to), taken, to], axis=-1)[is_term]
    return Terms(places, np.zeros(1, dtype=np.intp))


def _reverse(flat: FlatProgram, end: int, wanted: Collection[int]) -> _Reverse:
    """Return the backward pass from a register to inputs."""
    program = flat.program
    n_inputs = program.n_inputs
    leads = [False] * len(flat.terms)
    for register in wanted:
        leads[register] = True
    for number, (_, left, right) in enumerate(program.steps, n_inputs):
        leads[number] = leads[left] or leads[right]
    adjoints: dict[int, Term] = {}
    found, others = ReusedCells(), ReusedCells()

    def adjoint(register: int) -> Term:
        if register not in adjoints:
            array, cells = (_FIXED, found) if register < n_inputs else (_ADJOINTS, others)
            first = cells.take(program.cells(register))
            adjoints[register] = Term(array, first, program.scopes[register])
        return adjoints[register]

    start = adjoint(end) if leads[end] else None
    one = Term(_VALUES, flat.n_cells - 1, ())
    builder = ProductBuilder(program.sizes)
    for number in range(end, n_inputs - 1, -1):
        if number not in adjoints:
            continue
        operation, left, right = program.steps[number - n_inputs]
        pairs = [(left, flat.terms[right]), (right, flat.terms[left])]
        if isinstance(operation, Sum):
            pairs = [(left, one)]
        for register, other in pairs:
            if leads[register]:
                adds = register in adjoints
                builder.add(adjoints[number], other, adjoint(register), adds=adds)
        others.give_back(adjoints[number].first, program.cells(number))
    reached = [register for register in wanted if register in adjoints]
    ends = [adjoints[register].first + program.cells(register) for register in reached]
    return _Reverse(
        products=builder.build(),
        start=start,
        n_found=found.length,
        n_others=others.length,
        parts=tuple(
            [
                (register, adjoints[register].first, after, flat.shapes[register])
                for register, after in zip(reached, ends, strict=True)
            ]
        ),
    )
