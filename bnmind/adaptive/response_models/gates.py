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

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Probability
from bnmind.adaptive.response_models.base import (
    Formula,
    FormulaModel,
    ResponseModel,
    chance_faults,
    check_item,
    grid_cells,
    grid_of,
    mastery,
    one_each,
    sufficient,
)
from bnmind.adaptive.response_models.links import (
    COMPLEMENTARY,
    IDENTITY,
    LOG,
    LinkFunction,
    binary,
)
from bnmind.information import Floats
from bnmind.pgm import NoisyMaximum, NoisyMinimum, Variable


@dataclass(frozen=True)
class GuessSlip(FormulaModel):
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

    _faults = chance_faults

    @staticmethod
    @abstractmethod
    def _enough(has: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return a mask of the configurations of the parents that are enough.

        Parameters
        ----------
        has
            ``(parents, configurations)``: whether each skill is sufficient.
        """

    @property
    def n_responses(self) -> int:
        """Two."""
        return 2

    @property
    def _numbers(self) -> Floats:
        """The guess and the slip."""
        return np.array([self.guess, self.slip])

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return the chances without and with enough skills."""
        return Formula(
            link=binary(IDENTITY),
            design=np.eye(2)[:, None],
            names=("guess", "slip"),
            roles=("guess", "slip"),
            cells=self._enough(sufficient(self.required, item, parents)).astype(np.intp),
            sizes=(2,),
            scale=IDENTITY,
        )


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
    def _enough(has: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return where all skills are sufficient."""
        enough: NDArray[np.bool_] = np.logical_and.reduce(has)
        return enough


@dataclass(frozen=True)
class Dino(GuessSlip):
    """Right with chance 1 − slip given any of the required skills, else with chance guess.

    The parameters are those of `Dina`. A required level of 0 is always reached.
    """

    @staticmethod
    def _enough(has: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return where at least one skill is sufficient."""
        enough: NDArray[np.bool_] = np.logical_or.reduce(has)
        return enough


@dataclass(frozen=True)
class NoisySkills(FormulaModel):
    """A base of models in which a rule combines skills that are noisy independently.

    Parameters
    ----------
    guess, slip
        A chance for each skill, or one for all skills; ``guess + slip`` at most 1.
    """

    combination: ClassVar[type[NoisyMinimum | NoisyMaximum]]
    """The distribution that combines the skills."""
    scale: ClassVar[LinkFunction]
    """The scale on which the skills add up."""

    guess: Probability | tuple[Probability, ...]
    slip: Probability | tuple[Probability, ...] = 0.0

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

    def _formula(self, item: Variable, parents: Sequence[Variable]) -> Formula:
        """Return sums of what each skill adds, whether it is there or not, and of the leak.

        A ceiling below 1 or a floor above 0 is learned too. One guess or one slip for all skills
        stays shared.
        """
        has = grid_of(len(parents))
        names: list[str] = []
        columns, roles = [], []
        for role, value, part in (("guess", self.guess, 1 - has), ("slip", self.slip, has)):
            shared = not isinstance(value, tuple)
            columns.append(part.sum(axis=1, keepdims=True) if shared else part)
            names += [role] if shared else [f"{role} of {v.name}" for v in parents]
            roles += [role] * columns[-1].shape[1]
        if self._has_leak:
            columns.append(np.ones((len(has), 1)))
            names.append(self.leak[0])
            roles.append("edge")
        return Formula(
            link=binary(self.scale),
            design=np.concatenate(columns, axis=1)[:, None],
            names=tuple(names),
            roles=tuple(roles),
            cells=grid_cells(sufficient(self.required, item, parents)),
            sizes=(2,) * len(parents),
            scale=self.scale,
            rises=True,
        )

    @property
    def _has_leak(self) -> bool:
        return self.leak[1] != float(self.combination is NoisyMinimum)

    @property
    def _numbers(self) -> Floats:
        """Guesses and slips, and the leak if it is learned."""
        numbers = super()._numbers
        return numbers if self._has_leak else numbers[:-1]

    def _with_numbers(self, numbers: Floats) -> ResponseModel:
        """Return the model with other guesses, slips and leak."""
        rest = [] if self._has_leak else [self.leak[1]]
        return super()._with_numbers(np.append(numbers, rest))

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
    scale = LOG

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
    scale = COMPLEMENTARY

    floor: Probability = 0.0
    required: tuple[int, ...] | None = None

    @property
    def leak(self) -> tuple[str, float]:
        """The floor."""
        return "floor", self.floor
