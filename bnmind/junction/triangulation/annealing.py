"""Elimination orders from contraction trees, which are improved by simulated annealing."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._jit import njit
from bnmind._values import Natural, Value
from bnmind.junction.graphs import (
    EliminationOrder,
    InteractionGraph,
    OrderFinder,
    bits,
    measured_order,
    vertices_in_order,
)
from bnmind.junction.triangulation.cores import Core, core_of
from bnmind.junction.triangulation.greedy import Ints, RandomizedGreedy

# --- Simulated annealing on contraction trees, compiled -------------------------------------------
#
# A move exchanges two subtrees: a node T = ((A, B), C) becomes ((A, C), B). It changes the bag of T
# and that of its inner child, and nothing else, so a move costs only the size of these bags. The
# energy of the two bags is the logarithm of the sum of their sizes, and Metropolis' rule accepts
# the move or not.
#
# All numbers are whole, so the result does not depend on the machine: logarithms are fixed-point
# numbers, sums of powers and the logarithms of random numbers are looked up in tables.
#
# References
# ----------
# G. Kalachev, P. Panteleev, M.-H. Yung, "Multi-tensor contraction for XEB verification of quantum
# circuits", arXiv:2108.05665 (2021): the moves and the local energy.

_FINE = 5
"""Binary digits by which the table of sums divides a difference of one in logarithms."""

_WIDEST = 32
"""The difference in logarithms above which the smaller of two terms does not count."""

_CHANCES = 12
"""Binary digits of the random number of Metropolis' rule."""


Words: TypeAlias = NDArray[np.uint64]


class Tree(NamedTuple):
    """A contraction tree; inner nodes follow the leaves, and the root is the last node."""

    children: Ints
    """(nodes, 2) the children of each inner node."""
    open_rows: Words
    """(nodes, words) the open vertices of each node, as bits. All vertices of a word have equally
    many states, so that the size of a bag follows from the numbers of its bits in each word."""
    costs: Ints
    """The logarithm of the size of the bag of each inner node."""
    logarithms: Ints
    """(words,) the binary logarithm of the number of states of each vertex of a word, in fixed
    point."""
    places: Ints
    """(vertices,) the bit of each vertex."""
    n_leaves: int


class Tables(NamedTuple):
    """Logarithms that moves look up, in fixed point."""

    sums: Ints
    """log2(1 + 2^-d) for differences d, in steps of 2^-`_FINE`."""
    thresholds: Ints
    """-ln(u) for the middles u of 2^`_CHANCES` equal parts of (0, 1), in fixed point."""
    shift: int
    """The binary digits by which a difference is shifted to look up `sums`."""


@cache
def tables(fraction: int) -> Tables:
    """Return the tables for logarithms with ``fraction`` fractional binary digits."""
    scale = 1 << fraction
    fine = min(_FINE, fraction)
    sums = [math.log2(1 + 2.0 ** -(i / (1 << fine))) for i in range(_WIDEST << fine)]
    chances = [-math.log((i + 0.5) / (1 << _CHANCES)) for i in range(1 << _CHANCES)]
    made = Tables(
        sums=np.array([round(x * scale) for x in sums], dtype=np.int64),
        thresholds=np.array([round(x * scale) for x in chances], dtype=np.int64),
        shift=fraction - fine,
    )
    made.sums.flags.writeable = made.thresholds.flags.writeable = False
    return made


@njit
def _log_sum(sums: Ints, shift: int, a: int, b: int) -> int:
    """Return the logarithm of the sum of two numbers given by their logarithms."""
    at = abs(a - b) >> shift
    return max(a, b) + (int(sums[at]) if at < sums.size else 0)


@njit
def _random(state: Words) -> Any:
    """Return the next 64 random bits (Marsaglia's xorshift, triple 13, 7, 17)."""
    x = state[0]
    x ^= x << np.uint64(13)
    x ^= x >> np.uint64(7)
    x ^= x << np.uint64(17)
    state[0] = x
    return x


@njit
def anneal(tree: Tree, tables: Tables, schedule: Ints, moves: int, state: Words) -> int:
    """Anneal a tree, and return the counted work.

    Parameters
    ----------
    tree
        The tree, which the function changes.
    tables
        See `tables`.
    schedule
        Temperatures in 1/1024 of the unit in which the energy is a natural logarithm.
    moves
        The number of proposed moves at each temperature.
    state
        The state of the random numbers, one word that is not zero.
    """
    children, open_rows, costs = tree.children, tree.open_rows, tree.costs
    logarithms, n_leaves = tree.logarithms, tree.n_leaves
    sums, thresholds, shift = tables
    n_words = open_rows.shape[1]
    n_inner = np.uint64(children.shape[0] - n_leaves)
    work = 0
    for t in range(schedule.size):
        temperature = int(schedule[t])
        for _ in range(moves):
            random = _random(state)
            # The high bits choose the node, low bits the exchange and the chance.
            node = n_leaves + np.int64(((random >> np.uint64(32)) * n_inner) >> np.uint64(32))
            side = np.int64(random & np.uint64(1))
            inner = int(children[node, side])
            if inner < n_leaves:
                side = 1 - side
                inner = int(children[node, side])
                if inner < n_leaves:
                    continue
            other = int(children[node, 1 - side])
            kept_side = np.int64((random >> np.uint64(1)) & np.uint64(1))
            kept = int(children[inner, kept_side])
            moved = int(children[inner, 1 - kept_side])
            below = 0
            above = 0
            for w in range(n_words):
                bag = open_rows[kept, w] | open_rows[other, w]
                below += logarithms[w] * bag.bit_count()
                bag = (bag & open_rows[node, w]) | open_rows[moved, w]
                above += logarithms[w] * bag.bit_count()
            work += 5 + n_words // 2
            before = _log_sum(sums, shift, int(costs[inner]), int(costs[node]))
            after = _log_sum(sums, shift, below, above)
            if after > before:
                chance = np.int64((random >> np.uint64(2)) & np.uint64(thresholds.size - 1))
                if (after - before) << 10 > temperature * int(thresholds[chance]):
                    continue
            for w in range(n_words):
                bag = open_rows[kept, w] | open_rows[other, w]
                open_rows[inner, w] = bag & (open_rows[moved, w] | open_rows[node, w])
            children[inner, 1 - kept_side] = other
            children[node, 1 - side] = moved
            costs[inner] = below
            costs[node] = above
    return work


# --- Simulated annealing on contraction trees, a search for elimination orders --------------------
#
# The order of another search is turned into a contraction tree, which exchanges of subtrees improve
# while the temperature falls. Later rounds are longer; each starts from the best tree. The search
# counts operations instead of time, so the same graph and seed get the same order on any machine.
#
# References
# ----------
# J. Gray, S. Kourtis, "Hyper-optimized tensor network contraction", Quantum 5 (2021), 410.
# G. Kalachev, P. Panteleev, M.-H. Yung, "Multi-tensor contraction for XEB verification of quantum
# circuits", arXiv:2108.05665 (2021).

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
    logarithms = core.logarithms
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
        open_rows=np.frombuffer(
            b"".join([mask.to_bytes(8 * n_words, "little") for mask in open_masks]), dtype="<u8"
        )
        .astype(np.uint64)
        .reshape(-1, n_words),
        costs=np.array(costs, dtype=np.int64),
        logarithms=np.array(of_word, dtype=np.int64),
        places=np.array(places, dtype=np.int64),
        n_leaves=len(leaves),
    )


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
    >>> from bnmind.junction.graphs import GivenOrder
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
