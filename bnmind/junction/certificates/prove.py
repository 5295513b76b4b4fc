"""Proofs that a graph has no junction tree of a smaller total size, within a number of claims.

Clique separators divide the graph into atoms. In each, a depth-first search over the sets of
eliminated vertices shows that no order costs less than a known one, or finds the smallest. Where a
cover separates the remaining graph, it searches the sides one by one. If it comes to too many
sets, a best-first search (A*) takes its place: it takes the set with the smallest cost plus bound,
and its bounds when there are too many sets are the claims.

References
----------
P. A. Dow, R. E. Korf, "Best-first search for treewidth", AAAI 2007.
"""

from __future__ import annotations

import heapq
from dataclasses import dataclass

from bnmind._arguments import checked
from bnmind.errors import InvalidArgumentError
from bnmind.junction.certificates.certificate import Certificate
from bnmind.junction.certificates.checker import Atom, Claim
from bnmind.junction.certificates.estimates import estimate, separated, steps
from bnmind.junction.graphs.interaction_graph import InteractionGraph, bits
from bnmind.junction.triangulation.clique_separators import atoms
from bnmind.junction.triangulation.randomized_greedy import RandomizedGreedy

__all__ = ["prove_bound"]

_MOST_VERTICES = 150
"""The most vertices of an atom for a depth-first search."""


@checked
def prove_bound(graph: InteractionGraph, *, max_claims: int = 2_000) -> Certificate:
    """Return a certificate for a lower bound of the total size of all junction trees of a graph.

    Parameters
    ----------
    graph
        The interaction graph.
    max_claims
        The most claims, about, for all atoms together. With enough of them, the bound is the total
        size of the smallest tree. With 1, every atom has the bound of its cliques and minors.

    Raises
    ------
    InvalidArgumentError
        If ``max_claims`` is below 1.

    Examples
    --------
    >>> ring = [("a", "b"), ("b", "c"), ("c", "d"), ("d", "a")]
    >>> graph = InteractionGraph.from_scopes({"a": 2, "b": 3, "c": 2, "d": 5}, ring)
    >>> prove_bound(graph, max_claims=1).check(graph), prove_bound(graph).check(graph)
    (32, 32)
    """
    if max_claims < 1:
        raise InvalidArgumentError(f"max_claims must be at least 1, got {max_claims}", max_claims)
    several = sum(1 << v for v, size in enumerate(graph.sizes) if size > 1)
    core = graph.subgraph(several)
    found = atoms(core)
    proven: dict[int, Atom] = {}
    left = max_claims
    for atom in sorted(set(found), key=lambda mask: (mask.bit_count(), mask)):
        proven[atom] = _prove(core, atom, left)
        left = max(1, left - len(proven[atom].claims))
    return Certificate(
        variables=core.names,
        atoms=tuple([proven[atom] for atom in found]),
        bound=sum(_bound(proven[atom]) for atom in found),
    )


def _bound(atom: Atom) -> int:
    return next(claim.bound for claim in atom.claims if not claim.eliminated)


@dataclass
class _State:
    """A set of eliminated vertices in the search."""

    cost: int
    claim: Claim
    """A bound of the rest, by cliques or minors."""
    steps: dict[int, int] | None = None
    """The cost of each next vertex, once the search has taken the set."""


def _prove(graph: InteractionGraph, atom: int, most: int) -> Atom:
    """Return an atom with at most about this many claims."""
    place = list(bits(atom))
    part = graph.subgraph(atom)
    claims = None
    if part.n <= _MOST_VERTICES and most > 1:
        claims = _Depth(part, most).claims(RandomizedGreedy()(part).total_size)
    if claims is None:
        claims = _best_first(part, most)
    return Atom(atom, tuple([_placed(claim, place) for claim in claims]))


class _TooManySetsError(Exception):
    """A search has come to its limit."""


class _Depth:
    """A depth-first search, whose claims hold at any time."""

    def __init__(self, part: InteractionGraph, most: int) -> None:
        self.part = part
        self.most = most
        self.found: dict[int, Claim] = {}
        self.exact: set[int] = set()

    def claims(self, need: int) -> list[Claim] | None:
        """Return the claims that prove the smallest cost; None with too many sets."""
        try:
            self.bound(0, need)
        except _TooManySetsError:
            return None
        return _needed(self.part, self.found)

    def bound(self, eliminated: int, need: int) -> int:
        """Return a bound of the later cost that is at least ``need``, or the cost itself."""
        claim = self.claim(eliminated)
        if claim.bound >= need or eliminated in self.exact:
            return claim.bound
        sides = separated(self.part, eliminated)
        better = (
            self._chosen(eliminated, need)
            if sides is None
            else self._summed(eliminated, need, *sides)
        )
        if better.bound > claim.bound:
            self.found[eliminated] = better
        if better.bound < need:
            self.exact.add(eliminated)
        return max(claim.bound, better.bound)

    def claim(self, eliminated: int) -> Claim:
        if eliminated not in self.found:
            if len(self.found) >= self.most:
                raise _TooManySetsError
            self.found[eliminated] = estimate(self.part, eliminated)
        return self.found[eliminated]

    def _summed(self, eliminated: int, need: int, cover: int, sides: tuple[int, ...]) -> Claim:
        bounds = {side: self.claim(side).bound for side in sides}
        for side in sides:
            others = sum(bounds.values()) - bounds[side]
            bounds[side] = self.bound(side, need - others)
        return Claim(eliminated, sum(bounds.values()), separator=cover)

    def _chosen(self, eliminated: int, need: int) -> Claim:
        prices = steps(self.part, eliminated)
        if not prices:
            return Claim(eliminated, 0)
        promise = {v: price + self.claim(eliminated | 1 << v).bound for v, price in prices.items()}
        smallest: int | None = None
        for v in sorted(prices, key=lambda v: (promise[v], v)):
            enough = need if smallest is None else min(need, smallest)
            cost = prices[v] + self.bound(eliminated | 1 << v, enough - prices[v])
            smallest = cost if smallest is None else min(smallest, cost)
        assert smallest is not None
        return Claim(eliminated, smallest, choice=sum(1 << v for v in prices))


def _best_first(part: InteractionGraph, most: int) -> list[Claim]:
    """Return the claims of a best-first search."""
    states = {0: _State(0, estimate(part, 0))}
    queue = [(states[0].claim.bound, 0)]
    while queue and len(states) < most:
        promise, eliminated = heapq.heappop(queue)
        state = states[eliminated]
        if state.steps is not None or promise > state.cost + state.claim.bound:
            continue
        if eliminated == part.vertices:
            break
        state.steps = steps(part, eliminated)
        for v, price in state.steps.items():
            following, cost = eliminated | 1 << v, state.cost + price
            known = states.get(following)
            if known is None:
                known = states[following] = _State(cost, estimate(part, following))
            elif known.cost <= cost:
                continue
            else:
                known.cost, known.steps = cost, None
            heapq.heappush(queue, (cost + known.claim.bound, following))
    return _claims(part, states)


def _claims(part: InteractionGraph, states: dict[int, _State]) -> list[Claim]:
    """Return the claims of a best-first search."""
    best: dict[int, Claim] = {}
    for eliminated in sorted(states, key=int.bit_count, reverse=True):
        state = states[eliminated]
        best[eliminated] = state.claim
        if state.steps:
            bound = min(price + best[eliminated | 1 << v].bound for v, price in state.steps.items())
            if bound > state.claim.bound:
                choice = sum(1 << v for v in state.steps)
                best[eliminated] = Claim(eliminated, bound, choice=choice)
    return _needed(part, best)


def _needed(part: InteractionGraph, found: dict[int, Claim]) -> list[Claim]:
    """Return the claims on which that for the empty set depends."""
    needed = {0}
    for eliminated in sorted(found, key=int.bit_count):
        claim = found[eliminated]
        if eliminated not in needed:
            continue
        if claim.separator:
            sides = separated(part, eliminated)
            assert sides is not None  # as it was when the claim was made
            needed.update(sides[1])
        needed |= {eliminated | 1 << v for v in bits(claim.choice)}
    return [found[e] for e in sorted(needed) if e in found and (found[e].bound or not e)]


def _placed(claim: Claim, place: list[int]) -> Claim:
    """Return a claim about vertices of a part as one about those of the graph."""

    def moved(mask: int) -> int:
        return sum(1 << place[v] for v in bits(mask))

    return Claim(
        moved(claim.eliminated),
        claim.bound,
        moved(claim.choice),
        tuple([tuple(map(moved, subsets)) for subsets in claim.minors]),
        moved(claim.separator),
    )
