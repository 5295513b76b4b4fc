"""Lower bounds of the number of guesses under noise, for any strategy.

`mean_lower_bound` bounds the mean of a board, `SetBounds` single sets, and `size_bounds` any
set by its size alone.

**The mean.** The bound is the value, or nearly the value, of an easier game: each reply is true
with probability 1 − ε, otherwise it says nothing, and *the player is told which*. In the real game
with false replies of probability p the player is not told that a reply was drawn at random. This is
all that the bound relaxes there (ε = p). For other channels ε = Σ_o min_c N[c, o] over the replies
c that do not win; the easier game also removes the rest of the noise, so the bound is far below the
truth if errors are not alike. The proof is below.

In the easier game the player knows a set of codes, as in the game without noise, so the search for
optimal trees applies. The first three or four guesses make their real partitions, up to symmetry.
Below, a bound by the size of the set takes over, and the codes that were guessed without an answer
are bounded by their number. Both make the bound smaller, never larger. Without noise it is the mean
of the optimal tree where four guesses suffice: 5625/1296 on 4×6.

**Sets by size.** The bound holds for games with noise that the code-maker ends truthfully at the
right guess. It knows the channel by one number: the probability ε that a reply says nothing.

======================  ======================================================
symbol                  meaning
======================  ======================================================
S, m                    a set of codes, all equally likely, and its size
V(w)                    the least Σ_s w(s)·E[guesses to find s] of a strategy
N[c, o]                 the probability of the report o if c is the true reply
ε                       Σ_o min_c N[c, o] over the replies c that do not win
φ(m)                    a lower bound of V(S) for all sets of m codes
======================  ======================================================

Proof. V is the least of linear functions of the weights w, one for each strategy, so V(w + w') ≥
V(w) + V(w'). After the guess g and the report o, the codes of S have the weights N[c, o] = n_o +
(N[c, o] − n_o), where n_o = min_c N[c, o]. Cut this vector into n_o times all of S∖{g}, and N[c, o]
− n_o times the class S_c of codes with the true reply c. The sum over the reports gives

    V(S) ≥ min_g  m + (1 − ε) Σ_c V(S_c) + ε V(S∖{g}).

This is the game in which a reply is true with probability 1 − ε and is otherwise known to be
empty. For false replies with probability p, ε = p. The classes of a guess have at most the sizes
that the guess makes on the whole board. φ is the value of this recursion with the best sizes that
these limits allow.

**Single sets** on a small board. The recursion of the proof is solved for each set of few codes,
with the classes that the guesses make of that very set. Sets of more codes are split once, and the
bounds of their parts come from the table, or from the size of the part if it is large.

A belief is cut into layers. If λ₁ > λ₂ > … are the weights that occur, and Sₖ the codes of weight
at least λₖ, then w = Σ (λₖ − λₖ₊₁) 1_{Sₖ}, and V(w) ≥ Σ (λₖ − λₖ₊₁) V(Sₖ), since V is concave.

**Partitions of guesses.** The kernels solve the recursion of the proof, in which a reply is true
with probability 1 − ε and is otherwise known to be empty, for one or two replies that are true.
Below, the bounds by size take over.

After empty replies some codes are gone from a set T, those that were guessed. The kernels bound
them together: ``bounds[i]`` is a lower bound for each set that lacks any i codes of T. For a guess
g the classes of T lack i codes in all, distributed so that the sum of their bounds is least. With
A_g(i) for that sum and B_g(i) = |T| − i + (1 − ε) A_g(i),

    bounds[i] = min_g  B_g(i) + ε bounds[i + 1]   if g is in the set,
                       B_g(i) / (1 − ε)           if not, since an empty reply then changes nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind._jit import njit
from bnmind._values import Value
from bnmind.errors import InvalidArgumentError, TooLargeError
from bnmind.information import Floats
from bnmind.mastermind.board import Board
from bnmind.mastermind.channel import Channel
from bnmind.mastermind.masses import reply_table
from bnmind.mastermind.symmetry import guess_classes

# --- A lower bound of the number of guesses for any set of codes, from its size alone -------------


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


# --- Lower bounds of the number of guesses for single sets of codes on a small board, compiled ----


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


# --- Lower bounds of the number of guesses for sets of codes, by the partitions of guesses, compile


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


# --- A lower bound of the mean number of guesses of any strategy under noise ----------------------


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
