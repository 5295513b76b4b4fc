"""Stations: auxiliary cliques through which many neighbors of a clique exchange their messages.

A message from a clique to one of k neighbors multiplies those of all others, so that all messages
take about k² products. A binary tree of stations needs about 3k (Shenoy, *Binary join trees for
computing marginals in the Shenoy-Shafer architecture*, 1997). A station holds the union of the
separators below it.

Neighbors with the same separator are connected by stations over that separator. Many neighbors with
different separators are connected as in bucket elimination: those that share a variable by a tree
of stations, and all others by a station without that variable, where this is repeated. The sizes of
these stations sum to a small multiple of that of the clique (Kask, Dechter, Larrosa & Dechter,
*Unifying tree decompositions for reasoning in graphical models*, Artif. Intell. 166, 2005).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

__all__ = ["StationTree"]

_MANY = 12
"""The most separators of a clique without stations between them."""

_LARGEST = 2**22
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
        spread = len(groups) > _MANY and self.cells(self.scopes[clique]) <= _LARGEST
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
