"""Lower bounds of the number of guesses for single sets of codes on a small board, compiled.

The recursion of `bnmind.strategies.belief_game.size_bound` is solved for each set of few codes,
with the classes that the guesses make of that very set. Sets of more codes are split once, and the
bounds of their parts come from the table, or from the size of the part if it is large.

A belief is cut into layers. If λ₁ > λ₂ > … are the weights that occur, and Sₖ the codes of weight
at least λₖ, then w = Σ (λₖ − λₖ₊₁) 1_{Sₖ}, and V(w) ≥ Σ (λₖ − λₖ₊₁) V(Sₖ), since V is concave.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.reply_table import reply_table
from bnmind.strategies.belief_game.size_bound import empty_reply_probability, size_bounds

__all__ = ["MAX_SET_CODES", "SetBounds", "layered_bound", "make_set_bounds"]

MAX_SET_CODES = 128
"""The largest number of codes of a board: 3x5 has 125, 4x3 has 81."""

_MOST_SETS = 500_000  # in the table


class SetBounds(NamedTuple):
    """Lower bounds for sets of codes of one board."""

    replies: NDArray[np.uint8]
    """``(codes, codes)``, the true reply to each guess (row), the winning one being the last."""
    winning: int
    """The index of the winning reply."""
    binomials: NDArray[np.int64]
    """``(codes + 1, codes + 2)``, the number of sets."""
    starts: NDArray[np.int64]
    """``(largest + 2,)``, the place of the first set of each size."""
    table: Floats
    """``(sets,)``, the bounds of the sets of at most ``largest`` codes, by size and rank."""
    sizes: Floats
    """``(codes + 1,)``, the bounds by size alone."""
    empty: float
    """The probability that a reply says nothing."""


def make_set_bounds(channel: Channel) -> SetBounds:
    """Return the lower bounds for sets of codes of a board of at most `MAX_SET_CODES` codes."""
    board = channel.board
    n = board.n_codes
    # Large numbers are never used: the ranks of large sets are not looked up.
    binomials = np.array(
        [[min(math.comb(a, b), 2**40) for b in range(n + 2)] for a in range(n + 1)], dtype=np.int64
    )
    starts = np.concatenate([[0], np.cumsum(binomials[n, : n + 1])])
    starts = starts[: max(2, int(np.searchsorted(starts, _MOST_SETS, side="right")))]
    bounds = SetBounds(
        replies=np.ascontiguousarray(reply_table(board)),
        winning=len(board.true_replies) - 1,
        binomials=binomials,
        starts=starts,
        table=np.zeros(int(starts[-1])),
        sizes=size_bounds(channel),
        empty=empty_reply_probability(channel),
    )
    _fill(bounds)
    return bounds


@njit
def _fill(bounds: SetBounds) -> None:
    """Compute the table, from the small sets to the large ones."""
    n = bounds.replies.shape[0]
    members = np.empty(n, dtype=np.int64)
    for size in range(1, bounds.starts.shape[0] - 1):
        for i in range(size):
            members[i] = i
        for place in range(bounds.starts[size], bounds.starts[size + 1]):
            bounds.table[place] = one_set(bounds, members, size)
            # The next set in colexicographic order, the order of the ranks.
            i = 0
            while i + 1 < size and members[i] + 1 == members[i + 1]:
                members[i] = i
                i += 1
            members[i] += 1


@njit
def one_set(bounds: SetBounds, members: NDArray[np.int64], size: int) -> float:
    """Return the bound of a set of codes, ascending, from the bounds of smaller sets."""
    if size <= 1:
        return float(size)
    n = bounds.replies.shape[0]
    counts = np.empty(bounds.winning + 1, dtype=np.int64)
    ranks = np.empty(bounds.winning + 1, dtype=np.int64)
    largest = bounds.starts.shape[0] - 2
    least = np.inf
    for guess in range(n):
        counts[:] = 0
        ranks[:] = 0
        rest = 0  # the rank of the set without the guess
        n_rest = 0
        for i in range(size):
            code = members[i]
            reply = bounds.replies[guess, code]
            counts[reply] += 1
            ranks[reply] += bounds.binomials[code, counts[reply]]
            if reply != bounds.winning:
                n_rest += 1
                rest += bounds.binomials[code, n_rest]
        split = 0.0
        useless = False
        for reply in range(bounds.winning):
            count = counts[reply]
            if count == size:
                useless = True
                break
            if count > largest:
                split += bounds.sizes[count]
            elif count:
                split += bounds.table[bounds.starts[count] + ranks[reply]]
        if useless:
            continue
        if counts[bounds.winning]:
            if size - 1 <= largest:
                again = bounds.table[bounds.starts[size - 1] + rest]
            else:
                again = bounds.sizes[size - 1]
            value = size + (1 - bounds.empty) * split + bounds.empty * again
        elif bounds.empty < 1:
            value = size / (1 - bounds.empty) + split
        else:
            value = np.inf
        least = min(least, value)
    return float(max(least, bounds.sizes[size]))


@njit
def layered_bound(bounds: SetBounds, weights: Floats, order: NDArray[np.int64]) -> float:
    """Return a lower bound of the total cost of a belief with weights that need not sum to one.

    Parameters
    ----------
    bounds
        The bounds of sets.
    weights
        ``(codes,)``, not negative.
    order
        ``(codes,)``, the codes in descending order of their weights.
    """
    n = weights.shape[0]
    largest = bounds.starts.shape[0] - 2
    members = np.empty(n, dtype=np.int64)
    total = 0.0
    for size in range(1, n + 1):
        weight = weights[order[size - 1]]
        if weight <= 0:
            break
        # Insert the code into the ascending list of members.
        place = size - 1
        while place and members[place - 1] > order[size - 1]:
            members[place] = members[place - 1]
            place -= 1
        members[place] = order[size - 1]
        step = weight - (weights[order[size]] if size < n else 0.0)
        if step <= 1e-12 * weight:
            # The layer is empty, but for rounding; a bound of a smaller size remains valid.
            total += step
            continue
        if size <= largest:
            rank = 0
            for i in range(size):
                rank += bounds.binomials[members[i], i + 1]
            total += step * bounds.table[bounds.starts[size] + rank]
        else:
            total += step * one_set(bounds, members, size)
    return total
