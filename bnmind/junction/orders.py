"""Elimination orders: what one is, what it costs, and how finders of orders look.

Eliminating a variable joins its remaining neighbors with each other; together with
them it is an *elimination clique*. The maximal ones are the cliques of a junction
tree, and the cost of an order is their **total size**: the sum over the maximal
cliques of the product of the numbers of states.

=================  ===========================================================
symbol             name here
=================  ===========================================================
K_v                elimination clique of v: v and its neighbors when eliminated
X                  ``eliminated``, the set of variables eliminated so far
N(D)               neighborhood of a set D: vertices outside D adjacent to it
=================  ===========================================================

Facts used by the finders. Let X be eliminated before v, in whatever order.

1. K_v depends on X alone: it is v and all u outside X that a path through X joins to v.
2. K_v is not maximal if and only if N(D) = K_v for a connected component D of the
   graph on X. *If*: the last eliminated vertex w of D has K_w = {w} ∪ N(D). *Only if*:
   a clique that contains K_v contains v, so it is K_u for some u in X; for the component
   D of u, K_v ⊆ K_u minus X ⊆ N(D), and v ∈ N(D) gives N(D) ⊆ K_v.
3. So K_v is not maximal if and only if it equals K_u minus u for some earlier u.
4. If every variable has at least two states, leaving out edges of a triangulation so that
   it stays one never costs: there is a sequence of such single edges {a, b}, each in one
   maximal clique R only [1]_, and R of size r·|a|·|b| makes place for at most
   r·|a| + r·|b| ≤ r·|a|·|b|. Hence the best order adds a minimal set of edges, and an order
   that adds none is the best.

References
----------
.. [1] D. J. Rose, R. E. Tarjan, G. S. Lueker, "Algorithmic aspects of vertex elimination on
   graphs", SIAM Journal on Computing 5 (1976), 266-283.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from bnmind.errors import InvalidModelError
from bnmind.junction.graph import InteractionGraph, bits

__all__ = [
    "EliminationOrder",
    "GivenOrder",
    "OrderFinder",
    "elimination_cliques",
    "maximal_cliques",
    "measured_order",
    "vertices_in_order",
]


@dataclass(frozen=True)
class EliminationOrder:
    """An order of elimination, with what it costs and how it was found."""

    variables: tuple[str, ...]
    """All variables, the first to be eliminated first."""
    total_size: int
    """Sum over the maximal cliques of the product of the numbers of states, in cells."""
    largest: int
    """The size of the largest clique, in cells."""
    proven: bool
    """Whether no order has a smaller total size, for certain."""
    method: str
    """How the order was found."""

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
    """Anything that finds an elimination order of a graph; options are its fields."""

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return an order of all variables of the graph; equal graphs get equal orders."""
        ...


def elimination_cliques(graph: InteractionGraph, order: Sequence[int]) -> tuple[int, ...]:
    """Return the elimination clique of each vertex of an order, as bit masks."""
    neighbors = list(graph.neighbors)
    cliques = []
    for v in order:
        around = neighbors[v]
        cliques.append(around | 1 << v)
        for u in bits(around):
            neighbors[u] = (neighbors[u] | around) & ~(1 << u | 1 << v)
    return tuple(cliques)


def maximal_cliques(graph: InteractionGraph, order: Sequence[int]) -> tuple[int, ...]:
    """Return the elimination cliques that are in no other one, first found first."""
    covered: set[int] = set()
    kept = []
    for v, clique in zip(order, elimination_cliques(graph, order), strict=True):
        if clique not in covered:
            kept.append(clique)
        covered.add(clique & ~(1 << v))
    return tuple(kept)


def measured_order(
    graph: InteractionGraph, order: Sequence[int], *, method: str, proven: bool = False
) -> EliminationOrder:
    """Return an order of vertices as an `EliminationOrder` with its exact sizes.

    An order that adds no edge is known to be the smallest (fact 4 of the module), also
    where ``proven`` does not say so.
    """
    cliques = elimination_cliques(graph, order)
    sizes = [graph.clique_size(mask) for mask in maximal_cliques(graph, order)]
    adds_no_edge = sum(mask.bit_count() - 1 for mask in cliques) == graph.n_edges
    return EliminationOrder(
        variables=tuple(graph.names[v] for v in order),
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
        When it is not an order of exactly the variables of the graph.
    """
    index = {name: i for i, name in enumerate(graph.names)}
    given = Counter(variables)
    problems = [
        f"expected a variable of the graph in the elimination order, got {name!r}"
        for name in given
        if name not in index
    ]
    problems += [
        f"expected {name} once in the elimination order, got it {given[name]} times"
        for name in index
        if given[name] != 1
    ]
    if problems:
        raise InvalidModelError(problems)
    return tuple(index[name] for name in variables)


@dataclass(frozen=True)
class GivenOrder:
    """The order that the caller names.

    Examples
    --------
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2}, [("a", "b"), ("b", "c")])
    >>> GivenOrder(("b", "a", "c"))(graph).total_size
    12
    """

    variables: tuple[str, ...]
    """Every variable of the graph, once."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "variables", tuple(self.variables))

    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the order with its sizes.

        Raises
        ------
        InvalidModelError
            When it is not an order of exactly the variables of the graph.
        """
        return measured_order(graph, vertices_in_order(graph, self.variables), method="given order")
