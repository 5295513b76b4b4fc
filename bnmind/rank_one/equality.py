r"""Rank-one factorization of Kronecker's delta: a term for each common state.

.. math:: [x_1 = \dots = x_k] = \sum_v \prod_i [x_i = v]

If the complement is needed too, there is one more term, the constant 1.

==============  ====================================
symbol          name here
==============  ====================================
v               ``shared``: positions common to all arguments
[x_i = v]       ``arguments[i]``
==============  ====================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bnmind.rank_one.terms import Terms

__all__ = ["equality_terms"]


def equality_terms(states: Sequence[Sequence[int]], results: Sequence[int]) -> Terms:
    """Return the terms of a delta.

    Parameters
    ----------
    states
        The positions that each argument may take.
    results
        The results that are needed: 1 (all equal) or 0 (not all equal). Others are impossible.
    """
    shared = sorted(set.intersection(*(set(positions) for positions in states)))
    equal = np.array([1.0] * len(shared) + [0.0])
    rows = {1: equal, 0: np.append(-equal[:-1], 1.0)}
    child = np.array([rows.get(result, np.zeros(len(equal))) for result in results])
    arguments = (
        np.array([[float(position == v) for v in shared] + [1.0] for position in positions])
        for positions in states
    )
    return Terms(child, tuple(arguments)).without_zeros()
