"""Brute force without a table of replies, over all pairs of a guess and a code with belief.

A reply is (S, P) with S = P + C. P is a sum over the two halves of the guess, and S depends only
on how often each color occurs in the guess. Guesses therefore share most of the work. For a block
of codes, each half and each multiset of colors has one row of bytes. The replies to a guess are
the sum of three rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.information import Floats
from bnmind.mastermind.board import Board, digits_of

__all__ = ["masses_by_pairs"]

_CODES = 512
"""Number of codes in a block: the rows of all halves and kinds then stay in the cache."""

_FEW_GUESSES = 2**11
"""With fewer guesses than this, a block has more codes."""

_PAIRS_AT_ONCE = 2**28
"""Pairs in one call of compiled code, a fifth of a second, during which Ctrl-C has to wait."""

_KEPT_GUESSES = 2**21
"""Up to this number of guesses, the parts of all guesses of a board are cached: 25 MB."""


def masses_by_pairs(
    board: Board, guesses: NDArray[np.intp] | None, codes: NDArray[np.intp], weights: Floats
) -> Floats:
    """Return the mass of each true reply to each guess, ``(guesses, replies)``.

    Parameters
    ----------
    board
        The board.
    guesses
        Indices of codes, ``(guesses,)``; None for all codes of the board.
    codes, weights
        The codes of positive belief, and their belief, ``(codes,)``. The sums are in this
        order, whatever the other guesses are.
    """
    n_guesses = board.n_codes if guesses is None else len(guesses)
    masses = np.zeros((n_guesses, len(board.true_replies)))
    if n_guesses == 0:
        return masses
    parts = _parts_of_all(board) if guesses is None else _parts(board, guesses)
    pair_of = np.array([(b + w) * (board.pegs + 1) + b for b, w in board.true_replies])
    half = board.pegs // 2
    at_once = _CODES * max(1, _FEW_GUESSES // n_guesses)
    at_once = max(1, min(at_once, _PAIRS_AT_ONCE // n_guesses))
    for start in range(0, len(codes), at_once):
        some = slice(start, start + at_once)
        pegs = np.ascontiguousarray(digits_of(board, codes[some]).T)
        _add_pairs(
            _matches(parts.firsts, pegs[:half]),
            _matches(parts.seconds, pegs[half:]),
            _shared(parts.kinds, pegs, board.colors),
            parts.places,
            weights[some],
            pair_of,
            masses,
        )
    return masses


@dataclass(frozen=True, eq=False)
class _Parts:
    """The parts of some guesses."""

    firsts: NDArray[np.uint8]
    """The distinct first halves."""
    seconds: NDArray[np.uint8]
    """The distinct second halves."""
    kinds: NDArray[np.uint8]
    """The distinct guesses after sorting their pegs."""
    places: NDArray[np.int32]
    """``(3, guesses)``, the indices of the first half, second half and kind of each guess."""


def _parts(board: Board, guesses: NDArray[np.intp]) -> _Parts:
    digits = digits_of(board, guesses)
    half = board.pegs // 2
    first, firsts = _distinct(digits[:, :half], board.colors)
    second, seconds = _distinct(digits[:, half:], board.colors)
    kind, kinds = _distinct(np.sort(digits, axis=1), board.colors)
    return _Parts(firsts, seconds, kinds, np.stack([first, second, kind]).astype(np.int32))


def _parts_of_all(board: Board) -> _Parts:
    if board.n_codes <= _KEPT_GUESSES:
        return _kept_parts(board)
    return _parts(board, np.arange(board.n_codes))


@lru_cache(maxsize=4)
def _kept_parts(board: Board) -> _Parts:
    return _parts(board, np.arange(board.n_codes))


def _distinct(words: NDArray[np.uint8], colors: int) -> tuple[NDArray[np.intp], NDArray[np.uint8]]:
    """Return the index of each word among the distinct words, and the distinct words."""
    radix = (colors + 1) ** np.arange(words.shape[1] - 1, -1, -1)
    _, example, place = np.unique(words @ radix, return_index=True, return_inverse=True)
    return place, words[example]


@njit
def _matches(words: NDArray[np.uint8], pegs: NDArray[np.uint8]) -> NDArray[np.uint16]:
    """Return the number of pegs that each word and each code have in common, ``(words, codes)``."""
    counts = np.zeros((words.shape[0], pegs.shape[1]), dtype=np.uint16)
    for i in range(words.shape[0]):
        row = counts[i]
        for position in range(words.shape[1]):
            color, standing = words[i, position], pegs[position]
            for c in range(row.size):
                row[c] += standing[c] == color
    return counts


@njit
def _shared(kinds: NDArray[np.uint8], pegs: NDArray[np.uint8], colors: int) -> NDArray[np.uint16]:
    """Return (n + 1)·Σ_i min(C_i, G_i) of each sorted guess and each code."""
    n, n_codes = pegs.shape
    standing = np.zeros((colors + 1, n_codes), dtype=np.uint16)
    for position in range(n):
        for c in range(n_codes):
            standing[pegs[position, c], c] += np.uint16(1)
    shared = np.zeros((kinds.shape[0], n_codes), dtype=np.uint16)
    for i in range(kinds.shape[0]):
        row = shared[i]
        position = 0
        while position < n:
            color, count = kinds[i, position], 0
            while position < n and kinds[i, position] == color:
                position += 1
                count += 1
            cap, in_codes = np.uint16(count), standing[color]
            for c in range(n_codes):
                row[c] += min(cap, in_codes[c]) * np.uint16(n + 1)
    return shared


@njit
def _add_pairs(
    matches_first: NDArray[np.uint16],
    matches_second: NDArray[np.uint16],
    shared: NDArray[np.uint16],
    places: NDArray[np.int32],
    weights: Floats,
    pair_of: NDArray[np.int64],
    masses: Floats,
) -> None:
    # Process four guesses at a time: an addition waits for the previous one if both add to the
    # same reply.
    n_codes, n_guesses, n_replies = weights.size, masses.shape[0], pair_of.size
    pairs = np.empty((4, n_codes), dtype=np.uint16)
    pairs_0, pairs_1, pairs_2, pairs_3 = pairs[0], pairs[1], pairs[2], pairs[3]
    sums = np.empty((4, pair_of.max() + 1))
    sums_0, sums_1, sums_2, sums_3 = sums[0], sums[1], sums[2], sums[3]
    for start in range(0, n_guesses, 4):
        for lane in range(4):
            # If the last group has fewer than four guesses, repeat the last one.
            guess, row = min(start + lane, n_guesses - 1), pairs[lane]
            first = matches_first[places[0, guess]]
            second = matches_second[places[1, guess]]
            kind = shared[places[2, guess]]
            for c in range(n_codes):
                row[c] = first[c] + second[c] + kind[c]
            for reply in range(n_replies):
                sums[lane, pair_of[reply]] = masses[guess, reply]
        for c in range(n_codes):
            weight = weights[c]
            sums_0[pairs_0[c]] += weight
            sums_1[pairs_1[c]] += weight
            sums_2[pairs_2[c]] += weight
            sums_3[pairs_3[c]] += weight
        for lane in range(4):
            guess = min(start + lane, n_guesses - 1)
            for reply in range(n_replies):
                masses[guess, reply] = sums[lane, pair_of[reply]]
