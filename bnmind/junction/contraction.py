"""Contractions of several tables into one, planned once and run many times.

A contraction multiplies its operands and sums out every variable that is not
kept. It is planned as pairs: the pair whose product costs least goes first, and a
variable is summed out as soon as no other operand holds it. Each pair runs as a
matrix product (`numpy.matmul`) or, where nothing is summed, as a broadcast
product; the permutations and shapes are worked out here and not again. Summing out
the child of a deterministic table is a look-up and not a sum: ``Σ_c [c = f(h)] g(c)``
is ``g(f(h))``.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from bnmind.pgm.factor import Values

__all__ = ["Program", "ProgramBuilder", "Scope"]

Scope = tuple[str, ...]
"""The variables of a table, in the order of its axes."""


@dataclass(frozen=True)
class _Sum:
    """Sum axes out of one register."""

    source: int
    axes: tuple[int, ...]
    cost: int

    def run(self, registers: list[Values]) -> Values:
        total: Values = registers[self.source].sum(axis=self.axes)
        return total


@dataclass(frozen=True)
class _Transpose:
    """Reorder the axes of one register."""

    source: int
    axes: tuple[int, ...]
    cost: int = 0

    def run(self, registers: list[Values]) -> Values:
        return registers[self.source].transpose(self.axes)


@dataclass(frozen=True)
class _Product:
    """Multiply two registers, each first brought to an order of axes and a shape."""

    left: int
    right: int
    left_axes: tuple[int, ...]
    right_axes: tuple[int, ...]
    left_shape: tuple[int, ...]
    right_shape: tuple[int, ...]
    shape: tuple[int, ...]
    cost: int
    sums: bool
    """Whether shared variables are summed out, by a matrix product."""
    overwrites: bool = False
    """Whether the left register is not needed any more and may take the product."""

    def run(self, registers: list[Values]) -> Values:
        left = registers[self.left].transpose(self.left_axes).reshape(self.left_shape)
        right = registers[self.right].transpose(self.right_axes).reshape(self.right_shape)
        if self.sums:
            product: Values = np.matmul(left, right)
        elif self._fits(left, right):
            product = np.multiply(left, right, out=left)
        else:
            product = left * right
        return product.reshape(self.shape)

    def _fits(self, left: Values, right: Values) -> bool:
        """Return whether the product may be written over the left operand."""
        same = left.shape == self.shape and left.dtype == np.result_type(left, right)
        return self.overwrites and same and left.ndim > 0


@dataclass(frozen=True)
class _LookUp:
    """Take a register's rows at positions that another register holds."""

    positions: int
    source: int
    axes: tuple[int, ...]
    """The order of the source's axes that puts the variable looked up first."""
    cost: int

    def run(self, registers: list[Values]) -> Values:
        positions: Any = registers[self.positions]
        rows: Values = registers[self.source].transpose(self.axes)
        found: Values = rows.take(positions, axis=0)
        return found


_Step = _Sum | _Transpose | _Product | _LookUp


def _operands(step: _Step) -> tuple[int, ...]:
    if isinstance(step, _Product):
        return (step.left, step.right)
    return (step.positions, step.source) if isinstance(step, _LookUp) else (step.source,)


@dataclass(frozen=True)
class Program:
    """A straight line of contractions over numbered registers."""

    n_inputs: int
    """Registers 0, …, n_inputs − 1 are given; each step fills the next one."""
    steps: tuple[_Step, ...]
    spent: tuple[tuple[int, ...], ...]
    """For each step, the registers that nobody needs after it."""

    @property
    def multiplications(self) -> int:
        """Multiplications (or additions, where a step only sums) of one run."""
        return sum(step.cost for step in self.steps)

    def run(self, inputs: Sequence[Values]) -> list[Values]:
        """Return the registers after the last step; those not kept are empty."""
        registers = list(inputs)
        empty = np.empty(0)
        for step, spent in zip(self.steps, self.spent, strict=True):
            registers.append(step.run(registers))
            for register in spent:
                registers[register] = empty
        return registers


@dataclass
class ProgramBuilder:
    """Collects steps while a plan is being compiled; `build` freezes them."""

    sizes: Mapping[str, int]
    scopes: list[Scope]
    """The scope of every register so far; starts with those of the inputs."""
    functions: Mapping[int, tuple[str, int]] = field(default_factory=dict)
    """For deterministic registers, the child and the register of its positions."""
    _steps: list[_Step] = field(default_factory=list)
    _n_inputs: int = field(init=False)

    def __post_init__(self) -> None:
        self._n_inputs = len(self.scopes)

    def build(self, keep: Iterable[int]) -> Program:
        """Return the program that leaves the registers ``keep`` filled."""
        kept, last = frozenset(keep), {}
        for number, step in enumerate(self._steps):
            for register in _operands(step):
                last[register] = number
        spent: list[list[int]] = [[] for _ in self._steps]
        for register, number in last.items():
            if register >= self._n_inputs and register not in kept:
                spent[number].append(register)
        # A transposed register is a view, which must not be written over.
        fresh = [not isinstance(step, _Transpose) for step in self._steps]
        views = {step.source for step in self._steps if isinstance(step, _Transpose)}
        steps = [
            replace(step, overwrites=True)
            if isinstance(step, _Product)
            and step.left in spent[number]
            and step.left not in views
            and fresh[step.left - self._n_inputs]
            else step
            for number, step in enumerate(self._steps)
        ]
        return Program(self._n_inputs, tuple(steps), tuple(map(tuple, spent)))

    def contract(self, operands: Sequence[int], keep: Scope) -> int:
        """Add the steps that contract registers to ``keep``, in this order; return the register."""
        left = list(operands)
        wanted = frozenset(keep)
        if not left:
            raise ValueError("expected at least one operand")
        while len(left) > 1:
            i, j = self._cheapest(left, wanted)
            others = frozenset().union(*(self.scopes[r] for r in left if r not in (i, j)))
            left = [r for r in left if r not in (i, j)] + [self._pair(i, j, wanted | others)]
        return self._finish(left[0], keep)

    def _size(self, names: Sequence[str] | frozenset[str]) -> int:
        return math.prod(self.sizes[name] for name in names)

    def _cheapest(self, registers: list[int], wanted: frozenset[str]) -> tuple[int, int]:
        """Return the pair to multiply next: least growth of memory, then least work."""
        holders: dict[str, int] = {}
        for register in registers:
            for name in self.scopes[register]:
                holders[name] = holders.get(name, 0) + 1

        def score(pair: tuple[int, int]) -> tuple[int, int, tuple[int, int]]:
            a, b = frozenset(self.scopes[pair[0]]), frozenset(self.scopes[pair[1]])
            kept = [v for v in a | b if v in wanted or holders[v] > (v in a) + (v in b)]
            return (self._size(kept) - self._size(a) - self._size(b), self._size(a | b), pair)

        return min(itertools.combinations(registers, 2), key=score)

    def _pair(self, i: int, j: int, needed: frozenset[str]) -> int:
        """Add the product of two registers, summed to what is still needed."""
        i, j = (self._reduce(r, needed | frozenset(self.scopes[s])) for r, s in ((i, j), (j, i)))
        if self._size(self.scopes[i]) < self._size(self.scopes[j]):
            i, j = j, i
        left, right = self.scopes[i], self.scopes[j]
        both = [v for v in left if v in right]
        batch = [v for v in both if v in needed]
        summed = [v for v in both if v not in needed]
        rows = [v for v in left if v not in right]
        columns = [v for v in right if v not in left]
        if not summed:
            return self._broadcast(i, j, columns)
        for table, other in ((i, j), (j, i)):
            if table in self.functions and [self.functions[table][0]] == both:
                return self._look_up(table, other)
        b, m, k, n = (self._size(names) for names in (batch, rows, summed, columns))
        scope = (*batch, *rows, *columns)
        step = _Product(
            i,
            j,
            tuple(left.index(v) for v in (*batch, *rows, *summed)),
            tuple(right.index(v) for v in (*batch, *summed, *columns)),
            (b, m, k),
            (b, k, n),
            tuple(self.sizes[v] for v in scope),
            b * m * k * n,
            sums=True,
        )
        return self._add(step, scope)

    def _look_up(self, table: int, other: int) -> int:
        """Add the product with a deterministic table, summed over its child."""
        child, positions = self.functions[table]
        scope, rest = self.scopes[other], [v for v in self.scopes[other] if v != child]
        result = (*(v for v in self.scopes[table] if v != child), *rest)
        axes = tuple(scope.index(v) for v in (child, *rest))
        return self._add(_LookUp(positions, other, axes, self._size(result)), result)

    def _broadcast(self, i: int, j: int, columns: list[str]) -> int:
        """Add a product without sums, over the left scope followed by the right's own."""
        left, right = self.scopes[i], self.scopes[j]
        scope = (*left, *columns)
        return self._add(
            _Product(
                i,
                j,
                tuple(range(len(left))),
                tuple(sorted(range(len(right)), key=lambda a: scope.index(right[a]))),
                tuple(self.sizes[v] for v in left) + (1,) * len(columns),
                tuple(self.sizes[v] if v in right else 1 for v in scope),
                tuple(self.sizes[v] for v in scope),
                self._size(scope),
                sums=False,
            ),
            scope,
        )

    def _reduce(self, register: int, needed: frozenset[str]) -> int:
        """Sum out what nobody needs any more."""
        scope = self.scopes[register]
        axes = tuple(a for a, v in enumerate(scope) if v not in needed)
        if not axes:
            return register
        rest = tuple(v for v in scope if v in needed)
        return self._add(_Sum(register, axes, self._size(scope)), rest)

    def _finish(self, register: int, keep: Scope) -> int:
        register = self._reduce(register, frozenset(keep))
        scope = self.scopes[register]
        order = tuple(name for name in keep if name in scope)
        if scope == order:
            return register
        return self._add(_Transpose(register, tuple(scope.index(v) for v in order)), order)

    def _add(self, step: _Step, scope: Scope) -> int:
        self._steps.append(step)
        self.scopes.append(scope)
        return len(self.scopes) - 1
