"""The strategy that has most probably won after a few guesses, by exhaustive search."""

from __future__ import annotations

from bnmind.information import Floats
from bnmind.mastermind.channel import Channel
from bnmind.strategies.lookahead.exhaustive import best_tree
from bnmind.strategies.trees.tree import StrategyTree

__all__ = ["most_wins"]


def most_wins(channel: Channel, *, guesses: int) -> StrategyTree:
    """Return the strategy most likely to have guessed the code within so many guesses.

    The game ends when it is won; the probability is the tree's ``won_within(guesses)``.

    Parameters
    ----------
    channel
        What the replies pass through.
    guesses
        m, how many guesses there are, at least one.

    Raises
    ------
    BnmindError
        Without a guess.
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
    """Return what each guess gains at once: the probability that it is the code."""
    return beliefs.copy()
