"""What a query can leave out before anything is triangulated.

A variable that is neither observed nor asked for and has no such descendant is
*barren*: its distribution sums to one (Shachter, *Evaluating influence diagrams*,
1986). What the evidence separates falls apart by itself once the evidence is cut out of
the tables. And where little is observed, a question about each of many variables is
often cheaper asked of several small networks, each the ancestors of a few of them,
than of one in which all common children marry their parents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from bnmind.junction.graph import bits
from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential

__all__ = ["Group", "ancestral_groups", "closure", "closures", "maximal", "without_barren"]


def without_barren(potentials: Sequence[Potential], needed: Iterable[str]) -> tuple[Potential, ...]:
    """Return the potentials without those of barren children, which sum to one."""
    uses: dict[str, int] = {}
    children: dict[str, Potential] = {}
    for potential in potentials:
        for variable in potential.scope:
            uses[variable.name] = uses.get(variable.name, 0) + 1
        if not isinstance(potential, Factor):
            children[potential.variable.name] = potential
    safe = set(needed)
    waiting = [name for name in children if uses[name] == 1 and name not in safe]
    gone = set()
    while waiting:
        barren = waiting.pop()
        gone.add(barren)
        for variable in children[barren].scope[1:]:
            name = variable.name
            uses[name] -= 1
            if uses[name] == 1 and name in children and name not in safe:
                waiting.append(name)
    return tuple(p for p in potentials if isinstance(p, Factor) or p.variable.name not in gone)


@dataclass(frozen=True)
class Group:
    """Some of a network's variables, closed under parents, and the targets answered there."""

    names: frozenset[str]
    targets: tuple[int, ...]
    """Positions in the list of targets."""


def closure(parents: Mapping[str, Sequence[str]], names: Iterable[str]) -> frozenset[str]:
    """Return variables with all their ancestors; who has no distribution has no parents."""
    found = set(names)
    waiting = list(found)
    while waiting:
        for name in parents.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return frozenset(found)


def closures(
    parents: Mapping[str, Sequence[str]],
    evidence: Iterable[str],
    targets: Sequence[Iterable[str]],
) -> tuple[tuple[str, ...], list[int]]:
    """Return for each target its variables and those of the evidence, with all ancestors.

    Returns
    -------
    names, closed
        The variables, and the closures as bit masks of places among them.
    """
    # Ancestors first; what is not in it yet waits for its parents.
    found: dict[str, int] = {}

    def closed(names: Iterable[str]) -> int:
        whole = 0
        waiting = list(names)
        for name in waiting:
            whole |= found.get(name, 0)
        missing = [name for name in waiting if name not in found]
        stack = list(missing)
        while stack:
            name = stack[-1]
            above = parents.get(name, ())
            later = [parent for parent in above if parent not in found]
            if later and name not in found:
                stack += later
                continue
            stack.pop()
            if name not in found:
                mask = 1 << len(found)
                for parent in above:
                    mask |= found[parent]
                found[name] = mask
        for name in missing:
            whole |= found[name]
        return whole

    base = closed(evidence)
    masks = [base | closed(target) for target in targets]
    return tuple(found), masks


def maximal(closed: Iterable[int]) -> list[int]:
    """Return the sets that lie in no other one, the largest first."""
    kept: list[int] = []
    for mask in sorted(set(closed), key=lambda mask: (-mask.bit_count(), mask)):
        for other in kept:
            if not mask & ~other:
                break
        else:
            kept.append(mask)
    return kept


def ancestral_groups(
    names: Sequence[str], closed: Sequence[int], cost: Mapping[int, int]
) -> dict[int, Group]:
    """Return the groups that answer targets with these closures, by their masks.

    Parameters
    ----------
    names, closed
        As `closures` gives them.
    cost
        What it costs to work on each of the maximal ones. A target is answered in the
        cheapest group that holds it.
    """
    order = sorted(cost, key=cost.__getitem__)
    answered: dict[int, list[int]] = {}
    for number, mask in enumerate(closed):
        whole = next(whole for whole in order if not mask & ~whole)
        answered.setdefault(whole, []).append(number)
    return {
        whole: Group(frozenset(names[i] for i in bits(whole)), tuple(numbers))
        for whole, numbers in answered.items()
    }
