"""The expected size: the mean number of codes that a guess leaves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.board import Board
from bnmind.strategies.scores.score import ClassTerms, equal_weights

__all__ = ["ExpectedSize"]


@dataclass(frozen=True)
class ExpectedSize(Value):
    """The mean number of codes left, Σ n_r² / n, to be minimized.

    Its key is Σ n_r² − n, which orders the guesses of one set of codes in the same way.

    References
    ----------
    Irving, *Towards an optimum Mastermind strategy*, Journal of Recreational Mathematics 11
    (1978-79) 81-87. His published total of 5662 searches exhaustively from the third guess on;
    this is the rule of his first two guesses throughout.
    """

    corrected: bool = False
    """Whether the winning class counts as empty, since the game is then over."""

    @property
    def minimized(self) -> bool:
        """Smaller values are better."""
        return True

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        sizes = np.arange(largest + 1)
        return ClassTerms(sizes * sizes - sizes, equal_weights(board), -int(self.corrected))

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the mean number of codes left."""
        return (key + codes) / codes
