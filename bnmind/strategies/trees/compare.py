"""The histories at which two strategies differ, and the cost of the difference."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bnmind._arguments import checked_if_it_fails
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.mastermind.history import Turn
from bnmind.strategies.trees.shape import places_of_outcomes
from bnmind.strategies.trees.tree import StrategyTree, TreeNode

__all__ = ["Parting", "TreeComparison", "compare_trees"]


@dataclass(frozen=True)
class Parting(Value):
    """A history after which two trees guess differently for the first time."""

    history: tuple[Turn, ...]
    """The guesses and replies before, equal in both trees."""
    codes: int
    """The number of possible codes."""
    guesses: tuple[tuple[int, ...], tuple[int, ...]]
    """The guess of the first tree and of the second."""
    totals: tuple[float, float]
    """The number of further guesses of each tree to find each of these codes once."""

    @property
    def cost(self) -> float:
        """The additional guesses of the second tree; negative if it takes fewer."""
        return self.totals[1] - self.totals[0]


@dataclass(frozen=True)
class TreeComparison(Value):
    """A comparison of two trees of one board."""

    totals: tuple[float, float]
    """The number of guesses of each tree to find every code once."""
    partings: tuple[Parting, ...]
    """The partings, short histories first, then in the order of replies."""

    @property
    def cost(self) -> float:
        """The additional guesses of the second tree: the sum over the partings."""
        return self.totals[1] - self.totals[0]


@checked_if_it_fails
def compare_trees(first: StrategyTree, second: StrategyTree) -> TreeComparison:
    """Return where two trees of true replies first differ, and the cost of each difference.

    Parameters
    ----------
    first
        A complete tree of true replies.
    second
        Another one of the same board.

    Raises
    ------
    InvalidArgumentError
        If the boards differ, a tree was built for noisy replies, or a tree is not complete.

    Examples
    --------
    >>> from bnmind.mastermind import Board, Channel
    >>> from bnmind.strategies import build_tree, strategy_by_name
    >>> exact = Channel.exact(Board(4, 6))
    >>> knuth, irving = (build_tree(strategy_by_name(n), exact) for n in ("knuth", "irving"))
    >>> comparison = compare_trees(knuth, irving)
    >>> comparison.cost, comparison.partings[0].guesses
    (-105.0, ((1, 1, 2, 2), (1, 1, 2, 3)))
    """
    if first.board != second.board:
        raise InvalidArgumentError(
            f"expected two trees of one board, got the boards {first.board} and {second.board}",
            second,
        )
    board = first.board
    places, others = places_of_outcomes(first), places_of_outcomes(second)
    partings: list[Parting] = []
    level: list[tuple[tuple[Turn, ...], TreeNode, TreeNode]] = [((), first.root, second.root)]
    while level:
        following: list[tuple[tuple[Turn, ...], TreeNode, TreeNode]] = []
        for history, one, other in level:
            if one.guess is None or other.guess is None:
                continue  # the only code left is known
            if one.guess != other.guess:
                guesses = (board.code(one.guess), board.code(other.guess))
                totals = (_total(one), _total(other))
                partings.append(Parting(history, one.possible, guesses, totals))
                continue
            below = {others[outcome]: child for outcome, child in other.children}
            for outcome, child in one.children:
                place = places[outcome]
                turn = Turn(board.code(one.guess), board.true_replies[place])
                following.append(((*history, turn), child, below[place]))
        level = following
    return TreeComparison((first.total, second.total), tuple(partings))


def _total(node: TreeNode) -> float:
    """Return the number of guesses from a node on to find each of its codes once."""
    terms: list[float] = []
    stack = [(0, node)]
    while stack:
        guesses, at = stack.pop()
        if at.guess is None:
            terms.append(at.weight * (guesses + (not at.found)))
        stack += [(guesses + 1, child) for _, child in at.children]
    return math.fsum(terms)
