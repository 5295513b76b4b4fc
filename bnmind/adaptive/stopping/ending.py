"""Whether a test is over, and which items are open if it is not: live and in simulations alike.

Rules say which items may be asked, the stopper says when it is enough. They meet in one place:
a stopper that is satisfied waits while a rule lacks items, such as the minima of
`ContentBalance`, and while these can still be asked; meanwhile these items alone are open.
Limits of length, cost and time wait for nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._values import Value
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import Rule, allowed_items, asked_mask
from bnmind.adaptive.stopping.stopper import Reasons, Stopper, limits_of

__all__ = ["EVERYTHING_ASKED", "NOTHING_LEFT", "Ending", "RuleWithMinima", "ending"]

NOTHING_LEFT = "no item is left that may be asked"
"""Why a test ends that no stopper ends."""

EVERYTHING_ASKED = "every item was asked"
"""Why a test ends that no stopper ends, if there is no other item."""


@runtime_checkable
class RuleWithMinima(Protocol):
    """A rule that needs some items in a test, for which stoppers wait."""

    def needed(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which of the items allowed the rule still needs, ``(examinees, items)``.

        Parameters
        ----------
        bank, asked, allowed
            As for `Rule.restrict`.
        """


@dataclass(frozen=True, eq=False)
class Ending(Value):
    """How some tests go on, or why they are over."""

    allowed: NDArray[np.bool_]
    """``(examinees, items)``, which items are open."""
    reasons: Reasons
    """``(examinees,)``, why each test is over; an empty text if it goes on."""


def ending(
    bank: ItemBank,
    rules: Sequence[Rule],
    stopper: Stopper | None,
    asked: NDArray[np.intp],
    *,
    available: ArrayLike,
    told: Callable[[Stopper, NDArray[np.bool_]], Reasons],
) -> Ending:
    """Return how some tests go on.

    Parameters
    ----------
    bank
        The item bank.
    rules
        Which items may be asked, each restricting those before it.
    stopper
        Says when a test is over; None for when no item is left.
    asked
        ``(examinees, questions)`` positions of the items asked, in order; `MISSING` after
        the last one.
    available
        ``(examinees, items)``, which items may be asked at all.
    told
        Returns the reasons of a stopper, given which items the rules allow.
    """
    allowed = allowed_items(bank, rules, asked, available=available)
    everything = asked_mask(bank, asked).all(axis=1)
    reasons = np.where(
        everything, EVERYTHING_ASKED, np.where(allowed.any(axis=1), "", NOTHING_LEFT)
    )
    if stopper is None or not len(asked):
        return Ending(allowed, reasons)
    said = told(stopper, allowed)
    if (said != "").any():
        needed = _needed(bank, rules, asked, available)
        waits = (said != "") & needed.any(axis=1)
        if waits.any():
            limits = limits_of(stopper)
            limited = np.full(len(asked), "") if limits is None else told(limits, allowed)
            said = np.where(waits, limited, said)
            goes_on = waits & (limited == "")
            allowed = np.where(goes_on[:, None], needed, allowed)
            reasons = np.where(goes_on, "", reasons)
    return Ending(allowed, np.where(said != "", said, reasons))


def _needed(
    bank: ItemBank, rules: Sequence[Rule], asked: NDArray[np.intp], available: ArrayLike
) -> NDArray[np.bool_]:
    """Return which items would be open if only what rules still need were asked."""
    allowed = ~asked_mask(bank, asked) & np.asarray(available)
    waits = np.zeros((len(asked), 1), dtype=bool)
    for rule in rules:
        allowed = rule.restrict(bank, asked, allowed) & allowed
        if isinstance(rule, RuleWithMinima):
            needed = rule.needed(bank, asked, allowed) & allowed
            lacks = needed.any(axis=1, keepdims=True)
            allowed = np.where(lacks, needed, allowed)
            waits |= lacks
    result: NDArray[np.bool_] = allowed & waits
    return result
