"""Folds of examinees, for cross-validation and replay."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bnmind._arguments import checked
from bnmind.adaptive.responses.examinees import MAX_NUMBERS
from bnmind.errors import InvalidArgumentError

__all__ = ["fold_numbers"]


@checked
def fold_numbers(n_examinees: int, *, folds: int = 10, seed: int = 1) -> NDArray[np.intp]:
    """Return the fold of each examinee: ``default_rng(seed).permutation(n) % folds``.

    Parameters
    ----------
    n_examinees
        The number of examinees.
    folds
        The number of folds, from 2 to the number of examinees.
    seed
        At least 0; names the division into folds, so that others can repeat it.

    Raises
    ------
    InvalidArgumentError
        If there are fewer than 2 folds or more than examinees, too many examinees, or a
        negative seed.

    Examples
    --------
    >>> fold_numbers(6, folds=2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    if not 2 <= folds <= n_examinees:
        raise InvalidArgumentError(f"expected 2 to {n_examinees} folds, got {folds}", folds)
    if n_examinees > MAX_NUMBERS or seed < 0:
        raise InvalidArgumentError(
            f"expected n_examinees up to {MAX_NUMBERS:,} and a seed from 0, got {n_examinees:,}"
            f" and {seed}",
            seed,
        )
    return np.random.default_rng(seed).permutation(n_examinees) % folds
