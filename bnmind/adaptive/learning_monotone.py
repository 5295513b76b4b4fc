r"""The most likely chances of success that never fall with more skill.

Maximizes :math:`\sum_c y_c \log p_c + (n_c - y_c) \log(1 - p_c)` over chances p that do
not fall along any axis of a table of levels. For every exponential family the solution
is the isotonic regression of the shares y/n with the weights n (Barlow, Bartholomew,
Bremner and Brunk, *Statistical Inference under Order Restrictions*, 1972, theorem 1.10);
with bounds common to all, it is that regression clipped.

The regression on a product of chains is the limit of regressions along one axis after
the other, each corrected for what the last round of its own axis has changed.

==================  ======================================================
Dykstra             name here
==================  ======================================================
g, w                ``shares``, ``weights``
I_i                 ``increments``, one for each axis
==================  ======================================================

References
----------
R. Dykstra and T. Robertson, "An algorithm for isotonic regression for two or more
independent variables", Ann. Statist. 1982.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats

__all__ = ["isotonic", "monotone_chances", "two_chances"]

_ROUNDS = 1000
_SETTLED = 1e-12
_NOTHING = 1e-9
"""The weight of a configuration that nobody is expected to have."""


def two_chances(
    right: Floats, total: Floats, before: Floats, limits: Floats, *, monotone: bool
) -> Floats:
    """Return the most likely chances of success of two groups, ``(…, 2)``, the abler second.

    Parameters
    ----------
    right, total
        ``(…, 2)``: how many of each group are right, and how many they are.
    before
        What stays where a group is empty.
    limits
        ``(…, 2, 2)``: for each group its least and largest chance.
    monotone
        Whether the second must be at least the first.
    """
    share = np.divide(right, total, out=before.copy(), where=total > 0)
    chance = np.clip(share, limits[..., 0], limits[..., 1])
    falls = chance[..., 0] > chance[..., 1]
    if not monotone or not np.any(falls):
        return chance
    # The objective is concave: where the order is broken, it holds with equality.
    sums = total.sum(axis=-1)
    pooled = np.divide(right.sum(axis=-1), sums, out=np.array(before.mean(axis=-1)), where=sums > 0)
    low = limits[..., 0].max(axis=-1)
    pooled = np.maximum(np.minimum(pooled, limits[..., 1].min(axis=-1)), low)
    return np.where(falls[..., None], pooled[..., None], chance)


def monotone_chances(
    right: Floats, total: Floats, before: Floats, limits: Floats, *, monotone: bool
) -> Floats:
    """Return the most likely chances of success at each configuration of levels.

    Parameters
    ----------
    right, total, before
        With an axis for each parent, its levels from the lowest to the highest; as for
        `two_chances`.
    limits
        ``(2, 2)``: the least and the largest chance of the lowest configuration, and
        those of the highest one.
    monotone
        Whether chances may not fall along any axis. With this the bounds hold for the
        configurations between too, as far as the order says so.
    """
    first, last = (0,) * right.ndim, (-1,) * right.ndim
    share = np.divide(right, total, out=before.copy(), where=total > 0)
    share[first] = np.clip(share[first], *limits[0]) if not monotone else share[first]
    share[last] = np.clip(share[last], *limits[1]) if not monotone else share[last]
    if not monotone:
        return share
    weights = np.maximum(total, _NOTHING)
    held = share.copy()
    low, high = limits[0, 0], max(limits[1, 1], limits[0, 0])
    first_free, last_free = True, True
    while True:
        chance = np.clip(isotonic(held, weights), low, high)
        if not first_free:
            chance[first] = low
        if not last_free:
            chance[last] = high
        # An end that is pressed against its bound no longer holds back the rest: with a
        # weight of nothing it follows whatever that says.
        if first_free and chance[first] > limits[0, 1]:
            first_free, low = False, limits[0, 1]
            held[first], weights[first] = low, _NOTHING
        elif last_free and chance[last] < limits[1, 0]:
            last_free, high = False, limits[1, 0]
            held[last], weights[last] = high, _NOTHING
        else:
            return chance


def isotonic(shares: Floats, weights: Floats) -> Floats:
    """Return the closest table that does not fall along any axis, weighted least squares.

    Examples
    --------
    >>> isotonic(np.array([[0.2, 0.6], [0.4, 0.3]]), np.ones((2, 2))).round(3).tolist()
    [[0.2, 0.45], [0.4, 0.45]]
    """
    axes = [axis for axis, size in enumerate(shares.shape) if size > 1]
    if all(np.all(np.diff(shares, axis=axis) >= 0) for axis in axes):
        return shares
    table = np.array(shares)
    increments = {axis: np.zeros_like(table) for axis in axes}
    for _ in range(_ROUNDS):
        before = table
        for axis in axes:
            wanted = table - increments[axis]
            table = _along(wanted, weights, axis)
            increments[axis] = table - wanted
        if len(axes) == 1 or np.abs(table - before).max() < _SETTLED:
            break
    for axis in axes:  # what rounding has left
        table = np.maximum.accumulate(table, axis=axis)
    return table


def _along(values: Floats, weights: Floats, axis: int) -> Floats:
    """Return the regression along one axis, each line by pooling adjacent violators."""
    v, w = np.moveaxis(values, axis, -1), np.moveaxis(weights, axis, -1)
    size = v.shape[-1]
    lines, loads = v.reshape(-1, size), w.reshape(-1, size)
    if size == 2:
        mean = (lines * loads).sum(axis=1) / loads.sum(axis=1)
        falls = lines[:, 0] > lines[:, 1]
        found = np.where(falls[:, None], mean[:, None], lines)
    else:
        found = np.array([_pooled(a, b) for a, b in zip(lines, loads, strict=True)])
    return np.moveaxis(found.reshape(v.shape), -1, axis)


def _pooled(values: Floats, weights: NDArray[np.float64]) -> Floats:
    means: list[float] = []
    loads: list[float] = []
    sizes: list[int] = []
    for value, load in zip(values.tolist(), weights.tolist(), strict=True):
        means.append(value)
        loads.append(load)
        sizes.append(1)
        while len(means) > 1 and means[-2] > means[-1]:
            total = loads[-2] + loads[-1]
            mean = (means[-2] * loads[-2] + means[-1] * loads[-1]) / total
            size = sizes[-2] + sizes[-1]
            del means[-1], loads[-1], sizes[-1]
            means[-1], loads[-1], sizes[-1] = mean, total, size
    return np.repeat(means, sizes)
