"""The most probable states of all variables of a junction tree, from its cliques' joints.

Messages are passed inward with maxima instead of sums, each divided by the separator's
joint, and the maximizing states are read off on the way back: max Π P(C) / Π P(S).

References
----------
A. P. Dawid, "Applications of a general propagation algorithm for probabilistic expert
systems", Stat. Comput. 1992.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bnmind.information import Floats
from bnmind.junction import JunctionTree

__all__ = ["most_probable_states"]

_TIE = 1e-12
"""Products closer than this, relative to the largest, count as equal."""


def most_probable_states(
    tree: JunctionTree, joints: Sequence[Floats]
) -> tuple[dict[str, int], float]:
    """Return the most probable joint state of all variables, and its probability.

    Parameters
    ----------
    tree
        A junction tree.
    joints
        The normalized joint of each clique, with an axis for each of its variables; they
        agree on the separators.
    """
    scopes = [clique.variables for clique in tree.cliques]
    outward = _outward(tree)
    tables = [np.array(joint) for joint in joints]
    for inner, outer, separator in reversed(outward):
        scope = scopes[outer]
        summed = tuple(i for i, name in enumerate(scope) if name not in separator)
        share = joints[outer].sum(axis=summed)
        best = tables[outer].max(axis=summed)
        ratio = np.divide(best, share, out=np.zeros(share.shape), where=share > 0)
        shared = [name for name in scope if name in separator]
        tables[inner] *= _fitted(ratio, shared, scopes[inner])
    states: dict[str, int] = {}
    root = len(scopes) - 1
    for clique in [root, *(outer for _, outer, _ in outward)]:
        known = tuple(states.get(name, slice(None)) for name in scopes[clique])
        free = [name for name in scopes[clique] if name not in states]
        remaining = tables[clique][known]
        first = int(np.flatnonzero(remaining >= remaining.max() * (1 - _TIE))[0])
        indices = np.unravel_index(first, remaining.shape)
        states.update((name, int(i)) for name, i in zip(free, indices, strict=True))
    return states, float(tables[root].max())


def _outward(tree: JunctionTree) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return the edges as (inner, outer, separator), those near the last clique first."""
    neighbors: list[list[tuple[int, tuple[str, ...]]]] = [[] for _ in tree.cliques]
    for first, second, separator in tree.edges:
        neighbors[first].append((second, separator))
        neighbors[second].append((first, separator))
    edges = []
    waiting = [len(tree.cliques) - 1]
    seen = set(waiting)
    while waiting:
        inner = waiting.pop()
        for outer, separator in neighbors[inner]:
            if outer not in seen:
                seen.add(outer)
                waiting.append(outer)
                edges.append((inner, outer, separator))
    return edges


def _fitted(values: Floats, names: Sequence[str], scope: Sequence[str]) -> Floats:
    """Return a table over ``names`` that broadcasts over the axes of ``scope``."""
    order = sorted(range(len(names)), key=lambda i: scope.index(names[i]))
    sizes = dict(zip(names, values.shape, strict=True))
    return np.transpose(values, order).reshape([sizes.get(name, 1) for name in scope])
