"""A prior that learns how many different colors a code-maker uses.

The unknown probabilities of codes of d colors have a Dirichlet distribution whose mean is their
frequency among all codes of the board, so the first code is uniform.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Natural, Positive
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.priors.closed_form import ClosedFormPrior, repeat_faults
from bnmind.mastermind.priors.number_of_colors import (
    NumberOfColors,
    codes_by_number,
    number_from_logs,
)
from bnmind.mastermind.priors.prior import Codes

__all__ = ["LearnedNumber"]


@dataclass(frozen=True)
class LearnedNumber(ClosedFormPrior):
    """The prior of the next code, given the numbers of colors of the earlier ones.

    Examples
    --------
    >>> prior = LearnedNumber.start(Board(4, 6)).observe((1, 1, 2, 2))
    >>> [round(p, 3) for p in prior.expected.numbers]
    [0.002, 0.581, 0.278, 0.139]
    """

    board: Board
    """The board of the codes; colors may repeat."""
    seen: tuple[Natural, ...]
    """The number of earlier codes of 1, 2, …, min(n, k) colors."""
    alpha: Positive = 1.0
    """The weight of the frequencies among all codes, in codes; positive."""

    def _faults(self) -> Iterator[str]:
        yield from repeat_faults(self.board, self.name)
        most = min(self.board.pegs, self.board.colors)
        if len(self.seen) != most:
            yield f"expected numbers of codes of 1 to {most} colors, got {self.seen}"

    @classmethod
    @checked
    def start(cls, board: Board, alpha: float = 1.0) -> LearnedNumber:
        """Return the prior before the first code, which weighs as much as `alpha` codes.

        Parameters
        ----------
        board
            The board.
        alpha
            The number of codes that the uniform start counts for, above 0.
        """
        return cls(board, (0,) * min(board.pegs, board.colors), alpha)

    @property
    def name(self) -> str:
        """The name of the prior at the command line and in files."""
        return "learned-number"

    @property
    def expected(self) -> NumberOfColors:
        """The expected probabilities of the numbers, which are those of the next code."""
        counts = codes_by_number(self.board)
        # The frequency of the codes of few colors may be too small for a number.
        before = [math.log(count) - math.log(self.board.n_codes) for count in counts]
        with np.errstate(divide="ignore"):
            seen = np.log(np.array(self.seen, dtype=np.float64))
        logs = np.logaddexp(seen, math.log(self.alpha) + np.array(before))
        return number_from_logs(self.board, logs, "number-of-colors")

    @checked
    def observe(self, code: Sequence[int]) -> LearnedNumber:
        """Return the prior of the next code after another code."""
        number = len(set(self.board.checked(code)))
        seen = tuple(count + (d == number) for d, count in enumerate(self.seen, start=1))
        return LearnedNumber(self.board, seen, self.alpha)

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        return self.expected.log_probabilities(codes)

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent draws of the next code, ``(n, pegs)``."""
        return self.expected.draw(n, rng)
