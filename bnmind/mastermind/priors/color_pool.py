"""Code-makers that first choose a few colors, then each peg from these colors.

References
----------
The code-makers "two-color", "usually-fewer" and "prefer-fewer" of the tournament in which the
authors of *An Updated Genetic Algorithm for Mastermind* played.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.priors.closed_form import (
    ClosedFormPrior,
    distinct_colors,
    drawn_colors,
    is_distribution,
    repeat_faults,
)
from bnmind.mastermind.priors.prior import Codes

__all__ = ["ColorPool", "prefer_fewer", "two_color", "usually_fewer"]

_PREFERRED = (0.50, 0.25, 0.13, 0.08, 0.03)  # the rest is shared by six and more colors


@dataclass(frozen=True)
class ColorPool(ClosedFormPrior):
    """The prior of a code-maker that chooses the colors of a code before the code.

    The code-maker draws a number m, then m of the k colors, then each peg from these m colors,
    all uniformly. A code of d colors therefore has the probability

        Σ_m P(m) · C(k − d, m − d) / C(k, m) · m⁻ⁿ.

    Examples
    --------
    >>> prior = two_color(Board(4, 6))
    >>> codes = np.array([[1, 1, 1, 1], [1, 1, 2, 2], [1, 1, 2, 3]])
    >>> [round(1 / p) if p else "never" for p in np.exp(prior.log_probabilities(codes)).tolist()]
    [48, 240, 'never']
    """

    board: Board
    """The board of the codes; colors may repeat."""
    sizes: tuple[float, ...]
    """The probability of a pool of 1, 2, …, k colors; they sum to one."""
    name: str = "color-pool"
    """The name of the prior at the command line and in files."""

    def _faults(self) -> Iterator[str]:
        yield from repeat_faults(self.board, self.name)
        k = self.board.colors
        if not is_distribution(self.sizes, k):
            yield (
                f"expected {k} probabilities that sum to 1, of pools of 1 to {k} colors, got"
                f" {self.sizes}"
            )

    def log_probabilities(self, codes: NDArray[np.integer]) -> Floats:
        """Return the natural logarithm of each code's probability, ``(m,)``."""
        k, pegs = self.board.colors, self.board.pegs
        by_number = np.full(min(k, pegs) + 1, -np.inf)
        for d in range(1, len(by_number)):
            terms = [
                math.log(p)
                + math.log(math.comb(k - d, m - d))
                - math.log(math.comb(k, m))
                - pegs * math.log(m)
                for m, p in enumerate(self.sizes, start=1)
                if m >= d and p > 0
            ]
            if terms:
                by_number[d] = np.logaddexp.reduce(terms)
        return by_number[distinct_colors(codes)]

    @checked
    def draw(self, n: int, rng: np.random.Generator) -> Codes:
        """Return `n` independent codes, ``(n, pegs)``."""
        sizes = rng.choice(self.board.colors, size=n, p=np.array(self.sizes)) + 1
        pools = drawn_colors(self.board, n, rng)
        places = rng.integers(0, sizes[:, None], size=(n, self.board.pegs))
        return np.take_along_axis(pools, places, axis=1)


def two_color(board: Board) -> ColorPool:
    """Return the prior of a code-maker that uses two colors, both or one of them.

    Parameters
    ----------
    board
        The board.
    """
    return ColorPool(board, _sizes(board, [(2, 1.0)]), "two-color")


def usually_fewer(board: Board) -> ColorPool:
    """Return the prior of a code-maker that chooses two or three colors nine times out of ten.

    The tenth time it uses all colors.

    Parameters
    ----------
    board
        The board.
    """
    return ColorPool(
        board, _sizes(board, [(2, 0.45), (3, 0.45), (board.colors, 0.1)]), "usually-fewer"
    )


def prefer_fewer(board: Board) -> ColorPool:
    """Return the prior of a code-maker that chooses one color in half of all games.

    It chooses two colors with probability 0.25, three with 0.13, four with 0.08, five with 0.03,
    and six or more with 0.01, all these numbers alike.

    Parameters
    ----------
    board
        The board.
    """
    more = range(6, max(board.colors, 6) + 1)
    sizes = [*enumerate(_PREFERRED, start=1), *((m, 0.01 / len(more)) for m in more)]
    return ColorPool(board, _sizes(board, sizes), "prefer-fewer")


def _sizes(board: Board, wanted: Sequence[tuple[int, float]]) -> tuple[float, ...]:
    """Return the probability of each size; more colors than the board has mean all of them."""
    sizes = [0.0] * board.colors
    for m, p in wanted:
        sizes[min(m, board.colors) - 1] += p
    total = math.fsum(sizes)
    return tuple(p / total for p in sizes)
