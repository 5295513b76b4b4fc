"""Blueprints: bounds on whole tests, as integer programs; and tests chosen by them, shadow tests.

The integer program of the items that complete a test.

=========  ====================================================================
symbol     name here
=========  ====================================================================
c          a class of interchangeable parts: items that belong to the same groups,
           or a testlet, of which all items are asked or none
n_c        ``available``: the parts of class c that can still be asked
y_c        the parts of class c that complete the test
s_c        ``sizes``: the items of a part
V_cg       ``vectors``: the items of a part that belong to group g
need, room the items of each group that the test still needs, and may still hold
R          ``length``: the items that may still be asked
K          ``enemies``: two classes that exclude each other
=========  ====================================================================

    0 ≤ y_c ≤ n_c,  y_c = 1 for a testlet that has begun,
    need ≤ V'y ≤ room,  s'y ≤ R,  Σ_{c in K} y_c ≤ 1

The parts of a bank that matter to the constraints on a test, and the program of a test's rest.

Items that belong to the same groups, have no enemies and are in no testlet are interchangeable:
they are one class. So the program of a large bank is small.

A shadow test:

==========  ====================================================================
symbol      name here
==========  ====================================================================
I_i         the score of item i by ``scored``
x_i         whether item i is in the shadow test; 1 for the items asked
n           ``blueprint.length``
==========  ====================================================================

Before each question a complete test is assembled that holds all items asked, meets all
constraints and has the largest Σ_i I_i x_i. Its best item that was not asked is asked, and the
rest goes back to the bank.

References
----------
W. van der Linden, *Linear Models for Optimal Test Design*, Springer 2005, chapters 3 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked
from bnmind._values import Count, Value
from bnmind.adaptive.beliefs import MISSING, BatchBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.rules import (
    Asked,
    Bound,
    Mask,
    RuleOnBank,
    asked_mask,
    checked_asked,
    enemies_of,
    enemy_pairs,
)
from bnmind.adaptive.scores import ScoringSelector, Selections, Selector, best_of
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

Counts = NDArray[np.intp]

_MISSES = 4
"""Greedy completions that may fail before the integer program is solved."""


@dataclass(frozen=True, eq=False)
class Program(Value):
    """The constraints on the rest of a test; see the head of this module."""

    _: KW_ONLY
    available: Counts
    """``(classes,)``"""
    sizes: Counts
    """``(classes,)``"""
    vectors: Counts
    """``(classes, groups)``"""
    need: Counts
    """``(groups,)``, at least 0."""
    room: Counts
    """``(groups,)``, at least 0."""
    length: int
    begun: Mask
    """``(classes,)``, the testlets to be finished."""
    enemies: Mask
    """``(pairs, classes)``"""


def possible_classes(program: Program) -> Mask | None:
    """Return the classes that some completion of the test holds, ``(classes,)``.

    They are found exactly: by small changes of completions that are known, and for classes
    that these do not reach, by solving the integer program.

    Returns
    -------
    NDArray or None
        None if nothing completes the test.
    """
    parts = _greedy(program)
    if parts is None:
        parts = best_completion(program, -program.sizes.astype(np.float64))
    if parts is None:
        return None
    found = _near(program, parts)
    open_classes = (program.available > 0) & (found | ~_hopeless(program))
    misses = 0
    while misses < _MISSES and (rest := np.flatnonzero(open_classes & ~found)).size > misses:
        parts = _greedy(program, int(rest[misses]))
        if parts is None:
            misses += 1
        else:
            found |= _near(program, parts)
    while (left := open_classes & ~found).any():
        parts = best_completion(program, left.astype(np.float64), at_least_one=left)
        if parts is None:
            break
        found |= _near(program, parts)
    return found & (program.available > 0)


def _hopeless(program: Program) -> Mask:
    """Return classes that no completion holds, by bounds that are quick, ``(classes,)``.

    A class is too much for a group, or leaves too few items for the minima of groups that have
    no item in common.
    """
    vectors = program.vectors
    over = np.asarray((vectors > program.room).any(axis=1), dtype=bool)
    n_groups = len(program.need)
    if not program.need.any():
        return over
    inside = (vectors[program.available > 0] > 0).astype(np.intp)
    is_apart = inside.T @ inside == 0
    by_need = np.argsort(-program.need, kind="stable").tolist()
    apart = np.zeros((n_groups, n_groups), dtype=bool)  # a family of such groups in each row
    for family, is_member in enumerate(apart):
        free = np.ones(n_groups, dtype=bool)
        for group in [family, *by_need]:
            if free[group]:
                is_member[group] = True
                free &= is_apart[group]
    still = np.maximum(program.need - vectors, 0) @ apart.T.astype(np.intp)
    short = still.max(axis=1) > program.length - program.sizes
    return np.asarray(over | short, dtype=bool)


def _greedy(program: Program, first: int | None = None) -> Counts | None:
    """Return a completion by the class that helps most, again and again; None if stuck.

    It holds the class ``first``, if given.
    """
    begun = np.flatnonzero(program.begun).tolist()
    parts = np.zeros(len(program.available), dtype=np.intp)
    for number in begun if first is None or first in begun else [*begun, first]:
        if not _addable(program, parts)[number]:
            return None
        parts[number] += 1
    while True:
        short = np.maximum(program.need - parts @ program.vectors, 0)
        if not short.any():
            return parts
        may = _addable(program, parts)
        helps = np.minimum(program.vectors, short).sum(axis=1)
        worth = np.where(may & (helps > 0), helps / program.sizes, -1.0)
        best = int(np.argmax(worth))
        if worth[best] <= 0:
            return None
        parts[best] += 1


def _addable(program: Program, parts: Counts) -> Mask:
    """Return the classes of which a completion may hold one more part, ``(classes,)``."""
    used = parts @ program.vectors
    may: Mask = (
        (parts < program.available)
        & (used + program.vectors <= program.room).all(axis=1)
        & (parts @ program.sizes + program.sizes <= program.length)
    )
    full = program.enemies @ parts >= 1
    return may & ~program.enemies[full].any(axis=0)


def _near(program: Program, parts: Counts) -> Mask:
    """Return the classes of a completion, and of those that differ by one part."""
    found = (parts > 0) | _addable(program, parts)
    if found[program.available > 0].all():
        return found
    for own in np.flatnonzero((parts > 0) & ~program.begun).tolist():
        fewer = parts.copy()
        fewer[own] -= 1
        counts = fewer @ program.vectors
        meets = (counts + program.vectors >= program.need).all(axis=1)
        found |= _addable(program, fewer) & meets
    return found


def best_completion(
    program: Program, worth: Floats, *, at_least_one: Mask | None = None
) -> Counts | None:
    """Return the parts of largest total worth that complete the test, ``(classes,)``.

    Parameters
    ----------
    program
        The constraints.
    worth
        ``(classes,)``, the worth of a part.
    at_least_one
        ``(classes,)``, classes of which at least one part must be in it.

    Returns
    -------
    NDArray or None
        None if nothing completes the test.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    open_classes = np.flatnonzero(program.available > 0)
    if not len(open_classes):
        more = program.need.any() or program.begun.any() or at_least_one is not None
        return None if more else np.zeros(len(program.available), dtype=np.intp)
    vectors = program.vectors[open_classes].T
    binds = (program.need > 0) | (program.room < vectors @ program.available[open_classes])
    enemies = program.enemies[:, open_classes]
    enemies = enemies[enemies.sum(axis=1) > 1]
    constraints: list[tuple[Any, Any, Any]] = [
        (program.sizes[open_classes][None], -np.inf, program.length),
        (vectors[binds], program.need[binds], program.room[binds]),
        (enemies, -np.inf, 1),
    ]
    if at_least_one is not None:
        constraints.append((at_least_one[open_classes][None], 1, np.inf))
    found = milp(
        -worth[open_classes],
        integrality=np.ones(len(open_classes), dtype=np.intp),
        bounds=Bounds(program.begun[open_classes], program.available[open_classes]),
        constraints=[LinearConstraint(*one) for one in constraints if len(one[0])],
        options={"mip_rel_gap": 0.0},
    )
    if found.x is None:
        return None
    parts = np.zeros(len(program.available), dtype=np.intp)
    parts[open_classes] = np.rint(found.x).astype(np.intp)
    return parts


def shortage(program: Program) -> Counts:
    """Return by how many items each group misses its minimum at best, ``(groups,)``.

    The total is as small as possible; all other constraints are met.
    """
    n_classes, n_groups = program.vectors.shape
    # A missing item is a part of a class of its own: it belongs to a group, and takes no place.
    relaxed = replace(
        program,
        available=np.concatenate([program.available, program.need]),
        sizes=np.pad(program.sizes, (0, n_groups)),
        vectors=np.concatenate([program.vectors, np.eye(n_groups, dtype=np.intp)]),
        room=np.maximum(program.room, program.need),
        begun=np.pad(program.begun, (0, n_groups)),
        enemies=np.pad(program.enemies, ((0, 0), (0, n_groups))),
    )
    worth = np.concatenate([np.zeros(n_classes), -np.ones(n_groups)])
    parts = best_completion(relaxed, worth)
    return program.need.copy() if parts is None else parts[n_classes:]


@dataclass(frozen=True, eq=False)
class Structure(Value):
    """The groups, classes, testlets and enemies of a bank."""

    _: KW_ONLY
    members: Mask
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
    enemies: Mask
    """``(pairs, classes)``, classes that exclude each other."""

    @property
    def n_classes(self) -> int:
        """The number of classes."""
        n: int = self.enemies.shape[1]
        return n

    def in_testlet(self) -> Mask:
        """Return a mask of the items in testlets, ``(items,)``."""
        return self.class_of >= self.n_single

    def begun(self, asked: NDArray[np.intp], open_items: Mask) -> int:
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
        open_items: Mask,
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
            enemies=self.enemies,
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
    pairs = enemy_pairs(bank, enemies)
    hostile = {place for pair in pairs for place in pair}
    kinds: list[object] = [
        item.testlet or (place if place in hostile else members[:, place].tobytes())
        for place, item in enumerate(bank.items)
    ]
    singles = dict.fromkeys(kind for kind in kinds if not isinstance(kind, str))
    number = {kind: n for n, kind in enumerate(dict.fromkeys([*singles, *kinds]))}
    class_of = np.array([number[kind] for kind in kinds], dtype=np.intp)
    vectors = np.zeros((len(singles), len(bounds)), dtype=np.intp)
    alone = class_of < len(singles)
    vectors[class_of[alone]] = members[:, alone].T
    couples = {tuple(sorted(class_of[[a, b]].tolist())) for a, b in pairs}
    rivals = np.array([couple for couple in sorted(couples) if couple[0] != couple[1]])
    excluding = rivals.reshape(-1, 2, 1) == np.arange(len(number))
    return Structure(
        members=members,
        # Larger numbers say no more, and need not fit into an integer of the machine.
        least=np.array([min(bound.least, n_items + 1) for bound in bounds], dtype=np.intp),
        most=np.array(
            [n_items if bound.most is None else min(bound.most, n_items) for bound in bounds],
            dtype=np.intp,
        ),
        class_of=class_of,
        n_single=len(singles),
        vectors=vectors,
        enemies=excluding.any(axis=1),
    )


@dataclass(frozen=True)
class Blueprint(RuleOnBank):
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
        The minima and maxima: a `Bound` each.
    length
        The largest number of items in the test; None without a limit.
    enemies
        Pairs of items that exclude each other, beside those of the bank. A `Design` and
        `simulate` add those of `Enemies`.

    Examples
    --------
    >>> from bnmind.adaptive import Bound, Design, ItemBank, MaximalItems
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 0], [1, 0], [0, 1]], guess=0.2, slip=0.1)
    >>> rules = (Blueprint((Bound(skill="skill_2", least=1),)),)
    >>> design = Design(bank, stopper=MaximalItems(2), rules=rules)
    >>> design.allowed(["item_1"])
    ('item_4',)
    >>> Design(bank, stopper=MaximalItems(2), rules=(Blueprint((Bound(2, skill="skill_2"),)),))
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

    def _kept(self, bank: ItemBank, asked: Asked, allowed: Mask) -> Mask:
        structure = structure_of(bank, self.bounds, self.enemies)
        counts = asked_mask(bank, asked).astype(np.intp) @ structure.members.T.astype(np.intp)
        remaining = allowed.copy()
        for row, open_items in enumerate(allowed):
            sequence = asked[row][asked[row] != MISSING]
            if open_items.any():
                remaining[row] = self._possible(bank, structure, sequence, counts[row], open_items)
        return remaining

    @checked
    def needed(self, bank: ItemBank, asked: NDArray[np.intp], allowed: Mask) -> Mask:
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
    def can_be_met(self, bank: ItemBank, available: Mask) -> bool:
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
        open_items: Mask,
    ) -> Mask:
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
            return open_items & found[structure.class_of]
        # No complete test is left: at least help the groups that are short, within the maxima.
        full = structure.members[counts >= structure.most].any(axis=0)
        short = structure.members[need > 0].any(axis=0)
        within = open_items & ~full
        helps = within & short
        return helps if helps.any() else within


@lru_cache(maxsize=2**16)
def _possible(
    bank: ItemBank, blueprint: Blueprint, key: tuple[bytes, bytes, bytes, int, int]
) -> Mask | None:
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


_DIGITS = 9
"""Digits of the scores relative to the largest one, so that live and simulated tests agree."""

_FILL = 1e-3
"""The worth of an item of score 0, relative to the best."""


@dataclass(frozen=True)
class ShadowTest(Selector):
    """Select the best item of the best complete test that holds all items answered.

    Constraints that will matter later are met at the smallest loss of score, where `Blueprint`
    alone would let a selector run into them. Use the same blueprint as a rule too, so that the
    minima hold if items are skipped, and stoppers wait for them. If no complete test is left,
    the best allowed item is asked.

    Parameters
    ----------
    scored
        The selector that scores the items.
    blueprint
        The constraints, with a length.

    References
    ----------
    W. van der Linden and L. Reese, "A model for optimal constrained adaptive testing", Appl.
    Psychol. Meas. 1998; W. van der Linden, *Linear Models for Optimal Test Design*, Springer
    2005, chapter 9. The program is solved by HiGHS, through ``scipy.optimize.milp``.
    """

    scored: ScoringSelector
    blueprint: Blueprint

    def _faults(self) -> Iterator[str]:
        if self.blueprint.length is None:
            yield "shadow tests need a blueprint with a length"

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Selections:
        """Return for each examinee the best allowed item of the shadow test."""
        bank = beliefs.bank
        answered = beliefs.codes != MISSING
        # The items that can come later: not answered, and no enemies.
        open_items = allowed | ~(answered | enemies_of(bank, answered, self.blueprint.enemies))
        scores = self.scored._open_scores(beliefs, open_items)
        among = allowed.copy()
        for row in np.flatnonzero(allowed.any(axis=1)).tolist():
            # If only some items may be asked now, such as those of a stage, others come later.
            for pool in (allowed[row], open_items[row]):
                inside = self._shadow(bank, answered[row], pool, allowed[row], scores[row])
                if inside is not None:
                    among[row] &= inside
                    break
        found = best_of(np.where(among, scores, -np.inf), among, self.scored.tolerance)
        return found._replace(scores=np.where(allowed, scores, -np.inf))

    def _shadow(
        self,
        bank: ItemBank,
        answered: Mask,
        pool: Mask,
        allowed: Mask,
        scores: Floats,
    ) -> Mask | None:
        """Return the items that complete the test best, with at least one that is allowed.

        Returns
        -------
        NDArray or None
            ``(items,)``; None if items of the pool cannot complete the test.
        """
        structure = structure_of(bank, self.blueprint.bounds, self.blueprint.enemies)
        assert self.blueprint.length is not None  # as the constructor checks
        left = max(self.blueprint.length - int(answered.sum()), 1)
        low, high = scores[pool].min(), scores[pool].max()
        # Scores that differ by rounding alone are equal, so that noise chooses no item.
        span = high - low if high - low > self.scored.tolerance else 1.0
        levels = np.round((scores - low) / span, _DIGITS)
        part_of, n_parts = _parts(structure, pool, levels, left)
        members = np.flatnonzero(part_of != MISSING)
        own = part_of[members]
        # Every item is worth something, so that the shadow test is as long as the test.
        worth = levels[members] + _FILL
        vectors = np.zeros((n_parts, len(structure.members)), dtype=np.intp)
        np.add.at(vectors, own, structure.members[:, members].T.astype(np.intp))
        counts = structure.members[:, answered].sum(axis=1)
        class_of_part = np.zeros(n_parts, dtype=np.intp)
        class_of_part[own] = structure.class_of[members]
        has_allowed = np.zeros(n_parts, dtype=bool)
        has_allowed[own[allowed[members]]] = True
        found = best_completion(
            Program(
                available=np.ones(n_parts, dtype=np.intp),
                sizes=np.bincount(own, minlength=n_parts),
                vectors=vectors,
                need=np.maximum(structure.least - counts, 0),
                room=np.maximum(structure.most - counts, 0),
                length=left,
                begun=np.zeros(n_parts, dtype=bool),
                enemies=structure.enemies[:, class_of_part],
            ),
            np.asarray(np.bincount(own, weights=worth, minlength=n_parts), dtype=np.float64),
            at_least_one=None if has_allowed.all() else has_allowed,
        )
        if found is None or not found.any():
            return None
        inside = np.zeros(len(pool), dtype=bool)
        inside[members] = found[own] > 0
        return inside


def _parts(
    structure: Structure, pool: Mask, scores: Floats, left: int
) -> tuple[NDArray[np.intp], int]:
    """Return the part of each item of the pool, ``(items,)``, and the number of parts.

    A testlet is one part. Of items that are interchangeable but for their scores, only as many
    of the best are parts as may still be asked; others are `MISSING`.
    """
    part_of = np.full(len(pool), MISSING, dtype=np.intp)
    single = np.flatnonzero(pool & ~structure.in_testlet())
    order = single[np.lexsort((single, -scores[single], structure.class_of[single]))]
    classes = structure.class_of[order]
    first = np.searchsorted(classes, classes)
    kept = order[np.arange(len(order)) - first < left]
    part_of[kept] = np.arange(len(kept))
    inside = np.flatnonzero(pool & structure.in_testlet())
    testlets, own = np.unique(structure.class_of[inside], return_inverse=True)
    part_of[inside] = len(kept) + own
    return part_of, len(kept) + len(testlets)
