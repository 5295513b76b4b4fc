"""Contractions of several registers into one, planned once and run many times.

A contraction multiplies its operands and sums out every variable that is not
kept. It is planned as pairs: the pair whose product leaves least goes first, and a
variable is summed out as soon as no other operand holds it. Two things make
planning quick on large networks. A contraction that looks like an earlier one but
for the names of its variables is a *recipe* already known; and one that has the same
operands and keeps the same variables is the register already filled.

An operand that is a conditional distribution P(heads | rest), none of whose heads is
kept or stands in another operand, sums to one and is left out: what is barren costs
nothing (Shachter, *Evaluating influence diagrams*, 1986).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple, TypeAlias

from bnmind.junction.program import LookUp, Operation, Product, Program, Scope, Step, Sum

__all__ = ["ProgramBuilder", "mask_of", "members"]


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
    found = []
    while mask:
        low = mask & -mask
        found.append(low.bit_length() - 1)
        mask ^= low
    return tuple(found)


class _Move(NamedTuple):
    """A step of a recipe: operands are numbered within the contraction."""

    operation: Operation
    left: int
    right: int
    scope: Scope
    """Of the result, in the contraction's own numbers."""


_Recipe: TypeAlias = tuple[_Move, ...]


@dataclass
class ProgramBuilder:
    """Collects steps while a plan is being compiled; `build` freezes them."""

    sizes: Sequence[int]
    """The number of states of every variable."""
    scopes: list[Scope]
    """The scope of every register so far; starts with those of the inputs."""
    heads: dict[int, int] = field(default_factory=dict)
    """For registers that are conditional distributions, their heads as a mask."""
    functions: Mapping[int, tuple[int, int]] = field(default_factory=dict)
    """For deterministic registers, the child and the register of its positions."""
    _masks: list[int] = field(init=False)
    _steps: list[Step] = field(default_factory=list)
    _recipes: dict[tuple[object, ...], _Recipe] = field(default_factory=dict)
    _sums: dict[tuple[tuple[int, ...], int], Sum] = field(default_factory=dict)
    _done: dict[tuple[tuple[int, ...], int], int | None] = field(default_factory=dict)
    _n_inputs: int = field(init=False)

    def __post_init__(self) -> None:
        self._n_inputs = len(self.scopes)
        self._masks = [mask_of(scope) for scope in self.scopes]

    def mask(self, register: int) -> int:
        """Return the variables of a register as a mask."""
        return self._masks[register]

    def build(self, keep: Iterable[int]) -> Program:
        """Return the program that leaves the registers ``keep`` filled."""
        kept, last = frozenset(keep), {}
        for number, (_, left, right) in enumerate(self._steps):
            last[left] = last[right] = number
        spent: list[list[int]] = [[] for _ in self._steps]
        for register, number in last.items():
            if register >= self._n_inputs and register not in kept:
                spent[number].append(register)
        overwriting: dict[int, Operation] = {}
        steps = []
        for step, gone in zip(self._steps, spent, strict=True):
            operation = step.operation
            if isinstance(operation, Product) and not operation.sums and step.left in gone:
                other = overwriting.get(id(operation))
                if other is None:
                    other = overwriting[id(operation)] = replace(operation, overwrites=True)
                step = step._replace(operation=other)
            steps.append(step)
        return Program(
            self._n_inputs,
            tuple(steps),
            tuple(map(tuple, spent)),
            tuple(self.scopes),
            tuple(self.sizes),
        )

    def contract(self, operands: Sequence[int], keep: int) -> int | None:
        """Add the steps that contract registers to the variables in the mask ``keep``.

        Returns
        -------
        int | None
            The register, over those of the variables that an operand holds, in any
            order; None where it is one everywhere.
        """
        key = (tuple(sorted(operands)), keep)
        if key in self._done:
            return self._done[key]
        left, heads = self._without_barren(list(key[0]), keep)
        result = None
        if left:
            result = self._carry_out(left, keep)
            known = heads & self._masks[result] & keep
            if known:
                self.heads[result] = known
        self._done[key] = result
        return result

    def _without_barren(self, operands: list[int], keep: int) -> tuple[list[int], int]:
        """Return the operands that matter, and the heads of their product if it is conditional."""
        masks, heads = self._masks, self.heads
        changed = bool(heads)
        while changed:
            changed = False
            held = shared = keep
            for register in operands:
                mask = masks[register]
                shared |= held & mask
                held |= mask
            for register in operands:
                head = heads.get(register, 0)
                if head and not head & shared:
                    operands = [r for r in operands if r != register]
                    changed = True
        together = 0
        for register in operands:
            head = heads.get(register, 0)
            if not head:
                return operands, 0
            together |= head
        return operands, together

    def _carry_out(self, operands: list[int], keep: int) -> int:
        """Add the steps of a recipe, known or new."""
        if len(operands) == 1:
            return self._reduce(operands[0], keep)
        local: dict[int, int] = {}
        place = local.setdefault
        functions = self.functions
        shapes = []
        for register in operands:
            scope = tuple([place(v, len(local)) for v in self.scopes[register]])
            child = local[functions[register][0]] if register in functions else -1
            shapes.append((scope, child))
        variables = list(local)
        sizes = tuple([self.sizes[v] for v in variables])
        kept = 0
        for number, variable in enumerate(variables):
            if keep >> variable & 1:
                kept |= 1 << number
        key = (tuple(shapes), sizes, kept)
        recipe = self._recipes.get(key)
        if recipe is None:
            recipe = self._recipes[key] = _Planner(shapes, sizes).recipe(kept)
        registers = list(operands)
        for operation, left, right, scope in recipe:
            first, second = registers[left], registers[right]
            if isinstance(operation, LookUp):
                first = functions[first][1]
            registers.append(self._add(operation, first, second, [variables[v] for v in scope]))
        return registers[-1]

    def _reduce(self, register: int, keep: int) -> int:
        """Add the step that sums a register to the variables kept, if there are others."""
        scope = self.scopes[register]
        axes = tuple([axis for axis, v in enumerate(scope) if not keep >> v & 1])
        if not axes:
            return register
        cost = 1
        for v in scope:
            cost *= self.sizes[v]
        operation = self._sums.get((axes, cost))
        if operation is None:
            operation = self._sums[axes, cost] = Sum(axes, cost)
        return self._add(operation, register, register, [v for v in scope if keep >> v & 1])

    def _add(self, operation: Operation, left: int, right: int, scope: Iterable[int]) -> int:
        """Add a step; return the register that it fills."""
        self._steps.append(Step(operation, left, right))
        self.scopes.append(tuple(scope))
        self._masks.append(mask_of(self.scopes[-1]))
        return len(self.scopes) - 1


class _Planner:
    """Finds the steps of one contraction."""

    def __init__(self, shapes: Sequence[tuple[Scope, int]], sizes: Sequence[int]) -> None:
        self.sizes = sizes
        self.scopes = [scope for scope, _ in shapes]
        self.masks = [mask_of(scope) for scope in self.scopes]
        self.children = [child for _, child in shapes]
        self.moves: list[_Move] = []
        self._known: dict[int, int] = {}

    def recipe(self, keep: int) -> _Recipe:
        """Return the steps that contract all operands to ``keep``."""
        left = self._merged_twins(list(range(len(self.scopes))))
        while len(left) > 1:
            i, j = self._cheapest(left, keep) if len(left) > 2 else (left[0], left[1])
            rest = [r for r in left if r not in (i, j)]
            needed = keep
            for register in rest:
                needed |= self.masks[register]
            left = [*rest, self._pair(i, j, needed)]
        self._reduce(left[0], keep)
        return tuple(self.moves)

    def _merged_twins(self, registers: list[int]) -> list[int]:
        """Return the operands, those over the same variables multiplied: that never costs."""
        found: dict[int, int] = {}
        for register in registers:
            mask = self.masks[register]
            twin = found.get(mask)
            found[mask] = register if twin is None else self._broadcast(twin, register)
        return list(found.values())

    def _size(self, mask: int) -> int:
        size = self._known.get(mask)
        if size is None:
            size = 1
            left = mask
            while left:
                low = left & -left
                size *= self.sizes[low.bit_length() - 1]
                left ^= low
            self._known[mask] = size
        return size

    def _cheapest(self, registers: list[int], keep: int) -> tuple[int, int]:
        """Return the pair to multiply next: least growth of memory, then least work."""
        masks = self.masks
        best: tuple[int, int, int, int] | None = None
        size = {r: self._size(masks[r]) for r in registers}
        # What one, two, and three or more of them hold: what a pair leaves out of account.
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
                score = (growth, self._size(union), i, j)
                if best is None or score < best:
                    best = score
        assert best is not None
        return best[2], best[3]

    def _pair(self, i: int, j: int, needed: int) -> int:
        """Add the product of two operands, summed to what is still needed."""
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
        batch_mask = both & needed
        batch = [v for v in left if batch_mask >> v & 1]
        middle = [v for v in left if summed >> v & 1]
        rows = [v for v in left if not both >> v & 1]
        columns = [v for v in right if not both >> v & 1]
        sizes = self.sizes
        b, m = self._size(batch_mask), self._size(self.masks[i] & ~both)
        k, n = self._size(summed), self._size(self.masks[j] & ~both)
        scope = (*batch, *rows, *columns)
        operation = Product(
            _axes(left, (*batch, *rows, *middle)),
            _axes(right, (*batch, *middle, *columns)),
            (b, m, k) if b > 1 else (m, k),
            (b, k, n) if b > 1 else (k, n),
            tuple([sizes[v] for v in scope]),
            b * m * k * n,
            sums=True,
        )
        return self._add(operation, i, j, scope)

    def _look_up(self, table: int, other: int) -> int:
        """Add the product with a deterministic table, summed over its child."""
        child = self.children[table]
        rest = [v for v in self.scopes[other] if v != child]
        scope = (*(v for v in self.scopes[table] if v != child), *rest)
        order = tuple(self.scopes[other].index(v) for v in (child, *rest))
        return self._add(LookUp(order, self._size(mask_of(scope))), table, other, scope)

    def _broadcast(self, i: int, j: int) -> int:
        """Add a product without sums, over the left scope followed by the right's own."""
        left, right = self.scopes[i], self.scopes[j]
        mask, held, sizes = self.masks[i], self.masks[j], self.sizes
        columns = tuple([v for v in right if not mask >> v & 1])
        scope = (*left, *columns)
        shape = tuple([sizes[v] for v in scope])
        operation = Product(
            None,
            _axes(right, [v for v in scope if held >> v & 1]),
            shape[: len(left)] + (1,) * len(columns),
            tuple([sizes[v] if held >> v & 1 else 1 for v in scope]),
            shape,
            self._size(mask | held),
            sums=False,
        )
        return self._add(operation, i, j, scope)

    def _reduce(self, register: int, needed: int) -> int:
        """Sum out what nobody needs any more."""
        scope = self.scopes[register]
        if not self.masks[register] & ~needed:
            return register
        axes = tuple([a for a, v in enumerate(scope) if not needed >> v & 1])
        rest = tuple([v for v in scope if needed >> v & 1])
        operation = Sum(axes, self._size(self.masks[register]))
        return self._add(operation, register, register, rest)

    def _add(self, operation: Operation, left: int, right: int, scope: Scope) -> int:
        self.moves.append(_Move(operation, left, right, scope))
        self.scopes.append(scope)
        self.masks.append(mask_of(scope))
        self.children.append(-1)
        return len(self.scopes) - 1


def _axes(scope: Scope, order: Sequence[int]) -> tuple[int, ...] | None:
    if scope == tuple(order):
        return None
    return tuple([scope.index(v) for v in order])
