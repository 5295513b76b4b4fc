"""Junction trees: the maximal cliques of an elimination order, joined so that messages work.

The cliques that hold a variable form a connected part of the tree (running
intersection); two neighbors share exactly their separator. Parts of the network that
do not touch are joined by empty separators, so there is always one tree.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple

from bnmind.junction.graph import InteractionGraph, bits
from bnmind.junction.orders import EliminationOrder, elimination_cliques, vertices_in_order

__all__ = ["Clique", "Edge", "JunctionTree"]


@dataclass(frozen=True)
class Clique:
    """A maximal clique of the triangulated graph."""

    variables: tuple[str, ...]
    """Its variables, in the order of the graph."""
    size: int
    """The product of their numbers of states, in cells."""


class Edge(NamedTuple):
    """Two cliques that are neighbors in the tree, and what they share."""

    first: int
    """A position in ``JunctionTree.cliques``."""
    second: int
    """Another one, larger than ``first``."""
    separator: tuple[str, ...]
    """The variables of both cliques, in the order of the graph; may be empty."""


@dataclass(frozen=True)
class JunctionTree:
    """Cliques, the tree that joins them, and the order that they come from.

    Examples
    --------
    >>> from bnmind.junction.orders import GivenOrder
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2}, [("a", "b"), ("b", "c")])
    >>> print(JunctionTree.from_order(graph, GivenOrder(("a", "b", "c"))(graph)))
    size  clique
       6  a b
       6  b c
    total size 12 (proven smallest), largest clique 6, by given order: a, b, c
    """

    cliques: tuple[Clique, ...]
    """The maximal cliques, first eliminated first."""
    edges: tuple[Edge, ...]
    """One fewer than cliques: a tree."""
    order: EliminationOrder
    """The order that makes these cliques."""

    @classmethod
    def from_order(cls, graph: InteractionGraph, order: EliminationOrder) -> JunctionTree:
        """Return the junction tree of an order.

        Parameters
        ----------
        graph
            The graph that the order is for.
        order
            An order of all variables of the graph; its sizes are taken as they stand.

        Raises
        ------
        InvalidModelError
            When the order is not one of exactly the variables of the graph.
        """
        vertices = vertices_in_order(graph, order.variables)
        rank = {v: i for i, v in enumerate(vertices)}
        elimination = elimination_cliques(graph, vertices)

        # Each elimination clique hangs on that of its next eliminated member, which holds the
        # rest of it. `home` is the maximal clique that an elimination clique lies in: a child
        # that equals its parent but for its own vertex takes the parent in.
        masks: list[int] = []
        home: dict[int, int] = {}
        taken: dict[int, int] = {}
        links: list[tuple[int, int]] = []
        roots: list[int] = []
        for v, clique in zip(vertices, elimination, strict=True):
            if v in taken:
                home[v] = taken[v]
            else:
                home[v] = len(masks)
                masks.append(clique)
            rest = clique & ~(1 << v)
            if not rest:
                roots.append(v)
                continue
            parent = min(bits(rest), key=rank.__getitem__)
            links.append((v, parent))
            if rest == elimination[rank[parent]]:
                taken.setdefault(parent, home[v])
        joined = [(home[v], home[u]) for v, u in links if home[v] != home[u]]
        joined += [(home[v], home[u]) for v, u in pairwise(roots)]
        edges = sorted(
            Edge(min(i, j), max(i, j), graph.members(masks[i] & masks[j])) for i, j in joined
        )
        cliques = tuple(Clique(graph.members(mask), graph.clique_size(mask)) for mask in masks)
        return cls(cliques, tuple(edges), order)

    @property
    def total_size(self) -> int:
        """The sum of the sizes of the cliques, in cells."""
        return sum(clique.size for clique in self.cliques)

    @property
    def largest(self) -> int:
        """The size of the largest clique, in cells."""
        return max((clique.size for clique in self.cliques), default=0)

    def __str__(self) -> str:
        ranked = sorted(self.cliques, key=lambda clique: -clique.size)
        width = max([len("size"), *(len(f"{clique.size:,}") for clique in ranked)])
        lines = [f"{'size':>{width}}  clique"]
        lines += [f"{clique.size:>{width},}  {' '.join(clique.variables)}" for clique in ranked]
        return "\n".join([*lines, str(self.order)])
