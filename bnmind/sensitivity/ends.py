"""The probabilities P(x, e) at both ends of a parameter, 0 and 1, by sums of positive terms only.

P(x, e) is linear in a parameter t whose row covaries, so that its values at t = 0 and t = 1
determine it. Nothing is subtracted: a probability that is zero stays exactly zero, and tiny ones
keep their digits.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from bnmind.information import Floats
from bnmind.junction.derivatives.gradient import without_each

__all__ = ["between", "ends_of", "first_largest", "left_of", "other_rows"]

_TIE = 1e-12
"""Probabilities that differ by less than this are equal, up to rounding."""


def ends_of(entries: Floats, partials: Floats) -> Floats:
    """Return P(x, e) for each entry of a table at 0 and at 1, ``(2, targets, states, …)``.

    Parameters
    ----------
    entries
        ``(states, …)`` the conditional probabilities.
    partials
        ``(targets, states, …)`` the partial derivatives of each P(x, e).
    """
    n_targets, n_states = len(partials), len(entries)
    weighted = entries * partials
    rows = weighted.sum(axis=1).reshape(n_targets, -1)
    rest = without_each(rows.T).T.reshape(n_targets, 1, *entries.shape[1:])
    if n_states == 1:
        return np.stack([rest + weighted, rest + weighted])
    others = without_each(entries)
    equal = np.stack([without_each(one) for one in partials]) / (n_states - 1)
    shares = np.stack([without_each(one) for one in weighted])
    left = np.divide(shares, others, out=equal, where=others > 0)
    return np.stack([rest + left, rest + partials])


def between(ends: Floats, values: Floats, t: Floats, posterior: Floats) -> Floats:
    """Return multiples of P(x, e) for parameters that are t, ``(targets, …)``.

    Parameters
    ----------
    ends
        ``(2, targets, …)`` from `ends_of`.
    values, t
        ``(…)`` the parameters in the network, where the result is the posterior; and now.
    posterior
        ``(targets,)`` the posterior in the network.
    """
    here = posterior.reshape(-1, *(1,) * np.ndim(t))
    numerators: Floats = np.where(t == values, here, (1 - t) * ends[0] + t * ends[1])
    return numerators


def left_of(row: Floats, rest: list[int]) -> Floats:
    """Return the shares of some states of a row in their sum; equal ones if it is zero."""
    total = float(row[rest].sum())
    shares: Floats = row[rest] / total if total > 0 else np.full(len(rest), 1 / len(rest))
    return shares


def other_rows(entries: Floats, partials: Floats, places: list[tuple[int, ...]]) -> Floats:
    """Return the part of P(x, e) from the rows of a table that are not those of some entries."""
    weighted = entries * partials
    for place in places:
        row: Any = (slice(None), slice(None), *place[1:])
        weighted[row] = 0.0
    total: Floats = weighted.reshape(len(partials), -1).sum(axis=1)
    return total


def first_largest(numbers: Floats) -> int:
    """Return the position of the largest number; the first one of several, up to rounding."""
    return int(np.argmax(numbers >= np.max(numbers) - _TIE))
