"""Models with one guess and one slip: right with chance 1 − slip given enough skills, else guess.

The response models of this family differ in the configurations of skills that are enough.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Probability, Value
from bnmind.adaptive.response_models.base.model import check_item, mastery, refuse_large, table
from bnmind.adaptive.response_models.base.parameters import chance_faults
from bnmind.errors import InvalidModelError
from bnmind.pgm import CPD, Variable

__all__ = ["GuessSlip"]


@dataclass(frozen=True)
class GuessSlip(Value, ABC):
    """A base of models in which noise follows a rule that decides whether the skills suffice.

    Parameters
    ----------
    guess, slip
        In [0, 1], with ``guess + slip`` at most 1, so that more skill never hurts.
    required
        The required level of each parent, counted from 0; default 1. A skill with required
        level 0 is not needed.
    """

    guess: Probability
    slip: Probability
    required: tuple[int, ...] | None = None

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        return chance_faults(self.guess, self.slip)

    @staticmethod
    @abstractmethod
    def _enough(has: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Return a mask of the configurations of the parents that are enough.

        Parameters
        ----------
        has
            For each parent a mask of its sufficient levels, along an axis of its own, so
            that the arrays broadcast.
        """

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> CPD:
        """Return the distribution of an item given its parents."""
        refuse_large(item, parents)
        has = _along_axes(mastery(self.required, item, parents))
        right = np.where(self._enough(has), 1 - self.slip, self.guess)
        check_item(item, 2)
        return table(item, parents, np.array([1 - right, right]))


def _along_axes(has: Sequence[NDArray[np.bool_]]) -> list[NDArray[np.bool_]]:
    """Return arrays of one axis, each along an axis of its own."""
    return [
        array.reshape(*(1,) * place, -1, *(1,) * (len(has) - place - 1))
        for place, array in enumerate(has)
    ]
