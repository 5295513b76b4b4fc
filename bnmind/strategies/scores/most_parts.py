"""Most parts: the number of possible replies."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind._values import Value
from bnmind.mastermind.board import Board
from bnmind.strategies.scores.score import ClassTerms, equal_weights

__all__ = ["MostParts"]


@dataclass(frozen=True)
class MostParts(Value):
    """The number of non-empty classes, to be maximized.

    Its key is n minus that number.

    References
    ----------
    Kooi, *Yet another Mastermind strategy*, ICGA Journal 28 (2005) 13-20.
    """

    winning_counts: bool = True
    """Whether the class of the winning reply counts as a part, as in the paper."""

    @property
    def minimized(self) -> bool:
        """Larger values are better."""
        return False

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        sizes = np.maximum(np.arange(largest + 1) - 1, 0)
        return ClassTerms(sizes, equal_weights(board), 0 if self.winning_counts else 1)

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the number of parts."""
        return float(codes - key)
