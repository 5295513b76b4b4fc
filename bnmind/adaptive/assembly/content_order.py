"""Ordered content: groups of items that a test goes through one after the other."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import MinLen
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.assembly.bounds import Bound
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.rules import checked_asked

__all__ = ["ContentOrder"]


@dataclass(frozen=True)
class ContentOrder(Value):
    """Ask the items of one group before those of the next.

    A group ends when other rules allow none of its items: its maximum is reached, or the
    remaining questions are needed for the minima of other groups, see `Blueprint`. Give each
    group but the last a maximum, or the first groups take all questions that they can. Items
    of no group come last. The numbers of the bounds do not matter here.

    Parameters
    ----------
    groups
        The groups: `CodeBound`, `SkillBound` or `ItemsBound`.
    """

    groups: Annotated[tuple[Bound, ...], MinLen(1)]

    @checked
    def restrict(
        self, bank: ItemBank, asked: NDArray[np.intp], allowed: NDArray[np.bool_]
    ) -> NDArray[np.bool_]:
        """Return the items that stay allowed; see `Rule.restrict`."""
        checked_asked(bank, asked, allowed)
        remaining = allowed.copy()
        undecided = np.ones(len(asked), dtype=bool)
        for group in self.groups:
            inside = allowed & group.members(bank)
            now = undecided & inside.any(axis=1)
            remaining[now] = inside[now]
            undecided &= ~now
        return remaining
