"""The interfaces of beliefs about the skills of one examinee and of many, and what they share.

Both are stored as tables (`bnmind.adaptive.beliefs.tables`) or by a junction tree
(`bnmind.adaptive.beliefs.junction_trees`). From either, a row of the masses of the parent
configurations of all items is computed; it gives the predictions and the information of items.

A bank may give a response the probability 0, and an examinee may give that response
nevertheless. As long as some profile of the skills explains all responses, the belief follows
the bank. As soon as none does, every response of this examinee is treated as a possible error.
The chance of an error is so small that the belief is the limit of ever smaller chances up to
rounding: the profiles contradicted by the fewest responses, weighted by their probabilities given
all other responses.

=========  ==================================================================
symbol     name here
=========  ==================================================================
ε          ``error_chance``: `ERROR_CHANCE` if the responses are impossible
N[c, r]    ``ItemBank.channel``: the chance of a response
N'[c, r]   (1 − ε) N[c, r] + ε / number of responses: its likelihood
=========  ==================================================================

`bnmind.mastermind.VanishingBelief` treats contradictory replies in Mastermind in the same way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import check_shape, checked_if_it_fails, number_array, positions, whole_array
from bnmind._display import MOST_ROWS, table_html
from bnmind._messages import many, shown
from bnmind._values import ReadOnlyDict, Sealed, Value
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats, unchecked_entropy, unchecked_information


class _Profile(NamedTuple):
    levels: tuple[int, ...]
    """The position of the level of each skill, in the order of the bank's skills."""
    probability: float
    """The probability of the whole profile."""


class Profile(_Profile):
    """A level of each skill, and the probability that an examinee has all of them."""

    __slots__ = ()

    def __new__(cls, levels: Iterable[int], probability: float) -> Profile:
        """Return a profile."""
        if isinstance(levels, str) or not isinstance(levels, Iterable):
            raise InvalidArgumentError(
                f"expected levels as whole numbers, got {shown(levels)}", levels
            )
        return super().__new__(cls, tuple(levels), probability)


class SkillBelief(Protocol):
    """A belief about the skills of one examinee after some responses.

    Beliefs are immutable: an update returns a new belief. The order of the responses does
    not matter. Entropy and information refer to all hidden variables of the bank jointly:
    the skills, and any other hidden variables of its network.
    """

    @property
    def bank(self) -> ItemBank:
        """The item bank."""

    @property
    def responses(self) -> Mapping[str, int]:
        """The position of the response to each item answered, in the order of the answers."""

    @property
    def error_chance(self) -> float:
        """The chance that each response was an error; 0 unless set by `with_errors`."""

    @property
    def log_evidence(self) -> float:
        """Natural logarithm of the probability of all the responses."""

    @property
    def entropy(self) -> float:
        """The entropy of all skills jointly, in bits; other hidden variables count too."""

    def update(self, item: str, response: int | str) -> Self:
        """Return the belief after one more response.

        Parameters
        ----------
        item
            The name of an item.
        response
            The position of the response, or its name.

        Raises
        ------
        UnknownNameError
            If the bank has no such item.
        InvalidArgumentError
            If the item has no such response, or was answered already.
        ImpossibleEvidenceError
            If the responses together have probability zero; the message names them.
        """

    def without(self, item: str) -> Self:
        """Return the belief as if an item had not been answered.

        Parameters
        ----------
        item
            The name of an item.

        Raises
        ------
        InvalidArgumentError
            If it was not answered.
        """

    def with_errors(self, chance: float) -> Self:
        """Return the belief if each response is an error with the given chance.

        An error is any response to the item, all with the same probability. The chance
        applies to later updates too. With a chance above 0 no response is impossible.

        Parameters
        ----------
        chance
            The probability of an error, from 0 to 1.

        Raises
        ------
        InvalidArgumentError
            If the chance is not in [0, 1).
        ImpossibleEvidenceError
            If the chance is 0 and the responses together have probability zero.
        """

    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, or of another hidden variable.

        Parameters
        ----------
        skill
            The name of the skill, or of another hidden variable.
        """

    def profile(self) -> Profile:
        """Return the most probable profile of the skills.

        Ties go to the lowest levels, compared in the order of the skills.
        """

    def masses(self, items: Sequence[str]) -> Floats:
        """Return the probability of each parent configuration of each item.

        The shape is ``(items, configurations)``, and rows sum to one. Items with fewer
        configurations than others have zeros at the end, as in `ItemBank.channels`.

        Parameters
        ----------
        items
            The names of items; all if None.
        """

    def predict(self, item: str) -> Floats:
        """Return the probability of each response to an item given the responses so far.

        Parameters
        ----------
        item
            The name of an item.
        """

    def information(self, items: Sequence[str] | None = None) -> Floats:
        """Return the expected information of each item about the skills, in bits, ``(items,)``.

        It is the mutual information of the response and all skills jointly: the entropy
        of the belief minus its expected entropy after the response. It is computed by the
        function that also chooses guesses in Mastermind, in `bnmind.information`. Default
        all items; the value of an answered item has no meaning.

        Parameters
        ----------
        items
            The names of items; all if None.
        """


def checked_response(
    bank: ItemBank, responses: Mapping[str, int], item: str, response: int | str
) -> int:
    """Return the position of a response to an item that has none yet."""
    number = bank.response(item, response)
    if item in responses:
        raise InvalidArgumentError(
            f"{item} was answered already, with {bank.responses(item)[responses[item]]};"
            " remove that response first",
            item,
        )
    return number


def answers_without(
    bank: ItemBank, answers: tuple[tuple[str, int], ...], item: str
) -> tuple[tuple[str, int], ...]:
    """Return answers but for that to one item; `InvalidArgumentError` if it was not answered."""
    remaining = tuple(pair for pair in answers if pair[0] != item)
    if len(remaining) == len(answers):
        bank.position(item)
        raise InvalidArgumentError(f"{item} was not answered", item)
    return remaining


def impossible_responses(bank: ItemBank, responses: Mapping[str, int]) -> ImpossibleEvidenceError:
    """Return an error that names responses that no profile explains."""
    shown = {item: bank.responses(item)[number] for item, number in responses.items()}
    listed = ", ".join(f"{item}={state}" for item, state in shown.items())
    return ImpossibleEvidenceError(
        f"no profile of the skills explains the responses {listed}", shown
    )


_STACKED_CELLS = 2**16
"""Up to this many cells all channels are padded and evaluated together, else shape by shape."""


class _Group(NamedTuple):
    """Items that are evaluated together."""

    items: NDArray[np.intp]
    places: NDArray[np.intp]
    """``(items, configurations)``, the places of their masses in the row."""
    channels: Floats
    noise: Floats


@dataclass(frozen=True, eq=False)
class CauseIndex(Sealed):
    """The places of each item's parent configurations in a row of masses.

    Created by `of`. Rows may have further axes in front, such as one of examinees.
    """

    first: NDArray[np.intp]
    """The place of each item's first parent configuration in the row, ``(items,)``."""
    sizes: NDArray[np.intp]
    """The number of each item's parent configurations, ``(items,)``."""
    groups: tuple[_Group, ...]

    @classmethod
    def of(cls, bank: ItemBank, starts: Sequence[int]) -> CauseIndex:
        """Return the index for rows in which ``bank.causes[i]`` begins at ``starts[i]``."""
        counts = np.array([bank.n_configurations(cause) for cause in bank.causes], dtype=np.intp)
        first = np.asarray(starts, dtype=np.intp)[bank.cause_numbers]
        sizes = counts[bank.cause_numbers]
        shapes = np.array([bank.channel(name).shape for name in bank.item_names])
        everything = np.arange(len(bank.items))
        if len(shapes) * int(np.prod(shapes.max(axis=0))) <= _STACKED_CELLS:
            alike = [everything]
        else:
            alike = [
                np.flatnonzero(np.all(shapes == shape, axis=1))
                for shape in np.unique(shapes, axis=0)
            ]
        groups = []
        for items in alike:
            channels = bank.channels([bank.item_names[i] for i in items])
            places, _ = _places(first[items], sizes[items])
            groups.append(_Group(items, places, channels, unchecked_entropy(channels)))
        return cls(first, sizes, tuple(groups))

    def masses(self, row: Floats, positions: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the masses of items, ``(…, items, configurations)``, from a row ``(…, cells)``."""
        places, is_valid = _places(self.first[positions], self.sizes[positions])
        return np.where(is_valid, row[..., places], 0.0)

    def information(self, row: Floats) -> Floats:
        """Return the information of every item, in bits, ``(…, items)``."""
        # The channel is zero beyond the end of a cause, so any mass will do there.
        parts = [
            unchecked_information(row.take(group.places, axis=-1), group.channels, group.noise)
            for group in self.groups
        ]
        if len(parts) == 1:
            return parts[0]
        result = np.empty((*row.shape[:-1], len(self.first)))
        for group, part in zip(self.groups, parts, strict=True):
            result[..., group.items] = part
        return result


def _places(
    first: NDArray[np.intp], sizes: NDArray[np.intp]
) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """Return the places of items' masses in the row, and a mask of the valid ones."""
    columns = np.arange(sizes.max(initial=1))
    is_valid = columns < sizes[:, None]
    # Invalid places refer to the start of the cause.
    return first[:, None] + np.where(is_valid, columns, 0), is_valid


MISSING = -1
"""The code for a missing response, and for the item of an examinee who is not asked."""

Responses = NDArray[np.int16]
"""``(examinees, items)`` positions of responses; `MISSING` where there is none."""


@dataclass(frozen=True, eq=False)
class BatchProfiles(Value):
    """The most probable profile of each examinee."""

    levels: NDArray[np.intp]
    """``(examinees, skills)``, the positions of the levels."""
    probabilities: Floats
    """``(examinees,)``, the probability of each whole profile."""


class BatchBelief(Protocol):
    """The interface of beliefs about the skills of many examinees, each with their own responses.

    It is that of `SkillBelief` with the examinees as a first axis. Items are given by
    their positions in ``bank.items``.
    """

    @property
    def bank(self) -> ItemBank:
        """The item bank."""

    @property
    def responses(self) -> Responses:
        """The responses so far, ``(examinees, items)``, read-only."""

    @property
    def error_chances(self) -> Floats:
        """The chance that each response was an error, ``(examinees,)``; see `with_errors`."""

    @property
    def log_evidence(self) -> Floats:
        """Natural logarithm of the probability of each examinee's responses."""

    @property
    def entropy(self) -> Floats:
        """The entropy of all skills jointly, in bits, ``(examinees,)``."""

    def __len__(self) -> int: ...

    def update(self, items: ArrayLike, responses: ArrayLike) -> Self:
        """Return the beliefs after one more response of each examinee.

        Parameters
        ----------
        items
            ``(examinees,)`` positions of the items asked; `MISSING` for examinees not asked.
        responses
            ``(examinees,)`` positions of their responses. The response to a missing item
            is ignored; a missing response changes nothing.

        Raises
        ------
        InvalidArgumentError
            If an item or a response is out of range, or the item was answered already;
            the message names the examinee.
        ImpossibleEvidenceError
            If an examinee's responses together have probability zero.
        """

    def with_errors(self, chances: ArrayLike) -> Self:
        """Return the beliefs if each response is an error with the given chance.

        Parameters
        ----------
        chances
            In [0, 1), one for all or ``(examinees,)``; see `SkillBelief.with_errors`.
        """

    def take(self, examinees: ArrayLike) -> Self:
        """Return the beliefs about some of the examinees, by position or by a mask.

        Parameters
        ----------
        examinees
            Positions of examinees, or a mask ``(examinees,)``.
        """

    def alone(self, examinee: int) -> SkillBelief:
        """Return the belief about one examinee, by position.

        Parameters
        ----------
        examinee
            The position of the examinee.
        """

    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, ``(examinees, levels)``.

        Parameters
        ----------
        skill
            The name of the skill.
        """

    def profile(self) -> BatchProfiles:
        """Return each examinee's most probable profile of the skills."""

    def masses(self, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the masses of parent configurations, ``(examinees, items, configurations)``.

        Parameters
        ----------
        items
            Positions of items in the bank; all if None.
        """

    def predict(self, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the probability of each response, ``(examinees, items, responses)``.

        Parameters
        ----------
        items
            Positions of items in the bank; all if None.
        """

    def information(self, items: Sequence[int] | NDArray[np.intp] | None = None) -> Floats:
        """Return the information of items, in bits, ``(examinees, items)``.

        As `SkillBelief.information`; default all items.

        Parameters
        ----------
        items
            Positions of items in the bank; all if None.
        """


def skills_html(belief: AnsweredBelief | SkillBelief, *, caption: str) -> str:
    """Return the most probable level of each skill as an HTML table for notebooks."""
    bank, rows = belief.bank, []
    for skill in bank.skills[:MOST_ROWS]:
        levels = belief.marginal(skill)
        best = int(levels.argmax())
        rows.append((skill, bank.variable(skill).states[best], f"{100 * levels[best]:.1f} %"))
    heads = ("skill", "most probable level", "probability")
    return table_html(heads, rows, caption=caption, n_rows=len(bank.skills))


class _Causes(ABC):
    @property
    @abstractmethod
    def bank(self) -> ItemBank:
        """The item bank."""

    @property
    @abstractmethod
    def _index(self) -> CauseIndex:
        """The places of each item's parent configurations in a row of masses."""

    @property
    @abstractmethod
    def _row(self) -> Floats:
        """The masses of all parent configurations, along the last axis."""

    @cached_property
    def _information(self) -> Floats:
        result = self._index.information(self._row)
        result.setflags(write=False)
        return result


class AnsweredBelief(_Causes):
    """A base of beliefs about one examinee, by table or by tree."""

    answers: tuple[tuple[str, int], ...]
    """The items answered and the positions of the responses, in the order of the answers."""

    def _repr_html_(self) -> str:
        """Return the skills as an HTML table, which notebooks display."""
        return skills_html(self, caption=repr(self))

    @property
    def responses(self) -> Mapping[str, int]:
        """The position of the response to each item answered, in the order of the answers."""
        return ReadOnlyDict(self.answers)

    @abstractmethod
    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, or of another hidden variable."""

    @checked_if_it_fails
    def masses(self, items: Sequence[str]) -> Floats:
        """Return the mass of each parent configuration of each item; see `SkillBelief`."""
        return self._index.masses(self._row, [self.bank.position(name) for name in items])

    @checked_if_it_fails
    def predict(self, item: str) -> Floats:
        """Return the probability of each response to an item given the responses so far."""
        predicted: Floats = self.masses([item])[0] @ self.bank.channel(item)
        return predicted

    @checked_if_it_fails
    def information(self, items: Sequence[str] | None = None) -> Floats:
        """Return the expected information of each item, in bits; see `SkillBelief`."""
        result, position = self._information, self.bank.position
        return result if items is None else result.take([position(name) for name in items])


ERROR_CHANCE = 2.0**-40
"""The chance that a response was an error, once the responses are impossible together.

A profile that one more response contradicts counts by this chance, times the ratio of its
probability given all other responses. A chance of 2**-20 is not small enough for that: it moves
probabilities by up to 3e-4 in tests of eight answers.
"""

_NEARLY_IMPOSSIBLE = 1e-6
"""Responses of smaller predicted probability are checked one by one."""


def likelihood(channel: Floats, response: int, error_chance: float) -> Floats:
    """Return the likelihood of a response that may be an error, ``(configurations,)``.

    Parameters
    ----------
    channel
        The channel of the item, as `ItemBank.channel` returns it.
    response
        The position of the response.
    error_chance
        The chance that it is an error.
    """
    column: Floats = channel[:, response]
    if not error_chance:
        return column
    softened: Floats = (1 - error_chance) * column + error_chance / channel.shape[1]
    return softened


def checked_error_chances(chances: ArrayLike, n_examinees: int | None = None) -> Floats:
    """Return chances of errors as an array.

    Raises
    ------
    InvalidArgumentError
        If they are not in [0, 1), or are neither one number nor one for each examinee.
    """
    numbers = number_array(chances, "chances")
    if n_examinees is not None and numbers.ndim:
        check_shape(numbers, "chances", (n_examinees,))
    wrong = numbers[~((numbers >= 0) & (numbers < 1))]
    if wrong.size:
        raise InvalidArgumentError(f"the chance of an error must be in [0, 1), got {wrong[0]}")
    return numbers


def updated_anyway(belief: SkillBelief, item: str, response: int | str) -> SkillBelief:
    """Return the belief after one more response, even if it is impossible for the bank.

    In that case each response counts as an error with the chance `ERROR_CHANCE`, which is the
    ``error_chance`` of the returned belief.

    Raises
    ------
    UnknownNameError, InvalidArgumentError
        As for `SkillBelief.update`.
    """
    try:
        return belief.update(item, response)
    except ImpossibleEvidenceError:
        return belief.with_errors(ERROR_CHANCE).update(item, response)


def updated_batch_anyway(
    beliefs: BatchBelief, items: NDArray[np.intp], responses: NDArray[np.intp]
) -> BatchBelief:
    """Return the beliefs after one more response of each examinee; see `updated_anyway`.

    Parameters
    ----------
    beliefs
        The belief about each examinee.
    items, responses
        ``(examinees,)``, as for `BatchBelief.update`.
    """
    try:
        return beliefs.update(items, responses)
    except ImpossibleEvidenceError:
        wrong = _impossible(beliefs, items, responses)
    chances = np.where(wrong, ERROR_CHANCE, beliefs.error_chances)
    return beliefs.with_errors(chances).update(items, responses)


def _impossible(
    beliefs: BatchBelief, items: NDArray[np.intp], responses: NDArray[np.intp]
) -> NDArray[np.bool_]:
    """Return a mask of the examinees whose response is impossible after their earlier ones."""
    asked, places = np.unique(np.maximum(items, 0), return_inverse=True)
    chances = beliefs.predict(asked)[np.arange(len(items)), places, np.maximum(responses, 0)]
    wrong = np.zeros(len(items), dtype=bool)
    for row in np.flatnonzero(chances < _NEARLY_IMPOSSIBLE).tolist():
        try:
            beliefs.take([row]).update(items[[row]], responses[[row]])
        except ImpossibleEvidenceError:
            wrong[row] = True
    return wrong


@dataclass(frozen=True, eq=False)
class BatchAnswers(Sealed):
    """The responses of many examinees; made by `none` or `of`, then by `after` and `take`."""

    bank: ItemBank
    responses: Responses
    """``(examinees, items)``, `MISSING` where there is none."""
    ranks: Responses
    """``(examinees, items)``, the number of responses given before each; `MISSING` likewise."""
    error_chances: Floats
    """``(examinees,)``, the chance that each response was an error."""

    @classmethod
    def none(cls, bank: ItemBank, n_examinees: int) -> BatchAnswers:
        """Return the answers of examinees who have answered nothing.

        Raises
        ------
        InvalidArgumentError
            If the number of examinees is negative or far too large.
        """
        most = 2**40 // len(bank.items)
        if not 0 <= n_examinees <= most:
            raise InvalidArgumentError(
                f"expected n_examinees from 0 to {most:,}, got {many(n_examinees)}", n_examinees
            )
        return cls.of(bank, np.full((n_examinees, len(bank.items)), MISSING, dtype=np.int16))

    @classmethod
    def of(cls, bank: ItemBank, responses: ArrayLike) -> BatchAnswers:
        """Return responses ``(examinees, items)`` as if given in the order of the bank.

        Raises
        ------
        InvalidArgumentError
            As for `checked_responses`.
        """
        codes = checked_responses(bank, responses)
        is_given = codes != MISSING
        ranks = np.where(is_given, np.cumsum(is_given, axis=1) - 1, MISSING).astype(np.int16)
        return cls(bank, codes, ranks, np.zeros(len(codes)))

    def __len__(self) -> int:
        return len(self.responses)

    def after(self, items: NDArray[np.intp], responses: NDArray[np.intp]) -> BatchAnswers:
        """Return the answers after one more of each examinee, as `checked_pairs` returns them."""
        rows = np.flatnonzero(items != MISSING)
        codes, ranks = self.responses.copy(), self.ranks.copy()
        codes[rows, items[rows]] = responses[rows]
        ranks[rows, items[rows]] = self.ranks[rows].max(axis=1) + 1
        return replace(self, responses=checked_responses(self.bank, codes), ranks=ranks)

    def checked_pairs(
        self, items: ArrayLike, responses: ArrayLike
    ) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Return new items and responses ``(examinees,)``, `MISSING` in both or in neither.

        Raises
        ------
        InvalidArgumentError
            If an item is out of range or was answered already; the message names the
            examinee.
        """
        codes, numbers = _whole(items, "items"), _whole(responses, "responses")
        for what, array in (("items", codes), ("responses", numbers)):
            if array.shape != (len(self),) or array.dtype.kind not in "iu":
                raise InvalidArgumentError(
                    f"expected whole numbers of shape ({len(self)},) as {what}, got an array of"
                    f" shape {array.shape} of {array.dtype}",
                    array.shape,
                )
        n_items = len(self.bank.items)
        wrong = np.flatnonzero((codes < MISSING) | (codes >= n_items))
        if wrong.size:
            raise InvalidArgumentError(
                f"expected items from 0 to {n_items - 1}, or {MISSING}, got"
                f" {codes[wrong[0]]} for examinee {wrong[0]}",
                int(codes[wrong[0]]),
            )
        is_given = (codes != MISSING) & (numbers != MISSING)
        rows = np.flatnonzero(is_given)
        again = rows[self.responses[rows, codes[rows]] != MISSING]
        if again.size:
            name = self.bank.item_names[codes[again[0]]]
            raise InvalidArgumentError(f"examinee {again[0]} has answered {name} already", name)
        return (
            np.where(is_given, codes, MISSING).astype(np.intp),
            np.where(is_given, numbers, MISSING).astype(np.intp),
        )

    def with_errors(self, chances: ArrayLike) -> BatchAnswers:
        """Return the answers with other chances of errors, one for all or ``(examinees,)``."""
        checked = checked_error_chances(chances, len(self))
        return replace(self, error_chances=np.broadcast_to(checked, (len(self),)).copy())

    def take(self, rows: NDArray[np.intp]) -> BatchAnswers:
        """Return the answers of some examinees, by position."""
        return BatchAnswers(
            self.bank, self.responses[rows], self.ranks[rows], self.error_chances[rows]
        )

    def alone(self, examinee: int) -> tuple[tuple[tuple[str, int], ...], float]:
        """Return one examinee's answers by item, in order, and the chance of errors."""
        positions([examinee], len(self), "examinee")
        codes, ranks = self.responses[examinee], self.ranks[examinee]
        places = [place for place in np.argsort(ranks, kind="stable") if ranks[place] != MISSING]
        answers = tuple((self.bank.item_names[place], int(codes[place])) for place in places)
        return answers, float(self.error_chances[examinee])


@dataclass(frozen=True, eq=False)
class AnsweredBatch(_Causes):
    """A base of beliefs about many examinees, by table or by tree."""

    answers: BatchAnswers
    """The responses so far."""

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.answers.bank

    @property
    def responses(self) -> Responses:
        """The responses so far, ``(examinees, items)``, read-only."""
        return self.answers.responses

    @property
    def error_chances(self) -> Floats:
        """The chance that each response was an error, ``(examinees,)``; see `with_errors`."""
        return self.answers.error_chances

    @checked_if_it_fails
    def masses(self, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the masses of parent configurations, ``(examinees, items, configurations)``."""
        return self._index.masses(self._row, self._places(items))

    @checked_if_it_fails
    def predict(self, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the probability of each response, ``(examinees, items, responses)``."""
        channels = self.bank.channels([self.bank.item_names[i] for i in self._places(items)])
        predicted: Floats = np.einsum("nic,icr->nir", self.masses(items), channels)
        return predicted

    @checked_if_it_fails
    def information(self, items: Sequence[int] | NDArray[np.intp] | None = None) -> Floats:
        """Return the expected information of items, in bits, ``(examinees, items)``."""
        result = self._information
        return result if items is None else result[:, self._places(items)]

    def _places(self, items: Sequence[int] | NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the positions of items, checked."""
        places = whole_array(items, "items")
        if places.ndim != 1 or np.any((places < 0) | (places >= len(self.bank.items))):
            raise InvalidArgumentError(
                f"expected items as positions from 0 to {len(self.bank.items) - 1}, got"
                f" {shown(items)}",
                items,
            )
        return places


def checked_responses(bank: ItemBank, responses: ArrayLike) -> Responses:
    """Return a read-only copy of responses ``(examinees, items)``, checked.

    Raises
    ------
    InvalidArgumentError
        If they are no such array of whole numbers, or an item has no such response; the
        message names row and item.
    """
    codes = _whole(responses, "responses")
    if codes.ndim != 2 or codes.shape[1] != len(bank.items) or codes.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"expected whole numbers of shape (examinees, {len(bank.items)}), got an array of"
            f" shape {codes.shape} of {codes.dtype}",
            codes.shape,
        )
    most = np.array([len(bank.responses(name)) for name in bank.item_names])
    wrong = np.argwhere((codes < MISSING) | (codes >= most))
    if wrong.size:
        row, column = wrong[0].tolist()
        raise InvalidArgumentError(
            f"expected a response from 0 to {most[column] - 1}, or {MISSING} where there is none,"
            f" in row {row}, item {bank.item_names[column]}, got {codes[row, column]}",
            int(codes[row, column]),
        )
    copy = codes.astype(np.int16)
    copy.setflags(write=False)
    return copy


def _whole(values: ArrayLike, what: str) -> NDArray[Any]:
    """Return an array of any kind; raises `InvalidArgumentError` for rows of several lengths."""
    try:
        return np.asarray(values)
    except ValueError:
        return whole_array(values, what)


def impossible_rows(
    bank: ItemBank, responses: Responses, rows: Sequence[int], *, who: str | None = None
) -> ImpossibleEvidenceError:
    """Return the error that names the responses of the first of some examinees.

    The message calls the examinee ``who``; default the position.
    """
    first = responses[rows[0]]
    evidence: dict[str, Any] = {
        name: bank.responses(name)[number]
        for name, number in zip(bank.item_names, first.tolist(), strict=True)
        if number != MISSING
    }
    listed = ", ".join(f"{name}={state}" for name, state in evidence.items())
    more = f" and {len(rows) - 1} more" if len(rows) > 1 else ""
    return ImpossibleEvidenceError(
        f"no profile of the skills explains the responses {listed} of examinee"
        f" {rows[0] if who is None else who}{more}",
        evidence,
    )
