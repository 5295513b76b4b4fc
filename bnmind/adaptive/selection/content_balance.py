"""Content balancing: bounds for the number of items of each content code."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Count, Natural, Value
from bnmind.adaptive.beliefs.belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import asked_mask, checked_asked, named_codes

__all__ = ["ContentBalance"]


@dataclass(frozen=True)
class ContentBalance(Value):
    """Keep the number of items of each content code within bounds.

    No item of a code that has reached its maximum is allowed. As soon as the remaining
    questions just suffice to meet the minima, only items of codes below their minima are
    allowed; without a length, from the start. If enemies, testlets or exposure control
    exclude all items that a minimum needs, the minimum is missed, and other items stay
    allowed.

    The minima hold in tests of variable length too. A stopper such as `SkillsCertain` that
    is satisfied before the minima are met waits until they are, or until no remaining item
    could help to meet them. Meanwhile only the items that the minima need are allowed.
    `MaximalItems`, `MaximalCost`, `MaximalTime` and a `StopBy` that is a limit do not wait:
    set ``length`` to the number of `MaximalItems`, so that the minima are met in time. Put
    this rule after `Enemies` and before `Testlets`.

    Parameters
    ----------
    minima, maxima
        The least and largest number of items of content codes; other codes have no bounds.
    length
        The number of items in the test, if it is fixed.

    Raises
    ------
    InvalidArgumentError
        If a bound is negative, a minimum is above its maximum, or the sum of the minima is
        above the length. All faults are reported at once.

    References
    ----------
    Y. Cheng, H.-H. Chang and Q. Yi, "Two-phase item selection procedure for flexible
    content balancing in CAT", Appl. Psychol. Meas. 2007. The two phases are free choice
    below the maxima, then the items that the minima still need.
    """

    minima: Mapping[str, Natural] = field(default_factory=dict)
    maxima: Mapping[str, Natural] = field(default_factory=dict)
    length: Count | None = None

    def _faults(self) -> Iterator[str]:
        for code, least in self.minima.items():
            if least > self.maxima.get(code, least):
                yield f"expected a minimum of {code} of at most {self.maxima[code]}, got {least}"
        if self.length is not None and self.length < (total := sum(self.minima.values())):
            yield f"the length must be at least {total}, the sum of the minima, got {self.length}"

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the items that stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        if not (self.minima or self.maxima):
            return allowed
        remaining, short, missing = self._short(bank, asked, allowed)
        needed = missing.sum(axis=1)
        if self.length is None:
            pressing = needed > 0
        else:
            so_far = (asked != MISSING).sum(axis=1)
            pressing = (needed > 0) & (self.length - so_far <= needed)
        return np.where(pressing[:, None], remaining & short, remaining)

    @checked
    def needed(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return a mask of the allowed items that the minima still need, ``(examinees, items)``.

        A minimum that no allowed item can help to meet adds no items.

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
        if not self.minima:
            return np.zeros_like(allowed)
        remaining, short, _ = self._short(bank, asked, allowed)
        return remaining & short

    def _short(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]:
        """Return masks and counts of the items that bounds allow and need.

        Returns
        -------
        tuple
            A mask of the items that the maxima allow, a mask of the items of codes below their
            minima, and the number of items missing of each code, ``(examinees, codes)``,
            counting only items that can still be asked.
        """
        codes = sorted({*self.minima, *self.maxima})
        belongs = named_codes(bank, codes)
        counts = asked_mask(bank, asked).astype(np.intp) @ belongs.T.astype(np.intp)
        # Larger numbers say no more, and need not fit into an integer of the machine.
        never = len(bank.items) + 1
        least = np.array([min(self.minima.get(code, 0), never) for code in codes], dtype=np.intp)
        most = np.array([min(self.maxima.get(code, never), never) for code in codes], dtype=np.intp)
        closed = counts >= most
        remaining: NDArray[np.bool_] = allowed & ~(closed.astype(np.intp) @ belongs > 0)
        # Items that cannot be asked any more are not waited for.
        n_remaining = remaining.astype(np.intp) @ belongs.T.astype(np.intp)
        missing = np.minimum(np.maximum(least - counts, 0), n_remaining)
        return remaining, (missing > 0).astype(np.intp) @ belongs > 0, missing
