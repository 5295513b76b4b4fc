"""The 2PL by EM with Newton's method, as one would write it in plain NumPy: a twin to compare with.

The quadrature is that of the bank, the tolerance that of `learn`: EM ends once a step raises the
log-likelihood by no more than it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Calibrated", "drawn_responses", "newton_em"]


class Calibrated(NamedTuple):
    """The slopes and difficulties, the log-likelihood, and the number of EM steps."""

    slopes: NDArray[np.float64]
    difficulties: NDArray[np.float64]
    log_likelihood: float
    steps: int


def newton_em(
    responses: NDArray[Any],
    points: NDArray[np.float64],
    weights: NDArray[np.float64],
    *,
    tolerance: float = 1e-7,
    newton_steps: int = 3,
    max_steps: int = 5000,
) -> Calibrated:
    """Return the 2PL of complete responses, ``(examinees, items)``."""
    x = np.asarray(responses, dtype=np.float64)
    a, d = np.ones(x.shape[1]), np.zeros(x.shape[1])
    before, steps = -np.inf, -1
    while True:
        p = 1 / (1 + np.exp(-(np.outer(a, points) + d[:, None])))
        logs = x @ np.log(p) + (1 - x) @ np.log(1 - p) + np.log(weights)
        top = logs.max(axis=1, keepdims=True)
        joint = np.exp(logs - top)
        evidence = joint.sum(axis=1, keepdims=True)
        value = float((np.log(evidence) + top).sum())
        steps += 1
        if value - before <= tolerance or steps >= max_steps:
            return Calibrated(a, -d / a, value, steps)
        before = value
        posterior = joint / evidence
        right, n = x.T @ posterior, posterior.sum(axis=0)
        for _ in range(newton_steps):
            p = 1 / (1 + np.exp(-(np.outer(a, points) + d[:, None])))
            rest, weight = right - n * p, n * p * (1 - p)
            ga, gd = rest @ points, rest.sum(axis=1)
            haa, had, hdd = weight @ points**2, weight @ points, weight.sum(axis=1)
            det = haa * hdd - had**2
            a = a + (hdd * ga - had * gd) / det
            d = d + (haa * gd - had * ga) / det


def drawn_responses(n_examinees: int, n_items: int, seed: int) -> NDArray[np.int64]:
    """Return responses to items of a 2PL with log-normal slopes and normal difficulties."""
    rng = np.random.default_rng(seed)
    slopes, difficulties = rng.lognormal(0, 0.3, n_items), rng.normal(0, 1, n_items)
    abilities = rng.normal(size=(n_examinees, 1))
    chances = 1 / (1 + np.exp(-slopes * (abilities - difficulties)))
    return (rng.random((n_examinees, n_items)) < chances).astype(np.int64)
