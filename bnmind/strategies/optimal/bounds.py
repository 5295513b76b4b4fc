r"""What no strategy can do better, from the number of replies alone.

======  =======================================================================
symbol  name here
======  =======================================================================
n       the size of a set of codes
r       ``n_replies``, the winning one among them
d       how many guesses a code takes
======  =======================================================================

A game can go r ways after each guess. Where the code is to be revealed, one of them is its
end, so of a set one code at most is found at the first guess, r − 1 at the second, (r − 1)²
at the third. Where it is to be determined, at most r^d codes in d guesses; each code that
has to wait for one guess more makes room for r others.

The bounds are admissible: sums over classes of what a guess leaves are bounds of that guess.
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
    """Return by the size of a set what its total is at least, ``(largest + 1,)``.

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
    found = np.array(bounds, dtype=np.int64)
    found.setflags(write=False)
    return found


def capacities(largest: int, n_replies: int, goal: Goal) -> Integers:
    """Return how many codes can be found at most, by the guesses left, ``(largest + 1,)``.

    There is an entry for 0 to `largest` guesses: nobody needs more guesses than there are
    codes. Counts are cut at one more than `largest`.

    Examples
    --------
    >>> capacities(8, 3, Goal.REVEALING).tolist()
    [0, 1, 3, 7, 9, 9, 9, 9, 9]
    """
    reveals = goal is Goal.REVEALING
    found = [0 if reveals else 1]
    more = 1 if reveals else n_replies - 1  # codes that one more guess makes room for
    for _ in range(largest):
        found.append(min(found[-1] + more, largest + 1))
        more = min(more * (n_replies - 1 if reveals else n_replies), largest + 1)
    return np.array(found, dtype=np.int64)


def estimates(largest: int) -> Integers:
    """Return by the size of a set a guess at its total, in thousandths; only for orders.

    n + 0.34 n log₂ n is about what the optimal strategy at 4x6 takes for its classes.
    """
    sizes = np.arange(largest + 1)
    logs = np.log2(np.maximum(sizes, 1))
    # Rounded to thousandths, so that the last digit of a logarithm has no say.
    return np.asarray(np.rint(1000 * (sizes + 0.34 * sizes * logs)), dtype=np.int64)
