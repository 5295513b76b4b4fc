"""The interaction graph of a set of tables: who shares a table with whom.

Vertices are variables with a number of states; every table (of a Bayesian network:
every family, which is what moralization means) makes a clique of its scope. Sets of
vertices are bit masks in Python integers, so a graph may have any size.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind._values import CheckedValue
from bnmind.errors import InvalidModelError

__all__ = ["InteractionGraph", "bits"]


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
class InteractionGraph(CheckedValue):
    """An undirected graph whose vertices are variables with a number of states.

    Examples
    --------
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2}, [("a", "b"), ("b", "c")])
    >>> graph.neighbors
    (2, 5, 2)
    >>> graph.clique_size(graph.mask(["a", "b"]))
    6
    """

    names: tuple[str, ...]
    """The variables; a vertex is a position in this tuple."""
    sizes: tuple[int, ...]
    """The number of states of each variable, at least one."""
    neighbors: tuple[int, ...]
    """The neighbors of each vertex as a bit mask, without the vertex itself."""

    def __post_init__(self) -> None:
        super().__post_init__()
        n = len(self.names)
        if not (len(self.sizes) == len(self.neighbors) == n):
            raise InvalidModelError(
                [
                    f"expected a size and a neighborhood for each of {n} variables, got "
                    f"{len(self.sizes)} and {len(self.neighbors)}"
                ]
            )
        problems = [
            f"expected at least one state for {name}, got {size}"
            for name, size in zip(self.names, self.sizes, strict=True)
            if size < 1
        ]
        if len(set(self.names)) != n:
            problems.append("expected distinct variables, got one of them twice")
        # Who names each vertex as a neighbor.
        named = [0] * n
        for v, mask in enumerate(self.neighbors):
            own = 1 << v
            if mask < 0 or mask >> n or mask & own:
                problems.append(f"expected neighbors of {self.names[v]} among the other variables")
                continue
            while mask:
                low = mask & -mask
                named[low.bit_length() - 1] |= own
                mask ^= low
        problems += [
            f"expected {self.names[v]} to be a neighbor of its neighbors"
            for v, (mask, by) in enumerate(zip(self.neighbors, named, strict=True))
            if mask & ~by and not (mask < 0 or mask >> n or mask >> v & 1)
        ]
        if problems:
            raise InvalidModelError(problems)

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
            The variables of each table. Families of a Bayesian network moralize it.

        Raises
        ------
        InvalidModelError
            When a scope names an unknown variable or a variable has no state.
        """
        names = tuple(sizes)
        index = {name: i for i, name in enumerate(names)}
        neighbors = [0] * len(names)
        unknown: dict[str, None] = {}
        for scope in scopes:
            mask = 0
            places = []
            for name in scope:
                if name in index:
                    place = index[name]
                    places.append(place)
                    mask |= 1 << place
                else:
                    unknown[name] = None
            for v in places:
                neighbors[v] |= mask
        neighbors = [mask & ~(1 << v) for v, mask in enumerate(neighbors)]
        if unknown:
            raise InvalidModelError(
                f"expected scopes of known variables, got {name!r}" for name in unknown
            )
        return cls(names, tuple(int(size) for size in sizes.values()), tuple(neighbors))

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
        return sum(mask.bit_count() for mask in self.neighbors) // 2

    def mask(self, names: Iterable[str]) -> int:
        """Return a set of variables as a bit mask.

        Raises
        ------
        InvalidModelError
            When a name is not a variable of the graph.
        """
        index = {name: i for i, name in enumerate(self.names)}
        mask = 0
        unknown = []
        for name in names:
            if name in index:
                mask |= 1 << index[name]
            else:
                unknown.append(f"expected a variable of the graph, got {name!r}")
        if unknown:
            raise InvalidModelError(unknown)
        return mask

    def members(self, mask: int) -> tuple[str, ...]:
        """Return the variables of a bit mask, in the order of the vertices."""
        names = self.names
        found = []
        while mask:
            low = mask & -mask
            found.append(names[low.bit_length() - 1])
            mask ^= low
        return tuple(found)

    def clique_size(self, mask: int) -> int:
        """Return the number of cells of a table over these vertices: exact, of any size."""
        sizes = self.sizes
        size = 1
        while mask:
            low = mask & -mask
            size *= sizes[low.bit_length() - 1]
            mask ^= low
        return size

    def is_clique(self, mask: int) -> bool:
        """Tell whether all these vertices are neighbors of each other."""
        return all(not mask & ~self.neighbors[v] & ~(1 << v) for v in bits(mask))

    def neighborhood(self, mask: int) -> int:
        """Return the vertices outside a set that have a neighbor in it."""
        union = 0
        for v in bits(mask):
            union |= self.neighbors[v]
        return union & ~mask

    def components(self, mask: int) -> tuple[int, ...]:
        """Return the connected components of the graph on these vertices only."""
        found = []
        while mask:
            component = frontier = mask & -mask
            while frontier:
                reached = 0
                for v in bits(frontier):
                    reached |= self.neighbors[v]
                frontier = reached & mask & ~component
                component |= frontier
            found.append(component)
            mask &= ~component
        return tuple(found)

    def subgraph(self, mask: int) -> InteractionGraph:
        """Return the graph on these vertices only, in the same order."""
        kept = list(bits(mask))
        place = {v: i for i, v in enumerate(kept)}
        return InteractionGraph(
            tuple(self.names[v] for v in kept),
            tuple(self.sizes[v] for v in kept),
            tuple(sum(1 << place[u] for u in bits(self.neighbors[v] & mask)) for v in kept),
        )
