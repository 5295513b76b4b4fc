"""Replies to all guesses without a table of them, and equivalent guesses, compiled.

The reply to a guess is (S, P), with S = P + C. P is a sum over the two halves of the guess, and S
depends only on the number of each color in the guess, so guesses share most of the work. For the
codes of a set, each half and each multiset of colors contributes a row of bytes, and the replies to
a guess are the sum of three rows.
"""

from __future__ import annotations

from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.errors import TooLargeError
from bnmind.mastermind.board import Board

__all__ = [
    "MOST_COLORS",
    "MOST_PEGS",
    "BoardArrays",
    "Bytes",
    "board_arrays",
    "fill_rows",
    "is_smallest",
    "pair_of",
]

MOST_PEGS = 15
"""The most pegs: a reply, S·(n + 1) + P, is a byte."""

MOST_COLORS = 62
"""The most colors: a set of colors is a word of 64 bits, two of which are not used."""

Bytes = NDArray[np.uint8]


class BoardArrays(NamedTuple):
    """A board as arrays for the kernels."""

    digits: Bytes
    """``(codes, pegs)``, colors 1..k."""
    colors_of: NDArray[np.uint64]
    """``(codes,)``, the colors of each code, as bits 1..k."""
    firsts: Bytes
    """The distinct first halves of codes; `seconds` are the distinct second halves."""
    seconds: Bytes
    kinds: Bytes
    """The distinct multisets of colors of codes, each as a sorted code."""
    places: NDArray[np.int64]
    """``(codes, 3)``, the rows of the first half, the second half and the kind of each guess."""
    pairs: NDArray[np.int64]
    """``(replies,)``, S·(n + 1) + P of each true reply."""
    place_of_pair: Bytes
    """The index of each pair among the true replies."""
    all_colors: np.uint64
    """All colors, as bits."""
    colors: int
    repeats: bool


@lru_cache(maxsize=4)
def board_arrays(board: Board) -> BoardArrays:
    """Return a board as arrays; the results for the last four boards are cached.

    Raises
    ------
    TooLargeError
        If the board has more than `MOST_PEGS` pegs, `MOST_COLORS` colors, or too many codes to
        list.
    """
    if board.pegs > MOST_PEGS or board.colors > MOST_COLORS:
        raise TooLargeError(
            f"expected a board of at most {MOST_PEGS} pegs and {MOST_COLORS} colors, got {board}",
            needed=max(board.pegs, board.colors),
            budget=MOST_PEGS if board.pegs > MOST_PEGS else MOST_COLORS,
        )
    codes = board.codes
    half = board.pegs // 2
    sets = np.bitwise_or.reduce(np.uint64(1) << codes.astype(np.uint64), axis=1)
    first, firsts = _distinct(codes[:, :half], board.colors)
    second, seconds = _distinct(codes[:, half:], board.colors)
    kind, kinds = _distinct(np.sort(codes, axis=1), board.colors)
    second += len(firsts)
    kind += len(firsts) + len(seconds)
    n_pairs = (board.pegs + 1) ** 2
    pairs = np.array([(b + w) * (board.pegs + 1) + b for b, w in board.true_replies])
    place_of_pair = np.zeros(n_pairs, dtype=np.uint8)
    place_of_pair[pairs] = np.arange(len(pairs))
    places = np.stack([first, second, kind], axis=1).astype(np.int64)
    arrays = (codes, sets, firsts, seconds, kinds, places, pairs, place_of_pair)
    for array in arrays:
        array.setflags(write=False)
    all_colors = np.uint64((1 << (board.colors + 1)) - 2)
    return BoardArrays(*arrays, all_colors, board.colors, board.repeats)


def _distinct(words: NDArray[np.uint8], colors: int) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Return the index of each word among the distinct words, and the distinct words."""
    radix = (colors + 1) ** np.arange(words.shape[1] - 1, -1, -1)
    _, example, place = np.unique(words @ radix, return_index=True, return_inverse=True)
    return place, np.ascontiguousarray(words[example])


@njit
def fill_rows(board: BoardArrays, codes: NDArray[np.int32], width: int) -> Bytes:
    """Return the contribution of every half and every kind to the reply of each code of a set.

    The width of the rows is a multiple of the vector length, so that they add without a remainder.
    """
    n_firsts, n_seconds = board.firsts.shape[0], board.seconds.shape[0]
    n_kinds, pegs = board.kinds.shape
    half, n = board.firsts.shape[1], codes.size
    rows = np.zeros((n_firsts + n_seconds + n_kinds, width), dtype=np.uint8)
    # By peg and by color, so that loops over codes vectorize.
    standing = np.zeros((pegs, width), dtype=np.uint8)
    counts = np.zeros((board.colors + 1, width), dtype=np.uint8)
    for c in range(n):
        for position in range(pegs):
            color = board.digits[codes[c], position]
            standing[position, c] = color
            counts[color, c] += np.uint8(1)
    for i in range(n_firsts):
        row = rows[i]
        for position in range(half):
            color, line = board.firsts[i, position], standing[position]
            for c in range(width):
                row[c] += line[c] == color
    for i in range(n_seconds):
        row = rows[n_firsts + i]
        for position in range(pegs - half):
            color, line = board.seconds[i, position], standing[half + position]
            for c in range(width):
                row[c] += line[c] == color
    factor = np.uint8(pegs + 1)
    for i in range(n_kinds):
        row = rows[n_firsts + n_seconds + i]
        position = 0
        while position < pegs:
            color, cap = board.kinds[i, position], np.uint8(0)
            while position < pegs and board.kinds[i, position] == color:
                position += 1
                cap += np.uint8(1)
            line = counts[color]
            for c in range(width):
                row[c] += min(cap, line[c])
        for c in range(width):
            row[c] *= factor
    return rows


@njit
def pair_of(board: BoardArrays, guess: int, code: int) -> int:
    """Return S·(n + 1) + P of one guess and one code."""
    pegs = board.digits.shape[1]
    black, both = 0, 0
    used = 0
    for i in range(pegs):
        color = board.digits[guess, i]
        black += color == board.digits[code, i]
        for j in range(pegs):
            if not (used >> j) & 1 and board.digits[code, j] == color:
                used |= 1 << j
                both += 1
                break
    return int(both * (pegs + 1) + black)


@njit
def is_smallest(
    board: BoardArrays, guess: int, absent: np.uint64, excluded: np.uint64, free: np.uint64
) -> bool:
    """Return whether a guess is the smallest of the guesses that differ only in color names.

    Without repeats, the result may be True for some guesses that are not.
    """
    mask = board.colors_of[guess]
    if board.repeats:
        if mask & excluded:
            return False
    else:
        # The absent colors of the guess must be the first ones, in any order.
        own_absent = mask & absent
        low = absent
        while own_absent:
            lowest = low & (~low + np.uint64(1))
            if not own_absent & lowest:
                return False
            own_absent ^= lowest
            low ^= lowest
    met = mask & free
    if met == 0:
        return True
    unused = free
    seen = np.uint64(0)
    for position in range(board.digits.shape[1]):
        bit = np.uint64(1) << np.uint64(board.digits[guess, position])
        if bit & free and not bit & seen:
            if bit != unused & (~unused + np.uint64(1)):
                return False
            unused ^= bit
            seen |= bit
    return True
