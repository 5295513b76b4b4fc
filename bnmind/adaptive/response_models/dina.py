"""The DINA model: all required skills are needed for a right response.

With α_k = 1 if the examinee has the required level of skill k, else 0, g the ``guess`` and
s the ``slip``: P(right | α) = 1 − s if every α_k = 1, else g.

References
----------
E. Haertel, "Using restricted latent class models to map the skill structure of
achievement items", J. Educ. Meas. 1989.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive.response_models.guess_slip import GuessSlip

__all__ = ["Dina"]


@dataclass(frozen=True)
class Dina(GuessSlip):
    """Right with chance 1 − slip given all required skills, else with chance guess.

    Parameters
    ----------
    guess, slip
        In [0, 1], with ``guess + slip`` at most 1, so that more skill never hurts.
    required
        The required level of each parent, counted from 0; default 1. A skill with required
        level 0 is not needed.
    """

    @staticmethod
    def _enough(has: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Return where all skills are sufficient."""
        return functools.reduce(np.logical_and, has)
