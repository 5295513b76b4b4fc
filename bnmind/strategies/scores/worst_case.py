"""The worst case: the size of the largest class."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind._values import Value
from bnmind.mastermind.board import Board
from bnmind.strategies.scores.score import ClassTerms, Combination, equal_weights

__all__ = ["WorstCase", "guaranteed_information"]


@dataclass(frozen=True)
class WorstCase(Value):
    """The size of the largest class, to be minimized.

    Bestavros and Belal's *MaxMin* maximizes the guaranteed information of a guess,
    log₂(n / max n_r) bits (`guaranteed_information`). It orders guesses in the same way, so
    ``maxmin`` is another name for this score.

    References
    ----------
    Knuth, *The computer as a Master Mind*, Journal of Recreational Mathematics 9 (1976) 1-6;
    he compares the largest class only. Bestavros and Belal, *Mastermind: a game of diagnosis
    strategies* (1986).
    """

    next_largest: bool = False
    """Whether to compare the next largest class if the largest classes are equal, and so on."""

    @property
    def minimized(self) -> bool:
        """Smaller values are better."""
        return True

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        sizes = np.maximum(np.arange(largest + 1) - 1, 0)
        combination = Combination.SORTED if self.next_largest else Combination.LARGEST
        return ClassTerms(
            sizes=sizes, weights=equal_weights(board), winning=0, combination=combination
        )

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the number of codes in the largest class."""
        return float(key + 1)


@checked_if_it_fails
def guaranteed_information(codes: int, largest: int) -> float:
    """Return log₂(n / max n_r): the information of a guess in bits, whatever the reply.

    Parameters
    ----------
    codes
        n, the number of possible codes.
    largest
        The size of the largest class.

    Examples
    --------
    >>> guaranteed_information(1296, 324)
    2.0
    """
    return math.log2(codes / largest)
