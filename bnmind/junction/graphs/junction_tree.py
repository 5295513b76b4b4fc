"""Junction trees, which join the maximal cliques of an elimination order.

The cliques that contain a variable form a connected part of the tree (running intersection). Two
neighbors share exactly their separator. Disconnected parts of the network are joined by empty
separators, so there is always one tree.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, NamedTuple, TypeAlias

from bnmind._arguments import checked
from bnmind._values import Value, latest, made
from bnmind.junction.graphs.elimination_order import (
    EliminationOrder,
    elimination,
    vertices_in_order,
)
from bnmind.junction.graphs.interaction_graph import InteractionGraph

__all__ = ["Clique", "Edge", "JunctionTree", "joined_cliques"]


@dataclass(frozen=True)
class Clique(Value):
    """A maximal clique of the triangulated graph."""

    variables: tuple[str, ...]
    """Its variables, in the order of the graph."""
    size: int
    """The product of their numbers of states, in cells."""


class Edge(NamedTuple):
    """Two neighboring cliques and their separator."""

    first: int
    """A position in ``JunctionTree.cliques``."""
    second: int
    """Another position, larger than ``first``."""
    separator: tuple[str, ...]
    """The variables of both cliques, in the order of the graph; may be empty."""


@dataclass(frozen=True)
class JunctionTree(Value):
    """A junction tree with its cliques and its elimination order.

    Examples
    --------
    >>> from bnmind.junction.graphs.elimination_order import GivenOrder
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2}, [("a", "b"), ("b", "c")])
    >>> print(JunctionTree.from_order(graph, GivenOrder(("a", "b", "c"))(graph)))
    size  clique
       6  a b
       6  b c
    total size 12 (proven smallest), largest clique 6, by given order: a, b, c
    """

    cliques: tuple[Clique, ...]
    """The maximal cliques, in the order of elimination."""
    edges: tuple[Edge, ...]
    """The edges, one fewer than cliques."""
    order: EliminationOrder
    """The elimination order of these cliques."""

    @classmethod
    @checked
    def from_order(cls, graph: InteractionGraph, order: EliminationOrder) -> JunctionTree:
        """Return the junction tree of an order.

        Parameters
        ----------
        graph
            The interaction graph.
        order
            An order of all variables of the graph; its sizes are not checked.

        Raises
        ------
        InvalidModelError
            If it is not an order of exactly the variables of the graph.
        """
        vertices = vertices_in_order(graph, order.variables)
        clique_sets, sizes, joined = joined_cliques(graph, vertices)

        def named(members: Iterable[int]) -> tuple[str, ...]:
            return tuple([graph.names[v] for v in sorted(members)])

        edges = sorted(Edge(min(i, j), max(i, j), named(shared)) for i, j, shared in joined)
        cliques = [
            made(Clique, variables=named(clique), size=size)
            for clique, size in zip(clique_sets, sizes, strict=True)
        ]
        return made(cls, cliques=tuple(cliques), edges=tuple(edges), order=order)

    @property
    def total_size(self) -> int:
        """The sum of the sizes of the cliques, in cells."""
        return sum(clique.size for clique in self.cliques)

    @property
    def largest(self) -> int:
        """The size of the largest clique, in cells."""
        return max((clique.size for clique in self.cliques), default=0)

    def to_networkx(self) -> Any:
        """Return the tree as a ``networkx.Graph`` whose nodes are the cliques as tuples of names.

        The node attribute ``size`` holds the number of cells, and the edge attribute ``separator``
        the variables of both cliques.

        Examples
        --------
        >>> from bnmind.junction.graphs.elimination_order import GivenOrder
        >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2}, [("a", "b"), ("b", "c")])
        >>> tree = JunctionTree.from_order(graph, GivenOrder(("a", "b", "c"))(graph))
        >>> list(tree.to_networkx().edges(data=True))
        [(('a', 'b'), ('b', 'c'), {'separator': ('b',)})]
        """
        import networkx

        graph = networkx.Graph()
        for clique in self.cliques:
            graph.add_node(clique.variables, size=clique.size)
        for edge in self.edges:
            first, second = (self.cliques[i].variables for i in (edge.first, edge.second))
            graph.add_edge(first, second, separator=edge.separator)
        return graph

    def __str__(self) -> str:
        ranked = sorted(self.cliques, key=lambda clique: -clique.size)
        width = max([len("size"), *(len(f"{clique.size:,}") for clique in ranked)])
        lines = [f"{'size':>{width}}  clique"]
        lines += [f"{clique.size:>{width},}  {' '.join(clique.variables)}" for clique in ranked]
        return "\n".join([*lines, str(self.order)])


_Joined: TypeAlias = tuple[list[frozenset[int]], list[int], list[tuple[int, int, frozenset[int]]]]


def joined_cliques(graph: InteractionGraph, order: Sequence[int]) -> _Joined:
    """Return the junction tree of an order of vertices; the lists are shared by all callers.

    Returns
    -------
    cliques, sizes, edges
        The maximal cliques in the order of elimination; their sizes in cells; and for each edge
        the positions of its cliques and their separator.
    """
    return latest(graph, "_joined", tuple(order), lambda: _joined(graph, order))


def _joined(graph: InteractionGraph, order: Sequence[int]) -> _Joined:
    eliminated = elimination(graph, order)
    # The parent of an elimination clique is the clique of its next eliminated member, which
    # contains the rest of it. `home` is the maximal clique that contains an elimination clique. A
    # parent that lies in a child, which then has one more vertex, has the home of the child.
    cliques: list[frozenset[int]] = []
    home = [-1] * len(order)
    for i, (clique, parent) in enumerate(zip(eliminated.cliques, eliminated.parents, strict=True)):
        if eliminated.maximal[i]:
            home[i] = len(cliques)
            cliques.append(frozenset(clique))
        # The parent's clique contains the rest of this clique, so equal sizes mean equal sets.
        if parent >= 0 and home[parent] < 0 and len(clique) - 1 == len(eliminated.cliques[parent]):
            home[parent] = home[i]
    sizes = [math.prod([graph.sizes[v] for v in clique]) for clique in cliques]
    below: dict[int, list[tuple[frozenset[int], int]]] = {}
    for i, parent in enumerate(eliminated.parents):
        if parent >= 0 and home[i] != home[parent]:
            separator = frozenset(eliminated.cliques[i][1:])
            below.setdefault(home[parent], []).append((separator, home[i]))
    joined = [edge for j, hanging in below.items() for edge in _hung(j, hanging, sizes)]
    roots = [home[i] for i, parent in enumerate(eliminated.parents) if parent < 0]
    joined += [(i, j, frozenset()) for i, j in pairwise(roots)]
    return cliques, sizes, joined


def _hung(
    parent: int, hanging: list[tuple[frozenset[int], int]], sizes: list[int]
) -> list[tuple[int, int, frozenset[int]]]:
    """Return the edges that join child cliques to their parent or to another child.

    If the separator of a child is a subset of the separator of another child, the first child may
    also be joined to the other one. The function does so if the other one is smaller than the
    parent: messages then cost less, and the parent has fewer neighbors.

    Parameters
    ----------
    parent
        The parent clique.
    hanging
        The separator of each child, and its position among the cliques.
    sizes
        The sizes of all cliques.
    """
    if len(hanging) == 1:
        return [(hanging[0][1], parent, hanging[0][0])]
    # Larger separators come first, so that each separator lies only in earlier ones. Among equal
    # separators, small cliques come first.
    hanging.sort(key=lambda item: (-len(item[0]), sizes[item[1]], item[1]))
    edges = []
    # For each separator, the smallest clique with it, if it is smaller than the parent.
    smaller: dict[frozenset[int], int] = {}
    for separator, i in hanging:
        on = parent
        for other, j in smaller.items():
            if sizes[j] < sizes[on] and separator <= other:
                on = j
        edges.append((i, on, separator))
        if sizes[i] < sizes[parent]:
            smaller.setdefault(separator, i)
    return edges
