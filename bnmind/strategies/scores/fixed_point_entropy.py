"""n·log₂ n as whole numbers, so that comparisons of entropies agree on all machines.

=======  ==================================================================
symbol   name here
=======  ==================================================================
L(p)     2^bits · log₂ p for a prime p, rounded to a whole number
—        ``table[n]`` = n · Σ L(p) over the prime factors p of n
=======  ==================================================================

The expected entropy of a guess is Σ n_r log₂ n_r / n, that is, log₂ Π n_r^n_r / n. Two guesses are
equally good if and only if these products are equal, that is, have the same prime factors. The sums
of `table` are then equal too, since `table` adds the logarithms of prime factors. Different
products are distinguished if their logarithms differ by more than n·log₂ n / 2^bits, 1.2e-8 bits
of n·H at 4x6. Closer products may be ordered wrongly, but in the same way on every machine.
"""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from bnmind.strategies.scores.score import Integers

__all__ = ["entropy_terms", "fixed_point_bits"]

_MOST_BITS = 40
_ROOM = 61
"""Sums must stay below 2^62, which leaves one bit for a correction."""


def fixed_point_bits(codes: int, *, largest_weight: int = 1) -> int:
    """Return the number of binary places for which sums of n·log₂ n fit 63 bits.

    Parameters
    ----------
    codes
        The largest number of codes in a set.
    largest_weight
        The largest factor of a term.
    """
    n = max(2, codes)
    whole = (n * n.bit_length() * max(1, largest_weight)).bit_length()
    return max(0, min(_MOST_BITS, _ROOM - whole))


@lru_cache(maxsize=8)
def entropy_terms(largest: int, bits: int) -> Integers:
    """Return n·log₂ n for n = 0..largest as fixed-point numbers, read-only.

    Parameters
    ----------
    largest
        The largest n.
    bits
        The number of binary places after the point.

    Examples
    --------
    >>> (entropy_terms(8, 40) >> 40).tolist()  # 3 log₂ 3 is 4.75
    [0, 0, 2, 4, 8, 11, 15, 19, 24]
    """
    logs = np.zeros(largest + 1, dtype=np.int64)
    is_prime = np.ones(largest + 1, dtype=np.bool_)
    for p in range(2, largest + 1):
        if not is_prime[p]:
            continue
        is_prime[p * p :: p] = False
        log = _log2(p, bits)
        power = p
        while power <= largest:
            logs[power::power] += log
            power *= p
    table: Integers = logs * np.arange(largest + 1)
    table.setflags(write=False)
    return table


def _log2(number: int, bits: int) -> int:
    """Return 2^bits · log₂ number, rounded; in floating point if that is certainly correct."""
    near = math.ldexp(math.log2(number), bits)
    if abs(near - math.floor(near) - 0.5) > 0.05 and bits <= _MOST_BITS:
        return round(near)
    # One digit at a time: squaring doubles the logarithm, whose whole part is a binary digit.
    digits = bits + 8
    log = number.bit_length() - 1
    mantissa = (number << 128) >> log
    for _ in range(digits):
        mantissa = mantissa * mantissa >> 128
        log *= 2
        if mantissa >> 129:
            mantissa >>= 1
            log += 1
    return (log + (1 << 7)) >> 8
