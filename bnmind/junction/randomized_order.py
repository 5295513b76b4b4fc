"""Random searches for elimination orders: greedy with random scores, and simulated annealing."""

from __future__ import annotations

import math
import sys
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cache
from heapq import heapify, heappop, heappush
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._jit import njit
from bnmind._values import Count, Natural, NonNegative, Value, latest
from bnmind.junction.graphs import (
    EliminationOrder,
    InteractionGraph,
    OrderFinder,
    bits,
    measured_order,
    vertices_in_order,
)
from bnmind.junction.greedy_order import (
    Climb,
    Core,
    Ints,
    Score,
    climbed,
    core_of,
    greedy_pass,
)

# --- Randomized greedy elimination orders, a hill climb on the scores of greedy passes ------------
#
# Each pass eliminates the variable with the least score, where each score has its own multiplier.
# The multipliers perform a random walk: the search accepts slightly different multipliers if their
# order is not worse. A chain without progress is replaced by a chain with the next score and no
# multipliers. A pass ends early if it is worse than the current order of the chain.
#
# The search ends when its cost reaches that of the propagation. It counts operations instead of
# time, so the same graph and seed get the same order on any machine.

_SCORES = (
    (Score.FILL, Score.NOISY_FILL),
    (Score.WEIGHTED_FILL, Score.NOISY_WEIGHTED_FILL),
    (Score.WEIGHT, Score.NOISY_WEIGHT),
    (Score.NOISY_MIXTURE, Score.NOISY_MIXTURE),
)
"""The scores, without multipliers and with them."""

_STEPS = (0.5, 1.0, 2.0, 4.0)
"""Spreads of one step of the logarithms of the multipliers, in bits. Each spread is used for one
chain with every score, in turn."""

_WORK_PER_CELL = 0.2
"""Work of the search that takes as long as the propagation of a cell, both ways."""

_MANY_VERTICES = 100
"""The number of vertices above which a search may cost more than the propagation."""

_CELLS_OF_A_PAIR = 20
"""The number of cells that each pair of vertices counts for. With more pairs there are better
orders to find and more messages, which have a cost besides their cells."""

_LEAST_WORK = 1_000
"""The least limit of a search besides its plain passes: about a tenth of a millisecond in Python,
about the time of a run with a small tree."""

_LEAST_WORK_OF_EFFORT = 4_000
"""The least limit for an effort above one, before it is multiplied by the effort."""

MOST_WORK = 200_000_000
"""The most work of several searches that share it, at an effort of one: half a second, compiled."""

_MOST_WORK_OF_ONE = MOST_WORK // 2
"""The most work of one randomized greedy search."""

_MOST_UNCOMPILED = 160_000
"""The most work of a search that does not wait for the compiler."""

_MOST_IN_PYTHON = 36_000
"""The limit of such a search at an effort of one, because Python takes longer for the same work."""

_FEW_VERTICES = 100
"""The most vertices of a core whose passes do not wait for the compiler."""


class Start(NamedTuple):
    """The first pass over a graph: simplicial variables, then min-fill."""

    first: list[int]
    """The simplicial vertices of the graph, in order."""
    kept: list[int]
    """The vertices of its core."""
    core: Core
    found: Climb
    """The pass over the core."""

    @property
    def is_over(self) -> bool:
        """Whether the pass exceeded its limit."""
        return len(self.found.order) < self.core.n

    def order(self, graph: InteractionGraph) -> EliminationOrder | None:
        """Return the order of the pass; None if the pass exceeded its limit."""
        if self.is_over:
            return None
        return measured_order(graph, self.whole(self.found.order), method="min-fill")

    def whole(self, order: Sequence[int]) -> list[int]:
        """Return an order of the core's vertices as one of the graph's."""
        return [*self.first, *(self.kept[v] for v in order)]


@dataclass(frozen=True)
class RandomizedGreedy(Value):
    """The best of many greedy orders with random scores; equal seeds give equal orders.

    Simplicial variables are eliminated first. The search includes the greedy orders without
    multipliers, so it is never worse than `MinFill` and `WeightedMinFill`.
    """

    effort: NonNegative = 1.0
    """The work of the search, as a multiple of the work of the propagation."""
    restarts: Natural | None = None
    """The number of passes with multipliers, whatever they cost; None uses the effort."""
    patience: Count = 25
    """The number of consecutive passes without an improvement after which a chain ends."""
    seed: int = 0
    """The seed of the multipliers."""

    @checked
    def __call__(self, graph: InteractionGraph) -> EliminationOrder:
        """Return the best order found, with its sizes."""
        order, _ = self.within(graph)
        assert order is not None  # without a limit
        return order

    def within(
        self,
        graph: InteractionGraph,
        *,
        most: float = math.inf,
        limit: float = math.inf,
    ) -> tuple[EliminationOrder | None, int]:
        """Return the best order found within a limit of work, and the work done.

        Parameters
        ----------
        graph
            The graph.
        most
            The limit of the work. The first greedy pass runs at any cost, and a pass that has
            started is finished.
        limit
            If the order of the first pass has more cells, the method returns None for the order.
        """
        start = started(graph, limit)
        if start.is_over:
            return None, start.found.work
        best = self._search(start, most) if start.core.n else start.found
        method = f"randomized greedy ({best.passes} passes)"
        return measured_order(graph, start.whole(best.order), method=method), best.work

    def wanted(self, cells: float, n: int) -> float:
        """Return the work that pays for a tree with ``cells`` cells and ``n`` variables."""
        return math.inf if self.restarts is not None else _budget(self.effort, n, cells)

    def _search(self, start: Start, most: float) -> Climb:
        """Return the best order of a core, the passes with multipliers, and the work of all."""
        core = start.core
        is_large = _is_large(core)
        plain = [(start.found, _SCORES[0][1])]
        work = start.found.work
        for score, noisy in _SCORES[1:]:
            if work >= most:
                break
            found = greedy_pass(core, score, is_large=is_large)
            work += found.work
            plain.append((found, noisy))
        plain.sort(key=lambda pair: pair[0].total)
        best = plain[0][0]

        def left() -> float:
            return min(most, self.wanted(best.total, core.n)) - work

        is_large = is_large or (self.restarts is None and left() > _MOST_UNCOMPILED)
        rng = np.random.default_rng(self.seed)
        scale = 1 << core.fraction
        passes = chain = improved = 0
        current, noisy = plain[0]
        standing = True
        while left() > 0 and passes != self.restarts:
            if standing:
                # The search ends after many chains without an improvement.
                if self.restarts is None and chain - improved > 4 + core.n // 4:
                    break
                current, noisy = plain[chain % len(plain)]
                spread = scale * _STEPS[chain // len(plain) % len(_STEPS)]
                chain += 1
            count = min(self.patience, (self.restarts or sys.maxsize) - passes)
            steps = _steps(core.n, count, spread, rng)
            before = current.total
            current = climbed(core, noisy, current, steps, left(), is_large=is_large)
            passes += current.passes
            work += current.work
            standing = current.total == before
            if current.total < best.total:
                best = current
                improved = chain
        return best._replace(passes=passes, work=work)


def started(graph: InteractionGraph, limit: float = math.inf) -> Start:
    """Return the start of a search: simplicial variables first, then min-fill.

    The pass stops when its cliques exceed ``limit`` cells. It runs once, whoever asks for it.
    """
    return latest(graph, "_starts", limit, lambda: _started(graph, limit))


def _started(graph: InteractionGraph, limit: float) -> Start:
    first, kept, core = core_of(graph)
    return Start(first, kept, core, greedy_pass(core, Score.FILL, limit, is_large=_is_large(core)))


def _is_large(core: Core) -> bool:
    """Return whether the passes over a core are worth waiting for the compiler."""
    return core.n > _FEW_VERTICES


def _budget(effort: float, n: int, cells: float) -> float:
    """Return the work for a search in a core of n vertices whose best order has ``cells`` cells."""
    cells += _CELLS_OF_A_PAIR * n**2
    # A larger core has more room for improvement, and each pass costs more.
    share = _WORK_PER_CELL * math.sqrt(max(1.0, n / _MANY_VERTICES))
    least = _LEAST_WORK if effort <= 1 else _LEAST_WORK_OF_EFFORT
    work = effort * min(max(share * cells, least), _MOST_WORK_OF_ONE)
    if work <= _MOST_UNCOMPILED:
        return min(work, max(effort, 1.0) * _MOST_IN_PYTHON)
    return work


def _steps(n: int, count: int, spread: float, rng: np.random.Generator) -> Ints:
    """Return random steps of n multipliers, one a row."""
    # A step changes a few variables or all, because both small and wide moves are needed.
    moved = rng.random((count, n)) < rng.random((count, 1))
    return (spread * moved * rng.standard_normal((count, n))).astype(np.int64)


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
        order, _ = annealed(graph, start, lambda done, *_: done < self.rounds, seed=self.seed)
        return order


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
        copies = tree.children.copy(), tree.open_rows.copy(), tree.costs.copy()
        tried = tree._replace(children=copies[0], open_rows=copies[1], costs=copies[2])
        schedule = np.geomspace(hottest, _COLDEST, steps).round().astype(np.int64)
        state = rng.integers(1, 2**64, size=1, dtype=np.uint64)
        work += anneal(tried, tables(core.fraction), schedule, moves * leaves, state)
        work += _WORK_OF_A_LEAF * leaves
        done += 1
        vertices = [*first, *(core_vertices[v] for v in order_of(tried))]
        rounds_so_far = "1 round" if done == 1 else f"{done} rounds"
        method = f"{start.method}, annealing ({rounds_so_far})"
        found = measured_order(graph, vertices, method=method)
        if found.total_size < best.total_size:
            best, tree = found, tried
    return best, work
