"""The messages of a junction tree as steps of a program."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bnmind.junction.program.contraction import ProgramBuilder, Variables

# Stations: auxiliary cliques through which many neighbors of a clique exchange their messages.
#
# A message from a clique to one of k neighbors multiplies those of all others, so that all messages
# take about k² products. A binary tree of stations needs about 3k (Shenoy, *Binary join trees for
# computing marginals in the Shenoy-Shafer architecture*, 1997). A station holds the union of the
# separators below it.
#
# Neighbors with the same separator are connected by stations over that separator. Many neighbors
# with different separators are connected as in bucket elimination: those that share a variable by a
# tree of stations, and all others by a station without that variable, where this is repeated. The
# sizes of these stations sum to a small multiple of that of the clique (Kask, Dechter, Larrosa &
# Dechter, *Unifying tree decompositions for reasoning in graphical models*, Artif. Intell. 166,
# 2005).

_MANY = 12
"""The most separators of a clique without stations between them."""

_LARGEST_HUB = 2**22
"""The most cells of a clique with stations over different separators. They hold tables of half its
size, while a clique holds none."""

_SHRINK = 4
"""How many times smaller than the clique a station over several separators must be."""


class _End(NamedTuple):
    """A clique or a station that is to be connected."""

    separator: frozenset[int]
    clique: int


@dataclass
class StationTree:
    """A tree of cliques with room for stations, while they are being added."""

    scopes: list[frozenset[int]]
    """The variables of each clique and station."""
    neighbors: list[dict[int, frozenset[int]]]
    """For each clique and station, its neighbors with the separators."""
    sizes: Sequence[int]
    """The number of states of each variable."""

    def connect(self, clique: int) -> None:
        """Connect the neighbors of a clique by stations."""
        groups: dict[frozenset[int], list[int]] = {}
        for neighbor, separator in self.neighbors[clique].items():
            groups.setdefault(separator, []).append(neighbor)
        spread = len(groups) > _MANY and self.cells(self.scopes[clique]) <= _LARGEST_HUB
        ends: list[_End] = []
        for separator, group in groups.items():
            if len(group) < 3 and not spread:
                continue
            for neighbor in group:
                del self.neighbors[clique][neighbor], self.neighbors[neighbor][clique]
            ends.append(_End(separator, self._same(group, separator)))
        if spread:
            self._spread(clique, ends)
        else:
            self._attach(clique, ends)

    def _same(self, group: Sequence[int], separator: frozenset[int]) -> int:
        """Return the top of a binary tree over neighbors with the same separator."""
        if len(group) == 1:
            return group[0]
        middle = len(group) // 2
        halves = [self._same(half, separator) for half in (group[:middle], group[middle:])]
        return self._station(separator, [_End(separator, half) for half in halves])

    def _spread(self, hub: int, ends: list[_End]) -> None:
        """Connect ends with different separators to a clique or station that contains them."""
        while len(ends) > 3:
            scope = self.scopes[hub]
            most = self.cells(scope) // _SHRINK
            shared: dict[int, list[_End]] = {}
            for end in ends:
                for variable in end.separator:
                    shared.setdefault(variable, []).append(end)
            if not shared:
                break
            # As in bucket elimination by the fewest neighbors.
            variable = min(shared, key=lambda v: (len(shared[v]), v))
            bucket = sorted(shared[variable], key=lambda end: sorted(end.separator))
            self._attach(hub, self._halves(bucket, most))
            ends = [end for end in ends if variable not in end.separator]
            if len(ends) > 3:
                rest = _union(ends)
                station = self._station(rest, [])
                self._join(hub, station, rest)
                hub = station
        self._attach(hub, ends)

    def _attach(self, hub: int, ends: Sequence[_End]) -> None:
        for end in ends:
            self._join(hub, end.clique, end.separator)

    def _halves(self, ends: Sequence[_End], most: int) -> list[_End]:
        """Return ends connected by stations of at most so many cells, two if possible."""
        if len(ends) <= 1:
            return list(ends)
        middle = len(ends) // 2
        tops = []
        for half in (ends[:middle], ends[middle:]):
            union = _union(half)
            below = self._halves(half, most)
            if len(below) > 1 and self.cells(union) <= most:
                below = [_End(union, self._station(union, below))]
            tops += below
        return tops

    def _station(self, scope: frozenset[int], below: Sequence[_End]) -> int:
        station = len(self.scopes)
        self.scopes.append(scope)
        self.neighbors.append({})
        self._attach(station, below)
        return station

    def _join(self, first: int, second: int, separator: frozenset[int]) -> None:
        self.neighbors[first][second] = separator
        self.neighbors[second][first] = separator

    def cells(self, scope: frozenset[int]) -> int:
        """Return the number of configurations of some variables."""
        return math.prod([self.sizes[v] for v in scope])


def _union(ends: Sequence[_End]) -> frozenset[int]:
    return frozenset().union(*[end.separator for end in ends])


# --- The messages of a junction tree, as steps of a program ---------------------------------------
#
# Every table is assigned to a clique that contains its scope. A message from a clique to a neighbor
# is the product of the tables of the clique and of the messages from its other neighbors, summed to
# the separator. The product of the two messages of an edge is the belief of its separator, and
# answers targets in the separator. Other targets are answered at a clique that contains them. The
# program computes only messages that some target needs, each of them once (Shafer & Shenoy,
# *Probability propagation*, 1990).
#
# Many neighbors of a clique are connected by stations; see
# `bnmind.junction.program.message_passing`.

_SMALL = 2**12
"""The most cells of a joint from which several variables of a single clique are answered."""


@dataclass(frozen=True)
class TreeShape:
    """A junction tree whose cliques and separators are sets of a program's variables."""

    cliques: tuple[Variables, ...]
    edges: tuple[tuple[int, int, Variables], ...]
    """Two cliques and their separator, for each edge."""


class Passing:
    """The state of message passing: the tables assigned and the messages sent so far.

    Parameters
    ----------
    shape
        The tree. Some clique contains the scope of every register and of every target.
    builder
        The builder that collects the steps.
    registers
        The registers of the product; their scopes are not empty.
    """

    def __init__(self, shape: TreeShape, builder: ProgramBuilder, registers: Iterable[int]) -> None:
        self.builder = builder
        self.scopes = list(shape.cliques)
        self.neighbors: list[dict[int, Variables]] = [{} for _ in shape.cliques]
        for first, second, separator in shape.edges:
            self.neighbors[first][second] = separator
            self.neighbors[second][first] = separator
        stations = StationTree(self.scopes, self.neighbors, builder.sizes)
        for clique in range(len(shape.cliques)):
            stations.connect(clique)
        self.clique_sizes = [_size(scope, builder.sizes) for scope in self.scopes]
        self.ascending = sorted(range(len(self.scopes)), key=self.clique_sizes.__getitem__)
        self.holders: dict[int, list[int]] = {}
        for clique in self.ascending:
            for variable in self.scopes[clique]:
                self.holders.setdefault(variable, []).append(clique)
        self.smallest = self._smallest_separators()
        self.assigned: list[list[int]] = [[] for _ in self.scopes]
        for register in registers:
            self.assigned[self._host(builder.variables(register))].append(register)
        self.received: list[dict[int, int | None]] = [{} for _ in self.scopes]
        self._beliefs: dict[tuple[int, int], int | None] = {}
        self._private: dict[int, list[int]] = {}
        for variable, cliques in self.holders.items():
            if len(cliques) == 1:
                self._private.setdefault(cliques[0], []).append(variable)

    def answer(self, target: Variables) -> int | None:
        """Return the register of a target's unnormalized joint.

        The result is None if every configuration has weight one. The register's scope may lack
        variables on which the joint does not depend.
        """
        if not self.scopes:
            return None
        if len(target) != 1:
            return self._at_clique(self._host(target), target)
        (variable,) = target
        # From the smallest table that the messages provide.
        edge = self.smallest.get(variable)
        if edge is not None:
            return self._reduced(self._belief(*edge[1:]), target)
        clique = self._host(target)
        # Together with the other variables that are only in this clique.
        together = frozenset(self._private[clique])
        if _size(together, self.builder.sizes) > _SMALL:
            return self._at_clique(clique, target)
        return self._reduced(self._at_clique(clique, together), target)

    def _reduced(self, register: int | None, target: Variables) -> int | None:
        return register if register is None else self.builder.contract([register], target)

    def _belief(self, first: int, second: int) -> int | None:
        """Return the register of the belief of a separator."""
        if (first, second) not in self._beliefs:
            self._beliefs[first, second] = self._at_separator(first, second)
        return self._beliefs[first, second]

    def _at_separator(self, first: int, second: int) -> int | None:
        both = [self._sent(first, second), self._sent(second, first)]
        separator = self.neighbors[first][second]
        return self.builder.contract([r for r in both if r is not None], separator)

    def _at_clique(self, clique: int, target: Variables) -> int | None:
        for neighbor in self.neighbors[clique]:
            self._sent(neighbor, clique)
        return self._contract(clique, None, target)

    def _smallest_separators(self) -> dict[int, tuple[int, int, int]]:
        """Return the size and ends of a smallest separator of each variable of several cliques."""
        smallest: dict[int, tuple[int, int, int]] = {}
        for clique, around in enumerate(self.neighbors):
            for other, separator in around.items():
                if clique < other:
                    edge = (_size(separator, self.builder.sizes), clique, other)
                    for variable in separator:
                        if variable not in smallest or edge < smallest[variable]:
                            smallest[variable] = edge
        return smallest

    def _host(self, scope: Variables) -> int:
        """Return the smallest clique that contains a scope."""
        if not scope:
            return self.ascending[0]
        candidates = min([self.holders[v] for v in scope], key=len)
        return next(i for i in candidates if scope <= self.scopes[i])

    def _sent(self, sender: int, receiver: int) -> int | None:
        """Return a message; send it, and first the messages it depends on, if necessary."""
        received, neighbors = self.received, self.neighbors
        waiting = [] if sender in received[receiver] else [(sender, receiver)]
        while waiting:
            source, to = waiting[-1]
            messages = received[source]
            missing = [n for n in neighbors[source] if n not in messages and n != to]
            if missing:
                waiting += [(n, source) for n in missing]
                continue
            waiting.pop()
            if source not in received[to]:
                received[to][source] = self._contract(source, to, neighbors[source][to])
        return received[receiver][sender]

    def _contract(self, clique: int, receiver: int | None, keep: Variables) -> int | None:
        """Contract a clique's tables with the messages from all neighbors but the receiver."""
        arrived = self.received[clique].items()
        messages = [r for sender, r in arrived if r is not None and sender != receiver]
        return self.builder.contract(self.assigned[clique] + messages, keep)


def _size(variables: Iterable[int], sizes: Sequence[int]) -> int:
    return math.prod([sizes[v] for v in variables])
