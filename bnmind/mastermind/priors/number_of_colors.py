"""A prior that depends on the number of different colors in a code.

Notation: n pegs, k colors, d different colors in the code. S(n, d) is the number of sequences of
length n that use all of d colors; the board has C(k, d)·S(n, d) codes of d colors.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import sealed
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.priors.closed_form import (
    ClosedFormPrior,
    distinct_colors,
    drawn_colors,
    is_distribution,
    logs_of,
    repeat_faults,
)
from bnmind.mastermind.priors.prior import Codes

__all__ = ["DEFAULT_STRENGTH", "NumberOfColors", "fewer_colors"]

DEFAULT_STRENGTH = 1.0
"""The usual strength of the preference for fewer colors."""


@dataclass(frozen=True)
class NumberOfColors(ClosedFormPrior):
    """The prior that gives all codes of d colors the same probability.

    Examples
    --------
    >>> prior = fewer_colors(Board(4, 6), 1.0)
    >>> p = prior.distribution()
    >>> round(p.probability((1, 1, 2, 2)) / p.probability((1, 1, 2, 3)), 6) == round(math.e, 6)
    True
    """

    board: Board
    """The board of the codes; colors may repeat."""
    numbers: tuple[float, ...]
    """The probability that a code has 1, 2, …, min(n, k) colors; they sum to one."""
    name: str = "number-of-colors"
    """The name of the prior at the command line and in files."""
    logs: tuple[float, ...] | None = None
    """The natural logarithms of `numbers`, for probabilities that are too small for a number;
    computed if None."""

    def __post_init__(self) -> None:
        super().__post_init__()
        self._set(logs=logs_of(self.numbers, self.logs))

    def _faults(self) -> Iterator[str]:
        yield from repeat_faults(self.board, self.name)
        most = min(self.board.pegs, self.board.colors)
        if not is_distribution(self.numbers, most):
            yield (
                f"expected {most} probabilities that sum to 1, of codes of 1 to {most} colors, got"
                f" {self.numbers}"
            )

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        counts = codes_by_number(self.board)
        assert self.logs is not None
        by_number = [log - math.log(n) for log, n in zip(self.logs, counts, strict=True)]
        return np.array([-np.inf, *by_number])[distinct_colors(codes)]

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``.

        Each peg of a code of d colors is a new color with the probability that this happens in
        a uniform draw from all sequences that use all d colors.
        """
        pegs = self.board.pegs
        numbers = rng.choice(len(self.numbers), size=n, p=np.array(self.numbers)) + 1
        chances = _chances_of_new(pegs, len(self.numbers))
        used = np.zeros(n, dtype=np.intp)
        places = np.empty((n, pegs), dtype=np.intp)
        for peg in range(pegs):
            is_new = rng.random(n) < chances[peg, numbers, used]
            places[:, peg] = np.where(is_new, used, rng.integers(0, np.maximum(used, 1)))
            used += is_new
        return np.take_along_axis(drawn_colors(self.board, n, rng), places, axis=1)


def fewer_colors(board: Board, strength: float = DEFAULT_STRENGTH) -> NumberOfColors:
    """Return the prior that prefers codes of fewer colors.

    Parameters
    ----------
    board
        The board of the codes.
    strength
        The probability of a code is proportional to exp(−strength · number of its colors). Zero is
        the uniform prior; a negative number prefers more colors.

    Raises
    ------
    InvalidArgumentError
        If the strength is not a number from −100 to 100.
    """
    if not abs(strength) <= 100:
        raise InvalidArgumentError(
            f"expected a strength from -100 to 100, got {strength}", strength
        )
    name = "fewer-colors" if strength == DEFAULT_STRENGTH else f"fewer-colors:{strength:g}"
    repeat_faults(board, name)
    counts = codes_by_number(board)
    logs = np.array([math.log(n) - strength * d for d, n in enumerate(counts, start=1)])
    return number_from_logs(board, logs, name)


def number_from_logs(board: Board, logs: Floats, name: str) -> NumberOfColors:
    """Return the prior whose numbers of colors have these log weights, up to a constant."""
    relative = logs - logs.max()
    exact = relative - math.log(math.fsum(np.exp(relative)))
    return NumberOfColors(board, tuple(np.exp(exact).tolist()), name, tuple(exact.tolist()))


def codes_by_number(board: Board) -> tuple[int, ...]:
    """Return the number of codes of 1, 2, …, min(n, k) colors: C(k, d)·S(n, d), with repeats."""
    n, k = board.pegs, board.colors
    return tuple(
        math.comb(k, d) * sum((-1) ** i * math.comb(d, i) * (d - i) ** n for i in range(d))
        for d in range(1, min(n, k) + 1)
    )


@lru_cache(maxsize=32)
def _chances_of_new(pegs: int, most: int) -> Floats:
    """Return the probability that a peg has a new color, by the peg, d and the colors used.

    Let N(r, j) be the number of ways to continue with r pegs when j of the d colors are used, so
    that all d are used at the end: N(r, j) = j·N(r − 1, j) + (d − j)·N(r − 1, j + 1).
    """
    chances = np.zeros((pegs, most + 1, most + 1))
    for d in range(1, most + 1):
        ways = [0] * d + [1, 0]  # N(0, j) for j = 0 … d + 1
        for left in range(1, pegs + 1):
            new = [(d - j) * ways[j + 1] for j in range(d + 1)]
            longer = [j * ways[j] + new[j] for j in range(d + 1)]
            for j in range(d + 1):
                chances[pegs - left, d, j] = new[j] / longer[j] if longer[j] else 0.0
            ways = [*longer, 0]
    return sealed(chances)
