"""Stoppers by the number of items, their cost, and their time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._values import Count, Value
from bnmind.adaptive.stopping.stopper import (
    BatchProgress,
    Progress,
    Reasons,
    Stopper,
    reasons_where,
)

__all__ = ["TOLERANCE", "MaximalCost", "MaximalItems", "MaximalTime"]

TOLERANCE = 1e-9
"""The relative tolerance of sums of costs and times."""


@dataclass(frozen=True)
class MaximalItems(Value):
    """Stop after a number of items, including skipped ones.

    Within `AllOf` it is the least number of items.

    Parameters
    ----------
    items
        The number, at least 1.
    """

    items: Count

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        return self._reason if len(progress.asked) >= self.items else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        return reasons_where(progress.asked.sum(axis=1) >= self.items, self._reason)

    def limits(self) -> Stopper:
        """Return the stopper itself: it ends a test even if content minima are not met."""
        return self

    def most_items(self) -> int:
        """Return the number of items."""
        return self.items

    @property
    def _reason(self) -> str:
        return f"{self.items} item{'s were' if self.items > 1 else ' was'} asked"


@dataclass(frozen=True)
class MaximalCost(Value):
    """Stop if the total cost of the items asked reaches a limit.

    Parameters
    ----------
    cost
        In the unit of `Item.cost`, above 0.
    """

    cost: Annotated[float, Gt(0)]

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        spent = sum(progress.bank.item(name).cost for name in progress.asked)
        return self._reason if spent >= self.cost * (1 - TOLERANCE) else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        each = np.array([item.cost for item in progress.bank.items])
        return reasons_where(progress.asked @ each >= self.cost * (1 - TOLERANCE), self._reason)

    def limits(self) -> Stopper:
        """Return the stopper itself: it ends a test even if content minima are not met."""
        return self

    @property
    def _reason(self) -> str:
        return f"the items asked have cost {self.cost:g} or more"


@dataclass(frozen=True)
class MaximalTime(Value):
    """Stop if the total time of the items asked reaches a limit.

    It adds the times stated in the bank; there is no clock.

    Parameters
    ----------
    time
        In the unit of `Item.time`, above 0.
    """

    time: Annotated[float, Gt(0)]

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        spent = sum(progress.bank.item(name).time for name in progress.asked)
        return self._reason if spent >= self.time * (1 - TOLERANCE) else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        each = np.array([item.time for item in progress.bank.items])
        return reasons_where(progress.asked @ each >= self.time * (1 - TOLERANCE), self._reason)

    def limits(self) -> Stopper:
        """Return the stopper itself: it ends a test even if content minima are not met."""
        return self

    @property
    def _reason(self) -> str:
        return f"the items asked take {self.time:g} or longer"
