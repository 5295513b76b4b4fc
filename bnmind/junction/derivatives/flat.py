"""Programs whose registers are parts of one array, for the compiled runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np

from bnmind._jit import PlainWork, compiles
from bnmind._values import Sealed, latest, made, sealed
from bnmind.information import Floats
from bnmind.junction.derivatives.flat_kernel import run_products
from bnmind.junction.derivatives.flat_products import ProductBuilder, Products, Term, read_only
from bnmind.junction.derivatives.reused_cells import ReusedCells
from bnmind.junction.program.freed_memory import WORTH_REUSE, reuse_freed_memory
from bnmind.junction.program.program import Program, Sum

__all__ = ["FlatProgram", "FlatRecord", "flat_program", "has_small_steps", "should_be_flat"]

_SMALL_STEP = 500_000
"""The multiplications of a step, on average, below which the compiled run is faster."""

_FIRST_RUNS = 2
"""The first runs of a plan are in NumPy, for the list of products takes as long as some runs."""

_WORK_OF_A_STEP = 25
"""The operations of a step with its derivatives in NumPy."""

_work_in_numpy = PlainWork(run_products, if_cached=300_000)
"""The work in NumPy, before the kernels are compiled."""

_FIXED, _VALUES, _ADJOINTS = 0, 1, 2
"""The arrays that products take: the inputs that are the same in all runs; the other registers of a
run and the number one; and the adjoints of all registers but the inputs. Products fill the second,
the third, or the adjoints of the inputs, which stand in the place of the first."""

_NOTHING = np.empty(0)


def should_be_flat(program: Program, n_runs: int) -> bool:
    """Return whether to run a program by the kernels, and count its work if not.

    Parameters
    ----------
    program
        The program.
    n_runs
        How often it ran before.
    """
    if not has_small_steps(program) or n_runs < _FIRST_RUNS:
        return False
    work = _WORK_OF_A_STEP * len(program.steps)
    if work < _work_in_numpy.left:
        _work_in_numpy.spend(work)
        return False
    return compiles()


def has_small_steps(program: Program) -> bool:
    """Return whether the steps of a program are so small that the kernels are faster."""
    return program.multiplications <= _SMALL_STEP * len(program.steps)


@dataclass(frozen=True, eq=False, kw_only=True)
class FlatProgram(Sealed):
    """The steps of a program as products; see `bnmind.junction.derivatives.flat_kernel`."""

    program: Program
    fixed: Floats
    """The inputs that are the same in all runs."""
    terms: tuple[Term, ...]
    """The place of each register."""
    shapes: tuple[tuple[int, ...], ...]
    """The shape of each register."""
    n_cells: int
    """The cells of the other registers, and of the number one after them."""
    products: Products

    def run(self, inputs: Sequence[Floats]) -> FlatRecord:
        """Return all registers of a run."""
        # The products fill all other registers.
        values = np.empty(self.n_cells)
        values[-1] = 1.0
        for term, table in zip(self.terms, inputs, strict=False):
            if term.array == _VALUES:
                values[term.first : term.first + table.size] = table.ravel()
        known = read_only(values)
        self.products.run((self.fixed, known, known), (_NOTHING, values, _NOTHING))
        return made(FlatRecord, program=self, values=known)

    def reverse(self, end: int, wanted: Collection[int]) -> _Reverse:
        """Return the backward pass from a register to inputs."""
        key = end, tuple(wanted)
        return latest(self, "_reverse", key, partial(_reverse, self, end, wanted))


@dataclass(frozen=True, eq=False, kw_only=True)
class FlatRecord(Sealed):
    """The registers of a run."""

    program: FlatProgram
    values: Floats

    def register(self, number: int) -> Floats:
        """Return a register."""
        program = self.program
        array, first, _ = program.terms[number]
        shape = program.shapes[number]
        cells = program.fixed if array == _FIXED else self.values
        return cells[first : first + math.prod(shape)].reshape(shape)

    def adjoints(
        self, end: int, seed: Floats, wanted: Collection[int]
    ) -> tuple[dict[int, Floats], list[Floats]]:
        """Return the derivatives of a number by input registers, and arrays that hold all of them.

        All are read-only. The parameters and results are those of `backward.adjoints`.
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

    products: Products
    start: Term | None
    """The adjoint that is given; None if it leads to no wanted input."""
    n_found: int
    """The cells of the adjoints that are found."""
    n_others: int
    """The cells that the other adjoints take, those that are needed at the same time."""
    parts: tuple[tuple[int, int, int, tuple[int, ...]], ...]
    """The inputs on which the number depends; their first cells, the cells after their last ones,
    and their shapes."""


def flat_program(program: Program, inputs: Sequence[Floats | None] = ()) -> FlatProgram:
    """Return the steps of a program, all products and sums, as products of terms.

    Parameters
    ----------
    program
        The program.
    inputs
        The first inputs, as far as they are the same in all runs; otherwise None.
    """
    fixed = [table.ravel() for table in inputs if table is not None]
    terms = []
    n_cells = [0, 0]
    for register, scope in enumerate(program.scopes):
        is_fixed = register < len(inputs) and inputs[register] is not None
        array = _FIXED if is_fixed else _VALUES
        terms.append(Term(array, n_cells[array], scope))
        n_cells[array] += program.cells(register)
    if n_cells[_VALUES] >= WORTH_REUSE:
        reuse_freed_memory()
    one = Term(_VALUES, n_cells[_VALUES], ())
    builder = ProductBuilder(program.sizes)
    for (operation, left, right), term in zip(
        program.steps, terms[program.n_inputs :], strict=True
    ):
        # A sum is a product with the number one.
        other = one if isinstance(operation, Sum) else terms[right]
        builder.add(terms[left], other, term, adds=False)
    return FlatProgram(
        program=program,
        fixed=np.concatenate([_NOTHING, *fixed]),
        terms=tuple(terms),
        shapes=tuple([tuple([program.sizes[v] for v in scope]) for scope in program.scopes]),
        n_cells=n_cells[_VALUES] + 1,
        products=builder.build(),
    )


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
