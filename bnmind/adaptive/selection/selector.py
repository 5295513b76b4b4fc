"""Selectors, which choose the next item: what all of them share, and how scores become a choice.

A selector chooses for many examinees at once. A live test is a batch of one examinee. A selector
has no state: the same beliefs, items and random numbers give the same choice. Selectors that score
items derive from `ScoringSelector`. The largest score wins; scores that are equal within a
tolerance go to the first item in the order of the bank.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Generic, NamedTuple, Protocol, TypeVar

import numpy as np
from annotated_types import Ge
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, checked_if_it_fails, number_array
from bnmind._messages import shown
from bnmind._registry import COUNT, Argument, Registrar
from bnmind._values import Finite, Value, made, sealed
from bnmind.adaptive.beliefs.belief import (
    MISSING,
    BatchBelief,
    SkillBelief,
)
from bnmind.adaptive.selection.rules import Mask, check_allowed
from bnmind.errors import InvalidArgumentError, NothingToAskError
from bnmind.information import Floats

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


class _OtherQuestions:
    """A belief about something else than skills, as a batch of one, and as its bank of items."""

    def __init__(self, belief: QuestionBelief, item_names: tuple[str, ...]) -> None:
        self.belief, self.item_names = belief, item_names

    @property
    def bank(self) -> _OtherQuestions:
        return self

    def __len__(self) -> int:
        return 1

    def channels(self) -> Floats:
        return self.belief.bank.channels(self.item_names)

    def masses(self, items: NDArray[np.intp]) -> Floats:
        return self.belief.masses([self.item_names[i] for i in items])[None]

    def information(self) -> Floats:
        return self.belief.information(self.item_names)[None]


class Choice(NamedTuple):
    """A `BatchSelection` before its arrays are checked and copied."""

    items: NDArray[np.intp]
    scores: Floats
    tied: Mask
    set_aside: Mask


def best_of(scores: Floats, allowed: Mask, tolerance: float) -> Choice:
    """Return the first of the allowed items whose score equals the largest within a tolerance.

    Parameters
    ----------
    scores
        ``(examinees, items)``; −inf for items that are not allowed.
    allowed
        ``(examinees, items)``
    tolerance
        Scores closer than this count as equal.
    """
    # The methods of arrays take longer, which counts for one examinee.
    tied = scores >= np.maximum.reduce(scores, axis=1, keepdims=True) - tolerance
    tied &= allowed
    items = np.where(np.logical_or.reduce(tied, axis=1), tied.argmax(axis=1), MISSING)
    return Choice(items, scores, tied, np.zeros_like(tied))


def one_of(items: NDArray[np.intp], allowed: Mask) -> Mask:
    """Return a mask like ``allowed`` of one item for each examinee, or of none if `MISSING`."""
    return np.asarray(items[:, None] == np.arange(allowed.shape[1]))


class CheckedMethods:
    """A base of classes in which each implementation of some methods checks its arguments."""

    _checked: ClassVar[tuple[str, ...]]

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in cls._checked:
            if name in vars(cls):
                setattr(cls, name, checked_if_it_fails(vars(cls)[name]))


class Selector(CheckedMethods, Value, ABC, Generic[_Belief_contra]):
    """A base of all selectors, which choose the next item."""

    _checked = ("batch_scores",)

    @abstractmethod
    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Choice:
        """Return the next item of each examinee; the arguments are those of `select_batch`."""

    @checked_if_it_fails
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
        UnknownNameError
            If there is no such item.
        """
        if not len(items):
            raise NothingToAskError("there is no item to select from")
        beliefs, allowed = _given(belief, items)
        every: tuple[str, ...] = beliefs.bank.item_names
        luck = None if rng is None else rng.random(len(every))[None]
        found = self._choice(beliefs, allowed, luck)

        def names(mask: Mask) -> tuple[str, ...]:
            return tuple([every[place] for place in mask[0].nonzero()[0].tolist()])

        return made(
            Selection,
            item=every[found.items[0]],
            items=names(allowed),
            scores=sealed(found.scores[allowed]),
            tied=names(found.tied),
            set_aside=names(found.set_aside),
        )

    @checked
    def select_batch(
        self, beliefs: BatchBelief, allowed: Mask, *, luck: ArrayLike | None = None
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
        check_allowed(allowed, beliefs.responses.shape)
        found = self._choice(beliefs, allowed, luck)
        return BatchSelection(found.items, found.scores, found.set_aside)


def _given(belief: Any, items: Sequence[str]) -> tuple[Any, Mask]:
    """Return a belief as a batch, and a mask of the items in it, ``(1, items)``."""
    position = belief.bank.position
    if not isinstance(belief, SkillBelief):
        names = tuple(sorted(items, key=position))
        return _OtherQuestions(belief, names), np.ones((1, len(names)), dtype=bool)
    mask = np.zeros((1, len(belief.bank.items)), dtype=bool)
    mask[0, [position(name) for name in items]] = True
    return belief.batch, mask


@dataclass(frozen=True)
class ScoringSelector(Selector[_Belief_contra]):
    """A base of selectors that select the item with the largest score.

    Parameters
    ----------
    tolerance
        Scores closer than this count as equal.
    """

    tolerance: Annotated[float, Ge(0), Finite] = field(default=TOLERANCE, kw_only=True)

    @abstractmethod
    def batch_scores(self, beliefs: BatchBelief) -> Floats:
        """Return the score of each item of the bank, ``(examinees, items)``; larger is better.

        Parameters
        ----------
        beliefs
            The beliefs about all examinees, with their responses.
        """

    @checked
    def allowed_scores(self, beliefs: BatchBelief, allowed: Mask) -> Floats:
        """Return the scores of the allowed items, ``(examinees, items)``; −inf for others.

        Parameters
        ----------
        beliefs
            The beliefs about all examinees, with their responses.
        allowed
            ``(examinees, items)``: whether each item may be selected, as truth values.
        """
        check_allowed(allowed, beliefs.responses.shape)
        return self._open_scores(beliefs, allowed)

    def _open_scores(self, beliefs: BatchBelief, allowed: Mask) -> Floats:
        return np.where(allowed, self.batch_scores(beliefs), -np.inf)

    @checked_if_it_fails
    def scores(self, belief: _Belief_contra, items: Sequence[str]) -> Floats:
        """Return the score of each item, ``(items,)``, by the belief about one examinee.

        Parameters
        ----------
        belief
            The belief about the examinee.
        items
            The names of the items to score.
        """
        beliefs, mask = _given(belief, items)
        found = self._open_scores(beliefs, mask)[0].tolist()
        of_item = dict(zip(beliefs.bank.item_names, found, strict=True))
        return np.array([of_item[name] for name in items], dtype=np.float64)

    def _choice(self, beliefs: BatchBelief, allowed: Mask, luck: ArrayLike | None) -> Choice:
        """Return for each examinee the item with the largest score."""
        scores = self._open_scores(beliefs, allowed)
        found = best_of(scores, allowed, self.tolerance)
        if MISSING in found.items.tolist() and np.isnan(scores).any():
            row, place = np.argwhere(np.isnan(scores))[0].tolist()
            raise InvalidArgumentError(
                f"expected a number as the score of {shown(beliefs.bank.item_names[place])} by"
                f" {type(self).__name__}, got {scores[row, place]:g}",
                float(scores[row, place]),
            )
        return found


selector: Registrar[Selector[SkillBelief]] = Registrar()
"""Registers a selector: `@selector("gdi", "largest G-DINA discrimination index")`."""

LENGTH = Argument("LENGTH", "the number of items in the test", COUNT.read, "3")
"""The argument of selectors that need the length of the test; design files leave it out."""


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
