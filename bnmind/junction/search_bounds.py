"""Sums of logarithmic tables, upper bounds of their best explanation, and trees of a search."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate, chain
from operator import mul
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.errors import ImpossibleEvidenceError
from bnmind.information import Floats
from bnmind.junction.graphs import OrderFinder, elimination, graph_of_scopes
from bnmind.junction.greedy_order import MOST_FRACTION, logarithm, peeled
from bnmind.junction.reduction import possible_states
from bnmind.junction.reduction import table as cells_of
from bnmind.pgm.network import Potential
from bnmind.pgm.variable import Variable

# --- Models as sums of logarithmic tables, reduced to the states that evidence leaves possible ----
#
# A state is impossible if a table has no possible cell with it. Impossible states are removed until
# none is left, and variables with a single state disappear. Then tables over a part of another
# table's variables are added to it.

_Scope = tuple[int, ...]


class LogTable(NamedTuple):
    """A table of logarithms over some variables, by number; −inf for impossible cells."""

    scope: _Scope
    values: Floats
    source: int = -1
    """The variable whose elimination gave it; −1 for a table of the model."""


@dataclass(frozen=True, eq=False, kw_only=True)
class LogTables:
    """A function of some variables as a sum of tables and a constant."""

    variables: tuple[Variable, ...]
    """All variables of the model, those that are certain too."""
    states: tuple[NDArray[np.intp], ...]
    """The possible states of each variable; one state if it is certain."""
    tables: tuple[LogTable, ...]
    """Over the variables that are not certain; their axes are the possible states."""
    constant: float
    """The value of the certain part; −inf if no configuration is possible."""

    @property
    def sizes(self) -> tuple[int, ...]:
        """The number of possible states of each variable."""
        return tuple([len(states) for states in self.states])

    def value(self, positions: Sequence[int]) -> float:
        """Return the value of a configuration, by positions among the possible states."""
        terms = [float(t.values[tuple([positions[v] for v in t.scope])]) for t in self.tables]
        return math.fsum([self.constant, *terms])


def log_tables(
    potentials: Sequence[Potential],
    variables: Sequence[Variable],
    evidence: Mapping[str, int],
    likelihoods: Mapping[str, Floats],
) -> LogTables:
    """Return the logarithmic tables of a model under evidence.

    Parameters
    ----------
    potentials
        Non-negative factors, and distributions whose tables fit.
    variables
        All their variables.
    evidence
        Positions of observed states by name.
    likelihoods
        Weights of the states of other variables, by name.
    """
    domains = {v.name: tuple(range(v.n_states)) for v in variables}
    domains |= {name: (state,) for name, state in evidence.items()}
    for name, weights in likelihoods.items():
        domains[name] = tuple(np.flatnonzero(weights).tolist())
    constant = 0.0
    try:
        domains = possible_states(potentials, domains)
    except ImpossibleEvidenceError:
        domains = {v.name: (0,) for v in variables}
        potentials, likelihoods, constant = (), {}, -math.inf
    tables = [([v.name for v in p.scope], cells_of(p, domains).real) for p in potentials]
    tables += [([name], weights[list(domains[name])]) for name, weights in likelihoods.items()]
    number = {v.name: i for i, v in enumerate(variables)}
    by_scope: dict[_Scope, Any] = {}
    for names, values in tables:
        with np.errstate(divide="ignore"):
            logs = np.log(values)
        order = sorted(range(len(names)), key=lambda axis: number[names[axis]])
        scope = tuple([number[names[axis]] for axis in order if logs.shape[axis] > 1])
        logs = logs.transpose(order).reshape([len(domains[variables[v].name]) for v in scope])
        by_scope[scope] = by_scope[scope] + logs if scope in by_scope else logs
    constant += float(by_scope.pop((), 0.0))
    return LogTables(
        variables=tuple(variables),
        states=tuple([np.array(domains[v.name], dtype=np.intp) for v in variables]),
        tables=tuple([LogTable(scope, values) for scope, values in _absorbed(by_scope).items()]),
        constant=constant,
    )


def _absorbed(tables: Mapping[_Scope, Any]) -> dict[_Scope, Any]:
    """Return the tables without those over a part of another's variables, added to the other."""
    result: dict[_Scope, Any] = {}
    of_variable: dict[int, list[_Scope]] = {}
    # Longer scopes come first.
    for scope in sorted(tables, key=lambda scope: (-len(scope), scope)):
        values, members = tables[scope], set(scope)
        near = min((of_variable.setdefault(v, []) for v in scope), key=len)
        larger = next((other for other in near if members < set(other)), None)
        if larger is None:
            result[scope] = values
            for v in scope:
                of_variable[v].append(scope)
        else:
            shape = [result[larger].shape[a] if v in members else 1 for a, v in enumerate(larger)]
            result[larger] = result[larger] + values.reshape(shape)
    return result


# --- Upper bounds by bucket elimination in limited memory (mini-buckets with moment matching) -----
#
# Bucket elimination removes the variables of a sum of logarithmic tables in an order: the tables of
# a variable are added, the variable is maximized (or summed) out, and the result is a table of the
# variables left. If the sum of a bucket would have too many cells, its tables are divided into
# *mini-buckets*, and the variable is eliminated from each of them separately. The results are upper
# bounds. Before that, costs are moved between the mini-buckets until their largest values agree for
# each configuration that they share, which makes the bounds far tighter.
#
# A sum over a divided bucket is bounded by Hölder's inequality, with equal weights 1/r for its r
# mini-buckets.
#
# References
# ----------
# R. Dechter and I. Rish, "Mini-buckets: a general scheme for bounded inference", Journal of the ACM
# 50 (2003); A. Ihler, N. Flerova, R. Dechter and L. Otten, "Join-graph based cost-shifting
# schemes", UAI (2012); Q. Liu and A. Ihler, "Bounding the partition function using Hölder's
# inequality", ICML (2011).


@dataclass(frozen=True, kw_only=True)
class Division:
    """A division of all buckets into mini-buckets."""

    order: tuple[int, ...]
    """The variables in the order of elimination."""
    parts: tuple[tuple[tuple[int, ...], ...], ...]
    """For each variable of the order, the tables of each mini-bucket. The tables of the model come
    first, and each mini-bucket appends the table that it gives."""
    cells: int
    """The number of cells of all tables that the mini-buckets give."""
    largest: int
    """The largest number of cells of the sum of a bucket."""

    @property
    def divided(self) -> frozenset[int]:
        """The variables with more than one mini-bucket."""
        return frozenset(v for v, p in zip(self.order, self.parts, strict=True) if len(p) > 1)


def divide(
    scopes: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    order: Sequence[int],
    max_cells: int,
) -> Division:
    """Return a division into mini-buckets of at most ``max_cells`` cells, if single tables fit.

    The tables of a bucket are taken from the largest to the smallest, and each joins the first
    mini-bucket that has room for it.

    Parameters
    ----------
    scopes
        The variables of each table of the model.
    sizes
        The number of states of each variable.
    order
        The variables in the order of elimination.
    max_cells
        The limit.
    """
    rank = {v: i for i, v in enumerate(order)}
    every = [tuple(sorted(scope, key=rank.__getitem__, reverse=True)) for scope in scopes]
    buckets: dict[int, list[int]] = {v: [] for v in order}
    for number, scope in enumerate(every):
        buckets[scope[-1]].append(number)
    parts, cells, largest = [], 0, 0
    for v in order:
        own = sorted(buckets[v], key=lambda f: (-math.prod([sizes[u] for u in every[f]]), f))
        minis: list[tuple[set[int], int, list[int]]] = []
        for f in own:
            for at, (members, size, tables) in enumerate(minis):
                joined = size * math.prod([sizes[u] for u in every[f] if u not in members])
                if joined <= max_cells or joined == size:
                    members.update(every[f])
                    minis[at] = (members, joined, [*tables, f])
                    break
            else:
                minis.append((set(every[f]), math.prod([sizes[u] for u in every[f]]), [f]))
        for members, size, _ in minis:
            left = tuple(sorted(members - {v}, key=rank.__getitem__, reverse=True))
            if left:
                buckets[left[-1]].append(len(every))
            every.append(left)
            cells += size // sizes[v]
            largest = max(largest, size)
        parts.append(tuple(tuple(tables) for _, _, tables in minis))
    return Division(order=tuple(order), parts=tuple(parts), cells=cells, largest=largest)


@dataclass(frozen=True)
class Bounds:
    """The tables of a bucket elimination in limited memory."""

    division: Division
    messages: tuple[LogTable, ...]
    """The tables of the model, and those that the mini-buckets give. Their axes are the variables
    from the last eliminated to the first, in whose bucket they stand."""
    total: float
    """The upper bound of the largest value."""


def bounds_of(
    tables: Sequence[LogTable],
    division: Division,
    sizes: Sequence[int],
    is_summed: Sequence[bool],
) -> Bounds:
    """Return the tables of all mini-buckets.

    Parameters
    ----------
    tables
        The tables of the model.
    division
        A division of their buckets.
    sizes
        The number of states of each variable.
    is_summed
        For each variable, whether it is summed out instead of maximized.
    """
    rank = {v: i for i, v in enumerate(division.order)}
    messages = []
    for table in tables:
        axes = sorted(range(len(table.scope)), key=lambda a: rank[table.scope[a]], reverse=True)
        values = np.ascontiguousarray(table.values.transpose(axes))
        messages.append(LogTable(tuple([table.scope[axis] for axis in axes]), values))
    total = 0.0
    for v, parts in zip(division.order, division.parts, strict=True):
        sums = [_sum([messages[f] for f in part], rank, sizes) for part in parts]
        weight = 1.0 / len(parts) if is_summed[v] and parts else 0.0
        if len(sums) > 1:
            _match(sums, weight)
        for scope, values in sums:
            gone = _eliminated(values, (-1,), weight)
            messages.append(LogTable(scope[:-1], np.array(gone, order="C"), v))
            if len(scope) == 1:
                total += float(gone)
        if not parts and is_summed[v]:
            total += math.log(sizes[v])
    return Bounds(division, tuple(messages), total)


_Table = tuple[tuple[int, ...], Any]


def _sum(parts: Sequence[LogTable], rank: Mapping[int, int], sizes: Sequence[int]) -> _Table:
    """Return the sum of some tables."""
    members = set().union(*(part.scope for part in parts))
    scope = tuple(sorted(members, key=rank.__getitem__, reverse=True))
    total: Any = np.zeros([sizes[v] for v in scope])
    for part in parts:
        own = set(part.scope)
        total += part.values.reshape([sizes[v] if v in own else 1 for v in scope])
    return scope, total


def _match(sums: list[_Table], weight: float) -> None:
    """Move costs between mini-buckets until they agree on their common variables."""
    shared = set(sums[0][0]).intersection(*(scope for scope, _ in sums[1:]))
    moments = []
    for scope, values in sums:
        axes = tuple([axis for axis, v in enumerate(scope) if v not in shared])
        moments.append(_eliminated(values, axes, weight))
    with np.errstate(invalid="ignore"):
        mean = sum(moments) / len(moments)
        for (scope, values), moment in zip(sums, moments, strict=True):
            shift = mean - moment
            shift[np.isnan(shift)] = -np.inf  # the configuration is impossible
            values += shift.reshape(
                [n if v in shared else 1 for v, n in zip(scope, values.shape, strict=True)]
            )


def _eliminated(values: Any, axes: tuple[int, ...], weight: float) -> Any:
    """Return maxima over some axes, or with a weight w > 0, w·log Σ exp(values / w)."""
    if not axes:
        return values.copy()
    largest = values.max(axis=axes, keepdims=True)
    if weight > 0:
        base = np.where(largest > -np.inf, largest, 0.0)
        with np.errstate(divide="ignore"):
            sums = np.log(np.exp((values - base) / weight).sum(axis=axes, keepdims=True))
        largest = base + weight * sums
    return largest.squeeze(axis=axes)


# Tighter bounds by moving costs between tables (block coordinate descent on a linear program).
#
# The sum of the largest cells of all tables is an upper bound of the largest sum. Costs of a
# variable may be moved between the tables that share it without changing any sum. A step makes the
# largest cells of all tables of a variable equal for each of its states, which never raises the
# bound.
#
# References
# ----------
# A. Globerson and T. Jaakkola, "Fixing max-product: convergent message passing algorithms for MAP
# LP-relaxations", NIPS (2007); A. Ihler, N. Flerova, R. Dechter and L. Otten, "Join-graph based
# cost-shifting schemes", UAI (2012).

_MOST_CELLS = 400_000_000
"""The most cells that all sweeps visit: about a second."""

_ENOUGH = 1e-7
"""The relative progress of a sweep below which there are no more sweeps."""


def shifted_tables(tables: Sequence[LogTable], sizes: Sequence[int]) -> tuple[LogTable, ...]:
    """Return tables with the same sum and a bound that is at most that of the given ones.

    Parameters
    ----------
    tables
        The tables.
    sizes
        The number of states of each variable.
    """
    if not tables:
        return ()
    cells = np.concatenate([t.values.ravel() for t in tables])
    starts = np.cumsum([0, *(t.values.size for t in tables)], dtype=np.int64)
    uses: list[list[tuple[int, int, int]]] = [[] for _ in sizes]
    for table, start, end in zip(tables, starts, starts[1:], strict=False):
        for axis, v in enumerate(table.scope):
            stride = math.prod(table.values.shape[axis + 1 :])
            uses[v].append((start, end, stride))
    shared = [v for v, each in enumerate(uses) if len(each) > 1]
    flat = np.array([use for v in shared for use in uses[v]], dtype=np.int64).reshape(-1, 3)
    first = np.cumsum([0, *(len(uses[v]) for v in shared)], dtype=np.int64)
    n_states = np.array([sizes[v] for v in shared], dtype=np.int64)
    visited = 2 * int((flat[:, 1] - flat[:, 0]).sum())
    work = np.empty((max(map(len, uses)), max(sizes)))
    bound = _bound(cells, starts)
    for sweep in range(max(1, min(300, _MOST_CELLS // max(1, visited)))):
        _sweep(cells, flat, first, n_states, work)
        if sweep % 5 == 4:
            lower = _bound(cells, starts)
            if bound - lower <= _ENOUGH * max(1.0, abs(lower)):
                break
            bound = lower
    parts = np.split(cells, starts[1:-1])
    return tuple(
        LogTable(table.scope, part.reshape(table.values.shape))
        for table, part in zip(tables, parts, strict=True)
    )


def _bound(cells: Floats, starts: NDArray[np.int64]) -> float:
    return float(np.maximum.reduceat(cells, starts[:-1]).sum())


@njit
def _sweep(
    cells: Floats,
    uses: NDArray[np.int64],
    first: NDArray[np.int64],
    n_states: NDArray[np.int64],
    work: Floats,
) -> None:
    """Equalize the tables of each variable in turn.

    ``uses`` holds the first cell, the end, and the stride of a variable in each of its tables.
    """
    for v in range(n_states.size):
        size = n_states[v]
        n_uses = first[v + 1] - first[v]
        for u in range(n_uses):
            start, end, stride = uses[first[v] + u]
            blocks = cells[start:end].reshape(-1, size, stride)
            work[u, :size] = -np.inf
            for i in range(len(blocks)):
                for x in range(size):
                    for j in range(stride):
                        work[u, x] = max(work[u, x], blocks[i, x, j])
        for x in range(size):
            mean = work[:n_uses, x].sum() / n_uses
            for u in range(n_uses):
                # A state that is impossible in one table becomes impossible in all.
                work[u, x] = mean - work[u, x] if mean > -np.inf else -np.inf
        for u in range(n_uses):
            start, end, stride = uses[first[v] + u]
            blocks = cells[start:end].reshape(-1, size, stride)
            for i in range(len(blocks)):
                for x in range(size):
                    for j in range(stride):
                        blocks[i, x, j] += work[u, x]


# --- Orders of elimination for a search: summed variables first, then maximized ones --------------
#
# The value of a marginal MAP is a maximum of sums, and sums and maxima do not commute. So the
# summed variables must be eliminated first, always the one with the smallest clique. The order of
# the maximized variables, on the graph that is left, is searched for as usual.


def constrained_order(
    scopes: Sequence[tuple[int, ...]],
    sizes: Sequence[int],
    is_summed: Sequence[bool],
    finder: OrderFinder,
) -> tuple[int, ...]:
    """Return the variables of more than one state in an order of elimination.

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
    around: list[set[int]] = [set() for _ in sizes]
    for scope in scopes:
        for v in scope:
            around[v].update(u for u in scope if u != v)
    summed = [v for v, size in enumerate(sizes) if size > 1 and is_summed[v]]
    rest = [v for v, size in enumerate(sizes) if size > 1 and not is_summed[v]]
    weights = [logarithm(size, MOST_FRACTION) for size in sizes]
    first, _ = peeled(around, weights, summed, most=0, heaviest=math.inf)
    edges = [(str(v), str(u)) for v in rest for u in around[v]]
    found = finder(graph_of_scopes({str(v): sizes[v] for v in rest}, edges))
    return (*first, *(int(name) for name in found.variables))


# --- The tree that a branch and bound walks, as arrays for compiled code --------------------------
#
# The search assigns the variables in the reverse order of elimination. The *pseudo-tree* has a node
# for each variable; its parent is the first of its neighbors to be eliminated after it. Given the
# states of the nodes above, the subtrees of a node are independent, and each is searched on its own
# (an AND/OR search). A subtree depends only on the neighbors of its top when that is eliminated,
# its *context*, so that its value is cached by their states.
#
# A node is *open* if it or a node below it has a divided bucket. Other subtrees are not searched,
# because their bounds are exact. The nodes are numbered so that each subtree is a range; node 0
# stands above all of them and has a single state.
#
# References
# ----------
# R. Dechter and R. Mateescu, "AND/OR search spaces for graphical models", Artificial Intelligence
# 171 (2007); R. Marinescu and R. Dechter, "AND/OR branch-and-bound search for combinatorial
# optimization in graphical models", Artificial Intelligence 173 (2009).

Ints: TypeAlias = NDArray[np.int64]

MOST_CONTEXTS = 2**62
"""The most configurations of a context whose values are cached."""


class Lists(NamedTuple):
    """A list of numbers for each node, as one array with the starts of its parts."""

    items: Ints
    starts: Ints


class Places(NamedTuple):
    """Places in an array, each a sum over the states of some nodes, times their strides."""

    firsts: Ints
    """The places where all states are 0."""
    starts: Ints
    nodes: Ints
    strides: Ints
    """The nodes of each place from the top, and their strides, as one array each."""


class TreeArrays(NamedTuple):
    """A pseudo-tree and its tables."""

    variables: Ints
    """The variable of each node from node 1."""
    sizes: Ints
    """The number of states of each node."""
    parents: Ints
    ends: Ints
    """The subtree of node i consists of the nodes i to ends[i] − 1. Its first child is i + 1, and
    child ends[j] comes after child j."""
    contexts: Places
    """The numbers of the configurations of the context of each node."""
    is_cached: Ints
    is_open: Ints
    bucket: Lists
    """The tables whose deepest variable is that of the node."""
    own: Lists
    """The tables that the mini-buckets of the node give."""
    tables: Places
    """The cells of each table; the stride of the last node is 1."""
    is_exact: Ints
    """Whether each table is one of the model, or the exact value of a part of it."""
    cells: Floats
    choice_starts: Ints
    """Where the states of each node start in an array of the states of all nodes."""
    solution_starts: Ints
    """Where the states of each subtree start in an array of those of all subtrees."""
    constant: Floats
    """The upper bound of all values, and the part of it that is exact in every configuration."""


def search_tree(
    bounds: Bounds, sizes: Sequence[int], is_summed: Sequence[bool], constant: float
) -> TreeArrays:
    """Return the tree of the variables that are not summed out.

    Node 0 has no variable. If a bucket of a summed variable is divided, the tree is a chain.

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
    """
    division = bounds.division
    chosen = [v for v in division.order if not is_summed[v]]
    is_chain = any(is_summed[v] for v in division.divided)
    if is_chain:
        neighbors = {v: tuple(chosen[i + 1 :]) for i, v in enumerate(chosen)}
    else:
        neighbors = _neighbors(bounds, sizes, division.order)
    below: dict[int, list[int]] = {v: [] for v in (-1, *chosen)}
    for v in chosen:
        below[neighbors[v][0] if neighbors[v] else -1].append(v)
    # Nodes in preorder: each subtree is a range.
    nodes, waiting = [], [-1]
    while waiting:
        v = waiting.pop()
        nodes.append(v)
        waiting.extend(reversed(below[v]))
    number = {v: i for i, v in enumerate(nodes)}
    parents = [-1, *(number[neighbors[v][0]] if neighbors[v] else 0 for v in nodes[1:])]
    ends = list(range(1, len(nodes) + 1))
    for i in range(len(nodes) - 1, 0, -1):
        ends[parents[i]] = max(ends[parents[i]], ends[i])
    n_divided = np.cumsum([0, *(is_chain or v in division.divided for v in nodes)])
    contexts = [sorted(number[u] for u in neighbors[v]) if v >= 0 else [] for v in nodes]
    node_sizes = [1, *(sizes[v] for v in nodes[1:])]
    # The strides that number the configurations of contexts, and at last the number of these.
    strides = [[*accumulate([node_sizes[u] for u in c], mul, initial=1)] for c in contexts]
    return TreeArrays(
        variables=_ints(nodes[1:]),
        sizes=_ints(node_sizes),
        parents=_ints(parents),
        ends=_ints(ends),
        contexts=_places(
            [0] * len(nodes),
            contexts,
            [[min(n, MOST_CONTEXTS) for n in each[:-1]] for each in strides],
        ),
        is_cached=_ints(
            [0 < i < end - 1 and strides[i][-1] < MOST_CONTEXTS for i, end in enumerate(ends)]
        ),
        is_open=_ints(n_divided[ends] > n_divided[:-1]),
        choice_starts=_ints(np.cumsum([0, *node_sizes])),
        solution_starts=_ints(np.cumsum([0, *(end - i for i, end in enumerate(ends))])),
        **_tables(bounds, number, constant),
    )


def _neighbors(
    bounds: Bounds, sizes: Sequence[int], order: Sequence[int]
) -> dict[int, tuple[int, ...]]:
    """Return the neighbors of each variable when it is eliminated exactly, in the order."""
    scopes = [[str(v) for v in each.scope] for each in bounds.messages if each.source < 0]
    graph = graph_of_scopes({str(v): sizes[v] for v in order}, scopes)
    cliques = elimination(graph, range(len(order))).cliques
    return {order[v]: tuple([order[u] for u in rest]) for v, *rest in cliques}


def _tables(bounds: Bounds, number: dict[int, int], constant: float) -> dict[str, Any]:
    """Return the arrays of the tables, given the numbers of the nodes by variable."""
    bucket: list[list[int]] = [[] for _ in number]
    own: list[list[int]] = [[] for _ in number]
    scopes: list[list[int]] = []
    strides: list[list[int]] = []
    cells, is_exact = [np.zeros(0)], []
    exact = constant
    for message in bounds.messages:
        is_relaxed = message.source >= 0 and message.source in number
        if not message.scope and not is_relaxed:
            exact += float(message.values)
        elif all(v in number for v in message.scope):
            f, scope, shape = len(scopes), [number[v] for v in message.scope], message.values.shape
            for i in scope[-1:]:
                bucket[i].append(f)
            if is_relaxed:
                own[number[message.source]].append(f)
            scopes.append(scope)
            strides.append([math.prod(shape[axis + 1 :]) for axis in range(len(shape))])
            is_exact.append(not is_relaxed)
            cells.append(message.values.ravel())
    return {
        "bucket": _lists(bucket),
        "own": _lists(own),
        "tables": _places(np.cumsum([0, *map(len, cells)])[1:-1], scopes, strides),
        "is_exact": _ints(is_exact),
        "cells": np.concatenate(cells),
        "constant": np.array([bounds.total + constant, exact]),
    }


def _ints(values: Iterable[int]) -> Ints:
    return np.array([int(v) for v in values], dtype=np.int64)


def _lists(lists: Sequence[Sequence[int]]) -> Lists:
    return Lists(_ints(chain(*lists)), _ints(np.cumsum([0, *map(len, lists)])))


def _places(
    firsts: Iterable[int], nodes: Sequence[Sequence[int]], strides: Sequence[Sequence[int]]
) -> Places:
    items, starts = _lists(nodes)
    return Places(_ints(firsts), starts, items, _ints(chain(*strides)))


# --- The problem of a search, and its bounds at levels of growing memory --------------------------

_FIRST_CELLS = 2**14
_GROWTH = 2**5
"""The cells of all tables at the first level, and their growth from level to level."""

_CELLS_OF_NODE = 16
"""The search at a level ends after a node for this number of cells of the next level."""

_THOROUGH = 2
"""The first level whose search takes so long that a longer search for an order pays."""


class Level(NamedTuple):
    """A tree with bounds in limited memory."""

    tree: TreeArrays
    most_nodes: float
    """The nodes to visit before the next level; infinity if no level has more memory."""
    evaluates: bool
    """Whether the sums over the summed variables must be computed at each leaf."""


Orders: TypeAlias = dict[bool, tuple[int, ...]]
"""Orders of elimination after a short and after a longer search."""


@dataclass(frozen=True, eq=False, kw_only=True)
class SearchProblem:
    """A sum of tables, to be maximized over some variables and summed over the others."""

    tables: LogTables
    is_summed: tuple[bool, ...]
    """For each variable, whether the exponentials are summed over its states."""
    finder: OrderFinder
    max_cells: int
    """The most cells of all tables of the bounds."""
    thorough: OrderFinder | None = None
    """The search for the order of the levels with more memory, which never finds a worse one; None
    for the same order."""
    orders: Orders = field(default_factory=dict)
    """The orders found so far, which problems with evidence on the same variables share."""

    @cached_property
    def shifted(self) -> tuple[LogTable, ...]:
        """Tables with the same sum and tighter bounds."""
        if any(self.is_summed):
            return self.tables.tables
        return shifted_tables(self.tables.tables, self.tables.sizes)

    def _order(self, number: int) -> tuple[int, ...]:
        """Return an order of the variables that are not certain, for a level."""
        finder = (self.thorough if number >= _THOROUGH else None) or self.finder
        sizes = self.tables.sizes
        free = {v for v, size in enumerate(sizes) if size > 1}
        order = self.orders.get(finder is self.thorough, ())
        if not free <= set(order):
            scopes = [table.scope for table in self.shifted]
            order = constrained_order(scopes, sizes, self.is_summed, finder)
            self.orders[finder is self.thorough] = order
        return tuple([v for v in order if v in free])

    def level(self, number: int) -> Level:
        """Return the bounds and the tree of a level."""
        most, more = [min(_FIRST_CELLS * _GROWTH**k, self.max_cells) for k in (number, number + 1)]
        sizes, scopes = self.tables.sizes, [table.scope for table in self.shifted]
        division = _largest_division(scopes, sizes, self._order(number), most)
        bounds = bounds_of(self.shifted, division, sizes, self.is_summed)
        tree = search_tree(bounds, sizes, self.is_summed, self.tables.constant)
        is_last = most >= self.max_cells or not division.divided
        evaluates = any(self.is_summed[v] for v in division.divided)
        return Level(tree, math.inf if is_last else more / _CELLS_OF_NODE, evaluates)


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
