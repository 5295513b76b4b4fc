"""The inverse of an information matrix that may be singular."""

from __future__ import annotations

import math

import numpy as np

from bnmind.information import Floats

__all__ = ["inverse_information"]

_FLAT = 1e-9
"""Directions with less than this share of the largest information count as having none."""


def inverse_information(information: Floats) -> Floats:
    """Return the covariance matrix of parameters, with nan for those that are not identified.

    Examples
    --------
    >>> inverse_information(np.array([[4.0, 0.0], [0.0, 0.0]])).tolist()
    [[0.25, nan], [nan, nan]]
    """
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    values, vectors = np.linalg.eigh(information / np.outer(scale, scale))
    flat = values <= _FLAT * max(float(values.max(initial=0.0)), math.ulp(0.0))
    inverse = (vectors[:, ~flat] / values[~flat]) @ vectors[:, ~flat].T
    lost = (vectors[:, flat] ** 2).sum(axis=1) > 1e-6
    inverse[lost, :] = np.nan
    inverse[:, lost] = np.nan
    covariance: Floats = inverse / np.outer(scale, scale)
    return covariance
