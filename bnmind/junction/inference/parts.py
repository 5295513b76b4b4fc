"""The separately triangulated parts of a query, and the search for their trees.

Usually there is one part. With little evidence, it is often cheaper to answer each target from its
own ancestors and those of the evidence; see `bnmind.junction.reduction.barren_variables`.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from bnmind.junction.graphs.elimination_order import EliminationOrder
from bnmind.junction.graphs.interaction_graph import InteractionGraph, graph_of_scopes
from bnmind.junction.graphs.junction_tree import JunctionTree
from bnmind.junction.inference.query import Query, Request
from bnmind.junction.program.contraction import Function, ProgramBuilder
from bnmind.junction.program.layout.compiled_messages import answers
from bnmind.junction.program.message_passing import Passing, TreeShape
from bnmind.junction.program.program import Program
from bnmind.junction.program.program_inputs import Source
from bnmind.junction.reduction.barren_variables import Group, ancestral_groups, closures
from bnmind.junction.reduction.reduced_model import Reduction, Scope
from bnmind.junction.triangulation.randomized_greedy import MOST_WORK
from bnmind.junction.triangulation.shared_search import SharedSearch

__all__ = ["Part", "may_be_packed", "planned", "program_of", "shared_search", "smallest"]

_WORTH_DIVIDING = 100_000
"""The number of cells below which a query is not divided into groups of ancestors."""

_WORTH_SEARCHING = 4_000_000
"""The total number of cells below which quick orders suffice for the groups."""

_VARIABLE_COST = 10_000
"""The cost of planning and running for each variable besides the cells, in cells."""

_DIVIDING_WORK = 5 * MOST_WORK
"""The most work for estimating the cost of groups."""


_ROUGHLY = 6.0
"""The binary logarithm of the error of the estimate of cells that are not zero. Zeros of other
tables, which messages bring, make them fewer."""

_MOST_MEMBERS = 2_000_000
"""The most variables that groups may have together: some hundred megabytes."""


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a query and its junction tree."""

    tree: JunctionTree
    group: Group | None = None
    """The variables and targets, if the query is divided."""


def _graph(model: Reduction, request: Request) -> InteractionGraph:
    """Return the graph of the unobserved variables of a model."""
    joints = [model.scope([v.name for v in scope]) for scope in request.joints]
    return _moral(model, request, [*model.scopes, *joints])


def _moral(model: Reduction, request: Request, scopes: Sequence[Scope]) -> InteractionGraph:
    observed = frozenset(request.observed)
    hidden = [[name for name in scope if name not in observed] for scope in scopes]
    sizes = {name: model.sizes[name] for scope in hidden for name in scope}
    return graph_of_scopes(sizes, hidden)


class _GroupGraphs:
    """The graphs of groups of a model's variables, each made from the tables of its group."""

    def __init__(self, model: Reduction, request: Request) -> None:
        self._model, self._request = model, request
        self._scopes = model.scopes
        self._first: dict[str, list[int]] = {}
        for i, scope in enumerate(self._scopes):
            for name in scope[:1]:
                self._first.setdefault(name, []).append(i)

    def graph(self, names: frozenset[str], targets: Sequence[int] = ()) -> InteractionGraph:
        """Return the graph of a group that answers the targets of these numbers."""
        model, request = self._model, self._request
        tables = sorted([i for name in names & self._first.keys() for i in self._first[name]])
        scopes = [self._scopes[i] for i in tables if names.issuperset(self._scopes[i])]
        joints = [request.query.targets[number] for number in targets]
        scopes += [model.scope(v.name for v in scope) for scope in joints]
        return _moral(model, request, scopes)


def shared_search(query: Query) -> SharedSearch:
    """Return the search for all orders of a plan."""
    most = math.inf if query.may_shrink else query.limits.hopeless_cells
    return SharedSearch(query.order, most, query.limits.most_cells)


def planned(
    model: Reduction,
    request: Request,
    parents: Mapping[str, Sequence[str]] | None,
    search: SharedSearch,
) -> list[Part]:
    """Return the cheapest division of a query into parts, with their trees.

    Parameters
    ----------
    model
        The reduced model.
    request
        The request.
    parents
        The parents of each variable; None if the query must not be divided.
    search
        Finds the orders, see `shared_search`.

    Raises
    ------
    TooLargeError
        If the plan is surely too large, and no restriction of it may fit.
    """
    query = request.query
    limits = query.limits
    graph = _graph(model, request)
    parts: list[Part] = []
    order = None
    if parents is not None and not request.inputs and len(query.targets) > 1:
        order = search.small(graph, _WORTH_DIVIDING)
        if order is None:
            start = search.quick(graph)
            cells = math.inf if start is None else start.total_size
            parts = _divided(model, request, parents, (search, graph.n, cells))
    if not parts:
        order = order or search.order(graph)
        if order is None:
            raise limits.refusal_of_cells(limits.hopeless_cells)
        parts = [Part(JunctionTree.from_order(graph, order))]
    refusal = limits.refusal_of_trees([part.tree for part in parts], model.sizes)
    if refusal is not None and not (
        query.may_shrink or may_be_packed(model, query, [part.tree for part in parts])
    ):
        raise refusal
    return parts


def may_be_packed(model: Reduction, query: Query, trees: Iterable[JunctionTree]) -> bool:
    """Return whether a plan that does not fit may fit if it stores no zeros.

    The cells of a clique that are not zero are estimated from the shares of such cells in the
    tables that lie in the clique, as if these were independent.
    """
    if not query.direct or query.whole or query.most_cells is not None:
        return False
    most = math.log2(max(1, query.limits.listed_terms)) + _ROUGHLY
    shares = [
        (frozenset(table.scope), math.log2(share) if share else -math.inf)
        for table in model.tables
        if (share := np.count_nonzero(table.values) / max(1, table.values.size)) < 1
    ]
    if not shares:
        return False
    for tree in trees:
        for clique in tree.cliques:
            cells = math.log2(clique.size)
            if cells > most:
                inside = frozenset(clique.variables)
                cells += sum([share for scope, share in shares if scope <= inside])
                if cells > most:
                    return False
    return True


def program_of(
    parts: Sequence[Part],
    asked: tuple[Reduction, Request, Mapping[str, int]],
    sources: Sequence[Source],
    functions: Mapping[int, Function],
    heads: Sequence[str | None],
) -> tuple[Program, dict[int, int | None]]:
    """Return the messages of all parts as a program, and the register of each target.

    Parameters
    ----------
    parts
        The parts, with their trees.
    asked
        The reduced model, the request, and the number of each variable.
    sources
        The first registers.
    functions
        Those that are deterministic.
    heads
        For each register that is a conditional distribution, its variable.
    """
    model, request, number = asked
    observed = frozenset(request.observed)
    builder = ProgramBuilder(
        tuple(model.sizes.values()),
        [source.scope for source in sources]
        + [()] * sum(source.positions is not None for source in sources),
        heads={
            i: frozenset([number[name]])
            for i, name in enumerate(heads)
            if name is not None and name in number and name not in observed
        },
        functions=functions,
    )
    registers: dict[int, int | None] = {}
    by_head = {name: i for i, name in enumerate(heads)}
    alone: dict[str | None, frozenset[int]] = {
        name: frozenset([i]) for name, i in number.items() if name not in observed
    }
    for part in parts:
        group = part.group
        members: Sequence[int] = range(len(sources))
        if group is not None:
            members = sorted([by_head[name] for name in group.names if name in by_head])
        mine = [i for i in members if sources[i].scope]
        passing = Passing(_shape(part.tree, number), builder, mine)
        targets = request.query.targets
        mine = list(range(len(targets)) if group is None else group.targets)
        asked_of = []
        for target in mine:
            names = targets[target]
            if len(names) == 1 and (home := model.lifts[names[0].name].home) in alone:
                asked_of.append(alone[home])
                continue
            scope = model.scope([v.name for v in names])
            asked_of.append(frozenset([number[name] for name in scope if name not in observed]))
        found = answers(passing, asked_of) if len(parts) == 1 else map(passing.answer, asked_of)
        registers.update(zip(mine, found, strict=True))
    return builder.build(r for r in registers.values() if r is not None), registers


def _shape(tree: JunctionTree, number: Mapping[str, int]) -> TreeShape:
    def numbered(names: Sequence[str]) -> frozenset[int]:
        return frozenset([number[name] for name in names])

    return TreeShape(
        tuple([numbered(clique.variables) for clique in tree.cliques]),
        tuple([(i, j, numbered(scope)) for i, j, scope in tree.edges]),
    )


def _divided(
    model: Reduction,
    request: Request,
    parents: Mapping[str, Sequence[str]],
    whole: tuple[SharedSearch, int, float],
) -> list[Part]:
    """Return groups of ancestors with their trees; none if the whole is cheaper.

    Parameters
    ----------
    model, request, parents
        As for `planned`.
    whole
        The search for orders, and the number of variables and of cells of the whole.
    """
    search, n, cells = whole
    query = request.query
    limit = min(_worth(cells, n), query.limits.hopeless_cells)
    evidence = [v.name for v in query.evidence]
    targets = [[v.name for v in target] for target in query.targets]
    most = min(limit / _VARIABLE_COST, _MOST_MEMBERS)
    largest = closures(parents, evidence, targets, most=most)
    if largest is None:
        return []
    group_graphs = _GroupGraphs(model, request)
    cost = float(_VARIABLE_COST * sum(map(len, largest)))
    graphs: dict[int, InteractionGraph] = {}
    starts: dict[int, EliminationOrder] = {}
    for i, names in enumerate(largest):
        if search.quick_work > _DIVIDING_WORK:
            return []
        graphs[i] = group_graphs.graph(names)
        start = search.quick(graphs[i], limit - cost)
        if start is None:
            return []
        starts[i] = start
        cost += start.total_size
        if cost > limit:
            return []
    groups = ancestral_groups(
        largest, evidence, targets, [start.total_size for start in starts.values()]
    )
    several = any(len(target) > 1 for target in query.targets)
    if several:
        # The cliques of these graphs need not hold the targets.
        graphs = {i: group_graphs.graph(group.names, group.targets) for i, group in groups.items()}
        quick = {i: search.quick(graph) for i, graph in graphs.items()}
        starts = {i: start for i, start in quick.items() if start is not None}
        if len(starts) < len(groups):
            return []
    if several or sum(start.total_size for start in starts.values()) > _WORTH_SEARCHING:
        orders = search.orders([graphs[i] for i in groups], [starts[i] for i in groups])
        starts = dict(zip(groups, orders, strict=True))
    return [
        Part(JunctionTree.from_order(graphs[i], starts[i]), group) for i, group in groups.items()
    ]


def _worth(cells: float, n: int) -> float:
    """Return the limit of the cost of groups for a query of ``cells`` cells and n variables."""
    return (cells + _VARIABLE_COST * n) / 2


def smallest(
    alternatives: Sequence[tuple[Reduction, Request]], search: SharedSearch
) -> tuple[Reduction, Request, Part]:
    """Return the model with the smallest tree among several models of one query, and the tree.

    The ``search`` finds the orders, see `shared_search`.

    Raises
    ------
    TooLargeError
        If the plan is surely too large, and no restriction of it may fit.
    """
    query = alternatives[0][1].query
    limits = query.limits
    graphs = [_graph(model, request) for model, request in alternatives]
    choice = search.smallest(graphs)
    if choice is None:
        raise limits.refusal_of_cells(limits.hopeless_cells)
    chosen, order = choice
    tree = JunctionTree.from_order(graphs[chosen], order)
    model, request = alternatives[chosen]
    refusal = limits.refusal_of_trees([tree], model.sizes)
    if refusal is not None and not (query.may_shrink or may_be_packed(model, query, [tree])):
        raise refusal
    return model, request, Part(tree)
