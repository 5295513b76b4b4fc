"""The parts of a bank that matter to the constraints on a test, and the program of a test's rest.

Items that belong to the same groups, have no enemies and are in no testlet are interchangeable:
they are one class. So the program of a large bank is small.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.adaptive.assembly.bounds import Bound
from bnmind.adaptive.assembly.program import Counts, Program
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.items.bank import ItemBank

__all__ = ["Structure", "structure_of"]


@dataclass(frozen=True, eq=False)
class Structure(Value):
    """The groups, classes, testlets and enemies of a bank."""

    _: KW_ONLY
    members: NDArray[np.bool_]
    """``(groups, items)``"""
    least: Counts
    """``(groups,)``"""
    most: Counts
    """``(groups,)``; the number of items where there is no limit."""
    class_of: Counts
    """``(items,)``, the class of each item; testlets come after the other classes."""
    n_single: int
    """The number of classes that are not testlets."""
    vectors: Counts
    """``(single classes, groups)``"""
    cliques: NDArray[np.bool_]
    """``(cliques, classes)``, classes that exclude each other."""

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        n: int = self.cliques.shape[1]
        return n

    def in_testlet(self) -> NDArray[np.bool_]:
        """Return a mask of the items in testlets, ``(items,)``."""
        mask: NDArray[np.bool_] = self.class_of >= self.n_single
        return mask

    def begun(self, asked: NDArray[np.intp], open_items: NDArray[np.bool_]) -> int:
        """Return the class of the testlet to be finished; `MISSING` if there is none.

        Parameters
        ----------
        asked
            ``(questions,)`` positions of the items asked, in order.
        open_items
            ``(items,)``, a mask of the items that may be asked.
        """
        if not len(asked):
            return MISSING
        own = int(self.class_of[asked[-1]])
        goes_on = own >= self.n_single and bool((open_items & (self.class_of == own)).any())
        return own if goes_on else MISSING

    def program(
        self,
        counts: Counts,
        open_items: NDArray[np.bool_],
        *,
        length: int,
        begun: int = MISSING,
    ) -> Program:
        """Return the program of the rest of a test.

        Parameters
        ----------
        counts
            ``(groups,)``, the items asked of each group.
        open_items
            ``(items,)``, a mask of the items that may be asked.
        length
            The number of items that may still be asked.
        begun
            The class of the testlet to be finished; `MISSING` if there is none.
        """
        n, single = self.n_classes, self.n_single
        of_class = np.bincount(self.class_of[open_items], minlength=n)
        available = of_class.copy()
        available[single:] = of_class[single:] > 0
        sizes = np.ones(n, dtype=np.intp)
        sizes[single:] = np.maximum(of_class[single:], 1)
        vectors = np.zeros((n, len(self.members)), dtype=np.intp)
        vectors[:single] = self.vectors
        inside = np.flatnonzero(open_items & self.in_testlet())
        np.add.at(vectors, self.class_of[inside], self.members[:, inside].T.astype(np.intp))
        return Program(
            available=available.astype(np.intp),
            sizes=sizes,
            vectors=vectors,
            need=np.maximum(self.least - counts, 0),
            room=np.maximum(self.most - counts, 0),
            length=length,
            begun=np.arange(n) == begun,
            cliques=self.cliques,
        )


@lru_cache(maxsize=64)
def structure_of(
    bank: ItemBank, bounds: tuple[Bound, ...], enemies: tuple[tuple[str, str], ...] = ()
) -> Structure:
    """Return the structure of a bank, given bounds for groups of items, and further enemies.

    Raises
    ------
    UnknownNameError
        If a bound names an item, a skill or a content code that the bank does not have.
    """
    n_items = len(bank.items)
    members = np.array([bound.members(bank) for bound in bounds], dtype=bool)
    members = members.reshape(len(bounds), n_items)
    named = [(item.name, other) for item in bank.items for other in item.enemies]
    pairs = {
        tuple(sorted((bank.position(first), bank.position(second))))
        for first, second in (*named, *enemies)
    }
    hostile = {place for pair in pairs for place in pair}
    classes: dict[object, int] = {}
    class_of = np.empty(n_items, dtype=np.intp)
    testlets: dict[str, list[int]] = {}
    for place, item in enumerate(bank.items):
        if item.testlet:
            testlets.setdefault(item.testlet, []).append(place)
            continue
        kind: object = place if place in hostile else members[:, place].tobytes()
        class_of[place] = classes.setdefault(kind, len(classes))
    n_single = len(classes)
    for number, places in enumerate(testlets.values()):
        class_of[places] = n_single + number
    vectors = np.zeros((n_single, len(bounds)), dtype=np.intp)
    alone = class_of < n_single
    vectors[class_of[alone]] = members[:, alone].T
    n_classes = n_single + len(testlets)
    cliques = [sorted({int(class_of[place]) for place in clique}) for clique in _cliques(pairs)]
    cliques = [clique for clique in cliques if len(clique) > 1]
    excluding = np.zeros((len(cliques), n_classes), dtype=bool)
    for row, clique in enumerate(cliques):
        excluding[row, clique] = True
    return Structure(
        members=members,
        # Larger numbers say no more, and need not fit into an integer of the machine.
        least=np.array([min(bound.least, n_items + 1) for bound in bounds], dtype=np.intp),
        most=np.array(
            [n_items if bound.most is None else min(bound.most, n_items) for bound in bounds],
            dtype=np.intp,
        ),
        class_of=class_of,
        n_single=n_single,
        vectors=vectors,
        cliques=excluding,
    )


def _cliques(pairs: Iterable[Sequence[int]]) -> list[list[int]]:
    """Return sets of items that exclude each other, which cover all pairs of enemies."""
    edges = {(first, second) for first, second in pairs}
    near: dict[int, set[int]] = {}
    for first, second in edges:
        near.setdefault(first, set()).add(second)
        near.setdefault(second, set()).add(first)
    covered: set[tuple[int, int]] = set()
    cliques = []
    for first, second in sorted(edges):
        if (first, second) in covered:
            continue
        clique = [first, second]
        common = near[first] & near[second]
        while common:
            clique.append(min(common))
            common &= near[clique[-1]]
        clique.sort()
        covered |= {(a, b) for a in clique for b in clique if a < b}
        cliques.append(clique)
    return cliques
