r"""The noisy-and (NIDA): every skill is needed, and each fails or is guessed by itself.

With α_k = 1 if the examinee has the required level of skill k, else 0, g the ``guess``, s the
``slip`` and c the ``ceiling``: P(right | α) = c · Π_k (1 − s_k)^{α_k} g_k^{1−α_k}.

References
----------
B. Junker and K. Sijtsma, "Cognitive assessment models with few assumptions", Appl.
Psychol. Meas. 2001 (NIDA).
"""

from __future__ import annotations

from dataclasses import dataclass

from bnmind.adaptive.response_models.noisy_skills import NoisySkills
from bnmind.pgm import NoisyMinimum

__all__ = ["NoisyAnd"]


@dataclass(frozen=True)
class NoisyAnd(NoisySkills):
    """The noise before an "and": each skill fails, or is replaced by luck, by itself.

    Parameters
    ----------
    guess, slip
        A chance for each skill, or one for all of them; ``guess + slip`` at most 1.
    ceiling
        The chance of a right response when all the skills work.
    required
        As for `Dina`.
    """

    ceiling: float = 1.0
    required: tuple[int, ...] | None = None

    @property
    def leak(self) -> tuple[str, float]:
        """The ceiling."""
        return "ceiling", self.ceiling

    @property
    def combination(self) -> type[NoisyMinimum]:
        """The minimum: all skills must work."""
        return NoisyMinimum
