"""The parts of a query that are triangulated by themselves, and the search for their trees.

Usually the whole is one part. Without much evidence it is often cheaper to answer each target
from its own ancestors and those of the evidence; see `bnmind.junction.relevance`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from bnmind.junction.graph import InteractionGraph, bits
from bnmind.junction.orders import EliminationOrder
from bnmind.junction.query import Request
from bnmind.junction.randomized import MOST_WORK
from bnmind.junction.reduction import Reduction
from bnmind.junction.relevance import Group, ancestral_groups, closures, maximal
from bnmind.junction.shared_search import SharedSearch
from bnmind.junction.tree import JunctionTree

__all__ = ["Part", "planned", "smallest"]

_WORTH_DIVIDING = 100_000
"""Below so many cells a query is not divided into groups of ancestors."""

_WORTH_SEARCHING = 4_000_000
"""Below so many cells in all, quick orders do for the groups."""

_VARIABLE_COST = 10_000
"""What planning and running takes for each variable besides the cells, in cells."""

_DIVIDING_WORK = 5 * MOST_WORK
"""The most work that is spent on finding out what groups would cost."""


@dataclass(frozen=True, eq=False)
class Part:
    """A part of a query and its junction tree."""

    tree: JunctionTree
    group: Group | None = None
    """The variables and targets, if the query is divided."""


def _graph(model: Reduction, request: Request, group: Group | None = None) -> InteractionGraph:
    """Return the graph of what the evidence leaves open, in a whole model or a group."""
    scopes = list(model.scopes)
    joints = request.joints
    if group is not None:
        scopes = [scope for scope in scopes if group.names.issuperset(scope)]
        joints = [request.query.targets[number] for number in group.targets]
    scopes += [model.scope(v.name for v in scope) for scope in joints]
    observed = frozenset(request.observed)
    hidden = [tuple(name for name in scope if name not in observed) for scope in scopes]
    sizes = {name: model.sizes[name] for scope in hidden for name in scope}
    return InteractionGraph.from_scopes(sizes, hidden)


def planned(
    model: Reduction, request: Request, parents: Mapping[str, Sequence[str]] | None
) -> list[Part]:
    """Return the parts of a query that are cheapest, with their trees.

    Parameters
    ----------
    model
        What is left of the model.
    request
        What is asked.
    parents
        The parents of each variable; None if the query is not to be divided.

    Raises
    ------
    TooLargeError
        If the plan is surely too large, unless it is to be restricted.
    """
    query = request.query
    limits = query.limits
    most = math.inf if query.to_be_restricted else limits.hopeless_cells
    search = SharedSearch(query.order, most)
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
    if refusal is not None and not query.to_be_restricted:
        raise refusal
    return parts


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
    limit = min((cells + _VARIABLE_COST * n) / 2, query.limits.hopeless_cells)
    names, closed = closures(
        parents,
        [v.name for v in query.evidence],
        [[v.name for v in target] for target in query.targets],
    )
    largest = maximal(closed)
    cost = float(_VARIABLE_COST * sum(mask.bit_count() for mask in largest))
    graphs: dict[int, InteractionGraph] = {}
    starts: dict[int, EliminationOrder] = {}
    for mask in largest:
        if cost > limit or search.quick_work > _DIVIDING_WORK:
            return []
        names_of_part = frozenset(names[i] for i in bits(mask))
        graphs[mask] = _graph(model, request, Group(names_of_part, ()))
        start = search.quick(graphs[mask], limit - cost)
        if start is None:
            return []
        starts[mask] = start
        cost += start.total_size
    if cost > limit:
        return []
    groups = ancestral_groups(names, closed, {m: start.total_size for m, start in starts.items()})
    several = any(len(target) > 1 for target in query.targets)
    if several:
        # The cliques of these graphs need not hold the targets.
        graphs = {mask: _graph(model, request, group) for mask, group in groups.items()}
        quick = {mask: search.quick(graph) for mask, graph in graphs.items()}
        starts = {mask: start for mask, start in quick.items() if start is not None}
        if len(starts) < len(groups):
            return []
    if several or sum(start.total_size for start in starts.values()) > _WORTH_SEARCHING:
        found = search.orders([graphs[m] for m in groups], [starts[m] for m in groups])
        starts = dict(zip(groups, found, strict=True))
    return [
        Part(JunctionTree.from_order(graphs[mask], starts[mask]), group)
        for mask, group in groups.items()
    ]


def smallest(
    alternatives: Sequence[tuple[Reduction, Request]],
) -> tuple[Reduction, Request, Part]:
    """Return which of several models of one query has the smallest tree, with the tree.

    Raises
    ------
    TooLargeError
        If the plan is surely too large, unless it is to be restricted.
    """
    query = alternatives[0][1].query
    limits = query.limits
    most = math.inf if query.to_be_restricted else limits.hopeless_cells
    graphs = [_graph(model, request) for model, request in alternatives]
    found = SharedSearch(query.order, most).smallest(graphs)
    if found is None:
        raise limits.refusal_of_cells(limits.hopeless_cells)
    chosen, order = found
    tree = JunctionTree.from_order(graphs[chosen], order)
    model, request = alternatives[chosen]
    refusal = limits.refusal_of_trees([tree], model.sizes)
    if refusal is not None and not query.to_be_restricted:
        raise refusal
    return model, request, Part(tree)
