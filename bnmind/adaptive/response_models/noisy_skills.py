"""Models in which each skill fails or is guessed independently of the others.

The response models of this family differ in the combination of the outcomes.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Probability, Value
from bnmind.adaptive.response_models.base.model import check_item, mastery, one_each
from bnmind.adaptive.response_models.base.parameters import chance_faults
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import NoisyMaximum, NoisyMinimum, Variable

__all__ = ["NoisySkills"]


@dataclass(frozen=True)
class NoisySkills(Value, ABC):
    """A base of models in which a rule combines skills that are noisy independently.

    Parameters
    ----------
    guess, slip
        A chance for each skill, or one for all skills; ``guess + slip`` at most 1.
    """

    guess: Probability | tuple[Probability, ...]
    slip: Probability | tuple[Probability, ...] = 0.0

    _error = InvalidModelError

    @property
    @abstractmethod
    def required(self) -> tuple[int, ...] | None:
        """The required level of each parent; None for 1 of each."""

    @property
    @abstractmethod
    def leak(self) -> tuple[str, float]:
        """The name and the value of the parameter for causes other than the skills."""

    @property
    @abstractmethod
    def combination(self) -> type[NoisyMinimum | NoisyMaximum]:
        """The distribution that combines the skills."""

    def _faults(self) -> Iterator[str]:
        return chance_faults(self.guess, self.slip)

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> NoisyMinimum | NoisyMaximum:
        """Return the distribution of an item given its parents."""
        leak = np.array([1 - self.leak[1], self.leak[1]])
        return self.combination(item, tuple(parents), self._links(item, parents), leak)

    def _links(self, item: Variable, parents: Sequence[Variable]) -> tuple[Floats, ...]:
        """Return for each skill the probabilities that it fails and works, for each level."""
        check_item(item, 2)
        scope = (item, *parents)
        guesses, slips = one_each("guesses", self.guess, scope), one_each("slips", self.slip, scope)
        links = []
        for g, s, has in zip(guesses, slips, mastery(self.required, item, parents), strict=True):
            works = np.where(has, 1 - s, g)
            links.append(np.array([1 - works, works]))
        return tuple(links)
