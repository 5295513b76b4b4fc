"""The predicted costs of answers, and their limits."""

from __future__ import annotations

import math
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, NamedTuple

import numpy as np
from annotated_types import Gt

from bnmind._messages import format_bytes, many
from bnmind._values import Count, Value
from bnmind._workers import one_blas_thread
from bnmind.errors import TooLargeError
from bnmind.junction.contraction import Products
from bnmind.junction.graphs import Clique, JunctionTree
from bnmind.junction.program import Product, Program, Step, Sum, reuse_freed_memory

# --- The predicted time of a run: its work, and the rates at which this machine does it -----------
#
# Six kinds of work take nearly all the time: the steps themselves (in Python), the matrices of
# batched products (calls of BLAS), multiplications, the numbers that a step reads, copies and
# writes, which take longer if they do not fit into the caches of the processor, and the memory that
# the system has to provide anew for the largest arrays. On 146 plans for
# networks, grids and models of competitions, whose runs take from 0.1 milliseconds to six seconds,
# the time for each multiplication varies by a factor of 50 among the large ones alone.

_NUMBERS_OF_A_TERM = 16
"""The numbers that take as long as a term of a step that is neither a dense product nor a sum."""

_NUMBERS_OF_A_SUM = 3
"""The numbers that take as long as one that is summed; short axes are summed slowly."""

_FAR = 2**20
"""The fewest cells of a register that is larger than a cache: eight megabytes."""

_FRESH = 2**23
"""The fewest cells of an array that the C library asks of the system each time: its 64 MiB are more
than `reuse_freed_memory` makes it keep."""

_WORTH_MEASURING = 0.2
"""The seconds, by the usual rates, of runs whose time is predicted with those of this machine."""


class Work(NamedTuple):
    """The work of a run, or the seconds that a unit of each kind of it takes."""

    steps: float = 0.0
    matrices: float = 0.0
    multiplications: float = 0.0
    numbers: float = 0.0
    far: float = 0.0
    """Numbers of steps with a register that is larger than a cache."""
    fresh: float = 0.0
    """Numbers written to memory that the system provides anew."""


USUAL = Work(steps=5e-6, matrices=1e-7, multiplications=1e-10, numbers=1e-9, far=2e-9, fresh=6e-10)
"""The rates of an ordinary machine in 2025."""


def work_of_steps(program: Program) -> list[Work]:
    """Return the work of each step."""
    return [_work(program, step, n) for n, step in enumerate(program.steps, program.n_inputs)]


def _work(program: Program, step: Step, register: int) -> Work:
    operation, left, right = step
    held = [program.cells(r) for r in (register, left, right)]
    matrices = multiplications = 0
    written = held[:1]
    if isinstance(operation, Sum):
        numbers = _NUMBERS_OF_A_SUM * operation.cost
    elif not isinstance(operation, Product):
        numbers = _NUMBERS_OF_A_TERM * operation.cost
    else:
        if operation.sums:
            matrices, multiplications = math.prod(operation.left_shape[:-2]), operation.cost
            # Registers whose axes are moved are copied, to join them to those of matrices.
            axes = (operation.left_axes, operation.right_axes)
            written += [n for n, moved in zip(held[1:], axes, strict=True) if moved is not None]
        numbers = sum(held) + sum(written[1:])
    near, far = (0, numbers) if max(held) >= _FAR else (numbers, 0)
    fresh = sum(n for n in written if n >= _FRESH)
    return Work(1, matrices, multiplications, near, far, fresh)


def predicted_seconds(work: Work) -> float:
    """Return the seconds that some work takes on this machine, which is measured at first need.

    The work of short runs is predicted with usual rates.
    """
    seconds = _product(work, USUAL)
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
    kept = np.ones(_FRESH)

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
            fresh=max(
                _least(lambda: np.full(_FRESH, 2.0), 5) - _least(lambda: kept.fill(2.0), 5), 0.0
            )
            / _FRESH,
        )


def _least(work: Callable[[], object], times: int) -> float:
    """Return the least of several times in seconds, without those of other programs if known."""
    is_fine = time.get_clock_info("thread_time").resolution < 1e-6
    clock = time.thread_time if is_fine else time.perf_counter
    return min(timeit.repeat(work, timer=clock, number=1, repeat=times))


def format_seconds(seconds: float) -> str:
    """Return a predicted time, which is not exact, in words.

    >>> format_seconds(0.03), format_seconds(0.26), format_seconds(47.2), format_seconds(500)
    ('less than 0.1 s', 'about 0.3 s', 'about 50 s', 'about 8 min')
    """
    if seconds < 0.1:
        return "less than 0.1 s"
    units = ("s", 1), ("min", 60), ("h", 3600), ("days", 86400)
    unit, size = next((u for u in units if seconds < 100 * u[1]), units[-1])
    number = float(f"{seconds / size:.1g}")
    return f"about {number:,g} {unit}" if number < 1e5 else f"more than 100,000 {unit}"


# --- Limits of the cost of a run, and the errors of plans that exceed them ------------------------
#
# The cost of a run is the number of its multiplications, its time, and the bytes that it holds at
# any time: the tables of the model, the messages that are still needed, and intermediate products.
# All are predicted from the plan. Clique sizes do not count, because no table of a clique is
# allocated; they are only a rough measure of the cost, see `SURELY_TOO_LARGE`.

DEFAULT_JOINT_CELLS = 2**22
"""The default limit for the cells of the joint distribution of a marginal MAP."""

DEFAULT_PLAN_BYTES = 2**31
"""The default limit for the bytes of a run: 2 GiB."""

DEFAULT_PLAN_MULTIPLICATIONS = 2**34
"""The default limit for the multiplications of a run. They take two seconds in products of large
matrices, and up to a minute where each number takes part in few of them, as in grids."""

DEFAULT_PLAN_SECONDS = 60.0
"""The default limit for the predicted seconds of a run."""

SURELY_TOO_LARGE = 4
"""The number of cells for each allowed multiplication above which a plan is not assembled.
On the networks of bnlearn's repository a run takes .26 to 4 multiplications a cell."""

HOPELESS = 2**64
"""The number of cells of a quick order, for each cell allowed, above which there is no search. On
pedigrees, a search finds an order four million times smaller than a quick one."""

_MOST_NAMES = 12
"""The most variables of a clique that an error names."""

_WAY_OUT = (
    "Observe more variables, ask for fewer targets, pass order=BestOrder(), or raise the limit."
)


@dataclass(frozen=True)
class Limits(Value):
    """The limits of the cost of a run of a plan.

    Parameters
    ----------
    max_bytes
        The limit for the bytes that a run holds at any time: tables, messages and intermediate
        products. A plan that has run 16 times may take up to 64 MiB more, for compiled code.
    max_multiplications
        The limit for the multiplications of a run.
    max_seconds
        The limit for the predicted time of a run of a plan on this machine, in seconds. The
        prediction is seldom wrong by more than a factor of two, unless other programs run too.
    only_restrictions
        Whether the plan may exceed these limits because you will run only restrictions of it. The
        plan itself then refuses to run.

    Raises
    ------
    InvalidArgumentError
        If a limit is below 1, or that of the seconds is not above 0.
    """

    max_bytes: Count = DEFAULT_PLAN_BYTES
    max_multiplications: Count = DEFAULT_PLAN_MULTIPLICATIONS
    max_seconds: Annotated[float, Gt(0)] = field(default=DEFAULT_PLAN_SECONDS, kw_only=True)
    only_restrictions: bool = field(default=False, kw_only=True)

    @property
    def most_cells(self) -> int:
        """The most cells of a plan that is assembled."""
        return SURELY_TOO_LARGE * self.max_multiplications

    @property
    def hopeless_cells(self) -> int:
        """The most cells of a tree that is considered."""
        return HOPELESS * self.max_multiplications

    @property
    def table_cells(self) -> int:
        """The most numbers that the tables of a model may hold."""
        return self.max_bytes // 8

    def refusal(
        self,
        multiplications: int,
        memory: int,
        largest: Clique | None,
        *,
        seconds: float = 0.0,
        roughly: bool = False,
    ) -> TooLargeError | None:
        """Return the error of a plan that exceeds the limits; None if it does not.

        Parameters
        ----------
        multiplications
            The multiplications of a run.
        memory
            The bytes of a run.
        largest
            The largest clique, which the error names.
        seconds
            The predicted time of a run.
        roughly
            Whether the numbers are estimates.
        """
        needed, budget = max(
            (multiplications, self.max_multiplications),
            (memory, self.max_bytes),
            (seconds, self.max_seconds),
            key=lambda cost: cost[0] / cost[1],
        )
        if needed <= budget:
            return None
        times, size = many(multiplications), format_bytes(memory)
        if roughly:
            times, size = (f"about {text.removeprefix('about ')}" for text in (times, size))
        # A rough estimate counts messages only, so a small one says nothing.
        room = "" if roughly and memory <= self.max_bytes else f" and {size}"
        clique = ""
        if largest is not None:
            names = ", ".join(largest.variables[:_MOST_NAMES])
            if len(largest.variables) > _MOST_NAMES:
                names += f" and {len(largest.variables) - _MOST_NAMES} more"
            clique = f" The largest clique is {{{names}}} with {many(largest.size)} cells."
        takes, allowed = "", ""
        if seconds > min(0.1, self.max_seconds):
            takes, allowed = f", {format_seconds(seconds)}", f", max_seconds={self.max_seconds:g}"
        return TooLargeError(
            f"a run of this plan would take {times} multiplications{room}{takes}; allowed are"
            f" max_multiplications={self.max_multiplications:,}{allowed} and"
            f" max_bytes={self.max_bytes:,}.{clique} {_WAY_OUT}",
            needed=math.ceil(needed),
            budget=math.ceil(budget),
        )

    def refusal_of_trees(
        self, trees: Sequence[JunctionTree], sizes: Mapping[str, int]
    ) -> TooLargeError | None:
        """Return the error of trees that are surely too large by a rough estimate.

        Parameters
        ----------
        trees
            The trees of a plan that is not assembled yet.
        sizes
            The number of states of each variable.
        """
        cells = sum(tree.total_size for tree in trees)
        if cells <= self.most_cells:
            return None
        messages = max(
            sum(math.prod([sizes[name] for name in edge.separator]) for edge in tree.edges)
            for tree in trees
        )
        largest = max((c for tree in trees for c in tree.cliques), key=lambda clique: clique.size)
        return self.refusal(cells, 8 * messages, largest, roughly=True)

    def refusal_of_cells(self, cells: int) -> TooLargeError:
        """Return the error of a model whose tree has more than ``cells`` cells."""
        return TooLargeError(
            f"a run of this plan would take more than {many(cells)} multiplications in a quick"
            f" elimination order; allowed are max_multiplications={self.max_multiplications:,}."
            f" {_WAY_OUT}",
            needed=cells,
            budget=self.max_multiplications,
        )

    def refusal_of_tables(self, cells: int, largest: str, size: int) -> TooLargeError:
        """Return the error of functions whose tables have too many cells.

        Parameters
        ----------
        cells
            The cells of all tables together; a cell takes 8 bytes.
        largest
            The name of the variable with the largest table.
        size
            The cells of that table.
        """
        return TooLargeError(
            f"the tables of functions would take {format_bytes(8 * cells)}; allowed are"
            f" max_bytes={self.max_bytes:,}. The largest is the table of {largest} with"
            f" {many(size)} cells. {_WAY_OUT}",
            needed=8 * cells,
            budget=self.max_bytes,
        )


DEFAULT_LIMITS = Limits()
