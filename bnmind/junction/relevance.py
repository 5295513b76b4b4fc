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

from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential

__all__ = ["Group", "ancestral_groups", "closures", "maximal", "without_barren"]


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


def closures(
    parents: Mapping[str, Sequence[str]],
    evidence: Iterable[str],
    targets: Sequence[Iterable[str]],
) -> list[frozenset[str]]:
    """Return for each target its variables and those of the evidence, with all ancestors."""
    base = _closure(parents, evidence)
    return [base | _closure(parents, target) for target in targets]


def maximal(sets: Iterable[frozenset[str]]) -> list[frozenset[str]]:
    """Return the sets that lie in no other one, the largest first."""
    kept: list[frozenset[str]] = []
    for names in sorted(set(sets), key=lambda names: (-len(names), sorted(names))):
        if not any(names <= other for other in kept):
            kept.append(names)
    return kept


def ancestral_groups(
    closed: Sequence[frozenset[str]], cost: Mapping[frozenset[str], int]
) -> tuple[Group, ...]:
    """Return the groups that answer targets with these closures.

    Parameters
    ----------
    closed
        As `closures` gives them, one for each target.
    cost
        What it costs to work on each of the maximal ones. A target is answered in the
        cheapest group that holds it.
    """
    order = sorted(cost, key=cost.__getitem__)
    answered: dict[frozenset[str], list[int]] = {}
    for number, names in enumerate(closed):
        group = next(whole for whole in order if names <= whole)
        answered.setdefault(group, []).append(number)
    return tuple(Group(names, tuple(numbers)) for names, numbers in answered.items())


def _closure(parents: Mapping[str, Sequence[str]], names: Iterable[str]) -> frozenset[str]:
    found = set(names)
    waiting = list(found)
    while waiting:
        # A variable without a distribution is known, and so are its ancestors.
        for name in parents.get(waiting.pop(), ()):
            if name not in found:
                found.add(name)
                waiting.append(name)
    return frozenset(found)
