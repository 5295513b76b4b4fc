"""Contraction trees: binary trees whose leaves are cliques that cover the edges of a graph.

A node of the tree stands for the product of its leaves, from which the variables that occur nowhere
else have been summed out. The variables that remain are *open*. The *bag* of an inner node holds
the open variables of its two children; bags are the cliques of a tree decomposition, and the sum of
their sizes is the number of multiplications of the contraction. An elimination order gives a tree,
and a tree gives an order whose elimination cliques lie in the bags.

References
----------
I. L. Markov, Y. Shi, "Simulating quantum computation by contracting tensor networks", SIAM Journal
on Computing 38 (2008), 963-981.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import heapify, heappop, heappush

import numpy as np

from bnmind.junction.graphs.interaction_graph import bits
from bnmind.junction.triangulation.annealing.tree_kernel import Tree
from bnmind.junction.triangulation.greedy_arrays import bit_rows
from bnmind.junction.triangulation.scored_graph import Core

__all__ = ["covering_cliques", "order_of", "tree_of"]


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


def tree_of(core: Core, order: Sequence[int]) -> Tree:
    """Return the contraction tree of an elimination order of a core.

    For each vertex, the nodes that contain it are joined in pairs, those with the fewest cells
    first.
    """
    leaves = covering_cliques(core.neighbors)
    children = _joined(core, order, leaves)
    n_nodes = 2 * len(leaves) - 1
    masks, costs = _measured(core, leaves, children)
    pairs = np.full((n_nodes, 2), -1, dtype=np.int64)
    pairs[len(leaves) :] = np.array(children, dtype=np.int64).reshape(-1, 2)
    return Tree(
        children=pairs,
        open_rows=bit_rows(masks, core.n),
        costs=np.array(costs, dtype=np.int64),
        logarithms=np.array(core.logarithms, dtype=np.int64),
        n_leaves=len(leaves),
    )


def _joined(core: Core, order: Sequence[int], leaves: Sequence[int]) -> list[tuple[int, int]]:
    """Return the children of the inner nodes of a tree with the given leaves."""
    logarithms = core.logarithms
    members = [set(bits(mask)) for mask in leaves]
    cells = [sum([logarithms[u] for u in inside]) for inside in members]
    children: list[tuple[int, int]] = []
    holding: list[set[int]] = [set() for _ in range(core.n)]
    for i, inside in enumerate(members):
        for v in inside:
            holding[v].add(i)
    roots = set(range(len(leaves)))

    def join(nodes: Iterable[int]) -> int:
        queue = [(cells[i], i) for i in nodes]
        heapify(queue)
        while len(queue) > 1:
            (_, a), (_, b) = heappop(queue), heappop(queue)
            roots.difference_update((a, b))
            roots.add(len(members))
            both = members[a] | members[b]
            cells.append(sum([logarithms[u] for u in both]))
            heappush(queue, (cells[-1], len(members)))
            children.append((a, b))
            members.append(both)
        return queue[0][1]

    for v in order:
        near = list(holding[v])
        new = join(near)
        for i in near:
            for u in members[i]:
                holding[u].discard(i)
        if v in members[new]:
            members[new].remove(v)
            cells[new] -= logarithms[v]
        for u in members[new]:
            holding[u].add(new)
    join(roots)
    return children


def _measured(
    core: Core, leaves: Sequence[int], children: Sequence[tuple[int, int]]
) -> tuple[list[int], list[int]]:
    """Return the open vertices of each node of a tree, and the logarithms of the bags."""
    total: dict[int, int] = {}
    for mask in leaves:
        for v in bits(mask):
            total[v] = total.get(v, 0) + 1
    # For each open vertex of a node, the number of leaves below the node that contain it.
    counts = [dict.fromkeys(bits(mask), 1) for mask in leaves]
    masks = list(leaves)
    costs = [0] * len(leaves)
    for a, b in children:
        more, fewer = (a, b) if len(counts[a]) > len(counts[b]) else (b, a)
        inside = counts[more]
        for v, count in counts[fewer].items():
            inside[v] = inside.get(v, 0) + count
        costs.append(sum([core.logarithms[v] for v in inside]))
        inside = {v: count for v, count in inside.items() if count < total[v]}
        counts.append(inside)
        counts[a] = counts[b] = {}
        masks.append(sum([1 << v for v in inside]))
    return masks, costs


def order_of(tree: Tree) -> list[int]:
    """Return the order in which a contraction from the leaves to the root closes the vertices."""
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
            order += bits((masks[a] | masks[b]) & ~masks[node])
        else:
            waiting += [(node, True), (b, False), (a, False)]
    if root < tree.n_leaves:
        order += bits(masks[root])
    return order
