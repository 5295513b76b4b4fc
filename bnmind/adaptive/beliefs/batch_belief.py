"""What a belief about many examinees at once is, whatever it is computed with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import whole_array
from bnmind._messages import many
from bnmind._values import CheckedValue
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError, InvalidResponseError
from bnmind.information import Floats

__all__ = [
    "MISSING",
    "BatchBelief",
    "BatchProfiles",
    "Responses",
    "answers_of",
    "checked_answers",
    "checked_responses",
    "impossible_rows",
    "steps_after",
    "steps_of",
]

MISSING = -1
"""Stands in arrays for a response that there is not, and for an item that is not asked."""

Responses = NDArray[np.int16]
"""``(examinees, items)`` positions of responses, `MISSING` where there is none."""


@dataclass(frozen=True, eq=False)
class BatchProfiles(CheckedValue):
    """The most probable profile of each examinee."""

    levels: NDArray[np.intp]
    """``(examinees, skills)``, the positions of the levels."""
    probabilities: Floats
    """``(examinees,)``, how probable the whole profiles are."""


class BatchBelief(Protocol):
    """Beliefs about the skills of many examinees, each with responses of their own.

    The surface of `SkillBelief` with the examinees as a first axis; items are positions
    in ``bank.items`` here.
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
            ``(examinees,)`` positions of the items asked; `MISSING` for who is not asked.
        responses
            ``(examinees,)`` positions of their responses; what stands beside a missing
            item does not matter, and a missing response says nothing.

        Raises
        ------
        InvalidResponseError
            If an item or a response is out of range, or was answered already; it names
            the examinee.
        ImpossibleEvidenceError
            If an examinee's responses together have probability zero.
        """

    def with_errors(self, chances: ArrayLike) -> Self:
        """Return the beliefs as if each response had been an error with some chance.

        Parameters
        ----------
        chances
            In [0, 1), one for all or ``(examinees,)``; see `SkillBelief.with_errors`.
        """

    def take(self, examinees: ArrayLike) -> Self:
        """Return the beliefs about some of the examinees, by position or by a mask."""

    def alone(self, examinee: int) -> SkillBelief:
        """Return the belief about one examinee, by position."""

    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, ``(examinees, levels)``."""

    def profile(self) -> BatchProfiles:
        """Return each examinee's most probable profile of the skills."""

    def masses(self, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the masses of parent configurations, ``(examinees, items, configurations)``."""

    def predict(self, items: Sequence[int] | NDArray[np.intp]) -> Floats:
        """Return the probability of each response, ``(examinees, items, responses)``."""

    def information(self, items: Sequence[int] | NDArray[np.intp] | None = None) -> Floats:
        """Return the information that items promise, ``(examinees, items)``, in bits.

        As `SkillBelief.information`; all items unless given.
        """


def checked_number(bank: ItemBank, n_examinees: int) -> None:
    """Raise `InvalidArgumentError` unless there can be so many examinees."""
    most = 2**40 // len(bank.items)
    if not 0 <= n_examinees <= most:
        raise InvalidArgumentError(
            f"expected n_examinees from 0 to {most:,}, got {many(n_examinees)}", n_examinees
        )


def checked_responses(bank: ItemBank, responses: ArrayLike) -> Responses:
    """Return a read-only copy of responses ``(examinees, items)``, checked.

    Raises
    ------
    InvalidResponseError
        If they are no such array of whole numbers, or a response is not one that its
        item has; it names row and column.
    """
    given = _whole(responses, "responses")
    if given.ndim != 2 or given.shape[1] != len(bank.items) or given.dtype.kind not in "iu":
        raise InvalidResponseError(
            f"expected whole numbers of shape (examinees, {len(bank.items)}), got an array of"
            f" shape {given.shape} of {given.dtype}",
            given.shape,
        )
    most = np.array([len(bank.responses(name)) for name in bank.item_names])
    wrong = np.argwhere((given < MISSING) | (given >= most))
    if wrong.size:
        row, column = wrong[0].tolist()
        raise InvalidResponseError(
            f"expected a response from 0 to {most[column] - 1}, or {MISSING} where there is none,"
            f" in row {row}, item {bank.item_names[column]}, got {given[row, column]}",
            int(given[row, column]),
        )
    made = given.astype(np.int16)
    made.setflags(write=False)
    return made


def checked_answers(
    bank: ItemBank, before: Responses, items: ArrayLike, responses: ArrayLike
) -> tuple[NDArray[np.intp], NDArray[np.intp], Responses]:
    """Return items and responses with `MISSING` in both or neither, and all responses then."""
    n = len(before)
    asked, given = _whole(items, "items"), _whole(responses, "responses")
    for what, found in (("items", asked), ("responses", given)):
        if found.shape != (n,) or found.dtype.kind not in "iu":
            raise InvalidResponseError(
                f"expected whole numbers of shape ({n},) as {what}, got an array of shape"
                f" {found.shape} of {found.dtype}",
                found.shape,
            )
    wrong = np.flatnonzero((asked < MISSING) | (asked >= len(bank.items)))
    if wrong.size:
        raise InvalidResponseError(
            f"expected items from 0 to {len(bank.items) - 1}, or {MISSING}, got"
            f" {asked[wrong[0]]} of examinee {wrong[0]}",
            int(asked[wrong[0]]),
        )
    there = (asked != MISSING) & (given != MISSING)
    asked = np.where(there, asked, MISSING).astype(np.intp)
    given = np.where(there, given, MISSING).astype(np.intp)
    rows = np.flatnonzero(there)
    again = rows[before[rows, asked[rows]] != MISSING]
    if again.size:
        name = bank.item_names[asked[again[0]]]
        raise InvalidResponseError(
            f"expected an item without a response, got {name} of examinee {again[0]}", name
        )
    after = before.copy()
    after[rows, asked[rows]] = given[rows]
    return asked, given, checked_responses(bank, after)


def steps_of(responses: Responses) -> Responses:
    """Return after how many others each response came, if they came in the order of the bank.

    ``(examinees, items)``; `MISSING` where there is no response.
    """
    there = responses != MISSING
    steps = np.where(there, np.cumsum(there, axis=1) - 1, MISSING).astype(np.int16)
    steps.setflags(write=False)
    return steps


def steps_after(steps: Responses, asked: NDArray[np.intp]) -> Responses:
    """Return the same after one more response of each examinee who was asked an item."""
    rows = np.flatnonzero(asked != MISSING)
    after = steps.copy()
    after[rows, asked[rows]] = steps[rows].max(axis=1) + 1
    after.setflags(write=False)
    return after


def answers_of(
    bank: ItemBank, responses: Responses, steps: Responses
) -> tuple[tuple[str, int], ...]:
    """Return the responses ``(items,)`` of one examinee by item, in the order of the answers."""
    places = [place for place in np.argsort(steps, kind="stable") if steps[place] != MISSING]
    return tuple((bank.item_names[place], int(responses[place])) for place in places)


def _whole(given: ArrayLike, what: str) -> NDArray[Any]:
    """Return an array of whatever kind; what is none, as rows of several lengths, is told."""
    try:
        return np.asarray(given)
    except ValueError:
        return whole_array(given, what)


def impossible_rows(
    bank: ItemBank, responses: Responses, rows: Sequence[int], *, who: str | None = None
) -> ImpossibleEvidenceError:
    """Return the error that names the responses of the first of some examinees.

    The examinee is called by position unless it is said who it is.
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
        f"expected responses that some profile of the skills explains, got {listed} of examinee"
        f" {rows[0] if who is None else who}{more}",
        evidence,
    )
