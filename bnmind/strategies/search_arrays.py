"""The arrays of the compiled search: a game, its bounds, a table of sets, and its state.

A game is a set of codes and a list of guesses, with the reply to each pair. For a whole board both
are all codes. For an endgame, the codes are the possible ones, and one guess stands for all
guesses that partition them in the same way. The kernels refer to codes and guesses by their
positions in these two lists.

**Bounds** of every strategy follow from the number of replies alone:

======  =======================================================================
symbol  name here
======  =======================================================================
n       the size of a set of codes
r       ``n_replies``, including the winning reply
d       the number of guesses for a code
======  =======================================================================

Each guess has r possible replies. If the code is to be revealed, one reply ends the game. At most
one code of a set is therefore found at the first guess, r − 1 at the second, and (r − 1)² at the
third. If the code is to be determined, at most r^d codes are determined within d guesses; each code
that waits for another guess makes room for r others.

The bounds are admissible: the sum of the bounds of the classes of a guess is a bound of the guess.

**The table** holds solved and bounded sets. Two words stand for a set. The table would confuse two
sets with the same words; among a billion sets, the probability of such a pair is about 10⁻²¹.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.strategy import Goal

# --- The state of the compiled search: what the columns of `Work.frames` and `Work.counts` hold ---


# Columns of a frame: the set that is searched, ...
GUESS = 0
"""The open guess, or the last one."""
SIZE = 1
"""The number of codes of the set."""
LEFT = 2
"""The number of guesses left."""
LIMIT = 10
"""The search needs the total only if it is less than this limit."""
VALUE = 13
"""The total of the finished set, or a lower bound of it."""

# ... its guesses, ...
N_ORDER = 6
"""The number of guesses to try."""
NEXT = 7
"""The index of the next guess to try."""
TRIED = 12
"""The number of guesses tried."""
BEST = 3
"""The smallest total so far, or the limit."""
BEST_GUESS = 4
"""The guess of this total, or −1."""
FLOOR = 5
"""The smallest lower bound of the guesses that are not better."""

# ... and the guess that is open.
IS_OPEN = 11
"""Whether a guess is open."""
TOTAL = 8
"""The lower bound of the open guess."""
PICKED = 9
"""The class of the open guess that is searched."""
IS_MARKED = 14
"""Whether the guesses to try after the open guess are marked."""

# Columns of the counts.
N_SETS = 0
"""Sets searched."""
N_TRIED = 1
"""Guesses tried for them."""
N_SCANS = 2
"""Scans of sets."""
N_KEPT = 3
"""Entries of the table."""
N_OVERWRITTEN = 4
"""Entries that were overwritten."""
BUDGET = 5
"""The largest number of guesses to try."""
STOPPED = 6
"""1 if the budget is used up, 2 if the search is too deep, else 0."""
RESUMED = 7
"""One more than the depth at which a paused search resumes; 0 before it starts."""
OPERATIONS = 8
"""The approximate number of operations since the search started or resumed."""


# --- Bounds of every strategy, from the number of replies alone -----------------------------------


Integers = NDArray[np.int64]


@lru_cache(maxsize=16)
def lower_bounds(largest: int, n_replies: int, goal: Goal) -> Integers:
    """Return a lower bound of the total for each size of a set, ``(largest + 1,)``.

    Examples
    --------
    >>> lower_bounds(16, 14, Goal.REVEALING).tolist()[-4:]
    [25, 27, 30, 33]
    """
    bounds = [0]
    if goal is Goal.REVEALING:
        depth, room, total = 0, 0, 0
        for _ in range(largest):
            if room == 0:
                depth, room = depth + 1, (n_replies - 1) ** depth
            room -= 1
            total += depth
            bounds.append(total)
    else:
        depth = 0
        for size in range(1, largest + 1):
            while n_replies ** (depth + 1) <= size and size > 1:
                depth += 1
            beyond = size - n_replies**depth
            waiting = -(-beyond // (n_replies - 1))
            bounds.append(size * depth + beyond + waiting)
    array = np.array(bounds, dtype=np.int64)
    array.setflags(write=False)
    return array


def capacities(largest: int, n_replies: int, goal: Goal) -> Integers:
    """Return the largest number of codes that can be found, by guesses left, ``(largest + 1,)``.

    There is an entry for 0 to `largest` guesses, since no set needs more guesses than it has
    codes. Counts are clipped at `largest` + 1.

    Examples
    --------
    >>> capacities(8, 3, Goal.REVEALING).tolist()
    [0, 1, 3, 7, 9, 9, 9, 9, 9]
    """
    reveals = goal is Goal.REVEALING
    counts = [0 if reveals else 1]
    more = 1 if reveals else n_replies - 1  # additional codes for one more guess
    for _ in range(largest):
        counts.append(min(counts[-1] + more, largest + 1))
        more = min(more * (n_replies - 1 if reveals else n_replies), largest + 1)
    return np.array(counts, dtype=np.int64)


def estimates(largest: int) -> Integers:
    """Return the estimated total for each size of a set, in thousandths; only to order guesses.

    n + 0.34 n log₂ n is about the total of the classes of the optimal strategy at 4x6.
    """
    sizes = np.arange(largest + 1)
    logs = np.log2(np.maximum(sizes, 1))
    # Rounded to thousandths, so the last digit of a logarithm does not matter.
    return np.asarray(np.rint(1000 * (sizes + 0.34 * sizes * logs)), dtype=np.int64)


# --- The arrays of the compiled search: a game, a table of sets, and the state of the search ------


INFINITE = 1 << 30
"""More than any total; the total of a set that the guesses left do not solve."""

MOST_REPLIES = 64
"""The largest number of replies: a set of replies is a word of 64 bits."""

LANE = 16
"""Replies in one plane of `Game.planes`."""

_MOST_PERMUTED = 6  # pegs; with more pegs, positions are not permuted
_DEEPEST = 100  # optimal strategies of searchable boards take fewer guesses

Words = NDArray[np.uint64]


class Game(NamedTuple):
    """A matrix of replies, and the rules of the game."""

    places: NDArray[np.uint8]
    """``(guesses, codes)``, the index of each reply among the true replies."""
    planes: NDArray[np.uint16]
    """``(planes, codes, guesses)``, the same replies as single bits, 16 in a plane."""
    own: NDArray[np.int64]
    """``(codes,)``, the guess that equals each code."""
    keys: Words
    """``(codes, 2)``, random words. The exclusive or of the words of its codes stands for a set."""
    tables: NDArray[np.int64]
    """``(3, codes + 1)``, for each size of a set: a lower bound of the total, an estimate that
    ranks guesses, and the largest number of guesses to try."""
    room: NDArray[np.int64]
    """``(codes + 1,)``, the largest number of codes to find, by the number of guesses left."""
    winning: int
    """The index of the winning reply, which is the last one."""
    last: int
    """The number of guesses for the last code: 1, or 0 if the code need only be determined."""
    possible_only: bool
    """Whether only possible codes are guessed."""


class Symmetry(NamedTuple):
    """The symmetry of a board; without permutations, no two guesses are equivalent."""

    digits: NDArray[np.uint8]
    """``(guesses, pegs)``."""
    ranks: NDArray[np.int32]
    """The index of each word of colors among the guesses; the index here is the word."""
    permutations: NDArray[np.int64]
    """``(permutations, pegs)``; the identity is the first."""
    colors: int


class Memo(NamedTuple):
    """The values of sets, as an open hash table that overwrites crowded entries."""

    keys: Words
    """``(entries, 2)``; zeros are an empty entry."""
    values: NDArray[np.int64]
    """``(entries, 2)``: a bound, and the best guess, or `BOUNDED`."""


class Task(NamedTuple):
    """A set of codes whose total is searched for."""

    codes: NDArray[np.int64]
    """The set, ascending."""
    guesses: NDArray[np.int64]
    """The previous guesses. A negative first guess means that ``work.masks[0]`` marks the
    guesses to try."""
    limit: int
    """A total that is not less is of no interest."""
    left: int
    """The number of guesses left; `INFINITE` if there is no limit."""


class Work(NamedTuple):
    """The state of the search at each depth."""

    sets: NDArray[np.int64]
    """``(depths, 3, guesses)``: the codes of the set, the same by classes, bounds of guesses."""
    order: NDArray[np.int64]
    """``(depths, guesses)``, the guesses to try, best first."""
    classes: NDArray[np.int64]
    """``(depths, 3, replies + 2)``: the starts of the classes, their bounds, and their states."""
    class_keys: Words
    """``(depths, replies, 2)``."""
    frames: NDArray[np.int64]
    """``(depths, 16)``; the constants above name the columns."""
    frame_keys: Words
    """``(depths, 2)``, the key of the set."""
    masks: NDArray[np.uint8]
    """``(depths, guesses + 1)``, the marked guesses; the last entry says whether any are marked."""
    seen: Words
    """``(depths, 4096)``, the partitions of the set that were tried."""
    lanes: NDArray[np.uint16]
    """``(2, guesses)``."""
    counts: NDArray[np.int64]
    """``(16,)``, counts of the work; the constants above name them."""
    openings: NDArray[np.int64]
    """``(guesses,)``, the lower bound of each first guess; −1 if it was not tried."""


def make_game(
    places: NDArray[np.uint8],
    own: NDArray[Any],
    n_replies: int,
    goal: Goal,
    *,
    possible_only: bool = False,
) -> Game:
    """Return a game.

    Parameters
    ----------
    places
        ``(guesses, codes)``, the index of each reply among the true replies.
    own
        ``(codes,)``, the guess that equals each code.
    n_replies
        The number of true replies; the winning one is the last.
    goal
        The end of a game.
    possible_only
        Whether only possible codes are guessed.
    """
    # Writable arrays have another type, for which kernels would be compiled anew.
    places = np.ascontiguousarray(places).view()
    places.setflags(write=False)
    n_guesses, n_codes = places.shape
    n_planes = -(-n_replies // LANE)
    planes = np.empty((n_planes, n_codes, n_guesses), dtype=np.uint16)
    bits = np.uint64(1) << np.arange(n_replies, dtype=np.uint64)
    for plane in range(n_planes):
        words = (bits >> np.uint64(LANE * plane)).astype(np.uint16)
        planes[plane] = words[places.T]
    sizes = n_codes + 1
    tables = np.zeros((3, sizes), dtype=np.int64)
    tables[0] = lower_bounds(n_codes, n_replies, goal)
    tables[1] = estimates(n_codes)
    tables[2] = n_guesses
    return Game(
        places,
        planes,
        own.astype(np.int64),
        random_words(n_codes),
        tables,
        capacities(n_codes, n_replies, goal),
        n_replies - 1,
        1 if goal is Goal.REVEALING else 0,
        possible_only,
    )


def make_symmetry(digits: NDArray[np.uint8], colors: int) -> Symmetry:
    """Return the symmetry of a board from its codes."""
    pegs = digits.shape[1]
    radix = colors ** np.arange(pegs - 1, -1, -1, dtype=np.int64)
    ranks = np.zeros(colors**pegs, dtype=np.int32)
    ranks[(digits.astype(np.int64) - 1) @ radix] = np.arange(len(digits))
    orders = list(permutations(range(pegs))) if pegs <= _MOST_PERMUTED else [tuple(range(pegs))]
    return Symmetry(np.array(digits), ranks, np.array(orders, dtype=np.int64), colors)


def no_symmetry() -> Symmetry:
    """Return the symmetry under which no two guesses are equivalent."""
    return Symmetry(
        np.zeros((0, 1), dtype=np.uint8),
        np.zeros(0, dtype=np.int32),
        np.zeros((0, 1), dtype=np.int64),
        0,
    )


def make_memo(bits: int) -> Memo:
    """Return an empty table of ``2**bits`` entries."""
    return Memo(np.zeros((1 << bits, 2), dtype=np.uint64), np.zeros((1 << bits, 2), dtype=np.int64))


def make_work(game: Game, budget: int) -> Work:
    """Return the state of a search that has not started and tries at most ``budget`` guesses."""
    n_guesses, n_codes = game.places.shape
    depths, n_replies = _depths(n_codes) + 2, game.winning + 1
    counts = np.zeros(16, dtype=np.int64)
    counts[BUDGET] = budget
    return Work(
        np.zeros((depths, 3, n_guesses), dtype=np.int64),
        np.zeros((depths, n_guesses), dtype=np.int64),
        np.zeros((depths, 3, n_replies + 2), dtype=np.int64),
        np.zeros((depths, n_replies, 2), dtype=np.uint64),
        np.zeros((depths, 16), dtype=np.int64),
        np.zeros((depths, 2), dtype=np.uint64),
        np.zeros((depths, n_guesses + 1), dtype=np.uint8),
        np.zeros((depths, 4096), dtype=np.uint64),
        np.zeros((2, n_guesses), dtype=np.uint16),
        counts,
        np.full(n_guesses, -1, dtype=np.int64),
    )


def _depths(n_codes: int) -> int:
    """Return the largest depth of a search: each guess leaves fewer codes than the last."""
    return n_codes + 1 if n_codes <= 4 * _DEEPEST else _DEEPEST


@lru_cache(maxsize=4)
def random_words(n: int) -> Words:
    """Return two random words for each code (splitmix64), the same on every machine."""
    word = np.arange(1, 2 * n + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    words = (word ^ (word >> np.uint64(31))).reshape(n, 2)
    words.setflags(write=False)
    return words


def memo_bits(n_codes: int) -> int:
    """Return the size of the table for a number of codes, as an exponent of two."""
    return min(22, max(12, math.ceil(math.log2(n_codes)) + 9))


# --- The table of solved and bounded sets, compiled -----------------------------------------------


BOUNDED = -1
"""Stands for the best guess if the value is only a lower bound, of at least one scan."""

_TRIED = 8  # entries


@njit
def find(memo: Memo, key: np.uint64, check: np.uint64) -> int:
    """Return the entry of a set, or −1."""
    mask = np.uint64(memo.keys.shape[0] - 1)
    for t in range(_TRIED):
        entry = np.int64((key + np.uint64(t)) & mask)
        if memo.keys[entry, 0] == key and memo.keys[entry, 1] == check:
            return int(entry)
    return -1


@njit
def keep(memo: Memo, work: Work, key: np.uint64, check: np.uint64, value: int, guess: int) -> None:
    """Store the value of a set and its best guess, or `BOUNDED`."""
    mask = np.uint64(memo.keys.shape[0] - 1)
    entry = np.int64(-1)
    for t in range(_TRIED):
        place = np.int64((key + np.uint64(t)) & mask)
        is_empty = memo.keys[place, 0] == 0 and memo.keys[place, 1] == 0
        if is_empty or (memo.keys[place, 0] == key and memo.keys[place, 1] == check):
            entry = place
            if is_empty:
                work.counts[N_KEPT] += 1
            break
    if entry < 0:
        entry = np.int64((key + (check & np.uint64(_TRIED - 1))) & mask)
        work.counts[N_OVERWRITTEN] += 1
    memo.keys[entry, 0], memo.keys[entry, 1] = key, check
    memo.values[entry, 0], memo.values[entry, 1] = value, guess
