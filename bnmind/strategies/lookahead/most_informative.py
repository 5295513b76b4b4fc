"""The most informative strategy of a given depth, by exhaustive search."""

from __future__ import annotations

import numpy as np

from bnmind._arguments import checked_if_it_fails
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats, information
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import reply_masses, reply_table
from bnmind.strategies.lookahead.exhaustive import Gain, best_tree
from bnmind.strategies.trees.tree import Path, StrategyTree, grow_tree

__all__ = ["most_informative"]

_LARGEST = 2**22  # the largest table of codes by guesses and replies


@checked_if_it_fails
def most_informative(channel: Channel, *, depth: int) -> StrategyTree:
    """Return the strategy of a given depth with the least expected entropy.

    The ``expected_entropy`` of the tree is the value that it minimizes.

    Parameters
    ----------
    channel
        The channel that reports the replies; in its `revealed` form if the game ends at the
        winning guess.
    depth
        ℓ, the number of nodes on a longest path: one more than the number of guesses.

    Raises
    ------
    InvalidArgumentError
        If the depth is not positive.
    TooLargeError
        If the search would take too long.

    Notes
    -----
    Information adds up along a path: the initial entropy minus EH is the sum of the information of
    the guesses, each under the belief at its node. The gain of a guess is therefore its
    information, and the gains of all last guesses are computed together.

    References
    ----------
    Vomlel, *Bayesian networks in Mastermind*, section 2.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> tree = most_informative(Channel.exact(Board(2, 3)), depth=2)
    >>> round(tree.expected_entropy, 4)
    1.1111
    """
    if depth < 1:
        raise InvalidArgumentError(f"expected a depth of at least 1 node, got {depth}", depth)
    if depth == 1:  # no guesses

        def never(path: Path) -> int:
            raise AssertionError(path)

        return grow_tree(channel, never, max_guesses=0)
    return best_tree(channel, _information_gain(channel), depth - 1)


def _information_gain(channel: Channel) -> Gain:
    """Return the function that computes the information of each guess for many beliefs."""
    board = channel.board
    n_replies = len(board.true_replies)
    if board.n_codes**2 * n_replies > _LARGEST:

        def masses(beliefs: Floats) -> Floats:
            return np.array([reply_masses(board, belief) for belief in beliefs])

    else:
        # The reply of each code to each guess, as zeros and ones.
        drawn = reply_table(board).T[:, :, None] == np.arange(n_replies)
        indicators = drawn.reshape(board.n_codes, -1).astype(np.float64)

        def masses(beliefs: Floats) -> Floats:
            product: Floats = beliefs @ indicators
            return product.reshape(len(beliefs), board.n_codes, n_replies)

    def gain(beliefs: Floats) -> Floats:
        total = beliefs.sum(axis=1)
        bits = information(masses(beliefs / total[:, None]), channel.matrix)
        return np.asarray(bits * total[:, None], dtype=np.float64)

    return gain
