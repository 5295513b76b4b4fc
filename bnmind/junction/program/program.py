"""Programs: lists of steps that fill registers with tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, cached_property
from types import TracebackType
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._workers import one_blas_thread
from bnmind.pgm.factor import Values

# --- The reuse of freed memory between the steps of a program, and between runs -------------------
#
# The C library of Linux returns each freed array of 128 KiB or more to the system, so that the next
# one costs a page fault for every 4 KiB: up to half the time of a run. It learns from the sizes of
# freed arrays to keep more (the *dynamic mmap threshold* of glibc's ``mallopt``), but only after an
# array of 32 MiB it keeps as much as it ever does, 64 MiB. Such an array, allocated once and freed
# untouched, takes no memory. Other libraries are not affected.

WORTH_REUSE = 2**14
"""The fewest cells of a register whose memory the library would return at once."""

_LEARNED_FROM = 2**25 - 2**16
"""The bytes of an array from which the library learns: a little less than its limit of 32 MiB."""


@cache
def reuse_freed_memory() -> None:
    """Let the C library keep up to 64 MiB of freed memory for later arrays of the process."""
    array = np.empty(_LEARNED_FROM, dtype=np.uint8)
    del array


# --- Detection of underflow, and the proof that lost numbers do not matter ------------------------
#
# Products of many probabilities leave the range of floating-point numbers. Scaling by powers of two
# prevents this, unless the numbers of one table are too far apart, as in the distribution of a sum
# of a thousand votes. The smallest numbers are then lost, but usually do not matter for the result.
# A second run rounds them up. Because no number is negative, it gives an upper bound of every sum,
# and if this bound equals the sum, nothing is missing.

MATTERS = 1 + 1e-13
"""The factor by which lost numbers may increase a sum before they matter."""

_SMALLEST = float(np.finfo(np.float64).tiny)


class Arithmetic(NamedTuple):
    """The treatment of numbers that are too small or too large."""

    scaled: bool = False
    """Whether powers of two keep every register near one."""
    rounds_up: bool = False
    """Whether lost numbers are rounded up, so that all sums are upper bounds."""


PLAIN = Arithmetic()


class Underflow:
    """A context manager that records whether NumPy operations within it underflow."""

    def __init__(self) -> None:
        self.has_lost = False
        """Whether any number has underflowed."""
        self._now = False

    def __enter__(self) -> Underflow:
        self._state = np.errstate(under="call", call=self._note)
        self._state.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        fault: BaseException | None,
        where: TracebackType | None,
    ) -> None:
        self._state.__exit__(kind, fault, where)

    def _note(self, kind: str, flag: int) -> None:
        self.has_lost = self._now = True

    def rounded_up(self, values: Any) -> Any:
        """Return the numbers, rounded up if any were lost since the last call."""
        if not self._now:
            return values
        self._now = False
        return np.maximum(values, _SMALLEST)

    def round_up(self, values: Any) -> None:
        """Round up numbers in place, if any were lost since the last call."""
        if self._now:
            self._now = False
            np.maximum(values, _SMALLEST, out=values)


# --- Steps for functions that are stored by their values, not as tables of zeros and ones ---------
#
# For a function ``c = f(h)``, a register holds f(h) for every configuration h of the arguments,
# which is called a *row*. The sum of a partial sum of 400 votes and one more vote takes 802
# numbers, while its table has 322,404 cells. Three steps replace the operations on a table:
#
# =========  =======================================  ================================
# step       result                                   cost
# =========  =======================================  ================================
# `LookUp`   ``Σ_c [c = f(h)] g(c, h)`` = g(f(h), h)  its result
# `Scatter`  ``Σ_h [c = f(h)] g(h)``, for every c     the rows
# `Expand`   ``[c = f(h)]``                           the table; the last resort
# =========  =======================================  ================================
#
# A row of −1 is zero for every c, because its state is impossible.


@dataclass(frozen=True)
class LookUp:
    """Take rows of the right register at the positions in the left register."""

    axes: tuple[int, ...]
    """The order of the right register's axes: the child, the shared variables, the rest."""
    cost: int
    shared: tuple[int, ...] = ()
    """Axes of the left register whose variables are also in the right register."""
    partial: bool = False
    """Whether positions may be −1, where there is no state."""

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the rows, over the axes of the positions and then the rest."""
        return self.take(left, right, 0.0)

    def take(self, left: Values, right: Values, nothing: float, trailing: int = 0) -> Values:
        """Return the rows, with the number ``nothing`` at positions of −1.

        The right register may have ``trailing`` further axes at the end.
        """
        more = tuple(range(len(self.axes), len(self.axes) + trailing))
        rows = right.transpose((*self.axes, *more))
        if self.partial:
            rows = np.concatenate([rows, np.full((1, *rows.shape[1:]), nothing)])
        positions: Any = left
        if not self.shared:
            all_rows: Values = rows.take(positions, axis=0)
            return all_rows
        selected: Values = rows[(positions, *grids(left.shape, self.shared))]
        return selected


@dataclass(frozen=True)
class Scatter:
    """Add each number of the right register to the state at its row's position on the left."""

    n: int
    """The number of states of the child."""
    kept: tuple[int, ...]
    """The left register's axes in the result, after the child's axis; ascending."""
    axes: tuple[int, ...]
    """The order of the right register's axes: those shared with the left register, the rest."""
    view: tuple[int, ...]
    """Its shape in this order: the rest is one axis, and axes it lacks have length one."""
    shape: tuple[int, ...]
    """The shape of the result: the child, the axes kept, the rest."""
    cost: int

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the sums."""
        right = self.rows(left.shape, right)
        sums: Values = self.sums(self.places(left), right).reshape(self.shape)
        return sums

    def places(self, left: Values) -> Any:
        """Return the destination of each row: 0 for none, or 1 plus a cell of the result."""
        shape = [1] * left.ndim
        for axis in self.kept:
            shape[axis] = left.shape[axis]
        # The kept axes ascend.
        n_kept = math.prod(shape)
        places = left * n_kept + np.arange(1, n_kept + 1).reshape(shape)
        # All rows with position −1 share one destination.
        return np.maximum(places, 0).ravel()

    def sums(self, places: Any, rows: Any) -> Any:
        """Return the sums of rows ``(rows, rest)`` at their destinations, ``(places, rest)``."""
        rest = rows.shape[1]
        index = places if rest == 1 else (places[:, None] * rest + np.arange(rest)).ravel()
        length = self.n_places * rest
        if rows.dtype.kind == "c":
            totals: Any = 1j * np.bincount(index, rows.imag.ravel(), length)
            totals += np.bincount(index, rows.real.ravel(), length)
        else:
            totals = np.bincount(index, rows.ravel(), length)
        return totals.reshape(self.n_places, rest)[1:]

    def reduced(self, left: Values, right: Values, add: np.ufunc, nothing: float) -> Values:
        """Return the sums with the operation ``add``; empty cells are ``nothing``."""
        rows = self.rows(left.shape, right)
        places = self.places(left)
        order = np.argsort(places, kind="stable")
        destinations, starts = np.unique(places[order], return_index=True)
        totals = np.full((self.n_places, rows.shape[1]), nothing)
        totals[destinations] = add.reduceat(rows[order], starts, axis=0)
        return totals[1:].reshape(self.shape)

    @property
    def n_places(self) -> int:
        """The number of destinations: the cells of the result, and one for rows without a state."""
        return 1 + math.prod(self.shape[: 1 + len(self.kept)])

    def rows(self, shape: tuple[int, ...], right: Values, n_cases: int | None = None) -> Values:
        """Return the numbers to add, ``(rows, rest)``, for a function of this shape.

        If the right register has a last axis of cases, it becomes part of the rest.
        """
        axes = self.axes if n_cases is None else (*self.axes, len(self.axes))
        length = self.view[-1] * (n_cases or 1)
        values = right.transpose(axes).reshape(*self.view[:-1], length)
        whole = (*shape, length)
        rows: Values = values if values.shape == whole else np.broadcast_to(values, whole)
        return rows.reshape(-1, length)


@dataclass(frozen=True)
class Expand:
    """Expand a function to its table of zeros and ones."""

    n: int
    """The number of states of the child, which is the first axis of the table."""
    cost: int

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the table."""
        states = np.arange(self.n).reshape(-1, *[1] * left.ndim)
        table: Values = (states == left).astype(np.float64)
        return table


def grids(shape: tuple[int, ...], axes: tuple[int, ...]) -> list[Any]:
    """Return the positions along some axes of an array, in shapes that broadcast with it."""
    return [
        np.arange(shape[axis]).reshape([-1 if a == axis else 1 for a in range(len(shape))])
        for axis in axes
    ]


# --- Steps on registers that hold only the cells that may be other than zero ----------------------
#
# A *packed* register is a vector: the numbers of a list of cells of a table, which the plan knows,
# in ascending order. A packed step knows the terms of its result. Term t is the product of the
# numbers ``first[t]`` of the left and ``second[t]`` of the right register, and each number of the
# result is the sum of some consecutive terms:
#
#     result[i] = Σ left[first[t]] · right[second[t]],  starts[i] ≤ t < starts[i + 1]
#
# So zeros are neither stored nor multiplied. Registers that are not packed are numbered like their
# cells. `bnmind.junction.program.sparse_steps` makes these steps.

Places = NDArray[Any]
"""Positions in a register, as the smallest unsigned whole numbers that hold them."""


@dataclass(frozen=True, eq=False, kw_only=True)
class PackedStep:
    """A product of two registers, or a sum of one, over a list of terms."""

    first: Places
    """``(terms,)`` the factor of each term in the left register."""
    second: Places | None
    """``(terms,)`` the other factor, in the right register; None for a sum."""
    starts: Places | None
    """``(numbers,)`` the first term of each number; None if each number is one term."""
    cells: Places | None
    """``(numbers,)`` the cell of each number in a result that is not packed; None if it is."""
    shape: tuple[int, ...]
    """The shape of a result that is not packed."""
    whole_cost: int
    """The multiplications of the step over all cells."""

    @property
    def cost(self) -> int:
        """The number of terms."""
        return len(self.first)

    @property
    def gathered(self) -> int:
        """The numbers that a run takes for a moment: terms, factors, and wider positions."""
        return 3 * len(self.first)

    @property
    def arrays(self) -> list[Places]:
        """The lists of the step."""
        lists = (self.first, self.second, self.starts, self.cells)
        return [values for values in lists if values is not None]

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the result."""
        terms = left.reshape(-1)[self.first]
        if self.second is not None:
            terms = terms * right.reshape(-1)[self.second]
        return self._gathered(terms, np.add, 0.0)

    def of_logarithms(self, left: Values, right: Values, add: np.ufunc) -> Values:
        """Return the result for logarithms, with another operation in place of the sum."""
        terms = left.reshape(-1)[self.first]
        if self.second is not None:
            terms = terms + right.reshape(-1)[self.second]
        return self._gathered(terms, add, -np.inf)

    def _gathered(self, terms: Values, add: np.ufunc, zero: float) -> Values:
        """Return the result of some terms."""
        if self.starts is not None and len(terms):
            terms = add.reduceat(terms, self.starts)
        if self.cells is None:
            return terms
        whole: Values = np.full(math.prod(self.shape), zero, dtype=terms.dtype)
        whole[self.cells] = terms
        return whole.reshape(self.shape)


# --- Programs, which are straight-line sequences of products and sums over numbered registers -----
#
# A step takes one or two registers and fills the next one. It consists of an *operation*, which
# holds the precomputed arrangement of axes, and the numbers of its registers. Equal operations are
# one object. An operation with two operands is a matrix product (`numpy.matmul`) or, without sums,
# a broadcast product. An operation with one operand is a sum. Functions that are stored by their
# values have their own steps, see `bnmind.junction.program.program`.

Scope: TypeAlias = tuple[int, ...]
"""The variables of a register, numbered, in the order of its axes."""

FAR = 64
"""The exponent of the bound of a scaled run, whose largest entries stay within 2^±64."""

_SHARED = 2**18
"""The fewest multiplications of a product of two matrices that BLAS may share among threads."""

_WIDE = 64
"""The fewest rows, sums and columns of matrices whose product does not wait for memory."""

_WORTH_THREADS = 2**26
"""The fewest multiplications of such a product for which threads pay: some ten milliseconds."""


@dataclass(frozen=True)
class Sum:
    """Sum axes out of the left register."""

    axes: tuple[int, ...]
    cost: int

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the sums."""
        total: Values = np.add.reduce(left, axis=self.axes)
        return total


@dataclass(frozen=True, kw_only=True)
class Product:
    """Transpose and reshape two registers, and multiply them."""

    left_axes: tuple[int, ...] | None
    """The order of the left register's axes: batch, rows, summed; None as they are."""
    right_axes: tuple[int, ...] | None
    """The order of the right register's axes: batch, summed, columns; None as they are."""
    left_shape: tuple[int, ...]
    right_shape: tuple[int, ...]
    shape: tuple[int, ...]
    """The shape of the product: batch, rows, columns."""
    cost: int
    sums: bool
    """Whether shared variables are summed out, by a matrix product."""
    overwrites: bool = False
    """Whether the product may overwrite the left register, which no later step needs."""
    same_shapes: tuple[bool, bool, bool] = (False, False, False)
    """Whether the left register, the right register and the product already have these shapes."""

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the product."""
        if self.left_axes is not None:
            left = left.transpose(self.left_axes)
        left_is, right_is, product_is = self.same_shapes
        if not left_is:
            left = left.reshape(self.left_shape)
        if self.right_axes is not None:
            right = right.transpose(self.right_axes)
        if not right_is:
            right = right.reshape(self.right_shape)
        if self.sums:
            product: Values = np.matmul(left, right)
            return product if product_is else product.reshape(self.shape)
        if self.overwrites and left.shape == self.shape != () and left.dtype == right.dtype:
            return np.multiply(left, right, out=left)
        return left * right


Operation: TypeAlias = Sum | Product | LookUp | Scatter | Expand | PackedStep


class Step(NamedTuple):
    """An operation on two registers; a sum takes its register twice."""

    operation: Operation
    left: int
    right: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Program:
    """A sequence of steps without branches; registers 0, …, n_inputs − 1 are the inputs.

    A program contains only tuples, and arrays only in packed steps.
    """

    n_inputs: int
    steps: tuple[Step, ...]
    spent: tuple[tuple[int, ...], ...]
    """For each step, the registers that no later step needs."""
    scopes: tuple[Scope, ...]
    """The variables of each register."""
    sizes: tuple[int, ...]
    """The number of states of every variable."""
    held: tuple[int, ...] = ()
    """How many numbers each register holds: its cells, or fewer if it is packed. By default, all
    registers hold all cells."""

    def __post_init__(self) -> None:
        if not self.held:
            object.__setattr__(self, "held", tuple(map(self.cells, range(len(self.scopes)))))

    @cached_property
    def multiplications(self) -> int:
        """Multiplications (or additions, where a step only sums) of one run."""
        return sum(step.operation.cost for step in self.steps)

    @property
    def _threads(self) -> AbstractContextManager[None]:
        """The context of a run: BLAS has one thread, unless most work is in wide products."""
        return one_blas_thread() if self._waits_for_memory else nullcontext()

    @cached_property
    def _waits_for_memory(self) -> bool:
        shared = wide = 0
        for operation, _, _ in self.steps:
            if isinstance(operation, Product) and operation.sums:
                (*_, m, k), n = operation.left_shape, operation.right_shape[-1]
                if m * k * n >= _SHARED:
                    shared += operation.cost
                if m * k * n >= _WORTH_THREADS and min(m, k, n) >= _WIDE:
                    wide += operation.cost
        return shared > 2 * wide

    @cached_property
    def listed_bytes(self) -> int:
        """The bytes of the lists of packed steps; see `bnmind.junction.program.program`."""
        steps = [step.operation for step in self.steps]
        return sum([a.nbytes for s in steps if isinstance(s, PackedStep) for a in s.arrays])

    def cells(self, register: int) -> int:
        """Return the number of cells of a register."""
        return math.prod([self.sizes[variable] for variable in self.scopes[register]])

    @cached_property
    def peak_cells(self) -> int:
        """The largest number of cells of all registers that are filled at the same time.

        It includes the copies that a matrix product makes of operands in another order.
        """
        cells = self.held
        live = peak = 0
        steps = zip(self.steps, self.spent, strict=True)
        for number, ((operation, left, right), spent) in enumerate(steps, self.n_inputs):
            live += cells[number]
            copies = 0
            if isinstance(operation, Product):
                if operation.sums:
                    copies += cells[left] if operation.left_axes is not None else 0
                    copies += cells[right] if operation.right_axes is not None else 0
            elif isinstance(operation, Scatter):
                copies += 2 * operation.cost
            elif isinstance(operation, PackedStep):
                copies += operation.gathered
            if live + copies > peak:
                peak = live + copies
            for register in spent:
                live -= cells[register]
        return peak

    def run(
        self,
        inputs: Sequence[Values],
        kind: Arithmetic = PLAIN,
        progress: Callable[[int], None] | None = None,
    ) -> tuple[list[Values], list[int], bool]:
        """Return the registers after the last step; those not kept are empty.

        Parameters
        ----------
        inputs
            The contents of the first registers.
        kind
            The treatment of numbers that are too small or too large.
        progress
            A function that is called with the number of steps done.

        Returns
        -------
        registers, powers, has_lost
            The registers as multiples of powers of two; no powers if the run is plain; and
            whether numbers have underflowed. Only non-negative numbers can be rounded up.
        """
        registers: list[Values] = list(inputs)
        empty = np.empty(0)
        with self._threads, Underflow() as watch:
            if kind == PLAIN:
                fill: Callable[[Values], None] = registers.append
                for (operation, left, right), spent in self._reported(progress):
                    fill(operation(registers[left], registers[right]))
                    for register in spent:
                        registers[register] = empty
                return registers, [], watch.has_lost
            own = [0] * len(registers)
            if kind.scaled:
                for number, table in enumerate(inputs):
                    registers[number], power = _scaled(table, kind, watch)
                    own[number] += power
            for (operation, left, right), spent in self._reported(progress):
                values = operation(registers[left], registers[right])
                power = 0
                if kind.rounds_up:
                    values = watch.rounded_up(values)
                if kind.scaled:
                    values, power = _scaled(values, kind, watch)
                    power += own[left] + (0 if is_sum(operation) else own[right])
                registers.append(values)
                own.append(power)
                for register in spent:
                    registers[register] = empty
        return registers, own, watch.has_lost

    def _reported(
        self, progress: Callable[[int], None] | None
    ) -> Iterator[tuple[Step, tuple[int, ...]]]:
        """Yield each step with the registers that it spends, and report those that are done."""
        steps = zip(self.steps, self.spent, strict=True)
        if progress is None:
            return steps

        def reported() -> Iterator[tuple[Step, tuple[int, ...]]]:
            for done, step in enumerate(steps, 1):
                yield step
                progress(done)

        return reported()


def is_sum(operation: Operation) -> bool:
    """Return whether a step takes one register."""
    if isinstance(operation, PackedStep):
        return operation.second is None
    return isinstance(operation, Sum)


def _scaled(values: Values, kind: Arithmetic, watch: Underflow) -> tuple[Values, int]:
    values, power = near_one(values)
    return (watch.rounded_up(values) if kind.rounds_up else values), power


def near_one(values: Values) -> tuple[Values, int]:
    """Scale numbers far from one by a power of two; return the numbers and the power."""
    largest = float(np.abs(values).max(initial=0.0))
    shift = math.frexp(largest)[1]
    # Positions of a look-up are not scaled.
    if abs(shift) <= FAR or values.dtype.kind in "iu":
        return values, 0
    # In two steps, because 2¹⁰²⁵ overflows.
    half = shift // 2
    product: Values = values * 2.0**-half * 2.0 ** (half - shift)
    return product, shift
