"""Gates of skills with noise: DINA, DINO, noisy-and and noisy-or.

Models with one guess and one slip: right with chance 1 − slip given enough skills, else guess.

The response models of this family differ in the configurations of skills that are enough.

The DINA model: all required skills are needed for a right response.

With α_k = 1 if the examinee has the required level of skill k, else 0, g the ``guess`` and
s the ``slip``: P(right | α) = 1 − s if every α_k = 1, else g.

The DINO model: any one of the required skills is enough.

With α_k = 1 if the examinee has the required level of skill k, else 0, g the ``guess`` and
s the ``slip``: P(right | α) = 1 − s if some α_k = 1, else g.

Models in which each skill fails or is guessed independently of the others.

The response models of this family differ in the combination of the outcomes.

The noisy-and model (NIDA): all skills are needed; each fails or is guessed independently.

With α_k = 1 if the examinee has the required level of skill k, else 0, g the ``guess``, s the
``slip`` and c the ``ceiling``: P(right | α) = c · Π_k (1 − s_k)^{α_k} g_k^{1−α_k}.

The noisy-or model: one skill is enough; each fails or is guessed independently.

With α_k = 1 if the examinee has the required level of skill k, else 0, g the ``guess``, s the
``slip`` and f the ``floor``: P(right | α) = 1 − (1 − f) · Π_k s_k^{α_k} (1 − g_k)^{1−α_k}.

References
----------
E. Haertel, "Using restricted latent class models to map the skill structure of
achievement items", J. Educ. Meas. 1989.

J. Templin and R. Henson, "Measurement of psychological disorders using cognitive
diagnosis models", Psychol. Methods 2006.

B. Junker and K. Sijtsma, "Cognitive assessment models with few assumptions", Appl.
Psychol. Meas. 2001 (NIDA).

J. Vomlel, "Noisy-or classifier", Int. J. Intell. Syst. 2006.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Probability, Value
from bnmind.adaptive.response_models.base import (
    chance_faults,
    check_item,
    mastery,
    one_each,
    refuse_large,
    table,
)
from bnmind.errors import InvalidModelError
from bnmind.information import Floats
from bnmind.pgm import CPD, NoisyMaximum, NoisyMinimum, Variable


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

    _faults = chance_faults

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


@dataclass(frozen=True)
class Dina(GuessSlip):
    """Right with chance 1 − slip given all required skills, else with chance guess.

    Parameters
    ----------
    guess, slip
        In [0, 1], with ``guess + slip`` at most 1, so that more skill never hurts.
    required
        The required level of each parent, counted from 0; default 1. A skill with required
        level 0 is not needed.
    """

    @staticmethod
    def _enough(has: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Return where all skills are sufficient."""
        return functools.reduce(np.logical_and, has)


@dataclass(frozen=True)
class Dino(GuessSlip):
    """Right with chance 1 − slip given any of the required skills, else with chance guess.

    The parameters are those of `Dina`. A required level of 0 is always reached.
    """

    @staticmethod
    def _enough(has: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Return where at least one skill is sufficient."""
        return functools.reduce(np.logical_or, has)


@dataclass(frozen=True)
class NoisySkills(Value, ABC):
    """A base of models in which a rule combines skills that are noisy independently.

    Parameters
    ----------
    guess, slip
        A chance for each skill, or one for all skills; ``guess + slip`` at most 1.
    """

    combination: ClassVar[type[NoisyMinimum | NoisyMaximum]]
    """The distribution that combines the skills."""

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

    _faults = chance_faults

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


@dataclass(frozen=True)
class NoisyAnd(NoisySkills):
    """Right if all skills work, where each skill is noisy independently.

    Parameters
    ----------
    guess, slip
        A chance for each skill, or one for all skills; ``guess + slip`` at most 1.
    ceiling
        The chance of a right response if all skills work.
    required
        As for `Dina`.
    """

    combination = NoisyMinimum

    ceiling: Probability = 1.0
    required: tuple[int, ...] | None = None

    @property
    def leak(self) -> tuple[str, float]:
        """The ceiling."""
        return "ceiling", self.ceiling


@dataclass(frozen=True)
class NoisyOr(NoisySkills):
    """Right if any skill works, where each skill is noisy independently.

    Parameters
    ----------
    guess, slip
        A chance for each skill, or one for all skills; ``guess + slip`` at most 1.
    floor
        The chance of a right response if no skill works.
    required
        As for `Dina`.
    """

    combination = NoisyMaximum

    floor: Probability = 0.0
    required: tuple[int, ...] | None = None

    @property
    def leak(self) -> tuple[str, float]:
        """The floor."""
        return "floor", self.floor
