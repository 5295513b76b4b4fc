"""Layers of an acyclic graph with the smallest total length of the arcs: network simplex.

Gansner, Koutsofios, North & Vo, *A technique for drawing directed graphs*, IEEE
Transactions on Software Engineering 19 (1993), section 2. The cut value of a tree arc is
the sum of (arcs out − arcs in) over the nodes of the subtree below it: arcs inside cancel.

Notation
--------
=============  ==============================================
paper          here
=============  ==============================================
rank λ         layer
δ(v, w) = 1    every arc goes down by at least one layer
slack          the length of an arc minus 1
tight tree     a spanning tree of arcs without slack
=============  ==============================================
"""

from __future__ import annotations

from collections.abc import Sequence
from graphlib import TopologicalSorter

__all__ = ["assign_layers", "longest_path_layers"]

PIVOTS_PER_NODE = 12
"""The largest number of pivots for each node."""


def longest_path_layers(n_nodes: int, arcs: Sequence[tuple[int, int]]) -> list[int]:
    """Return the length of the longest path to each node."""
    parents: list[list[int]] = [[] for _ in range(n_nodes)]
    for tail, head in arcs:
        parents[head].append(tail)
    layers = [0] * n_nodes
    for node in TopologicalSorter(dict(enumerate(parents))).static_order():
        layers[node] = max((layers[parent] + 1 for parent in parents[node]), default=0)
    return layers


def assign_layers(n_nodes: int, arcs: Sequence[tuple[int, int]]) -> list[int]:
    """Return the layer of each node, from 0, with the smallest total length of the arcs.

    Parameters
    ----------
    n_nodes
        The number of nodes; they are ``0, …, n_nodes − 1``.
    arcs
        Pairs (tail, head) of a connected graph without cycles.

    Notes
    -----
    Arcs lead to higher layers. A node that fits into several layers goes to the one with the
    fewest nodes. The number of pivots is limited: if degenerate pivots use it up, the layers are
    valid, but the total length may not be the smallest.

    Examples
    --------
    >>> assign_layers(4, [(0, 1), (1, 2), (3, 2)])
    [0, 1, 2, 1]
    """
    layers = longest_path_layers(n_nodes, arcs)
    if not arcs:
        return layers
    tree = _tight_tree(layers, arcs)
    surplus = [0] * n_nodes
    for tail, head in arcs:
        surplus[tail] += 1
        surplus[head] -= 1
    for _ in range(PIVOTS_PER_NODE * n_nodes):
        if not _pivot(layers, arcs, tree, surplus):
            break
    lowest = min(layers)
    layers = [layer - lowest for layer in layers]
    _balance(layers, arcs, surplus)
    return layers


def _tight_tree(layers: list[int], arcs: Sequence[tuple[int, int]]) -> set[int]:
    """Return the arcs of a spanning tree without slack; change the layers in place to get one."""
    incident = _incident(len(layers), arcs, range(len(arcs)))
    reached, tree, frontier = {0}, set[int](), [0]
    while True:
        while frontier:
            node = frontier.pop()
            for arc in incident[node]:
                tail, head = arcs[arc]
                other = head if tail == node else tail
                if other not in reached and layers[head] - layers[tail] == 1:
                    reached.add(other)
                    tree.add(arc)
                    frontier.append(other)
        if len(reached) == len(layers):
            return tree
        crossing = [
            a for a, (tail, head) in enumerate(arcs) if (tail in reached) != (head in reached)
        ]
        arc = min(crossing, key=lambda a: layers[arcs[a][1]] - layers[arcs[a][0]])
        tail, head = arcs[arc]
        slack = layers[head] - layers[tail] - 1
        for node in reached:
            layers[node] += slack if tail in reached else -slack
        frontier = [tail if tail in reached else head]


def _incident(
    n_nodes: int, arcs: Sequence[tuple[int, int]], chosen: Sequence[int] | set[int]
) -> list[list[int]]:
    """Return the chosen arcs at each node."""
    incident: list[list[int]] = [[] for _ in range(n_nodes)]
    for arc in sorted(chosen):
        for node in arcs[arc]:
            incident[node].append(arc)
    return incident


def _pivot(
    layers: list[int], arcs: Sequence[tuple[int, int]], tree: set[int], surplus: Sequence[int]
) -> bool:
    """Exchange the tree arc of the smallest cut value; return False if none is negative."""
    incident = _incident(len(layers), arcs, tree)
    above: dict[int, int] = {0: -1}
    order = [0]
    for node in order:
        for arc in incident[node]:
            tail, head = arcs[arc]
            other = head if tail == node else tail
            if other not in above:
                above[other] = arc
                order.append(other)
    total = list(surplus)
    worst, leaving, below = 0, -1, -1
    for node in reversed(order[1:]):
        tail, head = arcs[above[node]]
        cut = total[node] if tail == node else -total[node]
        if cut < worst:
            worst, leaving, below = cut, above[node], node
        total[tail if head == node else head] += total[node]
    if leaving < 0:
        return False
    subtree = [below]
    for node in subtree:
        for arc in incident[node]:
            tail, head = arcs[arc]
            if arc != above[node]:
                subtree.append(head if tail == node else tail)
    inside = set(subtree)
    falls = arcs[leaving][1] == below
    # The side of the head moves down until an arc back to the other side has no slack.
    slack, entering = min(
        (layers[head] - layers[tail] - 1, arc)
        for arc, (tail, head) in enumerate(arcs)
        if (tail in inside) == falls and (head in inside) != falls
    )
    for node in subtree:
        layers[node] += slack if falls else -slack
    tree.remove(leaving)
    tree.add(entering)
    return True


def _balance(layers: list[int], arcs: Sequence[tuple[int, int]], surplus: Sequence[int]) -> None:
    """Move nodes with as many parents as children to the emptiest layer between them."""
    parents: list[list[int]] = [[] for _ in layers]
    children: list[list[int]] = [[] for _ in layers]
    for tail, head in arcs:
        parents[head].append(tail)
        children[tail].append(head)
    crowd = [0] * (max(layers) + 1)
    for layer in layers:
        crowd[layer] += 1
    for node, layer in enumerate(layers):
        if surplus[node] == 0 and parents[node]:
            first = max(layers[p] for p in parents[node]) + 1
            last = min(layers[c] for c in children[node]) - 1
            best = min(range(first, last + 1), key=lambda k: (crowd[k] - (k == layer), k != layer))
            crowd[layer] -= 1
            crowd[best] += 1
            layers[node] = best
