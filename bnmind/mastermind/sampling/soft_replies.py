"""Reported replies as factors of a distribution over codes, sharp or softened.

A reported reply o multiplies the probability of a code with the true reply c by N[c, o]. This
factor may be zero for most codes, and then gives a random walk no direction. It is *softened* by
pretending that the true reply c' was misread as c with a probability that falls with their
distance:

    f_β(c) = Σ_c' exp(−β·d(c, c'))·N[c', o],    d = |ΔP| + |ΔC| + 2·|Δ(P + C)|

At β = 0 the factor is constant; for β → ∞ it becomes N[c, o]. The distance is Snyder's cost.

References
----------
Snyder, *Mastermind by importance sampling and Metropolis-Hastings*, section 4.3.2: the cost.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from bnmind._values import sealed
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.history import Turn
from bnmind.mastermind.sampling.turn_arrays import turn_arrays
from bnmind.mastermind.sampling.walk_kernel import Target

__all__ = ["SHARP", "factor_logs", "turn_target"]

SHARP = math.inf
"""The β of factors that are not softened."""


@lru_cache(maxsize=8)
def _distances(board: Board) -> Floats:
    """Return d between all true replies, ``(replies, replies)``."""
    black, white = np.array(board.true_replies, dtype=np.float64).T
    both = black + white
    distances: Floats = abs(black[:, None] - black) + abs(white[:, None] - white)
    distances += 2 * abs(both[:, None] - both)
    return sealed(distances)


def factor_logs(board: Board, likelihoods: Floats, beta: float) -> Floats:
    """Return the natural logarithms of f_β, ``(turns, pegs + 1, pegs + 1)``.

    Parameters
    ----------
    board
        The board.
    likelihoods
        ``(turns, true replies)``, the probability of each report given each true reply.
    beta
        β, from 0 to `SHARP`.

    Returns
    -------
    Floats
        By turn, black pegs, and black and white pegs together; −∞ where there is no such reply.
    """
    factors = likelihoods
    if beta != SHARP:
        factors = likelihoods @ np.exp(-beta * _distances(board))
    black, white = np.array(board.true_replies).T
    logs = np.full((len(likelihoods), board.pegs + 1, board.pegs + 1), -math.inf)
    with np.errstate(divide="ignore"):
        logs[:, black, black + white] = np.log(factors)
    return logs


def turn_target(board: Board, turns: Sequence[Turn], logs: Floats) -> Target:
    """Return the target with one factor a turn."""
    arrays = turn_arrays(board, turns)
    return Target(arrays.guesses, arrays.standing, logs, board.repeats)
