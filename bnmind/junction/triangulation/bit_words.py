"""Sets of vertices as the bits of 64-bit words, for kernels."""

from __future__ import annotations

from typing import Any

import numpy as np

from bnmind._jit import njit

__all__ = ["bit_count", "lowest_bit"]


@njit
def lowest_bit(word: int) -> int:
    """Return the number of the lowest bit of a word that is not zero."""
    return bit_count((word & (~word + np.uint64(1))) - np.uint64(1))


@njit
def bit_count(word: Any) -> int:
    """Return the number of ones of a word."""
    x = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    x = (x & np.uint64(0x3333333333333333)) + ((x >> np.uint64(2)) & np.uint64(0x3333333333333333))
    x = (x + (x >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return int((x * np.uint64(0x0101010101010101)) >> np.uint64(56))
