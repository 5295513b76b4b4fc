"""The problem of a search for explanations: its tree, levels and bounds."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.information import Floats
from bnmind.junction.graphs import InteractionGraph, OrderFinder
from bnmind.junction.search_bounds import (
    Bounds,
    Division,
    LogTable,
    LogTables,
    Message,
    bounds_of,
    divide,
    shifted_tables,
)

# --- The tree that a branch and bound walks, as arrays for compiled code --------------------------
#
# The search assigns the variables in the reverse order of elimination. The *pseudo-tree* has a node
# for each variable; its parent is the first of its neighbors to be eliminated after it. Given the
# states of the nodes above, the subtrees of a node are independent, and each is searched on its own
# (an AND/OR search). A subtree depends only on the neighbors of its top when that is eliminated,
# its *context*, so that its value is cached by their states.
#
# Subtrees without a divided bucket are not searched: their bounds are exact. The remaining nodes
# are numbered so that each subtree is a range; node 0 stands above all of them and has a single
# state.
#
# References
# ----------
# R. Dechter and R. Mateescu, "AND/OR search spaces for graphical models", Artificial Intelligence
# 171 (2007); R. Marinescu and R. Dechter, "AND/OR branch-and-bound search for combinatorial
# optimization in graphical models", Artificial Intelligence 173 (2009).

Ints: TypeAlias = NDArray[np.int64]

MOST_CONTEXTS = 2**62
"""The most configurations of a context whose values are cached."""


class TreeArrays(NamedTuple):
    """A pseudo-tree and its tables. Lists of lists are one array, with the starts of its parts."""

    sizes: Ints
    """The number of states of each node."""
    parents: Ints
    ends: Ints
    """The subtree of node i consists of the nodes i to ends[i] − 1."""
    child_starts: Ints
    children: Ints
    bucket_starts: Ints
    bucket: Ints
    """The tables whose deepest variable is that of the node."""
    own_starts: Ints
    own: Ints
    """The tables that the mini-buckets of the node give."""
    use_starts: Ints
    uses: Ints
    use_strides: Ints
    """The exact tables that have the variable of the node, and the strides of its axis."""
    is_exact: Ints
    """Whether each table is one of the model, or the exact value of a part of it."""
    context_starts: Ints
    context: Ints
    context_strides: Ints
    is_cached: Ints
    scope_starts: Ints
    scopes: Ints
    strides: Ints
    """The nodes of each table from the top, and the strides of their axes; the last one is 1."""
    firsts: Ints
    """The first cell of each table."""
    cells: Floats
    choice_starts: Ints
    """Where the states of each node start in an array of the states of all nodes."""
    solution_starts: Ints
    """Where the states of each subtree start in an array of those of all subtrees."""
    constant: Floats
    """The upper bound of all values, and the part of it that is exact in every configuration."""


@dataclass(frozen=True)
class SearchTree:
    """A pseudo-tree for a search, and the variables of its nodes."""

    arrays: TreeArrays
    variables: tuple[int, ...]
    """The variable of each node but node 0, which has none, from node 1."""
    first_gate: int = -1
    """If each node has a table of zeros, which the caller may change to exclude states: its number
    for node 1. Those of the other nodes follow."""


def search_tree(
    bounds: Bounds,
    sizes: Sequence[int],
    is_summed: Sequence[bool],
    constant: float,
    *,
    is_whole: bool = False,
) -> SearchTree:
    """Return the tree of the nodes that need a search.

    If a bucket of a summed variable is divided, the tree is a chain of all other variables.

    Parameters
    ----------
    bounds
        The tables of the mini-buckets.
    sizes
        The number of states of each variable.
    is_summed
        For each variable, whether it is summed out; these are eliminated first.
    constant
        A value that every configuration has besides the tables.
    is_whole
        Whether the tree has all variables that are not summed out, with tables that the caller may
        change.
    """
    order = bounds.division.order
    divided = bounds.division.divided
    neighbors = _neighbors(bounds, order)
    rank = {v: i for i, v in enumerate(order)}
    parent = {v: min(neighbors[v], key=rank.__getitem__, default=-1) for v in order}
    if any(is_summed[v] for v in divided):
        chosen = [v for v in order if not is_summed[v]]
        later = {v: chosen[i + 1 :] for i, v in enumerate(chosen)}
        neighbors = {v: frozenset(later[v]) for v in chosen}
        parent = {v: later[v][0] if later[v] else -1 for v in chosen}
        is_open = set(chosen)
    elif is_whole:
        is_open = {v for v in order if not is_summed[v]}
    else:
        is_open = set()
        for v in order:
            if v in divided:
                is_open.add(v)
            if v in is_open and parent[v] >= 0:
                is_open.add(parent[v])
    below: dict[int, list[int]] = {v: [] for v in (-1, *is_open)}
    for v in order:
        if v in is_open:
            below[parent[v]].append(v)
    # Nodes in preorder: each subtree is a range.
    nodes, waiting = [], [-1]
    while waiting:
        v = waiting.pop()
        nodes.append(v)
        waiting.extend(reversed(below[v]))
    number = {v: i for i, v in enumerate(nodes)}
    if is_whole:
        gates = [Message((v,), np.zeros(sizes[v]), -1) for v in nodes[1:]]
        bounds = replace(bounds, messages=(*bounds.messages, *gates))
    arrays = _arrays(bounds, sizes, nodes, number, parent, neighbors, constant)
    first_gate = len(arrays.firsts) - len(nodes) + 1 if is_whole else -1
    return SearchTree(arrays, tuple(nodes[1:]), first_gate)


def _neighbors(bounds: Bounds, order: Sequence[int]) -> dict[int, frozenset[int]]:
    """Return the neighbors of each variable when it is eliminated exactly."""
    rank = {v: i for i, v in enumerate(order)}
    masks = [0] * len(order)
    for message in bounds.messages:
        if message.source < 0 and message.scope:
            mask = 0
            for v in message.scope:
                mask |= 1 << rank[v]
            masks[rank[message.scope[-1]]] |= mask
    result = {}
    for i, v in enumerate(order):
        left = masks[i] & ~(1 << i)
        if left:
            masks[(left & -left).bit_length() - 1] |= left
        members, rest = [], left
        while rest:
            low = rest & -rest
            members.append(order[low.bit_length() - 1])
            rest ^= low
        result[v] = frozenset(members)
    return result


def _arrays(
    bounds: Bounds,
    sizes: Sequence[int],
    nodes: Sequence[int],
    number: dict[int, int],
    parent: dict[int, int],
    neighbors: dict[int, frozenset[int]],
    constant: float,
) -> TreeArrays:
    n = len(nodes)
    parents = [-1, *(number[parent[v]] for v in nodes[1:])]
    ends = list(range(1, n + 1))
    for i in range(n - 1, 0, -1):
        ends[parents[i]] = max(ends[parents[i]], ends[i])
    children: list[list[int]] = [[] for _ in nodes]
    for i in range(1, n):
        children[parents[i]].append(i)
    bucket: list[list[int]] = [[] for _ in nodes]
    own: list[list[int]] = [[] for _ in nodes]
    uses: list[list[int]] = [[] for _ in nodes]
    use_strides: list[list[int]] = [[] for _ in nodes]
    scopes: list[list[int]] = []
    strides: list[list[int]] = []
    firsts, cells, is_exact = [], [], []
    exact = constant
    start = 0
    for message in bounds.messages:
        is_relaxed = message.source >= 0 and message.source in number
        if not message.scope and not is_relaxed:
            exact += float(message.values)
        if not all(v in number for v in message.scope) or (not message.scope and not is_relaxed):
            continue
        f = len(scopes)
        scope = [number[v] for v in message.scope]
        if scope:
            bucket[scope[-1]].append(f)
        if is_relaxed:
            own[number[message.source]].append(f)
        shape = message.values.shape
        strides.append([math.prod(shape[axis + 1 :]) for axis in range(len(shape))])
        if not is_relaxed:
            for i, stride in zip(scope, strides[-1], strict=True):
                uses[i].append(f)
                use_strides[i].append(stride)
        scopes.append(scope)
        is_exact.append(not is_relaxed)
        firsts.append(start)
        cells.append(message.values.ravel())
        start += message.values.size
    contexts = [sorted(number[u] for u in neighbors[v]) if v >= 0 else [] for v in nodes]
    node_sizes = [1, *(sizes[v] for v in nodes[1:])]
    context_strides, is_cached = _context_strides(contexts, node_sizes, children)
    lengths = [ends[i] - i for i in range(n)]
    return TreeArrays(
        sizes=_ints(node_sizes),
        parents=_ints(parents),
        ends=_ints(ends),
        child_starts=_starts(children),
        children=_flat(children),
        bucket_starts=_starts(bucket),
        bucket=_flat(bucket),
        own_starts=_starts(own),
        own=_flat(own),
        use_starts=_starts(uses),
        uses=_flat(uses),
        use_strides=_flat(use_strides),
        is_exact=_ints(is_exact),
        context_starts=_starts(contexts),
        context=_flat(contexts),
        context_strides=_flat(context_strides),
        is_cached=_ints(is_cached),
        scope_starts=_starts(scopes),
        scopes=_flat(scopes),
        strides=_flat(strides),
        firsts=_ints(firsts),
        cells=np.concatenate([*cells, np.zeros(1)]),
        choice_starts=_ints(np.cumsum([0, *node_sizes])),
        solution_starts=_ints(np.cumsum([0, *lengths])),
        constant=np.array([bounds.total + constant, exact]),
    )


def _context_strides(
    contexts: Sequence[Sequence[int]], sizes: Sequence[int], children: Sequence[Sequence[int]]
) -> tuple[list[list[int]], list[bool]]:
    """Return the strides that number the configurations of contexts, and which are cached."""
    strides, is_cached = [], []
    for i, context in enumerate(contexts):
        total, own = 1, []
        for u in context:
            own.append(total if total < MOST_CONTEXTS else 0)
            total *= sizes[u]
        strides.append(own)
        is_cached.append(bool(i and children[i] and total < MOST_CONTEXTS))
    return strides, is_cached


def _ints(values: Iterable[int]) -> Ints:
    return np.array([int(v) for v in values], dtype=np.int64)


def _starts(lists: Sequence[Sequence[int]]) -> Ints:
    return _ints(np.cumsum([0, *(len(each) for each in lists)]))


def _flat(lists: Sequence[Sequence[int]]) -> Ints:
    return _ints([value for each in lists for value in each])


# --- Orders of elimination for a search: summed variables first, then maximized ones --------------
#
# The value of a marginal MAP is a maximum of sums, and sums and maxima do not commute. So the
# summed variables must be eliminated first, by a greedy order of least weight. The order of the
# maximized variables, on the graph that is left, is searched for as usual.


def constrained_order(
    scopes: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    is_summed: Sequence[bool],
    finder: OrderFinder,
) -> tuple[tuple[int, ...], int]:
    """Return the variables of more than one state in an order of elimination.

    The second number is the total size of the cliques of the maximized variables.

    Parameters
    ----------
    scopes
        The variables of each table.
    sizes
        The number of states of each variable.
    is_summed
        For each variable, whether it is summed out.
    finder
        The search for the order of the maximized variables.
    """
    free = [v for v, size in enumerate(sizes) if size > 1]
    summed = [v for v in free if is_summed[v]]
    remaining: Sequence[tuple[int, ...]] = scopes
    first: list[int] = []
    if summed:
        first, remaining = _summed_first(scopes, sizes, summed)
    gone = set(first)
    graph = InteractionGraph.from_scopes(
        {str(v): sizes[v] for v in free if v not in gone},
        [[str(v) for v in scope] for scope in remaining],
    )
    found = finder(graph)
    return (*first, *(int(name) for name in found.variables)), found.total_size


def _summed_first(
    scopes: Sequence[tuple[int, ...]], sizes: Sequence[int], summed: Sequence[int]
) -> tuple[list[int], list[tuple[int, ...]]]:
    """Return an order of the summed variables, and the edges of the graph without them."""
    neighbors: dict[int, set[int]] = {}
    for scope in scopes:
        for v in scope:
            neighbors.setdefault(v, set()).update(scope)
    for v, adjacent in neighbors.items():
        adjacent.discard(v)

    def weight(v: int) -> float:
        return math.fsum([math.log2(sizes[u]) for u in sorted(neighbors.get(v, ()))])

    waiting = set(summed)
    heap = [(weight(v), v) for v in summed]
    heapq.heapify(heap)
    order = []
    while waiting:
        known, v = heapq.heappop(heap)
        if v not in waiting or known != weight(v):
            continue
        waiting.remove(v)
        order.append(v)
        adjacent = neighbors.pop(v, set())
        for u in adjacent:
            neighbors[u] |= adjacent
            neighbors[u] -= {u, v}
        for u in adjacent & waiting:
            heapq.heappush(heap, (weight(u), u))
    edges: list[tuple[int, ...]] = [
        (v, u) for v, adjacent in neighbors.items() for u in adjacent if v < u
    ]
    return order, edges


# --- The problem of a search, and its bounds at levels of growing memory --------------------------

_FIRST_CELLS = 2**14
_GROWTH = 2**5
"""The cells of all tables at the first level, and their growth from level to level."""

_THOROUGH = 2
"""The first level whose search takes so long that a longer search for an order pays."""


class Level(NamedTuple):
    """Bounds in limited memory, and the tree of a search with them."""

    bounds: Bounds
    tree: SearchTree
    is_last: bool
    """Whether no level has more memory."""
    next_cells: int
    """The limit for the cells of the next level."""
    evaluates: bool
    """Whether the sums over the summed variables must be computed at each leaf."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchProblem(Value):
    """A sum of tables, to be maximized over some variables and summed over the others."""

    tables: LogTables
    is_summed: tuple[bool, ...]
    """For each variable, whether the exponentials are summed over its states."""
    finder: OrderFinder
    max_cells: int
    """The most cells of all tables of the bounds."""
    thorough: OrderFinder | None = None
    """The search for the order of the levels with more memory; None for the same order."""
    known_order: tuple[int, ...] = ()
    known_thorough_order: tuple[int, ...] = ()
    """Orders of elimination that may serve; they may have other variables too."""

    @cached_property
    def shifted(self) -> tuple[LogTable, ...]:
        """Tables with the same sum and tighter bounds."""
        if any(self.is_summed):
            return self.tables.tables
        return shifted_tables(self.tables.tables, self.tables.sizes)

    @cached_property
    def order(self) -> tuple[int, ...]:
        """The order of elimination of the first levels."""
        return self._ordered[0]

    @cached_property
    def thorough_order(self) -> tuple[int, ...]:
        """The order of the levels with more memory, after a longer search."""
        if self.thorough is None:
            return self.order
        if known := self._known(self.known_thorough_order):
            return known
        order, size = self._constrained_order(self.thorough)
        return order if size < self._ordered[1] else self.order

    @cached_property
    def _ordered(self) -> tuple[tuple[int, ...], float]:
        if known := self._known(self.known_order):
            return known, math.inf
        return self._constrained_order(self.finder)

    def _constrained_order(self, finder: OrderFinder) -> tuple[tuple[int, ...], int]:
        scopes = [table.scope for table in self.shifted]
        return constrained_order(scopes, self.tables.sizes, self.is_summed, finder)

    def _known(self, order: tuple[int, ...]) -> tuple[int, ...]:
        """Return a known order without the variables that are certain; empty if it lacks others."""
        free = {v for v, size in enumerate(self.tables.sizes) if size > 1}
        return tuple([v for v in order if v in free]) if free <= set(order) else ()

    def level(self, number: int, *, is_whole: bool = False) -> Level:
        """Return the bounds and the tree of a level.

        A whole tree has a node for each variable that is not summed out, with a table of its own
        that can exclude states.
        """
        goals = [min(_FIRST_CELLS * _GROWTH**k, self.max_cells) for k in (number, number + 1)]
        sizes = self.tables.sizes
        order = self.thorough_order if number >= _THOROUGH else self.order
        division = _largest_division(
            [table.scope for table in self.shifted], sizes, order, goals[0]
        )
        bounds = bounds_of(self.shifted, division, sizes, self.is_summed)
        tree = search_tree(bounds, sizes, self.is_summed, self.tables.constant, is_whole=is_whole)
        is_last = goals[0] >= self.max_cells or not division.divided
        evaluates = any(self.is_summed[v] for v in division.divided)
        return Level(bounds, tree, is_last, goals[1], evaluates)


def _largest_division(
    scopes: Sequence[tuple[int, ...]], sizes: Sequence[int], order: Sequence[int], max_cells: int
) -> Division:
    """Return the division with the largest mini-buckets whose tables fit."""

    def division(exponent: int) -> Division:
        return divide(scopes, sizes, order, 2**exponent)

    fits, low, high = division(0), 0, max(1, max_cells.bit_length())
    while high - low > 1:
        middle = (low + high) // 2
        found = division(middle)
        if found.cells + 2 * found.largest > max_cells:
            high = middle
        else:
            fits, low = found, middle
            if not fits.divided:
                break
    return fits
