"""The distribution of a sum of independent variables, by a balanced tree of partial sums.

A leaf holds the weights of the values of one summand. A node holds the weights of the sum of its
two children, which are the convolution of theirs. All nodes of a level are computed at once. On the
way back, each node receives the weights of its sums from the variables outside its subtree, so two
passes answer all summands (a Shenoy-Shafer propagation whose messages are the weights of partial
sums). The convolution of two sums of n summands takes n² products. Fourier transforms would take
fewer, but lose small numbers.

A power of two scales the weights of each node, so that the largest is near one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from bnmind.information import Floats

__all__ = ["n_products", "outside", "partial_sums", "scaled"]


def partial_sums(leaves: Floats) -> tuple[list[Floats], int]:
    """Return the weights of all partial sums, level by level, and a power of two.

    Parameters
    ----------
    leaves
        ``(summands, values)``: the weights of the values 0, 1, 2, … of each summand.

    Returns
    -------
    levels, power
        ``(nodes, sums)`` for each level, the leaves first; the last one has a single node, and two
        to the ``power`` times its weights is the distribution of the whole sum. Other levels
        have an even number of nodes; the last one may be padding, a sum that is surely zero.
    """
    rows, powers = scaled(leaves)
    levels, power = [], int(powers.sum())
    while len(rows) > 1:
        if len(rows) % 2:
            rows = np.concatenate([rows, np.eye(1, rows.shape[1])])
        levels.append(rows)
        rows, powers = scaled(_convolved(rows[0::2], rows[1::2]))
        power += int(powers.sum())
    return [*levels, rows], power


def outside(levels: list[Floats], whole: Floats) -> Floats:
    """Return the weight of each value of each summand from the other summands and the whole sum.

    Parameters
    ----------
    levels
        As returned by `partial_sums`.
    whole
        A weight of each value of the whole sum.

    Returns
    -------
    ndarray
        ``(summands, values)``, each row times a power of two. The last rows may be padding.
    """
    rows: Floats = whole[None, :]
    for level in reversed(levels[:-1]):
        n_pairs, n_values = len(level) // 2, level.shape[1]
        windows = sliding_window_view(rows[:n_pairs], n_values, axis=1)
        weights = np.empty((2 * n_pairs, n_values))
        weights[0::2] = _times(windows, level[1::2])
        weights[1::2] = _times(windows, level[0::2])
        rows, _ = scaled(weights)
    return rows


def n_products(n_summands: int, n_values: int) -> int:
    """Return the number of multiplications of both passes."""
    count = 0
    while n_summands > 1:
        n_pairs = (n_summands + 1) // 2
        count += n_pairs * n_values * (4 * n_values - 1)
        n_summands, n_values = n_pairs, 2 * n_values - 1
    return count


def scaled(rows: Floats) -> tuple[Floats, Any]:
    """Return rows as multiples of powers of two that bring their largest numbers near one.

    >>> scaled(np.array([[3.0, 1.0], [0.0, 0.0]]))[1].tolist()
    [2, 0]
    """
    powers = np.frexp(rows.max(axis=1))[1]
    return np.ldexp(rows, -powers[:, None]), powers


def _convolved(left: Floats, right: Floats) -> Floats:
    """Return the convolution of each row with a row."""
    n_pairs, n_values = left.shape
    padded = np.zeros((n_pairs, 3 * n_values - 2))
    padded[:, n_values - 1 : 2 * n_values - 1] = left
    return _times(sliding_window_view(padded, n_values, axis=1), right[:, ::-1])


def _times(matrices: Any, vectors: Floats) -> Floats:
    product: Floats = np.matmul(matrices, vectors[..., None])[..., 0]
    return product
