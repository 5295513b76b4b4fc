"""Simulated annealing on contraction trees, a search for elimination orders.

The order of another search is turned into a contraction tree, which exchanges of subtrees improve
while the temperature falls. Later rounds are longer; each starts from the best tree. The search
counts operations instead of time, so the same graph and seed get the same order on any machine.

References
----------
J. Gray, S. Kourtis, "Hyper-optimized tensor network contraction", Quantum 5 (2021), 410.
G. Kalachev, P. Panteleev, M.-H. Yung, "Multi-tensor contraction for XEB verification of quantum
circuits", arXiv:2108.05665 (2021).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Natural, Value
from bnmind.junction.graphs.elimination_order import (
    EliminationOrder,
    OrderFinder,
    measured_order,
    vertices_in_order,
)
from bnmind.junction.graphs.interaction_graph import InteractionGraph
from bnmind.junction.triangulation.annealing.contraction_tree import (
    covering_cliques,
    order_of,
    tree_of,
)
from bnmind.junction.triangulation.annealing.tree_kernel import Tree, anneal, tables
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.junction.triangulation.scored_graph import core_of

__all__ = ["ROUNDS", "TreeAnnealing", "annealed"]

ROUNDS = ((512, 10, 30), (1024, 16, 60), (2048, 40, 60), (1024, 40, 150), (1024, 40, 400))
"""For each round, the first temperature in 1/1024, the number of temperatures, and the moves at
each temperature for each leaf. The last round is repeated."""

_COLDEST = 64
"""The last temperature of a round, in 1/1024."""

_WORK_OF_A_LEAF = 4_000
"""The counted work of making a tree and reading its order, for each leaf."""

_MANY_EDGES = 20_000
"""The number of edges above which they stand for the leaves in the prediction of the work."""

_WORK_OF_A_MOVE = 10
"""The counted work of a move."""


@dataclass(frozen=True)
class TreeAnnealing(Value):
    """A search that improves the order of another search by exchanges of subtrees.

    It never worsens the order. Equal seeds give equal orders.

    Examples
    --------
    >>> from bnmind.junction.graphs.elimination_order import GivenOrder
    >>> ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2, "d": 5}, ring)
    >>> start = GivenOrder(("a", "b", "c", "d"))
    >>> start(graph).total_size, TreeAnnealing(start)(graph).total_size
    (60, 32)
    """

    start: OrderFinder = field(default_factory=RandomizedGreedy)
    """The search for the initial order."""
    rounds: Natural = 4
    """The number of rounds; the longest of them make 16,000 moves for each leaf of the tree."""
    seed: Natural = 0
    """The seed of the moves."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the best order found, with its sizes."""
        start = self.start(graph)
        if start.proven:
            return start
        rounds = self.rounds

        def goes_on(done: int, spent: int, ahead: int, best: EliminationOrder) -> bool:
            return done < rounds

        return annealed(graph, start, goes_on, seed=self.seed)[0]


def annealed(
    graph: InteractionGraph,
    start: EliminationOrder,
    goes_on: Callable[[int, int, int, EliminationOrder], bool],
    *,
    seed: int = 0,
    rounds: Sequence[tuple[int, int, int]] = ROUNDS,
    skipped: int = 0,
) -> tuple[EliminationOrder, int]:
    """Return the best order found from a first one, and the counted work.

    Parameters
    ----------
    graph
        The graph.
    start
        An order of its vertices.
    goes_on
        Whether there is another round, after a number of rounds and some counted work, if it takes
        some work more. The last argument is the best order.
    seed
        The seed of the moves.
    rounds
        The rounds, as in `ROUNDS`.
    skipped
        The number of brief rounds to skip, if the first round after them goes on.
    """
    first, core_vertices, core = core_of(graph)
    best, work, done = start, 0, 0
    place = {v: i for i, v in enumerate(core_vertices)}
    rng = np.random.default_rng(seed)
    tree: Tree | None = None
    leaves = sum(map(int.bit_count, core.neighbors)) // 2
    cliques: list[int] | None = None
    if leaves < _MANY_EDGES:
        cliques = covering_cliques(core.neighbors)
        leaves = len(cliques)
    while core.n > 1:
        hottest, steps, moves = rounds[min(skipped + done, len(rounds) - 1)]
        ahead = leaves * (steps * moves * _WORK_OF_A_MOVE + _WORK_OF_A_LEAF)
        if not goes_on(done, work, ahead, best):
            if done or not skipped:
                break
            skipped -= 1
            continue
        if tree is None:
            order = vertices_in_order(graph, best.variables)
            tree = tree_of(core, [place[v] for v in order if v in place], cliques)
            leaves = tree.n_leaves
            if leaves == 1:
                break
        tried = _copy(tree)
        schedule = np.geomspace(hottest, _COLDEST, steps).round().astype(np.int64)
        state = rng.integers(1, 2**64, size=1, dtype=np.uint64)
        work += anneal(tried, tables(core.fraction), schedule, moves * leaves, state)
        work += _WORK_OF_A_LEAF * leaves
        done += 1
        vertices = [*first, *(core_vertices[v] for v in order_of(tried))]
        found = measured_order(graph, vertices, method=_method(start, done))
        if found.total_size < best.total_size:
            best, tree = found, tried
    return best, work


def _copy(tree: Tree) -> Tree:
    return tree._replace(
        children=tree.children.copy(), open_rows=tree.open_rows.copy(), costs=tree.costs.copy()
    )


def _method(start: EliminationOrder, rounds: int) -> str:
    return f"{start.method}, annealing ({rounds} {'round' if rounds == 1 else 'rounds'})"
