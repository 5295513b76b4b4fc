"""Contractions of several registers into one, which are planned once and run many times.

A contraction multiplies its operands and sums out all other variables; see
`bnmind.junction.program.recipes` for its steps. Two things make planning fast on large networks.
A contraction that equals an earlier one up to the names of variables uses the same *recipe*. A
contraction with the same operands and the same remaining variables uses the same register.

A conditional distribution P(heads | rest) sums to one if none of its heads is kept or is in another
operand. Such a barren operand is omitted (Shachter, *Evaluating influence diagrams*, 1986).
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import count
from typing import NamedTuple, TypeAlias

from bnmind._values import made
from bnmind.junction.program.freed_memory import WORTH_REUSE, reuse_freed_memory
from bnmind.junction.program.products import Products
from bnmind.junction.program.program import (
    Expand,
    LookUp,
    Operation,
    Product,
    Program,
    Scope,
    Step,
    Sum,
)
from bnmind.junction.program.recipes import Recipe, recipe_of

__all__ = ["Function", "ProgramBuilder", "Variables"]

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

    @property
    def is_plain(self) -> bool:
        """Whether there are no steps, no conditional distributions, and no positions as inputs."""
        return not (self.heads or self._has_rows or self._steps)

    def fill(self, steps: list[Step], scopes: list[Scope], cells: list[int]) -> None:
        """Take all steps at once, with the scopes and the cells of the registers they fill.

        Afterwards, only `build` may be called.
        """
        self._steps, self.scopes = steps, [*self.scopes, *scopes]
        self._cells += cells

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
