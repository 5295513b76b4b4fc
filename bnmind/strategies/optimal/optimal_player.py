"""Strategies that provably need the fewest guesses, on average or in the worst case."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from itertools import count

import numpy as np
from numpy.typing import NDArray

from bnmind._values import Value
from bnmind.errors import TooLargeError
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.strategies.base.beginnings import TrustsReplies
from bnmind.strategies.base.game_rules import Goal
from bnmind.strategies.base.needs import distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo
from bnmind.strategies.optimal.board_search import BoardSearch, SearchRules
from bnmind.strategies.optimal.optimum import (
    Optimum,
    ProgressOfSearch,
    optimal_in_worst_case,
    optimal_on_average,
)
from bnmind.strategies.players.myopic import Among, Myopic
from bnmind.strategies.scores.most_parts import MostParts
from bnmind.strategies.scores.worst_case import WorstCase
from bnmind.strategies.trees.planned_strategy import PlansAhead, node_after
from bnmind.strategies.trees.tree import StrategyTree

__all__ = ["MAX_TRIED_AFRESH", "Optimal"]

MAX_TRIED_AFRESH = 20_000
"""The largest number of guesses to try for a set of codes off the tree: about a second."""


@dataclass(frozen=True)
class Optimal(TrustsReplies, PlansAhead, Value):
    """Play an optimal strategy, assuming true replies whatever the channel is.

    The strategy searches the whole board once, before the first guess. If a game leaves the tree,
    by guesses of another player or by contradictory replies, it searches the codes that
    contradict the fewest replies, so its advice stays optimal. If that search needs more than
    `MAX_TRIED_AFRESH` guesses tried, it makes the guess with the most parts, or with the smallest
    worst case.

    Examples
    --------
    >>> strategy = Optimal(max_guesses=5)
    >>> optimum = strategy.optimum(Board(4, 6))
    >>> optimum.total, optimum.bound, optimum.tree.worst
    (5626, 5626, 5)
    """

    name: str = "optimal"
    """The name of the strategy at the command line and in files."""
    goal: Goal = Goal.REVEALING
    """The end of a game."""
    among: Among = Among.ALL
    """The candidate guesses."""
    _: KW_ONLY
    in_worst_case: bool = False
    """Whether to minimize the worst case first and then the mean, or only the mean."""
    max_guesses: int | None = None
    """The largest number of guesses for any code; unlimited if None."""
    first: tuple[int, ...] | None = None
    """The first guess; the best one if None."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice."""
        return True

    def optimum(self, board: Board, *, progress: ProgressOfSearch | None = None) -> Optimum:
        """Return the strategy for a board, with its proof of optimality.

        Parameters
        ----------
        board
            The board.
        progress
            As for `optimal_on_average`.

        Raises
        ------
        InvalidArgumentError
            If no strategy takes at most ``max_guesses``.
            If the first guess is not a code of the board.
        TooLargeError
            If the board is too large, or the search needs too much work.
        """
        return _optimum(_Asked(self, board, progress))

    def tree(self, board: Board) -> StrategyTree:
        """Return the tree for a board; raises like `optimum`.

        Parameters
        ----------
        board
            The board.
        """
        return self.optimum(board).tree

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the tree, or the best guess off the tree; raises like `optimum`."""
        board, history = belief.board, belief.history
        node = node_after(self.tree(board), history)
        if node is not None and node.guess is not None:
            return node.guess, GuessInfo(node.guess)
        possible = np.flatnonzero(distribution_of(belief).probabilities)
        guesses = [board.index(turn.guess) for turn in history]
        try:
            guess = int(possible[0]) if len(possible) == 1 else self._best(board, possible, guesses)
        except TooLargeError:
            score = WorstCase() if self.in_worst_case else MostParts()
            return Myopic(score, among=self.among).choose(belief, rng)
        return guess, GuessInfo(guess)

    def _best(self, board: Board, possible: NDArray[np.intp], guesses: list[int]) -> int:
        """Return the best guess for the possible codes."""
        limits: Iterable[int | None] = (self.max_guesses, None)
        if self.in_worst_case:
            limits = count(len(guesses) + 1)
        for limit in limits:
            # A new search, so that previous searches do not influence ties.
            rules = SearchRules(self.goal, self.among, limit, MAX_TRIED_AFRESH)
            search = BoardSearch(board, rules)
            solved = search.solve(possible, guesses)
            if solved is not None:
                return solved.guess
        raise AssertionError  # there is always a number of guesses that suffices


@dataclass(frozen=True)
class _Asked:
    """A strategy and a board; who is told of the progress makes no other optimum of them."""

    strategy: Optimal
    board: Board
    progress: ProgressOfSearch | None = field(compare=False)


@lru_cache(maxsize=4)
def _optimum(asked: _Asked) -> Optimum:
    strategy = asked.strategy
    search = optimal_in_worst_case if strategy.in_worst_case else optimal_on_average
    return search(
        asked.board,
        strategy.goal,
        among=strategy.among,
        max_guesses=strategy.max_guesses,
        first=strategy.first,
        progress=asked.progress,
    )
