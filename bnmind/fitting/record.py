"""The record of EM from one or several starts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from bnmind._values import Value
from bnmind.fitting.squarem import Climb

__all__ = ["EQUAL", "LearningRecord"]

EQUAL = 1e-4
"""Starts whose ends differ by less have reached the same maximum, or its mirror image."""


@dataclass(frozen=True, kw_only=True)
class LearningRecord(Value):
    """The record of the EM iterations."""

    log_likelihoods: tuple[float, ...]
    """Natural logarithm of the likelihood at the best start, and after each accepted step from it.
    It never decreases without priors."""
    objectives: tuple[float, ...]
    """The log-likelihoods plus the logarithm of the prior density, but for a constant; they never
    decrease."""
    converged: bool
    """Whether an M-step raised the objective by no more than the tolerance."""
    steps: int
    """The number of EM steps from the best start, at most ``max_iterations``, including rejected
    extrapolations. The start needs one more E-step."""
    starts: tuple[float, ...]
    """The objective at the end of each start."""
    best_start: int
    """The number of the best start, from 0."""
    seed: int
    """The seed of the random starts."""
    stopped_early: tuple[int, ...] = ()
    """The numbers of the starts that were left before they converged, as others led higher."""

    @classmethod
    def of(
        cls, climbs: Sequence[Climb[Any]], seed: int, *, stopped_early: Collection[int] = ()
    ) -> LearningRecord:
        """Return the record of the ascents from all starts; of equal ones, the first is best.

        Parameters
        ----------
        climbs
            The ascent from each start, at least one.
        seed
            The seed of the random starts.
        stopped_early
            The numbers of the starts whose ascent ended before it converged.
        """
        ends = tuple(way.objectives[-1] for way in climbs)
        best = int(np.argmax(np.array(ends) >= max(ends) - EQUAL))
        return cls(
            log_likelihoods=climbs[best].log_likelihoods,
            objectives=climbs[best].objectives,
            converged=climbs[best].converged,
            steps=climbs[best].steps,
            starts=ends,
            best_start=best,
            seed=seed,
            stopped_early=tuple(sorted(stopped_early)),
        )
