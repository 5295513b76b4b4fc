"""Products and sums over lists of cells that may be other than zero.

The zeros of the tables of a model are known before any run, and so are the zeros that they cause in
products and sums. Where few cells of a register are left, a step visits only these:

=================  ==============================  ========================================
step               result                          cost
=================  ==============================  ========================================
`SparseProduct`    Σ_k L[b, m, k] R[b, k, n]       the listed (b, m, k), times the columns n
`SparseSum`        Σ_k L[m, k]                     the listed (m, k)
=================  ==============================  ========================================

The lists are made once, with the plan. Evidence selects rows of tables; a cell is listed if any
evidence may select it. Only products of small matrices are considered, such as those of many
144 × 3 and 3 × 4 matrices, which take two nanoseconds a multiplication; a product of large ones
takes a tenth of that, and a list nearly four. Registers are still stored with their zeros, so that
all other steps, batches and logarithms are as before.

Zeros are followed only through the registers that the longest steps need, within a limit of work.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind._values import made, sealed
from bnmind.junction.program.program import Operation, Product, Program, Step, Sum
from bnmind.junction.program.program_inputs import Source
from bnmind.pgm.factor import Values

__all__ = ["SparseProduct", "SparseSum", "lists_of", "with_sparse_steps"]

_FEWER = 8
"""How many times fewer multiplications a product over a list must take."""

_SMALL_MATRIX = 64
"""The most cells of a right matrix for which a product over a list is tried."""

_LEAST = 2**14
"""The fewest multiplications of a product that is replaced: some 30 microseconds."""

_SHARE = 8
"""Products of small matrices must be this part of a run's multiplications or more."""

_COST_OF_A_STEP = 2**13
"""The multiplications that take as long as the pattern of a small register."""

_MOST_STEPS, _MOST_CELLS = 128, 2**21
"""The most patterns of a program, and the most cells that they have: some four milliseconds."""

_MOST_MISSES = 4
"""The number of steps with too many cells to be listed after which no more steps are tried."""

_Pattern = NDArray[np.bool_]


@dataclass(frozen=True, kw_only=True, eq=False)
class SparseProduct(Product):
    """A matrix product over the cells of the left register that may be other than zero."""

    passes: tuple[tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.intp]], ...]
    """Lists of cells, at most one of each row of the product: their positions in the left register,
    the rows of the right matrices that they are multiplied with, and the rows of the product."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the product."""
        n = self.right_shape[-1]
        if self.right_axes is not None:
            right = right.transpose(self.right_axes)
        left, right = left.reshape(-1), right.reshape(-1, n)
        kind = np.result_type(left, right)
        product: Values = np.zeros((math.prod(self.left_shape[:-1]), n), dtype=kind)
        for number, (cells, middles, rows) in enumerate(self.passes):
            terms = right.take(middles, axis=0) * left.take(cells)[:, None]
            product[rows] = product[rows] + terms if number else terms
        return product.reshape(self.shape)

    @property
    def whole_cost(self) -> int:
        """The multiplications of the product over all cells."""
        return math.prod(self.left_shape) * self.right_shape[-1]


@dataclass(frozen=True, eq=False)
class SparseSum(Sum):
    """A sum over the cells of the left register that may be other than zero."""

    cells: NDArray[np.intp]
    """``(cells,)`` their positions in the left register."""
    places: NDArray[np.intp]
    """``(cells,)`` the cell of the result to which each is added."""
    shape: tuple[int, ...]
    """The shape of the result."""
    whole_cost: int
    """The additions of the sum over all cells."""

    __eq__ = object.__eq__
    __hash__ = object.__hash__

    def __call__(self, left: Values, right: Values) -> Values:
        """Return the sums."""
        if left.dtype.kind == "c":
            return super().__call__(left, right)
        values = left.reshape(-1).take(self.cells)
        sums: Any = np.bincount(self.places, values, math.prod(self.shape))
        result: Values = sums.reshape(self.shape)
        return result


def lists_of(operation: object) -> list[NDArray[np.intp]]:
    """Return the arrays of a step."""
    if isinstance(operation, SparseProduct):
        return [array for one in operation.passes for array in one]
    return [operation.cells, operation.places] if isinstance(operation, SparseSum) else []


def with_sparse_steps(program: Program, sources: Sequence[Source]) -> Program:
    """Return a program that visits only listed cells, where that is predicted to take less.

    Parameters
    ----------
    program
        The program.
    sources
        The first registers.
    """
    candidates = _candidates(program, sources)
    patterns = _Patterns(program, sources)
    steps = list(program.steps)
    misses = 0
    for i in candidates:
        operation, left, right = steps[i]
        pattern = patterns.of(left)
        if pattern is not None and _is_promising(operation, pattern):
            listed: SparseProduct | SparseSum
            if isinstance(operation, Sum):
                listed = _listed_sum(operation, pattern)
            else:
                assert isinstance(operation, Product)
                listed = _listed_product(operation, pattern, patterns.known.get(right))
            if _FEWER * listed.cost <= operation.cost:
                steps[i] = Step(listed, left, right)
                continue
        misses += 1
        if misses == _MOST_MISSES:
            break
    return replace(program, steps=tuple(steps)) if candidates else program


def _candidates(program: Program, sources: Sequence[Source]) -> list[int]:
    """Return the steps that may be worth a list: of small matrices, the longest steps first."""
    steps = [
        i
        for i, (operation, _, _) in enumerate(program.steps)
        if operation.cost >= _LEAST
        and (isinstance(operation, Sum) or (isinstance(operation, Product) and _is_slow(operation)))
    ]
    if sum([program.steps[i].operation.cost for i in steps]) * _SHARE < program.multiplications:
        return []
    shares = _shares(program, sources)
    steps = [i for i in steps if shares[program.steps[i].left] * _FEWER <= 1]
    return sorted(steps, key=lambda i: (-program.steps[i].operation.cost, i))


def _is_promising(operation: Operation, pattern: _Pattern) -> bool:
    """Return whether a list may be short enough: zeros on the right make it up to half as long."""
    share = np.count_nonzero(pattern) / max(1, pattern.size)
    return bool(_FEWER * share <= (1 if isinstance(operation, Sum) else 2))


def _is_slow(operation: Product) -> bool:
    """Return whether a product sums over small matrices."""
    return operation.sums and math.prod(operation.right_shape[-2:]) <= _SMALL_MATRIX


def _shares(program: Program, sources: Sequence[Source]) -> list[float]:
    """Return the share of cells other than zero of each register, roughly and from below."""
    shares = [1.0] * program.n_inputs
    for i, source in enumerate(sources):
        if source.values is not None and source.values.size:
            shares[i] = np.count_nonzero(source.values) / source.values.size
    for operation, left, right in program.steps:
        shares.append(shares[left] * (shares[right] if isinstance(operation, Product) else 1.0))
    return shares


class _Patterns:
    """The cells of registers that may be other than zero, within a limit of work."""

    def __init__(self, program: Program, sources: Sequence[Source]) -> None:
        self.program = program
        self.sources = sources
        self.known: dict[int, _Pattern | None] = {}
        """The patterns so far; None where less than a quarter of the cells is known to be zero."""
        self._steps_left = min(_MOST_STEPS, program.multiplications // _COST_OF_A_STEP)
        self._cells_left = min(_MOST_CELLS, program.multiplications // 2)

    def of(self, register: int) -> _Pattern | None:
        """Return the pattern of a register; None if it is unknown or has few zeros."""
        waiting, needed = [register], set()
        while waiting:
            other = waiting.pop()
            if other not in needed and other not in self.known:
                needed.add(other)
                if len(needed) > self._steps_left:
                    return None
                if other >= self.program.n_inputs:
                    waiting += self.program.steps[other - self.program.n_inputs][1:]
        self._steps_left -= len(needed)
        for other in sorted(needed):
            pattern = self._made(other)
            if pattern is not None and 4 * np.count_nonzero(pattern) > 3 * pattern.size:
                pattern = None
            self.known[other] = pattern
        return self.known[register]

    def _made(self, register: int) -> _Pattern | None:
        """Return the pattern of a register from those of its operands."""
        program, n = self.program, self.program.n_inputs
        if register < n:
            source = self.sources[register] if register < len(self.sources) else None
            if source is None or source.values is None:
                return None
            return _any(source.values != 0, tuple(range(len(source.observed))))
        operation, left, right = program.steps[register - n]
        first, second = self.known[left], self.known[right]
        self._cells_left -= (
            operation.cost if isinstance(operation, Sum) else program.cells(register)
        )
        if (first is None and second is None) or self._cells_left < 0:
            return None
        if isinstance(operation, Sum):
            return None if first is None else _any(first, operation.axes)
        if not isinstance(operation, Product):
            return None
        first = _arranged(first, operation.left_axes, operation.left_shape)
        second = _arranged(second, operation.right_axes, operation.right_shape)
        if not operation.sums:
            return (first & second).reshape(operation.shape)
        if self.known[left] is not None and self.known[right] is not None:
            return self._summed(operation, first, second)
        # One of them is true everywhere.
        both: _Pattern = _any(first, (-1,))[..., None] & _any(second, (-2,))[..., None, :]
        return both.reshape(operation.shape)

    def _summed(self, operation: Product, first: _Pattern, second: _Pattern) -> _Pattern | None:
        """Return the pattern of a matrix product."""
        *_, m, k = operation.left_shape
        n = operation.right_shape[-1]
        cells = np.flatnonzero(first)
        self._cells_left -= len(cells) * n
        if self._cells_left < 0:
            return None
        rows = cells // k
        terms = second.reshape(-1, n)[rows // m * k + cells % k]
        different, starts = np.unique(rows, return_index=True)
        pattern = np.zeros((first.size // k, n), dtype=np.bool_)
        if len(different):
            pattern[different] = np.logical_or.reduceat(terms, starts, axis=0)
        return pattern.reshape(operation.shape)


def _any(pattern: _Pattern, axes: tuple[int, ...]) -> _Pattern:
    """Return whether any cell along some axes is true."""
    found: _Pattern = np.logical_or.reduce(pattern, axis=axes)
    return found


def _arranged(
    pattern: _Pattern | None, axes: tuple[int, ...] | None, shape: tuple[int, ...]
) -> _Pattern:
    """Return a pattern in the arrangement of a product; all true if it is unknown."""
    if pattern is None:
        return np.broadcast_to(np.True_, shape)
    return (pattern if axes is None else pattern.transpose(axes)).reshape(shape)


def _listed_product(operation: Product, left: _Pattern, right: _Pattern | None) -> SparseProduct:
    """Return a matrix product over the cells that both patterns leave."""
    *_, m, k = operation.left_shape
    n = operation.right_shape[-1]
    found = np.flatnonzero(_arranged(left, operation.left_axes, operation.left_shape))
    rows = found // k
    middles = rows // m * k + found % k
    if right is not None:
        second = _arranged(right, operation.right_axes, operation.right_shape)
        kept = second.any(axis=-1).reshape(-1)[middles]
        found, rows, middles = found[kept], rows[kept], middles[kept]
    axes = operation.left_axes or tuple(range(left.ndim))
    shape = [left.shape[axis] for axis in axes]
    index = dict(zip(axes, np.unravel_index(found, shape), strict=True))
    cells = np.ravel_multi_index([index[axis] for axis in range(left.ndim)], left.shape)
    # The cells of a row are one after another: the number of each within its row.
    _, starts, counts = np.unique(rows, return_index=True, return_counts=True)
    within = np.arange(len(rows)) - np.repeat(starts, counts)
    lists = [np.flatnonzero(within == number) for number in range(counts.max(initial=0))]
    return made(
        SparseProduct,
        **{**vars(operation), "cost": len(rows) * n, "gathered": 3 * len(rows) * n},
        passes=tuple([(sealed(cells[i]), sealed(middles[i]), sealed(rows[i])) for i in lists]),
    )


def _listed_sum(operation: Sum, left: _Pattern) -> SparseSum:
    """Return a sum over the cells that a pattern leaves."""
    cells = np.flatnonzero(left)
    index = np.unravel_index(cells, left.shape)
    kept = [axis for axis in range(left.ndim) if axis not in operation.axes]
    shape = tuple([left.shape[axis] for axis in kept])
    places = np.zeros(len(cells), dtype=np.intp)
    for axis in kept:
        places = places * left.shape[axis] + index[axis]
    return made(
        SparseSum,
        axes=operation.axes,
        cost=len(cells),
        cells=sealed(cells),
        places=sealed(places),
        shape=shape,
        whole_cost=operation.cost,
    )
