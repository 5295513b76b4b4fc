r"""Maximum likelihood of chances of success that never decrease with more skill.

Maximizes :math:`\sum_c y_c \log p_c + (n_c - y_c) \log(1 - p_c)` over chances p that do
not decrease along any axis of a table of levels. For every exponential family the solution
is the isotonic regression of the shares y/n with the weights n (Barlow, Bartholomew,
Bremner and Brunk, *Statistical Inference under Order Restrictions*, 1972, theorem 1.10);
with bounds common to all, it is that regression clipped.

The regression on a product of chains is computed by splitting. If no upper set of a block
exceeds the mean of the block, the block gets that mean. Otherwise the upper set with the
largest weighted excess and the rest become separate blocks. Tables with too many upper sets are
regressed along one axis after the other with Dykstra's corrections, which converges to the
exact solution, slowly if weights are very different.

==================  ======================================================
symbol              name here
==================  ======================================================
g, w                ``shares``, ``weights``
I_i                 ``increments`` (Dykstra), one for each axis
==================  ======================================================

References
----------
J. Spouge, H. Wan and W. Wilbur, "Least squares isotonic regression in two dimensions", J.
Optim. Theory Appl. 2003; R. Dykstra and T. Robertson, "An algorithm for isotonic
regression for two or more independent variables", Ann. Statist. 1982.
"""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from bnmind.information import Floats

__all__ = ["isotonic", "monotone_chances", "two_chances"]

_MOST_UPPER_SETS = 8000
"""The limit of upper sets; five skills with two levels have fewer."""

_ROUNDS = 1000
_SETTLED = 1e-12
_NOTHING = 1e-9
"""The weight of a configuration without expected examinees."""


def two_chances(
    right: Floats, total: Floats, before: Floats, limits: Floats, *, monotone: bool
) -> Floats:
    """Return the most likely chances of success of two groups, ``(…, 2)``, the abler second.

    Parameters
    ----------
    right, total
        ``(…, 2)``: the number of right responses and of all responses in each group.
    before
        The chances of empty groups.
    limits
        ``(…, 2, 2)``: the least and the largest chance of each group.
    monotone
        Whether the second must be at least the first.
    """
    share = np.divide(right, total, out=before.copy(), where=total > 0)
    chance = np.clip(share, limits[..., 0], limits[..., 1])
    falls = chance[..., 0] > chance[..., 1]
    if not monotone or not np.any(falls):
        return chance
    # The objective is concave: if the order is violated, the optimum has equal chances.
    sums = total.sum(axis=-1)
    pooled = np.divide(right.sum(axis=-1), sums, out=np.array(before.mean(axis=-1)), where=sums > 0)
    low = limits[..., 0].max(axis=-1)
    pooled = np.maximum(np.minimum(pooled, limits[..., 1].min(axis=-1)), low)
    return np.where(falls[..., None], pooled[..., None], chance)


def monotone_chances(
    right: Floats, total: Floats, before: Floats, limits: Floats, *, monotone: bool
) -> Floats:
    """Return the most likely chances of success in each configuration of levels.

    Parameters
    ----------
    right, total, before
        As for `two_chances`, with an axis for each parent, levels ascending.
    limits
        ``(3, 2)``: the least and the largest chance of the lowest configuration, of the
        highest configuration, and of all others.
    monotone
        Whether chances must not decrease along any axis. Then bounds apply to the
        configurations between too, by the order.
    """
    first, last = (0,) * right.ndim, (-1,) * right.ndim
    share = np.divide(right, total, out=before.copy(), where=total > 0)
    if not monotone:
        chance: Floats = np.clip(share, *limits[2])
        chance[first] = np.clip(share[first], *limits[0])
        chance[last] = np.clip(share[last], *limits[1])
        return chance
    weights = np.maximum(total, _NOTHING)
    held = share.copy()
    low, high = limits[0, 0], max(limits[1, 1], limits[0, 0])
    first_free, last_free = True, True
    while True:
        regressed = np.clip(isotonic(held, weights), low, high)
        chance = np.clip(regressed, *limits[2])
        chance[first], chance[last] = regressed[first], regressed[last]
        if not first_free:
            chance[first] = low
        if not last_free:
            chance[last] = high
        # An end at its bound no longer constrains the rest: give it a negligible weight.
        if first_free and chance[first] > limits[0, 1]:
            first_free, low = False, limits[0, 1]
            held[first], weights[first] = low, _NOTHING
        elif last_free and chance[last] < limits[1, 0]:
            last_free, high = False, limits[1, 0]
            held[last], weights[last] = high, _NOTHING
        else:
            return chance


def isotonic(shares: Floats, weights: Floats) -> Floats:
    """Return the closest table that does not decrease along any axis, by weighted least squares.

    Examples
    --------
    >>> isotonic(np.array([[0.2, 0.6], [0.4, 0.3]]), np.ones((2, 2))).round(3).tolist()
    [[0.2, 0.45], [0.4, 0.45]]
    """
    axes = [axis for axis, size in enumerate(shares.shape) if size > 1]
    if all(np.all(np.diff(shares, axis=axis) >= 0) for axis in axes):
        return shares
    sets = _upper_sets(shares.shape) if len(axes) > 1 else None
    table = np.array(shares) if sets is None else _by_splitting(shares, weights, sets)
    increments = {axis: np.zeros_like(table) for axis in axes}
    for _ in range(_ROUNDS if sets is None else 0):
        before = table
        for axis in axes:
            corrected = table - increments[axis]
            table = _along(corrected, weights, axis)
            increments[axis] = table - corrected
        if len(axes) == 1 or np.abs(table - before).max() < _SETTLED:
            break
    for axis in axes:  # correct rounding errors
        table = np.maximum.accumulate(table, axis=axis)
    return table


@cache
def _upper_sets(shape: tuple[int, ...]) -> Floats | None:
    """Return indicators of all upper sets of a table, ``(sets, cells)``; None if too many.

    As numbers, so that sums over all sets are a matrix product.
    """
    sets = np.array([[False], [True]])
    for size in shape:
        if len(sets) ** 2 > 100 * _MOST_UPPER_SETS:
            return None
        # One more axis: an increasing chain of upper sets, one for each level.
        within = [np.flatnonzero((row <= sets).all(axis=1)).tolist() for row in sets]
        chains: list[tuple[int, ...]] = [(first,) for first in range(len(sets))]
        for _ in range(size - 1):
            chains = [(*chain, after) for chain in chains for after in within[chain[-1]]]
            if len(chains) > _MOST_UPPER_SETS:
                return None
        sets = np.array([sets[list(chain)].T.reshape(-1) for chain in chains])
    indicators = sets.astype(np.float64)
    indicators.setflags(write=False)
    return indicators


def _by_splitting(shares: Floats, weights: Floats, sets: Floats) -> Floats:
    """Return the isotonic regression, given the upper sets of the table."""
    values, loads = shares.reshape(-1), weights.reshape(-1)
    regressed = np.empty(len(values))
    blocks = [np.ones(len(values), dtype=bool)]
    while blocks:
        block = blocks.pop()
        mean = float(loads[block] @ values[block] / loads[block].sum())
        above = np.where(block, loads * (values - mean), 0.0)
        gains = sets @ above
        best = int(np.argmax(gains))
        upper = (sets[best] > 0) & block
        if gains[best] > 1e-14 * np.abs(above).sum() and np.any(upper != block):
            blocks += [upper, block & ~upper]
        else:
            regressed[block] = mean
    return regressed.reshape(shares.shape)


def _along(values: Floats, weights: Floats, axis: int) -> Floats:
    """Return the regression along one axis, by pooling adjacent violators in each line."""
    v, w = np.moveaxis(values, axis, -1), np.moveaxis(weights, axis, -1)
    size = v.shape[-1]
    lines, loads = v.reshape(-1, size), w.reshape(-1, size)
    if size == 2:
        mean = (lines * loads).sum(axis=1) / loads.sum(axis=1)
        falls = lines[:, 0] > lines[:, 1]
        regressed = np.where(falls[:, None], mean[:, None], lines)
    else:
        regressed = np.array([_pooled(a, b) for a, b in zip(lines, loads, strict=True)])
    return np.moveaxis(regressed.reshape(v.shape), -1, axis)


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
