"""The design of an adaptive test: the bank, and how items are selected, allowed, and enough."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import check_fields, checked
from bnmind._values import CheckedValue
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.selection.entropy import MinimalEntropy
from bnmind.adaptive.selection.luck import generator_of
from bnmind.adaptive.selection.rules import Enemies, Rule, Testlets, allowed_items
from bnmind.adaptive.selection.selector import Selector
from bnmind.adaptive.stopping.ending import ending
from bnmind.adaptive.stopping.stopper import Progress, Reasons, Stopper
from bnmind.errors import InvalidArgumentError

__all__ = ["Design", "Outlook"]


@dataclass(frozen=True)
class Outlook(CheckedValue):
    """How a test goes on, or why it is over."""

    allowed: tuple[str, ...]
    """The items open, in bank order."""
    stop_reason: str
    """Why the test is over, in words; an empty text if it goes on."""


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
        check_fields(self)
        object.__setattr__(self, "rules", tuple(self.rules))
        if not (isinstance(self.seed, int) and self.seed >= 0):
            raise InvalidArgumentError(f"expected a seed of at least 0, got {self.seed}", self.seed)

    @checked
    def allowed(self, asked: Sequence[str], set_aside: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the items that the rules allow to be asked next, in bank order.

        Parameters
        ----------
        asked
            The items asked, in order.
        set_aside
            The items that exposure control withholds.
        """
        available = self._available(set_aside)
        mask = allowed_items(self.bank, self.rules, self._positions(asked), available=available)
        return self._names(mask[0])

    @checked
    def outlook(
        self, belief: SkillBelief, asked: Sequence[str] = (), set_aside: Sequence[str] = ()
    ) -> Outlook:
        """Return which items are open, and why the test is over if it is.

        The items open are those that `allowed` returns, unless the stopper waits for the
        minima of `ContentBalance`: then those that the minima need.

        Parameters
        ----------
        belief
            What is known of the examinee.
        asked, set_aside
            As for `allowed`.
        """

        def told(stopper: Stopper, allowed: NDArray[np.bool_]) -> Reasons:
            return np.array([stopper.stop(Progress(belief, tuple(asked), self._names(allowed[0])))])

        found = ending(
            self.bank,
            self.rules,
            self.stopper,
            self._positions(asked),
            available=self._available(set_aside),
            told=told,
        )
        return Outlook(self._names(found.allowed[0]), str(found.reasons[0]))

    def _positions(self, asked: Sequence[str]) -> NDArray[np.intp]:
        return np.array([[self.bank.position(name) for name in asked]], dtype=np.intp)

    def _available(self, set_aside: Sequence[str]) -> NDArray[np.bool_]:
        withheld = set(set_aside)
        return np.array([[name not in withheld for name in self.bank.item_names]])

    def _names(self, mask: NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(self.bank.item_names[i] for i in np.flatnonzero(mask).tolist())

    @checked
    def rng(self, step: int) -> np.random.Generator:
        """Return the generator for a question, by how many were asked before it.

        It is that of the first examinee in a simulation with the same seed.
        """
        if step < 0:
            raise InvalidArgumentError(f"expected a step of at least 0, got {step}", step)
        return generator_of(self.seed, step)
