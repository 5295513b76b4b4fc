"""The interaction graph of a set of tables, in which the scope of each table is a clique.

The vertices are variables with their numbers of states. The tables of a Bayesian network are its
families, so its interaction graph is the moral graph. A graph lists the neighbors of each vertex.
Algorithms on graphs of some hundred vertices represent sets of vertices as bit masks in Python
integers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

from bnmind._arguments import checked
from bnmind._values import Value, made
from bnmind.errors import InvalidModelError, UnknownNameError

__all__ = ["InteractionGraph", "bits", "graph_of_scopes"]


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
    >>> graph.clique_size(graph.mask(["a", "b"]))
    6
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
        cls, sizes: Mapping[str, int], scopes: Iterable[Iterable[str]]
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
            If a scope names an unknown variable, or a variable has no state.
        """
        members = [tuple(scope) for scope in scopes]
        unknown = dict.fromkeys(name for scope in members for name in scope if name not in sizes)
        problems = [f"a scope names {name!r}, which has no size" for name in unknown]
        problems += [
            f"expected at least one state for {name}, got {size}"
            for name, size in sizes.items()
            if size < 1
        ]
        if problems:
            raise InvalidModelError(problems)
        return graph_of_scopes({name: int(size) for name, size in sizes.items()}, members)

    @classmethod
    def from_masks(
        cls, names: Sequence[str], sizes: Sequence[int], neighbors: Sequence[int]
    ) -> InteractionGraph:
        """Return a graph whose neighborhoods are given as bit masks.

        Parameters
        ----------
        names
            Names of vertices.
        sizes
            The number of states of each vertex.
        neighbors
            The neighbors of each vertex, as bit masks.
        """
        return cls(tuple(names), tuple(sizes), tuple(tuple(bits(mask)) for mask in neighbors))

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

    @property
    def n_edges(self) -> int:
        """The number of edges."""
        return sum(map(len, self.adjacent)) // 2

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
        names = self.names
        variables = []
        while mask:
            low = mask & -mask
            variables.append(names[low.bit_length() - 1])
            mask ^= low
        return tuple(variables)

    def clique_size(self, mask: int) -> int:
        """Return the exact number of cells of a table over these vertices.

        Parameters
        ----------
        mask
            A set of vertices as a bit mask: bit i is vertex i.
        """
        sizes = self.sizes
        size = 1
        while mask:
            low = mask & -mask
            size *= sizes[low.bit_length() - 1]
            mask ^= low
        return size

    def is_clique(self, mask: int) -> bool:
        """Return whether all these vertices are neighbors of each other.

        Parameters
        ----------
        mask
            A set of vertices as a bit mask: bit i is vertex i.
        """
        return all(not mask & ~self.neighbors[v] & ~(1 << v) for v in bits(mask))

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
                reached = 0
                for v in bits(frontier):
                    reached |= self.neighbors[v]
                frontier = reached & mask & ~component
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
