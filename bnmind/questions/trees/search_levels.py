"""The beliefs of a search, level by level, and their numbers.

A belief is identified by its answers in ascending order, whatever the order in which they were
given, so that beliefs that are reached on several ways are one.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats

__all__ = ["Level", "distinct_rows"]

Ints = NDArray[np.int32]


def _no_floats() -> Floats:
    return np.zeros(0)


@dataclass(frozen=True, eq=False, kw_only=True)
class Level:
    """The beliefs after the same number of answers. Never changed: a round makes new ones."""

    answers: Ints
    """``(beliefs, answers)``, ascending; see `TreeProblem.open_after`."""
    probability: Floats = field(default_factory=_no_floats)
    """``(beliefs,)``, the probability of the answers."""
    end: Floats = field(default_factory=_no_floats)
    """``(beliefs,)``, the value if the tree ends here."""
    low: Floats = field(default_factory=_no_floats)
    """``(beliefs,)``, a lower bound of the value of every tree from here."""
    high: Floats = field(default_factory=_no_floats)
    """``(beliefs,)``, the value of a known tree from here."""
    row: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """``(beliefs,)``, the place among the expanded beliefs; −1 if not expanded."""
    owner: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.int32))
    """``(expanded,)``, the belief of each expanded one."""
    is_asked: NDArray[np.bool_] = field(default_factory=lambda: np.zeros((0, 0), dtype=bool))
    """``(expanded, questions)``, a mask of the questions that may be best."""
    children: Ints = field(default_factory=lambda: np.zeros((0, 0, 0), dtype=np.int32))
    """``(expanded, questions, outcomes)``, beliefs of the next level; −1 where there is none."""
    low_after: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """``(expanded, questions)``, lower bounds of the values with each question."""
    high_after: Floats = field(default_factory=lambda: np.zeros((0, 0)))
    """``(expanded, questions)``, known values with each question."""

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def n_expanded(self) -> int:
        """The number of expanded beliefs."""
        return len(self.owner)

    def with_beliefs(
        self, answers: Ints, probability: Floats, end: Floats, low: Floats, high: Floats
    ) -> Level:
        """Return the level with more beliefs at its end."""
        return replace(
            self,
            answers=np.concatenate([self.answers, answers]),
            probability=np.concatenate([self.probability, probability]),
            end=np.concatenate([self.end, end]),
            low=np.concatenate([self.low, low]),
            high=np.concatenate([self.high, high]),
            row=np.concatenate([self.row, np.full(len(answers), -1, dtype=np.int32)]),
        )

    def with_expanded(self, owner: Ints, is_asked: NDArray[np.bool_], children: Ints) -> Level:
        """Return the level with more beliefs expanded; their values are not yet updated."""
        row = self.row.copy()
        row[owner] = np.arange(self.n_expanded, self.n_expanded + len(owner))
        unknown = np.full(is_asked.shape, np.nan)
        if not self.n_expanded:
            return replace(
                self,
                row=row,
                owner=owner,
                is_asked=is_asked,
                children=children,
                low_after=unknown,
                high_after=unknown,
            )
        return replace(
            self,
            row=row,
            owner=np.concatenate([self.owner, owner]),
            is_asked=np.concatenate([self.is_asked, is_asked]),
            children=np.concatenate([self.children, children]),
            low_after=np.concatenate([self.low_after, unknown]),
            high_after=np.concatenate([self.high_after, unknown]),
        )

    def updated(self, below: Level, price: Floats) -> Level:
        """Return the level with values of its expanded beliefs from those of the next level."""
        is_there = self.children >= 0
        weight = np.where(is_there, below.probability[self.children], 0.0)
        total = np.maximum(self.probability[self.owner], 1e-300)[:, None]

        def after(values: Floats) -> Floats:
            sums = np.sum(weight * np.where(is_there, values[self.children], 0.0), axis=2)
            found: Floats = np.where(self.is_asked, sums / total + price, np.inf)
            return found

        low_after, high_after = after(below.low), after(below.high)
        low, high = self.low.copy(), self.high.copy()
        end = self.end[self.owner]
        least = np.minimum(low_after.min(axis=1), end)
        low[self.owner] = np.maximum(low[self.owner], least)
        high[self.owner] = np.minimum(high[self.owner], np.minimum(high_after.min(axis=1), end))
        # By rounding alone a lower bound can be above a known value.
        low = np.minimum(low, high)
        return replace(self, low=low, high=high, low_after=low_after, high_after=high_after)


def distinct_rows(rows: Ints, base: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the first place of each distinct row, and the number of each row's own.

    Parameters
    ----------
    rows
        ``(rows, columns)`` of numbers below ``base``.
    base
        Above every number.
    """
    keys = np.zeros(len(rows), dtype=np.int64)
    largest = 1
    for column in rows.T:
        if largest > 2**62 // base:
            _, keys = np.unique(keys, return_inverse=True)
            keys = keys.reshape(-1)
            largest = len(keys)
        keys = keys * base + column
        largest *= base
    _, first, place = np.unique(keys, return_index=True, return_inverse=True)
    return first, place.reshape(-1)
