r"""Lower bounds of all guesses for one set, from the classes that they leave, compiled.

For a set of n codes, a guess that leaves k classes, one of which wins if w = 1, takes at least

.. math:: n + \sum_{\text{classes that go on}} (2 n_j - 1) = 3n - k - w

if the code must be revealed, since no class takes less than 2n_j − 1. If it must only be
determined, a class of one code takes 0 and a larger class at least n_j, so the guess takes at
least 2n less the number of classes of one code.

The replies of one code to all guesses are a row of words with one bit each (`Game.planes`). The
scan joins the rows of all codes and counts the bits, 32 guesses at a time if the processor allows
it. For large sets, it counts the codes of each class, and bounds the classes by their sizes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.optimal.search_arrays import INFINITE, LANE, Game, Work

__all__ = ["SCANNED_CODES", "count_classes", "parting_code", "scan"]

Integers = NDArray[np.int64]

SCANNED_CODES = 64
"""The largest number of codes of a set that is scanned by bits."""


@njit
def _bits(word: int) -> int:
    """Return the number of bits of a word of 16."""
    x = np.uint32(word)
    x = x - ((x >> np.uint32(1)) & np.uint32(0x5555))
    x = (x & np.uint32(0x3333)) + ((x >> np.uint32(2)) & np.uint32(0x3333))
    x = (x + (x >> np.uint32(4))) & np.uint32(0x0F0F)
    return int(np.int64((x + (x >> np.uint32(8))) & np.uint32(0x1F)))


@njit
def scan(game: Game, work: Work, codes: Integers, bounds: Integers) -> None:
    """Write a lower bound of each guess, from the number of classes that it leaves."""
    n, n_guesses = codes.size, game.places.shape[0]
    once, twice = work.lanes[0], work.lanes[1]
    start = 3 * n if game.last == 1 else 2 * n
    for x in range(n_guesses):
        bounds[x] = start
    winning = np.uint32(game.winning % LANE)
    for plane in range(game.planes.shape[0]):
        rows = game.planes[plane]
        for x in range(n_guesses):
            once[x] = 0
        if game.last == 1:
            whole = n - n % 4
            for i in range(0, whole, 4):
                a, b, c, d = (
                    rows[codes[i]],
                    rows[codes[i + 1]],
                    rows[codes[i + 2]],
                    rows[codes[i + 3]],
                )
                for x in range(n_guesses):
                    once[x] |= a[x] | b[x] | c[x] | d[x]
            for i in range(whole, n):
                a = rows[codes[i]]
                for x in range(n_guesses):
                    once[x] |= a[x]
            if plane == game.winning // LANE:
                for x in range(n_guesses):
                    bounds[x] -= np.int64((np.uint32(once[x]) >> winning) & np.uint32(1))
            for x in range(n_guesses):
                bounds[x] -= _bits(once[x])
        else:
            for x in range(n_guesses):
                twice[x] = 0
            for i in range(n):
                a = rows[codes[i]]
                for x in range(n_guesses):
                    twice[x] |= once[x] & a[x]
                    once[x] |= a[x]
            for x in range(n_guesses):
                bounds[x] -= _bits(once[x] & ~twice[x])


@njit
def count_classes(game: Game, codes: Integers, bounds: Integers, ranks: Integers) -> None:
    """Write a lower bound and an estimate of each guess, from the sizes of its classes.

    The bound of an uninformative guess is infinite.
    """
    n, n_replies = codes.size, game.winning + 1
    lower, estimate = game.tables[0], game.tables[1]
    counts = np.zeros((4, n_replies), dtype=np.int64)
    goes_on = n_replies - 1 if game.last == 1 else n_replies
    whole = n - n % 4
    for x in range(game.places.shape[0]):
        row = game.places[x]
        counts[:] = 0
        for i in range(0, whole, 4):
            counts[0, row[codes[i]]] += 1
            counts[1, row[codes[i + 1]]] += 1
            counts[2, row[codes[i + 2]]] += 1
            counts[3, row[codes[i + 3]]] += 1
        for i in range(whole, n):
            counts[0, row[codes[i]]] += 1
        bound, rank = n, 0
        for j in range(goes_on):
            size = counts[0, j] + counts[1, j] + counts[2, j] + counts[3, j]
            bound += lower[size]
            rank += estimate[size]
            if size == n:
                bound = INFINITE
        bounds[x] = bound
        ranks[x] = rank


@njit
def parting_code(game: Game, codes: Integers) -> int:
    """Return a possible guess that leaves only classes of one code, or −1."""
    n = codes.size
    for i in range(n):
        row = game.places[game.own[codes[i]]]
        met = np.uint64(0)
        parts = True
        for j in range(n):
            bit = np.uint64(1) << np.uint64(row[codes[j]])
            if met & bit:
                parts = False
                break
            met |= bit
        if parts:
            return int(game.own[codes[i]])
    return -1
