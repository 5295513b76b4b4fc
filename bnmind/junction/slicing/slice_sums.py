"""Sums over slices: joint distributions weighted by the probabilities of their evidence.

Weights are kept as multiples of the largest one, so that neither tiny nor huge probabilities are
lost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bnmind._values import Sealed, made, sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.junction.inference.posterior import Posterior
from bnmind.pgm.variable import Variable

__all__ = ["SliceSums"]


@dataclass(frozen=True, eq=False, kw_only=True)
class SliceSums(Sealed):
    """The sums over the slices so far: the state between two steps of a sliced plan."""

    done: int
    """The number of joint states of the sliced variables that are summed or excluded."""
    possible: int
    """The number of those that have a positive probability."""
    log_scale: float
    """The natural logarithm of the largest probability of a slice; −inf at the start."""
    total: float
    """The sum of the probabilities of the slices, divided by the largest."""
    joints: tuple[Floats, ...]
    """For each target, the sum of its joint probabilities, divided by the largest probability."""

    question: str = field(default="", repr=False)
    """The digest of the question; only a plan for the same question goes on from these sums."""

    @classmethod
    def start(cls, targets: Sequence[Sequence[Variable]], question: str = "") -> SliceSums:
        """Return empty sums.

        Parameters
        ----------
        targets
            The variables of each target.
        question
            The digest of the question; only a plan with the same one goes on from these sums.
        """
        joints = tuple([np.zeros([v.n_states for v in scope]) for scope in targets])
        return cls(
            done=0,
            possible=0,
            log_scale=-math.inf,
            total=0.0,
            joints=joints,
            question=question,
        )

    @property
    def log_evidence(self) -> float:
        """The natural logarithm of the sum of the probabilities; −inf for none."""
        return self.log_scale + math.log(self.total) if self.total > 0 else -math.inf

    def of(self, question: str) -> SliceSums:
        """Return the same sums if they belong to a question.

        Parameters
        ----------
        question
            The digest of the question.

        Raises
        ------
        InvalidArgumentError
            If they belong to another one.
        """
        if self.question != question:
            raise InvalidArgumentError(
                "start holds the sums of another question, model or choice of slices; leave start"
                " out to begin anew",
                self,
            )
        return self

    def up_to(self, done: int) -> SliceSums:
        """Return the same sums after more joint states, which are impossible.

        Parameters
        ----------
        done
            The number of joint states that are done then.
        """
        return made(SliceSums, **{**self.__getstate__(), "done": done})

    def add(self, log_evidence: float, joints: Sequence[Floats], done: int) -> SliceSums:
        """Return the sums with one more slice.

        Parameters
        ----------
        log_evidence
            The natural logarithm of its probability; −inf if it is impossible.
        joints
            The joint distribution of each target in this slice.
        done
            The number of joint states up to this slice.
        """
        if log_evidence == -math.inf:
            return self.up_to(done)
        scale = max(self.log_scale, log_evidence)
        old, new = math.exp(self.log_scale - scale), math.exp(log_evidence - scale)
        return SliceSums(
            done=done,
            possible=self.possible + 1,
            log_scale=scale,
            total=old * self.total + new,
            joints=tuple([old * a + new * b for a, b in zip(self.joints, joints, strict=True)]),
            question=self.question,
        )

    def posterior(self, targets: Sequence[tuple[Variable, ...]]) -> Posterior:
        """Return the posterior; there must be a possible slice.

        Parameters
        ----------
        targets
            The variables of each target, as for `start`.
        """
        joints = tuple([sealed(joint / self.total) for joint in self.joints])
        return made(Posterior, scopes=tuple(targets), joints=joints, log_evidence=self.log_evidence)
