"""The classes of a set under a guess, and lower bounds of their totals, compiled."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit
from bnmind.strategies.optimal.scan_kernel import SCANNED_CODES, parting_code, scan
from bnmind.strategies.optimal.search_arrays import INFINITE, Game, Memo, Work
from bnmind.strategies.optimal.search_frames import (
    BEST,
    BEST_GUESS,
    BUDGET,
    FLOOR,
    GUESS,
    IS_MARKED,
    IS_OPEN,
    LEFT,
    N_SCANS,
    N_TRIED,
    OPERATIONS,
    SIZE,
    STOPPED,
    TOTAL,
    TRIED,
)
from bnmind.strategies.optimal.transposition_table import BOUNDED, find, keep

__all__ = ["KNOWN", "close_guess", "key_of_left", "one_less", "open_guess", "total_of_three"]

Integers = NDArray[np.int64]

KNOWN = 1
"""The state of a class whose total is known."""

_UNKNOWN, _SCANNED = 0, 2


@njit
def open_guess(game: Game, memo: Memo, work: Work, depth: int, guess: int) -> None:
    """Partition a set by a guess and bound the classes; open no guess that cannot be better."""
    frame = work.frames[depth]
    n, last, best = frame[SIZE], game.last, frame[BEST]
    codes, row = work.sets[depth, 0, :n], game.places[guess]
    starts, bounds, known = work.classes[depth, 0], work.classes[depth, 1], work.classes[depth, 2]
    keys = work.class_keys[depth]
    n_replies = game.winning + 1
    work.counts[OPERATIONS] += 2 * n + 32 * n_replies
    starts[:] = 0
    keys[:] = 0
    for i in range(n):
        place = row[codes[i]]
        starts[place + 1] += 1
        keys[place, 0] ^= game.keys[codes[i], 0]
        keys[place, 1] ^= game.keys[codes[i], 1]
    goes_on = n_replies - last
    way = np.uint64(0)
    for j in range(n_replies):
        if starts[j + 1] == n:
            return  # the guess is uninformative
        if j < goes_on:
            word = (keys[j, 0] ^ (keys[j, 0] >> np.uint64(31))) * np.uint64(0x9E3779B97F4A7C15)
            way += word ^ (word >> np.uint64(29))
    if _is_seen(work, depth, way):
        return
    work.counts[N_TRIED] += 1
    frame[TRIED] += 1
    if work.counts[N_TRIED] > work.counts[BUDGET]:
        work.counts[STOPPED] = 1
    guesses_left = one_less(frame[LEFT])
    total = n
    for j in range(n_replies):
        size, known[j], bounds[j] = starts[j + 1], KNOWN, 0
        if size == 0 or j >= goes_on:
            continue
        if guesses_left < INFINITE:
            keys[j, 0] ^= key_of_left(guesses_left)
            if size > game.room[guesses_left]:
                bounds[j] = INFINITE
                total += INFINITE
                continue
        if size <= 2:
            bounds[j] = last if size == 1 else 2 + last
        else:
            bounds[j], known[j] = game.tables[0, size], _UNKNOWN
            if size > 3 or last == 0 or guesses_left < 3:
                entry = find(memo, keys[j, 0], keys[j, 1])
                if entry >= 0:
                    bounds[j] = memo.values[entry, 0]
                    known[j] = _SCANNED if memo.values[entry, 1] == BOUNDED else KNOWN
        total += bounds[j]
    frame[GUESS], frame[TOTAL], frame[IS_OPEN], frame[IS_MARKED] = guess, total, 1, 0
    if total < best:
        parted = work.sets[depth, 1]
        for j in range(n_replies):
            starts[j + 1] += starts[j]
        for i in range(n - 1, -1, -1):
            place = row[codes[i]]
            starts[place + 1] -= 1
            parted[starts[place + 1]] = codes[i]
        # The end of each class has become its start.
        for j in range(n_replies):
            starts[j] = starts[j + 1]
        starts[n_replies] = n
        _scan_classes(game, memo, work, depth)
    if frame[TOTAL] >= best:
        close_guess(work, depth)


@njit
def close_guess(work: Work, depth: int) -> None:
    """Close a guess: record it as the best one so far, or record its bound."""
    frame = work.frames[depth]
    frame[IS_OPEN] = 0
    if frame[TOTAL] < frame[BEST]:
        frame[BEST], frame[BEST_GUESS] = frame[TOTAL], frame[GUESS]
    else:
        frame[FLOOR] = min(frame[FLOOR], frame[TOTAL])
    if depth == 0:
        work.openings[frame[GUESS]] = frame[TOTAL]


@njit
def _is_seen(work: Work, depth: int, way: np.uint64) -> bool:
    """Return whether a partition of a set was tried before, and record it."""
    seen = work.seen[depth]
    way |= np.uint64(1)
    for t in range(16):
        place = np.int64((way >> np.uint64(20)) + np.uint64(t)) & (seen.size - 1)
        if seen[place] == way:
            return True
        if seen[place] == 0:
            seen[place] = way
            return False
    return False


@njit
def _scan_classes(game: Game, memo: Memo, work: Work, depth: int) -> None:
    """Bound each class by a scan of its own, until the guess cannot be the best one."""
    frame = work.frames[depth]
    starts, bounds, known = work.classes[depth, 0], work.classes[depth, 1], work.classes[depth, 2]
    guesses_left, last = one_less(frame[LEFT]), game.last
    parted, scratch = work.sets[depth, 1], work.sets[work.sets.shape[0] - 1, 2]
    for turn in range(2):
        for j in range(game.winning + 1):
            if frame[TOTAL] >= frame[BEST]:
                return
            size = starts[j + 1] - starts[j]
            if known[j] != _UNKNOWN or size > SCANNED_CODES:
                continue
            codes = parted[starts[j] : starts[j + 1]]
            value = bounds[j]
            if size == 3 and last == 1 and guesses_left >= 3:
                value = total_of_three(game, codes)
                known[j] = KNOWN
            elif turn == 1:
                value = _bound_by_scan(game, memo, work, codes, work.class_keys[depth, j], scratch)
                known[j] = KNOWN if value == 2 * size - 1 and last == 1 else _SCANNED
            frame[TOTAL] += value - bounds[j]
            bounds[j] = value


@njit
def _bound_by_scan(
    game: Game,
    memo: Memo,
    work: Work,
    codes: Integers,
    keys: NDArray[np.uint64],
    scratch: Integers,
) -> int:
    """Return a lower bound of a set. If codes must be revealed, a bound of 2n − 1 is the total."""
    n, value, guess = codes.size, 2 * codes.size - 1, -1
    work.counts[N_SCANS] += 1
    if game.last == 1 and n <= game.winning + 1:
        guess = parting_code(game, codes)
    if guess < 0:
        guess = BOUNDED
        work.counts[OPERATIONS] += n * game.places.shape[0] // 4
        scan(game, work, codes, scratch)
        value = INFINITE
        for x in range(game.places.shape[0]):
            value = min(value, int(scratch[x]))
        value = max(value, int(game.tables[0, n]))
    keep(memo, work, keys[0], keys[1], value, guess)
    return value


@njit
def total_of_three(game: Game, codes: Integers) -> int:
    """Return the total of three codes with three guesses left: 5 if one of them separates them."""
    for i in range(3):
        row = game.places[game.own[codes[i]]]
        if row[codes[(i + 1) % 3]] != row[codes[(i + 2) % 3]]:
            return 5
    return 6


@njit
def one_less(left: int) -> int:
    """Return the number of guesses left after one more guess."""
    return left if left >= INFINITE else left - 1


@njit
def key_of_left(left: int) -> np.uint64:
    """Return the word that stands for the number of guesses left in the key of a set."""
    return np.uint64(left + 1) * np.uint64(0x9E3779B97F4A7C15)
