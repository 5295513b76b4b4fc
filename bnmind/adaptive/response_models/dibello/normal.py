r"""The DiBello-Normal model: a normal distribution around the effective ability, cut into parts.

=========  ===========================================================================
symbol     name here
=========  ===========================================================================
η          the effective ability of a configuration of the skills
σ          ``deviation``
t_r        Φ⁻¹(r / R), r = 1 … R − 1: the limits of R equal parts of a standard normal
           distribution
P(X ≥ r)   Φ((η − t_r) / σ)
=========  ===========================================================================

It suits skills that depend on other skills, and, without parents, the distribution of a skill.

References
----------
R. Almond, R. Mislevy, L. Steinberg, D. Yan and D. Williamson, *Bayesian Networks in Educational
Assessment*, 2015, section 8.5.4; ``calcDNTable`` of the R package CPTtools.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated

import numpy as np
from annotated_types import Ge

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.adaptive.response_models.base.model import check_item, refuse_large, table
from bnmind.adaptive.response_models.base.parameters import Scale
from bnmind.adaptive.response_models.dibello.combination import (
    Combination,
    Numbers,
    Scales,
    effective_abilities,
    flat,
    one_for_each,
)
from bnmind.errors import InvalidModelError
from bnmind.pgm import TabularCPD, Variable

__all__ = ["DiBelloNormal"]


@dataclass(frozen=True)
class DiBelloNormal(Value):
    """An expert's model of a skill that depends on others, with a normal link.

    Parameters
    ----------
    slopes
        The slope α of each skill, positive, or one number for all; one for offset functions.
    difficulty
        The difficulty β; for offset functions a number for all skills, or one for each.
    deviation
        The standard deviation σ of the part that the other skills do not determine, positive.
    n_responses
        The number of responses or levels, at least 2.
    combination
        The combination function.

    Examples
    --------
    A skill with correlation 0.8 to another one, whose levels are about equally probable:

    >>> from bnmind.adaptive.response_models.base.model import response_channel
    >>> general = Variable("general", ("low", "high"))
    >>> model = DiBelloNormal(0.8, 0.0, 0.6, n_responses=2)
    >>> response_channel(model, [general]).round(3).tolist()
    [[0.816, 0.184], [0.184, 0.816]]
    """

    slopes: Scales
    difficulty: Numbers
    deviation: Scale
    n_responses: Annotated[int, Ge(2)]
    combination: Combination = field(default=Combination.COMPENSATORY, kw_only=True)

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        if not flat(self.slopes):
            yield "expected at least one slope, got ()"

    @checked
    def cpd(self, item: Variable, parents: Sequence[Variable]) -> TabularCPD:
        """Return the distribution of a skill or an item given skills, if any.

        The states of each variable are from the lowest level to the highest.
        """
        from scipy.special import ndtr, ndtri

        check_item(item, self.n_responses)
        refuse_large(item, parents)
        n = len(parents)
        n_slopes, n_difficulties = (1, n) if self.combination.is_offset else (n, 1)
        ability = self.combination.effective(
            effective_abilities([v.n_states for v in parents]),
            one_for_each("slopes", self.slopes, item, n_slopes),
            one_for_each("difficulties", self.difficulty, item, n_difficulties),
        )
        limits = ndtri(np.arange(1, self.n_responses) / self.n_responses)
        distance = (limits[:, None] - ability) / self.deviation
        edge = np.zeros((1, len(ability)))
        below, above = ndtr(distance), ndtr(-distance)
        # Subtract the smaller pair of tails, for accuracy.
        low = np.diff(np.concatenate([edge, below, edge + 1]), axis=0)
        high = -np.diff(np.concatenate([edge + 1, above, edge]), axis=0)
        left = np.concatenate([distance, distance[-1:]]) < 0
        return table(item, parents, np.maximum(np.where(left, low, high), 0.0))
