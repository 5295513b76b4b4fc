"""Estimates from independent islands of samples, with standard errors.

=========  ==================================================================
symbol     name here
=========  ==================================================================
R          the number of islands
Z_r        the estimated normalizing constant of island r
w_r        Z_r / Σ Z_r, the share of island r
f_r        the estimate of island r
=========  ==================================================================

Each Z_r and each Z_r·f_r has the right expectation, so the joint estimate is Σ w_r f_r, a ratio of
two sums of independent terms. Its standard error is √(R/(R − 1)·Σ w_r²·(f_r − f)²).

References
----------
Cochran, *Sampling techniques* (1977), section 6.4: the variance of a ratio estimate. Whiteley, Lee
and Heine, *On the role of interaction in sequential Monte Carlo algorithms*, Bernoulli 22 (2016).
"""

from __future__ import annotations

import math

import numpy as np

from bnmind.information import Floats

__all__ = [
    "effective_islands",
    "island_shares",
    "jackknife_error",
    "joint_error",
    "joint_estimate",
    "log_mean",
]


def island_shares(log_constants: Floats) -> Floats:
    """Return w_r, ``(islands,)``; at least one island must be alive."""
    shares = np.exp(log_constants - log_constants.max())
    total: Floats = shares / shares.sum()
    return total


def log_mean(log_constants: Floats) -> float:
    """Return the logarithm of the mean of Z_r; at least one island must be alive."""
    largest = float(log_constants.max())
    return largest + math.log(float(np.exp(log_constants - largest).mean()))


def effective_islands(log_constants: Floats) -> float:
    """Return 1/Σ w_r², from 1 to R; R if all islands have the same constant.

    It is 0 if no island is alive.
    """
    if log_constants.max() == -math.inf:
        return 0.0
    return float(1 / (island_shares(log_constants) ** 2).sum())


def joint_estimate(estimates: Floats, shares: Floats) -> Floats:
    """Return Σ w_r f_r, for estimates ``(islands, ...)``."""
    joint: Floats = np.tensordot(shares, estimates, axes=1)
    return joint


def joint_error(estimates: Floats, shares: Floats) -> Floats:
    """Return the standard error of Σ w_r f_r, for estimates ``(islands, ...)``."""
    n_islands = len(shares)
    if n_islands == 1:
        return np.full(estimates.shape[1:], math.nan)
    deviations = estimates - joint_estimate(estimates, shares)
    variance = np.tensordot(shares**2, deviations**2, axes=1) * n_islands / (n_islands - 1)
    error: Floats = np.sqrt(variance)
    return error


def jackknife_error(estimates: Floats) -> float:
    """Return the standard error, given the estimates that each leave out one island."""
    n_islands = len(estimates)
    if n_islands == 1:
        return math.nan
    return math.sqrt((n_islands - 1) * float(estimates.var()))
