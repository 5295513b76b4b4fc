r"""Link functions of DiBello models: chances of responses at effective abilities.

==========  ======================================================================
symbol      name here
==========  ======================================================================
η_r         ``effective[:, r − 1]``: the effective ability for the step to r
D = 1.7     makes logistic curves like normal ones
==========  ======================================================================

References
----------
R. Almond, R. Mislevy, L. Steinberg, D. Yan and D. Williamson, *Bayesian Networks in Educational
Assessment*, 2015, chapter 8; R. Almond, "An IRT-based parameterization for conditional
probability tables", BMAW 2015. Names and formulas are those of the R package CPTtools.
"""

from __future__ import annotations

from enum import StrEnum

import numpy as np

from bnmind.adaptive.response_models.base.curves import graded, softmax
from bnmind.information import Floats

__all__ = ["Link"]

_D = 1.7


class Link(StrEnum):
    """How the effective abilities for the steps become chances of the responses."""

    PARTIAL_CREDIT = "partial-credit"
    """P(X = r) ∝ exp(D Σ_{s ≤ r} η_s): each step from one response to the next by itself."""
    GRADED_RESPONSE = "graded-response"
    """P(X ≥ r) = 1 / (1 + exp(−D η_r)), and at least that of any better response."""

    def chances(self, effective: Floats) -> Floats:
        """Return the chances of the responses, ``(configurations, responses)``.

        Parameters
        ----------
        effective
            ``(configurations, responses − 1)``: the effective abilities for the steps.
        """
        if self is Link.PARTIAL_CREDIT:
            steps = np.concatenate([np.zeros((len(effective), 1)), _D * effective], axis=1)
            return softmax(np.cumsum(steps, axis=1))
        # Response r or better is at least as probable as r + 1 or better.
        falling = np.maximum.accumulate(effective[:, ::-1], axis=1)[:, ::-1]
        return np.ascontiguousarray(graded(_D * falling.T).T)
