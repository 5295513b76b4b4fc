"""What a selector is: it says which item to ask next, and what each item was worth to it.

A selector works alone, on a belief and a list of items, and on the beliefs about many
examinees at once. It keeps nothing: the same belief, items and luck give the same choice.
Those that score items derive from `ScoringSelector`; larger scores are better, and equal
ones, within a stated tolerance, go to the first item in the order of the bank.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked
from bnmind._messages import shown
from bnmind._values import CheckedValue
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchBelief
from bnmind.errors import InvalidArgumentError, NothingToAskError
from bnmind.information import Floats, tied_best

__all__ = [
    "BatchSelection",
    "QuestionBelief",
    "Questions",
    "ScoringSelector",
    "Selection",
    "Selector",
    "by_rank",
    "checked_tolerance",
    "in_bank_order",
]

TOLERANCE = 1e-9
"""Scores closer than this count as equal, unless a selector is told otherwise."""


class Questions(Protocol):
    """What selectors need of a bank: an order, and the channel of each question."""

    def position(self, item: str) -> int:
        """Return the place of an item in the bank."""

    def channels(self, items: Sequence[str]) -> Floats:
        """Return the channels of items, ``(items, configurations, responses)``."""


class QuestionBelief(Protocol):
    """What selectors that look at questions alone need of a belief: the small protocol.

    `SkillBelief` fulfills it, and so may a belief about anything else that is hidden,
    such as a code in Mastermind.
    """

    @property
    def bank(self) -> Questions:
        """The questions."""

    def masses(self, items: Sequence[str]) -> Floats:
        """Return how probable each parent configuration of each item is."""

    def information(self, items: Sequence[str]) -> Floats:
        """Return the information that each item promises, in bits."""


_Belief_contra = TypeVar("_Belief_contra", bound=QuestionBelief, contravariant=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection(CheckedValue):
    """The item selected, and why."""

    item: str
    """The item to ask."""
    items: tuple[str, ...]
    """The items among which it was selected, in the order of the bank."""
    scores: Floats
    """What each of them is worth to the selector, ``(items,)``; the larger the better."""
    tied: tuple[str, ...]
    """The items whose scores equal the best one, in the order of the bank."""
    set_aside: tuple[str, ...] = ()
    """Better items that exposure control withholds for the rest of this test."""

    @property
    def score(self) -> float:
        """The score of the item selected."""
        return float(self.scores[self.items.index(self.item)])


@dataclass(frozen=True, eq=False)
class BatchSelection(CheckedValue):
    """The item selected for each examinee."""

    items: NDArray[np.intp]
    """``(examinees,)`` positions in the bank; `MISSING` where no item was allowed."""
    scores: Floats
    """``(examinees, items)``; −inf where an item was not allowed."""
    set_aside: NDArray[np.bool_]
    """``(examinees, items)``, as `Selection.set_aside`."""


class Selector(Protocol[_Belief_contra]):
    """Selects the next item."""

    def select(
        self,
        belief: _Belief_contra,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the item to ask next.

        Parameters
        ----------
        belief
            What is known of the examinee.
        items
            The names of the items that may be asked, in any order.
        rng
            Needed by selectors that draw; one number is drawn for each item of the bank,
            whatever may be asked and whatever the choice.

        Raises
        ------
        NothingToAskError
            If there are no items.
        """

    def select_batch(
        self,
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        *,
        luck: ArrayLike | None = None,
    ) -> BatchSelection:
        """Return the item to ask each of many examinees next.

        Parameters
        ----------
        beliefs
            What is known of each.
        allowed
            ``(examinees, items)``, which items may be asked.
        luck
            ``(examinees, items)`` numbers uniform in [0, 1), for selectors that draw.
        """


@dataclass(frozen=True)
class ScoringSelector(ABC, Generic[_Belief_contra]):
    """A selector of the item with the largest score."""

    @property
    @abstractmethod
    def tolerance(self) -> float:
        """Scores closer than this count as equal."""

    @abstractmethod
    def scores(self, belief: _Belief_contra, items: Sequence[str]) -> Floats:
        """Return what each item is worth, ``(items,)``; the larger the better."""

    @abstractmethod
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return what each item of the bank is worth, ``(examinees, items)``."""

    @checked
    def allowed_scores(self, beliefs: BatchBelief, allowed: NDArray[np.bool_]) -> Floats:
        """Return what the items allowed are worth, ``(examinees, items)``; −inf for others."""
        checked_allowed(beliefs, allowed)
        return np.where(allowed, self.batch_scores(beliefs), -np.inf)

    @checked
    def select(
        self,
        belief: _Belief_contra,
        items: Sequence[str],
        *,
        rng: np.random.Generator | None = None,
    ) -> Selection:
        """Return the item with the largest score, the first in the bank of equal ones."""
        ordered = in_bank_order(belief, items)
        scores = self.scores(belief, ordered)
        tied = tied_best(scores, tolerance=self.tolerance).tolist()
        return Selection(
            item=ordered[tied[0]],
            items=ordered,
            scores=scores,
            tied=tuple(ordered[i] for i in tied),
        )

    @checked
    def select_batch(
        self,
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        *,
        luck: ArrayLike | None = None,
    ) -> BatchSelection:
        """Return for each examinee the item with the largest score; see `select`."""
        checked_allowed(beliefs, allowed)
        scores = self.allowed_scores(beliefs, allowed)
        best = scores.max(axis=1, keepdims=True)
        chosen = np.argmax(scores >= best - self.tolerance, axis=1)
        items = np.where(allowed.any(axis=1), chosen, MISSING)
        return BatchSelection(items, scores, np.zeros(scores.shape, dtype=bool))


def checked_allowed(beliefs: BatchBelief, allowed: NDArray[np.bool_]) -> None:
    """Raise `InvalidArgumentError` unless it says of every examinee which items are allowed."""
    if not (isinstance(allowed, np.ndarray) and allowed.dtype.kind == "b"):
        raise InvalidArgumentError(
            f"expected allowed as an array of True and False, got {shown(allowed)}", allowed
        )
    check_shape(allowed, "allowed", beliefs.responses.shape)


def in_bank_order(belief: QuestionBelief, items: Sequence[str]) -> tuple[str, ...]:
    """Return items in the order of the bank.

    Raises
    ------
    NothingToAskError
        If there are none.
    UnknownNameError
        If there is no such item.
    """
    if not len(items):
        raise NothingToAskError("expected at least one item to select from, got none")
    return tuple(sorted(items, key=belief.bank.position))


def by_rank(scores: Floats, tolerance: float) -> NDArray[np.intp]:
    """Return the places of scores, best first, along the last axis.

    The scores within ``tolerance`` of the largest count as equal, then those within it of the
    largest that is left, and so on; of equal ones the first place comes first.
    """
    order = np.argsort(-scores, axis=-1, kind="stable")
    ranked = np.take_along_axis(scores, order, axis=-1)
    group = np.zeros(ranked.shape, dtype=np.intp)
    largest = ranked[..., 0]
    for place in range(1, ranked.shape[-1]):
        is_lower = ~(ranked[..., place] >= largest - tolerance)
        largest = np.where(is_lower, ranked[..., place], largest)
        group[..., place] = group[..., place - 1] + is_lower
    places: NDArray[np.intp] = np.take_along_axis(
        order, np.argsort(group * ranked.shape[-1] + order, axis=-1), axis=-1
    )
    return places


def checked_tolerance(tolerance: float) -> None:
    """Raise `InvalidArgumentError` unless a tolerance is a number of at least zero."""
    if not 0 <= tolerance < np.inf:
        raise InvalidArgumentError(
            f"expected a tolerance of at least 0, got {tolerance}", tolerance
        )
