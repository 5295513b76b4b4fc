"""Elimination orders, their cost, and the protocol of order finders.

Eliminating a variable connects its remaining neighbors with each other. The variable and these
neighbors are an *elimination clique*. The maximal elimination cliques are the cliques of a junction
tree. The cost of an order is their **total size**: the sum, over the maximal cliques, of the
product of the numbers of states.

=================  ===========================================================
symbol             name here
=================  ===========================================================
K_v                elimination clique of v: v and its neighbors when eliminated
X                  ``eliminated``, the set of variables eliminated so far
N(D)               neighborhood of a set D: vertices outside D adjacent to it
=================  ===========================================================

Facts used by the finders. Let X be eliminated before v, in any order.

1. K_v depends on X alone: it is v and all u outside X that a path through X joins to v.
2. K_v is not maximal if and only if N(D) = K_v for a connected component D of the
   graph on X. *If*: the last eliminated vertex w of D has K_w = {w} ∪ N(D). *Only if*:
   a clique that contains K_v contains v, so it is K_u for some u in X; for the component
   D of u, K_v ⊆ K_u minus X ⊆ N(D), and v ∈ N(D) gives N(D) ⊆ K_v.
3. So K_v is not maximal if and only if it equals K_u minus u for some earlier u.
4. If every variable has at least two states, removing edges from a triangulation so that it stays
   a triangulation never costs. The edges can be removed one by one, each edge {a, b} in only one
   maximal clique R [1]_, and cliques of total size at most r·|a| + r·|b| ≤ r·|a|·|b| replace R of
   size r·|a|·|b|. Hence the best order adds a minimal set of edges, and an order that adds no
   edge is the best.

References
----------
.. [1] D. J. Rose, R. E. Tarjan, G. S. Lueker, "Algorithmic aspects of vertex elimination on
   graphs", SIAM Journal on Computing 5 (1976), 266-283.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from bnmind._arguments import checked
from bnmind._values import Value, latest, made
from bnmind.errors import InvalidModelError
from bnmind.junction.graphs.interaction_graph import InteractionGraph

__all__ = [
    "Elimination",
    "EliminationOrder",
    "GivenOrder",
    "OrderFinder",
    "elimination",
    "elimination_cliques",
    "maximal_cliques",
    "measured_order",
    "vertices_in_order",
]


@dataclass(frozen=True)
class EliminationOrder(Value):
    """An elimination order with its cost."""

    variables: tuple[str, ...]
    """All variables in the order of elimination."""
    total_size: int
    """Sum over the maximal cliques of the product of the numbers of states, in cells."""
    largest: int
    """The size of the largest clique, in cells."""
    proven: bool
    """Whether it is proven that no order has a smaller total size."""
    method: str
    """The name of the search that found the order."""

    @property
    def verdict(self) -> str:
        """``"proven smallest"`` or ``"not proven smallest"``."""
        return "proven smallest" if self.proven else "not proven smallest"

    def __str__(self) -> str:
        return (
            f"total size {self.total_size:,} ({self.verdict}), largest clique "
            f"{self.largest:,}, by {self.method}: {', '.join(self.variables)}"
        )


class OrderFinder(Protocol):
    """A search for an elimination order of a graph; its fields are options."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order of all variables of the graph; equal graphs get equal orders."""
        ...


class Elimination(NamedTuple):
    """The result of eliminating all vertices in some order, with an entry for each vertex."""

    cliques: tuple[tuple[int, ...], ...]
    """The vertices of the elimination cliques, in the order of elimination."""
    parents: tuple[int, ...]
    """For each clique, the place of its next eliminated member in the order, or -1. The clique of
    this parent contains the whole clique without its own vertex."""
    maximal: tuple[bool, ...]
    """For each clique, whether it is maximal."""


def elimination(graph: InteractionGraph, order: Sequence[int]) -> Elimination:
    """Return the elimination cliques of an order of vertices.

    The function does not simulate the elimination. An elimination clique consists of its vertex, of
    the later neighbors, and of the cliques of its children without their own vertices [1]_.

    References
    ----------
    .. [1] J. W. H. Liu, "The role of elimination trees in sparse factorization", SIAM
       Journal on Matrix Analysis and Applications 11 (1990), 134-172, section 4.
    """
    # The search, the choice of an order and its tree ask for the same ones.
    return latest(graph, "_eliminations", tuple(order), lambda: _elimination(graph, order))


def _elimination(graph: InteractionGraph, order: Sequence[int]) -> Elimination:
    place = [0] * graph.n
    for i, v in enumerate(order):
        place[v] = i
    # Sets hold places in the order; the next eliminated place comes first.
    below: list[list[tuple[int, ...]]] = [[] for _ in order]
    parents = [-1] * len(order)
    maximal = []
    cliques = []
    covered = set()
    for i, v in enumerate(order):
        later = {p for u in graph.adjacent[v] if (p := place[u]) > i}
        later.update(*below[i])
        below[i] = []
        later.discard(i)
        rest = tuple(sorted(later))
        clique = (i, *rest)
        cliques.append(tuple([order[p] for p in clique]))
        if rest:
            parents[i] = rest[0]
            below[rest[0]].append(rest)
        # Fact 3 of the module.
        maximal.append(clique not in covered)
        covered.add(rest)
    return Elimination(tuple(cliques), tuple(parents), tuple(maximal))


def elimination_cliques(graph: InteractionGraph, order: Sequence[int]) -> tuple[int, ...]:
    """Return the elimination clique of each vertex of an order, as bit masks."""
    return tuple(sum([1 << v for v in clique]) for clique in elimination(graph, order).cliques)


def maximal_cliques(graph: InteractionGraph, order: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the maximal elimination cliques, in the order of elimination."""
    eliminated = elimination(graph, order)
    return tuple(
        clique
        for clique, maximal in zip(eliminated.cliques, eliminated.maximal, strict=True)
        if maximal
    )


def measured_order(
    graph: InteractionGraph, order: Sequence[int], *, method: str, proven: bool = False
) -> EliminationOrder:
    """Return an order of vertices as an `EliminationOrder` with its exact sizes.

    An order that adds no edge is always proven smallest (fact 4 of the module).
    """
    eliminated = elimination(graph, order)
    sizes = [
        math.prod([graph.sizes[v] for v in clique])
        for clique, maximal in zip(eliminated.cliques, eliminated.maximal, strict=True)
        if maximal
    ]
    adds_no_edge = sum(map(len, eliminated.cliques)) - graph.n == graph.n_edges
    return made(
        EliminationOrder,
        variables=tuple([graph.names[v] for v in order]),
        total_size=sum(sizes),
        largest=max(sizes, default=0),
        proven=proven or (adds_no_edge and min(graph.sizes, default=2) > 1),
        method=method,
    )


def vertices_in_order(graph: InteractionGraph, variables: Sequence[str]) -> tuple[int, ...]:
    """Return the vertices of an order given by names.

    Raises
    ------
    InvalidModelError
        If it is not an order of exactly the variables of the graph.
    """
    index = {name: i for i, name in enumerate(graph.names)}
    if len(variables) == len(index) and index.keys() == set(variables):
        return tuple([index[name] for name in variables])
    counts = Counter(variables)
    problems = [
        f"the elimination order names {name!r}, which is not a variable of the graph"
        for name in counts
        if name not in index
    ]
    problems += [
        f"the elimination order must name {name} once, got it {counts[name]} times"
        for name in index
        if counts[name] != 1
    ]
    raise InvalidModelError(problems)


@dataclass(frozen=True)
class GivenOrder(Value):
    """A given elimination order.

    Examples
    --------
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2}, [("a", "b"), ("b", "c")])
    >>> GivenOrder(("b", "a", "c"))(graph).total_size
    12
    """

    variables: tuple[str, ...]
    """Every variable of the graph, once."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes.

        Raises
        ------
        InvalidModelError
            If it is not an order of exactly the variables of the graph.
        """
        return measured_order(graph, vertices_in_order(graph, self.variables), method="given order")
