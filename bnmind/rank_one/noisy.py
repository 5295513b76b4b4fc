r"""Rank-one factorization of noisy extrema: noisy-or, -and, -max, -min.

The factors of the parents contain the links, so the noise adds no cost:

.. math:: P(Y = y \mid x) = F(y, x) - F(y - 1, x), \quad
          F(y, x) = P(Z_0 \le y) \prod_i P(Z_i \le y \mid x_i)

(Díez & Galán, *Efficient computation for the noisy MAX*, 2003; Vomlel & Tichavský,
*Probabilistic inference with noisy-threshold models based on a CP tensor
decomposition*, 2014). The number of terms is the number of states of the child, two once the child
is observed, or one if it is observed in the lowest state of a maximum.

==================  ===========================================
symbol              name here
==================  ===========================================
P(Z_i ≤ y | x_i)    ``arguments[i]``, a column for each bound y
P(Z_0 ≤ y)          ``leak``, in ``child``
==================  ===========================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bnmind.pgm.noisy import NoisyExtremum, NoisyMaximum
from bnmind.rank_one.terms import Terms

__all__ = ["noisy_terms"]


def noisy_terms(
    cpd: NoisyExtremum, states: Sequence[Sequence[int]], results: Sequence[int]
) -> Terms:
    """Return the terms of a noisy extremum.

    Parameters
    ----------
    cpd
        The distribution.
    states
        The positions that each parent may take.
    results
        The states of the child that are needed.
    """
    n = cpd.variable.n_states
    before = -1 if isinstance(cpd, NoisyMaximum) else 1
    bounds = sorted({b for y in results for b in (y, y + before) if 0 <= b < n})
    leak, *links = cpd.cumulative()
    child = np.array([[float(b == y) - float(b == y + before) for b in bounds] for y in results])
    arguments = tuple(
        link[np.ix_(bounds, list(positions))].T
        for link, positions in zip(links, states, strict=True)
    )
    return Terms(child * leak[bounds, 0], arguments).without_zeros()
