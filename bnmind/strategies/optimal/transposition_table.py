"""The table of solved and bounded sets, compiled.

Two words stand for a set. The table would confuse two sets with the same words; among a billion
sets, the probability of such a pair is about 10⁻²¹.
"""

from __future__ import annotations

import numpy as np

from bnmind._jit import njit
from bnmind.strategies.optimal.search_arrays import Memo, Work
from bnmind.strategies.optimal.search_frames import N_KEPT, N_OVERWRITTEN

__all__ = ["BOUNDED", "find", "keep"]

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
