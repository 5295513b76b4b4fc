"""The design of an adaptive test: the bank, and how items are selected, allowed, and enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive.bank import ItemBank
from bnmind.adaptive.belief import SkillBelief
from bnmind.adaptive.rules import Enemies, Rule, Testlets, allowed_items
from bnmind.adaptive.selector import Selector
from bnmind.adaptive.selector_entropy import MinimalEntropy
from bnmind.adaptive.stopper import Progress, Stopper
from bnmind.errors import InvalidModelError

__all__ = ["NOTHING_LEFT", "Design"]

NOTHING_LEFT = "no item is left that may be asked"
"""Why a test ends that no stopper ends."""


@dataclass(frozen=True, eq=False)
class Design:
    """How a test goes on from what is known.

    Parameters
    ----------
    bank
        The item bank.
    selector
        Selects the next item; minimal expected entropy over all skills unless given.
    stopper
        Says when the test is over; without one it ends when no item is left.
    rules
        Which items may be asked, each restricting those before it; no enemies together
        and testlets without a break unless given.
    seed
        At least 0; makes selectors that draw repeatable. The same state of a test leads
        to the same item.
    """

    bank: ItemBank
    selector: Selector[SkillBelief] = field(default_factory=MinimalEntropy)
    stopper: Stopper | None = None
    rules: tuple[Rule, ...] = field(default_factory=lambda: (Enemies(), Testlets()))
    seed: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "rules", tuple(self.rules))
        if not (isinstance(self.seed, int) and self.seed >= 0):
            raise InvalidModelError([f"expected a seed of at least 0, got {self.seed}"])

    def allowed(self, asked: Sequence[str], set_aside: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the items that may be asked next, in bank order.

        Parameters
        ----------
        asked
            The items asked, in order.
        set_aside
            The items that exposure control withholds.
        """
        positions = np.array([[self.bank.position(name) for name in asked]], dtype=np.intp)
        withheld = set(set_aside)
        names = self.bank.item_names
        available: NDArray[np.bool_] = np.array([[name not in withheld for name in names]])
        mask = allowed_items(self.bank, self.rules, positions, available=available)[0]
        return tuple(names[i] for i in np.flatnonzero(mask).tolist())

    def stop_reason(self, progress: Progress) -> str:
        """Return why the test is over, in words; an empty text if it goes on."""
        if self.stopper is not None and (reason := self.stopper.stop(progress)):
            return reason
        if len(progress.asked) == len(self.bank.items):
            return "every item was asked"
        return "" if progress.allowed else NOTHING_LEFT

    def rng(self, step: int) -> np.random.Generator:
        """Return the generator for a question, by how many were asked before it."""
        return np.random.default_rng([self.seed, step])
