"""What the compiled search reads and writes: a game as a matrix of replies, a memo, room to work.

A game is a set of codes and a list of guesses with the reply to each pair. Of a whole board
both are all codes; of an endgame the codes are those still possible, and of guesses that part
them alike one is enough. Inside, codes and guesses are known by their places in the two lists.
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
"""More than any total; the total of what cannot be done in the guesses left."""

MOST_REPLIES = 64
"""Sets of replies are 64 bits where classes are told apart."""

LANE = 16
"""Replies in one plane of `Game.planes`."""

_MOST_PERMUTED = 6  # pegs; above, positions are not permuted
_DEEPEST = 100  # no optimal strategy of a board that is searched takes so many guesses

Words = NDArray[np.uint64]


class Game(NamedTuple):
    """A matrix of replies, and what is wanted."""

    places: NDArray[np.uint8]
    """``(guesses, codes)``, the place of each reply among the true ones."""
    planes: NDArray[np.uint16]
    """``(planes, codes, guesses)``, the same replies as single bits, 16 in a plane."""
    own: NDArray[np.int64]
    """``(codes,)``, the guess that is this code."""
    keys: Words
    """``(codes, 2)``, random words; those of a set, joined by exclusive or, stand for it."""
    tables: NDArray[np.int64]
    """``(3, codes + 1)``, by the size of a set: no total is less than the first; the second
    ranks guesses; so many guesses at most are tried."""
    room: NDArray[np.int64]
    """``(codes + 1,)``, how many codes can be found at most, by the number of guesses left."""
    winning: int
    """The place of the winning reply, the last one."""
    last: int
    """How many guesses it takes when one code is left: 1, or 0 if it need only be known."""
    possible_only: bool
    """Whether only codes are guessed that are still possible."""


class Symmetry(NamedTuple):
    """What is needed to find guesses alike; without permutations nothing is looked for."""

    digits: NDArray[np.uint8]
    """``(guesses, pegs)``."""
    ranks: NDArray[np.int32]
    """The place of each word of colors among the guesses; the word as a number."""
    permutations: NDArray[np.int64]
    """``(permutations, pegs)``; the identity is the first."""
    colors: int


class Memo(NamedTuple):
    """What is known of sets: an open table whose crowded entries are overwritten."""

    keys: Words
    """``(entries, 2)``; zeros are an empty entry."""
    values: NDArray[np.int64]
    """``(entries, 2)``: a bound, and the best guess; see `branch_and_bound_memo`."""


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
    """Room for each depth of the search."""

    sets: NDArray[np.int64]
    """``(depths, 3, guesses)``: the codes of the set, the same by classes, bounds of guesses."""
    order: NDArray[np.int64]
    """``(depths, guesses)``, the guesses that are tried, best first."""
    classes: NDArray[np.int64]
    """``(depths, 3, replies + 2)``: where classes begin, their bounds, what is known of them."""
    class_keys: Words
    """``(depths, replies, 2)``."""
    frames: NDArray[np.int64]
    """``(depths, 16)``, the state of the search; `branch_and_bound_frames` names the columns."""
    frame_keys: Words
    """``(depths, 2)``, the key of the set."""
    masks: NDArray[np.uint8]
    """``(depths, guesses + 1)``, the guesses to look at; the last says whether they are marked."""
    seen: Words
    """``(depths, 4096)``, the ways of parting the set that were tried."""
    lanes: NDArray[np.uint16]
    """``(2, guesses)``."""
    counts: NDArray[np.int64]
    """``(16,)``, what was done; `branch_and_bound_frames` names the columns."""
    openings: NDArray[np.int64]
    """``(guesses,)``, what each first guess was found to take at least; −1 if not tried."""


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
        ``(guesses, codes)``, the place of each reply among the true ones.
    own
        ``(codes,)``, the guess that is each code.
    n_replies
        How many true replies there are, the winning one the last.
    goal
        When a game is over.
    possible_only
        Whether only codes are guessed that are still possible.
    """
    # Kernels are compiled anew for arrays that may be written to: here none may.
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
    """Return what is needed to find guesses alike on a board of such codes."""
    pegs = digits.shape[1]
    radix = colors ** np.arange(pegs - 1, -1, -1, dtype=np.int64)
    ranks = np.zeros(colors**pegs, dtype=np.int32)
    ranks[(digits.astype(np.int64) - 1) @ radix] = np.arange(len(digits))
    orders = list(permutations(range(pegs))) if pegs <= _MOST_PERMUTED else [tuple(range(pegs))]
    return Symmetry(np.array(digits), ranks, np.array(orders, dtype=np.int64), colors)


def no_symmetry() -> Symmetry:
    """Return a symmetry by which no two guesses are alike."""
    return Symmetry(
        np.zeros((0, 1), dtype=np.uint8),
        np.zeros(0, dtype=np.int32),
        np.zeros((0, 1), dtype=np.int64),
        0,
    )


def make_memo(bits: int) -> Memo:
    """Return an empty memo of so many entries, a power of two."""
    return Memo(np.zeros((1 << bits, 2), dtype=np.uint64), np.zeros((1 << bits, 2), dtype=np.int64))


def make_work(game: Game, budget: int) -> Work:
    """Return room to work on a game, for so many guesses tried at most."""
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
    """Return how many guesses deep a search may go: each leaves fewer codes than the last."""
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
    """Return a size of memo that serves a board of so many codes, as a power of two."""
    return min(22, max(12, math.ceil(math.log2(n_codes)) + 9))
