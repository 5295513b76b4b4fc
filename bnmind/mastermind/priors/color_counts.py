"""A prior that learns the favorite colors of a code-maker at each position.

The pegs are independent. The unknown probabilities of the colors at a position have a symmetric
Dirichlet distribution of parameter α. After N codes, c of which have a color at a position, the
next code has that color there with probability (c + α) / (N + α·k).

References
----------
Gelman et al., *Bayesian Data Analysis*, third edition, section 3.4.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Annotated

import numpy as np
from annotated_types import Gt
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Finite
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.priors.closed_form import ClosedFormPrior, repeat_faults
from bnmind.mastermind.priors.fixed_colors import FixedColors
from bnmind.mastermind.priors.prior import Codes

__all__ = ["LearnedColors"]


@dataclass(frozen=True, eq=False)
class LearnedColors(ClosedFormPrior):
    """The prior of the next code, given the colors of the earlier ones, position by position.

    Examples
    --------
    >>> prior = LearnedColors.start(Board(2, 3)).observe((1, 2)).observe((1, 3))
    >>> prior.expected.probabilities[0].tolist()
    [0.6, 0.2, 0.2]
    """

    board: Board
    """The board of the codes; colors may repeat."""
    counts: Annotated[Floats, Gt(0), Finite]
    """``(pegs, colors)``, the number of earlier codes with each color at each position, plus α;
    positive and read-only."""

    def _faults(self) -> Iterator[str]:
        yield from repeat_faults(self.board, self.name)
        shape = (self.board.pegs, self.board.colors)
        if self.counts.shape != shape:
            yield (
                f"expected counts of {shape[1]} colors at {shape[0]} positions, got an array of"
                f" shape {self.counts.shape}"
            )

    @classmethod
    @checked
    def start(cls, board: Board, alpha: float = 1.0) -> LearnedColors:
        """Return the prior before the first code, which is uniform.

        Parameters
        ----------
        board
            The board.
        alpha
            The pseudo-count of each color at each position, above 0.
        """
        return cls(board, np.full((board.pegs, board.colors), float(alpha)))

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""
        return "learned-colors"

    @property
    def expected(self) -> FixedColors:
        """The expected probabilities of the colors, which are those of the next code."""
        return FixedColors(self.board, self.counts / self.counts.sum(axis=1, keepdims=True))

    @checked
    def observe(self, code: Sequence[int]) -> LearnedColors:
        """Return the prior of the next code after another code."""
        counts = self.counts.copy()
        counts[np.arange(self.board.pegs), np.array(self.board.checked(code)) - 1] += 1
        return LearnedColors(self.board, counts)

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        return self.expected.log_probabilities(codes)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent draws of the next code, ``(n, pegs)``."""
        return self.expected.draw(n, rng)
