"""Removal of barren variables, and the division of queries into groups of ancestors.

A variable that is neither evidence nor a target, and has no such descendant, is *barren*: its
distribution sums to one (Shachter, *Evaluating influence diagrams*, 1986). D-separated parts become
disconnected when the tables are reduced to the evidence. If there is little evidence, separate
small networks of the ancestors of a few targets each are often cheaper than one network, in which
all common children connect their parents.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter

from bnmind.pgm.factor import Factor
from bnmind.pgm.network import Potential

__all__ = ["Group", "ancestral_groups", "closure", "closures", "without_barren"]

_SLACK = 2
"""The slack of the limit, for sets that turn out to lie in others only after they are computed."""


def without_barren(potentials: Sequence[Potential], needed: Iterable[str]) -> tuple[Potential, ...]:
    """Return the potentials without those of barren children, which sum to one."""
    children = {p.variable.name: p for p in potentials if not isinstance(p, Factor)}
    if not children:
        return tuple(potentials)
    uses: dict[str, int] = {}
    for potential in potentials:
        for variable in potential.scope:
            uses[variable.name] = uses.get(variable.name, 0) + 1
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
    """A set of variables that contains all their parents, and the targets answered in it."""

    names: frozenset[str]
    targets: tuple[int, ...]
    """Positions in the list of targets."""


def closure(
    parents: Mapping[str, Sequence[str]], names: Iterable[str], base: Iterable[str] = ()
) -> frozenset[str]:
    """Return variables with all their ancestors; a variable without distribution has no parents.

    The result contains ``base``, which must contain its own ancestors.
    """
    closed = set(base)
    waiting = [name for name in names if name not in closed]
    closed.update(waiting)
    while waiting:
        for name in parents.get(waiting.pop(), ()):
            if name not in closed:
                closed.add(name)
                waiting.append(name)
    return frozenset(closed)


def closures(
    parents: Mapping[str, Sequence[str]],
    evidence: Iterable[str],
    targets: Sequence[Sequence[str]],
    *,
    most: float = math.inf,
) -> list[frozenset[str]] | None:
    """Return the sets of a target, the evidence and all their ancestors that lie in no other one.

    Parameters
    ----------
    parents, evidence
        As for `closure`.
    targets
        The variables of each target.
    most
        The limit for the number of variables of all sets together.

    Returns
    -------
    list | None
        The sets, the largest first; None if they have more than ``most`` variables, or if some
        variable is its own ancestor, because omitted distributions then do not sum to one.
    """
    base = closure(parents, evidence)
    hidden = list(dict.fromkeys(frozenset(target) - base for target in targets))
    try:
        place = {name: i for i, name in enumerate(TopologicalSorter(parents).static_order())}
    except CycleError:
        return None
    # Sets of later variables contain those of earlier ones. They come first, so that most others
    # need not be computed.
    hidden.sort(key=lambda names: sorted([place.get(name, -1) for name in names], reverse=True))
    variables = frozenset().union(*hidden)
    walked: list[tuple[frozenset[str], frozenset[str]]] = []
    index = _Index(variables)
    total = 0
    for names in reversed(hidden):
        if index.covers(names):
            continue
        ancestors = closure(parents, names, base)
        total += len(ancestors)
        if total > _SLACK * most:
            return None
        walked.append((names, ancestors))
        index.add(ancestors)
    # Drop sets that lie in larger sets found later.
    walked.sort(key=lambda pair: -len(pair[1]))
    index = _Index(variables)
    for names, ancestors in walked:
        if not index.covers(names):
            index.add(ancestors)
    return index.sets if sum(map(len, index.sets)) <= most else None


class _Index:
    """Sets of variables, indexed by the variables of the targets."""

    def __init__(self, asked: frozenset[str]) -> None:
        self.sets: list[frozenset[str]] = []
        self._holding: dict[str, list[frozenset[str]]] = {name: [] for name in asked}

    def add(self, names: frozenset[str]) -> None:
        self.sets.append(names)
        for name in names:
            if name in self._holding:
                self._holding[name].append(names)

    def covers(self, names: frozenset[str]) -> bool:
        """Return whether some set contains all these variables."""
        if not names:
            return bool(self.sets)
        fewest = min([self._holding[name] for name in names], key=len)
        return any(names <= members for members in fewest)


def ancestral_groups(
    closed: Sequence[frozenset[str]],
    evidence: Iterable[str],
    targets: Sequence[Sequence[str]],
    cost: Sequence[int],
) -> dict[int, Group]:
    """Return the groups that answer the targets, by the positions of their sets.

    Parameters
    ----------
    closed, evidence, targets
        The sets that `closures` returns, and its arguments.
    cost
        The cost of each set. A target is answered in the cheapest set that contains it.
    """
    unanswered: dict[str, dict[int, frozenset[str]]] = {}
    free: list[int] = []
    known = frozenset(evidence)
    for number, target in enumerate(targets):
        names = frozenset(target) - known
        if names:
            unanswered.setdefault(min(names), {})[number] = names
        else:
            free.append(number)
    answered: dict[int, list[int]] = {}
    for whole in sorted(range(len(closed)), key=lambda i: (cost[i], i)):
        answered_here, free = free, []
        for name in closed[whole] & unanswered.keys():
            fitting = [
                number for number, names in unanswered[name].items() if names <= closed[whole]
            ]
            for number in fitting:
                del unanswered[name][number]
            if not unanswered[name]:
                del unanswered[name]
            answered_here += fitting
        if answered_here:
            answered[whole] = sorted(answered_here)
    return {
        whole: Group(closed[whole], tuple(numbers))
        for whole, numbers in sorted(answered.items(), key=lambda item: item[1])
    }
