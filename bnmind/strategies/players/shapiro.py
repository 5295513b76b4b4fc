"""Shapiro's strategy: guess the first possible code."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bnmind.mastermind.board import Board
from bnmind.strategies.base.strategy import Strategy
from bnmind.strategies.players.myopic import Among, Myopic
from bnmind.strategies.scores.score import ClassTerms, equal_weights

__all__ = ["Indifference", "first_possible", "is_shapiro"]


@dataclass(frozen=True)
class Indifference:
    """The score 0 for every guess, so that the rule for ties decides."""

    @property
    def minimized(self) -> bool:
        """All guesses are equally good."""
        return True

    def terms(self, board: Board, largest: int) -> ClassTerms:
        """Return the score as whole numbers; see `Score.terms`."""
        return ClassTerms(np.zeros(largest + 1, dtype=np.int64), equal_weights(board))

    def shown(self, board: Board, key: int, codes: int) -> float:
        """Return 0."""
        return 0.0


def first_possible() -> Myopic:
    """Return the strategy that guesses the first possible code in lexicographic order.

    References
    ----------
    Shapiro, *Playing Mastermind logically*, SIGART Newsletter 85 (1983) 28-29.

    Examples
    --------
    >>> from bnmind.mastermind import Channel
    >>> from bnmind.strategies import build_tree
    >>> build_tree(first_possible(), Channel.exact(Board(4, 6))).total
    7471.0
    """
    return Myopic(Indifference(), name="shapiro", among=Among.POSSIBLE)


def is_shapiro(strategy: Strategy) -> bool:
    """Return whether a strategy guesses the first possible code, except for its first guess."""
    return (
        type(strategy) is Myopic
        and strategy.deterministic
        and strategy.among is Among.POSSIBLE
        and strategy.score == Indifference()
    )
