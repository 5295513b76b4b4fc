"""Strategies whose whole tree is built before the game begins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bnmind._arguments import checked, checked_if_it_fails
from bnmind._values import Value
from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.strategies.base.beginnings import TrustsReplies
from bnmind.strategies.base.needs import Needs, distribution_of
from bnmind.strategies.base.situation import FIRST_TURN, Situation
from bnmind.strategies.base.strategy import GuessInfo, Strategy
from bnmind.strategies.trees.shape import places_of_outcomes
from bnmind.strategies.trees.tree import StrategyTree, TreeNode, build_tree

__all__ = [
    "Planned",
    "Planner",
    "PlansAhead",
    "ignores_prior",
    "node_after",
    "strategy_tree",
]


class PlansAhead(ABC):
    """A strategy whose whole tree is built before the game begins."""

    @abstractmethod
    def tree(self, board: Board) -> StrategyTree:
        """Return the tree for a board, under true replies.

        Parameters
        ----------
        board
            The board.
        """


@checked
def ignores_prior(strategy: Strategy) -> bool:
    """Return whether a strategy does not use the prior.

    Such strategies use nothing but the history, or play a tree for uniform codes. If a game leaves
    the tree, they omit the codes that the prior excludes.

    Parameters
    ----------
    strategy
        The strategy.

    Examples
    --------
    >>> from bnmind.strategies import Entropy, Optimal
    >>> ignores_prior(Entropy()), ignores_prior(Optimal())
    (False, True)
    """
    return strategy.needs is Needs.HISTORY or isinstance(strategy, PlansAhead)


class Planner(ABC):
    """A slow maker of trees that reports its progress."""

    @abstractmethod
    def __call__(
        self, board: Board, *, progress: Callable[[int, int], None] | None = None
    ) -> StrategyTree:
        """Return the tree for a board, under true replies.

        Parameters
        ----------
        board
            The board.
        progress
            Called from time to time with the amount of work done and the total amount.
        """


@dataclass(frozen=True)
class Planned(TrustsReplies, PlansAhead, Value):
    """Play the guesses of a tree, assuming true replies whatever the channel is.

    If the tree does not contain the history, because replies contradict each other, the strategy
    guesses the first of the codes that contradict the fewest replies.

    Examples
    --------
    >>> from bnmind.strategies import Knuth, build_tree
    >>> def plan(board: Board) -> StrategyTree:
    ...     return build_tree(Knuth(), Channel.exact(board))
    >>> belief = Planned("by heart", plan).start(Channel.exact(Board(4, 6)))
    >>> Board(4, 6).code(Planned("by heart", plan).choose(belief, np.random.default_rng())[0])
    (1, 1, 2, 2)
    """

    name: str
    """The name of the strategy at the command line and in files."""
    plan: Callable[[Board], StrategyTree]
    """The function that makes the tree for a board, under true replies; its results are cached."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice."""
        return True

    def tree(self, board: Board) -> StrategyTree:
        """Return the tree for a board.

        Parameters
        ----------
        board
            The board.
        """
        return _tree(self.plan, board)

    def choose(
        self, belief: Belief, rng: np.random.Generator, situation: Situation = FIRST_TURN
    ) -> tuple[int, GuessInfo]:
        """Return the guess of the tree after the history of the belief."""
        board, possible = belief.board, np.flatnonzero(distribution_of(belief).probabilities)
        node = node_after(self.tree(board), belief.history)
        if node is not None and node.guess is not None:
            return node.guess, GuessInfo(node.guess)
        guess = int(possible[0])
        return guess, GuessInfo(guess)


@checked_if_it_fails
def strategy_tree(
    strategy: Strategy, board: Board, *, progress: Callable[[int, int], None] | None = None
) -> StrategyTree:
    """Return the tree of a strategy under true replies; a planned strategy returns its own tree.

    Parameters
    ----------
    strategy
        The strategy.
    board
        The board.
    progress
        Called from time to time with the amount of work done and the total amount, if known.

    Raises
    ------
    InvalidArgumentError
        If the strategy makes random choices.
    TooLargeError
        If the board is too large.
    """
    if isinstance(strategy, PlansAhead):
        plan = strategy.plan if isinstance(strategy, Planned) else None
        if progress is not None and isinstance(plan, Planner):
            return plan(board, progress=progress)
        return strategy.tree(board)
    return build_tree(strategy, Channel.exact(board), progress=progress)


def node_after(tree: StrategyTree, history: Sequence[Turn]) -> TreeNode | None:
    """Return the node of a tree after a history, or None if the tree does not contain it."""
    board, places, node = tree.board, places_of_outcomes(tree), tree.root
    for turn in history:
        if node.guess is None or board.code(node.guess) != turn.guess:
            return None
        below = {board.true_replies[places[outcome]]: child for outcome, child in node.children}
        if turn.reply not in below:
            return None
        node = below[turn.reply]
    return node


@lru_cache(maxsize=4)
def _tree(plan: Callable[[Board], StrategyTree], board: Board) -> StrategyTree:
    return plan(board)
