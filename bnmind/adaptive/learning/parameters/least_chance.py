"""Learned tables without entries near 0 and 1.

Rows of the skills' tables with a floor
---------------------------------------
The maximum of Σ_k n_k log p_k over distributions p with p_k ≥ ε sets the entries below ε to ε, and
scales the others (the conditions of Karush, Kuhn and Tucker); this repeats until none is below.

Response models whose chances are products
------------------------------------------
The guesses and slips of a response model may keep off 0 and 1 while a product of them, such as
the chance of a noisy-and of three skills, comes closer. If an M-step leaves such a cell below ε,
its parameters θ are replaced by others between θ and parameters c well inside, for which all cells
are at least ε: (1 − t) θ + t c with the least t; or c with one parameter after the other moved as
far toward θ as the cells allow. The more likely of the two is taken. If it is less likely than the
current parameters, the M-step is halved until it is not, so that EM never lowers the likelihood.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind.adaptive.learning.parameters.block import (
    ConvexBlock,
    FixedBlock,
    ItemBlock,
    PairBlock,
)
from bnmind.information import Floats

__all__ = ["bounded_rows", "inside", "is_inside", "maximized"]

_HALVINGS = 30
_TURNS = 2
_SHORTER = 5

_LEAST_GAIN = 1e-7
"""A loss of log-likelihood so small is one of the search for the nearest point inside."""

_ROUNDING = 1e-9
"""Cells below the least chance by no more than this, relative to it, count as at it."""


def bounded_rows(table: Floats, least: float, allowed: NDArray[np.bool_]) -> Floats:
    """Return distributions along the first axis with each allowed entry at least ``least``.

    Parameters
    ----------
    table
        Distributions along the first axis.
    least
        The least entry. Distributions with too many entries for it do not change.
    allowed
        A mask of the same shape; other entries do not change, and should be zero.

    Examples
    --------
    >>> table = np.array([[0.0, 0.5], [0.05, 0.5], [0.95, 0.0]])
    >>> bounded_rows(table, 0.1, np.array([[1, 1], [1, 1], [1, 0]]) > 0).tolist()
    [[0.1, 0.5], [0.1, 0.5], [0.8, 0.0]]
    """
    low = allowed & (table < least)
    if not low.any():
        return table
    # A row with one allowed entry is certain, and one with too many has no room.
    n_allowed = allowed.sum(axis=0)
    low &= (n_allowed > 1) & (n_allowed * least < 1)
    if not low.any():
        return table
    for _ in range(len(table)):
        rest = np.where(low, 0.0, table)
        share = (1 - least * low.sum(axis=0)) / np.where(low.any(axis=0), rest.sum(axis=0), 1.0)
        bounded = np.where(low.any(axis=0), np.where(low, least, rest * share), table)
        more = allowed & ~low & (bounded < least) & low.any(axis=0)
        if not more.any():
            break
        low |= more
    return bounded


def is_inside(block: ItemBlock, values: Floats, least: float) -> bool:
    """Return whether no cell of a block is below the least chance."""
    cells = block.response_parameters(values)
    return bool(cells.min() >= least * (1 - _ROUNDING))


def inside(block: ItemBlock, values: Floats, least: float, counts: Floats | None = None) -> Floats:
    """Return the parameters, changed so far that no cell is below the least chance.

    If bounds leave no parameters far enough inside, the parameters do not change.

    Parameters
    ----------
    block, values
        The items and their parameters.
    least
        The least chance; 0 for none.
    counts
        The expected numbers of examinees, for which the change should cost little.
    """
    bounded = isinstance(block, FixedBlock | PairBlock | ConvexBlock)  # by their own bounds
    if not least or bounded or is_inside(block, values, least):
        return values
    center = _center(block, least)
    if center is None:
        return values

    def nearest(far: Floats, near: Floats) -> Floats:
        """Return the point of a line that is nearest to its one end, and inside as the other."""
        low, high = 0.0, 1.0
        for _ in range(_HALVINGS):
            t = (low + high) / 2
            fits = is_inside(block, (1 - t) * far + t * near, least)
            low, high = (low, t) if fits else (t, high)
        return (1 - high) * far + high * near

    by_turns = center.copy()
    for place in [*range(len(values))] * _TURNS:
        far = by_turns.copy()
        far[place] = values[place]
        fits = block.valid(far) and is_inside(block, far, least)
        by_turns = far if fits else nearest(far, by_turns)
    if counts is None:
        return by_turns
    return max(
        (nearest(values, center), by_turns),
        key=lambda point: _expected(block, point, counts) if block.valid(point) else -np.inf,
    )


def maximized(block: ItemBlock, values: Floats, counts: Floats, least: float) -> Floats:
    """Return the parameters after an M-step, with no cell below the least chance."""
    found = block.maximize(values, counts)
    for halving in range(_SHORTER):
        near = found if not halving else values + (found - values) / 2**halving
        pulled = inside(block, near, least, counts)
        if pulled is found:
            return pulled
        gain = _expected(block, pulled, counts) - _expected(block, values, counts)
        if gain > -_LEAST_GAIN:
            return pulled if gain >= 0 else values
    return values


def _expected(block: ItemBlock, values: Floats, counts: Floats) -> float:
    cells = block.response_parameters(values)
    logs = np.log(np.where(counts > 0, cells, 1.0))
    return float((counts * logs).sum()) + block.log_prior(values)


def _center(block: ItemBlock, least: float) -> Floats | None:
    """Return parameters whose cells are well above the least chance; None if none were found."""
    low, high = block.limits.T
    candidates = [block.start()]
    if np.isfinite(low).all() and np.isfinite(high).all():
        candidates.append((low + high) / 2)
    rng = np.random.default_rng(0)  # not to estimate anything: any interior point does
    candidates += [block.draw(rng) for _ in range(4)]
    fit = [one for one in candidates if block.valid(one)]
    if not fit:
        return None
    best = max(fit, key=lambda one: float(block.response_parameters(one).min()))
    return best if float(block.response_parameters(best).min()) > 2 * least else None
