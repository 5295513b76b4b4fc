r"""The noisy-and model (NIDA): all skills are needed; each fails or is guessed independently.

With α_k = 1 if the examinee has the required level of skill k, else 0, g the ``guess``, s the
``slip`` and c the ``ceiling``: P(right | α) = c · Π_k (1 − s_k)^{α_k} g_k^{1−α_k}.

References
----------
B. Junker and K. Sijtsma, "Cognitive assessment models with few assumptions", Appl.
Psychol. Meas. 2001 (NIDA).
"""

from __future__ import annotations

from dataclasses import dataclass

from bnmind._values import Probability
from bnmind.adaptive.response_models.noisy_skills import NoisySkills
from bnmind.pgm import NoisyMinimum

__all__ = ["NoisyAnd"]


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

    ceiling: Probability = 1.0
    required: tuple[int, ...] | None = None

    @property
    def leak(self) -> tuple[str, float]:
        """The ceiling."""
        return "ceiling", self.ceiling

    @property
    def combination(self) -> type[NoisyMinimum]:
        """The minimum: all skills must work."""
        return NoisyMinimum
