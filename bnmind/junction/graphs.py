"""Graphs of variables, orders in which these are eliminated, and junction trees."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import compress, pairwise
from typing import Any, NamedTuple, Protocol, TypeAlias

from bnmind._arguments import checked
from bnmind._values import Count, Value, latest, made
from bnmind.errors import InvalidModelError, UnknownNameError

# --- The interaction graph of a set of tables, in which the scope of each table is a clique -------
#
# The vertices are variables with their numbers of states. The tables of a Bayesian network are its
# families, so its interaction graph is the moral graph. A graph lists the neighbors of each vertex.
# Algorithms on graphs of some hundred vertices represent sets of vertices as bit masks in Python
# integers.


def bits(mask: int) -> Iterator[int]:
    """Yield the members of a set given as a bit mask, smallest first.

    Examples
    --------
    >>> list(bits(0b1101))
    [0, 2, 3]
    """
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low


@dataclass(frozen=True)
class InteractionGraph(Value):
    """An undirected graph whose vertices are variables with a number of states.

    Examples
    --------
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2}, [("a", "b"), ("b", "c")])
    >>> graph.adjacent, graph.neighbors
    (((1,), (0, 2), (1,)), (2, 5, 2))
    >>> graph.members(graph.neighborhood(graph.mask(["a"])))
    ('b',)
    """

    names: tuple[str, ...]
    """The variables; a vertex is a position in this tuple."""
    sizes: tuple[int, ...]
    """The number of states of each variable, at least one."""
    adjacent: tuple[tuple[int, ...], ...]
    """The neighbors of each vertex, ascending, without the vertex itself."""

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        n, m, k = len(self.names), len(self.sizes), len(self.adjacent)
        if not n == m == k:
            yield f"expected a size and a neighborhood for each of {n} variables, got {m} and {k}"
            return
        for name, size in zip(self.names, self.sizes, strict=True):
            if size < 1:
                yield f"expected at least one state for {name}, got {size}"
        if len(set(self.names)) != n:
            yield "the variables must be distinct"
        pairs = {(v, u) for v, around in enumerate(self.adjacent) for u in around}
        for v, (name, around) in enumerate(zip(self.names, self.adjacent, strict=True)):
            if v in around or not all(0 <= u < n for u in around):
                yield f"expected neighbors of {name} among the other variables"
            elif any(first >= second for first, second in pairwise(around)):
                yield f"expected the neighbors of {name} in ascending order"
            elif any((u, v) not in pairs for u in around):
                yield f"expected {name} to be a neighbor of its neighbors"

    @classmethod
    @checked
    def from_scopes(
        cls, sizes: Mapping[str, Count], scopes: Iterable[Iterable[str]]
    ) -> InteractionGraph:
        """Return the graph in which each scope is a clique.

        Parameters
        ----------
        sizes
            The number of states of every variable; its order is that of the vertices.
        scopes
            The variables of each table. The families of a Bayesian network give its moral graph.

        Raises
        ------
        InvalidModelError
            If a scope names an unknown variable.
        """
        members = [tuple(scope) for scope in scopes]
        if unknown := {name: None for scope in members for name in scope if name not in sizes}:
            raise InvalidModelError(
                [f"a scope names {name!r}, which has no size" for name in unknown]
            )
        return graph_of_scopes({name: int(size) for name, size in sizes.items()}, members)

    @cached_property
    def neighbors(self) -> tuple[int, ...]:
        """The neighbors of each vertex as a bit mask."""
        return tuple(sum([1 << u for u in around]) for around in self.adjacent)

    @property
    def n(self) -> int:
        """The number of vertices."""
        return len(self.names)

    @property
    def vertices(self) -> int:
        """All vertices, as a bit mask."""
        return (1 << self.n) - 1

    def mask(self, names: Iterable[str]) -> int:
        """Return a set of variables as a bit mask.

        Parameters
        ----------
        names
            Names of vertices.

        Raises
        ------
        UnknownNameError
            If a name is not a variable of the graph.
        """
        index = {name: i for i, name in enumerate(self.names)}
        mask = 0
        for name in names:
            if name not in index:
                raise UnknownNameError("variable of the graph", name, self.names)
            mask |= 1 << index[name]
        return mask

    def members(self, mask: int) -> tuple[str, ...]:
        """Return the variables of a bit mask, in the order of the vertices.

        Parameters
        ----------
        mask
            A set of vertices as a bit mask: bit i is vertex i.
        """
        return tuple([self.names[v] for v in bits(mask)])

    def neighborhood(self, mask: int) -> int:
        """Return the vertices outside a set that have a neighbor in it.

        Parameters
        ----------
        mask
            A set of vertices as a bit mask: bit i is vertex i.
        """
        union = 0
        for v in bits(mask):
            union |= self.neighbors[v]
        return union & ~mask

    def components(self, mask: int) -> tuple[int, ...]:
        """Return the connected components of the graph on these vertices only.

        Parameters
        ----------
        mask
            A set of vertices as a bit mask: bit i is vertex i.
        """
        components = []
        while mask:
            component = frontier = mask & -mask
            while frontier:
                frontier = self.neighborhood(frontier) & mask & ~component
                component |= frontier
            components.append(component)
            mask &= ~component
        return tuple(components)

    def subgraph(self, mask: int) -> InteractionGraph:
        """Return the graph on these vertices only, in the same order.

        Parameters
        ----------
        mask
            A set of vertices as a bit mask: bit i is vertex i.
        """
        vertices = list(bits(mask))
        place = {v: i for i, v in enumerate(vertices)}
        return InteractionGraph(
            tuple(self.names[v] for v in vertices),
            tuple(self.sizes[v] for v in vertices),
            tuple(tuple(place[u] for u in self.adjacent[v] if u in place) for v in vertices),
        )


def graph_of_scopes(
    sizes: Mapping[str, int], scopes: Iterable[Collection[str]]
) -> InteractionGraph:
    """Return the graph of `InteractionGraph.from_scopes` without checks of the arguments.

    >>> graph_of_scopes({"a": 2, "b": 3, "c": 2}, [("a", "b"), ("b", "c")]).adjacent
    ((1,), (0, 2), (1,))
    """
    names = tuple(sizes)
    index = {name: i for i, name in enumerate(names)}
    around: list[set[int]] = [set() for _ in names]
    for scope in scopes:
        if len(scope) > 1:
            members = [index[name] for name in scope]
            for v in members:
                around[v].update(members)
    for v, near in enumerate(around):
        near.discard(v)
    return made(
        InteractionGraph,
        names=names,
        sizes=tuple(sizes.values()),
        adjacent=tuple([tuple(sorted(near)) for near in around]),
    )


# --- Elimination orders, their cost, and the protocol of order finders ----------------------------
#
# Eliminating a variable connects its remaining neighbors with each other. The variable and these
# neighbors are an *elimination clique*. The maximal elimination cliques are the cliques of a
# junction tree. The cost of an order is their **total size**: the sum, over the maximal cliques, of
# the product of the numbers of states.
#
# =================  ===========================================================
# symbol             name here
# =================  ===========================================================
# K_v                elimination clique of v: v and its neighbors when eliminated
# X                  ``eliminated``, the set of variables eliminated so far
# N(D)               neighborhood of a set D: vertices outside D adjacent to it
# =================  ===========================================================
#
# Facts used by the finders. Let X be eliminated before v, in any order.
#
# 1. K_v depends on X alone: it is v and all u outside X that a path through X joins to v.
# 2. K_v is not maximal if and only if N(D) = K_v for a connected component D of the
#    graph on X. *If*: the last eliminated vertex w of D has K_w = {w} ∪ N(D). *Only if*:
#    a clique that contains K_v contains v, so it is K_u for some u in X; for the component
#    D of u, K_v ⊆ K_u minus X ⊆ N(D), and v ∈ N(D) gives N(D) ⊆ K_v.
# 3. So K_v is not maximal if and only if it equals K_u minus u for some earlier u.
# 4. If every variable has at least two states, removing edges from a triangulation so that it stays
#    a triangulation never costs. The edges can be removed one by one, each edge {a, b} in only one
#    maximal clique R [1]_, and cliques of total size at most r·|a| + r·|b| ≤ r·|a|·|b| replace R of
#    size r·|a|·|b|. Hence the best order adds a minimal set of edges, and an order that adds no
#    edge is the best.
#
# References
# ----------
# .. [1] D. J. Rose, R. E. Tarjan, G. S. Lueker, "Algorithmic aspects of vertex elimination on
#    graphs", SIAM Journal on Computing 5 (1976), 266-283.


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


def maximal_cliques(graph: InteractionGraph, order: Sequence[int]) -> tuple[tuple[int, ...], ...]:
    """Return the maximal elimination cliques, in the order of elimination."""
    eliminated = elimination(graph, order)
    return tuple(compress(eliminated.cliques, eliminated.maximal))


def measured_order(
    graph: InteractionGraph, order: Sequence[int], *, method: str, proven: bool = False
) -> EliminationOrder:
    """Return an order of vertices as an `EliminationOrder` with its exact sizes.

    An order that adds no edge is always proven smallest (fact 4 of the module).
    """
    sizes = [
        math.prod([graph.sizes[v] for v in clique]) for clique in maximal_cliques(graph, order)
    ]
    n_edges = sum(map(len, elimination(graph, order).cliques)) - graph.n
    adds_no_edge = 2 * n_edges == sum(map(len, graph.adjacent))
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


# --- Junction trees, which join the maximal cliques of an elimination order -----------------------
#
# The cliques that contain a variable form a connected part of the tree (running intersection). Two
# neighbors share exactly their separator. Disconnected parts of the network are joined by empty
# separators, so there is always one tree.


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
    >>> from bnmind.junction.graphs import GivenOrder
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
        >>> from bnmind.junction.graphs import GivenOrder
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
