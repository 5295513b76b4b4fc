"""Greedy passes in Python until the compiled ones are worth compiling, with the same results."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import PlainWork
from bnmind.junction.triangulation.greedy_kernel import CompiledSearch, one_pass
from bnmind.junction.triangulation.greedy_pass import Climb, Pass, PlainSearch, Score
from bnmind.junction.triangulation.scored_graph import Core

__all__ = ["FirstSearch"]

_plain_work = PlainWork(one_pass, if_cached=200_000)
"""The work of large searches in Python, before the kernels are compiled."""


@dataclass
class FirstSearch:
    """Passes over one core that run in Python while that is allowed, and then compiled."""

    core: Core
    allowed: PlainWork = field(default=_plain_work)
    """The work that may be done in Python."""
    _compiled: CompiledSearch | None = field(init=False, default=None)

    def greedy(self, score: Score, noise: NDArray[np.int64], limit: float = math.inf) -> Pass:
        """Return one pass."""
        left = self.allowed.left
        if left:
            found = PlainSearch(self.core).greedy(score, noise, limit, left)
            self.allowed.spend(found.work)
            if found.work <= left:
                return found
        return self._large.greedy(score, noise, limit)

    def climb(
        self, score: Score, start: Climb, steps: NDArray[np.int64], most_work: float
    ) -> Climb:
        """Return the result of a hill climb over steps of the noise."""
        left = self.allowed.left
        if not left:
            return self._large.climb(score, start, steps, most_work)
        climb = PlainSearch(self.core).climb(score, start, steps, min(most_work, left))
        self.allowed.spend(climb.work)
        if climb.work >= most_work or climb.passes == len(steps):
            return climb
        rest = self._large.climb(score, climb, steps[climb.passes :], most_work - climb.work)
        return rest._replace(passes=climb.passes + rest.passes, work=climb.work + rest.work)

    @property
    def _large(self) -> CompiledSearch:
        if self._compiled is None:
            self._compiled = CompiledSearch(self.core)
        return self._compiled
