"""The sequential model: a series of steps, each with a response model of its own.

P(X ≥ r | X ≥ r − 1) is the chance of a right response in step r.

References
----------
W. Ma and J. de la Torre, "A sequential cognitive diagnosis model for polytomous responses",
Br. J. Math. Stat. Psychol. 2016.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.response_models.base.model import (
    ResponseModel,
    check_item,
    made_for_skills,
    refuse_large,
    response_channel,
    table,
)
from bnmind.adaptive.response_models.gdina import Gdina
from bnmind.errors import InvalidModelError
from bnmind.pgm import TabularCPD, Variable

__all__ = ["Sequential", "StepsOf"]


@dataclass(frozen=True)
class Sequential(Value):
    """A series of steps; the response is the number of steps taken.

    Parameters
    ----------
    steps
        For each step a response model with two responses: whether the step is taken, given
        that all steps before it were. A skill with required level 0 is not used in a step.
    """

    steps: tuple[ResponseModel, ...]

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        if not self.steps or any(step.n_responses != 2 for step in self.steps):
            yield f"the steps must be response models with two responses, got {self.steps}"

    @classmethod
    @checked
    def of(cls, make: Callable[..., ResponseModel]) -> StepsOf:
        """Return a gate for Q-matrices: each step of an item has a model of this kind.

        >>> from bnmind.adaptive import Rrum, learn
        >>> learn([[0, 2], [1, 0], [2, 1], [0, 2]], [[1], [1]], gate=Sequential.of(Rrum)).bank
        ItemBank(2 items, 1 skill)

        Parameters
        ----------
        make
            A response model's class, or a function that makes a model from a guess and a slip.
        """
        return StepsOf(make)

    @classmethod
    @checked
    def for_skills(
        cls, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> ResponseModel:
        """Return the model of a single step, saturated; `learn` repeats it."""
        return Gdina.for_skills(required, sizes, guess=guess, slip=slip)

    @property
    def n_responses(self) -> int:
        """The number of steps plus one."""
        return len(self.steps) + 1

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents."""
        check_item(item, self.n_responses)
        refuse_large(item, parents)
        reached = np.ones(math.prod(v.n_states for v in parents))
        rows = []
        for step in self.steps:
            chances = response_channel(step, parents)
            rows.append(reached * chances[:, 0])
            reached = reached * chances[:, 1]
        return table(item, parents, np.array([*rows, reached]))


@dataclass(frozen=True)
class StepsOf:
    """A gate for Q-matrices; see `Sequential.of`."""

    make: Callable[..., ResponseModel]

    def for_skills(
        self, required: tuple[int, ...], sizes: tuple[int, ...], *, guess: float, slip: float
    ) -> ResponseModel:
        """Return the model of a single step; `learn` repeats it."""
        return made_for_skills(self.make, required, sizes, guess=guess, slip=slip)

    def __call__(self, guess: float, slip: float) -> ResponseModel:
        """Return the model of a single step."""
        return self.make(guess, slip)
