"""Lower bounds of the number of guesses for sets of codes, by the partitions of guesses, compiled.

The kernels solve the recursion of `bnmind.strategies.belief_game.size_bound`, in which a reply is
true with probability 1 − ε and is otherwise known to be empty, for one or two replies that are
true. Below, the bounds by size take over.

After empty replies some codes are gone from a set T, those that were guessed. The kernels bound
them together: ``bounds[i]`` is a lower bound for each set that lacks any i codes of T. For a guess
g the classes of T lack i codes in all, distributed so that the sum of their bounds is least. With
A_g(i) for that sum and B_g(i) = |T| − i + (1 − ε) A_g(i),

    bounds[i] = min_g  B_g(i) + ε bounds[i + 1]   if g is in the set,
                       B_g(i) / (1 − ε)           if not, since an empty reply then changes nothing.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats

__all__ = [
    "EmptyReplies",
    "Memo",
    "allowed_totals",
    "close_bounds",
    "one_reply",
    "two_replies",
]

_REMEMBERED = 5  # codes of a set in the memo; their number and indices below 2^12 fit a word


class EmptyReplies(NamedTuple):
    """A board, and the probability of empty replies."""

    replies: NDArray[np.uint8]
    """``(codes, codes)``, the true reply to each guess (row); the winning one is the last."""
    winning: int
    """The index of the winning reply."""
    empty: float
    """The probability ε of an empty reply, below one."""
    sizes: Floats
    """``(codes + 1,)``, the bounds by size: convex, 0 for no code."""
    missing: int
    """The largest number of missing codes that is bounded on its own."""


class Memo(NamedTuple):
    """Bounds of sets of at most five codes."""

    keys: NDArray[np.int64]
    """``(2^b,)``, the codes of the set; 0 if the place is free."""
    bounds: Floats
    """``(2^b, missing + 1)``."""


@njit
def close_bounds(
    game: EmptyReplies, size: int, inside: Floats, outside: Floats, bounds: Floats
) -> None:
    """Write the bounds of a set, from the least B_g(i) of the guesses in the set and of others."""
    last = game.missing
    after = game.sizes[max(0, size - last - 1)]
    for i in range(last, -1, -1):
        value = min(inside[i] + game.empty * after, outside[i] / (1 - game.empty))
        bounds[i] = max(value, game.sizes[max(0, size - i)])
        if i >= size:
            bounds[i] = 0.0
        after = bounds[i]
    for i in range(last):
        bounds[i + 1] = min(bounds[i + 1], bounds[i])


@njit
def _least_by_sizes(
    game: EmptyReplies, counts: NDArray[np.int64], rest: NDArray[np.int64], totals: Floats
) -> None:
    """Write A_g(i) for classes with bounds by size; a code is taken where it saves most."""
    total = 0.0
    for reply in range(game.winning):
        rest[reply] = counts[reply]
        total += game.sizes[counts[reply]]
    totals[0] = total
    for i in range(1, game.missing + 1):
        best = 0
        most = -1.0
        for reply in range(game.winning):
            if rest[reply]:
                saved = game.sizes[rest[reply]] - game.sizes[rest[reply] - 1]
                if saved > most:
                    most = saved
                    best = reply
        if most > 0:
            rest[best] -= 1
            total -= most
        totals[i] = total


@njit
def allowed_totals(
    game: EmptyReplies,
    size: int,
    is_member: bool,
    totals: Floats,
    inside: Floats,
    outside: Floats,
) -> None:
    """Write B_g(i) of a guess in the set, and B_g(i) if the guess is not or no longer in it.

    ``totals`` are the A_g(i) of the set without the guess.
    """
    for i in range(game.missing + 1):
        inside[i] = np.inf
        outside[i] = np.inf
        if is_member:
            inside[i] = size - i + (1 - game.empty) * totals[i]
            if i:
                outside[i] = size - i + (1 - game.empty) * totals[i - 1]
        else:
            outside[i] = size - i + (1 - game.empty) * totals[i]


@njit
def _partition(
    game: EmptyReplies, members: NDArray[np.int64], guess: int, counts: NDArray[np.int64]
) -> bool:
    """Count the codes of a set by their replies to a guess; return whether the guess is of use."""
    counts[:] = 0
    size = members.shape[0]
    for i in range(size):
        counts[game.replies[guess, members[i]]] += 1
    return bool(counts[: game.winning].max() < size)


@njit
def _by_sizes(
    game: EmptyReplies, members: NDArray[np.int64], inside: Floats, outside: Floats
) -> None:
    """Write B_g(i) of all guesses, ``(codes, missing + 1)``, with bounds by size below."""
    counts = np.empty(game.winning + 1, dtype=np.int64)
    rest = np.empty(game.winning + 1, dtype=np.int64)
    totals = np.empty(game.missing + 1)
    size = members.shape[0]
    for guess in range(game.replies.shape[0]):
        if not _partition(game, members, guess, counts):
            inside[guess] = np.inf
            outside[guess] = np.inf
            continue
        _least_by_sizes(game, counts, rest, totals)
        is_member = counts[game.winning] > 0
        allowed_totals(game, size, is_member, totals, inside[guess], outside[guess])


@njit
def one_reply(game: EmptyReplies, memo: Memo, members: NDArray[np.int64], bounds: Floats) -> None:
    """Write the bounds of a set, ascending, with bounds by size after one true reply."""
    size = members.shape[0]
    key = 0
    place = 0
    if size <= 2:
        for i in range(game.missing + 1):
            bounds[i] = game.sizes[max(0, size - i)]
        return
    if size <= _REMEMBERED:
        key = size
        for i in range(size):
            key = (key << 12) + members[i]
        word = np.uint64(key) * np.uint64(11400714819323198485)
        place = int(np.int64((word >> np.uint64(20)) % np.uint64(memo.keys.shape[0])))
        if memo.keys[place] == key:
            bounds[:] = memo.bounds[place]
            return
    counts = np.empty(game.winning + 1, dtype=np.int64)
    rest = np.empty(game.winning + 1, dtype=np.int64)
    totals = np.empty(game.missing + 1)
    inside = np.empty(game.missing + 1)
    outside = np.empty(game.missing + 1)
    least_inside = np.full(game.missing + 1, np.inf)
    least_outside = np.full(game.missing + 1, np.inf)
    for guess in range(game.replies.shape[0]):
        if not _partition(game, members, guess, counts):
            continue
        _least_by_sizes(game, counts, rest, totals)
        allowed_totals(game, size, counts[game.winning] > 0, totals, inside, outside)
        for i in range(game.missing + 1):
            least_inside[i] = min(least_inside[i], inside[i])
            least_outside[i] = min(least_outside[i], outside[i])
    close_bounds(game, size, least_inside, least_outside, bounds)
    if size <= _REMEMBERED:
        memo.keys[place] = key
        memo.bounds[place] = bounds


@njit
def two_replies(game: EmptyReplies, memo: Memo, members: NDArray[np.int64], bounds: Floats) -> None:
    """Write the bounds of a set, ascending, with bounds by size after two true replies.

    A guess whose bounds with one reply exceed the best bounds found so far need not be refined.
    """
    size = members.shape[0]
    n = game.replies.shape[0]
    inside = np.empty((n, game.missing + 1))
    outside = np.empty((n, game.missing + 1))
    if size <= 2:
        one_reply(game, memo, members, bounds)
        return
    _by_sizes(game, members, inside, outside)
    least_inside = np.full(game.missing + 1, np.inf)
    least_outside = np.full(game.missing + 1, np.inf)
    totals = np.empty(game.missing + 1)
    for guess in np.argsort(np.minimum(inside[:, 0], outside[:, 0])):
        may_be_best = False
        for i in range(game.missing + 1):
            if inside[guess, i] < least_inside[i] or outside[guess, i] < least_outside[i]:
                may_be_best = True
        if not may_be_best:
            continue
        is_member = _least_by_parts(game, memo, members, guess, totals)
        allowed_totals(game, size, is_member, totals, inside[guess], outside[guess])
        for i in range(game.missing + 1):
            least_inside[i] = min(least_inside[i], inside[guess, i])
            least_outside[i] = min(least_outside[i], outside[guess, i])
    close_bounds(game, size, least_inside, least_outside, bounds)


@njit
def _least_by_parts(
    game: EmptyReplies, memo: Memo, members: NDArray[np.int64], guess: int, totals: Floats
) -> bool:
    """Write A_g(i) with the bounds of `one_reply`, and return whether the guess is a member."""
    size = members.shape[0]
    is_member = False
    part = np.empty(size, dtype=np.int64)
    bounds = np.empty(game.missing + 1)
    longer = np.empty(game.missing + 1)
    totals[:] = 0.0
    for reply in range(game.winning):
        n_part = 0
        for i in range(size):
            if game.replies[guess, members[i]] == reply:
                part[n_part] = members[i]
                n_part += 1
        if not n_part:
            continue
        one_reply(game, memo, part[:n_part], bounds)
        for i in range(game.missing + 1):
            longer[i] = np.inf
            for taken in range(i + 1):
                longer[i] = min(longer[i], totals[i - taken] + bounds[taken])
        totals[:] = longer
    for i in range(size):
        if members[i] == guess:
            is_member = True
    return is_member
