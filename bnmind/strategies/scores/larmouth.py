"""Larmouth's score: the entropy left, with a correction for guesses that may win."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bnmind.mastermind.board import Board
from bnmind.strategies.scores.fixed_point_entropy import entropy_terms, fixed_point_bits
from bnmind.strategies.scores.score import ClassTerms, equal_weights

__all__ = ["Larmouth"]


@dataclass(frozen=True)
class Larmouth:
    """Σ n_r log n_r, minus 2 log 2 for a possible guess, to be minimized.

    This is equivalent to comparing the numbers Π n_r^n_r / 4^[the guess is possible]. Guessing a
    code takes one guess more than knowing it; the origin of the 2 log 2 is unknown.

    References
    ----------
    Larmouth for Bulls and Cows (1971), as described in *Heuristic strategies* on Mastermind by
    later authors, who list it among the corrected entropies.
    """

    @property
    def minimized(self) -> bool:
        """Smaller values are better."""
        return True

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        bits = fixed_point_bits(board.n_codes)
        return ClassTerms(entropy_terms(largest, bits), equal_weights(board), -(2 << bits))

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the corrected entropy left, in bits; it may be negative."""
        return math.ldexp(key, -fixed_point_bits(board.n_codes)) / codes
