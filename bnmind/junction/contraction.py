"""Contractions of tables into one, and messages of a junction tree, as steps of a program."""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush
from typing import NamedTuple, TypeAlias

from bnmind._values import made
from bnmind.junction.program import (
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


# --- Contractions of several registers into one --------------------------------------------------
#
# A contraction multiplies its operands and sums out all other variables, each as soon as no other
# operand contains it. Of few operands, the pair with the smallest product is multiplied first. Of
# more, the smallest operand is multiplied with the partner that shares a variable and gives the
# smallest result: a clique may hold a thousand small tables. A contraction with the same operands
# and the same remaining variables uses the same register.
#
# A function that is stored by its values takes part without its table if its child is summed out or
# is the result; see `bnmind.junction.program`.
#
# A conditional distribution P(heads | rest) sums to one if none of its heads is kept or is in
# another operand. Such a barren operand is omitted (Shachter, *Evaluating influence diagrams*,
# 1986).

Variables: TypeAlias = frozenset[int]
"""Some of the variables of a program, by number. These sets are small in any program."""

_NONE: Variables = frozenset()

_AXES = tuple(range(64))
"""The axes of arrays; NumPy allows no more."""

FEW_OPERANDS = 4
"""The most operands for which all pairs are compared."""


class Function(NamedTuple):
    """A register that holds, instead of a table, the position of a child's state.

    The child is the first variable of its scope, and the others determine it.
    """

    child: int
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
    """The registers that hold functions."""
    _members: list[Variables] = field(init=False)
    _cells: list[int] = field(init=False)
    _steps: list[Step] = field(default_factory=list)
    _sums: dict[tuple[tuple[int, ...], int], Sum] = field(default_factory=dict)
    _products: Products = field(init=False)
    _done: dict[tuple[tuple[int, ...], Variables], int | None] = field(default_factory=dict)
    _tables: dict[int, int] = field(default_factory=dict)
    _n_inputs: int = field(init=False)

    def __post_init__(self) -> None:
        self._n_inputs = len(self.scopes)
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
        """Add the steps that contract registers."""
        if len(operands) == 1:
            return self._reduce(self._table(operands[0]), keep)
        remaining = self._multiplied_to_few(operands, keep)
        while len(remaining) > 2:
            i, j = self._cheapest(remaining, keep)
            second, first = remaining.pop(j), remaining.pop(i)
            needed = keep.union(*[self._members[register] for register in remaining])
            remaining.append(self._multiply(first, second, needed))
        return self._multiply(remaining[0], remaining[1], keep)

    def _multiplied_to_few(self, operands: list[int], keep: Variables) -> list[int]:
        """Return at most `FEW_OPERANDS` operands, besides functions, that are products of those."""
        apart = [r for r in operands if r in self.functions]
        if len(operands) - len(apart) <= FEW_OPERANDS:
            return operands
        sizes, members, cells = self.sizes, self._members, self._cells
        holders: dict[int, set[int]] = {}
        for register in operands:
            for v in members[register]:
                holders.setdefault(v, set()).add(register)
        remaining = set(operands).difference(apart)
        queue = [(cells[register], register) for register in remaining]
        heapify(queue)
        while len(remaining) > FEW_OPERANDS:
            own, first = heappop(queue)
            if first not in remaining:
                continue
            remaining.remove(first)
            scope = members[first]
            near = set().union(*[holders[v] for v in scope]) & remaining
            # If it shares no variable with the others, take the smallest.
            partners = near or {min(remaining, key=lambda r: (cells[r], r))}
            summed = dict.fromkeys(partners, 1)  # variables that only the two contain
            for v in scope - keep:
                if len(holders[v]) == 2:
                    (partner,) = holders[v] - {first}
                    summed[partner] = summed.get(partner, 1) * sizes[v]
            scores = []
            for partner in partners:
                union = own * cells[partner]
                for v in scope & members[partner]:
                    union //= sizes[v]
                scores.append((union // summed[partner] - cells[partner], union, partner))
            _, _, second = min(scores)
            remaining.remove(second)
            both = {first, second}
            needed = [v for v in scope | members[second] if v in keep or holders[v] - both]
            product = self._multiply(first, second, frozenset(needed))
            for v in scope | members[second]:
                holders[v] -= both
            for v in members[product]:
                holders[v].add(product)
            remaining.add(product)
            heappush(queue, (cells[product], product))
        return sorted({*remaining, *apart})

    def _cheapest(self, operands: Sequence[int], keep: Variables) -> tuple[int, int]:
        """Return the positions of the two to multiply next: least growth of memory, least work."""
        sizes = self.sizes
        scopes = [self._members[register] for register in operands]
        cells = [self._cells[register] for register in operands]
        rows = [register in self.functions for register in operands]
        held = list(cells)
        for i, is_rows in enumerate(rows):
            if is_rows:
                held[i] //= sizes[self.functions[operands[i]].child]
        # The variables that are summed out, each with the operands that hold it.
        gone = [
            (v, sum([1 << i for i, scope in enumerate(scopes) if v in scope]))
            for v in _NONE.union(*scopes) - keep
        ]
        best: tuple[int, int, int, int] | None = None
        for j, second in enumerate(scopes):
            for i in range(j):
                first = scopes[i]
                if first == second and not (rows[i] or rows[j]):
                    return i, j
                work = kept = cells[i] * cells[j] // math.prod([sizes[v] for v in first & second])
                summed = [v for v, holders in gone if not holders & ~(1 << i | 1 << j)]
                for v in summed:
                    kept //= sizes[v]
                if rows[i] != rows[j]:
                    function, other = (i, second) if rows[i] else (j, first)
                    child = self.functions[operands[function]].child
                    if (child in other) == (child in summed):
                        work //= sizes[child]
                score = (kept - held[i] - held[j], work, i, j)
                if best is None or score < best:
                    best = score
        assert best is not None
        return best[2:]

    def _multiply(self, first: int, second: int, keep: Variables) -> int:
        """Add the steps that multiply two registers and sum the product to ``keep``."""
        functions = self.functions
        if first in functions or second in functions:
            if first in functions and second in functions:
                # The smaller table is expanded.
                first, second = sorted((first, second), key=lambda r: -self._cells[r])
                second = self._table(second)
            first, second = (first, second) if first in functions else (second, first)
            child = functions[first].child
            if (child in self._members[second]) != (child in keep):
                return self._with_rows(first, second, keep)
            first = self._table(first)
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
        if not summed:
            operation, scope = self._products.broadcast(left, right)
        else:
            operation, scope = self._products.summed(left, right, summed)
        shape = math.prod(operation.shape), union - gone
        return self._add(operation, first, second, scope, shape)

    def _look_up(self, function: int, other: int) -> int:
        """Add the product with a function, summed over its child."""
        child, partial = self.functions[function]
        scope = self.scopes[other]
        parents = [v for v in self.scopes[function] if v != child]
        both = [v for v in parents if v in scope]
        rest = [v for v in scope if v != child and v not in both]
        result = (*parents, *rest)
        operation = LookUp(
            axes=tuple([scope.index(v) for v in (child, *both, *rest)]),
            cost=math.prod([self.sizes[v] for v in result]),
            shared=tuple([parents.index(v) for v in both]),
            partial=partial,
        )
        return self._add(operation, function, other, result)

    def _with_rows(self, function: int, other: int, keep: Variables) -> int:
        """Add the product of the values of a function and a table, summed to ``keep``."""
        other = self._reduce(other, keep | self._members[function])
        child, sizes = self.functions[function].child, self.sizes
        if child in self._members[other]:
            return self._reduce(self._look_up(function, other), keep)
        scope = self.scopes[other]
        _, *parents = self.scopes[function]
        kept_parents = [v for v in parents if v in keep]
        both = [v for v in parents if v in scope]
        rest = [v for v in scope if v not in both]
        result = (child, *kept_parents, *rest)
        length = math.prod([sizes[v] for v in rest])
        operation = Scatter(
            n=sizes[child],
            kept=tuple([parents.index(v) for v in kept_parents]),
            axes=tuple([scope.index(v) for v in (*both, *rest)]),
            view=(*[sizes[v] if v in both else 1 for v in parents], length),
            shape=tuple([sizes[v] for v in result]),
            cost=math.prod([sizes[v] for v in parents]) * length,
        )
        return self._add(operation, function, other, result)

    def _table(self, register: int) -> int:
        """Return a register that holds a table; if this one does not, a step expands it."""
        if register not in self.functions:
            return register
        if register not in self._tables:
            scope = self.scopes[register]
            operation = Expand(self.sizes[scope[0]], self._cells[register])
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


# --- Stations of a junction tree ------------------------------------------------------------------
#
# Stations are auxiliary cliques through which many neighbors of a clique exchange their messages.
#
# A message from a clique to one of k neighbors multiplies those of all others, so that all messages
# take about k² products. A binary tree of stations needs about 3k (Shenoy, *Binary join trees for
# computing marginals in the Shenoy-Shafer architecture*, 1997). A station holds the union of the
# separators below it.
#
# Neighbors with the same separator are connected by stations over that separator. Many neighbors
# with different separators are connected as in bucket elimination: those that share a variable by a
# tree of stations, and all others by a station without that variable, where this is repeated. The
# sizes of these stations sum to a small multiple of that of the clique (Kask, Dechter, Larrosa &
# Dechter, *Unifying tree decompositions for reasoning in graphical models*, Artif. Intell. 166,
# 2005).

_MANY = 12
"""The most separators of a clique without stations between them."""

_LARGEST_HUB = 2**22
"""The most cells of a clique with stations over different separators. They hold tables of half its
size, while a clique holds none."""

_SHRINK = 4
"""How many times smaller than the clique a station over several separators must be."""


class _End(NamedTuple):
    """A clique or a station that is to be connected."""

    separator: frozenset[int]
    clique: int


@dataclass
class StationTree:
    """A tree of cliques with room for stations, while they are being added."""

    scopes: list[frozenset[int]]
    """The variables of each clique and station."""
    neighbors: list[dict[int, frozenset[int]]]
    """For each clique and station, its neighbors with the separators."""
    sizes: Sequence[int]
    """The number of states of each variable."""

    def connect(self, clique: int) -> None:
        """Connect the neighbors of a clique by stations."""
        groups: dict[frozenset[int], list[int]] = {}
        for neighbor, separator in self.neighbors[clique].items():
            groups.setdefault(separator, []).append(neighbor)
        spread = len(groups) > _MANY and _size(self.scopes[clique], self.sizes) <= _LARGEST_HUB
        ends: list[_End] = []
        for separator, group in groups.items():
            if len(group) < 3 and not spread:
                continue
            for neighbor in group:
                del self.neighbors[clique][neighbor], self.neighbors[neighbor][clique]
            ends.append(_End(separator, self._same(group, separator)))
        if spread:
            self._spread(clique, ends)
        else:
            self._attach(clique, ends)

    def _same(self, group: Sequence[int], separator: frozenset[int]) -> int:
        """Return the top of a binary tree over neighbors with the same separator."""
        if len(group) == 1:
            return group[0]
        middle = len(group) // 2
        halves = [self._same(half, separator) for half in (group[:middle], group[middle:])]
        return self._station(separator, [_End(separator, half) for half in halves])

    def _spread(self, hub: int, ends: list[_End]) -> None:
        """Connect ends with different separators to a clique or station that contains them."""
        while len(ends) > 3:
            scope = self.scopes[hub]
            most = _size(scope, self.sizes) // _SHRINK
            shared: dict[int, list[_End]] = {}
            for end in ends:
                for variable in end.separator:
                    shared.setdefault(variable, []).append(end)
            if not shared:
                break
            # As in bucket elimination by the fewest neighbors.
            variable = min(shared, key=lambda v: (len(shared[v]), v))
            bucket = sorted(shared[variable], key=lambda end: sorted(end.separator))
            self._attach(hub, self._halves(bucket, most))
            ends = [end for end in ends if variable not in end.separator]
            if len(ends) > 3:
                rest = _union(ends)
                station = self._station(rest, [])
                self._join(hub, station, rest)
                hub = station
        self._attach(hub, ends)

    def _attach(self, hub: int, ends: Sequence[_End]) -> None:
        for end in ends:
            self._join(hub, end.clique, end.separator)

    def _halves(self, ends: Sequence[_End], most: int) -> list[_End]:
        """Return ends connected by stations of at most so many cells, two if possible."""
        if len(ends) <= 1:
            return list(ends)
        middle = len(ends) // 2
        tops = []
        for half in (ends[:middle], ends[middle:]):
            union = _union(half)
            below = self._halves(half, most)
            if len(below) > 1 and _size(union, self.sizes) <= most:
                below = [_End(union, self._station(union, below))]
            tops += below
        return tops

    def _station(self, scope: frozenset[int], below: Sequence[_End]) -> int:
        station = len(self.scopes)
        self.scopes.append(scope)
        self.neighbors.append({})
        self._attach(station, below)
        return station

    def _join(self, first: int, second: int, separator: frozenset[int]) -> None:
        self.neighbors[first][second] = separator
        self.neighbors[second][first] = separator


def _union(ends: Sequence[_End]) -> frozenset[int]:
    return frozenset().union(*[end.separator for end in ends])


# --- The messages of a junction tree, as steps of a program ---------------------------------------
#
# Every table is assigned to a clique that contains its scope. A message from a clique to a neighbor
# is the product of the tables of the clique and of the messages from its other neighbors, summed to
# the separator. The product of the two messages of an edge is the belief of its separator, and
# answers targets in the separator. Other targets are answered at a clique that contains them. The
# program computes only messages that some target needs, each of them once (Shafer & Shenoy,
# *Probability propagation*, 1990).
#
# Many neighbors of a clique are connected by stations.

_SMALL = 2**12
"""The most cells of a joint from which several variables of a single clique are answered."""


@dataclass(frozen=True)
class TreeShape:
    """A junction tree whose cliques and separators are sets of a program's variables."""

    cliques: tuple[Variables, ...]
    edges: tuple[tuple[int, int, Variables], ...]
    """Two cliques and their separator, for each edge."""


class Passing:
    """The state of message passing: the tables assigned and the messages sent so far.

    Parameters
    ----------
    shape
        The tree. Some clique contains the scope of every register and of every target.
    builder
        The builder that collects the steps.
    registers
        The registers of the product; their scopes are not empty.
    """

    def __init__(self, shape: TreeShape, builder: ProgramBuilder, registers: Iterable[int]) -> None:
        self.builder = builder
        self.scopes = list(shape.cliques)
        self.neighbors: list[dict[int, Variables]] = [{} for _ in shape.cliques]
        for first, second, separator in shape.edges:
            self.neighbors[first][second] = separator
            self.neighbors[second][first] = separator
        stations = StationTree(self.scopes, self.neighbors, builder.sizes)
        for clique in range(len(shape.cliques)):
            stations.connect(clique)
        self.clique_sizes = [_size(scope, builder.sizes) for scope in self.scopes]
        self.ascending = sorted(range(len(self.scopes)), key=self.clique_sizes.__getitem__)
        self.holders: dict[int, list[int]] = {}
        for clique in self.ascending:
            for variable in self.scopes[clique]:
                self.holders.setdefault(variable, []).append(clique)
        self.smallest = self._smallest_separators()
        self.assigned: list[list[int]] = [[] for _ in self.scopes]
        for register in registers:
            self.assigned[self._host(builder.variables(register))].append(register)
        self.received: list[dict[int, int | None]] = [{} for _ in self.scopes]
        self._beliefs: dict[tuple[int, int], int | None] = {}
        self._private: dict[int, list[int]] = {}
        for variable, cliques in self.holders.items():
            if len(cliques) == 1:
                self._private.setdefault(cliques[0], []).append(variable)

    def answer(self, target: Variables) -> int | None:
        """Return the register of a target's unnormalized joint.

        The result is None if every configuration has weight one. The register's scope may lack
        variables on which the joint does not depend.
        """
        if not self.scopes:
            return None
        if len(target) != 1:
            return self._at_clique(self._host(target), target)
        (variable,) = target
        # From the smallest table that the messages provide.
        edge = self.smallest.get(variable)
        if edge is not None:
            return self._reduced(self._belief(*edge[1:]), target)
        clique = self._host(target)
        # Together with the other variables that are only in this clique.
        together = frozenset(self._private[clique])
        if _size(together, self.builder.sizes) > _SMALL:
            return self._at_clique(clique, target)
        return self._reduced(self._at_clique(clique, together), target)

    def _reduced(self, register: int | None, target: Variables) -> int | None:
        return register if register is None else self.builder.contract([register], target)

    def _belief(self, first: int, second: int) -> int | None:
        """Return the register of the belief of a separator."""
        if (first, second) not in self._beliefs:
            self._beliefs[first, second] = self._at_separator(first, second)
        return self._beliefs[first, second]

    def _at_separator(self, first: int, second: int) -> int | None:
        both = [self._sent(first, second), self._sent(second, first)]
        separator = self.neighbors[first][second]
        return self.builder.contract([r for r in both if r is not None], separator)

    def _at_clique(self, clique: int, target: Variables) -> int | None:
        for neighbor in self.neighbors[clique]:
            self._sent(neighbor, clique)
        return self._contract(clique, None, target)

    def _smallest_separators(self) -> dict[int, tuple[int, int, int]]:
        """Return the size and ends of a smallest separator of each variable of several cliques."""
        smallest: dict[int, tuple[int, int, int]] = {}
        for clique, around in enumerate(self.neighbors):
            for other, separator in around.items():
                if clique < other:
                    edge = (_size(separator, self.builder.sizes), clique, other)
                    for variable in separator:
                        if variable not in smallest or edge < smallest[variable]:
                            smallest[variable] = edge
        return smallest

    def _host(self, scope: Variables) -> int:
        """Return the smallest clique that contains a scope."""
        if not scope:
            return self.ascending[0]
        candidates = min([self.holders[v] for v in scope], key=len)
        return next(i for i in candidates if scope <= self.scopes[i])

    def _sent(self, sender: int, receiver: int) -> int | None:
        """Return a message; send it, and first the messages it depends on, if necessary."""
        received, neighbors = self.received, self.neighbors
        waiting = [] if sender in received[receiver] else [(sender, receiver)]
        while waiting:
            source, to = waiting[-1]
            messages = received[source]
            missing = [n for n in neighbors[source] if n not in messages and n != to]
            if missing:
                waiting += [(n, source) for n in missing]
                continue
            waiting.pop()
            if source not in received[to]:
                received[to][source] = self._contract(source, to, neighbors[source][to])
        return received[receiver][sender]

    def _contract(self, clique: int, receiver: int | None, keep: Variables) -> int | None:
        """Contract a clique's tables with the messages from all neighbors but the receiver."""
        arrived = self.received[clique].items()
        messages = [r for sender, r in arrived if r is not None and sender != receiver]
        return self.builder.contract(self.assigned[clique] + messages, keep)


def _size(variables: Iterable[int], sizes: Sequence[int]) -> int:
    return math.prod([sizes[v] for v in variables])
