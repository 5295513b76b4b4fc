"""Snyder's first player: each code has an exponential score, and is guessed in proportion to it.

=========  ================================================================================
Snyder     name here
=========  ================================================================================
θ          ``theta``, four numbers
f1..f3     whether this is the first guess and the code has 1, 2, 3 colors
f4         whether the code is consistent with all replies
S_θ(x)     exp(Σ_j f_j θ_j), equation (23)
P_θ(x)     S_θ(x) / Σ_y S_θ(y), equation (21)
=========  ================================================================================

References
----------
Snyder, *Mastermind by importance sampling and Metropolis-Hastings*, section 4.2.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Finite, Value, sealed
from bnmind.information import Floats
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.strategies.base.beginnings import TrustsReplies
from bnmind.strategies.base.needs import distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo

__all__ = ["INITIAL_THETA", "LEARNED_THETA", "ExponentialScoring", "Theta", "color_classes"]

_Weight = Annotated[float, Finite]
Theta = tuple[_Weight, _Weight, _Weight, _Weight]
"""The weights of the four features."""

INITIAL_THETA: Theta = (0.0, 0.0, 0.0, 5.0)
"""The weights before learning: any first guess, then codes that are mostly consistent."""

LEARNED_THETA: Theta = (-0.488, -1.458, 5.944, 82.371)
"""The weights that Snyder learned at 4×6, equation (32): a first guess of three colors, then only
consistent codes."""


@dataclass(frozen=True)
class ExponentialScoring(TrustsReplies, Value):
    """Guess each code with a probability in proportion to its exponential score.

    The strategy assumes true replies, as `RandomCode` does. If no code is consistent with all
    replies, those that contradict the fewest count as consistent. `GuessInfo.score` is the
    probability of the guess, and `GuessInfo.evaluated` the number of all codes, as Snyder counts.

    Raises
    ------
    InvalidArgumentError
        If `theta` is not four finite numbers.
    """

    name: str = "snyder"
    """The name of the strategy at the command line and in files."""
    theta: Theta = INITIAL_THETA
    """The weights of the features."""

    @property
    def deterministic(self) -> bool:
        """The choice is random."""
        return False

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return a code, drawn in proportion to the scores."""
        consistent = distribution_of(belief).probabilities > 0
        exponents = np.where(consistent, self.theta[3], 0.0)
        if not belief.history:
            exponents += _color_exponents(belief.board, self.theta)
        scores = np.exp(exponents - exponents.max())
        sums = np.cumsum(scores)
        # Of equal sums, the first belongs to the code whose score is not 0.
        guess = int(np.searchsorted(sums, rng.random() * sums[-1], side="right"))
        tied = int(np.count_nonzero(exponents == exponents[guess]))
        return guess, GuessInfo(
            guess, float(scores[guess] / sums[-1]), tied=tied, evaluated=len(scores)
        )


@lru_cache(maxsize=4)
def color_classes(board: Board) -> NDArray[np.uint8]:
    """Return the number of colors of each code, or 0 if there are more than three, read-only."""
    digits = np.sort(board.codes, axis=1)
    n_colors = 1 + np.count_nonzero(digits[:, 1:] != digits[:, :-1], axis=1)
    return sealed(np.where(n_colors <= 3, n_colors, 0).astype(np.uint8))


def _color_exponents(board: Board, theta: Theta) -> Floats:
    """Return the first three terms of the exponent of each code, equation (24)."""
    return np.asarray(np.array([0.0, *theta[:3]])[color_classes(board)])
