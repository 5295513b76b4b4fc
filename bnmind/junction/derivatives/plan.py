"""Plans for derivatives, which are compiled once and run for any evidence."""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._jit import PlainWork, compiles
from bnmind._messages import counted
from bnmind._values import Sealed, latest, made, sealed
from bnmind.errors import (
    CancellationError,
    ImpossibleEvidenceError,
    InvalidArgumentError,
)
from bnmind.information import Floats
from bnmind.junction.derivatives.backward import (
    LANES,
    PRODUCT,
    ROWS,
    Places,
    Record,
    RegisterProgram,
    register_program,
    run_products,
)
from bnmind.junction.derivatives.gradient import Gradient, InputTable, are_finite
from bnmind.junction.graphs import JunctionTree
from bnmind.junction.inference.evidence import Evidence, likelihood, read_findings
from bnmind.junction.program.program import (
    WORTH_REUSE,
    Product,
    Program,
    Scope,
    Sum,
    reuse_freed_memory,
)
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import FactorModel, Network
from bnmind.pgm.variable import Variable

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


# Lists of products for `bnmind.junction.derivatives.backward`, and the way to compute each.
#
#

_AT_ONCE = 2000
"""The products of a call; Ctrl-C is heard between calls."""


class Term(NamedTuple):
    """A part of an array that a product takes or fills: a register, or its adjoint."""

    array: int
    """The position of the array."""
    first: int
    """The first cell."""
    scope: Scope
    """The variables of its axes."""


@dataclass(frozen=True, eq=False)
class Products(Sealed):
    """A list of products."""

    parts: tuple[Places, ...]
    """The products, in parts that are computed in one call."""
    tables: Places
    n_buffered: int
    """The cells of the buffer."""

    def run(self, sources: tuple[Floats, ...], targets: tuple[Floats, ...]) -> None:
        """Fill the results, from read-only arrays; both may be views of the same memory."""
        cells = np.empty(self.n_buffered)
        buffer = cells, read_only(cells)
        for part in self.parts:
            run_products(part, self.tables, sources, targets, buffer)


class ProductBuilder:
    """Collects products over variables of some sizes."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self._sizes = sizes
        self._rows: list[tuple[int, ...]] = []
        self._tables: list[NDArray[np.int64]] = []
        self._n_places = 0
        self._known: dict[object, tuple[bool, tuple[int, ...]]] = {}

    def add(self, x: Term, y: Term, c: Term, *, adds: bool) -> None:
        """Fill C with the sum of X Y over all variables that C lacks, or add the sum to it."""
        number: dict[int, int] = {}
        scopes = [
            tuple([number.setdefault(v, len(number)) for v in term.scope]) for term in (x, y, c)
        ]
        sizes = tuple([self._sizes[v] for v in number])
        key = adds, *scopes, sizes
        if key not in self._known:
            self._known[key] = self._way(_axes(scopes, sizes), adds)
        swaps, columns = self._known[key]
        x, y = (y, x) if swaps else (x, y)
        self._rows.append((x.array, y.array, c.array, x.first, y.first, c.first, adds, *columns))

    def build(self) -> Products:
        """Return the products."""
        rows = np.array(self._rows, dtype=np.uint64).reshape(-1, PRODUCT)
        most = int(rows[rows[:, 7] > 0, 11].max(initial=0))
        tables = np.concatenate([np.empty(0, dtype=np.int64), *self._tables]).astype(np.uint64)
        parts = [rows[i : i + _AT_ONCE] for i in range(0, len(rows), _AT_ONCE)]
        return Products(tuple(parts), tables, (ROWS + most) * LANES)

    def _way(self, axes: Sequence[_Axis], adds: bool) -> tuple[bool, tuple[int, ...]]:
        """Return whether to exchange X and Y, and the last columns of a product."""
        first = self._n_places
        tiles = [_tiles(axes, adds), _tiles([a.exchanged() for a in axes], adds)]
        swaps = tiles[1].cost < tiles[0].cost
        best = tiles[swaps]
        if best.cost < _cost_of_loops(axes):
            columns = best.columns(first)
            table = best.table()
        else:
            swaps = False
            loops = _loops(axes)
            cells = math.prod([axis.size for axis in axes if axis.c])
            columns = (0, first, cells, len(loops), 0, 0, 0, 0)
            table = np.array(loops).ravel()
        self._tables.append(table)
        self._n_places += len(table)
        return swaps, columns


class _Axis(NamedTuple):
    """A variable of a product, and the distance of neighbors in each term; zero where it is not."""

    size: int
    x: int
    y: int
    c: int

    def exchanged(self) -> _Axis:
        return _Axis(self.size, self.y, self.x, self.c)


def _axes(scopes: Sequence[Scope], sizes: Sequence[int]) -> list[_Axis]:
    """Return the axes of a product whose variables are numbered."""
    distances = [[0] * len(sizes) for _ in scopes]
    for scope, of_term in zip(scopes, distances, strict=True):
        distance = 1
        for v in reversed(scope):
            of_term[v] = distance
            distance *= sizes[v]
    axes = zip(sizes, *distances, strict=True)
    return [_Axis(*axis) for axis in axes if axis[0] > 1]


def _cost_of_loops(axes: Sequence[_Axis]) -> float:
    """Return the time of a product in loops, in cycles of a processor, roughly."""
    total = math.prod([axis.size for axis in axes])
    return 20 + 1.3 * total + 8 * total / max([axis.size for axis in axes], default=1)


def _loops(axes: Iterable[_Axis]) -> list[_Axis]:
    """Return the axes of loops: the longest one last, and neighbors joined where they can be."""
    joined: list[_Axis] = []
    for axis in sorted(axes, key=lambda axis: axis.size):
        size = axis.size
        if joined and joined[-1][1:] == (size * axis.x, size * axis.y, size * axis.c):
            joined[-1] = axis._replace(size=joined[-1].size * size)
        else:
            joined.append(axis)
    return joined or [_Axis(1, 0, 0, 0)]


class _Tiles(NamedTuple):
    """A product in tiles: its axes in groups, as in the formula."""

    b: list[_Axis]
    i: list[_Axis]
    s: list[_Axis]
    j: list[_Axis]
    step: int
    """The distance of neighbors in s if neighbors in j are neighbors in Y; otherwise zero."""
    are_neighbors: bool
    """Whether neighbors in j are neighbors in C."""
    cost: float
    """The time, in cycles of a processor, roughly."""

    def columns(self, first: int) -> tuple[int, ...]:
        """Return the last columns of the product, whose tables begin at ``first``."""
        sizes = [_size(group) for group in (self.b, self.i, self.s, self.j)]
        return (1, first, *sizes, self.step, self.are_neighbors)

    def table(self) -> NDArray[np.int64]:
        """Return the tables of places, one after another."""
        b, i, s, j = self.b, self.i, self.s, self.j
        parts = [_places([axis[term] for axis in b], b) for term in (1, 2, 3)]
        parts += [_filled(_places([axis[term] for axis in i], i), ROWS) for term in (1, 3)]
        parts += [_places([axis[term] for axis in s], s) for term in (1, 2)]
        parts += [_filled(_places([axis[term] for axis in j], j), LANES) for term in (2, 3)]
        return np.concatenate(parts)


def _tiles(axes: Sequence[_Axis], adds: bool) -> _Tiles:
    """Return a product in tiles whose lanes are the variables of Y and C."""
    groups: tuple[list[_Axis], ...] = ([], [], [], [])
    for axis in sorted(axes, key=lambda axis: -axis.c):
        groups[2 if not axis.c else 1 if not axis.y else 0 if axis.x else 3].append(axis)
    b, i, s, j = groups
    s.sort(key=lambda axis: -axis.y)
    n_b, n_i, n_s, n_j = map(_size, groups)
    step = 0
    if _distance([axis.y for axis in j], j) == 1:
        step = _distance([axis.y for axis in s], s) if s else 1
    are_neighbors = _distance([axis.c for axis in j], j) == 1
    strips, tiles = -(-n_j // LANES), -(-n_i // ROWS)
    packed = 0 if step and n_j >= LANES else strips
    scattered = 0 if are_neighbors and not adds and n_j >= LANES else strips
    tile = strips * tiles * (8 + 4 * n_s)
    cost = 30 + n_b * (10 + tile + 10 * packed * n_s + 10 * scattered * n_i)
    return _Tiles(b, i, s, j, step, are_neighbors, cost)


def _size(axes: Iterable[_Axis]) -> int:
    return math.prod([axis.size for axis in axes])


def _distance(distances: Sequence[int], axes: Sequence[_Axis]) -> int:
    """Return the distance of neighbors along several axes together; 0 if it is not the same."""
    if not axes:
        return 1
    first = expected = distances[-1]
    for distance, axis in zip(reversed(distances), reversed(axes), strict=True):
        if distance != expected:
            return 0
        expected *= axis.size
    return first


def _places(distances: Sequence[int], axes: Sequence[_Axis]) -> NDArray[np.int64]:
    """Return the places of all combinations of states, the last axis fastest."""
    places = np.zeros(1, dtype=np.int64)
    for distance, axis in zip(distances, axes, strict=True):
        places = (places[:, None] + distance * np.arange(axis.size)).ravel()
    return places


def _filled(places: NDArray[np.int64], part: int) -> NDArray[np.int64]:
    """Return places whose number is a multiple of ``part``, by repeating the last one."""
    return np.concatenate([places, np.repeat(places[-1:], -len(places) % part)])


def read_only(array: Floats) -> Floats:
    """Return a read-only view of an array that itself stays as it is."""
    view = array.view()
    view.setflags(write=False)
    return view


# --- Programs whose registers are parts of one array, for the compiled runs -----------------------

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
    """The steps of a program as products; see `bnmind.junction.derivatives.backward`."""

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


# --- Plans for derivatives, which are compiled once and run for any evidence ----------------------

_LEAST, _MOST = 1e-200, 1e200
"""Totals outside of these bounds are computed again with scaled registers."""

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
        if not scaled and should_be_flat(self.program, next(self._runs)):
            record = self._flat.run(inputs)
        else:
            record = self._registers.run(inputs, scaled=scaled)
        if self.end is None:
            ending = np.ones((self.target.n_states,) if self.target else ())
        else:
            ending = record.register(self.end)
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
