r"""Bounds of every strategy, from the number of replies alone.

======  =======================================================================
symbol  name here
======  =======================================================================
n       the size of a set of codes
r       ``n_replies``, including the winning reply
d       the number of guesses for a code
======  =======================================================================

Each guess has r possible replies. If the code is to be revealed, one reply ends the game. At most
one code of a set is therefore found at the first guess, r − 1 at the second, and (r − 1)² at the
third. If the code is to be determined, at most r^d codes are determined within d guesses; each code
that waits for another guess makes room for r others.

The bounds are admissible: the sum of the bounds of the classes of a guess is a bound of the guess.
"""

from __future__ import annotations

from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from bnmind.strategies.base.game_rules import Goal

__all__ = ["capacities", "estimates", "lower_bounds"]

Integers = NDArray[np.int64]


@lru_cache(maxsize=16)
def lower_bounds(largest: int, n_replies: int, goal: Goal) -> Integers:
    """Return a lower bound of the total for each size of a set, ``(largest + 1,)``.

    Examples
    --------
    >>> lower_bounds(16, 14, Goal.REVEALING).tolist()[-4:]
    [25, 27, 30, 33]
    """
    bounds = [0]
    if goal is Goal.REVEALING:
        depth, room, total = 0, 0, 0
        for _ in range(largest):
            if room == 0:
                depth, room = depth + 1, (n_replies - 1) ** depth
            room -= 1
            total += depth
            bounds.append(total)
    else:
        depth = 0
        for size in range(1, largest + 1):
            while n_replies ** (depth + 1) <= size and size > 1:
                depth += 1
            beyond = size - n_replies**depth
            waiting = -(-beyond // (n_replies - 1))
            bounds.append(size * depth + beyond + waiting)
    array = np.array(bounds, dtype=np.int64)
    array.setflags(write=False)
    return array


def capacities(largest: int, n_replies: int, goal: Goal) -> Integers:
    """Return the largest number of codes that can be found, by guesses left, ``(largest + 1,)``.

    There is an entry for 0 to `largest` guesses, since no set needs more guesses than it has
    codes. Counts are clipped at `largest` + 1.

    Examples
    --------
    >>> capacities(8, 3, Goal.REVEALING).tolist()
    [0, 1, 3, 7, 9, 9, 9, 9, 9]
    """
    reveals = goal is Goal.REVEALING
    counts = [0 if reveals else 1]
    more = 1 if reveals else n_replies - 1  # additional codes for one more guess
    for _ in range(largest):
        counts.append(min(counts[-1] + more, largest + 1))
        more = min(more * (n_replies - 1 if reveals else n_replies), largest + 1)
    return np.array(counts, dtype=np.int64)


def estimates(largest: int) -> Integers:
    """Return the estimated total for each size of a set, in thousandths; only to order guesses.

    n + 0.34 n log₂ n is about the total of the classes of the optimal strategy at 4x6.
    """
    sizes = np.arange(largest + 1)
    logs = np.log2(np.maximum(sizes, 1))
    # Rounded to thousandths, so the last digit of a logarithm does not matter.
    return np.asarray(np.rint(1000 * (sizes + 0.34 * sizes * logs)), dtype=np.int64)
