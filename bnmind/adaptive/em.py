r"""Expectation maximization, accelerated where that raises the likelihood.

One step of EM maps parameters θ to M(θ), and never lowers the objective: the
log-likelihood, and the log-density of the priors if there are any. SQUAREM goes on from
two steps in the direction in which they went:

==================  =====================================================
symbol              name here
==================  =====================================================
r                   M(θ) − θ
v                   M(M(θ)) − M(θ) − r
α                   −|r| / |v|: the length of the extrapolation
θ'                  θ − 2αr + α²v
==================  =====================================================

What it arrives at is kept only if the objective is at least what it was after the first
of the two steps; so those recorded never fall.

References
----------
R. Varadhan and C. Roland, "Simple and globally convergent methods for accelerating the
convergence of any EM algorithm", Scand. J. Stat. 2008 (scheme S3).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from bnmind.adaptive.em_layout import CellLayout, Expectation
from bnmind.adaptive.learning_skills import SkillFamilies
from bnmind.information import Floats

__all__ = ["Climb", "Parameters", "climb"]

_LONGEST = 1000.0
"""The longest extrapolation, in steps."""


class Parameters(NamedTuple):
    """All that is learned."""

    items: tuple[Floats, ...]
    """The parameters of each block of items."""
    skills: tuple[Floats, ...]
    """The table of each family of the skills."""


@dataclass(frozen=True)
class Climb:
    """The way from one start to its end."""

    parameters: Parameters
    log_likelihoods: tuple[float, ...]
    """Before each step, and at the end."""
    objectives: tuple[float, ...]
    """The same with the logarithm of the priors; never falling."""
    steps: int
    """How many times all responses were gone through."""
    converged: bool


@dataclass(frozen=True, eq=False)
class _Model:
    layout: CellLayout
    skills: SkillFamilies
    expectation: Expectation

    def step(self, at: Parameters) -> tuple[float, float, Parameters]:
        """Return the log-likelihood and the objective at some parameters, and M of them."""
        expected = self.expectation(self.layout.cells(at.items), at.skills)
        counts = self.layout.parts(expected.cells)
        blocks = self.layout.blocks
        items = tuple(
            block.maximize(values, count)
            for block, values, count in zip(blocks, at.items, counts, strict=True)
        )
        skills = self.skills.maximize(at.skills, expected.families)
        prior = self.skills.log_prior(at.skills) + sum(
            block.log_prior(values) for block, values in zip(blocks, at.items, strict=True)
        )
        likelihood = expected.log_likelihood
        return likelihood, likelihood + prior, Parameters(items, skills)

    def extrapolated(self, at: Parameters, one: Parameters, two: Parameters) -> Parameters:
        """Return where the two steps lead, within what parameters must obey."""
        first, second, third = (np.concatenate(_flat(p)) for p in (at, one, two))
        r, v = second - first, third - second - (second - first)
        size = float(np.sqrt(v @ v))
        alpha = -min(max(float(np.sqrt(r @ r)) / size, 1.0), _LONGEST) if size > 0 else -1.0
        far = first - 2 * alpha * r + alpha**2 * v
        items, skills = [], []
        end = 0
        for block, values in zip(self.layout.blocks, two.items, strict=True):
            part = far[end : end + len(values)]
            end += len(values)
            low, high = block.limits.T
            part = np.clip(part, low, high)
            # A chance of zero or one would be left by no step again.
            part = np.where(((part <= 0) & (low == 0)) | ((part >= 1) & (high == 1)), values, part)
            items.append(part if block.valid(part) else values)
        for table in two.skills:
            part = far[end : end + table.size].reshape(table.shape)
            end += table.size
            part = np.where(part > 0, part, table * 0.5)
            skills.append(part / part.sum(axis=0))
        return Parameters(tuple(items), tuple(skills))


def climb(
    layout: CellLayout,
    skills: SkillFamilies,
    expectation: Expectation,
    start: Parameters,
    *,
    max_iterations: int,
    tolerance: float,
    accelerate: bool,
) -> Climb:
    """Return the way up from a start, until a step raises the objective by no more than a little.

    Parameters
    ----------
    layout, skills, expectation
        The model and its E-step.
    start
        Where to begin.
    max_iterations
        The most steps.
    tolerance
        What a step must raise the objective by to go on.
    accelerate
        Whether to extrapolate.
    """
    model = _Model(layout, skills, expectation)
    likelihoods: list[float] = []
    objectives: list[float] = []
    steps = 0

    def step(at: Parameters) -> tuple[float, float, Parameters]:
        nonlocal steps
        steps += 1
        return model.step(at)

    def kept(likelihood: float, objective: float) -> None:
        likelihoods.append(likelihood)
        objectives.append(objective)

    at = start
    likelihood, objective, one = step(at)
    kept(likelihood, objective)
    converged = False
    while steps < max_iterations:
        likelihood, after, two = step(one)
        kept(likelihood, after)
        if after - objective <= tolerance:
            at, converged = one, True
            break
        if not accelerate:
            at, one, objective = one, two, after
            continue
        far = model.extrapolated(at, one, two)
        likelihood, there, next_one = step(far)
        if there >= after:
            at, one, objective = far, next_one, there
        else:
            at = two
            likelihood, objective, one = step(at)
        kept(likelihood, objective)
    return Climb(at, tuple(likelihoods), tuple(objectives), steps, converged)


def _flat(parameters: Parameters) -> list[Floats]:
    return [*parameters.items, *(table.reshape(-1) for table in parameters.skills)]
