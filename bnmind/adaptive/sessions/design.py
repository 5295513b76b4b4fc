"""The design of an adaptive test: the bank, the selector, the stopper and the rules."""

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
    """The open items of a test, or the reason why it is over."""

    allowed: tuple[str, ...]
    """The open items, in bank order."""
    stop_reason: str
    """The reason why the test is over; an empty text if it continues."""


@dataclass(frozen=True, eq=False)
class Design:
    """The design of an adaptive test.

    Parameters
    ----------
    bank
        The item bank.
    selector
        The selector; default `MinimalEntropy`.
    stopper
        The stopper; without one the test ends when no item may be asked.
    rules
        The rules, in the order of application; default `Enemies` and `Testlets`.
    seed
        At least 0; names the random numbers of selectors that draw. With the same seed,
        the same state of a test leads to the same item. Sessions save the seed.
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
            raise InvalidArgumentError(f"the seed must be at least 0, got {self.seed}", self.seed)

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
        """Return the open items, and the reason to stop if the test is over.

        The open items are those that `allowed` returns. While the stopper waits for the
        minima of `ContentBalance`, they are the items that the minima need.

        Parameters
        ----------
        belief
            The belief about the examinee.
        asked, set_aside
            As for `allowed`.
        """

        def reasons_of(stopper: Stopper, allowed: NDArray[np.bool_]) -> Reasons:
            return np.array([stopper.stop(Progress(belief, tuple(asked), self._names(allowed[0])))])

        outlook = ending(
            self.bank,
            self.rules,
            self.stopper,
            self._positions(asked),
            available=self._available(set_aside),
            reasons_of=reasons_of,
        )
        return Outlook(self._names(outlook.allowed[0]), str(outlook.reasons[0]))

    def _positions(self, asked: Sequence[str]) -> NDArray[np.intp]:
        return np.array([[self.bank.position(name) for name in asked]], dtype=np.intp)

    def _available(self, set_aside: Sequence[str]) -> NDArray[np.bool_]:
        withheld = set(set_aside)
        return np.array([[name not in withheld for name in self.bank.item_names]])

    def _names(self, mask: NDArray[np.bool_]) -> tuple[str, ...]:
        return tuple(self.bank.item_names[i] for i in np.flatnonzero(mask).tolist())

    @checked
    def rng(self, step: int) -> np.random.Generator:
        """Return the generator for a question, given the number of items asked before.

        The first examinee of a simulation with the same seed has the same generators.
        """
        if step < 0:
            raise InvalidArgumentError(f"expected a step of at least 0, got {step}", step)
        return generator_of(self.seed, step)
