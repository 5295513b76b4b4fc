"""The predicted time of a run: its work, and the rates at which this machine does it.

Five kinds of work take nearly all the time: the steps themselves (in Python), the matrices of
batched products (calls of BLAS), multiplications, and the numbers that a step reads, copies and
writes, which take longer if they do not fit into the caches of the processor. On 146 plans for
networks, grids and models of competitions, whose runs take from 0.1 milliseconds to six seconds,
the time for each multiplication varies by a factor of 50 among the large ones alone.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from bnmind._workers import one_blas_thread
from bnmind.junction.program.freed_memory import reuse_freed_memory
from bnmind.junction.program.products import Products
from bnmind.junction.program.program import Product, Program, Step, Sum

__all__ = ["Work", "predicted_seconds", "seconds_text", "work_of_steps"]

_NUMBERS_OF_A_TERM = 16
"""The numbers that take as long as a term of a step that is neither a dense product nor a sum."""

_NUMBERS_OF_A_SUM = 3
"""The numbers that take as long as one that is summed; short axes are summed slowly."""

_FAR = 2**20
"""The fewest cells of a register that is larger than a cache: eight megabytes."""

_WORTH_MEASURING = 0.2
"""The seconds, by the usual rates, of runs whose time is predicted with those of this machine."""


class Work(NamedTuple):
    """The work of a run, or the seconds that a unit of each kind of it takes."""

    steps: float
    matrices: float
    multiplications: float
    numbers: float
    far: float
    """Numbers of steps with a register that is larger than a cache."""


_USUAL = Work(steps=5e-6, matrices=1e-7, multiplications=1e-10, numbers=1e-9, far=2e-9)
"""The rates of an ordinary machine in 2025."""


def work_of_steps(program: Program) -> list[Work]:
    """Return the work of each step."""
    return [_work(program, step, n) for n, step in enumerate(program.steps, program.n_inputs)]


def _work(program: Program, step: Step, register: int) -> Work:
    operation, left, right = step
    held = [program.cells(r) for r in (register, left, right)]
    matrices = multiplications = 0
    if type(operation) is Sum:
        numbers = _NUMBERS_OF_A_SUM * operation.cost
    elif type(operation) is not Product:
        numbers = _NUMBERS_OF_A_TERM * operation.cost
    else:
        numbers = sum(held)
        if operation.sums:
            matrices, multiplications = math.prod(operation.left_shape[:-2]), operation.cost
            numbers += _copied(program, left, operation.left_axes, operation.left_shape)
            numbers += _copied(program, right, operation.right_axes, operation.right_shape)
    is_far = max(held) >= _FAR
    return Work(1, matrices, multiplications, 0 if is_far else numbers, numbers if is_far else 0)


def _copied(
    program: Program, register: int, axes: tuple[int, ...] | None, shape: Sequence[int]
) -> int:
    """Return how many numbers are copied to join the axes of a register to those of matrices."""
    if axes is None:
        return 0
    sizes = [program.sizes[v] for v in program.scopes[register]]
    place = 0
    for length in shape:
        joined = 1
        while joined < length:
            if joined > 1 and axes[place] != axes[place - 1] + 1:
                return program.cells(register)
            joined *= sizes[axes[place]]
            place += 1
    return 0


def predicted_seconds(work: Work) -> float:
    """Return the seconds that some work takes on this machine, which is measured at first need.

    The work of short runs is predicted with usual rates.
    """
    seconds = _product(work, _USUAL)
    return seconds if seconds < _WORTH_MEASURING else _product(work, _measured_rates())


def _product(work: Work, rates: Work) -> float:
    return math.fsum([amount * rate for amount, rate in zip(work, rates, strict=True)])


@cache
def _measured_rates() -> Work:
    """Return the rates of this machine, from a tenth of a second of typical work.

    The least of several times counts, since other programs disturb each.
    """
    reuse_freed_memory()
    products = Products([2] * 24)
    step, _ = products.arranged((0, 1), (2, 1, 3), (0, 2, 3))
    two, few = np.ones((2, 2)), np.ones((2, 2, 2))
    matrices, matrix = np.ones((1_000, 2, 2)), np.ones((160, 160))

    def seconds_of_a_number(n: int, times: int) -> float:
        """Return the seconds for each number of a product with a large register of n axes.

        It is copied in runs of four numbers, neither the shortest nor the longest ones.
        """
        scope = tuple(range(n))
        rest = [v for v in scope if v not in (3, n - 3)]
        narrow, _ = products.arranged((3, n - 3, n), scope, (3, n, *rest))
        many = np.ones([2] * n)
        return _least(lambda: narrow(few, many), times) / (3 * many.size)

    with one_blas_thread():
        return Work(
            steps=_least(lambda: step(two, few), 50),
            matrices=_least(lambda: np.matmul(matrices, matrices), 5) / len(matrices),
            multiplications=_least(lambda: np.matmul(matrix, matrix), 9) / matrix.shape[0] ** 3,
            numbers=seconds_of_a_number(18, 9),
            far=seconds_of_a_number(21, 5),
        )


def _least(work: Callable[[], object], times: int) -> float:
    """Return the least of several times in seconds, without those of other programs if known."""
    is_fine = time.get_clock_info("thread_time").resolution < 1e-6
    clock = time.thread_time if is_fine else time.perf_counter
    seconds = []
    for _ in range(times):
        before = clock()
        work()
        seconds.append(clock() - before)
    return min(seconds)


def seconds_text(seconds: float) -> str:
    """Return a predicted time, which is not exact, in words.

    >>> seconds_text(0.03), seconds_text(0.26), seconds_text(47.2), seconds_text(500)
    ('less than 0.1 s', 'about 0.3 s', 'about 50 s', 'about 8 min')
    """
    if seconds < 0.1:
        return "less than 0.1 s"
    units = ("s", 1), ("min", 60), ("h", 3600), ("days", 86400)
    unit, size = next((u for u in units if seconds < 100 * u[1]), units[-1])
    number = float(f"{seconds / size:.1g}")
    return f"about {number:,g} {unit}" if number < 1e5 else f"more than 100,000 {unit}"
