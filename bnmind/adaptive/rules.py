"""Rules that restrict the items to be asked next, whatever their scores.

A rule takes the items asked so far, in order, and the items allowed by the rules before it, and
returns the items that stay allowed. It works on many examinees at once.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import KW_ONLY, dataclass, field
from typing import Annotated, Protocol, TypeAlias

import numpy as np
from annotated_types import MinLen
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked
from bnmind._messages import shown
from bnmind._values import Count, Distinct, Natural, Value
from bnmind.adaptive.beliefs import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import InvalidArgumentError, UnknownNameError

Mask: TypeAlias = NDArray[np.bool_]
"""``(examinees, items)``, whether something holds for an item."""

Asked: TypeAlias = NDArray[np.intp]
"""``(examinees, questions)`` positions of the items asked, in order; `MISSING` after the last."""


class Rule(Protocol):
    """The interface of rules."""

    def restrict(self, bank: ItemBank, asked: Asked, allowed: Mask) -> Mask:
        """Return a mask of the items that stay allowed, ``(examinees, items)``.

        Parameters
        ----------
        bank
            The item bank.
        asked
            ``(examinees, questions)`` positions of the items asked, in order; `MISSING`
            after the last one.
        allowed
            ``(examinees, items)``, a mask of the items allowed so far, without asked items.
        """


def allowed_items(
    bank: ItemBank, rules: Sequence[Rule], asked: ArrayLike, *, available: ArrayLike = True
) -> Mask:
    """Return a mask of the items that may be asked next: not asked, and allowed by all rules.

    Parameters
    ----------
    bank
        The item bank.
    rules
        The rules, in the order of application.
    asked
        ``(examinees, questions)`` positions of the items asked, in order; `MISSING` after
        the last one.
    available
        ``(examinees, items)``, a mask of the items that may be asked at all; default all.
        Rules do not wait for items that are not available.
    """
    sequence = np.asarray(asked, dtype=np.intp)
    allowed: Mask = ~asked_mask(bank, sequence) & np.asarray(available, dtype=bool)
    for rule in rules:
        allowed = rule.restrict(bank, sequence, allowed) & allowed
    return allowed


def checked_asked(bank: ItemBank, asked: Asked, allowed: Mask) -> None:
    """Raise `InvalidArgumentError` unless the arguments of a rule fit its bank."""
    whole = isinstance(asked, np.ndarray) and asked.dtype.kind in "iu" and asked.ndim == 2
    if not whole or np.any((asked < MISSING) | (asked >= len(bank.items))):
        raise InvalidArgumentError(
            "expected asked as an array (examinees, questions) of positions of items, got"
            f" {shown(asked)}",
            asked,
        )
    check_allowed(allowed, (len(asked), len(bank.items)))


def check_allowed(allowed: Mask, shape: tuple[int, ...]) -> None:
    """Raise `InvalidArgumentError` unless ``allowed`` is a mask of a shape."""
    if not (isinstance(allowed, np.ndarray) and allowed.dtype.kind == "b"):
        raise InvalidArgumentError(
            f"expected allowed as an array of True and False, got {shown(allowed)}", allowed
        )
    check_shape(allowed, "allowed", shape)


def item_mask(bank: ItemBank, names: Iterable[str]) -> Mask:
    """Return a mask of some items, ``(items,)``."""
    mask = np.zeros(len(bank.items), dtype=bool)
    mask[[bank.position(name) for name in names]] = True
    return mask


def asked_mask(bank: ItemBank, asked: Asked) -> Mask:
    """Return a mask of the items asked, ``(examinees, items)``."""
    mask = np.zeros((len(asked), len(bank.items)), dtype=bool)
    rows, steps = np.nonzero(asked != MISSING)
    mask[rows, asked[rows, steps]] = True
    return mask


def enemy_pairs(bank: ItemBank, pairs: Sequence[tuple[str, str]] = ()) -> set[tuple[int, int]]:
    """Return the positions of items that exclude each other, by the bank or by further pairs."""
    named = [(item.name, other) for item in bank.items for other in item.enemies]
    places = [sorted((bank.position(a), bank.position(b))) for a, b in (*named, *pairs)]
    return {(first, second) for first, second in places}


def enemies_of(bank: ItemBank, asked: Mask, pairs: Sequence[tuple[str, str]] = ()) -> Mask:
    """Return a mask of the items that exclude those of a mask ``(…, items)``; see `enemy_pairs`."""
    mask = np.zeros_like(asked)
    for first, second in enemy_pairs(bank, pairs):
        mask[..., second] |= asked[..., first]
        mask[..., first] |= asked[..., second]
    return mask


class RuleOnBank(Value, ABC):
    """A base of rules, which checks that the items asked and allowed are those of the bank."""

    @checked
    def restrict(self, bank: ItemBank, asked: Asked, allowed: Mask) -> Mask:
        """Return the items that stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        return self._kept(bank, asked, allowed)

    @abstractmethod
    def _kept(self, bank: ItemBank, asked: Asked, allowed: Mask) -> Mask:
        """Return the items that stay allowed."""


@dataclass(frozen=True)
class Enemies(RuleOnBank):
    """Do not allow an item if one of its enemies was asked; the bank names enemies.

    Parameters
    ----------
    pairs
        Additional pairs of items that must not be asked in the same test.
    """

    pairs: tuple[tuple[str, str], ...] = ()

    def _kept(self, bank: ItemBank, asked: Asked, allowed: Mask) -> Mask:
        return allowed & ~enemies_of(bank, asked_mask(bank, asked), self.pairs)


@dataclass(frozen=True)
class Testlets(RuleOnBank):
    """After an item of a testlet, ask the remaining items of the testlet before any other.

    Put this rule after the rules that exclude items: it continues with the items that these
    allow, and a later rule that excludes them would leave nothing to ask.

    Parameters
    ----------
    in_order
        Whether the items of each testlet are asked in the order of the bank; otherwise the
        selector chooses.
    ordered
        The names of testlets that are asked in the order of the bank in any case.
    """

    __test__ = False  # pytest should not collect it

    in_order: bool = field(default=False, kw_only=True)
    ordered: tuple[str, ...] = ()

    def _kept(self, bank: ItemBank, asked: Asked, allowed: Mask) -> Mask:
        of_item = [item.testlet for item in bank.items]
        if not any(of_item):
            return allowed
        remaining = allowed.copy()
        for name in {*of_item} - {""}:
            if self.in_order or name in self.ordered:
                inside = [place for place, own in enumerate(of_item) if own == name]
                among = allowed[:, inside]
                remaining[:, inside] = among & (np.cumsum(among, axis=1) == 1)
        inside_begun = remaining & begun_testlet(bank, asked)
        continues = inside_begun.any(axis=1, keepdims=True)
        return np.where(continues, inside_begun, remaining)


def begun_testlet(bank: ItemBank, asked: Asked) -> Mask:
    """Return a mask of the items of the testlet of the last item asked, ``(examinees, items)``."""
    of_item = np.array([item.testlet for item in bank.items])
    _, number = np.unique(of_item, return_inverse=True)
    last = np.full(len(asked), MISSING, dtype=np.intp)
    for places in asked.T:
        last = np.where(places == MISSING, last, places)
    same: Mask = (of_item != "") & (number == number[last][:, None])
    same[last == MISSING] = False
    return same


@dataclass(frozen=True)
class Bound(Value):
    """Bounds for the number of items of a group in a test.

    The group are the items with a content code, those that depend on a skill directly, or any
    items; an item that needs several skills counts for each of them.

    Parameters
    ----------
    least, most
        The least and the largest number of items of the group in a test; no largest by default.
    code, skill, items
        One of them: the content code, the name of the skill, or the names of the items.
    name
        What messages call some items.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> Bound(skill="skill_2", least=1).members(bank).tolist()
    [False, True]
    """

    least: Natural = 0
    most: Natural | None = None
    _: KW_ONLY
    code: str | None = None
    skill: str | None = None
    items: tuple[str, ...] | None = None
    name: str = ""

    def _faults(self) -> Iterator[str]:
        if [self.code, self.skill, self.items].count(None) != 2:
            yield "expected a bound for a code, a skill or items, and only for one of them"
        elif self.most is not None and self.least > self.most:
            yield (
                f"{self.label}: the least number of items, {self.least}, is above the largest,"
                f" {self.most}"
            )

    @property
    def label(self) -> str:
        """The group, for messages, such as "skill addition"."""
        if self.items is None:
            return f"content code {self.code}" if self.skill is None else f"skill {self.skill}"
        few = ", ".join(self.items[:3]) + (", …" if len(self.items) > 3 else "")
        return f"items {self.name or few}"

    @checked
    def members(self, bank: ItemBank) -> Mask:
        """Return a mask of the items of the group, ``(items,)``.

        Parameters
        ----------
        bank
            The bank whose items are meant.

        Raises
        ------
        UnknownNameError
            If the bank has no such skill or item, or no item has the code.
        InvalidArgumentError
            If no item has any code.
        """
        if self.items is not None:
            return item_mask(bank, self.items)
        if self.skill is not None:
            if self.skill not in bank.skills:
                raise UnknownNameError("skill", self.skill, bank.skills)
            return bank.q_matrix[:, bank.skills.index(self.skill)]
        codes = [item.content for item in bank.items]
        if self.code not in codes:
            if not any(codes):
                raise InvalidArgumentError("the items of this bank have no content codes")
            raise UnknownNameError("content code", self.code, sorted(set(codes)))
        return np.array([code == self.code for code in codes])


@dataclass(frozen=True)
class ContentOrder(RuleOnBank):
    """Ask the items of one group before those of the next.

    A group ends when other rules allow none of its items: its maximum is reached, or the
    remaining questions are needed for the minima of other groups, see `Blueprint`. Give each
    group but the last a maximum, or the first groups take all questions that they can. Items
    of no group come last. The numbers of the bounds do not matter here.

    Parameters
    ----------
    groups
        The groups, as bounds; the name of an item stands for the group of this item alone.
    """

    groups: Annotated[tuple[Bound | str, ...], MinLen(1), Distinct]

    def _kept(self, bank: ItemBank, asked: Asked, allowed: Mask) -> Mask:
        groups = [one if isinstance(one, Bound) else Bound(items=(one,)) for one in self.groups]
        return _first_open(allowed, [group.members(bank) for group in groups])


def _first_open(allowed: Mask, groups: Sequence[Mask]) -> Mask:
    """Return the allowed items of the first group ``(items,)`` that has one; without, all."""
    remaining = allowed
    for group in reversed(groups):
        inside = allowed & group
        remaining = np.where(inside.any(axis=1, keepdims=True), inside, remaining)
    return remaining


@dataclass(frozen=True)
class StageItems(RuleOnBank):
    """Ask only some items in a stage of the test, as far as other rules allow any of them.

    Parameters
    ----------
    items
        The names of the items.
    first, last
        The numbers of the first and the last question of the stage, from 1.
    """

    items: tuple[str, ...]
    first: Count
    last: Count

    def _faults(self) -> Iterator[str]:
        if self.first > self.last:
            yield f"expected first to be at most last, got {self.first} and {self.last}"

    def _kept(self, bank: ItemBank, asked: Asked, allowed: Mask) -> Mask:
        question = 1 + asked_mask(bank, asked).sum(axis=1)
        now = (question >= self.first) & (question <= self.last)
        return np.where(now[:, None], _first_open(allowed, [item_mask(bank, self.items)]), allowed)
