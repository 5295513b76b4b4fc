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

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from heapq import heapify, heappop, heappush

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Natural, Value
from bnmind.junction.graphs.elimination_order import (
    EliminationOrder,
    OrderFinder,
    measured_order,
    vertices_in_order,
)
from bnmind.junction.graphs.interaction_graph import InteractionGraph, bits
from bnmind.junction.triangulation.annealing.tree_kernel import Tree, anneal, tables
from bnmind.junction.triangulation.greedy_arrays import bit_rows
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy
from bnmind.junction.triangulation.scored_graph import Core, core_of

__all__ = ["ROUNDS", "TreeAnnealing", "annealed"]

# --- Contraction trees: binary trees whose leaves are cliques that cover the edges of a graph -----
#
# A node of the tree stands for the product of its leaves, from which the variables that occur
# nowhere else have been summed out. The variables that remain are *open*. The *bag* of an inner
# node holds the open variables of its two children; bags are the cliques of a tree decomposition,
# and the sum of their sizes is the number of multiplications of the contraction. An elimination
# order gives a tree, and a tree gives an order whose elimination cliques lie in the bags.
#
# References ---------- I. L. Markov, Y. Shi, "Simulating quantum computation by contracting tensor
# networks", SIAM Journal on Computing 38 (2008), 963-981.

_MOST_SIZES = 64
"""The most numbers of states that a tree distinguishes."""


def covering_cliques(neighbors: Sequence[int]) -> list[int]:
    """Return cliques that contain every vertex and edge of a graph, all as bit masks.

    Each clique grows from an edge that no earlier clique contains, first by vertices with
    uncovered edges into it.
    """
    cliques = []
    uncovered = list(neighbors)
    for v, around in enumerate(neighbors):
        if not around:
            cliques.append(1 << v)
        while uncovered[v]:
            low = uncovered[v] & -uncovered[v]
            clique = 1 << v | low
            common = around & neighbors[low.bit_length() - 1]
            while common:
                # An uncovered edge to v if there is one; otherwise the lowest vertex.
                choice = (common & uncovered[v]) or common
                low = choice & -choice
                clique |= low
                common &= neighbors[low.bit_length() - 1]
            for u in bits(clique):
                uncovered[u] &= ~clique
            cliques.append(clique)
    return cliques


def tree_of(core: Core, order: Sequence[int], cliques: Sequence[int] | None = None) -> Tree:
    """Return the contraction tree of an elimination order of a core.

    For each vertex, the nodes that contain it are joined in pairs, those with the fewest cells
    first. The leaves are the given cliques, or else `covering_cliques`.
    """
    cliques = covering_cliques(core.neighbors) if cliques is None else cliques
    logarithms = _few(core.logarithms)
    places, classes = _places(logarithms)
    of_place = [1 << place for place in places]
    leaves = [sum([of_place[v] for v in bits(mask)]) for mask in cliques]
    holding: list[list[int]] = [[] for _ in range(core.n)]
    vertices = {place: v for v, place in enumerate(places)}
    for i, mask in enumerate(leaves):
        for place in bits(mask):
            holding[vertices[place]].append(i)

    def weight(bag: int) -> int:
        return sum([logarithm * (bag & mask).bit_count() for logarithm, mask in classes])

    closed = [(of_place[v], logarithms[v], holding[v]) for v in order]
    children = _joined(leaves, closed, weight)
    open_masks = _open(leaves, children)
    n_words = -(-max(mask.bit_length() for _, mask in classes) // 64)
    pairs = np.full((len(open_masks), 2), -1, dtype=np.int64)
    pairs[len(leaves) :] = np.array(children, dtype=np.int64).reshape(-1, 2)
    costs = [0] * len(leaves) + [weight(open_masks[a] | open_masks[b]) for a, b in children]
    of_word = [sum([x for x, mask in classes if mask >> (64 * w) & 1]) for w in range(n_words)]
    return Tree(
        children=pairs,
        open_rows=bit_rows(open_masks, 64 * n_words),
        costs=np.array(costs, dtype=np.int64),
        logarithms=np.array(of_word, dtype=np.int64),
        places=np.array(places, dtype=np.int64),
        n_leaves=len(leaves),
    )


def _few(logarithms: Sequence[int]) -> Sequence[int]:
    """Return the logarithms, rounded if there are very many."""
    unit = 1
    while len(set(logarithms)) > _MOST_SIZES:
        unit *= 2
        logarithms = [x // unit * unit for x in logarithms]
    return logarithms


def _places(logarithms: Sequence[int]) -> tuple[list[int], list[tuple[int, int]]]:
    """Return the bit of each vertex, and each logarithm with the bits of its vertices.

    Each word holds vertices with equal logarithms.
    """
    places = [0] * len(logarithms)
    classes: list[tuple[int, int]] = []
    alike: dict[int, list[int]] = {}
    for v, logarithm in enumerate(logarithms):
        alike.setdefault(logarithm, []).append(v)
    first = 0
    for logarithm, members in sorted(alike.items()):
        for i, v in enumerate(members):
            places[v] = first + i
        classes.append((logarithm, (1 << first + len(members)) - (1 << first)))
        first += -(-len(members) // 64) * 64
    return places, classes


def _joined(
    leaves: Sequence[int],
    order: Iterable[tuple[int, int, Sequence[int]]],
    weight: Callable[[int], int],
) -> list[tuple[int, int]]:
    """Return the children of the inner nodes of a tree.

    Parameters
    ----------
    leaves
        The vertices of each leaf, as bits.
    order
        For each vertex, in the order of elimination: its bit, its logarithm, and the leaves that
        contain it.
    weight
        Returns the logarithm of the size of a set of vertices.
    """
    members = list(leaves)
    cells = [weight(mask) for mask in leaves]
    children: list[tuple[int, int]] = []
    # A node above each node, or the node itself if it is a root.
    above = list(range(len(leaves)))

    def root(node: int) -> int:
        while above[node] != node:
            above[node] = above[above[node]]
            node = above[node]
        return node

    def join(nodes: Iterable[int]) -> int:
        queue = [(cells[i], i) for i in {root(i) for i in nodes}]
        heapify(queue)
        while len(queue) > 1:
            (_, a), (_, b) = heappop(queue), heappop(queue)
            new = len(members)
            above[a] = above[b] = new
            above.append(new)
            members.append(members[a] | members[b])
            cells.append(weight(members[new]))
            children.append((a, b))
            heappush(queue, (cells[new], new))
        return queue[0][1]

    for bit, logarithm, holding in order:
        new = join(holding)
        members[new] ^= bit
        cells[new] -= logarithm
    join(range(len(leaves)))
    return children


def _open(leaves: Sequence[int], children: Sequence[tuple[int, int]]) -> list[int]:
    """Return the leaves, and the vertices inside each inner node that are outside it too."""
    inside = list(leaves)
    for a, b in children:
        inside.append(inside[a] | inside[b])
    outside = [0] * len(inside)
    for node in range(len(inside) - 1, len(leaves) - 1, -1):
        a, b = children[node - len(leaves)]
        outside[a] = outside[node] | inside[b]
        outside[b] = outside[node] | inside[a]
    n = len(leaves)
    return [*leaves, *(x & y for x, y in zip(inside[n:], outside[n:], strict=True))]


def order_of(tree: Tree) -> list[int]:
    """Return the order in which a contraction from the leaves to the root closes the vertices."""
    vertices = {place: v for v, place in enumerate(tree.places.tolist())}
    order: list[int] = []
    rows = tree.open_rows.astype("<u8")
    masks = [int.from_bytes(row.tobytes(), "little") for row in rows]
    children = tree.children.tolist()
    root = len(masks) - 1
    waiting = [(root, False)]
    while waiting:
        node, is_done = waiting.pop()
        if node < tree.n_leaves:
            continue
        a, b = children[node]
        if is_done:
            order += sorted([vertices[i] for i in bits((masks[a] | masks[b]) & ~masks[node])])
        else:
            waiting += [(node, True), (b, False), (a, False)]
    if root < tree.n_leaves:
        order += sorted([vertices[i] for i in bits(masks[root])])
    return order


# --- Simulated annealing on contraction trees, a search for elimination orders --------------------
#
#

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
