r"""The most that one question can tell, whatever is believed: capacities, and gains of decisions.

=======  ===================================================================
symbol   name here
=======  ===================================================================
N[s, o]  ``channel``, the chance of outcome o in state s
C        capacity: the maximum over all beliefs q of I(q), in bits
p        the distribution of the outcomes
β        Σ_o max_s N[s, o]
=======  ===================================================================

For every distribution p of the outcomes, C ≤ max_s D(N[s, :] ‖ p), with equality at the best p.
The algorithm of Arimoto and Blahut finds p; the bound holds at every step, so that a capacity
that is returned is never too small.

References
----------
S. Arimoto, "An algorithm for computing the capacity of arbitrary discrete memoryless channels",
IEEE Trans. Inf. Theory 1972; R. Blahut, "Computation of channel capacity and rate-distortion
functions", IEEE Trans. Inf. Theory 1972 (theorem 2 for the bound).
"""

from __future__ import annotations

import numpy as np

from bnmind.information import Floats

__all__ = ["capacity_bound", "decision_gain"]

_STEPS = 400
_CLOSE = 1e-10
_TINY = 1e-300


def capacity_bound(channel: Floats) -> float:
    """Return a number of bits, at least the capacity of a channel ``(states, outcomes)``.

    Examples
    --------
    >>> round(capacity_bound(np.array([[0.9, 0.1], [0.1, 0.9]])), 6)
    0.531004
    """
    rows = np.unique(channel, axis=0)
    logs = np.log2(np.maximum(rows, _TINY))
    inputs = np.full(len(rows), 1.0 / len(rows))
    best = np.inf
    for _ in range(_STEPS):
        outcomes = inputs @ rows
        divergences = np.sum(
            np.where(rows > 0, rows * (logs - np.log2(np.maximum(outcomes, _TINY))), 0.0), axis=1
        )
        best = min(best, float(divergences.max()))
        if best - float(inputs @ divergences) < _CLOSE:
            break
        inputs = inputs * np.exp2(divergences - divergences.max())
        inputs /= inputs.sum()
    return best


def decision_gain(channel: Floats) -> float:
    """Return the largest factor by which one outcome can raise the chance of a right decision."""
    return float(channel.max(axis=0).sum())
