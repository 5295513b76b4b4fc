"""Which answers change a belief in the same way, so that equal beliefs can be merged exactly.

The likelihood of an answer is a column of the channel of its item. Two answers with proportional
columns over the same cause have the same effect, and two with inverse columns cancel. The effect
of all answers of an examinee is then given by whole numbers: for each kind of answers, how many
there are, less those that cancel. Beliefs with the same numbers are equal.

In a test without luck, two paths of different answers to the same items lead to equal beliefs
only in this way, as they differ in at least one response to the same item.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Sealed
from bnmind.adaptive.beliefs.batch_belief import MISSING, Responses
from bnmind.adaptive.items.bank import ItemBank
from bnmind.information import Floats

__all__ = ["AnswerKinds"]

_TOLERANCE = 1e-12
"""Columns whose ratio is constant up to this relative difference count as proportional."""


@dataclass(frozen=True, eq=False)
class AnswerKinds(Sealed):
    """The kind of each answer to each item of a bank; made by `of`."""

    numbers: NDArray[np.intp]
    """``(items, responses)``, the number of the kind; 0 for answers without effect."""
    signs: NDArray[np.int16]
    """``(items, responses)``: 1, or −1 where an answer cancels one of the kind; 0 for no effect."""
    n_kinds: int
    """The number of kinds, including kind 0."""

    @classmethod
    def of(cls, bank: ItemBank) -> AnswerKinds:
        """Return the kinds of all answers to the items of a bank."""
        width = max(len(bank.responses(name)) for name in bank.item_names)
        numbers = np.zeros((len(bank.items), width), dtype=np.intp)
        signs = np.zeros((len(bank.items), width), dtype=np.int16)
        known: dict[int, list[tuple[int, Floats]]] = {}
        n_kinds = 1
        for item, channel in enumerate(bank.item_channels):
            of_cause = known.setdefault(int(bank.cause_numbers[item]), [])
            for response, column in enumerate(channel.T):
                scaled = column / max(column.max(), 1e-300)
                if _is_constant(scaled):
                    continue
                number, sign = _found(of_cause, scaled)
                if number == 0:
                    number, sign = n_kinds, 1
                    n_kinds += 1
                    of_cause.append((number, scaled))
                numbers[item, response], signs[item, response] = number, sign
        return cls(numbers, signs, n_kinds)

    @property
    def can_merge(self) -> bool:
        """Whether two answers to different items, or to one item, can have the same effect."""
        return self.n_kinds - 1 < int((self.signs != 0).sum())

    def keys(self, responses: Responses) -> NDArray[np.int16]:
        """Return the asked items and the effects, ``(examinees, items + kinds)``, as key rows."""
        asked = responses != MISSING
        rows, items = np.nonzero(asked)
        given = responses[rows, items].astype(np.intp)
        effects = np.zeros((len(responses), self.n_kinds), dtype=np.int16)
        np.add.at(effects, (rows, self.numbers[items, given]), self.signs[items, given])
        return np.concatenate([asked.astype(np.int16), effects], axis=1)


def _is_constant(column: Floats) -> bool:
    return bool(column.min() > 0 and np.ptp(column) <= _TOLERANCE)


def _found(known: list[tuple[int, Floats]], column: Floats) -> tuple[int, int]:
    """Return the number and the sign of the kind of a column; number 0 if it is a new one."""
    for number, other in known:
        if np.all(np.abs(column - other) <= _TOLERANCE * other):
            return number, 1
        if column.min() > 0 and other.min() > 0:
            product = column * other
            if _is_constant(product / product.max()):
                return number, -1
    return 0, 1
