"""A probability distribution over the codes of a board, and what can be asked of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bnmind.errors import InvalidProbabilityError, TooLargeError
from bnmind.information import Floats, entropy
from bnmind.mastermind.board import MAX_CODES, Board
from bnmind.mastermind.reply_table import reply_masses

__all__ = ["CodeDistribution"]

_TOLERANCE = 1e-9  # how far the probabilities may be from summing to one
_TIE = 1e-12  # probabilities closer than this, relative to the larger, are equal


@dataclass(frozen=True, eq=False)
class CodeDistribution:
    """The probability of every code of a board.

    Raises
    ------
    InvalidProbabilityError
        If there is not one number in [0, 1] a code, or they do not sum to one within
        1e-9.

    Examples
    --------
    >>> codes = CodeDistribution.uniform(Board(2, 4))
    >>> codes.entropy(), codes.possible_codes()
    (4.0, 16)
    """

    board: Board
    """The board."""
    probabilities: Floats
    """``(n_codes,)`` in the order of ``board.codes``, read-only; they sum to one."""

    def __post_init__(self) -> None:
        given = np.asarray(self.probabilities, dtype=np.float64)
        if given.shape != (self.board.n_codes,):
            raise InvalidProbabilityError(
                f"expected {self.board.n_codes:,} probabilities, one a code of the board "
                f"{self.board}, got an array of shape {given.shape}",
                self.probabilities,
            )
        total = float(given.sum())
        if not (given.min() >= 0 and given.max() <= 1 + _TOLERANCE):
            raise InvalidProbabilityError(
                f"expected probabilities in [0, 1], got {given.min():g} to {given.max():g}",
                self.probabilities,
            )
        if abs(total - 1) > _TOLERANCE:
            raise InvalidProbabilityError(
                f"expected probabilities that sum to 1, got {total:.12g}", self.probabilities
            )
        probabilities = given / total
        probabilities.setflags(write=False)
        object.__setattr__(self, "probabilities", probabilities)

    def __reduce__(self) -> tuple[Any, ...]:
        return (CodeDistribution, (self.board, self.probabilities))

    @classmethod
    def uniform(cls, board: Board) -> CodeDistribution:
        """Return the distribution that gives every code the same probability.

        Raises
        ------
        TooLargeError
            If the codes of the board are too many to be listed.
        """
        n_codes = len(board.codes)
        return cls(board, np.full(n_codes, 1.0 / n_codes))

    def probability(self, code: Sequence[int]) -> float:
        """Return the probability of a code.

        Raises
        ------
        InvalidCodeError
            If it is no code of the board.
        """
        return float(self.probabilities[self.board.index(code)])

    def possible_codes(self) -> int:
        """Return how many codes have a positive probability."""
        return int(np.count_nonzero(self.probabilities))

    def entropy(self) -> float:
        """Return the entropy in bits."""
        return float(entropy(self.probabilities))

    def marginals(self) -> Floats:
        """Return the probability of each color at each position, ``(pegs, colors)``."""
        colors = self.board.colors
        return np.array(
            [
                np.bincount(column, weights=self.probabilities, minlength=colors + 1)[1:]
                for column in self.board.codes.T
            ]
        )

    def joint(self) -> Floats:
        """Return the joint over the positions, ``(colors,) * pegs``, color 1 first.

        On a board without repeats the cells that are no codes are zero.

        Raises
        ------
        TooLargeError
            If it would have more than `MAX_CODES` cells.
        """
        shape = (self.board.colors,) * self.board.pegs
        if self.board.repeats:
            return self.probabilities.reshape(shape).copy()
        cells = self.board.colors**self.board.pegs
        if cells > MAX_CODES:
            raise TooLargeError(
                f"expected a joint of at most {MAX_CODES:,} cells, got the board {self.board}, "
                f"whose joint would need {cells:,}",
                needed=cells,
                budget=MAX_CODES,
            )
        joint = np.zeros(shape)
        joint[tuple(self.board.codes.T.astype(np.intp) - 1)] = self.probabilities
        return joint

    def most_probable(self, n: int = 10) -> tuple[tuple[int, float], ...]:
        """Return up to `n` codes as ``(index, probability)``, the most probable first.

        Codes of equal probability, to a relative 1e-12, are in lexicographic order;
        codes of probability zero are left out.
        """
        p = self.probabilities
        n = min(n, self.possible_codes())
        if n < 1:
            return ()
        least = float(np.partition(p, len(p) - n)[len(p) - n])
        candidates = np.flatnonzero(p >= least * (1 - _TIE))
        candidates = candidates[np.argsort(-p[candidates], kind="stable")]
        falling = -p[candidates]
        ranked: list[int] = []
        while len(ranked) < n:
            # The next group of ties: all that equal its most probable code.
            start = len(ranked)
            end = int(np.searchsorted(falling, falling[start] * (1 - _TIE), side="right"))
            ranked += sorted(candidates[start:end].tolist())
        return tuple((index, float(p[index])) for index in ranked[:n])

    def masses(self, guesses: NDArray[np.intp] | None = None) -> Floats:
        """Return the probability of each true reply to each guess; see `reply_masses`."""
        return reply_masses(self.board, self.probabilities, guesses)
