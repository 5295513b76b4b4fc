"""Logistic curves: the chances of graded responses at a distance from each threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bnmind.information import Floats

__all__ = ["both_tails", "graded", "logistic", "softmax"]


def graded(distances: ArrayLike) -> Floats:
    """Return the chance of each graded response, ``(responses, …)``.

    Parameters
    ----------
    distances
        ``(responses − 1, …)``: the ability minus each threshold, decreasing. The response
        is at least r with probability 1 / (1 + exp(−distance_r)).
    """
    d = np.asarray(distances, dtype=np.float64)
    above, below = logistic(d), logistic(-d)
    # Subtract the smaller pair of tails, for accuracy.
    between = np.where(d[:-1] + d[1:] < 0, above[:-1] - above[1:], below[1:] - below[:-1])
    return np.concatenate([below[:1], np.maximum(between, 0.0), above[-1:]])


def logistic(distances: ArrayLike) -> Floats:
    """Return 1 / (1 + exp(−x)) without overflow, accurate in both tails."""
    x = np.asarray(distances, dtype=np.float64)
    with np.errstate(invalid="ignore"):  # of nan
        result: Floats = np.exp(-np.logaddexp(0.0, -x))
    return result


def both_tails(distances: Floats) -> tuple[Floats, Floats]:
    """Return 1 / (1 + exp(−x)) and 1 / (1 + exp(x)), both accurate; faster than `logistic`."""
    small = np.exp(-np.abs(distances))
    near = 1 / (1 + small)
    far = small * near
    up = distances >= 0
    return np.where(up, near, far), np.where(up, far, near)


def softmax(logits: ArrayLike) -> Floats:
    """Return exp(x_r) / Σ_q exp(x_q) over the last axis, without overflow."""
    x = np.asarray(logits, dtype=np.float64)
    weights = np.exp(x - x.max(axis=-1, keepdims=True))
    result: Floats = weights / weights.sum(axis=-1, keepdims=True)
    return result
