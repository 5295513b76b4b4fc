"""The DINA model: a right response takes all the required skills.

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
        In [0, 1], with ``guess + slip`` at most 1: more skill never hurts.
    required
        For each parent the level that is enough, counted from 0; 1 of each by default,
        and 0 where the skill is not needed.
    """

    @staticmethod
    def _enough(has: Sequence[NDArray[np.bool_]]) -> NDArray[np.bool_]:
        """Return where all skills are there."""
        return functools.reduce(np.logical_and, has)
