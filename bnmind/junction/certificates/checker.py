r"""The checker of certificates. It shares no code with the searches that make them.

A certificate claims that no junction tree of a graph has a smaller total size than its bound. Sets
of vertices are bit masks, and the size w(K) of a set is the product of its numbers of states, all
of which are at least two. T(G) is the smallest total size of a triangulation of G.

**Lemma.** If G is a graph on the vertices U, the sizes of its maximal cliques sum up to w(U) at
most.

*Proof.* Let f(G) be this sum divided by w(U). If two vertices are not neighbors, let v be one of
them. A maximal clique without v is a maximal clique of G − v, so these contribute at most
f(G − v) / s_v. A maximal clique with v is a maximal clique of the neighbors of v, with v added.
These contribute at most f(G[N(v)]), divided by the sizes of the vertices that are no neighbors of
v; there is one, with two states or more. By induction, f(G) ≤ 1/2 + 1/2. If all vertices are
neighbors of each other, f(G) = 1. ∎

So a triangulation with fewer edges has no larger total size, and a smallest one is a minimal one.
Minimal triangulations never join vertices that a clique separates.

**Atoms.** Let a clique C separate G into the sides A and B, each with a component whose
neighborhood is C. Then T(G) = T(A + C) + T(B + C): a minimal triangulation consists of those of the
sides, and C is a maximal clique of neither.

**Claims.** Within an atom, eliminating v makes v and its remaining neighbors a clique. It is a
maximal clique of the triangulation unless it is the neighborhood of a component of the eliminated
set X (a *cover*), because the last vertex that was eliminated there was a neighbor of all of it. So
the cost of a step depends only on X and v, and a claim says that all steps after X together cost
at least b:

* by a *choice* R, if the neighborhood of R in the remaining graph is a clique, and for each v in R
  the step costs at least b minus the claim for X + v. A minimal triangulation has an order that
  eliminates R first. R may be all vertices, or a vertex whose neighbors form a clique;
* by a *separator*, a cover C. The remaining graph without C has the components R_1, R_2, …, at
  least two, and b is at most the sum of the claims for X with all components but one. No clique of
  a minimal triangulation has vertices of two components, and one within C is not maximal or is C,
  which costs nothing. The neighborhoods of the eliminated components lie in C, so they add no
  edges, and C remains a cover;
* by *parts*, disjoint sets of the remaining vertices. The bound is a sum over the parts:

  * a *minor* arises from connected subsets of its part, each contracted to a vertex with the fewest
    states of the subset. It counts with its smallest closed neighborhood W if W is larger than
    every cover. Contraction and deletion turn the cliques of a junction tree into sets that are no
    larger and form a junction tree of the minor. Of these, one contains a closed neighborhood, that
    of the vertex that is eliminated first. So there is a maximal clique K of the triangulation of
    which at least W cells lie in this part, and K is not a cover;
  * the vertices in no minor are the last part. It counts with the sizes of the maximal cliques of
    the remaining graph on them, except those that lie in a cover. Each lies in a maximal clique K
    of the triangulation. If K were a cover, it would be a clique already, and the maximal clique
    would be its part here, in a cover. By the lemma, the maximal cliques in K have at most w(L)
    cells together, where L are the vertices of K in this part.

  If several parts have the same K, w(K) is at least the product of their numbers, each at least
  two, and such a product is at least the sum.

Claims never refer to each other in a circle, so they hold by induction, from the largest sets to
the empty one: a choice refers to sets with one more vertex, a separator to sets with all components
but one more, of which there is at least one, and parts refer to no other claim.

References
----------
V. Gogate, R. Dechter, *A complete anytime algorithm for treewidth*, UAI 2004 (minor-min-width);
H. L. Bodlaender, A. M. C. A. Koster, *Treewidth computations II: lower bounds*, Information and
Computation 209 (2011); P. A. Dow, R. E. Korf, *Best-first search for treewidth*, AAAI 2007.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import NamedTuple

from bnmind.errors import CertificateError

__all__ = ["Atom", "Claim", "checked_bound"]


class Claim(NamedTuple):
    """All steps after a set of eliminated vertices together cost at least this much."""

    eliminated: int
    """The eliminated vertices, as bits."""
    bound: int
    """The lower bound of their cost, in table cells."""
    choice: int = 0
    """The vertices of which one may be eliminated next. If 0, the claim is by parts."""
    minors: tuple[tuple[int, ...], ...] = ()
    """The connected subsets of each minor, for a claim by parts."""
    separator: int = 0
    """A cover; if not 0, the claim is the sum of those for the components that it separates."""


class Atom(NamedTuple):
    """A part of the graph, with claims about it; that for the empty set is its bound."""

    vertices: int
    """The vertices of the part, as bits."""
    claims: tuple[Claim, ...]
    """The claims, each about some eliminated vertices."""


class _Graph(NamedTuple):
    """A graph on some of the vertices."""

    sizes: Sequence[int]
    near: Mapping[int, int]

    def size(self, mask: int) -> int:
        return prod(self.sizes[v] for v in _members(mask))

    def around(self, mask: int) -> int:
        """Return the vertices outside a set that have a neighbor in it."""
        found = 0
        for v in _members(mask):
            found |= self.near[v]
        return found & ~mask

    def is_clique(self, mask: int) -> bool:
        return all(not mask & ~self.near[v] & ~(1 << v) for v in _members(mask))

    def components(self, mask: int) -> Iterator[int]:
        while mask:
            part = mask & -mask
            while more := self.around(part) & mask:
                part |= more
            yield part
            mask &= ~part

    def within(self, mask: int) -> _Graph:
        return _Graph(self.sizes, {v: self.near[v] & mask for v in _members(mask)})

    def after(self, eliminated: int) -> tuple[_Graph, set[int]]:
        """Return the remaining graph and the covers."""
        rest = self.within(sum(1 << v for v in self.near) & ~eliminated)
        near = dict(rest.near)
        covers = {self.around(part) for part in self.components(eliminated)}
        for cover in covers:
            for v in _members(cover):
                near[v] |= cover & ~(1 << v)
        return _Graph(self.sizes, near), covers

    def maximal_cliques(self, inside: int, candidates: int, used: int) -> Iterator[int]:
        """Yield the maximal cliques (Bron and Kerbosch, with a pivot)."""
        if not candidates:
            if not used:
                yield inside
            return
        pivot = max(
            _members(candidates | used),
            key=lambda v: (self.near[v] & candidates).bit_count(),
        )
        for v in _members(candidates & ~self.near[pivot]):
            near = self.near[v]
            yield from self.maximal_cliques(inside | 1 << v, candidates & near, used & near)
            candidates &= ~(1 << v)
            used |= 1 << v


def checked_bound(sizes: Sequence[int], neighbors: Sequence[int], atoms: Sequence[Atom]) -> int:
    """Return the bound that the claims prove for a graph whose vertices have two states or more.

    Parameters
    ----------
    sizes, neighbors
        The number of states and the neighbors of each vertex.
    atoms
        The atoms in the order in which clique separators cut them off.

    Raises
    ------
    CertificateError
        If anything is wrong; the message names the first fault.
    """
    graph = _Graph(sizes, dict(enumerate(neighbors)))
    if sizes and min(sizes) < 2:
        raise CertificateError("expected at least two states for every vertex")
    rest, total = (1 << len(sizes)) - 1, 0
    for number, (atom, claims) in enumerate(atoms, start=1):
        if atom & ~rest or not atom:
            raise CertificateError(f"atom {number} is empty, or not in what the others leave")
        beyond = rest & ~atom
        separator = graph.around(beyond) & atom
        sides = (atom & ~separator, beyond)
        if beyond and not (
            graph.is_clique(separator)
            and all(_has_full_component(graph, side, separator) for side in sides)
        ):
            raise CertificateError(f"no clique separates atom {number} from the rest")
        rest = beyond | separator if beyond else 0
        total += _bound_of(graph.within(atom), claims, f"atom {number}")
    if rest:
        raise CertificateError("the atoms do not cover the graph")
    return total


def _has_full_component(graph: _Graph, side: int, separator: int) -> bool:
    return any(separator & ~graph.around(part) == 0 for part in graph.components(side))


def _bound_of(graph: _Graph, claims: Sequence[Claim], where: str) -> int:
    """Return the claim for the empty set, after checking all claims of an atom."""
    vertices = sum(1 << v for v in graph.near)
    known = {claim.eliminated: claim.bound for claim in claims}
    if len(known) < len(claims) or 0 not in known:
        raise CertificateError(
            f"{where}: expected one claim for each set, and one for the empty set"
        )
    for claim in claims:
        here = f"{where}, claim after {claim.eliminated:#x}"
        if claim.eliminated & ~vertices:
            raise CertificateError(f"{here}: the set has vertices of other atoms")
        rest, covers = graph.after(claim.eliminated)
        if claim.separator:
            proven = _by_separator(rest, covers, claim, known, here)
        elif claim.choice:
            proven = _by_choice(rest, covers, claim, known, here)
        else:
            proven = _by_parts(rest, covers, claim.minors, here)
        if proven < claim.bound:
            raise CertificateError(f"{here}: {claim.bound:,} is claimed, {proven:,} follows")
    return known[0]


def _by_choice(
    rest: _Graph, covers: set[int], claim: Claim, known: Mapping[int, int], here: str
) -> int:
    remaining = sum(1 << v for v in rest.near)
    if claim.choice & ~remaining or not rest.is_clique(rest.around(claim.choice)):
        raise CertificateError(f"{here}: the choice is not enclosed by a clique")
    costs = []
    for v in _members(claim.choice):
        clique = rest.near[v] | 1 << v
        later = known.get(claim.eliminated | 1 << v, 0)
        costs.append(later + (0 if clique in covers else rest.size(clique)))
    return min(costs)


def _by_separator(
    rest: _Graph, covers: set[int], claim: Claim, known: Mapping[int, int], here: str
) -> int:
    if claim.separator not in covers:
        raise CertificateError(f"{here}: the separator is no cover")
    apart = sum(1 << v for v in rest.near) & ~claim.separator
    sides = list(rest.components(apart))
    if len(sides) < 2:
        raise CertificateError(f"{here}: the separator leaves fewer than two components")
    return sum(known.get(claim.eliminated | (apart & ~side), 0) for side in sides)


def _by_parts(rest: _Graph, covers: set[int], minors: Sequence[Sequence[int]], here: str) -> int:
    free, total = sum(1 << v for v in rest.near), 0
    for subsets in minors:
        for subset in subsets:
            if not subset or subset & ~free or len(list(rest.components(subset))) != 1:
                raise CertificateError(f"{here}: a subset of a minor is not connected or not free")
            free &= ~subset
        states = [min(rest.sizes[v] for v in _members(subset)) for subset in subsets]
        closed = [
            own * prod(s for s, other in zip(states, subsets, strict=True) if other & near)
            for own, near in zip(states, map(rest.around, subsets), strict=True)
        ]
        least = min(closed, default=0)
        if all(rest.size(cover) < least for cover in covers):
            total += least
    for clique in rest.within(free).maximal_cliques(0, free, 0):
        if clique and all(clique & ~cover for cover in covers):
            total += rest.size(clique)
    return total


def _members(mask: int) -> Iterator[int]:
    while mask:
        low = mask & -mask
        yield low.bit_length() - 1
        mask ^= low
