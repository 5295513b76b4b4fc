"""Programs rewritten: tables without their zeros, and large tables with axes in a better order."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._values import sealed
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
from bnmind.junction.reduction import Source

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
        if isinstance(operation, Sum):
            out = tuple([axis for axis, v in enumerate(first) if v not in scope])
            operation, scope = Sum(out, operation.cost), tuple([v for v in first if v in scope])
        elif isinstance(operation, Product) and not operation.sums:
            overwrites = operation.overwrites
            operation, scope = products.broadcast(first, second)
            operation = replace(operation, overwrites=overwrites)
        elif isinstance(operation, Product):
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
        if not isinstance(operation, Product | Sum):
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
