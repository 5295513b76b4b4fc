"""The arrays of the compiled search: a game, a table of sets, and the state of the search.

A game is a set of codes and a list of guesses, with the reply to each pair. For a whole board both
are all codes. For an endgame, the codes are the possible ones, and one guess stands for all
guesses that partition them in the same way. The kernels refer to codes and guesses by their
positions in these two lists.
"""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import permutations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind.strategies.base.game_rules import Goal
from bnmind.strategies.optimal.bounds import capacities, estimates, lower_bounds
from bnmind.strategies.optimal.search_frames import BUDGET

__all__ = [
    "INFINITE",
    "MOST_REPLIES",
    "Game",
    "Memo",
    "Symmetry",
    "Task",
    "Work",
    "make_game",
    "make_memo",
    "make_symmetry",
    "make_work",
    "memo_bits",
    "no_symmetry",
    "random_words",
]

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
    """``(entries, 2)``: a bound, and the best guess; see `transposition_table`."""


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
    """``(depths, 16)``; `search_frames` names the columns."""
    frame_keys: Words
    """``(depths, 2)``, the key of the set."""
    masks: NDArray[np.uint8]
    """``(depths, guesses + 1)``, the marked guesses; the last entry says whether any are marked."""
    seen: Words
    """``(depths, 4096)``, the partitions of the set that were tried."""
    lanes: NDArray[np.uint16]
    """``(2, guesses)``."""
    counts: NDArray[np.int64]
    """``(16,)``, counts of the work; `search_frames` names them."""
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
