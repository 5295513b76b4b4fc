"""The entropy that a guess leaves, compared without rounding."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bnmind.mastermind.board import Board
from bnmind.strategies.scores.fixed_point_entropy import entropy_terms, fixed_point_bits
from bnmind.strategies.scores.score import ClassTerms, equal_weights

__all__ = ["EntropyLeft"]


@dataclass(frozen=True)
class EntropyLeft:
    """The expected entropy of the code after the reply, Σ n_r log₂ n_r / n, to be minimized.

    Minimizing it maximizes the entropy of the reply, Bestavros and Belal's *MaxEnt*. Logarithms
    are whole numbers (`entropy_terms`), so equal entropies are exactly equal. The strategy
    `Entropy`, which models noise and priors, compares entropies up to 1e-9 bits.

    References
    ----------
    Neuwirth, *Some strategies for Mastermind*, Zeitschrift für Operations Research 26 (1982)
    B257-B278. Bestavros and Belal, *Mastermind: a game of diagnosis strategies* (1986).
    """

    @property
    def minimized(self) -> bool:
        """Smaller values are better."""
        return True

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        bits = fixed_point_bits(board.n_codes)
        return ClassTerms(entropy_terms(largest, bits), equal_weights(board))

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return the expected entropy, in bits."""
        return math.ldexp(key, -fixed_point_bits(board.n_codes)) / codes
