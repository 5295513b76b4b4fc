"""Strategies that have their whole tree before the game begins."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bnmind.mastermind.beliefs.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.history import Turn
from bnmind.strategies.base.strategy import GuessInfo, Strategy, start_belief, trusting_channel
from bnmind.strategies.trees.shape import places_of_outcomes
from bnmind.strategies.trees.tree import StrategyTree, TreeNode, build_tree

__all__ = ["Planned", "Planner", "PlansAhead", "node_after", "strategy_tree"]


class PlansAhead(ABC):
    """What has its whole tree before the game begins."""

    @abstractmethod
    def tree(self, board: Board) -> StrategyTree:
        """Return the tree for a board, of truthful replies."""


class Planner(ABC):
    """What makes trees for boards, takes long for it, and says how far it has come."""

    @abstractmethod
    def __call__(
        self, board: Board, *, progress: Callable[[int, int], None] | None = None
    ) -> StrategyTree:
        """Return the tree for a board, of truthful replies.

        Parameters
        ----------
        board
            The board.
        progress
            Called now and then with how much is done, and how much there is to do.
        """


@dataclass(frozen=True)
class Planned(PlansAhead):
    """Play as a tree says, whatever the channel: replies are taken for the truth.

    Where replies contradict each other, so that the tree has no such history, the first code
    is guessed that contradicts the fewest.

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
    """What it is called at the command line and in files."""
    plan: Callable[[Board], StrategyTree]
    """What makes the tree for a board, of truthful replies; asked once for each of some boards."""

    @property
    def deterministic(self) -> bool:
        """The history alone determines the choice."""
        return True

    def start(self, channel: Channel) -> Belief:
        """Return a belief that takes every reply for the truth."""
        return start_belief(trusting_channel(channel))

    def tree(self, board: Board) -> StrategyTree:
        """Return the tree for a board."""
        return _tree(self.plan, board)

    def choose(self, belief: Belief, rng: np.random.Generator) -> tuple[int, GuessInfo]:
        """Return the guess of the tree after the belief's history."""
        board, possible = belief.board, np.flatnonzero(belief.codes.probabilities)
        node = node_after(self.tree(board), belief.history)
        if node is not None and node.guess is not None:
            return node.guess, GuessInfo(node.guess)
        guess = int(possible[0])
        return guess, GuessInfo(guess)


def strategy_tree(
    strategy: Strategy, board: Board, *, progress: Callable[[int, int], None] | None = None
) -> StrategyTree:
    """Return the tree of a strategy under truthful replies, its own if it has one.

    Parameters
    ----------
    strategy
        The strategy.
    board
        The board.
    progress
        Called now and then with how much is done, and how much there is to do, where that
        is known.

    Raises
    ------
    BnmindError
        If the strategy leaves choices to chance.
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
    """Return the node of a tree after a history, or None if the history leaves the tree."""
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
