r"""How accurately and how consistently a test classifies, estimated from one administration.

=============  =================================================================================
symbol         name here
=============  =================================================================================
α, α_k         a profile, its level of skill k
P(α | x_n)     the posterior of examinee n
α̂_n            the most probable profile; α̂_{nk} the most probable level of skill k by itself
h(e, α)        ``joint``: (1/N) Σ_n P(α | x_n) [α̂_n = e]
m(α)           Σ_e h(e, α), the mean posterior
P_a            Σ_e h(e, e) = (1/N) Σ_n P(α̂_n | x_n): the chance that a classification is right
P_c            Σ_α Σ_e h(e, α)² / m(α): the chance that two independent administrations of the
               test classify an examinee alike
τ_k            (1/N) Σ_n max_l P(α_k = l | x_n): P_a of one skill
=============  =================================================================================

P_c = Σ_α P(α) Σ_e P(α̂ = e | α)², and h(e, α) / m(α) estimates P(α̂ = e | α). For a skill, e runs
over its levels, and α over the whole profiles, on which the errors depend.

References
----------
Y. Cui, M. Gierl and H.-H. Chang, "Estimating classification consistency and accuracy for cognitive
diagnostic assessment", J. Educ. Meas. 2012 (P_a, P_c); W. Wang, L. Song, P. Chen, Y. Meng and S.
Ding, "Attribute-level and pattern-level classification consistency and accuracy indices for
cognitive diagnostic assessment", J. Educ. Meas. 2015 (τ_k, eq. 6); M. Johnson and S. Sinharay,
"Measures of agreement to assess attribute-level classification accuracy and consistency for
cognitive diagnostic assessments", J. Educ. Meas. 2018 (the estimate of P_c from posteriors, also in
the R package CDM).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.information import Floats

__all__ = ["Reliability", "ReliabilitySums", "SkillReliability"]

_MOST_CELLS = 2**25
"""The limit of the cells of h; for more the consistency is not computed."""


@dataclass(frozen=True)
class SkillReliability(Value):
    """How reliably one skill is classified."""

    skill: str
    """The name of the skill."""
    accuracy: float
    """The chance that the most probable level is the true one."""
    consistency: float
    """The chance that two administrations find the same level; NaN if not computed."""


@dataclass(frozen=True)
class Reliability(Value):
    """How reliably a test classifies, if the bank holds."""

    accuracy: float
    """The chance that the most probable profile is the true one."""
    consistency: float
    """The chance that two administrations find the same profile; NaN if not computed."""
    skills: tuple[SkillReliability, ...]
    """Each skill by itself."""


class ReliabilitySums:
    """The sums over examinees from which a `Reliability` is computed."""

    def __init__(self, skills: tuple[str, ...]) -> None:
        self.skills = skills
        self.n = 0.0
        self.right = 0.0
        self.skills_right = np.zeros(len(skills))
        self.profiles: dict[int, Floats] | None = {}
        self.levels: list[dict[int, Floats]] = [{} for _ in skills]

    def add(self, weights: Floats, chances: Floats, marginals: list[Floats]) -> None:
        """Add examinees, with the probabilities of their classifications.

        Parameters
        ----------
        weights
            ``(examinees,)``, the number of examinees with each row.
        chances
            ``(examinees,)``, the probability of the most probable profile.
        marginals
            For each skill ``(examinees, levels)``.
        """
        self.n += float(weights.sum())
        self.right += float(weights @ chances)
        self.skills_right += [float(weights @ table.max(axis=1)) for table in marginals]

    def add_posteriors(
        self,
        weights: Floats,
        posteriors: Floats,
        profiles: NDArray[np.intp],
        levels: NDArray[np.intp],
    ) -> None:
        """Add the posteriors of the same examinees.

        Parameters
        ----------
        weights
            ``(examinees,)``.
        posteriors
            ``(examinees, profiles)``.
        profiles
            ``(examinees,)``, the number of the most probable profile.
        levels
            ``(examinees, skills)``, the most probable level of each skill by itself.
        """
        if self.profiles is None:
            return
        weighted = posteriors * weights[:, None]
        tables = [(self.profiles, profiles)]
        tables += [(table, levels[:, k]) for k, table in enumerate(self.levels)]
        for table, found in tables:
            for one in np.unique(found).tolist():
                more = weighted[found == one].sum(axis=0)
                table[one] = table[one] + more if one in table else more
        if len(self.profiles) * posteriors.shape[1] > _MOST_CELLS:
            self.profiles, self.levels = None, [{} for _ in self.skills]

    def result(self) -> Reliability:
        """Return the estimates."""
        skills = tuple(
            SkillReliability(skill, float(right) / self.n, self._consistency(table))
            for skill, right, table in zip(self.skills, self.skills_right, self.levels, strict=True)
        )
        return Reliability(self.right / self.n, self._consistency(self.profiles or {}), skills)

    def _consistency(self, joint: dict[int, Floats]) -> float:
        if not joint:
            return float("nan")
        table = np.stack(list(joint.values())) / self.n
        mean = table.sum(axis=0)
        shares = np.divide(table**2, mean, out=np.zeros_like(table), where=mean > 0)
        return float(shares.sum())
