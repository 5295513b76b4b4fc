"""The most probable states of all variables of a junction tree, from its cliques' joints.

Maxima instead of sums are sent inward, each divided by the separator's joint, and the
choices are read back on the way out: P = Π P(C) / Π P(S), maximized.

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
    """Return the most probable state of every variable together, and their probability.

    Parameters
    ----------
    tree
        A junction tree.
    joints
        The normalized joint of each of its cliques, an axis for each variable of it; they
        agree on the separators.
    """
    scopes = [clique.variables for clique in tree.cliques]
    outward = _outward(tree)
    tables = [np.array(joint) for joint in joints]
    for inner, outer, separator in reversed(outward):
        scope = scopes[outer]
        gone = tuple(i for i, name in enumerate(scope) if name not in separator)
        share = joints[outer].sum(axis=gone)
        best = tables[outer].max(axis=gone)
        ratio = np.divide(best, share, out=np.zeros(share.shape), where=share > 0)
        there = [name for name in scope if name in separator]
        tables[inner] *= _fitted(ratio, there, scopes[inner])
    states: dict[str, int] = {}
    root = len(scopes) - 1
    for clique in [root, *(outer for _, outer, _ in outward)]:
        known = tuple(states.get(name, slice(None)) for name in scopes[clique])
        free = [name for name in scopes[clique] if name not in states]
        left = tables[clique][known]
        first = int(np.flatnonzero(left >= left.max() * (1 - _TIE))[0])
        found = np.unravel_index(first, left.shape)
        states.update((name, int(i)) for name, i in zip(free, found, strict=True))
    return states, float(tables[root].max())


def _outward(tree: JunctionTree) -> list[tuple[int, int, tuple[str, ...]]]:
    """Return the edges as (inner, outer, separator), those near the last clique first."""
    neighbors: list[list[tuple[int, tuple[str, ...]]]] = [[] for _ in tree.cliques]
    for first, second, separator in tree.edges:
        neighbors[first].append((second, separator))
        neighbors[second].append((first, separator))
    found = []
    waiting = [len(tree.cliques) - 1]
    seen = set(waiting)
    while waiting:
        inner = waiting.pop()
        for outer, separator in neighbors[inner]:
            if outer not in seen:
                seen.add(outer)
                waiting.append(outer)
                found.append((inner, outer, separator))
    return found


def _fitted(values: Floats, names: Sequence[str], scope: Sequence[str]) -> Floats:
    """Return a table over ``names`` with its axes as those of ``scope``, to multiply to it."""
    order = sorted(range(len(names)), key=lambda i: scope.index(names[i]))
    sizes = dict(zip(names, values.shape, strict=True))
    return np.transpose(values, order).reshape([sizes.get(name, 1) for name in scope])
