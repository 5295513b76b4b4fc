"""A blueprint of a test: an item may be asked only if the test can still meet all constraints."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_shape, checked
from bnmind._values import Count, Value
from bnmind.adaptive.assembly.bounds import Bound
from bnmind.adaptive.assembly.program import possible_classes, shortage
from bnmind.adaptive.assembly.structure import Structure, structure_of
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import asked_mask, checked_asked
from bnmind.errors import InvalidArgumentError

__all__ = ["Blueprint", "enemies_of"]


@dataclass(frozen=True)
class Blueprint(Value):
    """Allow an item only if some complete test with the items asked so far holds it.

    A complete test meets all minima and maxima, has no two enemies, asks all items of a
    testlet or none, and is not longer than the length. So every test ends with its minima met,
    whichever selector chooses. A stopper that is satisfied earlier waits, limits of number,
    cost and time included. It also waits until a testlet that has begun is finished.

    A `Design` and `simulate` refuse a blueprint that no test can meet, and take the length from
    `MaximalItems` if it is not given. Exposure control and missing recorded answers may still
    withhold items that a minimum needs. Then the items of the groups below their minima are
    allowed first, as far as there are any.

    Put this rule after `Enemies` and before all others.

    Parameters
    ----------
    bounds
        The minima and maxima: `CodeBound`, `SkillBound` and `ItemsBound`.
    length
        The largest number of items in the test; None without a limit.
    enemies
        Pairs of items that exclude each other, beside those of the bank. A `Design` and
        `simulate` add those of `Enemies`.

    Examples
    --------
    >>> from bnmind.adaptive import Design, ItemBank, MaximalItems, SkillBound
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 0], [1, 0], [0, 1]], guess=0.2, slip=0.1)
    >>> rules = (Blueprint((SkillBound("skill_2", least=1),)),)
    >>> design = Design(bank, stopper=MaximalItems(2), rules=rules)
    >>> design.allowed(["item_1"])
    ('item_4',)
    >>> Design(bank, stopper=MaximalItems(2), rules=(Blueprint((SkillBound("skill_2", 2),)),))
    Traceback (most recent call last):
    bnmind.errors.InvalidArgumentError: skill skill_2: 2 items are demanded, the bank has 1

    References
    ----------
    The items that leave a feasible shadow test: W. van der Linden, *Linear Models for Optimal
    Test Design*, Springer 2005, chapter 9.
    """

    bounds: tuple[Bound, ...] = ()
    length: Count | None = None
    enemies: tuple[tuple[str, str], ...] = ()

    @checked
    def for_test(
        self, bank: ItemBank, most_items: int | None, enemies: tuple[tuple[str, str], ...] = ()
    ) -> Blueprint:
        """Return the blueprint with the length of a test, if some test can meet it.

        Parameters
        ----------
        bank
            The item bank.
        most_items
            The number of items after which the test ends in any case; None if it may not.
        enemies
            Further pairs of items that exclude each other.

        Raises
        ------
        InvalidArgumentError
            If no test can meet all constraints. The error lists all reasons.
        UnknownNameError
            If a bound names something that is not in the bank.
        """
        known = [length for length in (self.length, most_items) if length is not None]
        pairs = tuple(dict.fromkeys((*self.enemies, *enemies)))
        fitted = replace(self, length=min(known, default=None), enemies=pairs)
        problems = fitted.faults(bank)
        if problems:
            raise InvalidArgumentError(problems)
        return fitted

    @checked
    def faults(self, bank: ItemBank, asked: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the reasons why no test can meet all constraints; empty if one can.

        Parameters
        ----------
        bank
            The item bank.
        asked
            Items that the test begins with.
        """
        structure = structure_of(bank, self.bounds, self.enemies)
        has = structure.members.sum(axis=1)
        few = [
            f"{bound.label}: {bound.least} items are demanded, the bank has {n}"
            for bound, n in zip(self.bounds, has.tolist(), strict=True)
            if n < bound.least
        ]
        if few:
            return tuple(few)
        sequence = np.array([[bank.position(name) for name in asked]], dtype=np.intp)
        was_asked = asked_mask(bank, sequence)[0]
        counts = structure.members[:, was_asked].sum(axis=1)
        over = [
            f"{bound.label}: the first items are {n}, the largest number is {bound.most}"
            for bound, n in zip(self.bounds, counts.tolist(), strict=True)
            if bound.most is not None and n > bound.most
        ]
        if over:
            return tuple(over)
        open_items = ~was_asked & ~enemies_of(bank, was_asked, self.enemies)
        program = structure.program(
            counts,
            open_items,
            length=self._left(len(asked), bank),
            begun=structure.begun(sequence[0], open_items),
        )
        if possible_classes(program) is not None:
            return ()
        longer = replace(program, length=len(bank.items))
        short = shortage(longer)
        if not short.any() and self.length is not None:
            needs = next(
                n + len(asked)
                for n in range(program.length + 1, len(bank.items) + 1)
                if possible_classes(replace(program, length=n)) is not None
            )
            return (f"the minima need {needs} items together, the test has at most {self.length}",)
        return tuple(
            f"{bound.label}: at least {bound.least} items are demanded, and enemies, testlets and"
            f" the other bounds allow {bound.least - n}"
            for bound, n in zip(self.bounds, short.tolist(), strict=True)
            if n
        )

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the items that stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        structure = structure_of(bank, self.bounds, self.enemies)
        counts = asked_mask(bank, asked).astype(np.intp) @ structure.members.T.astype(np.intp)
        remaining = allowed.copy()
        for row, open_items in enumerate(allowed):
            sequence = asked[row][asked[row] != MISSING]
            if open_items.any():
                remaining[row] = self._possible(bank, structure, sequence, counts[row], open_items)
        return remaining

    @checked
    def needed(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return a mask of the allowed items that the test still needs, ``(examinees, items)``.

        They are those of a testlet that has begun, or else those of groups below their minima.

        Parameters
        ----------
        bank
            The items.
        asked
            ``(examinees, steps)``: the positions of the items asked so far; `MISSING` where
            none.
        allowed
            ``(examinees, items)``: whether each item may be asked next, as truth values.
        """
        checked_asked(bank, asked, allowed)
        structure = structure_of(bank, self.bounds, self.enemies)
        counts = asked_mask(bank, asked).astype(np.intp) @ structure.members.T.astype(np.intp)
        short = counts < structure.least
        needed = allowed & (short.astype(np.intp) @ structure.members > 0)
        for row, open_items in enumerate(allowed):
            begun = structure.begun(asked[row][asked[row] != MISSING], open_items)
            if begun != MISSING:
                needed[row] = open_items & (structure.class_of == begun)
        return needed

    @checked
    def can_be_met(self, bank: ItemBank, available: NDArray[np.bool_]) -> bool:
        """Return whether some test with the available items ``(items,)`` meets all constraints.

        Parameters
        ----------
        bank
            The items.
        available
            ``(items,)``: whether each item is available, as truth values.
        """
        check_shape(available, "available", (len(bank.items),))
        structure = structure_of(bank, self.bounds, self.enemies)
        nothing = np.zeros(len(self.bounds), dtype=np.intp)
        program = structure.program(nothing, available, length=self._left(0, bank))
        return possible_classes(program) is not None

    def _left(self, n_asked: int, bank: ItemBank) -> int:
        most = len(bank.items) if self.length is None else min(self.length, len(bank.items))
        return max(most - n_asked, 0)

    def _possible(
        self,
        bank: ItemBank,
        structure: Structure,
        sequence: NDArray[np.intp],
        counts: NDArray[np.intp],
        open_items: NDArray[np.bool_],
    ) -> NDArray[np.bool_]:
        """Return the open items of one test that some complete test holds, ``(items,)``."""
        left = self._left(len(sequence), bank)
        begun = structure.begun(sequence, open_items)
        need = np.maximum(structure.least - counts, 0)
        of_class = np.bincount(structure.class_of[open_items], minlength=structure.n_classes)
        key = (
            np.minimum(of_class, left + 1)[: structure.n_single].tobytes(),
            open_items[structure.in_testlet()].tobytes(),
        )
        found = _possible(bank, self, (*key, counts.tobytes(), left, begun))
        if found is not None:
            result: NDArray[np.bool_] = open_items & found[structure.class_of]
            return result
        # No complete test is left: at least help the groups that are short, within the maxima.
        full = structure.members[counts >= structure.most].any(axis=0)
        short = structure.members[need > 0].any(axis=0)
        within = open_items & ~full
        helps = within & short
        return helps if helps.any() else within


@lru_cache(maxsize=2**16)
def _possible(
    bank: ItemBank, blueprint: Blueprint, key: tuple[bytes, bytes, bytes, int, int]
) -> NDArray[np.bool_] | None:
    """Return the classes of items that some complete test holds; tests alike share the answer."""
    structure = structure_of(bank, blueprint.bounds, blueprint.enemies)
    of_class, of_testlets, counted, left, begun = key
    open_items = np.zeros(len(bank.items), dtype=bool)
    open_items[structure.in_testlet()] = np.frombuffer(of_testlets, dtype=bool)
    program = structure.program(
        np.frombuffer(counted, dtype=np.intp), open_items, length=left, begun=begun
    )
    available = program.available.copy()
    available[: structure.n_single] = np.frombuffer(of_class, dtype=np.intp)
    found = possible_classes(replace(program, available=available))
    if found is not None:
        found.setflags(write=False)
    return found


def enemies_of(
    bank: ItemBank, asked: NDArray[np.bool_], pairs: Sequence[tuple[str, str]] = ()
) -> NDArray[np.bool_]:
    """Return a mask of the items that exclude those asked, by the bank or by further pairs."""
    names = {bank.item_names[place] for place in np.flatnonzero(asked).tolist()}
    hostile = {other for name in names for other in bank.enemies(name)}
    hostile |= {b for a, b in pairs if a in names} | {a for a, b in pairs if b in names}
    return np.array([name in hostile for name in bank.item_names], dtype=bool)
