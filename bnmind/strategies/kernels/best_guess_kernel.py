"""The best guess for a set of codes, compiled.

=========================  =======================================================
the kernel saves work by   which is correct because
=========================  =======================================================
possible guesses first     a guess that may win and leaves only classes of one code
                           has the smallest key of all (`ClassTerms`), and ends the
                           search; the key of a guess that cannot win is at least 0
absent colors              colors that occur in no code of the set are equivalent;
                           the smallest guess uses the smallest of them
free colors                colors that occur in no previous guess are equivalent;
                           the smallest guess has them in ascending order
=========================  =======================================================
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.kernels.reply_arrays import (
    BoardArrays,
    Bytes,
    fill_rows,
    is_smallest,
    pair_of,
)

__all__ = ["RuleArrays", "best_guess"]


class RuleArrays(NamedTuple):
    """A rule of myopic strategies as arrays for the kernels."""

    sizes: NDArray[np.int64]
    """As in `ClassTerms`."""
    weights: NDArray[np.int64]
    """``(turns, pairs)``: the weights of the last turn hold for all later turns."""
    winning: int
    """As in `ClassTerms`."""
    combination: int
    """As in `Combination`."""
    per_code: NDArray[np.int64]
    """As in `ClassTerms`."""
    settles: bool
    """Whether ``per_code`` is 0, so that no key is less than that of single codes."""
    possible_only: bool
    """Whether only possible codes are guessed."""


class BestGuesses(NamedTuple):
    """The best possible guess so far, and the best other guess."""

    keys: NDArray[np.int64]
    guesses: NDArray[np.int64]
    classes: NDArray[np.int64]
    """``(2, replies)``, sizes in descending order; ``(2, 0)`` if they are not compared."""


_FEW = 24  # for at most this number of codes, keys grow code by code


@njit
def _keep(
    counts: NDArray[np.uint32],
    board: BoardArrays,
    n: int,
    guess: int,
    key: int,
    best: BestGuesses,
    other: int,
) -> None:
    """Keep a guess if it is the best of its kind and informative."""
    pairs = board.pairs
    for j in range(pairs.size):
        if counts[pairs[j]] == n:
            return
    if best.classes.shape[1]:
        classes = best.classes[other]
        if key < best.keys[other]:
            classes[:] = n + 1
        if not _is_finer(counts, pairs, classes):
            return
    best.keys[other] = key
    best.guesses[other] = guess


@njit
def _is_finer(
    counts: NDArray[np.uint32], pairs: NDArray[np.int64], best: NDArray[np.int64]
) -> bool:
    """Return whether classes, largest first, are smaller than `best`, and then replace it."""
    classes = np.empty_like(best)
    for j in range(pairs.size):
        size = np.int64(counts[pairs[j]])
        i = j
        while i > 0 and classes[i - 1] < size:
            classes[i] = classes[i - 1]
            i -= 1
        classes[i] = size
    for j in range(pairs.size):
        if classes[j] != best[j]:
            if classes[j] > best[j]:
                return False
            best[:] = classes
            return True
    return False


@njit
def _key(
    counts: NDArray[np.uint32], board: BoardArrays, rule: RuleArrays, turn: int, n: int
) -> int:
    """Return the key of the counted classes, without the term for winning."""
    key = 0
    for j in range(board.pairs.size):
        pair = board.pairs[j]
        size = np.int64(counts[pair])
        term = rule.weights[turn, pair] * (rule.sizes[size] - size * rule.per_code[n])
        key = key + term if rule.combination == 0 else max(key, term)
    return key


@njit
def _settle(
    board: BoardArrays,
    rule: RuleArrays,
    turn: int,
    codes: NDArray[np.int32],
    guesses: NDArray[np.int32],
    is_possible: Bytes,
    counts: NDArray[np.uint32],
    best: BestGuesses,
) -> bool:
    """Try a few guesses, pair by pair; return whether no guess can be better than the best."""
    bonus = rule.winning
    for guess in guesses:
        other = 1 - is_possible[guess]
        if rule.possible_only and other:
            continue
        for code in codes:
            counts[pair_of(board, guess, code)] += np.uint32(1)
        key = _key(counts, board, rule, turn, codes.size)
        if not other:
            key += bonus
        if key < best.keys[other] or (key == best.keys[other] and rule.combination == 2):
            _keep(counts, board, codes.size, guess, key, best, other)
        for j in range(board.pairs.size):
            counts[board.pairs[j]] = 0
        if rule.settles and not other and best.keys[0] == bonus <= 0:
            return True
    return rule.possible_only


@njit
def best_guess(
    board: BoardArrays,
    rule: RuleArrays,
    turn: int,
    codes: NDArray[np.int32],
    is_possible: Bytes,
    free: np.uint64,
    candidates: NDArray[np.int32],
) -> tuple[int, int]:
    """Return the best guess for a set of two or more codes, and its key.

    Among guesses of equal keys a possible one is preferred, then the smallest.

    Parameters
    ----------
    board, rule, turn
        The board, the rule, and its turn, from 0.
    codes
        The set, ascending.
    is_possible
        ``(n_codes,)``, 1 for the codes of the set.
    free
        The colors that can be renamed into each other, as bits.
    candidates
        The guesses to choose from, ascending; all codes of the board if empty.
    """
    n, n_pairs = codes.size, board.pairs.size
    turn = min(turn, rule.weights.shape[0] - 1)
    lane = np.uintp(board.place_of_pair.size)
    counts = np.zeros(4 * lane, dtype=np.uint32)
    compared = n_pairs if rule.combination == 2 else 0
    best = BestGuesses(
        np.full(2, np.iinfo(np.int64).max), np.full(2, -1), np.zeros((2, compared), dtype=np.int64)
    )
    # One of few codes may separate them all; few candidates do not need rows.
    if n <= n_pairs:
        if _settle(board, rule, turn, codes, codes, is_possible, counts, best) or (
            rule.settles and best.keys[0] <= 0
        ):
            return best.guesses[0], best.keys[0]
    elif 0 < candidates.size <= _FEW:
        _settle(board, rule, turn, codes, candidates, is_possible, counts, best)
        return _better(best)
    _scan(board, rule, turn, codes, is_possible, free, candidates, counts, best)
    return _better(best)


@njit
def _better(best: BestGuesses) -> tuple[int, int]:
    """Return the better guess of both kinds, the possible one if they are equally good."""
    other = 1 if best.keys[1] < best.keys[0] else 0
    if best.keys[1] == best.keys[0]:
        for j in range(best.classes.shape[1]):
            if best.classes[0, j] != best.classes[1, j]:
                other = 1 if best.classes[1, j] < best.classes[0, j] else 0
                break
    return best.guesses[other], best.keys[other]


@njit
def _scan(
    board: BoardArrays,
    rule: RuleArrays,
    turn: int,
    codes: NDArray[np.int32],
    is_possible: Bytes,
    free: np.uint64,
    candidates: NDArray[np.int32],
    counts: NDArray[np.uint32],
    best: BestGuesses,
) -> None:
    """Try all guesses, or all candidates, by rows."""
    n, n_pairs = codes.size, board.pairs.size
    width = -(-n // 32) * 32
    rows = fill_rows(board, codes, width).reshape(-1)
    row = np.zeros(width, dtype=np.uint8)
    present = np.uint64(0)
    for code in codes:
        present |= board.colors_of[code]
    absent = board.all_colors & ~present
    excluded = absent & (absent - np.uint64(1))  # all but the lowest
    is_listed = candidates.size > 0
    done = n <= n_pairs  # possible guesses were tried before
    weights, sizes, bonus = rule.weights[turn], rule.sizes, rule.winning
    per_code = rule.per_code[n]
    adds = rule.combination == 0
    keys = best.keys
    one, two = np.uintp(counts.size // 4), np.uintp(counts.size // 2)
    three = one + two
    n_guesses = candidates.size if is_listed else board.digits.shape[0]
    for i in range(n_guesses):
        guess = candidates[i] if is_listed else i
        other = 1 - is_possible[guess]
        if (rule.possible_only and other) or (done and not other):
            continue
        if not is_listed and not is_smallest(board, guess, absent, excluded, free):
            continue
        first = np.uintp(board.places[guess, 0] * width)
        second = np.uintp(board.places[guess, 1] * width)
        kind = np.uintp(board.places[guess, 2] * width)
        for c in range(np.uintp(width)):
            row[c] = rows[first + c] + rows[second + c] + rows[kind + c]
        key = 0
        if n <= _FEW and adds:
            for c in range(np.uintp(n)):
                pair = np.uintp(row[c])
                size = counts[pair]
                key += weights[pair] * (sizes[size + np.uint32(1)] - sizes[size] - per_code)
                counts[pair] = size + np.uint32(1)
        else:
            whole = np.uintp(n - n % 4)
            for c in range(np.uintp(0), whole, np.uintp(4)):
                counts[np.uintp(row[c])] += np.uint32(1)
                counts[one + np.uintp(row[c + np.uintp(1)])] += np.uint32(1)
                counts[two + np.uintp(row[c + np.uintp(2)])] += np.uint32(1)
                counts[three + np.uintp(row[c + np.uintp(3)])] += np.uint32(1)
            for c in range(whole, np.uintp(n)):
                counts[np.uintp(row[c])] += np.uint32(1)
            for j in range(n_pairs):
                pair = np.uintp(board.pairs[j])
                size = counts[pair] + counts[one + pair] + counts[two + pair] + counts[three + pair]
                counts[pair] = size
                term = weights[pair] * (sizes[size] - np.int64(size) * per_code)
                key = key + term if adds else max(key, term)
        if not other:
            key += bonus
        if key < keys[other] or (key == keys[other] and rule.combination == 2):
            _keep(counts, board, n, guess, key, best, other)
            # No guess that may win is better than this one, or this is the best of the others.
            settled = done and key == 0 if other else key == bonus <= 0
            if rule.settles and settled and keys[other] == key:
                return
        if n <= _FEW and adds:
            for c in range(np.uintp(n)):
                counts[np.uintp(row[c])] = 0
        else:
            for j in range(n_pairs):
                pair = np.uintp(board.pairs[j])
                counts[pair] = 0
                counts[one + pair] = counts[two + pair] = counts[three + pair] = 0
