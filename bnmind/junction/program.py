"""Programs: lists of steps that fill registers with tables."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import cache, cached_property
from typing import Any, NamedTuple, TypeAlias

import numpy as np

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

_SMALLEST = float(np.finfo(np.float64).tiny)


@contextmanager
def noted_underflow() -> Iterator[list[str]]:
    """Yield a list that grows with each NumPy operation inside whose numbers underflow."""
    lost: list[str] = []
    with np.errstate(under="call", call=lambda kind, flag: lost.append(kind)):
        yield lost


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

    def of_cases(
        self, moves: tuple[bool, bool], left: int, right: int, n: int
    ) -> tuple[LookUp, int]:
        """Return the step for registers with cases, and the axis of the cases in its result.

        The case is the last of the axes, ``left`` and ``right`` in number, of a register that
        ``moves``.
        """
        if not moves[0]:
            return replace(self, axes=(*self.axes, right - 1)), -1
        if not moves[1]:
            return self, left - 1
        first = 1 + len(self.shared)
        axes = (*self.axes[:first], right - 1, *self.axes[first:])
        return replace(self, axes=axes, shared=(*self.shared, left - 1)), left - 1

    def take(self, left: Values, right: Values, nothing: float) -> Values:
        """Return the rows, with the number ``nothing`` at positions of −1."""
        rows = right.transpose(self.axes)
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
        places, rows = self.places(left), self.rows(left.shape, right)
        rest = rows.shape[1]
        index = places if rest == 1 else (places[:, None] * rest + np.arange(rest)).ravel()
        length = self.n_places * rest
        if rows.dtype.kind == "c":
            totals: Any = 1j * np.bincount(index, rows.imag.ravel(), length)
            totals += np.bincount(index, rows.real.ravel(), length)
        else:
            totals = np.bincount(index, rows.ravel(), length)
        sums: Values = totals[rest:].reshape(self.shape)
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

    def rows(self, shape: tuple[int, ...], right: Values) -> Values:
        """Return the numbers to add, ``(rows, rest)``, for a function of this shape."""
        values = right.transpose(self.axes).reshape(self.view)
        whole = (*shape, self.view[-1])
        rows: Values = values if values.shape == whole else np.broadcast_to(values, whole)
        return rows.reshape(-1, self.view[-1])

    def of_cases(
        self, moves: tuple[bool, bool], left: int, right: int, n: int
    ) -> tuple[Scatter, int]:
        """Return the step for registers with cases; see `LookUp.of_cases`."""
        kept, axes, view, shape = self.kept, self.axes, self.view, self.shape
        if not moves[0]:
            # The case is one of the rest.
            axes, view, shape = (*axes, right - 1), (*view[:-1], n * view[-1]), (*shape, n)
            return replace(self, axes=axes, view=view, shape=shape), -1
        place = 1 + len(kept)
        if moves[1]:
            both = len(axes) - len(shape[place:])
            axes = (*axes[:both], right - 1, *axes[both:])
        view = (*view[:-1], n if moves[1] else 1, view[-1])
        shape = (*shape[:place], n, *shape[place:])
        return replace(self, kept=(*kept, left - 1), axes=axes, view=view, shape=shape), place


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


# --- Programs, which are straight-line sequences of products and sums over numbered registers -----
#
# A step takes one or two registers and fills the next one. It consists of an *operation*, which
# holds the precomputed arrangement of axes, and the numbers of its registers. Equal operations are
# one object. An operation with two operands is a matrix product (`numpy.matmul`) or, without sums,
# a broadcast product. An operation with one operand is a sum. Functions that are stored by their
# values have their own steps, see `bnmind.junction.program`.

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
        left, right = self.arranged(left, right)
        if self.sums:
            product: Values = np.matmul(left, right)
            return product if self.same_shapes[2] else product.reshape(self.shape)
        if self.overwrites and left.shape == self.shape != () and left.dtype == right.dtype:
            return np.multiply(left, right, out=left)
        return left * right

    def arranged(self, left: Values, right: Values) -> tuple[Values, Values]:
        """Return the registers with their axes and shapes in the product."""
        if self.left_axes is not None:
            left = left.transpose(self.left_axes)
        left_is, right_is, _ = self.same_shapes
        if not left_is:
            left = left.reshape(self.left_shape)
        if self.right_axes is not None:
            right = right.transpose(self.right_axes)
        if not right_is:
            right = right.reshape(self.right_shape)
        return left, right


Operation: TypeAlias = Sum | Product | LookUp | Scatter | Expand


class Step(NamedTuple):
    """An operation on two registers; a sum takes its register twice."""

    operation: Operation
    left: int
    right: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Program:
    """A sequence of steps without branches; registers 0, …, n_inputs − 1 are the inputs.

    A program contains only tuples.
    """

    n_inputs: int
    steps: tuple[Step, ...]
    spent: tuple[tuple[int, ...], ...]
    """For each step, the registers that no later step needs."""
    scopes: tuple[Scope, ...]
    """The variables of each register."""
    sizes: tuple[int, ...]
    """The number of states of every variable."""

    @cached_property
    def held(self) -> tuple[int, ...]:
        """The number of cells of each register."""
        return tuple(map(self.cells, range(len(self.scopes))))

    @cached_property
    def multiplications(self) -> int:
        """Multiplications (or additions, where a step only sums) of one run."""
        return sum(step.operation.cost for step in self.steps)

    def threads(self, n_cases: int = 1) -> AbstractContextManager[None]:
        """Return the context of a run: one BLAS thread, unless most work is in wide products."""
        if n_cases not in self._one_thread:
            self._one_thread[n_cases] = self._waits_for_memory(n_cases)
        return one_blas_thread() if self._one_thread[n_cases] else nullcontext()

    @cached_property
    def _one_thread(self) -> dict[int, bool]:
        """Whether runs for so many cases have one thread, which affects only their time."""
        return {}

    def _waits_for_memory(self, n_cases: int) -> bool:
        shared = wide = 0
        for operation, _, _ in self.steps:
            if isinstance(operation, Product) and operation.sums:
                (*_, m, k), n = operation.left_shape, operation.right_shape[-1] * n_cases
                if m * k * n >= _SHARED:
                    shared += operation.cost
                if m * k * n >= _WORTH_THREADS and min(m, k, n) >= _WIDE:
                    wide += operation.cost
        return shared > 2 * wide

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
            if live + copies > peak:
                peak = live + copies
            for register in spent:
                live -= cells[register]
        return peak

    def run(
        self,
        inputs: Sequence[Values],
        progress: Callable[[int], None] | None = None,
        *,
        scaled: bool = False,
        rounds_up: bool = False,
    ) -> tuple[list[Values], list[int], bool]:
        """Return the registers after the last step; those not kept are empty.

        Parameters
        ----------
        inputs
            The contents of the first registers.
        progress
            A function that is called with the number of steps done.
        scaled
            Whether powers of two keep every register near one.
        rounds_up
            Whether lost numbers are rounded up, so that all sums are upper bounds. No number may
            be negative.

        Returns
        -------
        registers, powers, has_lost
            The registers as multiples of powers of two; no powers if the run is not scaled; and
            whether numbers have underflowed.
        """
        registers: list[Values] = list(inputs)
        own = [0] * len(registers)
        empty = np.empty(0)
        with self.threads(), noted_underflow() as lost:
            if scaled:
                for number, table in enumerate(inputs):
                    registers[number], power = near_one(table)
                    own[number] += power
            steps = zip(self.steps, self.spent, strict=True)
            for done, ((operation, left, right), spent) in enumerate(steps, 1):
                values = operation(registers[left], registers[right])
                if scaled:
                    values, power = near_one(values)
                    own.append(
                        power + own[left] + (0 if isinstance(operation, Sum) else own[right])
                    )
                elif rounds_up and lost:
                    values = np.maximum(values, _SMALLEST)
                    lost.clear()
                registers.append(values)
                for register in spent:
                    registers[register] = empty
                if progress is not None:
                    progress(done)
        return registers, own if scaled else [], bool(lost)


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
