"""The tree that a branch and bound walks, as arrays for compiled code.

The search assigns the variables in the reverse order of elimination. The *pseudo-tree* has a node
for each variable; its parent is the first of its neighbors to be eliminated after it. Given the
states of the nodes above, the subtrees of a node are independent, and each is searched on its own
(an AND/OR search). A subtree depends only on the neighbors of its top when that is eliminated, its
*context*, so that its value is cached by their states.

Subtrees without a divided bucket are not searched: their bounds are exact. The remaining nodes are
numbered so that each subtree is a range; node 0 stands above all of them and has a single state.

References
----------
R. Dechter and R. Mateescu, "AND/OR search spaces for graphical models", Artificial Intelligence 171
(2007); R. Marinescu and R. Dechter, "AND/OR branch-and-bound search for combinatorial optimization
in graphical models", Artificial Intelligence 173 (2009).
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats
from bnmind.junction.branch_and_bound.mini_buckets import Bounds, Message

__all__ = ["MOST_CONTEXTS", "Ints", "SearchTree", "TreeArrays", "search_tree"]

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
