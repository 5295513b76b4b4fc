"""The graded model: a logistic curve of a weighted sum of the levels of the skills.

P(X ≥ r) = 1 / (1 + exp(−(Σ_k a_k·level_k − b_r))), with a the ``slopes`` and b the
``thresholds``.

References
----------
F. Samejima, "Estimation of latent ability using a response pattern of graded scores",
Psychometrika monograph 17, 1969.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.response_models.base import check_item, one_each, refuse_large, table
from bnmind.adaptive.response_models.base.curves import graded
from bnmind.adaptive.response_models.base.parameters import increasing, make_plain, refuse
from bnmind.pgm import TabularCPD, Variable

__all__ = ["Graded"]


@dataclass(frozen=True)
class Graded(Value):
    """Graded responses to a weighted sum of the skills' levels, by a logistic curve.

    With one threshold and skills of two levels it is the compensatory model (C-RUM).

    Parameters
    ----------
    slopes
        The weight of a level of each skill, at least zero; or one number for all skills.
    thresholds
        The threshold of each response but the first, increasing.
    """

    slopes: float | tuple[float, ...]
    thresholds: tuple[float, ...]

    def __post_init__(self) -> None:
        self._convert()
        refuse(make_plain(self, each=("slopes",), many=("thresholds",)))
        problems = increasing(self.thresholds)
        if not np.all(np.asarray(self.slopes) >= 0):
            problems.append(f"expected slopes of at least 0, got {self.slopes}")
        refuse(problems)

    @property
    def n_responses(self) -> int:
        """The number of thresholds plus one."""
        return len(self.thresholds) + 1

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of an item given its parents."""
        check_item(item, self.n_responses)
        refuse_large(item, parents)
        slopes = one_each("slopes", self.slopes, (item, *parents))
        levels = np.ix_(
            *[slope * np.arange(v.n_states) for slope, v in zip(slopes, parents, strict=True)]
        )
        total = sum(levels, np.zeros(()))
        thresholds = np.asarray(self.thresholds).reshape(-1, *(1,) * total.ndim)
        return table(item, parents, graded(total[None] - thresholds))
