"""Local search, which triangulates parts of a junction tree again as long as this improves it.

A window is a connected part of the tree with a limited number of variables. Its cliques can be
replaced by those of any triangulation of these variables in which the separators to the rest of the
tree are cliques. A window is therefore a small graph of its own, on which a randomized greedy
search is cheap, and an improvement of the window improves the whole tree by the same amount.
Windows grow around the largest cliques.

References
----------
J. K. Fichte, N. Lodha, S. Szeider, "SAT-based local improvement for finding tree
decompositions of small width", SAT 2017, LNCS 10491, 401-411.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from bnmind._arguments import checked
from bnmind._values import Count, Natural, Value
from bnmind.junction.graphs.elimination_order import (
    EliminationOrder,
    OrderFinder,
    measured_order,
    vertices_in_order,
)
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.graphs.junction_tree import joined_cliques
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.junction.triangulation.scored_graph import placed, scored

__all__ = ["LocalSearch"]

_NEGLIGIBLE = 1_000
"""The least size of the first clique of a window is the total size divided by this number."""

_PATIENCE = 10
"""The patience of the short searches in windows."""

_FEW_VERTICES = 150
"""The size of graphs above which the searches in windows are compiled."""


@dataclass(frozen=True)
class LocalSearch(Value):
    """A search that improves the order of another search part by part, and never worsens it.

    Examples
    --------
    >>> from bnmind.junction.graphs.elimination_order import GivenOrder
    >>> ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2, "d": 5}, ring)
    >>> start = GivenOrder(("a", "b", "c", "d"))
    >>> start(graph).total_size, LocalSearch(start)(graph).total_size
    (60, 32)
    """

    start: OrderFinder = field(default_factory=RandomizedGreedy)
    """The search for the initial order."""
    window: Count = 30
    """The most variables of a window."""
    passes: Natural = 40
    """The number of greedy passes with random scores in each window."""
    max_windows: Natural = 100
    """The most windows to search."""
    seed: int = 0
    """The seed of the random scores."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the best order found, with its sizes."""
        best = self.start(graph)
        method = f"{best.method}, local search"
        windows_left = 0 if best.proven else self.max_windows
        while windows_left:
            tree = _Tree(graph, vertices_in_order(graph, best.variables))
            tried: set[frozenset[int]] = set()
            for window in tree.windows(self.window):
                variables = tree.variables(window)
                if variables in tried:
                    continue
                tried.add(variables)
                windows_left -= 1
                order = self._searched(tree, window)
                new_order = measured_order(graph, order, method=method)
                if new_order.total_size < best.total_size or not windows_left:
                    break
            else:
                break
            if new_order.total_size < best.total_size:
                best = new_order
        return best

    def _searched(self, tree: _Tree, window: frozenset[int]) -> Sequence[int]:
        """Return an order of the whole graph after a search in a window."""
        graph = tree.graph
        variables = tree.variables(window)
        members = sorted(variables)
        place = {v: i for i, v in enumerate(members)}
        around = {v: variables.intersection(graph.adjacent[v]) for v in members}
        separators = {s for i in window for j, s in tree.beside[i] if j not in window and s}
        for separator in separators:
            for v in separator:
                around[v] |= separator - {v}
        core = scored(
            [placed(around[v], place) for v in members],
            [graph.sizes[v] for v in members],
            sorted(placed(separator, place) for separator in separators),
        )
        greedy = RandomizedGreedy(restarts=self.passes, patience=_PATIENCE, seed=self.seed)
        inner = greedy.search(core, large=graph.n > _FEW_VERTICES).order
        return [*tree.outside(window), *(members[v] for v in inner)]


class _Tree:
    """A junction tree as sets of vertices."""

    def __init__(self, graph: InteractionGraph, order: Sequence[int]) -> None:
        self.graph = graph
        self.cliques, self.sizes, edges = joined_cliques(graph, order)
        self.beside: list[list[tuple[int, frozenset[int]]]] = [[] for _ in self.cliques]
        for i, j, separator in edges:
            self.beside[i].append((j, separator))
            self.beside[j].append((i, separator))

    def variables(self, window: frozenset[int]) -> frozenset[int]:
        """Return the vertices of some cliques."""
        return frozenset().union(*[self.cliques[i] for i in window])

    def windows(self, most: int) -> Iterator[frozenset[int]]:
        """Yield a window around each clique that is not negligible, the largest first."""
        least = sum(self.sizes) // _NEGLIGIBLE
        centers = sorted(range(len(self.cliques)), key=lambda i: (-self.sizes[i], i))
        return (self._window(i, most) for i in centers if self.sizes[i] >= least)

    def _window(self, center: int, most: int) -> frozenset[int]:
        """Return a connected set of cliques, grown by the largest neighbor that fits."""
        inside = {center}
        union = set(self.cliques[center])
        beside = {j for j, separator in self.beside[center] if separator}
        while True:
            fitting = [j for j in beside if len(union | self.cliques[j]) <= most]
            if not fitting:
                return frozenset(inside)
            chosen = max(fitting, key=lambda j: (self.sizes[j], -j))
            inside.add(chosen)
            union |= self.cliques[chosen]
            beside = {j for j in fitting if j != chosen}
            beside |= {j for j, s in self.beside[chosen] if s and j not in inside}

    def outside(self, window: frozenset[int]) -> list[int]:
        """Return an order of the other vertices that adds no edge to the cliques."""
        order: list[int] = []
        reached = [(i, -1) for i in window]
        for i, origin in reached:
            for j, separator in self.beside[i]:
                if j != origin and j not in window:
                    order += sorted(self.cliques[j] - separator)
                    reached.append((j, i))
        order.reverse()
        return order
