"""Selectors that draw: the random numbers that they are given, and the methods they share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, number_array
from bnmind._values import Value
from bnmind.adaptive.beliefs.batch_belief import BatchBelief
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.selection.selector import (
    BatchSelection,
    Selection,
    checked_allowed,
    in_bank_order,
)
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["DrawingSelector", "MissingLuckError", "drawn", "luck_of"]


class MissingLuckError(InvalidArgumentError):
    """A selector that draws was given no random numbers."""


class DrawingSelector(Value, ABC):
    """A selector that needs random numbers, one for each item of the bank.

    A simulation passes them as an array, a live test as a generator, so that both select the
    same items.
    """

    @checked
    def select(
        self,
        belief: SkillBelief,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the item to ask next; ``rng`` is required, see `Selector`."""
        ordered = in_bank_order(belief, items)
        return self._selected(belief, ordered, luck_of(belief, rng))

    @checked
    def select_batch(
        self,
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        *,
        luck: ArrayLike | None = None,
    ) -> BatchSelection:
        """Return the item to ask each examinee next; ``luck`` is required, see `Selector`."""
        checked_allowed(beliefs, allowed)
        return self._selected_batch(beliefs, allowed, drawn(luck, allowed.shape))

    @abstractmethod
    def _selected(self, belief: SkillBelief, ordered: tuple[str, ...], luck: Floats) -> Selection:
        """Select among items in the order of the bank, given luck for all items of the bank."""

    @abstractmethod
    def _selected_batch(
        self, beliefs: BatchBelief, allowed: NDArray[np.bool_], luck: Floats
    ) -> BatchSelection:
        """Select for each examinee, given luck ``(examinees, items)``."""


def luck_of(belief: SkillBelief, rng: np.random.Generator | None) -> Floats:
    """Return a number uniform in [0, 1) for each item of the bank.

    Raises
    ------
    MissingLuckError
        Without a generator.
    """
    n_items = len(belief.bank.items)
    return drawn(None if rng is None else rng.random(n_items), (n_items,))


def drawn(luck: ArrayLike | None, shape: tuple[int, ...]) -> Floats:
    """Return luck as an array of the given shape.

    Raises
    ------
    MissingLuckError
        If there is none.
    InvalidArgumentError
        If its shape is another one.
    """
    expected = f"expected luck of shape {shape} for a selector that draws"
    if luck is None:
        raise MissingLuckError(f"{expected}, got none")
    numbers = number_array(luck, "luck")
    if numbers.shape != shape:
        raise InvalidArgumentError(f"{expected}, got shape {numbers.shape}")
    return numbers
