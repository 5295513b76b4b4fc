"""Rules on which items may be asked next, whatever they are worth.

A rule sees the items asked so far, in their order, and restricts those that the rules
before it allow. It is written for many examinees at once; one is a batch of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_fields, check_shape, checked, number_array, whole_array
from bnmind._messages import shown
from bnmind._values import CheckedValue
from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import InvalidArgumentError, UnknownNameError

__all__ = ["Enemies", "OnlyItems", "Rule", "Testlets", "allowed_items", "asked_mask"]


class Rule(Protocol):
    """Restricts the items that may be asked next."""

    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which of the items allowed so far stay allowed, ``(examinees, items)``.

        Parameters
        ----------
        bank
            The item bank.
        asked
            ``(examinees, questions)`` positions of the items asked, in order; `MISSING`
            after the last one.
        allowed
            ``(examinees, items)``; those asked are not among them.
        """


@checked
def allowed_items(
    bank: ItemBank,
    rules: Sequence[Rule],
    asked: ArrayLike,
    *,
    available: ArrayLike | None = None,
) -> NDArray[np.bool_]:
    """Return which items may be asked next: those not asked, restricted by rule after rule.

    Parameters
    ----------
    bank
        The item bank.
    rules
        The rules, in the order in which they restrict.
    asked
        ``(examinees, questions)`` positions of the items asked, in order; `MISSING` after
        the last one.
    available
        ``(examinees, items)``, which items may be asked at all; all unless given. No rule
        waits for one of the others.
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
    """Raise `InvalidArgumentError` unless what a rule is told fits its bank."""
    whole = isinstance(asked, np.ndarray) and asked.dtype.kind in "iu" and asked.ndim == 2
    if not whole or np.any((asked < MISSING) | (asked >= len(bank.items))):
        raise InvalidArgumentError(
            "expected asked as an array (examinees, questions) of positions of items, got"
            f" {shown(asked)}",
            asked,
        )
    if allowed is not None:
        if not (isinstance(allowed, np.ndarray) and allowed.dtype.kind == "b"):
            raise InvalidArgumentError(
                f"expected allowed as an array of True and False, got {shown(allowed)}", allowed
            )
        check_shape(allowed, "allowed", (len(asked), len(bank.items)))


def asked_mask(bank: ItemBank, asked: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Return which items were asked, ``(examinees, items)``, from their order."""
    mask = np.zeros((len(asked), len(bank.items)), dtype=bool)
    rows, steps = np.nonzero(asked != MISSING)
    mask[rows, asked[rows, steps]] = True
    return mask


@dataclass(frozen=True)
class OnlyItems:
    """Allow some items alone.

    Parameters
    ----------
    items
        Their names.
    """

    items: tuple[str, ...]

    def __post_init__(self) -> None:
        check_fields(self)
        object.__setattr__(self, "items", tuple(self.items))

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which items stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        among = np.zeros(len(bank.items), dtype=bool)
        among[[bank.position(name) for name in self.items]] = True
        return allowed & among


@dataclass(frozen=True)
class Enemies(CheckedValue):
    """Allow no item beside one of its enemies, as the bank names them.

    Parameters
    ----------
    pairs
        Further pairs of items that must not be asked in the same test.
    """

    pairs: tuple[tuple[str, str], ...] = ()

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which items stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        named = [(item.name, other) for item in bank.items for other in item.enemies]
        pairs = [(bank.position(a), bank.position(b)) for a, b in (*named, *self.pairs)]
        if not pairs:
            return allowed
        there = asked_mask(bank, asked)
        left = allowed.copy()
        for first, second in pairs:
            left[:, second] &= ~there[:, first]
            left[:, first] &= ~there[:, second]
        return left


@dataclass(frozen=True)
class Testlets(CheckedValue):
    """Once an item of a testlet is asked, ask what is left of it before anything else.

    To be put after the rules that close items: it goes on with what they leave of the
    testlet, and a rule that closed the rest of it later would leave nothing to ask.

    Parameters
    ----------
    in_order
        Whether its items come in the order of the bank; else the selector chooses.
    """

    __test__ = False  # for pytest, no class of tests

    in_order: bool = False

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which items stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        names = sorted({item.testlet for item in bank.items} - {""})
        if not names:
            return allowed
        number = {name: place for place, name in enumerate(names)}
        of_item = np.array([number.get(item.testlet, MISSING) for item in bank.items])
        left = allowed
        if self.in_order:
            left = allowed.copy()
            for testlet in range(len(names)):
                inside = np.flatnonzero(of_item == testlet)
                among = allowed[:, inside]
                left[:, inside] = among & (np.cumsum(among, axis=1) == 1)
        begun = np.full(len(asked), MISSING, dtype=np.intp)
        for step in range(asked.shape[1]):
            there = asked[:, step] != MISSING
            begun[there] = of_item[asked[there, step]]
        inside_begun = left & (of_item == begun[:, None]) & (begun[:, None] != MISSING)
        going_on = inside_begun.any(axis=1, keepdims=True)
        return np.where(going_on, inside_begun, left)


def named_codes(bank: ItemBank, codes: Sequence[str]) -> NDArray[np.bool_]:
    """Return which items have each content code, ``(codes, items)``.

    Raises
    ------
    UnknownNameError
        If no item has a code.
    """
    of_item = [item.content for item in bank.items]
    for code in codes:
        if code not in of_item:
            raise UnknownNameError("content code", code, sorted(set(of_item)))
    return np.array([[content == code for content in of_item] for code in codes], dtype=bool)
