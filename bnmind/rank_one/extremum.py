r"""Rank-one factorization of minimum and maximum.

.. math:: [\max_i x_i = y] = \prod_i [x_i \le y] - \prod_i [x_i \le y - 1]

The number of terms is the number of states of the maximum, or two once the maximum is observed. The
values are 0 and ±1 (Díez & Galán, *Efficient computation for the noisy MAX*, 2003; Savicky &
Vomlel, *Exploiting tensor rank-one decomposition in probabilistic inference*, 2007, who show that
fewer terms do not suffice). The minimum is the mirror image.

==============  ================================================
symbol          name here
==============  ================================================
b               a bound; bounds that give the same factors are
                one term
[x_i ≤ b]       ``arguments[i]``
α(y, b)         ``child``: 1 for b = y, −1 for b = y − 1
==============  ================================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bnmind.pgm.functions import Maximum, Minimum
from bnmind.rank_one.terms import Terms

__all__ = ["extremum_terms"]


def extremum_terms(
    function: Maximum | Minimum, states: Sequence[Sequence[int]], results: Sequence[int]
) -> Terms:
    """Return the terms of a maximum or minimum.

    Parameters
    ----------
    function
        The maximum or the minimum.
    states
        The positions that each argument may take.
    results
        The positions of the extremum that are needed.
    """
    # With opposite signs, the minimum is a maximum.
    sign = 1 if isinstance(function, Maximum) else -1
    values = [sign * np.asarray(positions, dtype=np.intp) for positions in states]
    columns: dict[tuple[int, ...], int] = {}
    chosen: list[int] = []

    def column(bound: int) -> int | None:
        """Return the place of the term of a bound, or None if the term is zero."""
        pattern = tuple(int((value <= bound).sum()) for value in values)
        if min(pattern) == 0:
            return None
        if pattern not in columns:
            columns[pattern] = len(columns)
            chosen.append(bound)
        return columns[pattern]

    entries = [
        (row, place, entry)
        for row, result in enumerate(results)
        for bound, entry in ((sign * result, 1.0), (sign * result - 1, -1.0))
        if (place := column(bound)) is not None
    ]
    child = np.zeros((len(results), max(len(columns), 1)))
    for row, place, entry in entries:
        child[row, place] += entry
    bounds = np.array(chosen or [0], dtype=np.intp)
    arguments = tuple((value[:, None] <= bounds).astype(np.float64) for value in values)
    return Terms(child, arguments).without_zeros()
