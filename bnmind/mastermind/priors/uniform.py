"""The uniform prior: every code is equally probable."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.masses.distribution import CodeDistribution
from bnmind.mastermind.priors.closed_form import ClosedFormPrior, drawn_colors
from bnmind.mastermind.priors.prior import Codes

__all__ = ["UNIFORM", "UniformPrior"]

UNIFORM = "uniform"
"""The name of the prior; records without a prior mean this one."""


@dataclass(frozen=True)
class UniformPrior(ClosedFormPrior):
    """The prior of a code-maker without preferences.

    Examples
    --------
    >>> prior = UniformPrior(Board(4, 6))
    >>> round(2 ** prior.distribution().entropy())
    1296
    """

    board: Board
    """The board of the codes."""

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""
        return UNIFORM

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        return np.full(len(codes), -math.log(self.board.n_codes))

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        board = self.board
        if board.repeats:
            return rng.integers(
                1, board.colors, size=(n, board.pegs), dtype=np.uint8, endpoint=True
            )
        return np.ascontiguousarray(drawn_colors(board, n, rng)[:, : board.pegs])

    def distribution(self) -> CodeDistribution:
        """Return the probability of each code.

        Raises
        ------
        TooLargeError
            If the board has too many codes to list.
        """
        return CodeDistribution.uniform(self.board)
