"""The responses of many examinees, checked, with the order in which each examinee gave them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import positions, whole_array
from bnmind._messages import many
from bnmind._values import Sealed
from bnmind.adaptive.beliefs.batch_belief import MISSING, Responses
from bnmind.adaptive.beliefs.item_information import BatchItemMasses
from bnmind.adaptive.beliefs.response_errors import checked_error_chances
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import ImpossibleEvidenceError, InvalidArgumentError
from bnmind.information import Floats

__all__ = ["AnsweredBatch", "BatchAnswers", "checked_responses", "impossible_rows"]


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
class AnsweredBatch(BatchItemMasses):
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
