r"""The item-eligibility method of exposure control.

=============  ==============================================================
symbol         name here
=============  ==============================================================
α_i            ``asked[i]``: examinees who were asked the item
ε_i            ``eligible[i]``: examinees for whom it was eligible
r_max          ``limit``
P(E_i)         min(1, r_max ε_i / α_i): the chance that it is eligible for the
               next examinee; 1 while α_i = 0
=============  ==============================================================

Which items are eligible is drawn before a test; others are not asked in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt, Le
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked, number_array
from bnmind._messages import shown
from bnmind._values import Value, sealed
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["ItemEligibility"]


@dataclass(frozen=True, eq=False)
class ItemEligibility(Value):
    """The item-eligibility method: counts so far, and the eligibility for the next test.

    Created by `start`, then by `after`.

    Parameters
    ----------
    limit
        The largest share of examinees who may be asked an item, in (0, 1].
    eligible, asked
        ``(items,)`` numbers of examinees for whom each item was eligible, and was asked.

    References
    ----------
    W. van der Linden and B. Veldkamp, "Constraining item exposure in computerized adaptive
    testing with shadow tests", J. Educ. Behav. Stat. 2004; "Conditional item-exposure
    control in adaptive testing using item-ineligibility probabilities", 2007.
    """

    limit: Annotated[float, Gt(0), Le(1)]
    eligible: Floats
    asked: Floats

    def _faults(self) -> Iterator[str]:
        if self.eligible.ndim != 1 or self.asked.shape != self.eligible.shape:
            yield "expected a number of examinees for each item as eligible and asked"
        elif not np.all((self.asked >= 0) & (self.asked <= self.eligible)):
            yield "no item can have been asked more often than it was eligible"

    @classmethod
    @checked
    def start(cls, bank: ItemBank, limit: float) -> ItemEligibility:
        """Return the counts before the first examinee: every item is eligible.

        Parameters
        ----------
        bank
            The items.
        limit
            The largest exposure rate of an item, above 0 and at most 1.
        """
        nothing = np.zeros(len(bank.items))
        return cls(limit, nothing, nothing)

    @property
    def probabilities(self) -> Floats:
        """The probability that each item is eligible for the next examinee, ``(items,)``."""
        ratio = np.divide(
            self.limit * self.eligible,
            self.asked,
            out=np.ones_like(self.asked),
            where=self.asked > 0,
        )
        return sealed(np.minimum(ratio, 1.0))

    @checked
    def draw(self, luck: ArrayLike) -> NDArray[np.bool_]:
        """Return a mask of eligible items, given random numbers ``(…, items)`` in [0, 1).

        Parameters
        ----------
        luck
            Random numbers, uniform in [0, 1), with the items on the last axis.

        Raises
        ------
        InvalidArgumentError
            If the numbers have another shape.
        """
        numbers = number_array(luck, "luck")
        if numbers.shape[-1:] != self.asked.shape:
            raise InvalidArgumentError(
                f"expected luck of shape (…, {len(self.asked)}), got shape {numbers.shape}", luck
            )
        eligible: NDArray[np.bool_] = numbers < self.probabilities
        return eligible

    @checked
    def after(self, eligible: NDArray[np.bool_], asked: NDArray[np.bool_]) -> ItemEligibility:
        """Return the counts after one or more examinees.

        Parameters
        ----------
        eligible, asked
            Masks ``(items,)`` or ``(examinees, items)``. An item that was asked although it
            was not eligible, because no other remained, counts as eligible.

        Raises
        ------
        InvalidArgumentError
            If a mask is not one of truth values for all items.
        """
        for what, mask in (("eligible", eligible), ("asked", asked)):
            truth = isinstance(mask, np.ndarray) and mask.dtype.kind == "b"
            if not truth or mask.ndim > 2 or mask.shape[-1:] != self.asked.shape:
                raise InvalidArgumentError(
                    f"expected {what} as an array of True and False for {len(self.asked)} items,"
                    f" got {shown(mask)}",
                    mask,
                )
        check_shape(asked, "asked", eligible.shape)
        was_eligible, was_asked = np.atleast_2d(eligible | asked), np.atleast_2d(asked)
        return ItemEligibility(
            self.limit, self.eligible + was_eligible.sum(axis=0), self.asked + was_asked.sum(axis=0)
        )
