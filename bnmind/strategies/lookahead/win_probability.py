"""The strategy with the largest probability of winning in a few guesses, by exhaustive search."""

from __future__ import annotations

from bnmind._arguments import checked_if_it_fails
from bnmind.information import Floats
from bnmind.mastermind.channel import Channel
from bnmind.strategies.lookahead.exhaustive import best_tree
from bnmind.strategies.trees.tree import StrategyTree

__all__ = ["most_wins"]


@checked_if_it_fails
def most_wins(channel: Channel, *, guesses: int) -> StrategyTree:
    """Return the strategy most likely to guess the code within a number of guesses.

    The game ends at the winning guess; ``won_within(guesses)`` of the tree is the probability.

    Parameters
    ----------
    channel
        The channel that reports the replies.
    guesses
        m, the number of guesses, at least one.

    Raises
    ------
    InvalidArgumentError
        If the number of guesses is below one.
    TooLargeError
        If the search would take too long.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> tree = most_wins(Channel.exact(Board(2, 3)), guesses=2)
    >>> round(9 * tree.won_within(2), 12)
    5.0
    """
    return best_tree(channel.revealed(), _chance_of_winning, guesses)


def _chance_of_winning(beliefs: Floats) -> Floats:
    """Return the immediate gain of each guess: the probability that it is the code."""
    return beliefs.copy()
