"""Content balancing: how many items of each code a test has at least and at most."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_fields, checked
from bnmind._messages import listed
from bnmind._values import ReadOnlyDict
from bnmind.adaptive.beliefs.batch_belief import MISSING
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import asked_mask, checked_asked, named_codes
from bnmind.errors import InvalidArgumentError

__all__ = ["ContentBalance"]


@dataclass(frozen=True)
class ContentBalance:
    """Keep the number of items of each content code within bounds.

    A code that has reached its maximum is closed. Codes short of their minima are the
    only ones open as soon as the questions left just suffice for them; without a length,
    from the start. A code of which no item is left to ask closes nothing else: where
    enemies, testlets or exposure control take away what a minimum needs, it is missed.

    The minima hold in tests of variable length too. A stopper such as `SkillsCertain` that
    is satisfied before the minima are met waits until they are, or until no item is left
    that could help to meet them; meanwhile the items that they need are the only ones open.
    `MaximalItems`, `MaximalCost`, `MaximalTime` and a `StopBy` that is a limit do not wait:
    give ``length`` the number of `MaximalItems`, so that the minima are met before. Put the
    rule after `Enemies` and before `Testlets`.

    Parameters
    ----------
    minima, maxima
        The least and most items of content codes; codes that are not named are free.
    length
        The number of items in the test, if it is fixed.

    Raises
    ------
    InvalidArgumentError
        If a bound is negative or a minimum above the maximum, or the minima are more
        than the length; all faults at once.

    References
    ----------
    The two phases of Y. Cheng, H.-H. Chang and Q. Yi, "Two-phase item
    selection procedure for flexible content balancing in CAT", Appl. Psychol. Meas. 2007:
    free choice below the maxima, then what the minima still need.
    """

    minima: Mapping[str, int] = field(default_factory=dict)
    maxima: Mapping[str, int] = field(default_factory=dict)
    length: int | None = None

    def __post_init__(self) -> None:
        check_fields(self)
        problems = [
            f"expected a whole number of at least 0 as {what} of {code}, got {number}"
            for what, bounds in (("minimum", self.minima), ("maximum", self.maxima))
            for code, number in bounds.items()
            if not (number >= 0 and number % 1 == 0)
        ]
        problems += [
            f"expected a minimum of {code} of at most {self.maxima[code]}, got {least}"
            for code, least in self.minima.items()
            if code in self.maxima and least > self.maxima[code]
        ]
        if self.length is not None and self.length < max(1, sum(self.minima.values())):
            problems.append(
                f"expected a length of at least {max(1, sum(self.minima.values()))}, which the"
                f" minima add up to, got {self.length}"
            )
        if problems:
            raise InvalidArgumentError(listed(problems), tuple(problems))
        for name in ("minima", "maxima"):
            object.__setattr__(self, name, ReadOnlyDict(getattr(self, name)))

    def __reduce__(self) -> tuple[object, ...]:
        return (ContentBalance, (dict(self.minima), dict(self.maxima), self.length))

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which items stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        if not (self.minima or self.maxima):
            return allowed
        left, short, missing = self._short(bank, asked, allowed)
        needed = missing.sum(axis=1)
        if self.length is None:
            pressing = needed > 0
        else:
            so_far = (asked != MISSING).sum(axis=1)
            pressing = (needed > 0) & (self.length - so_far <= needed)
        return np.where(pressing[:, None], left & short, left)

    @checked
    def needed(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return which of the items allowed the minima still need, ``(examinees, items)``.

        None for a minimum that no item allowed can help to meet.
        """
        checked_asked(bank, asked, allowed)
        if not self.minima:
            return np.zeros_like(allowed)
        left, short, _ = self._short(bank, asked, allowed)
        return left & short

    def _short(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> tuple[NDArray[np.bool_], NDArray[np.bool_], NDArray[np.intp]]:
        """Return what the maxima leave, which items are of codes short of minima, and how short.

        The last is ``(examinees, codes)``, counting only items that can still be asked.
        """
        codes = sorted({*self.minima, *self.maxima})
        belongs = named_codes(bank, codes)
        counts = asked_mask(bank, asked).astype(np.intp) @ belongs.T.astype(np.intp)
        never = np.iinfo(np.intp).max
        least = np.array([self.minima.get(code, 0) for code in codes], dtype=np.intp)
        most = np.array([self.maxima.get(code, never) for code in codes], dtype=np.intp)
        closed = counts >= most
        left: NDArray[np.bool_] = allowed & ~(closed.astype(np.intp) @ belongs > 0)
        # What cannot be asked any more is not waited for.
        there = left.astype(np.intp) @ belongs.T.astype(np.intp)
        missing = np.minimum(np.maximum(least - counts, 0), there)
        return left, (missing > 0).astype(np.intp) @ belongs > 0, missing
