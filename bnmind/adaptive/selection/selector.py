"""The interface of selectors, which choose the next item, and a base for those that score items.

A selector works on the belief about one examinee, and on the beliefs about many at once. It has
no state: the same belief, items and random numbers give the same choice. Selectors that score
items derive from `ScoringSelector`. The largest score wins; scores that are equal within a
tolerance go to the first item in the order of the bank.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked
from bnmind._messages import shown
from bnmind._values import Value, frozen, made
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
    "in_bank_order",
]

TOLERANCE = 1e-9
"""The default tolerance: scores closer than this count as equal."""


class Questions(Protocol):
    """The part of a bank that question selectors need: positions and channels."""

    def position(self, item: str) -> int:
        """Return the place of an item in the bank.

        Parameters
        ----------
        item
            The name of the item.
        """

    def channels(self, items: Sequence[str]) -> Floats:
        """Return the channels of items, ``(items, configurations, responses)``.

        Parameters
        ----------
        items
            The names of the items.
        """


class QuestionBelief(Protocol):
    """The part of a belief that selectors by questions alone need.

    `SkillBelief` implements it. So can a belief about anything else that is hidden, such as
    the code in Mastermind.
    """

    @property
    def bank(self) -> Questions:
        """The questions."""

    def masses(self, items: Sequence[str]) -> Floats:
        """Return the probability of each parent configuration of each item.

        Parameters
        ----------
        items
            The names of the items, which are names in ``bank``.
        """

    def information(self, items: Sequence[str]) -> Floats:
        """Return the expected information of each item, in bits.

        Parameters
        ----------
        items
            The names of the items, which are names in ``bank``.
        """


_Belief_contra = TypeVar("_Belief_contra", bound=QuestionBelief, contravariant=True)


@dataclass(frozen=True, eq=False, kw_only=True)
class Selection(Value):
    """A selected item, with the scores that led to it."""

    item: str
    """The item to ask."""
    items: tuple[str, ...]
    """The items that could be selected, in the order of the bank."""
    scores: Floats
    """The score of each item, ``(items,)``; larger is better."""
    tied: tuple[str, ...]
    """The items whose scores equal the best score, in the order of the bank."""
    set_aside: tuple[str, ...] = ()
    """Better items that exposure control withholds for the rest of this test."""

    @property
    def score(self) -> float:
        """The score of the selected item."""
        return float(self.scores[self.items.index(self.item)])


@dataclass(frozen=True, eq=False)
class BatchSelection(Value):
    """The selected item for each examinee."""

    items: NDArray[np.intp]
    """``(examinees,)`` positions in the bank; `MISSING` where no item was allowed."""
    scores: Floats
    """``(examinees, items)``; −inf where an item was not allowed."""
    set_aside: NDArray[np.bool_]
    """``(examinees, items)``, as `Selection.set_aside`."""


class Selector(Protocol[_Belief_contra]):
    """The interface of selectors."""

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
            The belief about the examinee.
        items
            The names of the items that may be asked, in any order.
        rng
            Required by selectors that draw. They draw one number for each item of the bank,
            whichever items may be asked.

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
            The belief about each examinee.
        allowed
            ``(examinees, items)``, a mask of the items that may be asked.
        luck
            ``(examinees, items)`` random numbers in [0, 1), required by selectors that draw.
        """


@dataclass(frozen=True)
class ScoringSelector(Value, ABC, Generic[_Belief_contra]):
    """A base of selectors that select the item with the largest score."""

    def _faults(self) -> Iterator[str]:
        if not 0 <= self.tolerance < np.inf:
            yield f"expected a tolerance of at least 0, got {self.tolerance}"

    @property
    @abstractmethod
    def tolerance(self) -> float:
        """Scores closer than this count as equal."""

    @abstractmethod
    def scores(self, belief: _Belief_contra, items: Sequence[str]) -> Floats:
        """Return the score of each item, ``(items,)``; larger is better.

        Parameters
        ----------
        belief
            The belief about the examinee.
        items
            The names of the items to score.
        """

    @abstractmethod
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``.

        Parameters
        ----------
        beliefs
            The beliefs about all examinees, with their responses.
        """

    @checked
    def allowed_scores(self, beliefs: BatchBelief, allowed: NDArray[np.bool_]) -> Floats:
        """Return the scores of the allowed items, ``(examinees, items)``; −inf for others.

        Parameters
        ----------
        beliefs
            The beliefs about all examinees, with their responses.
        allowed
            ``(examinees, items)``: whether each item may be selected, as truth values.
        """
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
        """Return the item with the largest score; ties go to the first in the bank."""
        ordered = in_bank_order(belief, items)
        scores = self.scores(belief, ordered)
        tied = tied_best(scores, tolerance=self.tolerance).tolist()
        if not tied:
            place = int(np.argmax(np.isnan(scores)))
            raise self._no_number(ordered[place], float(scores[place]))
        chosen, equal = ordered[tied[0]], tuple([ordered[i] for i in tied])
        if type(scores) is not np.ndarray or scores.dtype != np.float64:
            return Selection(item=chosen, items=ordered, scores=scores, tied=equal)
        # All other fields are valid by now.
        return made(
            Selection,
            item=chosen,
            items=ordered,
            scores=frozen(scores),
            tied=equal,
            set_aside=(),
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
        if np.isnan(best).any():
            row, place = np.argwhere(np.isnan(scores))[0].tolist()
            raise self._no_number(beliefs.bank.item_names[place], float(scores[row, place]))
        chosen = np.argmax(scores >= best - self.tolerance, axis=1)
        items = np.where(allowed.any(axis=1), chosen, MISSING)
        return BatchSelection(items, scores, np.zeros(scores.shape, dtype=bool))

    def _no_number(self, item: str, score: float) -> InvalidArgumentError:
        return InvalidArgumentError(
            f"expected a number as the score of {shown(item)} by {type(self).__name__},"
            f" got {score:g}",
            score,
        )


def checked_allowed(beliefs: BatchBelief, allowed: NDArray[np.bool_]) -> None:
    """Raise `InvalidArgumentError` unless ``allowed`` is a mask ``(examinees, items)``."""
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
        raise NothingToAskError("there is no item to select from")
    return tuple(sorted(items, key=belief.bank.position))


def by_rank(scores: Floats, tolerance: float) -> NDArray[np.intp]:
    """Return the places of scores, best first, along the last axis.

    Scores within ``tolerance`` of the largest count as equal, then scores within
    ``tolerance`` of the largest of the rest, and so on. Ties are in order of place.
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
