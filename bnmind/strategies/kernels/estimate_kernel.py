"""Estimates of all guesses for a set of codes, and the replies to some guesses, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.kernels.reply_arrays import BoardArrays, Bytes, fill_rows, is_smallest

__all__ = ["UNWANTED", "estimate_guesses", "replies_of_guesses"]

UNWANTED = 1 << 62
"""The estimate of a guess that is uninformative, or equivalent to a smaller guess."""

_LANE = 16  # replies in a plane, as in `search_arrays`


@njit
def _reply_row(board: BoardArrays, rows: Bytes, guess: int, row: Bytes) -> None:
    """Write the reply of each code to a guess as a pair, from the rows of `fill_rows`."""
    first = rows[board.places[guess, 0]]
    second = rows[board.places[guess, 1]]
    kind = rows[board.places[guess, 2]]
    for c in range(row.size):
        row[c] = first[c] + second[c] + kind[c]


@njit
def estimate_guesses(
    board: BoardArrays,
    codes: NDArray[np.int32],
    candidates: NDArray[np.int32],
    free: np.uint64,
    estimates: NDArray[np.int64],
) -> NDArray[np.int64]:
    """Return for each candidate the sum of the estimates of the classes that do not win.

    Parameters
    ----------
    board
        The board.
    codes
        The set, ascending.
    candidates
        The guesses to estimate.
    free
        The colors that can be renamed into each other, as bits.
    estimates
        The estimate of a class, by its size.

    Returns
    -------
    NDArray[np.int64]
        ``(candidates,)``; some are `UNWANTED`.
    """
    n = codes.size
    width = -(-n // 32) * 32
    rows = fill_rows(board, codes, width)
    row = np.zeros(width, dtype=np.uint8)
    present = np.uint64(0)
    for code in codes:
        present |= board.colors_of[code]
    absent = board.all_colors & ~present
    excluded = absent & (absent - np.uint64(1))
    winning = board.pairs[board.pairs.size - 1]
    lane = np.uintp(board.place_of_pair.size)
    counts = np.zeros(4 * board.place_of_pair.size, dtype=np.uint32)
    one, two, three = lane, np.uintp(2) * lane, np.uintp(3) * lane
    sums = np.full(candidates.size, UNWANTED, dtype=np.int64)
    whole = np.uintp(n - n % 4)
    for i in range(candidates.size):
        guess = candidates[i]
        if not is_smallest(board, guess, absent, excluded, free):
            continue
        _reply_row(board, rows, guess, row)
        for c in range(np.uintp(0), whole, np.uintp(4)):
            counts[np.uintp(row[c])] += np.uint32(1)
            counts[one + np.uintp(row[c + np.uintp(1)])] += np.uint32(1)
            counts[two + np.uintp(row[c + np.uintp(2)])] += np.uint32(1)
            counts[three + np.uintp(row[c + np.uintp(3)])] += np.uint32(1)
        for c in range(whole, np.uintp(n)):
            counts[np.uintp(row[c])] += np.uint32(1)
        total, largest = np.int64(0), np.int64(0)
        for pair in board.pairs:
            at = np.uintp(pair)
            size = np.int64(counts[at] + counts[one + at] + counts[two + at] + counts[three + at])
            counts[at] = counts[one + at] = counts[two + at] = counts[three + at] = np.uint32(0)
            if pair != winning:
                total += estimates[size]
                largest = max(largest, size)
        if largest < n:
            sums[i] = total
    return sums


@njit
def replies_of_guesses(
    board: BoardArrays, codes: NDArray[np.int32], guesses: NDArray[np.int32], n_planes: int
) -> tuple[Bytes, NDArray[np.uint16]]:
    """Return the replies of codes to guesses, as `Game.places` and `Game.planes` hold them.

    Parameters
    ----------
    board
        The board.
    codes
        The set, ascending.
    guesses
        The guesses.
    n_planes
        The number of planes that hold all replies.
    """
    n, m = codes.size, guesses.size
    width = -(-n // 32) * 32
    rows = fill_rows(board, codes, width)
    row = np.zeros(width, dtype=np.uint8)
    places = np.zeros((m, n), dtype=np.uint8)
    planes = np.zeros((n_planes, n, m), dtype=np.uint16)
    block = 64  # guesses at a time, so that the writes stay in the cache
    for start in range(0, m, block):
        stop = min(start + block, m)
        for x in range(start, stop):
            _reply_row(board, rows, guesses[x], row)
            for c in range(n):
                places[x, c] = board.place_of_pair[row[c]]
        for c in range(n):
            for x in range(start, stop):
                place = places[x, c]
                planes[place // _LANE, c, x] = np.uint16(1) << np.uint16(place % _LANE)
    return places, planes
