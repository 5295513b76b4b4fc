r"""A lower bound of the mean number of guesses of any strategy under noise.

The bound is the value, or nearly the value, of an easier game: each reply is true with
probability 1 − ε, otherwise it says nothing, and *the player is told which*. In the real game
with false replies of probability p the player is not told that a reply was drawn at random. This
is all that the bound relaxes there (ε = p). For other channels ε = Σ_o min_c N[c, o] over the
replies c that do not win; the easier game also removes the rest of the noise, so the bound is far
below the truth if errors are not alike. `bnmind.strategies.belief_game.size_bound` has the proof.

In the easier game the player knows a set of codes, as in the game without noise, so the search for
optimal trees applies. The first three or four guesses make their real partitions, up to symmetry.
Below, a bound by the size of the set takes over, and the codes that were guessed without an answer
are bounded by their number (`partition_bound_kernel`). Both make the bound smaller, never larger.
Without noise it is the mean of the optimal tree where four guesses suffice: 5625/1296 on 4×6.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses.guess_symmetry import guess_classes
from bnmind.mastermind.masses.reply_table import reply_table
from bnmind.strategies.belief_game.partition_bound_kernel import (
    EmptyReplies,
    Memo,
    allowed_totals,
    close_bounds,
    one_reply,
    two_replies,
)
from bnmind.strategies.belief_game.size_bound import empty_reply_probability, size_bounds

__all__ = ["LowerBound", "mean_lower_bound"]

_NEGLIGIBLE = 1e-4  # the probability of more empty replies in a row than are treated exactly
_MOST_MISSING = 9
_MEMO_BITS = 18

_Members = NDArray[np.int64]
_BoundSet = Callable[[_Members], Floats]


@dataclass(frozen=True, eq=False, kw_only=True)
class LowerBound(Value):
    """A lower bound of the mean number of guesses of any strategy."""

    channel: Channel
    """The channel."""
    mean: float
    """No strategy has a smaller mean number of guesses: the smallest of ``openings``."""
    openings: Mapping[tuple[int, ...], float]
    """A lower bound for each class of first guesses. Only those that may be the smallest are
    computed with four guesses."""

    def __str__(self) -> str:
        return f"{self.channel.board} {self.channel.name}: at least {self.mean:.4f} guesses"


@checked
def mean_lower_bound(
    channel: Channel,
    *,
    partitions: int = 4,
    progress: Callable[[tuple[int, ...], float], None] | None = None,
) -> LowerBound:
    """Return a lower bound of the mean number of guesses of any strategy.

    Parameters
    ----------
    channel
        The channel. All codes are equally likely, and the code-maker truthfully ends the game at
        the right guess, whether or not the channel is in its `revealed` form.
    partitions
        The number of guesses with real partitions, 3 or 4. At 4×6 three take a few seconds, and
        four twice as long.
    progress
        Called with each first guess and its bound.

    Raises
    ------
    TooLargeError
        If the board has more than `MAX_SIZED_CODES` codes.
    InvalidArgumentError
        If ``partitions`` is neither 3 nor 4.

    Examples
    --------
    >>> from bnmind.mastermind import Board
    >>> print(mean_lower_bound(Channel.false_reply(Board(2, 3), 0.2)))
    2x3 false:0.2: at least 2.5358 guesses
    """
    if partitions not in (3, 4):
        raise InvalidArgumentError(f"expected 3 or 4 partitions, got {partitions}", partitions)
    board = channel.board
    sizes = size_bounds(channel)
    firsts = [board.code(int(guess)) for guess in guess_classes(board, []).representatives]
    empty = empty_reply_probability(channel)
    if empty > 1 - 1e-9:
        # No reply says anything. Any order of the codes is optimal.
        means = dict.fromkeys(firsts, float(sizes[-1]) / board.n_codes)
        return LowerBound(channel=channel, mean=min(means.values()), openings=means)
    tree = _Bounds(_game(channel, sizes, empty))
    means = {first: tree.opening(board, first, tree.by_one_reply) for first in firsts}
    least = math.inf
    for first in sorted(firsts, key=lambda first: means[first]):
        if partitions == 4 and means[first] < least:
            means[first] = max(means[first], tree.opening(board, first, tree.by_two_replies))
        least = min(least, means[first])
        if progress is not None:
            progress(first, means[first])
    return LowerBound(channel=channel, mean=least, openings=means)


def _game(channel: Channel, sizes: Floats, empty: float) -> EmptyReplies:
    missing = 0
    while missing < _MOST_MISSING and empty ** (missing + 1) > _NEGLIGIBLE:
        missing += 1
    return EmptyReplies(
        replies=np.ascontiguousarray(reply_table(channel.board)),
        winning=len(channel.board.true_replies) - 1,
        empty=empty,
        sizes=sizes,
        missing=missing,
    )


class _Bounds:
    """The bounds of the first two guesses, up to symmetry, from those of the compiled kernels."""

    def __init__(self, game: EmptyReplies) -> None:
        self._game = game
        self._length = game.missing + 1
        self._memo = Memo(
            np.zeros(2**_MEMO_BITS, dtype=np.int64), np.zeros((2**_MEMO_BITS, self._length))
        )

    def by_one_reply(self, members: _Members) -> Floats:
        """Return the bounds of a set, with bounds by size after one true reply."""
        bounds = np.empty(self._length)
        one_reply(self._game, self._memo, members, bounds)
        return bounds

    def by_two_replies(self, members: _Members) -> Floats:
        """Return the bounds of a set, with bounds by size after two true replies."""
        bounds = np.empty(self._length)
        two_replies(self._game, self._memo, members, bounds)
        return bounds

    def opening(self, board: Board, first: tuple[int, ...], bound: _BoundSet) -> float:
        """Return the bound of the mean with a first guess."""
        everything = np.arange(board.n_codes)
        # Permutations that preserve the first guess preserve each of its classes.
        seconds = guess_classes(board, [first]).representatives

        def of_class(members: _Members) -> Floats:
            if len(members) <= 2:
                return self.by_one_reply(members)
            return self._best(members, map(int, seconds), bound)

        inside, outside = self._after(everything, board.index(first), of_class)
        return float(self._closed(board.n_codes, inside, outside)[0]) / board.n_codes

    def _best(self, members: _Members, guesses: Iterable[int], bound: _BoundSet) -> Floats:
        """Return the bounds of a set if the next guess is one of these.

        A guess whose bounds by one reply exceed the best so far is not refined.
        """
        inside, outside = np.full((2, self._length), np.inf)
        tried = [
            (*self._after(members, guess, self.by_one_reply), guess)
            for guess in guesses
            if self._splits(members, guess)
        ]
        for rough_inside, rough_outside, guess in sorted(
            tried, key=lambda each: float(min(each[0][0], each[1][0]))
        ):
            if (rough_inside < inside).any() or (rough_outside < outside).any():
                fine_inside, fine_outside = self._after(members, guess, bound)
                inside = np.minimum(inside, fine_inside)
                outside = np.minimum(outside, fine_outside)
        return self._closed(len(members), inside, outside)

    def _splits(self, members: _Members, guess: int) -> bool:
        replies = self._game.replies[guess, members]
        return bool(replies[0] == self._game.winning or (replies != replies[0]).any())

    def _after(self, members: _Members, guess: int, bound: _BoundSet) -> tuple[Floats, Floats]:
        """Return the B_g(i) of a guess, as `allowed_totals` writes them."""
        replies = self._game.replies[guess, members]
        totals = np.zeros(self._length)
        for reply in np.unique(replies[replies != self._game.winning]):
            bounds = bound(members[replies == reply])
            totals = np.array(
                [(totals[i::-1] + bounds[: i + 1]).min() for i in range(self._length)]
            )
        inside, outside = np.empty((2, self._length))
        is_member = bool((replies == self._game.winning).any())
        allowed_totals(self._game, len(members), is_member, totals, inside, outside)
        return inside, outside

    def _closed(self, size: int, inside: Floats, outside: Floats) -> Floats:
        bounds = np.empty(self._length)
        close_bounds(self._game, size, inside, outside, bounds)
        return bounds
