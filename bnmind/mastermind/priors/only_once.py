"""A code-maker that uses each color at most once.

References
----------
The code-maker "only-once" of the tournament in which the authors of *An Updated Genetic Algorithm
for Mastermind* played.
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
from bnmind.mastermind.priors.closed_form import ClosedFormPrior, distinct_colors, drawn_colors
from bnmind.mastermind.priors.prior import Codes

__all__ = ["OnlyOnce"]


@dataclass(frozen=True)
class OnlyOnce(ClosedFormPrior):
    """The prior that is uniform over the codes without repeated colors.

    Guesses may repeat colors, unlike on a board without repeats.

    Examples
    --------
    >>> OnlyOnce(Board(4, 6)).distribution().possible_codes()
    360
    """

    board: Board
    """The board of the codes, with at least as many colors as pegs."""

    def _faults(self) -> Iterator[str]:
        if self.board.pegs > self.board.colors:
            yield (
                "the prior only-once needs at least as many colors as pegs, got the board"
                f" {self.board}"
            )

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""
        return "only-once"

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        pegs = self.board.pegs
        probability = -math.log(math.perm(self.board.colors, pegs))
        return np.where(distinct_colors(codes) == pegs, probability, -np.inf)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        return drawn_colors(self.board, n, rng)[:, : self.board.pegs]
