"""The inner loops of color elimination, for eight sets of colors at a time.

A row of a buffer holds eight numbers, one for each of eight sets of colors: a cache line, and one
or two vector registers. All loops run over rows in the order of the index maps, so the results do
not depend on the number of threads.

The eight numbers are written out, and indices are unsigned: otherwise the compiler checks for
negative indices at each access, and does not use vector registers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bnmind._jit import njit_superword
from bnmind.information import Floats
from bnmind.mastermind.masses.color_elimination_maps import Contractions, Places

__all__ = ["LANES", "ColorSets", "eliminate"]

LANES = 8
"""Number of sets of colors that are eliminated at a time."""


class ColorSets(NamedTuple):
    """All sets of d colors in blocks of `LANES`, with the indices of their guesses and codes."""

    high: Places
    """``(blocks, words, lanes)``: marginal indices of the first halves of collapsed codes."""
    low: Places
    """The same for the second halves."""
    guesses: NDArray[np.int64]
    """``(blocks, patterns, lanes)``: the guess of each pattern, −1 for an unused lane."""
    causes: NDArray[np.int64]
    """The column in the masses of each row of a leaf, or −1 for an impossible reply."""


@njit_superword
def collapse(marginals: Floats, high: Places, low: Places, n: int, out: Floats) -> None:
    """Fill a buffer with the beliefs in codes collapsed to the colors of each lane's set.

    In ``marginals[high[i, lane] + low[j, lane]]`` symbol 0 is "any color"; in row
    ``i * len(low) + j`` of the result it is "any other color". The kernel computes the difference
    one position after another, and clips rounding errors below zero.
    """
    rows = len(high) * len(low)
    for i in range(len(high)):
        for j in range(len(low)):
            row = np.uint64(i * len(low) + j)
            for lane in range(8):
                out[row, lane] = marginals[high[i, lane] + low[j, lane]]
    symbols = round(rows ** (1 / n))
    stride = 1
    for _ in range(n):
        block = stride * symbols
        for start in range(0, rows, block):
            for at in range(start, start + stride):
                a = np.uint64(at)
                s0 = out[a, 0]
                s1 = out[a, 1]
                s2 = out[a, 2]
                s3 = out[a, 3]
                s4 = out[a, 4]
                s5 = out[a, 5]
                s6 = out[a, 6]
                s7 = out[a, 7]
                for symbol in range(1, symbols):
                    b = np.uint64(at + symbol * stride)
                    s0 -= out[b, 0]
                    s1 -= out[b, 1]
                    s2 -= out[b, 2]
                    s3 -= out[b, 3]
                    s4 -= out[b, 4]
                    s5 -= out[b, 5]
                    s6 -= out[b, 6]
                    s7 -= out[b, 7]
                out[a, 0] = max(s0, 0.0)
                out[a, 1] = max(s1, 0.0)
                out[a, 2] = max(s2, 0.0)
                out[a, 3] = max(s3, 0.0)
                out[a, 4] = max(s4, 0.0)
                out[a, 5] = max(s5, 0.0)
                out[a, 6] = max(s6, 0.0)
                out[a, 7] = max(s7, 0.0)
        stride = block


@njit_superword
def contract(
    maps: Contractions,
    guesses: NDArray[np.int64],
    causes: NDArray[np.int64],
    buffer: Floats,
    masses: Floats,
) -> None:
    """Run all contractions of one elimination; leaves write the masses of their guesses.

    ``buffer`` holds the stacked levels, which start at the rows ``maps.offsets``.
    ``guesses[pattern, lane]`` is the guess of a pattern with the colors of a lane, or −1.
    ``causes`` is the column in ``masses`` of each row of a leaf, or −1.
    """
    offsets, level, first, count = maps.offsets, maps.level, maps.first, maps.n_rows
    leaf, starts, sources = maps.leaf, maps.starts, maps.sources
    for step in range(len(level)):
        source = buffer[offsets[level[step]] :]
        result = buffer[offsets[level[step] + np.uint64(1)] :]
        begin = first[step]
        for row in range(count[step]):
            s0 = s1 = s2 = s3 = s4 = s5 = s6 = s7 = 0.0
            for at in range(starts[begin + row], starts[begin + row + np.uint64(1)]):
                a = sources[at]
                s0 += source[a, 0]
                s1 += source[a, 1]
                s2 += source[a, 2]
                s3 += source[a, 3]
                s4 += source[a, 4]
                s5 += source[a, 5]
                s6 += source[a, 6]
                s7 += source[a, 7]
            result[row, 0] = s0
            result[row, 1] = s1
            result[row, 2] = s2
            result[row, 3] = s3
            result[row, 4] = s4
            result[row, 5] = s5
            result[row, 6] = s6
            result[row, 7] = s7
        pattern = leaf[step]
        if pattern >= 0:
            for lane in range(8):
                guess = guesses[pattern, lane]
                if guess >= 0:
                    for row in range(count[step]):
                        if causes[row] >= 0:
                            masses[guess, causes[row]] = result[row, lane]


@njit_superword
def eliminate(
    maps: Contractions,
    sets: ColorSets,
    marginals: Floats,
    n: int,
    begin: int,
    end: int,
    masses: Floats,
) -> None:
    """Eliminate blocks ``begin`` to ``end`` of sets of colors; write the masses of their guesses.

    ``marginals`` and ``n`` are as for `collapse`, ``masses`` is as for `contract`.
    """
    buffer = np.empty((maps.offsets[-1], 8))
    for block in range(begin, end):
        collapse(marginals, sets.high[block], sets.low[block], n, buffer)
        contract(maps, sets.guesses[block], sets.causes, buffer, masses)
