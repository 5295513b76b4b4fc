"""Estimates of the cost of all steps after a set of eliminated vertices, and the next steps."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from bnmind.junction.certificates.bounds import (
    Minor,
    disjoint_minors,
    maximal_cliques,
    size_of,
    widest_minor,
)
from bnmind.junction.certificates.checker import Claim
from bnmind.junction.graphs.interaction_graph import InteractionGraph, bits
from bnmind.junction.triangulation.exact.search import remaining

__all__ = ["estimate", "separated", "steps"]


def steps(part: InteractionGraph, eliminated: int) -> dict[int, int]:
    """Return the cost of each vertex of a choice: few vertices enclosed by a clique."""
    cliques, covers = remaining(part, eliminated)
    rest = part.vertices & ~eliminated
    choice = rest
    for v in cliques:
        if all(not cliques[v] & ~cliques[u] for u in bits(cliques[v])):
            choice = 1 << v
            break
    else:
        for cover in covers:
            for side in _components(cliques, rest & ~cover):
                if side.bit_count() < choice.bit_count():
                    choice = side
    return {v: 0 if cliques[v] in covers else part.clique_size(cliques[v]) for v in bits(choice)}


def estimate(part: InteractionGraph, eliminated: int) -> Claim:
    """Return the largest bound by cliques and minors; for the empty set, with more minors."""
    cliques, covers = remaining(part, eliminated)
    near = {v: clique & ~(1 << v) for v, clique in cliques.items()}
    highest = max([size_of(cover, part.sizes) for cover in covers], default=0)
    best = Claim(eliminated, _of_cliques(near, covers, part.sizes))
    if not near:
        return best
    found: tuple[Minor, ...] = (widest_minor(near, part.sizes),)
    if not eliminated:
        found = (*found, *disjoint_minors(near, part.sizes))
    sequences = [found[:1], *(found[1:n] for n in range(2, len(found) + 1))]
    for minors in sequences:
        if minors[-1].bound <= highest:
            break
        used = sum(sum(minor.subsets) for minor in minors)
        left = {v: others & ~used for v, others in near.items() if not used >> v & 1}
        bound = sum(minor.bound for minor in minors) + _of_cliques(left, covers, part.sizes)
        if bound > best.bound:
            best = Claim(eliminated, bound, minors=tuple([minor.subsets for minor in minors]))
    return best


def _of_cliques(near: Mapping[int, int], covers: Collection[int], sizes: Sequence[int]) -> int:
    """Return the sizes of the maximal cliques that lie in no cover, together."""
    return sum(
        size_of(clique, sizes)
        for clique in maximal_cliques(near)
        if all(clique & ~cover for cover in covers)
    )


def separated(part: InteractionGraph, eliminated: int) -> tuple[int, tuple[int, ...]] | None:
    """Return a cover that separates the remaining graph and, for each side, the set without others.

    Of several covers, it is the one whose largest side has the fewest vertices. None without one.
    """
    cliques, covers = remaining(part, eliminated)
    best: tuple[int, int, list[int]] | None = None
    for cover in sorted(covers):
        sides = _components(cliques, part.vertices & ~eliminated & ~cover)
        if len(sides) > 1:
            largest = max(side.bit_count() for side in sides)
            if best is None or largest < best[0]:
                best = largest, cover, sides
    if best is None:
        return None
    _, cover, sides = best
    apart = sum(sides)
    return cover, tuple([eliminated | (apart & ~side) for side in sides])


def _components(cliques: Mapping[int, int], mask: int) -> list[int]:
    found = []
    while mask:
        component = frontier = mask & -mask
        while frontier:
            reached = 0
            for v in bits(frontier):
                reached |= cliques[v]
            frontier = reached & mask & ~component
            component |= frontier
        found.append(component)
        mask &= ~component
    return found
