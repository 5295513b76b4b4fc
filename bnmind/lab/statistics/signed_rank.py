"""The Wilcoxon signed-rank test of paired values."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bnmind._arguments import checked, number_array
from bnmind.errors import InvalidArgumentError

__all__ = ["signed_rank_p_value"]


@checked
def signed_rank_p_value(differences: ArrayLike) -> float:
    """Return the two-sided p-value of the Wilcoxon signed-rank test.

    The test asks whether the differences are distributed symmetrically around zero. It uses the
    normal approximation with corrections for ties and for continuity, and ranks zeros as Pratt
    does, since games of equal length are frequent. With fewer than ten differences, it is rough.

    Parameters
    ----------
    differences
        The difference of each pair, shape (pairs,), finite.

    Returns
    -------
    float
        The p-value; 1 if all differences are zero.

    Raises
    ------
    InvalidArgumentError
        If there are no differences, or one is not finite.

    References
    ----------
    F. Wilcoxon, *Individual comparisons by ranking methods*, Biometrics Bulletin 1 (1945), 80-83.
    J. W. Pratt, *Remarks on zeros and ties in the Wilcoxon signed rank procedures*, Journal of the
    American Statistical Association 54 (1959), 655-667.

    Examples
    --------
    >>> round(signed_rank_p_value([-1, -1, 0, -2, -1, 0, -3, 1, -1, -2]), 3)
    0.033
    """
    from scipy.stats import wilcoxon  # takes half a second to import

    d = number_array(differences, "the differences")
    if d.ndim != 1 or not len(d) or not np.isfinite(d).all():
        raise InvalidArgumentError("expected one or more finite differences", differences)
    if not d.any():
        return 1.0
    found = wilcoxon(d, zero_method="pratt", correction=True, method="approx")
    return min(1.0, float(found.pvalue))
