"""Stoppers by the belief: entropy, the profile, single skills, the ability, expected gain.

A threshold counts as reached within `TOLERANCE`, so that rounding, which differs between one
belief and a batch, does not decide when a test ends.

References
----------
C. Tatsuoka, "Data analytic methods for latent partially ordered classification models", J.
R. Stat. Soc. C 2002 (the most probable profile); C.-L. Hsu, W.-C. Wang and S.-Y. Chen,
"Variable-length computerized adaptive testing based on cognitive diagnosis models", Appl.
Psychol. Meas. 2013.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Le

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._values import Value
from bnmind.adaptive.beliefs.ability_estimates import ability_deviation
from bnmind.adaptive.beliefs.belief import SkillBelief
from bnmind.adaptive.selection.entropy import MinimalEntropy
from bnmind.adaptive.selection.selector import ScoringSelector
from bnmind.adaptive.stopping.stopper import BatchProgress, Progress, Reasons, reasons_where

__all__ = [
    "TOLERANCE",
    "DeviationBelow",
    "EntropyBelow",
    "GainBelow",
    "ProfileCertain",
    "SkillsCertain",
]

TOLERANCE = 1e-9
"""The distance from a threshold at which it counts as reached."""


@dataclass(frozen=True)
class EntropyBelow(Value):
    """Stop if the joint entropy of all skills is small.

    Parameters
    ----------
    bits
        The entropy at which to stop, at least 0.
    """

    bits: Annotated[float, Ge(0)]

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        return self._reason if progress.belief.entropy <= self.bits + TOLERANCE else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        return reasons_where(progress.beliefs.entropy <= self.bits + TOLERANCE, self._reason)

    @property
    def _reason(self) -> str:
        return f"the entropy of the skills is at most {self.bits:g} bits"


@dataclass(frozen=True)
class ProfileCertain(Value):
    """Stop if the most probable profile of all skills is probable enough.

    Parameters
    ----------
    probability
        The probability of the profile at which to stop, in (0, 1].
    """

    probability: Annotated[float, Gt(0), Le(1)]

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        probability = progress.belief.profile().probability
        return self._reason if probability >= self.probability - TOLERANCE else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        probabilities = progress.beliefs.profile().probabilities
        return reasons_where(probabilities >= self.probability - TOLERANCE, self._reason)

    @property
    def _reason(self) -> str:
        return f"one profile of the skills has probability {self.probability:g} or more"


@dataclass(frozen=True)
class SkillsCertain(Value):
    """Stop if the most probable level of each skill is probable enough.

    Parameters
    ----------
    probability
        The probability at which to stop, in (0, 1].
    skills
        The skills to consider; default all.
    """

    probability: Annotated[float, Gt(0), Le(1)]
    skills: tuple[str, ...] = ()

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        skills = self.skills or progress.bank.skills
        least = self.probability - TOLERANCE
        sure = all(progress.belief.marginal(skill).max() >= least for skill in skills)
        return self._reason if sure else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        sure = np.ones(len(progress.beliefs), dtype=bool)
        least = self.probability - TOLERANCE
        for skill in self.skills or progress.bank.skills:
            sure &= progress.beliefs.marginal(skill).max(axis=1) >= least
        return reasons_where(sure, self._reason)

    @property
    def _reason(self) -> str:
        named = ", ".join(self.skills) or "skill"
        which = named if len(self.skills) == 1 else f"each {'of ' * bool(self.skills)}{named}"
        return f"{which} is known with probability {self.probability:g} or more"


@dataclass(frozen=True)
class DeviationBelow(Value):
    """Stop if the standard deviation of the ability of an IRT bank is small.

    Parameters
    ----------
    deviation
        The standard deviation of the belief at which to stop, above 0.
    """

    deviation: Annotated[float, Gt(0)]

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        deviation = ability_deviation(progress.belief)
        return self._reason if deviation <= self.deviation + TOLERANCE else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        deviations = ability_deviation(progress.beliefs)
        return reasons_where(deviations <= self.deviation + TOLERANCE, self._reason)

    @property
    def _reason(self) -> str:
        return f"the standard deviation of the ability is at most {self.deviation:g}"


@dataclass(frozen=True)
class GainBelow(Value):
    """Stop if no item that may be asked has a large score.

    Parameters
    ----------
    gain
        The score of the best item at which to stop, at least 0.
    scored
        The selector that scores the items; default `MinimalEntropy`, in bits.
    """

    gain: Annotated[float, Ge(0)]
    scored: ScoringSelector[SkillBelief] = field(default_factory=MinimalEntropy)

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        if not progress.allowed:
            return self._reason
        best = self.scored.scores(progress.belief, progress.allowed).max()
        return self._reason if best <= self.gain + TOLERANCE else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        best = self.scored.allowed_scores(progress.beliefs, progress.allowed).max(axis=1)
        return reasons_where(best <= self.gain + TOLERANCE, self._reason)

    @property
    def _reason(self) -> str:
        what = " bits" if isinstance(self.scored, MinimalEntropy) else ""
        return f"no item has a score above {self.gain:g}{what}"
