"""Strategies that have their whole tree before the game begins."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from bnmind.mastermind.belief import Belief
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.strategies.strategy import GuessInfo, Strategy, start_belief, trusting_channel
from bnmind.strategies.tree import StrategyTree, build_tree
from bnmind.strategies.tree_outline import places_of_outcomes

__all__ = ["Planned", "strategy_tree"]


@dataclass(frozen=True)
class Planned:
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
        tree = self.tree(board)
        places, node = places_of_outcomes(tree), tree.root
        for turn in belief.history:
            below = {board.true_replies[places[outcome]]: child for outcome, child in node.children}
            if node.guess is None or board.code(node.guess) != turn.guess:
                break
            if turn.reply not in below:
                break
            node = below[turn.reply]
        else:
            if node.guess is not None:
                return node.guess, GuessInfo(node.guess)
        guess = int(possible[0])
        return guess, GuessInfo(guess)


def strategy_tree(strategy: Strategy, board: Board) -> StrategyTree:
    """Return the tree of a strategy under truthful replies, its own if it has one.

    Raises
    ------
    BnmindError
        If the strategy leaves choices to chance.
    TooLargeError
        If the board is too large.
    """
    if isinstance(strategy, Planned):
        return strategy.tree(board)
    return build_tree(strategy, Channel.exact(board))


@lru_cache(maxsize=4)
def _tree(plan: Callable[[Board], StrategyTree], board: Board) -> StrategyTree:
    return plan(board)
