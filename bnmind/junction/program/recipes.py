"""The recipe of a contraction: the order of its multiplications, and their steps.

The pair with the smallest product is multiplied first, and a variable is summed out as soon as no
other operand contains it. A function that is stored by its values takes part without its table, if
its child is summed out or is the result; see `bnmind.junction.program.scatter`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from heapq import heapify, heappop, heappush
from typing import NamedTuple, TypeAlias

from bnmind.junction.program.products import Products
from bnmind.junction.program.program import Expand, LookUp, Operation, Scatter, Scope, Sum

__all__ = ["Move", "Recipe", "Shape", "mask_of", "members", "recipe_of"]

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
#
#


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
            sizes[child],
            tuple(parents.index(v) for v in kept_parents),
            tuple(other_scope.index(v) for v in (*both, *rest)),
            (*(sizes[v] if v in both else 1 for v in parents), length),
            tuple(sizes[v] for v in scope),
            self._size(mask_of(parents)) * length,
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
