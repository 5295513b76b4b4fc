"""Larmouth's score: the entropy left, corrected for guesses that may win."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bnmind.mastermind.board import Board
from bnmind.strategies.scores.fixed_point_entropy import entropy_terms, fixed_point_bits
from bnmind.strategies.scores.score import ClassTerms, equal_weights

__all__ = ["Larmouth"]


@dataclass(frozen=True)
class Larmouth:
    """Σ n_r log n_r, less 2 log 2 for a guess that is still possible, to be minimized.

    As much as comparing the whole numbers Π n_r^n_r / 4^[the guess is still possible]. To
    find a code takes a guess more than to know it; how the 2 log 2 was found is not known.

    References
    ----------
    Larmouth for Bulls and Cows (1971), in the words of *Heuristic strategies* on Mastermind
    by later authors, who number it among the corrected entropies.
    """

    @property
    def minimized(self) -> bool:
        """Little entropy left is good."""
        return True

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        bits = fixed_point_bits(board.n_codes)
        return ClassTerms(entropy_terms(largest, bits), equal_weights(board), -(2 << bits))

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the corrected entropy left, in bits; below 0 for a guess that settles all."""
        return math.ldexp(key, -fixed_point_bits(board.n_codes)) / codes
