"""A code-maker that alternates between two colors.

References
----------
The code-maker "two-color-alternating" of the tournament in which the authors of *An Updated
Genetic Algorithm for Mastermind* played.
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
from bnmind.mastermind.priors.closed_form import ClosedFormPrior, drawn_colors
from bnmind.mastermind.priors.prior import Codes

__all__ = ["Alternating"]


@dataclass(frozen=True)
class Alternating(ClosedFormPrior):
    """The prior that is uniform over the codes ABAB… of two different colors.

    Examples
    --------
    >>> Alternating(Board(4, 6)).distribution().possible_codes()
    30
    """

    board: Board
    """The board of the codes, of at least two pegs; if of more, colors may repeat."""

    def _faults(self) -> Iterator[str]:
        if self.board.pegs < 2 or (self.board.pegs > 2 and not self.board.repeats):
            yield (
                "the prior alternating needs a board of at least two pegs on which colors may"
                f" repeat, got the board {self.board}"
            )

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""
        return "alternating"

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        alternates = (codes[:, 0] != codes[:, 1]) & (codes[:, 2:] == codes[:, :-2]).all(axis=1)
        return np.where(alternates, -math.log(math.perm(self.board.colors, 2)), -np.inf)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        return drawn_colors(self.board, n, rng)[:, np.arange(self.board.pegs) % 2]
