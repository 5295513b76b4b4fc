r"""Rank-one factorization of "exactly l of k" and "at least l of k".

Both are functions of a count S of 0, …, k, hence of sums of powers:

.. math:: [S = l] = \frac1R \sum_{b} z_b^{S - l}, \quad z_b^R = 1, \quad R = \max(l, k - l) + 1

because no other count is congruent to l modulo R. No factorization with complex numbers has fewer
terms (Carlini, Catalisano & Geramita, *The solution to the Waring problem for monomials and the sum
of coprime monomials*, 2012). For "at least l", use the sign that is −1 below l and 1 from l on. It
extends to an antiperiodic function if R is not smaller than either part:

.. math:: 2[S \ge l] - 1 = \sum_b a_b z_b^S, \quad z_b^R = -1, \quad R = \max(l, k - l + 1)

With other nodes than roots of unity, the factorization uses the k + 1 nodes of a sum.

==============  =====================================================
symbol          name here
==============  =====================================================
k               ``k``: number of undecided arguments
l               ``wanted``, minus arguments that surely count
z_b^{x_i}       ``arguments[i]``
==============  =====================================================
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bnmind.pgm.factor import Values
from bnmind.pgm.functions import Exactly, Threshold
from bnmind.rank_one.nodes import Nodes, RootsOfMinusOne, RootsOfUnity, interpolation
from bnmind.rank_one.terms import Terms

__all__ = ["count_terms"]


def count_terms(
    function: Threshold | Exactly,
    states: Sequence[Sequence[int]],
    results: Sequence[int],
    nodes: Nodes | None,
) -> Terms:
    """Return the terms of "at least l of k" or "exactly l of k".

    Parameters
    ----------
    function
        The function, `Threshold` or `Exactly`.
    states
        The positions that each argument may take.
    results
        The results that are needed: 1 (true) or 0 (false). Others are impossible.
    nodes
        The nodes of the interpolation; by default roots of one and of minus one.
    """
    counts = [
        np.array([_counts(function, i, position) for position in positions], dtype=np.intp)
        for i, positions in enumerate(states)
    ]
    certain = sum(int(count.min()) for count in counts)
    open_counts = [count - count.min() for count in counts]
    k = sum(int(count.max()) for count in open_counts)
    exact = isinstance(function, Exactly)
    needed = (function.count if isinstance(function, Exactly) else function.least) - certain
    if (exact and not 0 <= needed <= k) or (not exact and not 0 < needed <= k):
        always = int(not exact and needed <= 0)
        return Terms.constant(
            [float(result == always) for result in results], [len(s) for s in states]
        )
    if nodes is not None and not isinstance(nodes, RootsOfUnity):
        x, true = _real(nodes, k, needed, exact=exact)
    elif exact:
        order = max(needed, k - needed) + 1
        x = RootsOfUnity()(order)
        true = x ** float(-needed) / order
    else:
        order = max(needed, k - needed + 1)
        roots = RootsOfMinusOne()(order)
        window = np.arange(needed - order, needed)
        sums = -np.sum(roots[None, :] ** (-window[:, None].astype(np.float64)), axis=0) / order
        x, true = np.append(1.0, roots), np.append(0.5, sums / 2)
    # The first node is 1; its powers give the constant.
    rows = {1: true, 0: np.eye(len(x))[0] - true}
    child = np.array([rows.get(result, np.zeros(len(x))) for result in results])
    arguments = tuple(x[None, :] ** count[:, None] for count in open_counts)
    return Terms(child, arguments).without_zeros()


def _real(nodes: Nodes, k: int, wanted: int, *, exact: bool) -> tuple[Values, Values]:
    """Return the node 1 and the k + 1 nodes of a sum, with their coefficients for "true"."""
    x = nodes(k + 1)
    inverse = interpolation(x)
    true = inverse[wanted] if exact else inverse[wanted:].sum(axis=0)
    return np.append(1.0, x), np.append(0.0, true)


def _counts(function: Threshold | Exactly, number: int, position: int) -> bool:
    counted = function.counted
    return position > 0 if counted is None else position in counted[number]
