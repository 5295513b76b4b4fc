"""Programs whose registers are parts of one array, for the compiled runs."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from bnmind._jit import PlainWork
from bnmind._values import Sealed, made, sealed
from bnmind.information import Floats
from bnmind.junction.derivatives.flat_kernel import AXIS, STEP, Ints, run_backward, run_forward
from bnmind.junction.program.program import Program, Sum

__all__ = ["FlatProgram", "FlatRecord", "flat_program", "should_be_flat"]

_SMALL_STEP = 1000
"""The multiplications of a step, on average, below which the compiled run is faster."""

_WORK_OF_A_STEP = 25
"""The operations of a step with its derivatives in NumPy."""

_work_in_numpy = PlainWork(run_backward, if_cached=300_000)
"""The work in NumPy, before the kernels are compiled."""


def should_be_flat(program: Program) -> bool:
    """Return whether to run a program by the kernels, and count its work if not."""
    n_steps = len(program.steps)
    if program.multiplications > _SMALL_STEP * n_steps:
        return False
    work = _WORK_OF_A_STEP * n_steps
    if work < _work_in_numpy.left:
        _work_in_numpy.spend(work)
        return False
    return True


@dataclass(frozen=True, eq=False, kw_only=True)
class FlatProgram(Sealed):
    """The steps of a program as arrays; see `bnmind.junction.derivatives.flat_kernel`."""

    steps: Ints
    axes: Ints
    starts: tuple[int, ...]
    """The first cell of each register, and the end."""
    shapes: tuple[tuple[int, ...], ...]
    """The shape of each register."""

    def run(self, inputs: Sequence[Floats]) -> FlatRecord:
        """Return all registers of a run."""
        # The kernel fills all other registers.
        values = np.empty(self.starts[-1] + 1)
        values[-1] = 1.0
        for (start, end), table in zip(pairwise(self.starts), inputs, strict=False):
            values[start:end] = table.ravel()
        run_forward(self.steps, self.axes, values)
        return made(FlatRecord, program=self, values=values)


@dataclass(frozen=True, eq=False, kw_only=True)
class FlatRecord(Sealed):
    """The registers of a run in one array; its last cell is the number one."""

    program: FlatProgram
    values: Floats

    def register(self, number: int) -> Floats:
        """Return a register."""
        return self._part(self.values, number)

    def adjoints(
        self, end: int, seed: Floats, wanted: Collection[int]
    ) -> tuple[dict[int, Floats], list[Floats]]:
        """Return the derivatives of a number by input registers, and arrays that hold all of them.

        All are read-only. The parameters are those of `backward.adjoints`.
        """
        program = self.program
        starts, shapes = program.starts, program.shapes
        found = np.zeros(len(self.values))
        found[starts[end] : starts[end + 1]] = seed.ravel()
        run_backward(program.steps, program.axes, self.values, found)
        # The inputs come first; the rest need not stay in memory.
        most = max(wanted, default=-1) + 1
        found = sealed(found[: starts[most]].copy())
        parts = {i: found[starts[i] : starts[i + 1]].reshape(shapes[i]) for i in wanted}
        return parts, [found]

    def _part(self, cells: Floats, number: int) -> Floats:
        starts = self.program.starts
        return cells[starts[number] : starts[number + 1]].reshape(self.program.shapes[number])


def flat_program(program: Program) -> FlatProgram:
    """Return the steps of a program, all products and sums, as arrays."""
    sizes = program.sizes
    shapes = [tuple([sizes[v] for v in scope]) for scope in program.scopes]
    starts = [0]
    for shape in shapes:
        starts.append(starts[-1] + math.prod(shape))
    one = starts[-1]
    steps: list[list[int]] = []
    axes: list[list[int]] = []
    for number, (operation, left, right) in enumerate(program.steps, program.n_inputs):
        # A sum is a product with the number one.
        operands = (left,) if isinstance(operation, Sum) else (left, right)
        scopes = [program.scopes[register] for register in (*operands, number)]
        union = list(dict.fromkeys(v for scope in scopes[:-1] for v in scope))
        strides = [_strides(scope, sizes) for scope in scopes]
        if isinstance(operation, Sum):
            strides.insert(1, {})
        # The longest axis is the inner loop.
        union.sort(key=lambda v: sizes[v])
        rows = [[sizes[v], *[one_stride.get(v, 0) for one_stride in strides]] for v in union]
        rows = rows or [[1, 0, 0, 0]]
        second = one if isinstance(operation, Sum) else starts[right]
        cells = starts[number + 1] - starts[number]
        steps.append([starts[left], second, starts[number], cells, len(axes), len(rows)])
        axes += rows
    return FlatProgram(
        steps=np.array(steps, dtype=np.int64).reshape(-1, STEP),
        axes=np.array(axes, dtype=np.int64).reshape(-1, AXIS),
        starts=tuple(starts),
        shapes=tuple(shapes),
    )


def _strides(scope: Sequence[int], sizes: Sequence[int]) -> dict[int, int]:
    """Return the distance between neighbors along each axis of a register."""
    strides, stride = {}, 1
    for v in reversed(scope):
        strides[v] = stride
        stride *= sizes[v]
    return strides
