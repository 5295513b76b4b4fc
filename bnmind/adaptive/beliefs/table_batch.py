"""Beliefs about many examinees as a table of examinees by profiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, checked_if_it_fails, positions
from bnmind._messages import counted
from bnmind._values import Value, sealed
from bnmind.adaptive.beliefs.batch_answers import AnsweredBatch, BatchAnswers, impossible_rows
from bnmind.adaptive.beliefs.batch_belief import MISSING, BatchProfiles
from bnmind.adaptive.beliefs.cause_index import CauseIndex
from bnmind.adaptive.beliefs.profile_space import DEFAULT_PROFILES, ProfileSpace
from bnmind.adaptive.beliefs.table_belief import TableBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import TooLargeError
from bnmind.information import Floats, unchecked_entropy

__all__ = ["DEFAULT_BATCH_CELLS", "TableBatch"]

DEFAULT_BATCH_CELLS = 2**26
"""The default limit of cells in a table of examinees by profiles."""

_TIE = 1e-12
"""Probabilities of profiles closer than this, relative to the largest, count as equal."""


@dataclass(frozen=True, eq=False)
class TableBatch(AnsweredBatch, Value):
    """Beliefs stored as the probability of every profile for every examinee.

    Created by `start` or `of`, then by `update`. See `BatchBelief`.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> batch = TableBatch.of(bank, [[1, -1], [0, -1], [-1, -1]])
    >>> batch.marginal("skill_1").round(3).tolist()
    [[0.182, 0.818], [0.889, 0.111], [0.5, 0.5]]
    """

    space: ProfileSpace
    """The profiles of the bank."""
    table: Floats
    """``(examinees, profiles)``, the rows summing to one; read-only."""
    log_evidence: Floats
    """``(examinees,)``, natural logarithm of the probability of the responses."""

    @classmethod
    @checked
    def start(
        cls, bank: ItemBank, n_examinees: int, *, max_cells: int = DEFAULT_BATCH_CELLS
    ) -> TableBatch:
        """Return the beliefs before the first response.

        Parameters
        ----------
        bank
            The items.
        n_examinees
            The number of examinees, at least 0.
        max_cells
            The most cells, examinees times profiles, that the tables may have.

        Raises
        ------
        TooLargeError
            If examinees times profiles are more than ``max_cells``.
        """
        return _limited(BatchAnswers.none(bank, n_examinees), max_cells)

    @classmethod
    @checked
    def of(
        cls, bank: ItemBank, responses: ArrayLike, *, max_cells: int = DEFAULT_BATCH_CELLS
    ) -> TableBatch:
        """Return the beliefs given responses ``(examinees, items)``; `MISSING` where none.

        Parameters
        ----------
        bank
            The items.
        responses
            ``(examinees, items)``: the number of each response from 0, or `MISSING`.
        max_cells
            The most cells, examinees times profiles, that the tables may have.

        Raises
        ------
        InvalidArgumentError
            If a response is out of range; the message names row and item.
        ImpossibleEvidenceError
            If an examinee's responses have probability zero.
        TooLargeError
            If examinees times profiles are more than ``max_cells``.
        """
        return _limited(BatchAnswers.of(bank, responses), max_cells)

    def __reduce__(self) -> tuple[Any, ...]:
        return (_after_all, (self.answers, self.space))

    def __repr__(self) -> str:
        return (
            f"TableBatch({counted(len(self), 'examinee')},"
            f" {counted(self.table.shape[1], 'profile')})"
        )

    @property
    def _index(self) -> CauseIndex:
        return self.space.index

    @checked
    def update(self, items: ArrayLike, responses: ArrayLike) -> TableBatch:
        """Return the beliefs after one more response of each; see `BatchBelief.update`."""
        asked, numbers = self.answers.checked_pairs(items, responses)
        answers = self.answers.after(asked, numbers)
        table = self.table.copy()
        for item in np.unique(asked[asked != MISSING]).tolist():
            _multiply(self.space, table, item, np.where(asked == item, numbers, MISSING), answers)
        return _made(answers, self.space, *_scaled(answers, table, self.log_evidence))

    @checked
    def with_errors(self, chances: ArrayLike) -> TableBatch:
        """Return the beliefs with other chances of errors; see `BatchBelief.with_errors`."""
        answers = self.answers.with_errors(chances)
        rows = np.flatnonzero(answers.error_chances != self.error_chances)
        if not len(rows):
            return self
        changed = _after_all(answers.take(rows), self.space)
        table, log_evidence = self.table.copy(), self.log_evidence.copy()
        table[rows], log_evidence[rows] = changed.table, changed.log_evidence
        return _made(answers, self.space, table, log_evidence)

    @checked
    def take(self, examinees: ArrayLike) -> TableBatch:
        """Return the beliefs about some of the examinees, by position or by a mask."""
        rows = positions(examinees, len(self), "examinees")
        answers = self.answers.take(rows)
        return _made(answers, self.space, self.table[rows], self.log_evidence[rows])

    @checked
    def alone(self, examinee: int) -> TableBelief:
        """Return the belief about one examinee, by position."""
        answers, chance = self.answers.alone(examinee)
        evidence = float(self.log_evidence[examinee])
        return TableBelief(
            space=self.space,
            answers=answers,
            table=self.table[examinee],
            log_evidence=evidence,
            error_chance=chance,
        )

    @checked_if_it_fails
    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, ``(examinees, levels)``."""
        return self.space.marginal(self.table, skill)

    @cached_property
    def entropy(self) -> Floats:
        """The entropy of all skills jointly, in bits, ``(examinees,)``."""
        return sealed(unchecked_entropy(self.table))

    def profile(self) -> BatchProfiles:
        """Return each examinee's most probable profile; the lowest of equal ones."""
        table = self.space.skills(self.table)
        largest = table.max(axis=1, keepdims=True)
        best = np.argmax(table >= largest * (1 - _TIE), axis=1)
        levels = np.unravel_index(best, self.space.shape[: len(self.bank.skills)])
        return BatchProfiles(np.stack(levels, axis=1), table[np.arange(len(table)), best])

    @cached_property
    def _row(self) -> Floats:
        return self.space.sums(self.table)


def _limited(answers: BatchAnswers, max_cells: int) -> TableBatch:
    """Return the beliefs given all answers, unless their table would be too large."""
    space = ProfileSpace(answers.bank, max(DEFAULT_PROFILES, max_cells))
    needed = len(answers) * int(np.prod(space.shape))
    if needed > max_cells:
        raise TooLargeError(
            f"the table of {len(answers):,} examinees by profiles would have {needed:,} cells;"
            f" the limit is {max_cells:,}: take the examinees in parts",
            needed=needed,
            budget=max_cells,
        )
    return _after_all(answers, space)


def _after_all(answers: BatchAnswers, space: ProfileSpace) -> TableBatch:
    """Return the beliefs given all answers, by one item after the other."""
    table = np.repeat(space.prior[None, :], len(answers), axis=0)
    log_evidence = np.zeros(len(answers))
    for item in range(answers.responses.shape[1]):
        _multiply(space, table, item, answers.responses[:, item].astype(np.intp), answers)
        # Now and then, so that no row underflows.
        if item % 16 == 15:
            table, log_evidence = _scaled(answers, table, log_evidence)
    return _made(answers, space, *_scaled(answers, table, log_evidence))


def _made(
    answers: BatchAnswers, space: ProfileSpace, table: Floats, log_evidence: Floats
) -> TableBatch:
    """Return the beliefs with new arrays, which are sealed and need not be copied."""
    return TableBatch(answers, space, sealed(table), sealed(log_evidence))


def _multiply(
    space: ProfileSpace,
    table: Floats,
    item: int,
    responses: NDArray[np.intp],
    answers: BatchAnswers,
) -> None:
    """Multiply the likelihood of responses ``(examinees,)`` to an item into a table."""
    chances = answers.error_chances
    is_given = responses != MISSING
    pairs = zip(responses[is_given].tolist(), chances[is_given].tolist(), strict=True)
    for response, chance in sorted(set(pairs)):
        rows = np.flatnonzero((responses == response) & (chances == chance))
        table[rows] = space.likely(table[rows], item, response, chance)


def _scaled(answers: BatchAnswers, table: Floats, log_evidence: Floats) -> tuple[Floats, Floats]:
    """Return the table with rows summing to one, and the evidence with their sums."""
    totals = table.sum(axis=1)
    wrong = np.flatnonzero(~(totals > 0))
    if wrong.size:
        raise impossible_rows(answers.bank, answers.responses, wrong.tolist())
    return table / totals[:, None], log_evidence + np.log(totals)
