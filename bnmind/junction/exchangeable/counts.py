"""Tables of the numbers of interchangeable variables in each state.

A *count* of m variables with s states says how many are in each; there are C(m + s − 1, s − 1)
counts. As m!/Π cₛ! configurations have the count c, the variables of a group are replaced by one
variable, whose states are the counts:

* w(c) = m!/Π cₛ! · Π u(s)^cₛ  for their own table u,
* g(c, t) = Π f(s, t)^cₛ  for each table f with another variable.

The tables are computed as logarithms, and scaled so that their largest number is one.
"""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats

__all__ = ["MOST_COUNTS", "counts_of", "power_table", "weights_of_counts"]

MOST_COUNTS = 2**12
"""The most counts of a group."""

_WIDEST = 600.0
"""The widest range of the logarithms in a table; wider ones would lose numbers."""


def counts_of(n_variables: int, n_states: int) -> NDArray[np.int64] | None:
    """Return all counts, ``(counts, states)``; None if there are too many.

    >>> counts_of(2, 2).tolist()
    [[0, 2], [1, 1], [2, 0]]
    """
    places = n_variables + n_states - 1
    if math.comb(places, n_states - 1) > MOST_COUNTS:
        return None
    bars = np.array(list(combinations(range(places), n_states - 1)), dtype=np.int64)
    edges = np.pad(bars.reshape(-1, n_states - 1), ((0, 0), (1, 1)))
    edges[:, 0], edges[:, -1] = -1, places
    counts: NDArray[np.int64] = np.diff(edges, axis=1) - 1
    return counts


def weights_of_counts(counts: NDArray[np.int64], own: Floats) -> tuple[Floats, float] | None:
    """Return w(c), divided by its largest value, and the logarithm of that value.

    None if the weights are too far apart, or all zero.
    """
    numbers = np.array([math.lgamma(n + 1) for n in range(int(counts.sum(axis=1)[0]) + 1)])
    return _scaled(_log_power(counts, own) + numbers[-1] - numbers[counts].sum(axis=1))


def power_table(counts: NDArray[np.int64], table: Floats) -> tuple[Floats, float] | None:
    """Return g(c, t), divided by its largest value, and the logarithm of that value.

    Parameters
    ----------
    counts
        ``(counts, states)``
    table
        ``(states, states of the other variable)``

    Returns
    -------
    tuple or None
        None if the numbers are too far apart, or all zero.
    """
    return _scaled(_log_power(counts, table))


def _log_power(counts: NDArray[np.int64], table: Floats) -> Floats:
    """Return Σ cₛ ln f(s, …); zero to the power of zero is one."""
    with np.errstate(divide="ignore"):
        logs = np.log(table)
    finite = counts @ np.where(np.isfinite(logs), logs, 0.0)
    zeros = (counts > 0).astype(np.int64) @ np.isneginf(logs).astype(np.int64)
    powers: Floats = np.where(zeros > 0, -np.inf, finite)
    return powers


def _scaled(logs: Floats) -> tuple[Floats, float] | None:
    finite = logs[np.isfinite(logs)]
    if not finite.size or np.ptp(finite) > _WIDEST:
        return None
    most = float(finite.max())
    return np.exp(logs - most), most
