"""Holm's correction of p-values for many comparisons."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked, number_array
from bnmind.errors import InvalidArgumentError
from bnmind.information import Floats

__all__ = ["holm"]


@checked
def holm(p_values: ArrayLike) -> Floats:
    """Return p-values corrected for the number of tests.

    If each corrected value below α counts as a discovery, the probability of any false discovery
    is at most α, however the tests depend on each other. The correction is never stricter than
    Bonferroni's.

    Parameters
    ----------
    p_values
        The p-values of all tests, shape (tests,).

    Returns
    -------
    Floats
        The corrected p-values, in the same order.

    Raises
    ------
    InvalidArgumentError
        If they are not a list of numbers in [0, 1].

    References
    ----------
    S. Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian Journal of
    Statistics 6 (1979), 65-70.

    Examples
    --------
    >>> holm([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    p = number_array(p_values, "the p-values")
    if p.ndim != 1 or not ((p >= 0) & (p <= 1)).all():
        raise InvalidArgumentError("expected a list of p-values in [0, 1]", p_values)
    order = np.argsort(p, kind="stable")
    factors = np.arange(len(p), 0, -1)
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(1.0, np.maximum.accumulate(factors * p[order]))
    return corrected
