"""Programs rewritten: steps without zeros, packed tables, and few large steps for long chains."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._values import made, sealed
from bnmind.junction.program.contraction import Products
from bnmind.junction.program.program import (
    Operation,
    PackedStep,
    Places,
    Product,
    Program,
    Scope,
    Step,
    Sum,
)
from bnmind.junction.program.program_inputs import Source
from bnmind.pgm.factor import Values

# --- Products and sums over lists of cells that may be other than zero ----------------------------
#
# The zeros of the tables of a model are known before any run, and so are the zeros that they cause
# in products and sums. Where few cells of a register are left, a step visits only these:
#
# =================  ==============================  ========================================
# step               result                          cost
# =================  ==============================  ========================================
# `SparseProduct`    Σ_k L[b, m, k] R[b, k, n]       the listed (b, m, k), times the columns n
# `SparseSum`        Σ_k L[m, k]                     the listed (m, k)
# =================  ==============================  ========================================
#
# The lists are made once, with the plan. Evidence selects rows of tables; a cell is listed if any
# evidence may select it. Only products of small matrices are considered, such as those of many 144
# × 3 and 3 × 4 matrices, which take two nanoseconds a multiplication; a product of large ones takes
# a tenth of that, and a list nearly four. Registers are still stored with their zeros, so that all
# other steps, batches and logarithms are as before.
#
# Zeros are followed only through the registers that the longest steps need, within a limit of work.

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


# --- Programs whose registers hold only the cells that may be other than zero ---------------------
#
# The zeros of the tables of a model are known before any run, and so are the zeros that they cause
# in products and sums. `packed` follows them through a program, as lists of cells: the cells of a
# product are those of its operands that agree on the variables that both have (a join of the two
# lists). Cells that later factors of the same product exclude are left out at once (semi-joins).
# Registers with few cells are then packed; see `bnmind.junction.program.program`.
#
# The lists take longer to make than a run over them, and a run takes some six nanoseconds for each
# term, which is ten times as long as a multiplication of dense matrices. So this is for programs
# that do not fit otherwise, or would take seconds.

_MOST_PACKED = 2**62
"""The most cells of a register whose cells can be numbered."""

_LARGEST_FULL = 2**22
"""The most cells of a register without zeros."""

_PACKED_SHARE = 4
"""A register is packed if at most one in so many of its cells may be other than zero."""

_FEW = 256
"""The most cells of a register that is never packed."""

_TIMES = 12
"""How many multiplications of a product over all cells take as long as a term of a list."""

_Cells = NDArray[np.int64]


class _Register(NamedTuple):
    """The cells of a register that may be other than zero."""

    cells: _Cells
    """Their positions in the whole table, ascending."""
    is_packed: bool


class _Terms(NamedTuple):
    """The terms of a step, ordered by the cells of its result."""

    first: _Cells
    """The cell of the left register of each term, as a position in the list of that register."""
    second: _Cells | None
    starts: _Cells | None
    cells: _Cells
    """The cells of the result."""


def packed(
    program: Program, sources: Sequence[Source], keep: Collection[int], most_terms: float
) -> Program | None:
    """Return a program that neither stores nor multiplies zeros; None if its lists are too long.

    Parameters
    ----------
    program
        The program; its steps are products and sums.
    sources
        The first registers.
    keep
        Registers that must not be packed, because answers are read from them.
    most_terms
        The most terms of all lists together.
    """
    if any(not isinstance(step.operation, Product | Sum) for step in program.steps):
        return None
    known: list[_Register | None] = [_of_source(source) for source in sources]
    known += [_full(program.cells(r)) for r in range(len(sources), program.n_inputs)]
    if None in known:
        return None
    steps = []
    left_terms = most_terms
    next_uses = _next_uses(program, keep)
    for number, (step, spent) in enumerate(
        zip(program.steps, program.spent, strict=True), program.n_inputs
    ):
        size = program.cells(number)
        left, right = known[step.left], known[step.right]
        assert left is not None
        assert right is not None
        if size > _MOST_PACKED:
            return None
        later = [
            (program.scopes[other], shared, factor.cells)
            for other, shared in _factors(program, number, next_uses)
            if (factor := known[other]) is not None
        ]
        scopes = program.scopes
        other = None if isinstance(step.operation, Sum) else scopes[step.right]
        of_step = scopes[step.left], other, scopes[number]
        joined = joined_terms(of_step, program.sizes, (left.cells, right.cells), most_terms)
        if joined is None:
            return None
        terms = _ordered(*_needed(program, number, joined, later))
        if len(terms.first) > left_terms:
            return None
        is_packed = size > _FEW and number not in keep and _PACKED_SHARE * len(terms.cells) <= size
        operation = _operation(program, number, (left, right), terms, is_packed=is_packed)
        if isinstance(operation, PackedStep):
            left_terms -= len(terms.first)
        steps.append(Step(operation, step.left, step.right))
        known.append(_Register(terms.cells, is_packed))
        for register in spent:
            known[register] = None
    return replace(program, steps=tuple(steps), held=_held(program, steps))


def _held(program: Program, steps: Sequence[Step]) -> tuple[int, ...]:
    """Return how many numbers each register holds."""
    held = [program.cells(register) for register in range(program.n_inputs)]
    for number, (operation, _, _) in enumerate(steps, program.n_inputs):
        if isinstance(operation, PackedStep) and operation.cells is None:
            starts = operation.starts
            held.append(len(operation.first if starts is None else starts))
        else:
            held.append(program.cells(number))
    return tuple(held)


def _of_source(source: Source) -> _Register | None:
    """Return the cells of a table that some evidence may select; None if they are too many."""
    if source.values is None:
        return None if source.input is None else _full(source.n_cells)
    observed = tuple(range(len(source.observed)))
    return _Register(np.flatnonzero((source.values != 0).any(axis=observed)), is_packed=False)


def _full(size: int) -> _Register | None:
    return _Register(np.arange(size), is_packed=False) if size <= _LARGEST_FULL else None


def _next_uses(program: Program, keep: Collection[int]) -> dict[int, tuple[int, int]]:
    """Return, for registers with a single use, the other operand and the result of that step."""
    uses: dict[int, list[tuple[int, int]]] = {}
    for number, (_, left, right) in enumerate(program.steps, program.n_inputs):
        uses.setdefault(left, []).append((right, number))
        if right != left:
            uses.setdefault(right, []).append((left, number))
    return {r: some[0] for r, some in uses.items() if len(some) == 1 and r not in keep}


def _factors(
    program: Program, number: int, next_uses: Mapping[int, tuple[int, int]]
) -> Iterator[tuple[int, Scope]]:
    """Yield the later factors of a register's only product, with the variables that both have."""
    register = number
    own = frozenset(program.scopes[number])
    while register in next_uses:
        other, result = next_uses[register]
        own &= frozenset(program.scopes[register])
        if other != register and other < number:
            shared = tuple(v for v in program.scopes[other] if v in own)
            if shared:
                yield other, shared
        register = result


def _needed(
    program: Program,
    number: int,
    joined: tuple[_Cells, _Cells | None, _Cells],
    later: Sequence[tuple[Scope, Scope, _Cells]],
) -> tuple[_Cells, _Cells | None, _Cells]:
    """Return the terms whose cells no later factor excludes."""
    first, second, to = joined
    sizes = program.sizes
    for scope, shared, cells in later:
        n = math.prod([sizes[v] for v in shared])
        if n > _LARGEST_FULL or len(cells) == math.prod([sizes[v] for v in scope]):
            continue
        allowed = np.zeros(n, dtype=np.bool_)
        allowed[_numbered(cells, scope, shared, sizes)] = True
        if not allowed.all():
            kept = allowed[_numbered(to, program.scopes[number], shared, sizes)]
            first, to = first[kept], to[kept]
            second = None if second is None else second[kept]
    return first, second, to


def joined_terms(
    scopes: tuple[Scope, Scope | None, Scope],
    sizes: Sequence[int],
    operands: tuple[_Cells, _Cells],
    most: float = math.inf,
) -> tuple[_Cells, _Cells | None, _Cells] | None:
    """Return the terms of a step, and the cell that each is added to.

    The result is None if there are more than ``most``.

    Parameters
    ----------
    scopes
        Those of the operands and of the result; a sum has no right operand.
    sizes
        The number of states of every variable.
    operands
        The cells of the operands that may be other than zero.
    most
        The most terms.
    """
    left, right, scope = scopes
    first, second = operands
    if len(first) > most:
        return None
    if right is None:
        to = _numbered(first, left, scope, sizes)
        return np.arange(len(first)), None, to
    shared = tuple(v for v in left if v in right)
    keys = _numbered(second, right, shared, sizes)
    order = np.argsort(keys, kind="stable")
    keys = keys[order]
    wanted = _numbered(first, left, shared, sizes)
    begin = np.searchsorted(keys, wanted, side="left")
    counts = np.searchsorted(keys, wanted, side="right") - begin
    total = int(counts.sum())
    if total > most:
        return None
    on_left = np.repeat(np.arange(len(first)), counts)
    ends = np.cumsum(counts)
    on_right = order[np.arange(total) + np.repeat(begin - (ends - counts), counts)]
    more = tuple(v if v not in left else -1 for v in scope)
    to = _numbered(first, left, scope, sizes)[on_left]
    to += _numbered(second, right, more, sizes, scope)[on_right]
    return on_left, on_right, to


def _numbered(
    cells: _Cells, scope: Scope, wanted: Scope, sizes: Sequence[int], radix: Scope | None = None
) -> _Cells:
    """Return the position of cells of a table in the table over other variables.

    Variables of ``wanted`` that the table lacks count as zero. The axes of the other table are
    those of ``radix`` if ``wanted`` names −1 for some.
    """
    strides, stride = {}, 1
    for v in reversed(scope):
        strides[v] = stride
        stride *= sizes[v]
    result = np.zeros(len(cells), dtype=np.int64)
    step = 1
    for v, axis in zip(reversed(wanted), reversed(radix or wanted), strict=True):
        if v in strides:
            result += cells // strides[v] % sizes[v] * step
        step *= sizes[axis]
    return result


def _ordered(first: _Cells, second: _Cells | None, to: _Cells) -> _Terms:
    """Return terms in the order of the cells that they are added to."""
    if np.any(to[1:] < to[:-1]):
        order = np.argsort(to, kind="stable")
        first, to = first[order], to[order]
        second = None if second is None else second[order]
    is_first = np.ones(len(to), dtype=np.bool_)
    is_first[1:] = to[1:] != to[:-1]
    starts = np.flatnonzero(is_first)
    cells = to[starts]
    return _Terms(first, second, None if len(starts) == len(to) else starts, cells)


def _operation(
    program: Program,
    number: int,
    operands: tuple[_Register, _Register],
    terms: _Terms,
    *,
    is_packed: bool,
) -> Operation | PackedStep:
    """Return the step over the terms, or over all cells if nothing is packed and that is faster."""
    operation = program.steps[number - program.n_inputs].operation
    left, right = operands
    plain = not (is_packed or left.is_packed or right.is_packed)
    if plain and operation.cost <= _TIMES * len(terms.first):
        return operation
    shape = tuple([program.sizes[v] for v in program.scopes[number]])
    return PackedStep(
        first=_placed(terms.first, left),
        second=None if terms.second is None else _placed(terms.second, right),
        starts=None if terms.starts is None else sealed(terms.starts),
        cells=None if is_packed else _small(terms.cells),
        shape=shape,
        whole_cost=operation.cost,
    )


def _placed(numbers: _Cells, register: _Register) -> Places:
    """Return where a register holds its listed cells of these numbers."""
    return _small(numbers if register.is_packed else register.cells[numbers])


def _small(places: _Cells) -> Places:
    """Return positions as unsigned numbers of 32 bits, if they fit."""
    largest = int(places.max(initial=0))
    return sealed(places.astype(np.uint32) if largest < math.ldexp(1, 32) else places)


# --- The order of the axes of large registers: their numbers are read and written in long runs ----
#
# A product with a small table takes a large register in the order: shared variables that stay,
# summed variables, all others. If its axes are in any other order, they are copied into this one,
# two numbers at a time in the worst case, which takes far longer than the product. Here, the first
# axes of a large register are those that the next steps take, so that a copy has long runs or is
# not necessary. The small table comes first in a product, so that the others are the last axes
# again.

_LARGE = 2**14
"""The fewest cells of a large register."""


def with_long_runs(program: Program) -> Program:
    """Return a program whose large registers have their axes in a better order.

    The inputs keep their order, and so do the registers of steps that are neither dense products
    nor dense sums.
    """
    if max(program.held, default=0) < _LARGE:
        return program
    orders = _orders(program)
    products = Products(program.sizes)
    scopes = list(program.scopes[: program.n_inputs])
    steps = []
    for register, (operation, left, right) in enumerate(program.steps, program.n_inputs):
        scope, order = program.scopes[register], orders[register]
        first, second = scopes[left], scopes[right]
        if type(operation) is Sum:
            out = tuple([axis for axis, v in enumerate(first) if v not in scope])
            operation, scope = Sum(out, operation.cost), tuple([v for v in first if v in scope])
        elif type(operation) is Product and not operation.sums:
            overwrites = operation.overwrites
            operation, scope = products.broadcast(first, second)
            operation = replace(operation, overwrites=overwrites)
        elif type(operation) is Product:
            if order is not None and program.cells(left) > program.cells(right):
                left, right, first, second = right, left, second, first
            operation, scope = products.arranged(first, second, order or scope)
        scopes.append(scope)
        steps.append(Step(operation, left, right))
    return replace(program, steps=tuple(steps), scopes=tuple(scopes))


def _orders(program: Program) -> list[Scope | None]:
    """Return the best order of the axes of each register; None if it must keep its order."""
    orders: list[Scope | None] = list(program.scopes)
    costs = [0] * len(orders)

    def want(register: int, first: Sequence[int], then: Sequence[int], cost: int) -> None:
        """Ask for an order for a step of a cost; the costliest step gets it."""
        if orders[register] is not None and cost > costs[register]:
            scope = program.scopes[register]
            rest = [v for v in then if v in scope and v not in first]
            orders[register], costs[register] = (*first, *rest), cost

    for register in range(len(program.scopes) - 1, program.n_inputs - 1, -1):
        operation, left, right = program.steps[register - program.n_inputs]
        order = orders[register]
        if type(operation) not in (Product, Sum):
            orders[register] = orders[left] = orders[right] = None
        elif isinstance(operation, Product) and operation.sums:
            large = max(left, right, key=program.cells)
            if program.cells(large) < _LARGE:
                orders[register] = None
            scope, other = program.scopes[large], program.scopes[left + right - large]
            kept = program.scopes[register]
            first = [v for v in order or kept if v in scope and v in other]
            first += [v for v in scope if v not in kept]
            want(large, first, order or kept, operation.cost)
        elif order is None:
            # The result has the order of its operands.
            orders[left] = orders[right] = None
        else:
            gone = [v for v in program.scopes[left] if v not in order]
            want(left, gone, order, operation.cost)
    return orders
