"""The DINO model: any one of the required skills is enough.

With α_k = 1 if the examinee has the required level of skill k, else 0, g the ``guess`` and
s the ``slip``: P(right | α) = 1 − s if some α_k = 1, else g.

References
----------
J. Templin and R. Henson, "Measurement of psychological disorders using cognitive
diagnosis models", Psychol. Methods 2006.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive.response_models.guess_slip import GuessSlip

__all__ = ["Dino"]


@dataclass(frozen=True)
class Dino(GuessSlip):
    """Right with chance 1 − slip given any of the required skills, else with chance guess.

    The parameters are those of `Dina`. A required level of 0 is always reached.
    """

    @staticmethod
    def _enough(has: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Return where at least one skill is sufficient."""
        return functools.reduce(np.logical_or, has)
