"""The possible code that uses the colors most evenly, together with all guesses.

========  ==================================================================
symbol    name here
========  ==================================================================
n         the number of guesses made
ℓ         pegs
#g        the number of pegs of color g in the code and all guesses
s(c)      Σ_g #g/((n + 1)ℓ) · log₂ ((n + 1)ℓ/#g), the local entropy of a code, in bits
========  ==================================================================
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board, digits_of
from bnmind.strategies.base.beginnings import TrustsReplies
from bnmind.strategies.base.needs import distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo
from bnmind.strategies.players.openings import FirstGuess, open_aabc
from bnmind.strategies.scores.fixed_point_entropy import entropy_terms

__all__ = ["LOCAL_BITS", "LocalEntropy", "color_counts"]

LOCAL_BITS = 30
"""The binary places of n·log₂ n in the local entropy, for up to 2²⁰ pegs."""


@dataclass(frozen=True)
class LocalEntropy(TrustsReplies, Value):
    """Choose the possible code of the largest local entropy; ties are broken at random.

    The local entropy needs no reply classes, so it is cheap. The strategy assumes true replies, as
    `Knuth` does. The score is the local entropy in bits.

    References
    ----------
    Runarsson and Merelo, *Adapting heuristic Mastermind strategies to evolutionary algorithms*
    (2010), section 4: *LocalEntropy* in table 3.
    """

    name: str = "local-entropy"
    """The name of the strategy at the command line and in files."""
    opening: FirstGuess = open_aabc
    """The first guess."""

    @property
    def deterministic(self) -> bool:
        """Ties are broken at random."""
        return False

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return a possible code of the largest local entropy."""
        board = belief.board
        if not belief.history:
            guess = board.index(self.opening(board))
            return guess, GuessInfo(guess)
        possible = np.flatnonzero(distribution_of(belief).probabilities)
        guesses = np.array([turn.guess for turn in belief.history])
        pegs = color_counts(board, guesses).sum(axis=0)
        pegs = pegs + color_counts(board, digits_of(board, possible))
        total = board.pegs * (len(guesses) + 1)
        terms = entropy_terms(total, LOCAL_BITS)
        keys = terms[pegs].sum(axis=1)
        tied = np.flatnonzero(keys == keys.min())
        guess = int(possible[tied[rng.integers(len(tied))]])
        entropy = math.ldexp(float(terms[total] - keys.min()), -LOCAL_BITS) / total
        return guess, GuessInfo(guess, entropy, tied=len(tied), evaluated=len(possible))


def color_counts(board: Board, codes: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return the number of pegs of each color in each code, ``(codes, k)``."""
    counts = np.zeros((len(codes), board.colors), dtype=np.int64)
    rows = np.arange(len(codes))
    for position in range(board.pegs):
        counts[rows, codes[:, position].astype(np.intp) - 1] += 1
    return counts
