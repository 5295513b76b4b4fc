r"""Rank-one factorization of parity: two terms for any number of arguments.

.. math:: [\textstyle\sum_i x_i \text{ even}] = \tfrac12 \Bigl(1 + \prod_i (-1)^{x_i}\Bigr)

(Savicky & Vomlel, *Exploiting tensor rank-one decomposition in probabilistic
inference*, 2007). It is the sum modulo 2 with the roots 1 and −1 as nodes.

==============  ===================================
symbol          name here
==============  ===================================
1, (−1)^{x_i}   the two columns of ``arguments[i]``
½, ±½           the rows of ``child``: even, odd
==============  ===================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bnmind.rank_one.terms import Terms

__all__ = ["parity_terms"]


def parity_terms(states: Sequence[Sequence[int]], results: Sequence[int]) -> Terms:
    """Return the terms of a parity.

    Parameters
    ----------
    states
        The positions that each argument may take.
    results
        The results that are needed: 0 (even) or 1 (odd). Others are impossible.
    """
    rows = {0: (0.5, 0.5), 1: (0.5, -0.5)}
    child = np.array([rows.get(result, (0.0, 0.0)) for result in results])
    arguments = (
        np.array([(1.0, -1.0 if position % 2 else 1.0) for position in positions])
        for positions in states
    )
    return Terms(child, tuple(arguments))
