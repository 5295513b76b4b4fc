"""Programs, which are straight-line sequences of products and sums over numbered registers.

A step takes one or two registers and fills the next one. It consists of an *operation*, which holds
the precomputed arrangement of axes, and the numbers of its registers. Equal operations are one
object. An operation with two operands is a matrix product (`numpy.matmul`) or, without sums, a
broadcast product. An operation with one operand is a sum. Functions that are stored by their values
have their own steps, see `bnmind.junction.program.scatter`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np

from bnmind._workers import one_blas_thread
from bnmind.junction.program.packed import PackedStep
from bnmind.junction.program.scatter import Expand, LookUp, Scatter
from bnmind.junction.program.underflow import PLAIN, Arithmetic, Underflow
from bnmind.pgm.factor import Values

__all__ = [
    "FAR",
    "Expand",
    "LookUp",
    "Operation",
    "Product",
    "Program",
    "Scatter",
    "Scope",
    "Step",
    "Sum",
    "near_one",
]

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
    gathered: int = 0
    """The cells that the product takes for a moment, besides copies of the registers."""

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

    A program contains only tuples, and arrays only in the steps of
    `bnmind.junction.program.sparse` and `bnmind.junction.program.packed`.
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
        """The bytes of the lists of packed steps; see `bnmind.junction.program.packed`."""
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
                    copies += operation.gathered
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
            powers = [0] * len(registers)
            if kind.scaled:
                for number, table in enumerate(inputs):
                    registers[number], powers[number] = _scaled(table, kind, watch)
            for (operation, left, right), spent in self._reported(progress):
                values = operation(registers[left], registers[right])
                power = 0
                if kind.rounds_up:
                    values = watch.rounded_up(values)
                if kind.scaled:
                    values, power = _scaled(values, kind, watch)
                    power += powers[left] + (0 if _is_sum(operation) else powers[right])
                registers.append(values)
                powers.append(power)
                for register in spent:
                    registers[register] = empty
        return registers, powers, watch.has_lost

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


def _is_sum(operation: Operation) -> bool:
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
