"""The degeneracy of a graph, a quick lower bound of its treewidth.

It is the largest number k such that some subgraph has only vertices of k neighbors or more. Every
junction tree then has a clique of k + 1 variables. Removing a vertex of the fewest neighbors again
and again finds it in linear time.

References
----------
D. W. Matula and L. L. Beck, "Smallest-last ordering and clustering and graph coloring algorithms",
Journal of the ACM 30 (1983).
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence

__all__ = ["degeneracy"]


def degeneracy(scopes: Iterable[Sequence[Hashable]]) -> int:
    """Return the degeneracy of the graph in which the members of each scope are connected.

    >>> degeneracy(["ab", "bc", "ca", "cd"])
    2
    """
    around: dict[Hashable, set[Hashable]] = {}
    for scope in scopes:
        for member in scope:
            around.setdefault(member, set()).update(scope)
    for member, near in around.items():
        near.discard(member)
    buckets: list[set[Hashable]] = [
        set() for _ in range(1 + max(map(len, around.values()), default=0))
    ]
    for member, near in around.items():
        buckets[len(near)].add(member)
    largest = at = 0
    for _ in range(len(around)):
        while not buckets[at]:
            at += 1
        member = buckets[at].pop()
        largest = max(largest, at)
        for other in around[member]:
            buckets[len(around[other])].discard(other)
            around[other].discard(member)
            buckets[len(around[other])].add(other)
        at = max(at - 1, 0)
    return largest
