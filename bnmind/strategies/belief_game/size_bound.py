r"""A lower bound of the number of guesses for any set of codes, from its size alone.

The bound holds for games with noise that the code-maker ends truthfully at the right guess. It
knows the channel by one number: the probability ε that a reply says nothing.

======================  ======================================================
symbol                  meaning
======================  ======================================================
S, m                    a set of codes, all equally likely, and its size
V(w)                    the least Σ_s w(s)·E[guesses to find s] of a strategy
N[c, o]                 the probability of the report o if c is the true reply
ε                       Σ_o min_c N[c, o] over the replies c that do not win
φ(m)                    a lower bound of V(S) for all sets of m codes
======================  ======================================================

Proof. V is the least of linear functions of the weights w, one for each strategy, so
V(w + w') ≥ V(w) + V(w'). After the guess g and the report o, the codes of S have the weights
N[c, o] = n_o + (N[c, o] − n_o), where n_o = min_c N[c, o]. Cut this vector into n_o times all of
S∖{g}, and N[c, o] − n_o times the class S_c of codes with the true reply c. The sum over the
reports gives

    V(S) ≥ min_g  m + (1 − ε) Σ_c V(S_c) + ε V(S∖{g}).

This is the game in which a reply is true with probability 1 − ε and is otherwise known to be
empty. For false replies with probability p, ε = p. The classes of a guess have at most the sizes
that the guess makes on the whole board. φ is the value of this recursion with the best sizes that
these limits allow.
"""

from __future__ import annotations

import numpy as np

from bnmind._arguments import checked
from bnmind.errors import TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import reply_table

__all__ = ["MAX_SIZED_CODES", "empty_reply_probability", "size_bounds"]

MAX_SIZED_CODES = 4096
"""The largest number of codes of a board for `size_bounds`, which takes quadratic time."""


@checked
def empty_reply_probability(channel: Channel) -> float:
    """Return the probability ε that a reply to a guess that does not win says nothing.

    It is Σ_o min_c N[c, o] over the reports o and the replies c that do not win: p for false
    replies with probability p, and 0 for a channel without noise.

    Parameters
    ----------
    channel
        The channel of the replies.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> round(empty_reply_probability(Channel.false_reply(Board(4, 6), 0.2)), 12)
    0.2
    """
    rows = channel.matrix[: len(channel.board.true_replies) - 1]
    return min(1.0, float(rows.min(axis=0).sum()))


@checked
def size_bounds(channel: Channel) -> Floats:
    """Return lower bounds φ(0), φ(1), … of the total number of guesses for a set of codes.

    Parameters
    ----------
    channel
        The channel. The code-maker truthfully ends the game at the right guess, whether or not
        the channel is in its `revealed` form.

    Returns
    -------
    Floats
        ``(n_codes + 1,)``: for each size m, a lower bound of the sum, over any m codes, of the
        expected numbers of guesses of any one strategy. Convex and increasing.

    Raises
    ------
    TooLargeError
        If the board has more than `MAX_SIZED_CODES` codes.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> bounds = size_bounds(Channel.false_reply(Board(4, 6), 0.2))
    >>> round(float(bounds[-1]) / 1296, 3)
    4.727
    """
    board = channel.board
    if board.n_codes > MAX_SIZED_CODES:
        raise TooLargeError(
            f"expected a board of at most {MAX_SIZED_CODES:,} codes, got {board.n_codes:,} codes "
            f"of the board {board}",
            needed=board.n_codes,
            budget=MAX_SIZED_CODES,
        )
    empty = empty_reply_probability(channel)
    rooms = _class_rooms(channel)
    bounds = np.zeros(2)
    bounds[1] = 1.0
    for size in range(2, board.n_codes + 1):
        steps = np.diff(bounds)
        least = np.inf
        for room in rooms:
            slots = room[: len(steps)]
            filled = np.concatenate([[0], np.cumsum(slots)])
            costs = np.concatenate([[0.0], np.cumsum(slots * steps[: len(slots)])])
            inside = float(np.interp(size - 1, filled, costs))
            least = min(least, size + (1 - empty) * inside + empty * bounds[size - 1])
            if filled[-1] >= size and empty < 1:
                outside = float(np.interp(size, filled, costs))
                least = min(least, size / (1 - empty) + outside)
        bounds = _convex_below(np.append(bounds, least))
    return bounds


def _class_rooms(channel: Channel) -> list[Floats]:
    """Return, for each kind of guess, the numbers of classes with room for an i-th code."""
    board = channel.board
    table = reply_table(board)
    n_replies = len(board.true_replies)
    kinds = {tuple(sorted(np.bincount(row, minlength=n_replies)[:-1].tolist())) for row in table}
    return [
        np.array([sum(size >= i for size in sizes) for i in range(1, max(sizes) + 1)], dtype=float)
        for sizes in sorted(kinds)
    ]


def _convex_below(values: Floats) -> Floats:
    """Return the largest convex sequence that is nowhere above the values.

    All values but the last are convex already.
    """
    last = len(values) - 1
    corner = last - 1
    slope = values[last] - values[corner]
    # Move the corner back until the slope to the last value is not below the slope before it.
    while corner > 0 and slope < values[corner] - values[corner - 1]:
        corner -= 1
        slope = (values[last] - values[corner]) / (last - corner)
    values[corner:] = values[corner] + slope * np.arange(last - corner + 1)
    return values
