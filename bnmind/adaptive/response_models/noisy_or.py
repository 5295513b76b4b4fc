r"""The noisy-or model: one skill is enough; each fails or is guessed independently.

With α_k = 1 if the examinee has the required level of skill k, else 0, g the ``guess``, s the
``slip`` and f the ``floor``: P(right | α) = 1 − (1 − f) · Π_k s_k^{α_k} (1 − g_k)^{1−α_k}.

References
----------
J. Vomlel, "Noisy-or classifier", Int. J. Intell. Syst. 2006.
"""

from __future__ import annotations

from dataclasses import dataclass

from bnmind._values import Probability
from bnmind.adaptive.response_models.noisy_skills import NoisySkills
from bnmind.pgm import NoisyMaximum

__all__ = ["NoisyOr"]


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

    floor: Probability = 0.0
    required: tuple[int, ...] | None = None

    @property
    def leak(self) -> tuple[str, float]:
        """The floor."""
        return "floor", self.floor

    @property
    def combination(self) -> type[NoisyMaximum]:
        """The maximum: one skill must work."""
        return NoisyMaximum
