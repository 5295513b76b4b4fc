"""Where two strategies part, and what that costs."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bnmind._values import Value
from bnmind.errors import BnmindError
from bnmind.mastermind.history import Turn
from bnmind.strategies.trees.shape import places_of_outcomes
from bnmind.strategies.trees.tree import StrategyTree, TreeNode

__all__ = ["Parting", "TreeComparison", "compare_trees"]


@dataclass(frozen=True)
class Parting(Value):
    """A history after which two trees guess differently for the first time."""

    history: tuple[Turn, ...]
    """The guesses and replies before, the same in both."""
    codes: int
    """How many codes are still possible."""
    guesses: tuple[tuple[int, ...], tuple[int, ...]]
    """The guess of the first tree and of the second."""
    totals: tuple[float, float]
    """How many guesses more each takes to find every one of these codes once."""

    @property
    def cost(self) -> float:
        """How many guesses more the second tree takes; negative if it takes fewer."""
        return self.totals[1] - self.totals[0]


@dataclass(frozen=True)
class TreeComparison(Value):
    """Two trees of one board."""

    totals: tuple[float, float]
    """How many guesses each takes to find every code once."""
    partings: tuple[Parting, ...]
    """Where they part, short histories first, and those by their replies."""

    @property
    def cost(self) -> float:
        """How many guesses more the second tree takes: the sum over the partings."""
        return self.totals[1] - self.totals[0]


def compare_trees(first: StrategyTree, second: StrategyTree) -> TreeComparison:
    """Return where two trees of truthful replies first differ, and what each difference costs.

    Raises
    ------
    BnmindError
        If the boards differ, a tree is one of noisy replies, or one is not complete.

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
        raise BnmindError(
            f"expected trees of one board, got one of {first.board} and one of {second.board}"
        )
    board = first.board
    places, others = places_of_outcomes(first), places_of_outcomes(second)
    partings: list[Parting] = []
    level: list[tuple[tuple[Turn, ...], TreeNode, TreeNode]] = [((), first.root, second.root)]
    while level:
        following: list[tuple[tuple[Turn, ...], TreeNode, TreeNode]] = []
        for history, one, other in level:
            if one.guess is None or other.guess is None:
                continue  # one code, and it is known
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
    """Return how many guesses it takes from a node on to find each of its codes once."""
    terms: list[float] = []
    stack = [(0, node)]
    while stack:
        guesses, at = stack.pop()
        if at.guess is None:
            terms.append(at.weight * (guesses + (not at.found)))
        stack += [(guesses + 1, child) for _, child in at.children]
    return math.fsum(terms)
