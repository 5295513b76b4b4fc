"""The interface of selectors, which choose the next item, and bases for those that score or draw.

A selector works on the belief about one examinee, and on the beliefs about many at once. It has
no state: the same belief, items and random numbers give the same choice. Selectors that score
items derive from `ScoringSelector`. The largest score wins; scores that are equal within a
tolerance go to the first item in the order of the bank. Selectors that draw derive from
`DrawingSelector`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, checked_if_it_fails, number_array
from bnmind._messages import shown
from bnmind._values import Value
from bnmind.adaptive.beliefs.belief import MISSING, BatchBelief, SkillBelief
from bnmind.adaptive.beliefs.estimates import response_joints
from bnmind.adaptive.selection.rules import check_allowed
from bnmind.errors import InvalidArgumentError, NothingToAskError
from bnmind.information import Floats, tied_best

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
        check_allowed(allowed, beliefs.responses.shape)
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
        equal = tuple([ordered[i] for i in tied])
        return Selection(item=equal[0], items=ordered, scores=scores, tied=equal)

    @checked
    def select_batch(
        self,
        beliefs: BatchBelief,
        allowed: NDArray[np.bool_],
        *,
        luck: ArrayLike | None = None,
    ) -> BatchSelection:
        """Return for each examinee the item with the largest score; see `select`."""
        check_allowed(allowed, beliefs.responses.shape)
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


@dataclass(frozen=True)
class Candidates:
    """Items to score: some for one belief, or all of a bank for the beliefs of a batch.

    Arrays have the examinees of a batch as a first axis.
    """

    belief: Any
    """A `QuestionBelief`, or a `BatchBelief`."""
    items: tuple[str, ...]
    """The names of the items."""
    is_batch: bool

    @property
    def bank(self) -> Any:
        """The bank of the items."""
        return self.belief.bank

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of scores."""
        return (len(self.belief), len(self.items)) if self.is_batch else (len(self.items),)

    @property
    def channels(self) -> Floats:
        """The channels of the items, ``(items, configurations, responses)``."""
        channels: Floats = self.bank.channels(None if self.is_batch else self.items)
        return channels

    @property
    def masses(self) -> Floats:
        """The probability of each parent configuration, ``(…, items, configurations)``."""
        of: Any = np.arange(len(self.items)) if self.is_batch else self.items
        masses: Floats = self.belief.masses(of)
        return masses

    @property
    def n_answered(self) -> NDArray[np.intp]:
        """The number of answers so far, ``(…,)``."""
        responses = self.belief.responses
        if not self.is_batch:
            return np.asarray(len(responses))
        answered: NDArray[np.intp] = (responses != MISSING).sum(axis=1)
        return answered

    def joints(self, skills: Sequence[str]) -> Floats:
        """Return P(levels of skills, response), ``(…, configurations, items, responses)``."""
        return response_joints(self.belief, skills, self.items)


class CandidateSelector(ScoringSelector[_Belief_contra]):
    """A base of selectors whose scores are the same for one belief and for a batch."""

    @abstractmethod
    def _scores(self, candidates: Candidates) -> Floats:
        """Return the scores, ``(…, items)``."""

    @checked_if_it_fails
    def scores(self, belief: _Belief_contra, items: Sequence[str]) -> Floats:
        """Return the score of each item, ``(items,)``; larger is better."""
        return self._scores(Candidates(belief, tuple(items), is_batch=False))

    @checked_if_it_fails
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``."""
        return self._scores(Candidates(beliefs, beliefs.bank.item_names, is_batch=True))


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
    return np.take_along_axis(order, np.argsort(group * ranked.shape[-1] + order, axis=-1), axis=-1)


_SPREAD = 20
"""The eligibility of an item is spread evenly over so many examinees."""


def generator_of(seed: int, step: int, *, examinee: int = 0) -> np.random.Generator:
    """Return the generator for one question of one test.

    A live test has the generators of the first examinee of a simulation with the same seed.

    Parameters
    ----------
    seed
        The seed of the design or the simulation, at least 0.
    step
        The number of items asked before.
    examinee
        The number of the examinee in a simulation.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(examinee, 1, step)))


def eligibility_luck(seed: int, n_items: int, *, examinee: int = 0) -> Floats:
    """Return the numbers that decide, before a test, which items are eligible in it, ``(items,)``.

    Each is uniform in [0, 1), and those of the items are independent. Those of one item are spread
    evenly over 20 examinees in a row, as in systematic sampling. So a simulation makes an item
    eligible nearly as often as its probability says.

    Parameters
    ----------
    seed, examinee
        As for `generator_of`.
    n_items
        The number of items.
    """
    place = examinee % _SPREAD
    sequence = np.random.SeedSequence(seed, spawn_key=(examinee - place, 2))
    rng = np.random.default_rng(sequence)
    luck = rng.random(n_items)
    if place:
        shifts = rng.permuted(np.tile(np.arange(1, _SPREAD)[:, None], n_items), axis=0)
        luck = (luck + shifts[place - 1] / _SPREAD) % 1.0
    return luck


def pilot_generator(seed: int, *, examinee: int = 0) -> np.random.Generator:
    """Return the generator that draws, before a test, the questions of its pilot items.

    Parameters
    ----------
    seed, examinee
        As for `generator_of`.
    """
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(examinee, 3)))


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
        check_allowed(allowed, beliefs.responses.shape)
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
