"""The graded model: a logistic curve of a weighted sum of the levels of the skills.

P(X ≥ r) = 1 / (1 + exp(−(Σ_k a_k·level_k − b_r))), with a the ``slopes`` and b the
``thresholds``.

References
----------
F. Samejima, "Estimation of latent ability using a response pattern of graded scores",
Psychometrika monograph 17, 1969.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Ge

from bnmind._arguments import checked
from bnmind._values import Bounded, Value
from bnmind.adaptive.response_models.base.curves import graded
from bnmind.adaptive.response_models.base.model import check_item, one_each, refuse_large, table
from bnmind.adaptive.response_models.base.parameters import LARGEST, Number, increasing
from bnmind.errors import InvalidModelError
from bnmind.pgm import TabularCPD, Variable

__all__ = ["Graded"]

_Slope = Annotated[float, Ge(0), Bounded(LARGEST)]


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

    slopes: _Slope | tuple[_Slope, ...]
    thresholds: tuple[Number, ...]

    _error = InvalidModelError

    def _faults(self) -> Iterator[str]:
        return increasing(self.thresholds)

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
