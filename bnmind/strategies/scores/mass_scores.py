"""The myopic scores of all guesses at once, from their reply masses.

``masses`` has shape ``(guesses, replies)``. With counts of codes instead of probabilities, the
masses are the sizes of the reply classes, exact in floating point. For the entropy of the classes,
use `bnmind.information.information` with the identity as channel.
"""

from __future__ import annotations

import numpy as np

from bnmind.information import Floats

__all__ = ["expected_sizes", "parts", "worst_cases"]


def worst_cases(masses: Floats) -> Floats:
    """Return the size of the largest class of each guess, to be minimized (Knuth 1976).

    Parameters
    ----------
    masses
        ``(guesses, classes)``, the number of possible codes in each class of equal replies.
    """
    largest: Floats = masses.max(axis=1)
    return largest


def expected_sizes(masses: Floats) -> Floats:
    """Return the sum of the squared class sizes of each guess, to be minimized (Irving 1978–79).

    The sum divided by the number of codes is the expected size of the class.

    Parameters
    ----------
    masses
        ``(guesses, classes)``, the number of possible codes in each class of equal replies.
    """
    squares: Floats = np.einsum("ij,ij->i", masses, masses)
    return squares


def parts(masses: Floats) -> Floats:
    """Return the number of non-empty classes of each guess, to be maximized (Kooi 2005).

    Parameters
    ----------
    masses
        ``(guesses, classes)``, the number of possible codes in each class of equal replies.
    """
    filled: Floats = np.count_nonzero(masses > _EMPTY, axis=1).astype(np.float64)
    return filled


_EMPTY = 1e-13
"""Masses below this are rounding errors of empty classes."""
