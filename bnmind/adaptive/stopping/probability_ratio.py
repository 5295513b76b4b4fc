r"""Sequential probability ratio tests (SPRT) of skills, and of an ability at a cut.

=========  ====================================================================
symbol     name here
=========  ====================================================================
α, β       ``error``: the chance of a wrong decision, the same for both sides
A, B       (1 − β) / α and β / (1 − α) = 1 / A
λ_k        P(answers | skill k) / P(answers | not skill k), averaged over the
           other skills: the posterior odds divided by the prior odds
λ(θ)       P(answers | θ_c + δ) / P(answers | θ_c − δ)
θ_c, δ     ``cut``, ``indifference``
=========  ====================================================================

A decision is made once λ ≥ A or λ ≤ B.

References
----------
A. Wald, *Sequential Analysis*, 1947; M. Reckase, "A procedure for decision making using tailored
testing", 1983; J. Spray and M. Reckase, "Comparison of SPRT and sequential Bayes procedures for
classifying examinees into two categories using a computerized test", J. Educ. Behav. Stat. 1996.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import numpy as np
from annotated_types import Gt, Lt
from numpy.typing import NDArray

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._values import Finite, Positive, Value
from bnmind.adaptive.beliefs.ability_estimates import ability_of
from bnmind.adaptive.beliefs.start import start_belief
from bnmind.adaptive.items.bank import ItemBank
from bnmind.adaptive.response_models.base import ability_values
from bnmind.adaptive.stopping.certainty import TOLERANCE
from bnmind.adaptive.stopping.stopper import BatchProgress, Progress, Reasons, reasons_where
from bnmind.errors import InvalidModelError
from bnmind.information import Floats

__all__ = ["AbilityDecided", "SkillsDecided"]

_Error = Annotated[float, Gt(0), Lt(0.5)]


@dataclass(frozen=True)
class SkillsDecided(Value):
    """Stop once a probability ratio test decides whether each skill is mastered.

    Unlike `SkillsCertain`, it does not use the prior odds of the skill, only the answers. A skill
    that is certain before the first answer is decided.

    Parameters
    ----------
    error
        The chance of a wrong decision about a skill, of either kind, in (0, 0.5).
    skills
        The skills to decide, each of two levels; default all.
    """

    error: _Error = 0.05
    skills: tuple[str, ...] = ()

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        bank = progress.bank
        # A list: a skill that cannot be decided is named even if another one is undecided.
        decided = [
            self._decides(bank, skill, progress.belief.marginal(skill))
            for skill in self.skills or bank.skills
        ]
        return self._reason if all(decided) else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        bank = progress.bank
        decided = np.ones(len(progress.beliefs), dtype=bool)
        for skill in self.skills or bank.skills:
            decided &= self._decides(bank, skill, progress.beliefs.marginal(skill))
        return reasons_where(decided, self._reason)

    def _decides(self, bank: ItemBank, skill: str, marginal: Floats) -> NDArray[np.bool_]:
        prior = _prior(bank, skill)
        if len(prior) != 2:
            raise InvalidModelError(
                [f"expected two levels of {skill} for a decision, got {len(prior)}"]
            )
        if prior.min() <= 0:
            return np.ones(marginal.shape[:-1], dtype=bool)
        return _decided(_log(marginal) - np.log(prior), self.error)

    @property
    def _reason(self) -> str:
        named = ", ".join(self.skills) or "each skill"
        return f"{named} is decided with an error of at most {self.error:g}"


@dataclass(frozen=True)
class AbilityDecided(Value):
    """Stop once a probability ratio test decides whether the ability is above a cut.

    Parameters
    ----------
    cut
        The ability that divides the two classes.
    error
        The chance of a wrong decision, of either kind, in (0, 0.5).
    indifference
        Half the width of the region around the cut in which either decision is right, above
        0. The likelihood is interpolated between the points of the grid.
    """

    cut: Annotated[float, Finite]
    error: _Error = 0.05
    indifference: Positive = 0.25

    @checked_if_it_fails
    def stop(self, progress: Progress) -> str:
        """Return the reason to stop, or an empty text."""
        weights = progress.belief.marginal(ability_of(progress.bank))
        return self._reason if self._decides(progress.bank, weights) else ""

    @checked
    def stop_batch(self, progress: BatchProgress) -> Reasons:
        """Return the reasons to stop, ``(examinees,)``."""
        weights = progress.beliefs.marginal(ability_of(progress.bank))
        return reasons_where(self._decides(progress.bank, weights), self._reason)

    def _decides(self, bank: ItemBank, weights: Floats) -> NDArray[np.bool_]:
        ability = ability_of(bank)
        points = ability_values(bank.variable(ability))
        sides = [self.cut - self.indifference, self.cut + self.indifference]
        order = np.argsort(points)
        if not points[order[0]] <= sides[0] < sides[1] <= points[order[-1]]:
            raise InvalidModelError(
                [
                    f"the region from {sides[0]:g} to {sides[1]:g} is not within the grid of the"
                    f" ability, from {points[order[0]]:g} to {points[order[-1]]:g}"
                ]
            )
        likelihood = (_log(weights) - _log(_prior(bank, ability)))[..., order]
        grid = points[order]
        right = np.clip(np.searchsorted(grid, sides, side="right"), 1, len(grid) - 1)
        share = (np.array(sides) - grid[right - 1]) / (grid[right] - grid[right - 1])
        at_sides = (1 - share) * likelihood[..., right - 1] + share * likelihood[..., right]
        return _decided(at_sides, self.error)

    @property
    def _reason(self) -> str:
        return (
            f"it is decided with an error of at most {self.error:g} whether the ability is above"
            f" {self.cut:g}"
        )


def _decided(log_likelihoods: Floats, error: float) -> NDArray[np.bool_]:
    """Return whether the ratio of two likelihoods ``(…, 2)`` decides between them."""
    ratio = np.abs(log_likelihoods[..., 1] - log_likelihoods[..., 0])
    decided: NDArray[np.bool_] = np.asarray(ratio >= math.log((1 - error) / error) - TOLERANCE)
    return decided


def _log(probabilities: Floats) -> Floats:
    """Return logarithms; impossible values count as the smallest positive number."""
    result: Floats = np.log(np.maximum(probabilities, np.finfo(np.float64).tiny))
    return result


@lru_cache(maxsize=256)
def _prior(bank: ItemBank, skill: str) -> Floats:
    """Return the distribution of a skill before the first answer, ``(levels,)``."""
    return start_belief(bank).marginal(skill)
