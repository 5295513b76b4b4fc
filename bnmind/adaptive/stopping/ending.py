"""The end of a test, and the open items before it, in live tests and simulations alike.

Rules restrict the items that may be asked, and a stopper ends the test. They interact in one
case: if a rule still needs items that can be asked, such as the minima of `ContentBalance`, a
satisfied stopper waits, and only these items are open. Limits of length, cost and time do not
wait, unless a rule such as `Blueprint` outweighs them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._values import Value
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import Enemies, Rule, allowed_items, asked_mask
from bnmind.adaptive.stopping.stopper import Reasons, Stopper, limits_of, most_items_of

__all__ = [
    "EVERYTHING_ASKED",
    "NOTHING_LEFT",
    "Ending",
    "RuleOfWholeTest",
    "RuleWithMinima",
    "ending",
    "rules_for_test",
]

NOTHING_LEFT = "no item is left that may be asked"
"""The reason of a test that ends because no item may be asked."""

EVERYTHING_ASKED = "every item was asked"
"""The reason of a test that ends because all items were asked."""


@runtime_checkable
class RuleWithMinima(Protocol):
    """A rule that needs some items in a test; stoppers wait for them."""

    def needed(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return a mask of the allowed items that the rule still needs, ``(examinees, items)``.

        Parameters
        ----------
        bank, asked, allowed
            As for `Rule.restrict`.
        """


@runtime_checkable
class RuleOfWholeTest(RuleWithMinima, Protocol):
    """A rule about the test as a whole, which is checked before the test and outweighs limits."""

    def for_test(
        self, bank: ItemBank, most_items: int | None, enemies: tuple[tuple[str, str], ...]
    ) -> Rule:
        """Return the rule for tests of at most a number of items; raises if no test meets it.

        Parameters
        ----------
        bank
            The item bank.
        most_items
            The number of items after which the test ends in any case; None if it may not.
        enemies
            Pairs of items that other rules do not allow together, beside those of the bank.
        """

    def can_be_met(self, bank: ItemBank, available: NDArray[np.bool_]) -> bool:
        """Return whether some test with the available items ``(items,)`` meets the rule."""

    def outweighs_limits(self) -> bool:
        """Return whether limits of number, cost and time wait for the items that it needs."""


def rules_for_test(
    bank: ItemBank, rules: Sequence[Rule], stopper: Stopper | None
) -> tuple[Rule, ...]:
    """Return rules that know how long the test may be; see `RuleOfWholeTest.for_test`.

    Raises
    ------
    InvalidArgumentError
        If no test can meet a rule.
    """
    most = most_items_of(stopper)
    enemies = tuple(pair for rule in rules if isinstance(rule, Enemies) for pair in rule.pairs)
    return tuple(
        rule.for_test(bank, most, enemies) if isinstance(rule, RuleOfWholeTest) else rule
        for rule in rules
    )


@dataclass(frozen=True, eq=False)
class Ending(Value):
    """The open items of some tests, or the reasons why the tests are over."""

    allowed: NDArray[np.bool_]
    """``(examinees, items)``, a mask of the open items."""
    reasons: Reasons
    """``(examinees,)``, the reason why each test is over; empty if it continues."""


def ending(
    bank: ItemBank,
    rules: Sequence[Rule],
    stopper: Stopper | None,
    asked: NDArray[np.intp],
    *,
    available: ArrayLike,
    reasons_of: Callable[[Stopper, NDArray[np.bool_]], Reasons],
) -> Ending:
    """Return the open items of some tests, or the reasons why the tests are over.

    Parameters
    ----------
    bank
        The item bank.
    rules
        The rules, in the order of application.
    stopper
        The stopper; None to end a test only when no item may be asked.
    asked
        ``(examinees, questions)`` positions of the items asked, in order; `MISSING` after
        the last one.
    available
        ``(examinees, items)``, a mask of the items that may be asked at all.
    reasons_of
        A function of a stopper and a mask of the allowed items that returns the reasons.
    """
    allowed = allowed_items(bank, rules, asked, available=available)
    is_complete = asked_mask(bank, asked).all(axis=1)
    reasons = np.where(
        is_complete, EVERYTHING_ASKED, np.where(allowed.any(axis=1), "", NOTHING_LEFT)
    )
    if stopper is None or not len(asked):
        return Ending(allowed, reasons)
    stops = reasons_of(stopper, allowed)
    if (stops != "").any():
        needed = _needed(bank, rules, asked, available)
        waits = (stops != "") & needed.any(axis=1)
        if waits.any():
            limits = limits_of(stopper)
            limited = np.full(len(asked), "") if limits is None else reasons_of(limits, allowed)
            firm = [r for r in rules if isinstance(r, RuleOfWholeTest) and r.outweighs_limits()]
            if firm and (limited != "").any():
                held = _needed(bank, rules, asked, available, by=firm).any(axis=1)
                limited = np.where(held, "", limited)
            stops = np.where(waits, limited, stops)
            continues = waits & (limited == "")
            allowed = np.where(continues[:, None], needed, allowed)
            reasons = np.where(continues, "", reasons)
    return Ending(allowed, np.where(stops != "", stops, reasons))


def _needed(
    bank: ItemBank,
    rules: Sequence[Rule],
    asked: NDArray[np.intp],
    available: ArrayLike,
    *,
    by: Sequence[Rule] | None = None,
) -> NDArray[np.bool_]:
    """Return a mask of the allowed items that rules, or only those of ``by``, still need."""
    allowed = ~asked_mask(bank, asked) & np.asarray(available)
    waits = np.zeros((len(asked), 1), dtype=bool)
    for rule in rules:
        allowed = rule.restrict(bank, asked, allowed) & allowed
        if isinstance(rule, RuleWithMinima) and (by is None or rule in by):
            needed = rule.needed(bank, asked, allowed) & allowed
            lacks = needed.any(axis=1, keepdims=True)
            allowed = np.where(lacks, needed, allowed)
            waits |= lacks
    result: NDArray[np.bool_] = allowed & waits
    return result
