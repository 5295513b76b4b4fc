"""Contractions of several tables into one: their order, their steps, and those of a program."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Collection, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from itertools import count
from typing import NamedTuple, TypeAlias

from bnmind._values import made
from bnmind.junction.program.program import (
    WORTH_REUSE,
    Expand,
    LookUp,
    Operation,
    Product,
    Program,
    Scatter,
    Scope,
    Step,
    Sum,
    reuse_freed_memory,
)

# Products of two registers: matrix products if variables are summed out, otherwise broadcasts.

_SAME, _OTHERS = (True, True, True), (False, False, False)
"""Whether the operands and the product of a matrix product already are matrices."""


@dataclass
class Products:
    """A factory of products; equal products are one object."""

    sizes: Sequence[int]
    """The number of states of every variable."""
    _known: dict[tuple[object, ...], Product] = field(init=False, default_factory=dict)

    def summed(self, left: Scope, right: Scope, out: Container[int]) -> tuple[Product, Scope]:
        """Return the product summed over shared variables, and the variables of the result.

        Parameters
        ----------
        left, right
            The variables of the registers.
        out
            The variables that are summed out.
        """
        sizes = self.sizes
        batch, rows, middle, columns = [], [], [], []
        b = m = k = n = 1
        for v in left:
            if v in out:
                middle.append(v)
                k *= sizes[v]
            elif v in right:
                batch.append(v)
                b *= sizes[v]
            else:
                rows.append(v)
                m *= sizes[v]
        for v in right:
            if v not in left:
                columns.append(v)
                n *= sizes[v]
        groups = batch, rows, middle, columns
        return self._matrix_product(left, right, groups, (b, m, k, n))

    def arranged(self, left: Scope, right: Scope, order: Scope) -> tuple[Product, Scope]:
        """Return the product summed over all variables that an order lacks.

        The groups of variables of the result are those of `summed`, each in the given order.

        Parameters
        ----------
        left, right
            The variables of the registers.
        order
            The variables of the result.
        """
        groups = (
            [v for v in order if v in left and v in right],
            [v for v in order if v not in right],
            [v for v in right if v not in order],
            [v for v in order if v not in left],
        )
        b, m, k, n = (math.prod([self.sizes[v] for v in group]) for group in groups)
        return self._matrix_product(left, right, groups, (b, m, k, n))

    def _matrix_product(
        self,
        left: Scope,
        right: Scope,
        groups: tuple[Sequence[int], Sequence[int], Sequence[int], Sequence[int]],
        lengths: tuple[int, int, int, int],
    ) -> tuple[Product, Scope]:
        """Return the product of matrices.

        Parameters
        ----------
        left, right
            The variables of the registers.
        groups
            The variables of the batch, the rows, the sums and the columns.
        lengths
            The number of configurations of each group.
        """
        sizes = self.sizes
        batch, rows, middle, columns = groups
        b, m, k, n = lengths
        scope = (*batch, *rows, *columns)
        left_axes = _axes(left, (*batch, *rows, *middle))
        right_axes = _axes(right, (*batch, *middle, *columns))
        shape = tuple([sizes[v] for v in scope])
        # Each group has a single axis.
        single = len(rows) == len(middle) == len(columns) == 1 and len(batch) == (b > 1)
        key = (left_axes, right_axes, shape, b, m, k, single)
        product = self._known.get(key)
        if product is None:
            product = self._known[key] = made(
                Product,
                left_axes=left_axes,
                right_axes=right_axes,
                left_shape=(b, m, k) if b > 1 else (m, k),
                right_shape=(b, k, n) if b > 1 else (k, n),
                shape=shape,
                cost=b * m * k * n,
                sums=True,
                overwrites=False,
                same_shapes=_SAME if single else _OTHERS,
            )
        return product, scope

    def broadcast(self, left: Scope, right: Scope) -> tuple[Product, Scope]:
        """Return the product without sums, over the left variables and then the right's others."""
        sizes = self.sizes
        columns = [v for v in right if v not in left]
        scope = (*left, *columns)
        shape = tuple([sizes[v] for v in scope])
        right_axes = _axes(right, tuple([v for v in scope if v in right]))
        right_shape = tuple([sizes[v] if v in right else 1 for v in scope])
        key = (right_axes, shape, right_shape, len(left), len(right))
        product = self._known.get(key)
        if product is None:
            product = self._known[key] = made(
                Product,
                left_axes=None,
                right_axes=right_axes,
                left_shape=shape[: len(left)] + (1,) * len(columns),
                right_shape=right_shape,
                shape=shape,
                cost=math.prod(shape),
                sums=False,
                overwrites=False,
                same_shapes=(not columns, len(right) == len(scope), True),
            )
        return product, scope


def _axes(scope: Scope, order: Scope) -> tuple[int, ...] | None:
    """Return the axes that bring a scope into an order; None if it has that order."""
    return None if scope == order else tuple([scope.index(v) for v in order])


# --- The recipe of a contraction: the order of its multiplications, and their steps ---------------
#
# The pair with the smallest product is multiplied first, and a variable is summed out as soon as no
# other operand contains it. A function that is stored by its values takes part without its table,
# if its child is summed out or is the result; see `bnmind.junction.program.program`.

# --- The order of multiplications in contractions with many operands ------------------------------
#
# Comparing all pairs takes cubic time in the number of operands, and a clique may hold a thousand
# small tables. Here, the smallest operand is multiplied first, with a partner that shares a
# variable and gives the smallest result. A table whose variables are a subset of those of another
# table is multiplied into that table.

FEW_OPERANDS = 32
"""The most operands for which all pairs are compared."""


def multiplied_to_few(
    registers: Sequence[int],
    masks: Sequence[int],
    keep: int,
    how: tuple[Callable[[int], int], Callable[[int, int, int], int]],
    *,
    apart: Collection[int] = (),
) -> list[int]:
    """Return at most `FEW_OPERANDS` operands, which are products of the given ones.

    Parameters
    ----------
    registers
        The operands.
    masks
        The variables of each register, including future ones.
    keep
        The variables of the result of the whole contraction.
    how
        A function that returns the number of cells over the variables of a mask; and one
        that multiplies two registers, sums to the variables of a mask, and returns the
        register of the product.
    apart
        Operands that are not multiplied here. They do not count toward `FEW_OPERANDS`.
    """
    size, multiply = how
    holders: dict[int, set[int]] = {}
    for register in registers:
        for bit in _bits(masks[register]):
            holders.setdefault(bit, set()).add(register)
    # Variables in at most two operands, which a product of two may sum out.
    rare = sum(bit for bit, users in holders.items() if len(users) < 3) & ~keep
    remaining = {register for register in registers if register not in apart}
    queue = [(size(masks[register]), register) for register in remaining]
    heapify(queue)

    def needed(first: int, second: int) -> int:
        union = masks[first] | masks[second]
        for bit in _bits(union & rare):
            if holders[bit] <= {first, second}:
                union ^= bit
        return union

    while len(remaining) > FEW_OPERANDS:
        own, first = heappop(queue)
        if first not in remaining:
            continue
        remaining.remove(first)
        near = set().union(*[holders[bit] for bit in _bits(masks[first])]) & remaining
        # If it shares no variable with the others, take the smallest.
        partners = near or {min(remaining, key=lambda r: (size(masks[r]), r))}
        _, _, second = min(
            (size(needed(first, r)) - size(masks[r]) - own, size(masks[first] | masks[r]), r)
            for r in partners
        )
        remaining.remove(second)
        product = multiply(first, second, needed(first, second))
        for bit in _bits(masks[first] | masks[second]):
            holders[bit] -= {first, second}
        for bit in _bits(masks[product]):
            holders[bit].add(product)
            if len(holders[bit]) < 3 and not bit & keep:
                rare |= bit
        remaining.add(product)
        heappush(queue, (size(masks[product]), product))
    return sorted({*remaining, *(r for r in registers if r in apart)})


def _bits(mask: int) -> list[int]:
    """Return each member of a bit mask as a mask of one bit."""
    bits = []
    while mask:
        low = mask & -mask
        bits.append(low)
        mask ^= low
    return bits


# --- The recipe of a contraction: the order of its multiplications, and their steps ---------------


def mask_of(scope: Iterable[int]) -> int:
    """Return variables as a bit mask.

    Examples
    --------
    >>> mask_of((0, 3))
    9
    """
    mask = 0
    for variable in scope:
        mask |= 1 << variable
    return mask


def members(mask: int) -> Scope:
    """Return the variables of a bit mask, in ascending order.

    Examples
    --------
    >>> members(9)
    (0, 3)
    """
    variables = []
    while mask:
        low = mask & -mask
        variables.append(low.bit_length() - 1)
        mask ^= low
    return tuple(variables)


class Move(NamedTuple):
    """A step of a recipe; operands have the numbers of the contraction."""

    operation: Operation
    left: int
    right: int
    scope: Scope
    """The variables of the result, numbered within the contraction."""


Recipe: TypeAlias = tuple[Move, ...]


Shape: TypeAlias = tuple[Scope, int]
"""An operand's variables, numbered within the contraction, and the variable that the others
determine, if its positions are known; otherwise −1."""


def recipe_of(
    shapes: Sequence[Shape], sizes: Sequence[int], rows: Mapping[int, bool], keep: int
) -> Recipe:
    """Return the steps that contract operands to the variables in the mask ``keep``.

    Parameters
    ----------
    shapes
        The operands, at least two.
    sizes
        The number of states of every variable, numbered within the contraction.
    rows
        The operands that hold positions instead of a table, and whether some positions are −1.
        The determined variable comes first in their scopes.
    keep
        The variables of the result.
    """
    return _Planner(shapes, sizes, rows).recipe(keep)


class _Planner:
    """The search for the steps of one contraction."""

    def __init__(
        self, shapes: Sequence[Shape], sizes: Sequence[int], rows: Mapping[int, bool]
    ) -> None:
        self.sizes = sizes
        self.products = Products(sizes)
        self.scopes = [scope for scope, _ in shapes]
        self.masks = [mask_of(scope) for scope in self.scopes]
        self.children = [child for _, child in shapes]
        self.rows = rows
        self.moves: list[Move] = []
        self._known: dict[int, int] = {}

    def recipe(self, keep: int) -> Recipe:
        """Return the steps that contract all operands to ``keep``."""
        operands = self._merged_twins(list(range(len(self.scopes))))
        if len(operands) > FEW_OPERANDS:
            how = (self._size, self._pair)
            operands = multiplied_to_few(operands, self.masks, keep, how, apart=self.rows)
        while len(operands) > 1:
            i, j = (
                self._cheapest(operands, keep) if len(operands) > 2 else (operands[0], operands[1])
            )
            rest = [r for r in operands if r not in (i, j)]
            needed = keep
            for register in rest:
                needed |= self.masks[register]
            operands = [*rest, self._pair(i, j, needed)]
        self._reduce(operands[0], keep)
        return tuple(self.moves)

    def _merged_twins(self, registers: list[int]) -> list[int]:
        """Return the operands, with those over the same variables multiplied at no extra cost."""
        merged: dict[int, int] = {}
        for register in [r for r in registers if r not in self.rows] if self.rows else registers:
            mask = self.masks[register]
            twin = merged.get(mask)
            merged[mask] = register if twin is None else self._broadcast(twin, register)
        return [*self.rows, *merged.values()] if self.rows else list(merged.values())

    def _size(self, mask: int) -> int:
        size = self._known.get(mask)
        if size is None:
            size = 1
            remaining = mask
            while remaining:
                low = remaining & -remaining
                size *= self.sizes[low.bit_length() - 1]
                remaining ^= low
            self._known[mask] = size
        return size

    def _cheapest(self, registers: list[int], keep: int) -> tuple[int, int]:
        """Return the pair to multiply next: least growth of memory, then least work."""
        masks, rows = self.masks, self.rows
        best: tuple[int, int, int, int] | None = None
        size = {r: self._size(masks[r]) for r in registers}
        for r in rows.keys() & size.keys():
            size[r] //= self.sizes[self.children[r]]
        # Variables in at least one, two and three operands.
        once = twice = more = 0
        for r in registers:
            mask = masks[r]
            more |= twice & mask
            twice |= once & mask
            once |= mask
        for position, i in enumerate(registers):
            for j in registers[position + 1 :]:
                first, second = masks[i], masks[j]
                union = first | second
                needed = keep | more | (twice & ~(first & second)) | (once & ~union)
                growth = self._size(union & needed) - size[i] - size[j]
                work = self._size(union)
                if rows and (i in rows) != (j in rows) and self._is_short(i, j, needed):
                    work //= self.sizes[self.children[i if i in rows else j]]
                score = (growth, work, i, j)
                if best is None or score < best:
                    best = score
        assert best is not None
        return best[2], best[3]

    def _pair(self, i: int, j: int, needed: int) -> int:
        """Add the product of two operands, summed to the variables still needed."""
        if self.rows and (i in self.rows or j in self.rows):
            if i in self.rows and j in self.rows:
                # Expand the smaller table.
                i, j = sorted((i, j), key=lambda register: -self._size(self.masks[register]))
                j = self._expand(j)
            i, j = (i, j) if i in self.rows else (j, i)
            if self._is_short(i, j, needed):
                return self._with_rows(i, j, needed)
            i = self._expand(i)
        i, j = self._reduce(i, needed | self.masks[j]), self._reduce(j, needed | self.masks[i])
        if self._size(self.masks[i]) < self._size(self.masks[j]):
            i, j = j, i
        left, right = self.scopes[i], self.scopes[j]
        both = self.masks[i] & self.masks[j]
        summed = both & ~needed
        if not summed:
            return self._broadcast(i, j)
        for table, other in ((i, j), (j, i)):
            if self.children[table] >= 0 and both == 1 << self.children[table]:
                return self._look_up(table, other)
        operation, scope = self.products.summed(left, right, members(summed))
        return self._add(operation, i, j, scope)

    def _look_up(self, table: int, other: int) -> int:
        """Add the product with a deterministic table, summed over its child."""
        child = self.children[table]
        other_scope = self.scopes[other]
        parents = [v for v in self.scopes[table] if v != child]
        both = [v for v in parents if v in other_scope]
        rest = [v for v in other_scope if v != child and v not in both]
        scope = (*parents, *rest)
        order = tuple(other_scope.index(v) for v in (child, *both, *rest))
        shared = tuple(parents.index(v) for v in both)
        partial = self.rows.get(table, False)
        operation = LookUp(order, self._size(mask_of(scope)), shared, partial)
        return self._add(operation, table, other, scope)

    def _is_short(self, i: int, j: int, needed: int) -> bool:
        """Return whether to multiply rows and a table without expanding the rows.

        This is the case if the child is summed out, or if the product is needed over it.
        """
        if i not in self.rows:
            i, j = j, i
        child = 1 << self.children[i]
        return bool(self.masks[j] & child) != bool(needed & child)

    def _with_rows(self, table: int, other: int, needed: int) -> int:
        """Add the product of rows and a table, summed to the variables still needed."""
        other = self._reduce(other, needed | self.masks[table])
        child = self.children[table]
        if self.masks[other] >> child & 1:
            return self._reduce(self._look_up(table, other), needed)
        other_scope, sizes = self.scopes[other], self.sizes
        _, *parents = self.scopes[table]
        kept_parents = [v for v in parents if needed >> v & 1]
        both = [v for v in parents if v in other_scope]
        rest = [v for v in other_scope if v not in both]
        scope = (child, *kept_parents, *rest)
        length = self._size(mask_of(rest))
        operation = Scatter(
            n=sizes[child],
            kept=tuple(parents.index(v) for v in kept_parents),
            axes=tuple(other_scope.index(v) for v in (*both, *rest)),
            view=(*(sizes[v] if v in both else 1 for v in parents), length),
            shape=tuple(sizes[v] for v in scope),
            cost=self._size(mask_of(parents)) * length,
        )
        return self._add(operation, table, other, scope)

    def _expand(self, table: int) -> int:
        """Add the step that expands rows to a table."""
        scope = self.scopes[table]
        operation = Expand(self.sizes[scope[0]], self._size(self.masks[table]))
        return self._add(operation, table, table, scope)

    def _broadcast(self, i: int, j: int) -> int:
        """Add a product without sums, over the left scope and then the right's other variables."""
        operation, scope = self.products.broadcast(self.scopes[i], self.scopes[j])
        return self._add(operation, i, j, scope)

    def _reduce(self, register: int, needed: int) -> int:
        """Sum out the variables that are no longer needed."""
        scope = self.scopes[register]
        if not self.masks[register] & ~needed:
            return register
        axes = tuple([a for a, v in enumerate(scope) if not needed >> v & 1])
        rest = tuple([v for v in scope if needed >> v & 1])
        operation = Sum(axes, self._size(self.masks[register]))
        return self._add(operation, register, register, rest)

    def _add(self, operation: Operation, left: int, right: int, scope: Scope) -> int:
        self.moves.append(Move(operation, left, right, scope))
        self.scopes.append(scope)
        self.masks.append(mask_of(scope))
        self.children.append(-1)
        return len(self.scopes) - 1


# --- Contractions of several registers into one, which are planned once and run many times --------
#
# A contraction multiplies its operands and sums out all other variables; see
# `bnmind.junction.program.contraction` for its steps. Two things make planning fast on large
# networks. A contraction that equals an earlier one up to the names of variables uses the same
# *recipe*. A contraction with the same operands and the same remaining variables uses the same
# register.
#
# A conditional distribution P(heads | rest) sums to one if none of its heads is kept or is in
# another operand. Such a barren operand is omitted (Shachter, *Evaluating influence diagrams*,
# 1986).

Variables: TypeAlias = frozenset[int]
"""Some of the variables of a program, by number. These sets are small in any program."""

_NONE: Variables = frozenset()

_AXES = tuple(range(64))
"""The axes of arrays; NumPy allows no more."""

_MOST_DIRECT = 4
"""The most tables contracted without a recipe, because finding one would take as long."""


class Function(NamedTuple):
    """A register whose child the other variables determine."""

    child: int
    positions: int
    """The register of the positions of the determined states. It is the register itself if that
    holds no table; then the child is the first variable of its scope."""
    partial: bool = False
    """Whether some positions are −1, which stands for no state."""


@dataclass
class ProgramBuilder:
    """Collects steps while a plan is being compiled; `build` freezes them."""

    sizes: Sequence[int]
    """The number of states of every variable."""
    scopes: list[Scope]
    """The scope of every register so far; starts with those of the inputs."""
    heads: dict[int, Variables] = field(default_factory=dict)
    """For registers that are conditional distributions, their heads."""
    functions: Mapping[int, Function] = field(default_factory=dict)
    """The registers that are deterministic."""
    _members: list[Variables] = field(init=False)
    _cells: list[int] = field(init=False)
    _steps: list[Step] = field(default_factory=list)
    _recipes: dict[tuple[object, ...], Recipe] = field(default_factory=dict)
    _sums: dict[tuple[tuple[int, ...], int], Sum] = field(default_factory=dict)
    _products: Products = field(init=False)
    _done: dict[tuple[tuple[int, ...], Variables], int | None] = field(default_factory=dict)
    _tables: dict[int, int] = field(default_factory=dict)
    _n_inputs: int = field(init=False)
    _has_rows: bool = field(init=False)

    def __post_init__(self) -> None:
        self._n_inputs = len(self.scopes)
        self._has_rows = any(r == f.positions for r, f in self.functions.items())
        self._members = [frozenset(scope) for scope in self.scopes]
        self._cells = [math.prod([self.sizes[v] for v in scope]) for scope in self.scopes]
        self._products = Products(self.sizes)

    def variables(self, register: int) -> Variables:
        """Return the variables of a register."""
        return self._members[register]

    def build(self, keep: Iterable[int]) -> Program:
        """Return the program, which keeps the registers ``keep``."""
        if max(self._cells, default=0) >= WORTH_REUSE:
            reuse_freed_memory()
        kept_registers, last = frozenset(keep), {}
        for number, (_, left, right) in enumerate(self._steps):
            last[left] = last[right] = number
        spent: list[list[int]] = [[] for _ in self._steps]
        for register, number in last.items():
            if register >= self._n_inputs and register not in kept_registers:
                spent[number].append(register)
        overwriting: dict[int, Operation] = {}
        steps = []
        for step, gone in zip(self._steps, spent, strict=True):
            operation = step.operation
            if isinstance(operation, Product) and not operation.sums and step.left in gone:
                other = overwriting.get(id(operation))
                if other is None:
                    other = made(Product, **{**vars(operation), "overwrites": True})
                    overwriting[id(operation)] = other
                step = Step(other, step.left, step.right)
            steps.append(step)
        return made(
            Program,
            n_inputs=self._n_inputs,
            steps=tuple(steps),
            spent=tuple(map(tuple, spent)),
            scopes=tuple(self.scopes),
            sizes=tuple(self.sizes),
            held=tuple(self._cells),
        )

    def contract(self, operands: Sequence[int], keep: Variables) -> int | None:
        """Add the steps that contract registers to the variables ``keep``.

        Returns
        -------
        int | None
            The register, over the variables of ``keep`` that the operands contain, in any
            order; None if the result is one everywhere.
        """
        key = (tuple(sorted(operands)) if len(operands) > 1 else tuple(operands), keep)
        if key in self._done:
            return self._done[key]
        relevant, heads = list(key[0]), _NONE
        if self.heads:
            relevant, heads = self._without_barren(relevant, keep)
        result = None
        if relevant:
            result = self._carry_out(relevant, keep)
            if heads and (known := heads & self._members[result] & keep):
                self.heads[result] = known
        self._done[key] = result
        return result

    def _without_barren(self, operands: list[int], keep: Variables) -> tuple[list[int], Variables]:
        """Return the relevant operands, and the heads of their product if it is conditional."""
        heads = self.heads
        if len(operands) == 1:
            head = heads.get(operands[0], _NONE)
            return ([], _NONE) if head and keep.isdisjoint(head) else (operands, head)
        candidates = [r for r in operands if r in heads and keep.isdisjoint(heads[r])]
        while candidates:
            shared = self._shared(operands) if len(operands) > 1 else _NONE
            barren = {r for r in candidates if shared.isdisjoint(heads[r])}
            if not barren:
                break
            operands = [r for r in operands if r not in barren]
            candidates = [r for r in candidates if r not in barren]
        for register in operands:
            if register not in heads:
                return operands, _NONE
        return operands, _NONE.union(*[heads[register] for register in operands])

    def _shared(self, operands: Sequence[int]) -> Variables:
        """Return the variables that several operands share."""
        first, second, *others = [self._members[register] for register in operands]
        shared = first & second
        if others:
            seen = set(first | second)
            more = set(shared)
            for scope in others:
                more |= seen & scope
                seen |= scope
            shared = frozenset(more)
        return shared

    def _carry_out(self, operands: list[int], keep: Variables) -> int:
        """Add the steps of a recipe, which is reused if it is known."""
        if len(operands) == 1:
            return self._reduce(self._table(operands[0]), keep)
        functions = self.functions
        if len(operands) <= _MOST_DIRECT and functions.keys().isdisjoint(operands):
            return self._pairwise(operands, keep)
        local: defaultdict[int, int] = defaultdict(count().__next__)
        shapes = []
        for register in operands:
            scope = tuple(map(local.__getitem__, self.scopes[register]))
            child = local[functions[register].child] if register in functions else -1
            shapes.append((scope, child))
        rows = {}
        if self._has_rows:
            known = [(i, functions[r]) for i, r in enumerate(operands) if r in functions]
            rows = {i: f.partial for i, f in known if f.positions == operands[i]}
        variables = list(local)
        sizes = tuple([self.sizes[v] for v in variables])
        keep_mask = 0
        for number, variable in enumerate(variables):
            if variable in keep:
                keep_mask |= 1 << number
        key = (tuple(shapes), sizes, keep_mask, *rows.items())
        recipe = self._recipes.get(key)
        if recipe is None:
            recipe = self._recipes[key] = recipe_of(shapes, sizes, rows, keep_mask)
        registers = list(operands)
        for operation, left, right, scope in recipe:
            first, second = registers[left], registers[right]
            if isinstance(operation, LookUp):
                first = functions[first].positions
            registers.append(self._add(operation, first, second, [variables[v] for v in scope]))
        return registers[-1]

    def _pairwise(self, operands: list[int], keep: Variables) -> int:
        """Add the steps that contract few tables, without a recipe."""
        remaining = list(operands)
        while len(remaining) > 2:
            i, j = self._cheapest(remaining, keep)
            second, first = remaining.pop(j), remaining.pop(i)
            needed = keep.union(*[self._members[register] for register in remaining])
            remaining.append(self._multiply(first, second, needed))
        return self._multiply(remaining[0], remaining[1], keep)

    def _cheapest(self, tables: Sequence[int], keep: Variables) -> tuple[int, int]:
        """Return the positions of the two tables to multiply next, as in recipes."""
        sizes = self.sizes
        scopes = [self._members[register] for register in tables]
        cells = [self._cells[register] for register in tables]
        # The variables that are summed out, each with the tables that hold it.
        gone = [
            (sizes[v], sum([1 << i for i, scope in enumerate(scopes) if v in scope]))
            for v in _NONE.union(*scopes) - keep
        ]
        best: tuple[int, int, int, int] | None = None
        for j, second in enumerate(scopes):
            for i in range(j):
                first = scopes[i]
                if first == second:
                    return i, j
                work = kept = cells[i] * cells[j] // math.prod([sizes[v] for v in first & second])
                for size, holders in gone:
                    if not holders & ~(1 << i | 1 << j):
                        kept //= size
                score = (kept - cells[i] - cells[j], work, i, j)
                if best is None or score < best:
                    best = score
        assert best is not None
        return best[2:]

    def _multiply(self, first: int, second: int, keep: Variables) -> int:
        """Add the steps that multiply two tables and sum the product to ``keep``."""
        own, others = self._members[first], self._members[second]
        if own == others:
            operation, scope = self._products.broadcast(self.scopes[first], self.scopes[second])
            cells = operation.cost
            return self._reduce(self._add(operation, first, second, scope, (cells, own)), keep)
        union = own | others
        gone = union - keep
        summed = own & others & gone
        if len(summed) < len(gone):
            # Some are in one table only.
            first = self._reduce(first, keep | others)
            second = self._reduce(second, keep | own)
        if self._cells[first] < self._cells[second]:
            first, second = second, first
        left, right = self.scopes[first], self.scopes[second]
        if summed:
            operation, scope = self._products.summed(left, right, summed)
        else:
            operation, scope = self._products.broadcast(left, right)
        known = math.prod(operation.shape), union - gone
        return self._add(operation, first, second, scope, known)

    def _table(self, register: int) -> int:
        """Return a register that holds a table; if this one does not, a step expands it."""
        known = self.functions.get(register)
        if known is None or known.positions != register:
            return register
        if register not in self._tables:
            scope = self.scopes[register]
            operation = Expand(self.sizes[known.child], self._cells[register])
            self._tables[register] = self._add(operation, register, register, scope)
        return self._tables[register]

    def _reduce(self, register: int, keep: Variables) -> int:
        """Add the step that sums a register to ``keep``, if it has other variables."""
        members = self._members[register]
        if members <= keep:
            return register
        scope = self.scopes[register]
        known = None
        if len(keep) == 1 and keep <= members:
            # The answers of single variables are many.
            rest = tuple(keep)
            place = scope.index(rest[0])
            axes = _AXES[:place] + _AXES[place + 1 : len(scope)]
            known = self.sizes[rest[0]], keep
        else:
            axes = tuple([axis for axis, v in enumerate(scope) if v not in keep])
            rest = tuple([v for v in scope if v in keep])
        cost = self._cells[register]
        operation = self._sums.get((axes, cost))
        if operation is None:
            operation = self._sums[axes, cost] = Sum(axes, cost)
        return self._add(operation, register, register, rest, known)

    def _add(
        self,
        operation: Operation,
        left: int,
        right: int,
        scope: Iterable[int],
        known: tuple[int, Variables] | None = None,
    ) -> int:
        """Add a step; return the register that it fills.

        ``known`` holds the cells and the variables of that register, if the caller knows them.
        """
        scope = tuple(scope)
        if known is None:
            sizes = self.sizes
            known = math.prod([sizes[v] for v in scope]), frozenset(scope)
        self._steps.append(Step(operation, left, right))
        self.scopes.append(scope)
        self._cells.append(known[0])
        self._members.append(known[1])
        return len(self.scopes) - 1
