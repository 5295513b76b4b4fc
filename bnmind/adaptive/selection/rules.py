"""Rules that restrict the items to be asked next, whatever their scores.

A rule takes the items asked so far, in order, and the items allowed by the rules before it, and
returns the items that stay allowed. It works on many examinees at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked, number_array, whole_array
from bnmind._messages import shown
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import InvalidArgumentError, UnknownNameError


class Rule(Protocol):
    """The interface of rules."""

    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
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


@checked
def allowed_items(
    bank: ItemBank,
    rules: Sequence[Rule],
    asked: ArrayLike,
    *,
    available: ArrayLike | None = None,
) -> NDArray[np.bool_]:
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
    sequence = whole_array(asked, "asked")
    checked_asked(bank, sequence)
    allowed = ~asked_mask(bank, sequence)
    if available is not None:
        possible = np.asarray(number_array(available, "available"), dtype=bool)
        check_shape(possible, "available", allowed.shape)
        allowed &= possible
    for rule in rules:
        allowed = rule.restrict(bank, sequence, allowed) & allowed
    return allowed


def checked_asked(
    bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_] | None = None
) -> None:
    """Raise `InvalidArgumentError` unless the arguments of a rule fit its bank."""
    whole = isinstance(asked, np.ndarray) and asked.dtype.kind in "iu" and asked.ndim == 2
    if not whole or np.any((asked < MISSING) | (asked >= len(bank.items))):
        raise InvalidArgumentError(
            "expected asked as an array (examinees, questions) of positions of items, got"
            f" {shown(asked)}",
            asked,
        )
    if allowed is not None:
        check_allowed(allowed, (len(asked), len(bank.items)))


def check_allowed(allowed: NDArray[np.bool_], shape: tuple[int, ...]) -> None:
    """Raise `InvalidArgumentError` unless ``allowed`` is a mask of a shape."""
    if not (isinstance(allowed, np.ndarray) and allowed.dtype.kind == "b"):
        raise InvalidArgumentError(
            f"expected allowed as an array of True and False, got {shown(allowed)}", allowed
        )
    check_shape(allowed, "allowed", shape)


def item_mask(bank: ItemBank, names: Iterable[str]) -> NDArray[np.bool_]:
    """Return a mask of some items, ``(items,)``."""
    mask = np.zeros(len(bank.items), dtype=bool)
    mask[[bank.position(name) for name in names]] = True
    return mask


def asked_mask(bank: ItemBank, asked: NDArray[np.intp]) -> NDArray[np.bool_]:
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


def enemies_of(
    bank: ItemBank, asked: NDArray[np.bool_], pairs: Sequence[tuple[str, str]] = ()
) -> NDArray[np.bool_]:
    """Return a mask of the items that exclude those of a mask ``(…, items)``; see `enemy_pairs`."""
    mask = np.zeros_like(asked)
    for first, second in enemy_pairs(bank, pairs):
        mask[..., second] |= asked[..., first]
        mask[..., first] |= asked[..., second]
    return mask


@dataclass(frozen=True)
class OnlyItems(Value):
    """Allow only some items.

    Parameters
    ----------
    items
        The names of the items.
    """

    items: tuple[str, ...]

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the items that stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        return allowed & item_mask(bank, self.items)


@dataclass(frozen=True)
class Enemies(Value):
    """Do not allow an item if one of its enemies was asked; the bank names enemies.

    Parameters
    ----------
    pairs
        Additional pairs of items that must not be asked in the same test.
    """

    pairs: tuple[tuple[str, str], ...] = ()

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which items stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        return allowed & ~enemies_of(bank, asked_mask(bank, asked), self.pairs)


@dataclass(frozen=True)
class Testlets(Value):
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

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which items stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
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


def begun_testlet(bank: ItemBank, asked: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return a mask of the items of the testlet of the last item asked, ``(examinees, items)``."""
    of_item = np.array([item.testlet for item in bank.items])
    _, number = np.unique(of_item, return_inverse=True)
    last = np.full(len(asked), MISSING, dtype=np.intp)
    for places in asked.T:
        last = np.where(places == MISSING, last, places)
    same: NDArray[np.bool_] = (of_item != "") & (number == number[last][:, None])
    same[last == MISSING] = False
    return same


def named_codes(bank: ItemBank, codes: Sequence[str]) -> NDArray[np.bool_]:
    """Return a mask of the items with each content code, ``(codes, items)``.

    Raises
    ------
    UnknownNameError
        If no item has one of the codes.
    """
    of_item = [item.content for item in bank.items]
    for code in codes:
        if code not in of_item:
            raise UnknownNameError("content code", code, sorted(set(of_item)))
    return np.array([[content == code for content in of_item] for code in codes], dtype=bool)
