"""A code-maker whose first and last peg have the same color.

References
----------
The code-maker "first-and-last" of the tournament in which the authors of *An Updated Genetic
Algorithm for Mastermind* played.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.priors.closed_form import ClosedFormPrior, repeat_faults
from bnmind.mastermind.priors.prior import Codes

__all__ = ["FirstLastEqual"]


@dataclass(frozen=True)
class FirstLastEqual(ClosedFormPrior):
    """The prior that is uniform over the codes whose first and last peg have the same color.

    Examples
    --------
    >>> FirstLastEqual(Board(4, 6)).distribution().possible_codes()
    216
    """

    board: Board
    """The board of the codes; colors may repeat."""

    def _faults(self) -> Iterator[str]:
        return repeat_faults(self.board, self.name)

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""
        return "first-last-equal"

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        free = max(1, self.board.pegs - 1)
        equal = codes[:, 0] == codes[:, -1]
        return np.where(equal, -free * math.log(self.board.colors), -np.inf)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        shape = (n, self.board.pegs)
        codes = rng.integers(1, self.board.colors, size=shape, dtype=np.uint8, endpoint=True)
        codes[:, -1] = codes[:, 0]
        return codes
