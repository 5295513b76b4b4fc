r"""Derivatives by the parameters of noisy maxima and minima, from those by their tables.

With C_j(y, x_j) = P(Z_j ≤ y | x_j), the table of a maximum is

.. math:: P(y|x) = F(y, x) - F(y - 1, x), \qquad F(y, x) = \prod_j C_j(y, x_j)

F is linear in each distribution of a contribution, and the derivative of F(y, x) by
P(Z_i = z | x_i) is the product of the other C_j for y ≥ z, and zero below. A minimum is a maximum
of the states in reverse order.
"""

from __future__ import annotations

import numpy as np

from bnmind.information import Floats
from bnmind.pgm.noisy import NoisyMaximum, NoisyMinimum

__all__ = ["noisy_partials"]


def noisy_partials(cpd: NoisyMaximum | NoisyMinimum, partial: Floats) -> tuple[Floats, ...]:
    """Return the derivatives by the leak and the links of a noisy distribution.

    Parameters
    ----------
    cpd
        The distribution.
    partial
        The derivatives by the entries of its table, over ``cpd.scope``.

    Returns
    -------
    tuple
        An array ``(states of the child,)`` for the leak, then one for each link in its shape.
    """
    flip = isinstance(cpd, NoisyMinimum)
    n_axes = partial.ndim
    # The derivative by F(y): each F(y) is added to one entry and subtracted from the next.
    ordered = partial[::-1] if flip else partial
    by_sums = ordered - np.concatenate([ordered[1:], np.zeros((1, *ordered.shape[1:]))])
    spread = []
    for axis, sums in enumerate(cpd.cumulative()):
        values = sums[::-1] if flip else sums
        shape = [1] * n_axes
        shape[0] = len(values)
        if axis:
            shape[axis] = values.shape[1]
        spread.append(values.reshape(shape))
    found = []
    for axis, own in enumerate(spread):
        terms = by_sums
        for other in spread[:axis] + spread[axis + 1 :]:
            terms = terms * other
        gone = tuple(a for a in range(1, n_axes) if a != axis)
        by_cumulative = terms.sum(axis=gone)
        # P(Z ≤ y) contains P(Z = z) for z ≤ y.
        by_parameter = np.cumsum(by_cumulative[::-1], axis=0)[::-1]
        by_parameter = by_parameter[::-1] if flip else by_parameter
        assert len(by_parameter) == len(own)
        found.append(np.ascontiguousarray(by_parameter))
    return tuple(found)
