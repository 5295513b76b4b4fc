"""Beliefs about many examinees as a table of examinees by profiles."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bnmind._arguments import checked, checked_if_it_fails, positions
from bnmind._values import CheckedValue, sealed
from bnmind.adaptive.beliefs.batch_belief import (
    MISSING,
    BatchProfiles,
    Responses,
    answers_of,
    checked_answers,
    checked_number,
    checked_responses,
    impossible_rows,
    steps_after,
    steps_of,
)
from bnmind.adaptive.beliefs.cause_index import CauseIndex
from bnmind.adaptive.beliefs.item_information import BatchItemMasses
from bnmind.adaptive.beliefs.profile_space import DEFAULT_PROFILES, ProfileSpace
from bnmind.adaptive.beliefs.response_errors import checked_error_chances
from bnmind.adaptive.beliefs.table_belief import TableBelief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.errors import TooLargeError, UnknownNameError
from bnmind.information import Floats, entropy

__all__ = ["DEFAULT_BATCH_CELLS", "TableBatch"]

DEFAULT_BATCH_CELLS = 2**26
"""Cells that a table of examinees by profiles may have unless the caller says otherwise."""

_TIE = 1e-12
"""Probabilities of profiles closer than this, relative to the largest, count as equal."""


@dataclass(frozen=True, eq=False)
class TableBatch(BatchItemMasses, CheckedValue):
    """Beliefs kept as the probability of every profile for every examinee.

    Made by `start` or `of`, and from then on by `update`. See `BatchBelief`.

    Examples
    --------
    >>> bank = ItemBank.from_qmatrix([[1, 0], [1, 1]], guess=0.2, slip=0.1)
    >>> batch = TableBatch.of(bank, [[1, -1], [0, -1], [-1, -1]])
    >>> batch.marginal("skill_1").round(3).tolist()
    [[0.182, 0.818], [0.889, 0.111], [0.5, 0.5]]
    """

    space: ProfileSpace
    responses: Responses
    """``(examinees, items)``, read-only."""
    table: Floats
    """``(examinees, profiles)``, the rows summing to one; read-only."""
    log_evidence: Floats
    """``(examinees,)``, natural logarithm of the probability of the responses."""
    steps: Responses
    """``(examinees, items)``, after how many others each response came; read-only."""
    error_chances: Floats
    """``(examinees,)``, the chance that each response was an error; see `with_errors`."""

    @classmethod
    @checked
    def start(
        cls, bank: ItemBank, n_examinees: int, *, max_cells: int = DEFAULT_BATCH_CELLS
    ) -> TableBatch:
        """Return the beliefs before the first response.

        Raises
        ------
        TooLargeError
            If there are more than ``max_cells`` examinees times profiles.
        """
        checked_number(bank, n_examinees)
        nothing = np.full((n_examinees, len(bank.items)), MISSING, dtype=np.int16)
        return cls.of(bank, nothing, max_cells=max_cells)

    @classmethod
    @checked
    def of(
        cls, bank: ItemBank, responses: ArrayLike, *, max_cells: int = DEFAULT_BATCH_CELLS
    ) -> TableBatch:
        """Return the beliefs given responses ``(examinees, items)``, `MISSING` where none.

        Raises
        ------
        InvalidResponseError
            If a response is out of range; it names row and item.
        ImpossibleEvidenceError
            If an examinee's responses have probability zero.
        TooLargeError
            If there are more than ``max_cells`` examinees times profiles.
        """
        space = ProfileSpace(bank, max(DEFAULT_PROFILES, max_cells))
        checked = checked_responses(bank, responses)
        needed = len(checked) * int(np.prod(space.shape))
        if needed > max_cells:
            raise TooLargeError(
                f"expected at most {max_cells:,} examinees times profiles, got {needed:,}; take"
                " the examinees in parts",
                needed=needed,
                budget=max_cells,
            )
        return _given(space, checked, steps_of(checked), np.zeros(len(checked)))

    def __reduce__(self) -> tuple[Any, ...]:
        return (_given, (self.space, self.responses, self.steps, self.error_chances))

    def __repr__(self) -> str:
        return f"TableBatch({len(self)} examinees, {self.table.shape[1]} profiles)"

    def __len__(self) -> int:
        return len(self.responses)

    @property
    def bank(self) -> ItemBank:
        """The item bank."""
        return self.space.bank

    @property
    def _index(self) -> CauseIndex:
        return self.space.index

    @checked
    def update(self, items: ArrayLike, responses: ArrayLike) -> TableBatch:
        """Return the beliefs after one more response of each; see `BatchBelief.update`."""
        asked, given, after = checked_answers(self.bank, self.responses, items, responses)
        table = self.table.copy()
        chances = self.error_chances
        for item in np.unique(asked[asked != MISSING]).tolist():
            for response, chance in _kinds(given[asked == item], chances[asked == item]):
                rows = np.flatnonzero((asked == item) & (given == response) & (chances == chance))
                table[rows] = self.space.likely(self.table[rows], item, response, chance)
        scaled = _scaled(self.space, after, table, self.log_evidence)
        return _made(self.space, after, *scaled, steps_after(self.steps, asked), chances)

    @checked
    def with_errors(self, chances: ArrayLike) -> TableBatch:
        """Return the beliefs with other chances of errors; see `BatchBelief.with_errors`."""
        wanted = np.broadcast_to(checked_error_chances(chances, len(self)), (len(self),)).copy()
        rows = np.flatnonzero(wanted != self.error_chances)
        if not len(rows):
            return self
        anew = _given(self.space, self.responses[rows], self.steps[rows], wanted[rows])
        table, log_evidence = self.table.copy(), self.log_evidence.copy()
        table[rows], log_evidence[rows] = anew.table, anew.log_evidence
        return _made(self.space, self.responses, table, log_evidence, self.steps, wanted)

    @checked
    def take(self, examinees: ArrayLike) -> TableBatch:
        """Return the beliefs about some of the examinees, by position or by a mask."""
        rows = positions(examinees, len(self), "examinees")
        return _made(
            self.space,
            self.responses[rows],
            self.table[rows],
            self.log_evidence[rows],
            self.steps[rows],
            self.error_chances[rows],
        )

    @checked
    def alone(self, examinee: int) -> TableBelief:
        """Return the belief about one examinee, by position."""
        positions([examinee], len(self), "examinee")
        answers = answers_of(self.bank, self.responses[examinee], self.steps[examinee])
        row = self.table[examinee]
        chances = (float(self.log_evidence[examinee]), float(self.error_chances[examinee]))
        return TableBelief(self.space, answers, row, *chances)

    @checked_if_it_fails
    def marginal(self, skill: str) -> Floats:
        """Return the probability of each level of a skill, ``(examinees, levels)``."""
        if skill not in self.space.place:
            raise UnknownNameError("skill", skill, self.space.place)
        return self.space.marginal(self.table, skill)

    @cached_property
    def entropy(self) -> Floats:
        """The entropy of all skills jointly, in bits, ``(examinees,)``."""
        return sealed(entropy(self.table))

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


def _kinds(responses: NDArray[np.intp], chances: Floats) -> list[tuple[int, float]]:
    """Return the different pairs of a response and a chance of an error."""
    return sorted(set(zip(responses.tolist(), chances.tolist(), strict=True)))


def _given(
    space: ProfileSpace, responses: Responses, steps: Responses, chances: Floats
) -> TableBatch:
    """Return the beliefs given all responses, the likelihoods multiplied in one by one."""
    table = np.repeat(space.prior[None, :], len(responses), axis=0)
    log_evidence = np.zeros(len(responses))
    for item in range(responses.shape[1]):
        column = responses[:, item].astype(np.intp)
        there = column != MISSING
        for response, chance in _kinds(column[there], chances[there]):
            rows = np.flatnonzero((column == response) & (chances == chance))
            table[rows] = space.likely(table[rows], item, response, chance)
        # Now and then, so that nothing vanishes.
        if item % 16 == 15:
            table, log_evidence = _scaled(space, responses, table, log_evidence)
    table, log_evidence = _scaled(space, responses, table, log_evidence)
    return _made(space, responses, table, log_evidence, steps, chances)


def _scaled(
    space: ProfileSpace, responses: Responses, table: Floats, log_evidence: Floats
) -> tuple[Floats, Floats]:
    totals = table.sum(axis=1)
    wrong = np.flatnonzero(~(totals > 0))
    if wrong.size:
        raise impossible_rows(space.bank, responses, wrong.tolist())
    return table / totals[:, None], log_evidence + np.log(totals)


def _made(
    space: ProfileSpace,
    responses: Responses,
    table: Floats,
    log_evidence: Floats,
    steps: Responses,
    chances: Floats,
) -> TableBatch:
    for array in (responses, table, log_evidence, steps, chances):
        array.setflags(write=False)
    return TableBatch(space, responses, table, log_evidence, steps, chances)
