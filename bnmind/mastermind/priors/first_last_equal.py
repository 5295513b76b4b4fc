"""A code-maker whose first and last peg have the same color.

References
----------
The code-maker "first-and-last" of the tournament in which the authors of *An Updated Genetic
Algorithm for Mastermind* played.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.priors.closed_form import ClosedFormPrior, require_repeats
from bnmind.mastermind.priors.prior import Codes

__all__ = ["FirstLastEqual"]


@dataclass(frozen=True)
class FirstLastEqual(Value, ClosedFormPrior):
    """The prior that is uniform over the codes whose first and last peg have the same color.

    Examples
    --------
    >>> FirstLastEqual(Board(4, 6)).distribution().possible_codes()
    216
    """

    board: Board
    """The board of the codes; colors may repeat."""

    def __post_init__(self) -> None:
        self._convert()
        require_repeats(self.board, self.name)

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
