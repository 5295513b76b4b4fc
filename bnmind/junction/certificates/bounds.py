"""Lower bounds of the total size of a graph, with what a claim needs to show them.

`bnmind.junction.certificates.checker` proves that they are bounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from bnmind.junction.graphs.interaction_graph import bits

__all__ = ["Minor", "disjoint_minors", "maximal_cliques", "size_of", "widest_minor"]


@dataclass(frozen=True)
class Minor:
    """A minor of a graph: its vertices are disjoint connected sets of vertices."""

    subsets: tuple[int, ...]
    """The sets, as bit masks."""
    bound: int
    """The smallest closed neighborhood, in cells."""


def size_of(mask: int, sizes: Sequence[int] | Mapping[int, int]) -> int:
    """Return the product of the sizes of some vertices."""
    size = 1
    for v in bits(mask):
        size *= sizes[v]
    return size


def maximal_cliques(near: Mapping[int, int]) -> Iterator[int]:
    """Yield the maximal cliques of a graph given by the neighbors of each vertex."""
    stack = [(0, sum(1 << v for v in near), 0)]
    while stack:
        inside, candidates, used = stack.pop()
        if not candidates:
            if not used and inside:
                yield inside
            continue
        pivot = max(bits(candidates | used), key=lambda v: (near[v] & candidates).bit_count())
        for v in bits(candidates & ~near[pivot]):
            stack.append((inside | 1 << v, candidates & near[v], used & near[v]))
            candidates &= ~(1 << v)
            used |= 1 << v


def widest_minor(near: Mapping[int, int], sizes: Sequence[int]) -> Minor:
    """Return a minor whose smallest closed neighborhood is large, by contracting in turn.

    The vertex with the smallest closed neighborhood is contracted into the neighbor with which it
    shares the fewest neighbors (minor-min-width and contraction degeneracy, with sizes).
    """
    near = dict(near)
    size = {v: sizes[v] for v in near}
    subset = {v: 1 << v for v in near}
    closed = {v: size_of(near[v] | 1 << v, size) for v in near}
    best = Minor((), 0)
    while near:
        v = min(closed, key=lambda u: (closed[u], u))
        if closed[v] > best.bound:
            best = Minor(tuple(subset.values()), closed[v])
        if size_of(sum(1 << u for u in near), size) <= best.bound:
            break
        around = near.pop(v)
        del closed[v]
        if around:
            into = min(bits(around), key=lambda u: (size_of(near[u] & around, size), u))
            near[into] = (near[into] | around) & ~(1 << v) & ~(1 << into)
            size[into] = min(size[into], size[v])
            subset[into] |= subset[v]
            changed = near[into] | 1 << into
        else:
            changed = into = 0
        del subset[v]
        for u in bits(around):
            near[u] &= ~(1 << v)
            if u != into:
                near[u] |= 1 << into
        for u in bits(changed | around):
            closed[u] = size_of(near[u] | 1 << u, size)
    return best


def disjoint_minors(near: Mapping[int, int], sizes: Sequence[int]) -> tuple[Minor, ...]:
    """Return disjoint minors: the widest, then the widest of the vertices that it does not need."""
    minors: list[Minor] = []
    rest = dict(near)
    while rest:
        best = _trimmed(widest_minor(rest, sizes), near, sizes)
        minors.append(best)
        used = sum(best.subsets)
        kept = sum(1 << v for v in rest) & ~used
        rest = {v: rest[v] & kept for v in bits(kept)}
    return tuple(minors)


def _trimmed(minor: Minor, near: Mapping[int, int], sizes: Sequence[int]) -> Minor:
    """Return the minor with as few vertices as a greedy removal leaves, and no smaller bound."""
    subsets = list(minor.subsets)
    for v in sorted((v for subset in subsets for v in bits(subset)), key=lambda v: -v):
        fewer = [subset & ~(1 << v) for subset in subsets]
        fewer = [subset for subset in fewer if subset]
        if (
            fewer
            and all(_is_connected(subset, near) for subset in fewer)
            and _smallest_closed(fewer, near, sizes) >= minor.bound
        ):
            subsets = fewer
    return Minor(tuple(subsets), _smallest_closed(subsets, near, sizes))


def _smallest_closed(subsets: Sequence[int], near: Mapping[int, int], sizes: Sequence[int]) -> int:
    states = [min(sizes[v] for v in bits(subset)) for subset in subsets]
    smallest = 0
    for subset, own in zip(subsets, states, strict=True):
        around = 0
        for v in bits(subset):
            around |= near[v]
        closed = own
        for other, size in zip(subsets, states, strict=True):
            if other != subset and other & around:
                closed *= size
        smallest = closed if not smallest else min(smallest, closed)
    return smallest


def _is_connected(subset: int, near: Mapping[int, int]) -> bool:
    part = frontier = subset & -subset
    while frontier:
        reached = 0
        for v in bits(frontier):
            reached |= near[v]
        frontier = reached & subset & ~part
        part |= frontier
    return part == subset
